"""CBC and HiGHS on an :class:`.IntegerModel`, both by PuLP: limit, threads and seed in; answer, status and bound out.

All objectives are integers, so a gap below 1 is closed: both solvers stop at an absolute gap of 0.999, and a bound
counts from the next integer on, less a millionth for their tolerances. PuLP reports neither solver's bound. PuLP and
HiGHS are imported at the first solve, as they take a third of a second to load.
"""

from __future__ import annotations

import math
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...instances.contract.option import Option
from ...instances.contract.problem import Answer
from ...instances.contract.run import Clock, OutOfTime, Report, interruptible, offer_made
from .exact_method import SolverOutcome
from .integer_model import IntegerModel, Start

if TYPE_CHECKING:
    import pulp

SOLVER = Option("solver", "highs", "the solver behind PuLP", choices=("highs", "cbc"))
THREADS = Option("threads", 1, "threads of the solver; with more than one, runs may differ", least=1, most=1024)
ABSOLUTE_GAP = 0.999
# CBC checks its limit between steps of the search, and never inside the root LP: it gets a little less than the time
# left, and is killed a little later (seconds).
_SHARE, _GRACE = 0.95, 0.25
_LEAST_LIMIT = 0.02
_INFINITE = 1e29


def minimise_with_ilp(
    model: IntegerModel,
    clock: Clock,
    *,
    answer: Callable[[npt.NDArray[np.float64]], Answer],
    start: Start | None = None,
    solver: str = "highs",
    threads: int = 1,
    seed: int = 0,
    report: Report | None = None,
    scale: float = 1.0,
) -> SolverOutcome[Answer]:
    """Solve by integer programming, exactly within the solver's tolerances.

    Parameters
    ----------
    answer : callable
        From the values of all columns to the answer that they stand for, which is offered while HiGHS searches.
    start : mapping, optional
        The initial solution.
    report : callable, optional
        Is given the objective of each solution, and each bound on it, by HiGHS.
    scale : float
        The costs are multiplied by it, so that the solvers' absolute gap is `ABSOLUTE_GAP` ÷ scale.

    Raises
    ------
    OutOfTime
        If the clock has no time left.
    """
    program, columns = program_of(model, clock, scale)
    used = {id(column) for column in program.variables()}
    given = None if start is None else {columns[k]: v for k, v in start.items() if id(columns[k]) in used}

    def answer_now() -> Answer:
        return answer(np.array([column.varValue or 0.0 for column in columns]))

    def scaled_report(value: float | None, bound: float | None) -> None:
        if report is not None:
            report(*(None if number is None else number / scale for number in (value, bound)))

    ended = SOLVERS[solver](program, given, clock, threads=threads, seed=seed, report=scaled_report, answer=answer_now)
    counters = {"nodes": ended.nodes, "variables": len(columns), "constraints": model.num_rows}
    return SolverOutcome(answer_now() if ended.found else None, ended.lower_bound / scale, ended.stopped, counters)


def relaxed_bound(model: IntegerModel) -> float:
    """The value of the LP relaxation."""
    program, _ = program_of(model, Clock(None))
    return solve_with_highs(program, None, Clock(None), threads=1, seed=0, relaxed=True).lower_bound


def program_of(model: IntegerModel, clock: Clock, scale: float = 1.0) -> tuple[pulp.LpProblem, list[pulp.LpVariable]]:
    """The model in PuLP, and its columns."""
    import pulp

    program = pulp.LpProblem("model", pulp.LpMinimize)
    columns = [
        program.add_variable(f"v{k}", lower, upper, pulp.LpInteger if integral else pulp.LpContinuous)
        for k, (lower, upper, integral) in enumerate(zip(model.lower, model.upper, model.integral, strict=True))
    ]
    terms = {column: scale * cost for column, cost in zip(columns, model.costs, strict=True) if cost}
    program += pulp.LpAffineExpression(terms, constant=scale * model.constant)
    for row in map(model.unconditional, model.rows_in_time(clock)):
        total = pulp.LpAffineExpression({columns[k]: value for k, value in zip(row.columns, row.values, strict=True)})
        if row.least == row.most:
            program += total == row.least
            continue
        if math.isfinite(row.least):
            program += total >= row.least
        if math.isfinite(row.most):
            program += total <= row.most
    return program, columns


class SolverReport(NamedTuple):
    """The outcome of a solver; the values of a solution, if one is found, are in the program's variables.

    `lower_bound` is proven: −inf if nothing is, inf if there is no solution. `stopped` says that the limit ended the
    search.
    """

    found: bool
    lower_bound: float
    stopped: bool
    nodes: float


def solve_with_highs(
    program: pulp.LpProblem,
    start: Mapping[pulp.LpVariable, int] | None,
    clock: Clock,
    *,
    threads: int,
    seed: int,
    relaxed: bool = False,
    report: Report | None = None,
    answer: Callable[[], object] | None = None,
) -> SolverReport:
    """Solve with HiGHS, inside this process; `relaxed` solves the LP relaxation, whose value is `lower_bound` then.

    The `start` has the values of all integer variables; HiGHS completes the others. `report` is given the objective of
    each solution, and each bound on it; `answer` makes the answer of the variables' values in each solution, which is
    offered.

    Raises
    ------
    OutOfTime
        If the clock has no time left.
    """
    import highspy
    import pulp

    solver = pulp.HiGHS(mip=not relaxed, **_highs_options(threads, seed))
    # HiGHS keeps the thread count of its first run in a process until its scheduler is reset.
    highspy.Highs.resetGlobalScheduler(True)
    solver.createAndConfigureSolver(program)
    solver.buildSolverModel(program)
    highs = program.solverModel
    clock.check()
    if math.isfinite(clock.left):
        highs.setOptionValue("time_limit", clock.left)
    if start is not None and not relaxed:
        index = np.array([variable.index for variable in start], dtype=np.int32)
        highs.setSolution(len(index), index, np.array(list(start.values()), dtype=np.float64))
    if report is not None and not relaxed:
        for event in (highs.cbMipImprovingSolution, highs.cbMipLogging):
            event.subscribe(partial(_report_event, report))
    if answer is not None and not relaxed:
        highs.cbMipImprovingSolution.subscribe(partial(_offer_event, program, answer))
    if not relaxed:
        for step in (highs.cbMipInterrupt, highs.cbSimplexInterrupt, highs.cbIpmInterrupt):
            step.subscribe(lambda event: event.interrupt(clock.interrupted))
    with interruptible(clock):
        highs.run()
    status, info = highs.getModelStatus(), highs.getInfo()
    feasible = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    if feasible:
        _assign(program, highs.getSolution().col_value)
    if status == highspy.HighsModelStatus.kInfeasible:
        return SolverReport(False, math.inf, False, 0)
    finished = status in (highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kModelEmpty)
    if relaxed or not program.isMIP():
        bound = info.objective_function_value if finished else -math.inf
        return SolverReport(finished, bound, not finished, 0)
    return SolverReport(feasible, info.mip_dual_bound, not finished, max(0, info.mip_node_count))


def _report_event(report: Report, event: Any) -> None:
    primal, bound = event.data_out.mip_primal_bound, event.data_out.mip_dual_bound
    report(primal if abs(primal) < _INFINITE else None, bound if abs(bound) < _INFINITE else None)


def _offer_event(program: pulp.LpProblem, answer: Callable[[], object], event: Any) -> None:
    def make() -> object:
        _assign(program, event.data_out.mip_solution)
        return answer()

    offer_made(make)


def _assign(program: pulp.LpProblem, values: Sequence[float]) -> None:
    for variable in program.variables():
        variable.varValue = values[variable.index]


def _highs_options(threads: int, seed: int) -> dict[str, object]:
    return {
        "msg": False,
        "threads": threads,
        "gapRel": 0.0,
        "gapAbs": ABSOLUTE_GAP,
        "random_seed": seed % 2**31,
        "parallel": "on" if threads > 1 else "off",
    }


def solve_with_cbc(
    program: pulp.LpProblem,
    start: Mapping[pulp.LpVariable, int] | None,
    clock: Clock,
    *,
    threads: int,
    seed: int,
    report: Report | None = None,
    answer: Callable[[], object] | None = None,
) -> SolverReport:
    """Solve with the CBC in PuLP's wheel, as a child process with its files in a temporary folder.

    The child is killed if it runs past the limit, when this call is interrupted, and, where the system has `setpriv`,
    when this process dies. Its bound is read from its log. CBC rounds it to three decimals, or to six digits in all,
    which never lifts a bound below 100,000 over the next integer. A report of infeasibility counts only before the
    limit: CBC 2.10 reports it falsely when the limit interrupts preprocessing. Interrupted with a start, it sometimes
    crashes at the end, which then counts as stopped.

    Raises
    ------
    OutOfTime
        If the clock has no time left.
    RuntimeError
        If CBC crashes before the limit.
    """
    import pulp

    cbc = _cbc_path()
    with TemporaryDirectory(prefix="overlaybench-") as name:
        folder = Path(name)
        model, mip_start, solution, log = (str(folder / file) for file in ("model.mps", "start", "solution", "log"))
        _, variable_names, constraint_names, _ = program.writeMPS(model, rename=1)
        command = [*_wrapped(), cbc, model]
        if start is not None:
            lines = (f"{i} {variable_names[v.name]} {value} 0" for i, (v, value) in enumerate(start.items()))
            Path(mip_start).write_text("\n".join(["Feasible - objective value 0", *lines, ""]))
            command += ["-mips", mip_start]
        limit = _SHARE * clock.left
        if limit < _LEAST_LIMIT:
            raise OutOfTime
        if math.isfinite(limit):
            command += ["-sec", f"{limit:.3f}"]
        command += ["-timeMode", "elapsed", "-ratio", "0", "-allow", str(ABSOLUTE_GAP)]
        command += ["-randomCbcSeed", str(seed % 2**31), "-randomSeed", str(seed % 2**31)]
        command += ["-threads", str(threads)] if threads > 1 else []
        command += ["-solve", "-printingOptions", "all", "-solution", solution]
        begin = time.perf_counter()
        ended = _run(command, log, clock.left + _GRACE)
        in_time = time.perf_counter() - begin < limit
        text = Path(log).read_text(errors="replace")
        crashed = ended and not Path(solution).exists()
        if crashed and in_time:
            raise RuntimeError(f"CBC ended without a solution file; its log ends: {text[-300:]!r}")
        if crashed or not ended:
            return SolverReport(False, _bound_in(text), True, _nodes_in(text))
        status, values, _, _, _, kind = pulp.COIN_CMD(path=cbc).readsol_MPS(
            solution, program, program.variables(), variable_names, constraint_names
        )
        return _report(program, status, kind, values, text, in_time)


def _cbc_path() -> str:
    from pulp.apis.coin_api import pulp_cbc_path

    return str(pulp_cbc_path)


def _wrapped() -> list[str]:
    """The prefix of the command by which CBC dies with its parent and writes its log line by line."""
    setpriv, stdbuf = shutil.which("setpriv"), shutil.which("stdbuf")
    return [
        *([setpriv, "--pdeathsig", "KILL", "--"] if setpriv else []),
        *([stdbuf, "-oL"] if stdbuf else []),
    ]


def _run(command: list[str], log: str, limit: float) -> bool:
    """Run with all output in the log; False if the process was killed at the limit."""
    with open(log, "wb") as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
        try:
            process.wait(None if math.isinf(limit) else limit)
        except subprocess.TimeoutExpired:
            return False
        finally:
            process.kill()
            process.wait()
    return True


def _report(
    program: pulp.LpProblem, status: int, kind: int, values: Mapping[str, float], log: str, in_time: bool
) -> SolverReport:
    import pulp

    nodes, bound = _nodes_in(log), _bound_in(log)
    if status == pulp.LpStatusInfeasible:
        return SolverReport(False, math.inf if in_time else bound, not in_time, nodes)
    found = kind in (pulp.LpSolutionOptimal, pulp.LpSolutionIntegerFeasible)
    if found:
        program.assignVarsVals(values)
    if kind == pulp.LpSolutionOptimal:
        return SolverReport(True, max(bound, pulp.value(program.objective) - ABSOLUTE_GAP), False, nodes)
    return SolverReport(found, bound, True, nodes)


def _bound_in(log: str) -> float:
    """The bound in the final table or, if the search was killed, the best that the root LP and the tree reported."""
    final = re.findall(r"^Lower bound:\s+(\S+)", log, re.MULTILINE)
    running = re.findall(r"(?:best possible|Continuous objective value is) ([-+.e\d]+)", log)
    bounds = [float(bound) for bound in final or running]
    return max((bound for bound in bounds if abs(bound) < 1e20), default=-math.inf)


def _nodes_in(log: str) -> float:
    final = re.findall(r"^Enumerated nodes:\s+(\d+)", log, re.MULTILINE)
    running = re.findall(r"After (\d+) nodes", log)
    return float((final or running or ["0"])[-1])


SOLVERS: Mapping[str, Callable[..., SolverReport]] = {"highs": solve_with_highs, "cbc": solve_with_cbc}
