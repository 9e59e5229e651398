"""Integer programs as data, minimised by HiGHS, by CBC, or by CP-SAT of OR-Tools, or written for the solvers of others.

The solvers are imported at the first solve, as they take a third of a second to load. HiGHS and CBC stop at an absolute
gap of 0.999, which closes that of integral objectives; a bound counts from the next integer on, less a millionth.
"""

from __future__ import annotations

import math
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import copy_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...instances.contract.option import Option
from ...instances.contract.problem import Answer
from ...instances.runtime.run import Clock, OutOfTime, Report, interruptible, offer_made
from ...instances.runtime.signals import at_signal
from .exact_method import SolverOutcome
from .model_files import write_model

if TYPE_CHECKING:
    from highspy import Highs
    from ortools.sat.python import cp_model

Columns = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Start = Mapping[int, int]
"""The values of some integer columns; the solver completes the others."""
_ROWS_PER_CHECK, _ROWS_PER_BUILD_CHECK = 1000, 64


class Row(NamedTuple):
    """least ≤ Σ values·columns ≤ most, in integers; only where the column `only_if`, if there is one, is 1."""

    columns: Sequence[int]
    values: Sequence[int]
    least: float = -math.inf
    most: float = math.inf
    only_if: int | None = None


class IntegerModel:
    """Minimise costs·columns + constant subject to rows, without the words of any solver.

    Columns have the lists `costs`, `lower`, `upper` and `integral`; one that need not be integral may be, as CP-SAT
    takes all as integers. `lazy` says whether CP-SAT adds rows to its linear relaxation as they are violated, its
    default, or all at the root. Adding rows raises OutOfTime once the `clock` has passed.
    """

    def __init__(self, clock: Clock | None = None) -> None:
        self.clock = clock or Clock(None)
        self.costs: list[float] = []
        self.lower: list[int] = []
        self.upper: list[int] = []
        self.integral: list[bool] = []
        self.constant, self.lazy = 0.0, True
        self.label: Callable[[int], str] = str
        self._rows: list[Row] = []

    @property
    def num_rows(self) -> int:
        return len(self._rows)

    def column(self, lower: int = 0, upper: int = 1, *, cost: float = 0.0, integral: bool = True) -> int:
        """Add a column, 0 or 1 by default; returns its number."""
        self.costs.append(cost)
        self.lower.append(lower)
        self.upper.append(upper)
        self.integral.append(integral)
        return len(self.costs) - 1

    def add(self, costs: npt.ArrayLike, *, upper: int = 1, integral: bool = True) -> Columns:
        """Add columns from 0 to an upper bound with these costs."""
        new = np.atleast_1d(np.asarray(costs, np.float64)).tolist()
        return np.array([self.column(upper=upper, cost=cost, integral=integral) for cost in new], np.int64)

    def require(
        self,
        columns: Iterable[int],
        values: int | Sequence[int] = 1,
        *,
        least: float = -math.inf,
        most: float = math.inf,
        only_if: int | None = None,
    ) -> None:
        """Add the row least ≤ Σ values·columns ≤ most; one number for all columns stands for equal values."""
        if len(self._rows) % _ROWS_PER_BUILD_CHECK == 0:
            self.clock.check()
        listed = list(columns)
        factors = [values] * len(listed) if isinstance(values, int) else values
        self._rows.append(Row(listed, factors, least, most, only_if))

    def require_some(self, columns: Iterable[int], *, of: int | None = None) -> None:
        """At least one of some 0/1 columns is 1 where the column `of` is, or always."""
        listed = list(columns)
        if of is None:
            self.require(listed, least=1)
        else:
            self.require([*listed, of], [*[1] * len(listed), -1], least=0)

    def imply(self, column: int, other: int) -> None:
        """Where one 0/1 column is 1, so is the other."""
        self.require([other, column], [1, -1], least=0)

    def require_levels(self, arcs: Mapping[tuple[int, int], int], level: Sequence[int]) -> None:
        """The head of an arc that is used has a higher level than its tail, which excludes cycles."""
        for (tail, head), used in arcs.items():
            self.require([level[head], level[tail]], [1, -1], least=1, only_if=used)

    def require_surplus(self, flow: Mapping[tuple[int, int], int], node: int, surplus: int) -> None:
        """The flow on arcs into a node exceeds the flow out of it by so much."""
        signs = {amount: 1 if head == node else -1 for (tail, head), amount in flow.items() if node in (tail, head)}
        self.require(signs, list(signs.values()), least=surplus, most=surplus)

    def meanings(self) -> Iterable[tuple[int, tuple[str, ...]]]:
        """What columns say, by labels, for the table beside a model in a file (:func:`.write_model`)."""
        return ()

    def rows_in_time(self, clock: Clock) -> Iterator[Row]:
        """The rows; :class:`.OutOfTime` is raised once no time is left."""
        for number, row in enumerate(self._listed()):
            if number % _ROWS_PER_CHECK == 0:
                clock.check()
            yield row

    def _listed(self) -> Iterable[Row]:
        return self._rows

    def is_boolean(self, row: Row) -> bool:
        """Whether a row has only 0/1 columns, each with the value 1 or −1."""
        return all(abs(value) == 1 for value in row.values) and all(
            self.upper[k] == 1 and self.lower[k] >= 0 for k in row.columns
        )

    def unconditional(self, row: Row) -> Row:
        """A row without `only_if`: where this column is 0, the row holds for any values within their bounds."""
        if row.only_if is None:
            return row
        bounds = [(self.lower[k] * a, self.upper[k] * a) for k, a in zip(row.columns, row.values, strict=True)]
        if math.isfinite(row.least):
            slack = row.least - sum(min(pair) for pair in bounds)
            return Row([*row.columns, row.only_if], [*row.values, -int(slack)], row.least - slack)
        slack = sum(max(pair) for pair in bounds) - row.most
        return Row([*row.columns, row.only_if], [*row.values, int(slack)], most=row.most + slack)


SOLVER = Option("solver", "highs", "the ILP solver", choices=("highs", "cbc"))
THREADS = Option("threads", 1, "threads of the solver; with more than one, runs may differ", least=1, most=1024)
ABSOLUTE_GAP = 0.999
# CBC checks its limit between steps of the search, and never inside the root LP: it gets a little less than the time
# left, and is killed a little later (seconds).
_SHARE, _GRACE = 0.95, 0.25
_LEAST_LIMIT = 0.02
_INFINITE = 1e29
_SIX_DIGITS = 5e-6  # the largest relative error of a number that is rounded to six digits


def minimise_with_ilp(
    model: IntegerModel,
    clock: Clock,
    *,
    answer: Callable[[Reals], Answer],
    start: Start | None = None,
    solver: str = "highs",
    threads: int = 1,
    seed: int = 0,
    report: Report | None = None,
    scale: float = 1.0,
    model_file: Path | None = None,
) -> SolverOutcome[Answer]:
    """Solve by integer programming, exactly within the solver's tolerances. Raises OutOfTime.

    `answer` goes from the values of all columns to the answer that they stand for, which HiGHS offers while it
    searches; `report` is given the objective of each solution, and each bound on it, by HiGHS. Costs are multiplied by
    `scale`, so that the solvers' absolute gap is `ABSOLUTE_GAP` ÷ scale. With a `model_file`, the model is written
    there (:func:`.write_model`) and not solved.
    """
    if model_file is not None:
        rows = [model.unconditional(row)[:4] for row in model.rows_in_time(clock)]
        write_model(model, rows, model_file)
        return SolverOutcome(stopped=True)

    def scaled_report(value: float | None, bound: float | None) -> None:
        if report is not None:
            report(*(None if number is None else number / scale for number in (value, bound)))

    program = program_of(model, clock, scale)
    ended = SOLVERS[solver](program, start, clock, threads=threads, seed=seed, report=scaled_report, answer=answer)
    counters = {**ended.counters, "variables": len(model.costs), "constraints": model.num_rows}
    found = None if ended.answer is None else answer(ended.answer)
    return SolverOutcome(found, ended.lower_bound / scale, ended.stopped, counters)


def program_of(model: IntegerModel, clock: Clock, scale: float = 1.0) -> Highs:
    """The model in HiGHS, with multiplied costs."""
    import highspy

    rows = [model.unconditional(row) for row in model.rows_in_time(clock)]
    lp, kinds = highspy.HighsLp(), highspy.HighsVarType
    lp.num_col_, lp.num_row_ = len(model.costs), len(rows)
    lp.col_cost_, lp.offset_ = scale * np.array(model.costs, np.float64), scale * model.constant
    lp.col_lower_, lp.col_upper_ = np.array(model.lower, np.float64), np.array(model.upper, np.float64)
    lp.integrality_ = [kinds.kInteger if integral else kinds.kContinuous for integral in model.integral]
    lp.row_lower_, lp.row_upper_ = (np.array([row[side] for row in rows], np.float64) for side in (2, 3))
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.cumsum([0, *(len(row.columns) for row in rows)]).astype(np.int32)
    lp.a_matrix_.index_ = np.array([k for row in rows for k in row.columns], np.int32)
    lp.a_matrix_.value_ = np.array([value for row in rows for value in row.values], np.float64)
    program = highspy.Highs()
    program.setOptionValue("output_flag", False)
    program.passModel(lp)
    return program


def solve_with_highs(
    program: Highs,
    start: Start | None,
    clock: Clock,
    *,
    threads: int,
    seed: int,
    report: Report = lambda value, bound: None,
    answer: Callable[[Reals], object] = lambda values: None,
) -> SolverOutcome[Reals]:
    """Solve with HiGHS inside this process; the answer has the values of all columns. See :func:`minimise_with_ilp`."""
    import highspy

    # HiGHS keeps the thread count of its first run in a process until its scheduler is reset.
    highspy.Highs.resetGlobalScheduler(True)
    for name, value in _highs_options(threads, seed).items():
        program.setOptionValue(name, value)
    clock.check()
    if math.isfinite(clock.left):
        program.setOptionValue("time_limit", clock.left)
    if start is not None:
        index = np.array(list(start), dtype=np.int32)
        program.setSolution(len(index), index, np.array(list(start.values()), dtype=np.float64))

    def report_event(event: Any) -> None:
        numbers = event.data_out.mip_primal_bound, event.data_out.mip_dual_bound
        report(*(number if abs(number) < _INFINITE else None for number in numbers))

    def offer_event(event: Any) -> None:
        offer_made(lambda: answer(np.array(event.data_out.mip_solution)))

    for event in (program.cbMipImprovingSolution, program.cbMipLogging):
        event.subscribe(report_event)
    program.cbMipImprovingSolution.subscribe(offer_event)
    for step in (program.cbMipInterrupt, program.cbSimplexInterrupt, program.cbIpmInterrupt):
        step.subscribe(lambda event: event.interrupt(clock.interrupted))
    try:
        with interruptible(clock):
            program.run()
    finally:
        highspy.Highs.resetGlobalScheduler(True)  # an LP of one thread would end without a status
    status, info = program.getModelStatus(), program.getInfo()
    if status == highspy.HighsModelStatus.kInfeasible:
        return SolverOutcome(None, math.inf, False, {"nodes": 0})
    feasible = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    values = np.array(program.getSolution().col_value) if feasible else None
    stopped = status != highspy.HighsModelStatus.kOptimal
    return SolverOutcome(values, info.mip_dual_bound, stopped, {"nodes": max(0, info.mip_node_count)})


def _highs_options(threads: int, seed: int) -> dict[str, object]:
    return {
        "output_flag": False,
        "threads": threads,
        "mip_rel_gap": 0.0,
        "mip_abs_gap": ABSOLUTE_GAP,
        "random_seed": seed % 2**31,
        "parallel": "on" if threads > 1 else "off",
    }


def solve_with_cbc(
    program: Highs, start: Start | None, clock: Clock, *, threads: int, seed: int, **_: object
) -> SolverOutcome[Reals]:
    """As :func:`solve_with_highs` with the CBC in PuLP's wheel, a child process with files in a temporary folder.

    The child is killed if it runs past the limit, when this call is interrupted, and, where the system has `setpriv`,
    when this process dies. Its bound is read from its log. CBC rounds it to three decimals, which never lifts it over
    the next integer, or to six digits in all, whose error is subtracted. A report of infeasibility counts only before
    the limit: CBC 2.10 reports it falsely when the limit interrupts preprocessing. Interrupted with a start, it
    sometimes crashes at the end, which then counts as stopped; a crash before the limit is a RuntimeError.
    """
    cbc = _cbc_path()
    with TemporaryDirectory(prefix="overlaybench-") as name:
        model, mip_start, solution, log = (Path(name, file) for file in ("model.mps", "start", "solution", "log"))
        program.writeModel(str(model))  # its columns are c0, c1, …
        command = [*_wrapped(), cbc, str(model)]
        if start is not None:
            lines = (f"{column} c{column} {value} 0" for column, value in start.items())
            mip_start.write_text("\n".join(["Feasible - objective value 0", *lines, ""]))
            command += ["-mips", str(mip_start)]
        limit = _SHARE * clock.left
        if limit < _LEAST_LIMIT:
            raise OutOfTime
        if math.isfinite(limit):
            command += ["-sec", f"{limit:.3f}"]
        command += ["-timeMode", "elapsed", "-ratio", "0", "-allow", str(ABSOLUTE_GAP)]
        command += ["-randomCbcSeed", str(seed % 2**31), "-randomSeed", str(seed % 2**31)]
        command += ["-threads", str(threads)] if threads > 1 else []
        command += ["-solve", "-printingOptions", "all", "-solution", str(solution)]
        begin = time.perf_counter()
        ended = _run(command, log, clock.left + _GRACE)
        in_time = time.perf_counter() - begin < limit
        text = log.read_text(errors="replace")
        crashed = ended and not solution.exists()
        if crashed and in_time:
            raise RuntimeError(f"CBC ended without a solution file; its log ends: {text[-300:]!r}")
        if crashed or not ended:
            return SolverOutcome(None, _bound_in(text), True, {"nodes": _nodes_in(text)})
        return _report(program, solution.read_text(), text, in_time)


def _cbc_path() -> str:
    from pulp.apis.coin_api import pulp_cbc_path

    return str(pulp_cbc_path)


def _wrapped() -> list[str]:
    """The prefix of the command by which CBC dies with its parent and writes its log line by line."""
    setpriv, stdbuf = shutil.which("setpriv"), shutil.which("stdbuf")
    return [*([setpriv, "--pdeathsig", "KILL", "--"] if setpriv else []), *([stdbuf, "-oL"] if stdbuf else [])]


def _run(command: list[str], log: Path, limit: float) -> bool:
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


def _report(program: Highs, solution: str, log: str, in_time: bool) -> SolverOutcome[Reals]:
    """The outcome by CBC's solution file, whose first line has the status and each other one a row or a column."""
    counters, bound = {"nodes": _nodes_in(log)}, _bound_in(log)
    status, *lines = solution.splitlines()
    is_optimal = status.startswith("Optimal")
    if status.startswith(("Infeasible", "Integer infeasible")):
        return SolverOutcome(None, math.inf if in_time else bound, not in_time, counters)
    if not is_optimal and status.split()[4:5] != ["objective"]:
        return SolverOutcome(None, bound, True, counters)
    values = np.zeros(program.getNumCol())
    for column, value in re.findall(r"^\W*\d+ c(\d+) +(\S+)", "\n".join(lines), re.MULTILINE):
        values[int(column)] = float(value)
    if is_optimal:
        lp = program.getLp()
        bound = max(bound, float(np.array(lp.col_cost_) @ values) + lp.offset_ - ABSOLUTE_GAP)
    return SolverOutcome(values, bound, not is_optimal, counters)


def _bound_in(log: str) -> float:
    """The bound in the final table or, if the search was killed, the best that the root LP and the tree reported."""
    final = re.findall(r"^Lower bound:\s+(\S+)", log, re.MULTILINE)
    running = re.findall(r"(?:best possible|Continuous objective value is) ([-+.e\d]+)", log)
    bounds = map(float, final) if final else (float(bound) - _SIX_DIGITS * abs(float(bound)) for bound in running)
    return max((bound for bound in bounds if abs(bound) < 1e20), default=-math.inf)


def _nodes_in(log: str) -> float:
    final = re.findall(r"^Enumerated nodes:\s+(\d+)", log, re.MULTILINE)
    running = re.findall(r"After (\d+) nodes", log)
    return float((final or running or ["0"])[-1])


SOLVERS: Mapping[str, Callable[..., SolverOutcome[Reals]]] = {"highs": solve_with_highs, "cbc": solve_with_cbc}

_INCLUSION_WORK = 0
"""OR-Tools 9.15 may cut off every optimum when presolve merges at-most-ones with linear rows they overlap (its issue
5293): CP-SAT then reports a wrong optimum as proven. Without work for it, presolve leaves the step out."""
_LARGEST = 2.0**50


def minimise_with_cp_sat(
    model: IntegerModel,
    clock: Clock,
    *,
    answer: Callable[[Reals], Answer],
    start: Start | None = None,
    threads: int = 1,
    seed: int = 0,
    report: Report | None = None,
) -> SolverOutcome[Answer]:
    """As :func:`minimise_with_ilp`, with the complete linear relaxation, for the bounds of the compact models.

    Costs that are no integers are rounded down to multiples of a power of 2 below a billionth of the sum of all costs,
    so that the bound is valid. The start is a hint; the counter ``nodes`` counts conflicts. RuntimeError is raised if
    the model is invalid.
    """
    from ortools.sat.python import cp_model

    cp = cp_model.CpModel()
    columns = [cp.new_int_var(*bounds, "") for bounds in zip(model.lower, model.upper, strict=True)]
    for row in model.rows_in_time(clock):
        _add_row(cp, model, row, columns)
    unit = _unit(np.array([*model.costs, model.constant]))
    units = np.floor(np.array(model.costs) * unit).astype(np.int64).tolist()
    cp.minimize(cp_model.LinearExpr.weighted_sum(columns, units) + math.floor(model.constant * unit))
    for k, value in (start or {}).items():
        cp.add_hint(columns[k], value)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = threads
    solver.parameters.random_seed = seed % 2**31
    solver.parameters.linearization_level = 2
    solver.parameters.add_lp_constraints_lazily = model.lazy
    solver.parameters.presolve_inclusion_work_limit = _INCLUSION_WORK
    clock.check()
    if math.isfinite(clock.left):
        solver.parameters.max_time_in_seconds = clock.left
    context = copy_context()  # CP-SAT calls from threads of its own, which belong to no run

    def answer_of(solution: cp_model.CpSolver | cp_model.CpSolverSolutionCallback) -> Answer:
        return answer(np.array([solution.value(column) for column in columns], np.float64))

    def reported(value: float | None, bound: float) -> None:
        if report is not None:
            context.copy().run(report, None if value is None else value / unit, bound / unit)

    class Solutions(cp_model.CpSolverSolutionCallback):
        def on_solution_callback(self) -> None:
            reported(self.objective_value, self.best_objective_bound)
            context.copy().run(offer_made, lambda: answer_of(self))

    solver.best_bound_callback = lambda bound: reported(None, bound)
    solver.parameters.catch_sigint_signal = False  # its handler would keep Ctrl-C from Python's

    def stop() -> None:
        clock.interrupt()
        solver.stop_search()

    with interruptible(clock), at_signal(stop):
        status = solver.solve(cp, Solutions())
    counters = {"nodes": float(solver.num_conflicts), "variables": len(columns), "constraints": model.num_rows}
    if status == cp_model.MODEL_INVALID:
        raise RuntimeError(f"CP-SAT refuses the model: {cp.validate()[:200]}")
    if status == cp_model.INFEASIBLE:
        return SolverOutcome(None, math.inf, counters=counters)
    found = answer_of(solver) if status in (cp_model.OPTIMAL, cp_model.FEASIBLE) else None
    # Before it has a bound, CP-SAT reports 0, which is valid as no objective is negative.
    return SolverOutcome(found, solver.best_objective_bound / unit, status != cp_model.OPTIMAL, counters)


def _add_row(cp: cp_model.CpModel, model: IntegerModel, row: Row, columns: list[cp_model.IntVar]) -> None:
    """Add a row, as a clause, an at-most-one or an exactly-one where it is one: CP-SAT proves more with these."""
    from ortools.sat.python import cp_model

    # With n negated literals, Σ literals ≥ 1 is Σ values·columns ≥ 1 − n.
    single = 1 - sum(value < 0 for value in row.values)
    kinds = {
        (single, math.inf): cp.add_bool_or,
        (-math.inf, single): cp.add_at_most_one,
        (single, single): cp.add_exactly_one,
    }
    if (add := kinds.get((row.least, row.most))) is not None and model.is_boolean(row):
        listed = zip(row.columns, row.values, strict=True)
        constraint = add([columns[k] if value > 0 else ~columns[k] for k, value in listed])
    else:
        total = cp_model.LinearExpr.weighted_sum([columns[k] for k in row.columns], list(row.values))
        least = math.ceil(row.least) if math.isfinite(row.least) else cp_model.INT_MIN
        most = math.floor(row.most) if math.isfinite(row.most) else cp_model.INT_MAX
        constraint = cp.add_linear_constraint(total, least, most)
    if row.only_if is not None:
        constraint.only_enforce_if(columns[row.only_if])


def _unit(costs: Reals) -> float:
    """A power of 2 by which costs become integers: 1 if they are integers and not too large."""
    total = float(costs.sum())
    if total < _LARGEST and (costs == np.floor(costs)).all():
        return 1.0
    return 2.0 ** math.floor(math.log2(_LARGEST / total)) if total > 0 else 1.0
