"""CP-SAT of OR-Tools on an :class:`.IntegerModel`: limit, threads and seed in; answer, status and bound out."""

from __future__ import annotations

import math
import signal
import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...instances.contract.problem import Answer
from ...instances.contract.run import Clock, Report, offer_made, on_trial
from .exact_method import SolverOutcome
from .integer_model import IntegerModel, Row, Start

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

_INCLUSION_WORK = 0
"""OR-Tools 9.15 may cut off every optimum when presolve merges at-most-ones with linear rows they overlap (its issue
5293): CP-SAT then reports a wrong optimum as proven. Without work for it, presolve leaves the step out."""
_LARGEST = 2.0**50
_EARLY_SECONDS = 0.5


def minimise_with_cp_sat(
    model: IntegerModel,
    clock: Clock,
    *,
    answer: Callable[[npt.NDArray[np.float64]], Answer],
    start: Start | None = None,
    threads: int = 1,
    seed: int = 0,
    report: Report | None = None,
) -> SolverOutcome[Answer]:
    """Solve with the complete linear relaxation, without which the bounds of the compact models are far weaker.

    Costs that are no integers are rounded down to multiples of a power of 2 below a billionth of the sum of all costs,
    so that the bound is valid.

    Parameters
    ----------
    answer : callable
        From the values of all columns to the answer that they stand for, which is offered while the search goes on.
    start : mapping, optional
        A hint.
    threads : int
        CP-SAT's workers.
    report : callable, optional
        Is given the objective of each solution, and each bound on it.

    Returns
    -------
    SolverOutcome
        The counter ``nodes`` counts conflicts.

    Raises
    ------
    OutOfTime
        If the clock has no time left.
    RuntimeError
        If the model is invalid.
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
    status = _solve_and_keep_interrupts(solver, cp, Solutions(), clock)
    counters = {"nodes": float(solver.num_conflicts), "variables": len(columns), "constraints": model.num_rows}
    if status == cp_model.MODEL_INVALID:
        raise RuntimeError(f"CP-SAT refuses the model: {cp.validate()[:200]}")
    if status == cp_model.INFEASIBLE:
        return SolverOutcome(None, math.inf, counters=counters)
    found = answer_of(solver) if status in (cp_model.OPTIMAL, cp_model.FEASIBLE) else None
    # Before it has a bound, CP-SAT reports 0, which is valid as no objective is negative.
    return SolverOutcome(found, solver.best_objective_bound / unit, status != cp_model.OPTIMAL, counters)


def _add_row(cp: cp_model.CpModel, model: IntegerModel, row: Row, columns: list[cp_model.IntVar]) -> None:
    """Add a row, as a clause, an at-most-one or an exactly-one where it is one: CP-SAT propagates these faster."""
    from ortools.sat.python import cp_model

    # With n negated literals, Σ literals ≥ 1 is Σ values·columns ≥ 1 − n.
    single = 1 - sum(value < 0 for value in row.values)
    add = None
    if model.is_boolean(row):
        by_limits = {
            (single, math.inf): cp.add_bool_or,
            (-math.inf, single): cp.add_at_most_one,
            (single, single): cp.add_exactly_one,
        }
        add = by_limits.get((row.least, row.most))
    if add is not None:
        listed = zip(row.columns, row.values, strict=True)
        constraint = add([columns[k] if value > 0 else ~columns[k] for k, value in listed])
    else:
        total = cp_model.LinearExpr.weighted_sum([columns[k] for k in row.columns], list(row.values))
        least = math.ceil(row.least) if math.isfinite(row.least) else cp_model.INT_MIN
        most = math.floor(row.most) if math.isfinite(row.most) else cp_model.INT_MAX
        constraint = cp.add_linear_constraint(total, least, most)
    if row.only_if is not None:
        constraint.only_enforce_if(columns[row.only_if])


def _unit(costs: npt.NDArray[np.float64]) -> float:
    """A power of 2 by which costs become integers: 1 if they are integers and not too large."""
    total = float(costs.sum())
    if total < _LARGEST and (costs == np.floor(costs)).all():
        return 1.0
    return 2.0 ** math.floor(math.log2(_LARGEST / total)) if total > 0 else 1.0


def _solve_and_keep_interrupts(
    solver: cp_model.CpSolver, model: cp_model.CpModel, callback: cp_model.CpSolverSolutionCallback, clock: Clock
) -> cp_model.CpSolverStatus:
    """Solve, and give Ctrl-C back to Python: CP-SAT stops at it, but leaves it with the system's action, death.

    A search that ends before its limit without a proof was interrupted: CP-SAT does not say so.
    """
    from ortools.sat.python import cp_model

    solver.parameters.catch_sigint_signal = not on_trial.get()
    try:
        status = solver.solve(model, callback)
    finally:
        handler = signal.getsignal(signal.SIGINT)
        if handler is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, handler)
    if status in (cp_model.FEASIBLE, cp_model.UNKNOWN) and clock.left > _EARLY_SECONDS:
        clock.interrupt()
    return status
