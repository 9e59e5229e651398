"""Solvers of others on the files of a model: those that are installed, by format, each from a path to the optimum."""

from __future__ import annotations

import math
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from highspy import Highs, HighsModelStatus, HighsStatus
from ortools.linear_solver.python import model_builder
from pulp.apis.coin_api import pulp_cbc_path

Optimum = Callable[[Path], float | None]
"""The optimal objective of a model's file; inf if it is infeasible, None if it is not found in time."""


def _printed(*command: object, limit: float = 300) -> str:
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=limit).stdout


def by_cbc(program: str, path: Path) -> float:
    with TemporaryDirectory() as folder:
        solution = Path(folder, "solution")
        _printed(program, path, "-ratio", 0, "-allow", 0, "-solve", "-solution", solution)
        status = solution.read_text().partition("\n")[0]
    if status.startswith(("Infeasible", "Integer infeasible")):
        return math.inf
    assert status.startswith("Optimal"), status
    return float(status.split()[-1])


def by_glpk(form: str, path: Path) -> float:
    with TemporaryDirectory() as folder:
        solution = Path(folder, "solution")
        printed = _printed("glpsol", form, path, "-o", solution)
        text = solution.read_text() if solution.exists() else printed
    if "HAS NO" in printed:
        return math.inf
    assert re.search(r"Status: +(INTEGER )?OPTIMAL", text), printed
    return float(text.partition("Objective:")[2].partition("=")[2].split()[0])


def by_lp_solve(form: str, path: Path) -> float | None:
    """None where lp_solve, which takes minutes for some small integer programs, does not end."""
    try:
        printed = _printed("lp_solve", form, path, "-S3", limit=15)
    except subprocess.TimeoutExpired:
        return None
    found = re.search(r"objective function: (\S+)", printed)
    assert found or "infeasible" in printed, printed
    return float(found[1]) if found else math.inf


def by_highs(path: Path) -> float:
    program = Highs()
    program.setOptionValue("output_flag", False)
    program.setOptionValue("mip_rel_gap", 0.0)
    assert program.readModel(str(path)) == HighsStatus.kOk
    program.run()
    if program.getModelStatus() == HighsModelStatus.kInfeasible:
        return math.inf
    assert program.getModelStatus() == HighsModelStatus.kOptimal
    return float(program.getInfo().objective_function_value)


def by_scip(path: Path) -> float:
    return solution_by_scip(path)[0]


def solution_by_scip(path: Path) -> tuple[float, dict[str, float]]:
    """The optimum, and the values of the columns by name."""
    import pyscipopt

    model: Any = pyscipopt.Model()
    model.hideOutput()
    model.readProblem(str(path))
    model.optimize()
    if model.getStatus() == "infeasible":
        return math.inf, {}
    assert model.getStatus() == "optimal"
    unit = re.search(r"^\* the objective is (\d+) times", path.read_text(), re.MULTILINE)
    value = model.getObjVal() / int(unit[1] if unit else 1)
    return value, {variable.name: model.getVal(variable) for variable in model.getVars()}


def by_cp_sat(path: Path) -> float:
    model = model_builder.Model()  # type: ignore[no-untyped-call]
    solver = model_builder.Solver("sat")
    assert model.import_from_mps_file(str(path))
    status = solver.solve(model)
    if status == model_builder.SolveStatus.INFEASIBLE:
        return math.inf
    assert status == model_builder.SolveStatus.OPTIMAL
    return float(solver.objective_value)


_ALL: Mapping[str, Mapping[str, Optimum]] = {
    ".lp": {
        "cbc": partial(by_cbc, "cbc"),
        "cbc of PuLP": partial(by_cbc, pulp_cbc_path),
        "glpsol": partial(by_glpk, "--lp"),
        "HiGHS": by_highs,
        "SCIP": by_scip,
    },
    ".mps": {
        "cbc": partial(by_cbc, "cbc"),
        "cbc of PuLP": partial(by_cbc, pulp_cbc_path),
        "glpsol": partial(by_glpk, "--mps"),
        "glpsol, free": partial(by_glpk, "--freemps"),
        "lp_solve": partial(by_lp_solve, "-mps"),
        "lp_solve, free": partial(by_lp_solve, "-fmps"),
        "HiGHS": by_highs,
        "SCIP": by_scip,
        "CP-SAT": by_cp_sat,
    },
    ".opb": {"SCIP": by_scip},
}
_MISSING = {program for program in ("cbc", "glpsol", "lp_solve") if shutil.which(program) is None}
_MISSING |= set() if find_spec("pyscipopt") else {"SCIP"}
INSTALLED = {
    ending: {name: optimum for name, optimum in solvers.items() if name.partition(",")[0] not in _MISSING}
    for ending, solvers in _ALL.items()
}
"""By the ending of a file and the name of the solver."""


def optima(path: Path, leave_out: tuple[str, ...] = ()) -> dict[str, float]:
    """What the installed solvers find in a file, by their names."""
    found = {name: optimum(path) for name, optimum in INSTALLED[path.suffix].items() if name not in leave_out}
    return {name: value for name, value in found.items() if value is not None}
