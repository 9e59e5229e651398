"""CBC and HiGHS agree on a program, take starts, have logs that are parsed, and share a process with OR-Tools."""

import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from highspy import Highs

import overlaybench as ob
from overlaybench.heuristics.topics.greedy_merge import greedy_merge
from overlaybench.instances.contract.catalogue import PROBLEMS
from overlaybench.instances.runtime.run import Clock, OutOfTime
from overlaybench.models.engine import integer_model
from overlaybench.models.engine.relaxation import HighsLP
from overlaybench.models.topics.compact.overlay_model import requirements_of
from tests.models.topics.small_instances import model_of, uniform_instance

Solve = Callable[..., Any]
FOREVER = Clock(None)
INSTANCE = uniform_instance(10, 8, 3)
COMPLETE = ob.Overlay.from_edges(10, requirements_of(INSTANCE, FOREVER).edges)


def knapsack(most: int) -> Highs:
    """Fewest of the numbers 3, 4, 5, 6 that add up to at least 11, at most `most` of them."""
    model = integer_model.IntegerModel()
    takes = [model.column(cost=1) for _ in range(4)]
    model.require(takes, [3, 4, 5, 6], least=11)
    model.require(takes, most=most)
    return integer_model.program_of(model, FOREVER)


@pytest.mark.parametrize("solve", integer_model.SOLVERS.values(), ids=integer_model.SOLVERS)
class TestBothSolvers:
    def test_an_optimum_has_its_bound(self, solve: Solve) -> None:
        report = solve(knapsack(4), None, FOREVER, threads=1, seed=0)
        assert not report.stopped
        assert report.answer.round().tolist() == [0, 0, 1, 1]
        assert 1 < report.lower_bound <= 2

    def test_no_solution_is_an_infinite_bound(self, solve: Solve) -> None:
        report = solve(knapsack(1), None, FOREVER, threads=1, seed=0)
        assert report.answer is None
        assert report.lower_bound == math.inf

    def test_no_time_left_raises(self, solve: Solve) -> None:
        with pytest.raises(OutOfTime):
            solve(knapsack(4), None, Clock(0), threads=1, seed=0)


@pytest.mark.parametrize("solver", integer_model.SOLVERS)
def test_two_threads_prove_the_same(solver: str) -> None:
    model = model_of(INSTANCE, "min-tco")
    outcomes = [
        integer_model.minimise_with_ilp(model, FOREVER, answer=model.overlay, solver=solver, threads=threads)
        for threads in (1, 1, 2)
    ]
    assert len({math.ceil(outcome.lower_bound - 1e-6) for outcome in outcomes}) == 1
    lp = HighsLP()  # of one thread, in the same process
    lp.append_columns(np.ones(1), 0.0, 1.0)
    assert lp.solve(1.0)


MINIMISE: tuple[Solve, ...] = (integer_model.minimise_with_ilp, integer_model.minimise_with_cp_sat)
EVERY_PROBLEM = pytest.mark.parametrize("problem", ["min-tco", "minmax-tco", "2d-star", "2d-true"])


@EVERY_PROBLEM
@pytest.mark.parametrize("minimise", MINIMISE)
@pytest.mark.parametrize("formulation", ["levels", "single", "multi"])
def test_a_start_is_a_solution_of_every_formulation(minimise: Solve, formulation: str, problem: str) -> None:
    """With the columns of the start fixed, the model is feasible and its value is that of the start."""
    overlay = COMPLETE if problem.startswith("2d-") else greedy_merge(INSTANCE)
    model = model_of(INSTANCE, problem, formulation)
    for column, value in model.start(overlay).items():
        model.lower[column] = model.upper[column] = value
    outcome = minimise(model, FOREVER, answer=model.overlay)
    assert outcome.answer == overlay
    assert math.ceil(outcome.lower_bound - 1e-6) == PROBLEMS[problem].value(INSTANCE, overlay)


@EVERY_PROBLEM
def test_cbc_takes_the_start(problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    logs: list[str] = []

    def keep(log: str) -> int:
        logs.append(log)
        return 0

    monkeypatch.setattr(integer_model, "_nodes_in", keep)
    model, overlay = model_of(INSTANCE, problem), COMPLETE
    integer_model.minimise_with_ilp(model, FOREVER, answer=model.overlay, start=model.start(overlay), solver="cbc")
    assert f"MIPStart provided solution with cost {PROBLEMS[problem].value(INSTANCE, overlay):g}" in logs[0]


@EVERY_PROBLEM
def test_highs_uses_a_start(problem: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    quiet = integer_model._highs_options
    monkeypatch.setattr(integer_model, "_highs_options", lambda *args: {**quiet(*args), "output_flag": True})
    model, overlay = model_of(INSTANCE, problem), COMPLETE
    integer_model.minimise_with_ilp(model, FOREVER, answer=model.overlay, start=model.start(overlay))
    value = PROBLEMS[problem].value(INSTANCE, overlay)
    assert f"MIP start solution is feasible, objective value is {value:g}" in capfd.readouterr().out


SIX_DIGITS = 1 - 5e-6  # what a number rounded to them is at least, as a share of it


@pytest.mark.parametrize(
    ("log", "bound"),
    [
        ("Result - Stopped on time limit\n\nLower bound:                    65.044\nEnumerated nodes: 3\n", 65.044),
        ("Continuous objective value is 64.1036 - 0.14 seconds\n", 64.1036 * SIX_DIGITS),
        (
            "Continuous objective value is 64.1 - 0.1 seconds\nCbc0010I 70 best solution, best possible 66.25\n",
            66.25 * SIX_DIGITS,
        ),
        ("Cbc0010I 1e+50 best solution, best possible 66.25\nLower bound:                    66.000\n", 66),
        ("Cbc0005I Partial search - best objective 1e+50 (best possible -1e+50), took 0 iterations\n", -math.inf),
        ("Continuous objective value is 1.4e+06 - 0.00 seconds\n", 1_399_993),  # CBC prints 1,399,997 so
        ("Problem MODEL has 3 rows\n", -math.inf),
    ],
)
def test_the_bound_is_read_from_cbcs_log(log: str, bound: float) -> None:
    assert integer_model._bound_in(log) == pytest.approx(bound, rel=1e-12)


def test_a_claim_of_infeasibility_at_the_limit_proves_nothing() -> None:
    log = "Continuous objective value is 1.8 - 0.00 seconds\n"
    infeasible = knapsack(4), "Infeasible - objective value 0.00000000\n", log
    late = integer_model._report(*infeasible, in_time=False)
    assert (late.answer, late.stopped) == (None, True)
    assert late.lower_bound == pytest.approx(1.8 * SIX_DIGITS, rel=1e-12)
    assert integer_model._report(*infeasible, in_time=True).lower_bound == math.inf


@pytest.mark.parametrize(
    ("status", "found"),
    [
        ("Stopped on time - objective value 2", True),
        ("Stopped on time (no integer solution) - objective value 2", False),
    ],
)
def test_only_an_integer_solution_of_cbc_is_read(status: str, found: bool) -> None:
    report = integer_model._report(knapsack(4), f"{status}\n      0 r0 11 0\n**    2 c2 1 1\n", "", in_time=False)
    assert report.stopped
    assert (None if report.answer is None else report.answer.tolist()) == ([0, 0, 1, 0] if found else None)


def fake_cbc(folder: Path, script: str) -> str:
    executable = folder / "cbc"
    executable.write_text(f"#!/bin/sh\n{script}\n")
    executable.chmod(0o755)
    return str(executable)


def test_a_crash_of_cbc_is_an_error_and_not_an_answer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(integer_model, "_cbc_path", lambda: fake_cbc(tmp_path, "echo out of memory; exit 3"))
    with pytest.raises(RuntimeError, match="out of memory"):
        integer_model.SOLVERS["cbc"](knapsack(4), None, FOREVER, threads=1, seed=0)


@pytest.mark.parametrize("ending", ["exit 139", "sleep 100"])
def test_a_crash_after_the_limit_leaves_the_logs_bound(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ending: str
) -> None:
    script = f"echo 'Continuous objective value is 1.8 - 0.00 seconds'; sleep 0.2; {ending}"
    monkeypatch.setattr(integer_model, "_cbc_path", lambda: fake_cbc(tmp_path, script))
    report = integer_model.SOLVERS["cbc"](knapsack(4), None, Clock(0.15), threads=1, seed=0)
    assert (report.answer, report.stopped) == (None, True)
    assert report.lower_bound == pytest.approx(1.8 * SIX_DIGITS, rel=1e-12)


SHARED = """
model = cp_model.CpModel()
half = model.new_int_var(0, 9, "half")
model.add(2 * half >= 3)
model.minimize(2 * half)
solver = cp_model.CpSolver()
assert solver.solve(model) == cp_model.OPTIMAL
assert solver.objective_value == 4

highs = highspy.Highs()
highs.setOptionValue("output_flag", False)
half = highs.addIntegral(0, 9)
highs.addConstr(2 * half >= 3)
highs.minimize(2 * half)
assert abs(highs.getObjectiveValue() - 4) < 1e-6
"""
LIBRARIES = ("from ortools.sat.python import cp_model", "import highspy")


@pytest.mark.parametrize("imports", [LIBRARIES, pytest.param(LIBRARIES[::-1], marks=pytest.mark.slow)])
def test_the_solver_libraries_share_a_process(imports: tuple[str, ...]) -> None:
    """Each finds that the smallest even number of at least 3 is 4."""
    ended = subprocess.run([sys.executable, "-c", "\n".join([*imports, SHARED])], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr[-2000:]
