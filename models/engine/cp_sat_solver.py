"""CP-SAT of OR-Tools, called as the ILP solvers are: limit, threads and seed in; status and bound out."""

from __future__ import annotations

import math
import signal
import threading
from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, Protocol

from ...instances.contract.run import Clock, Report, offer_made
from .ilp_solvers import SolverReport

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

_INCLUSION_WORK = 0
"""OR-Tools 9.15 may cut off every optimum when presolve merges at-most-ones with linear rows they overlap (its issue
5293): CP-SAT then reports a wrong optimum as proven. Without work for it, presolve leaves the step out."""


class Solution(Protocol):
    """The values of variables in a solution: of a solver that has ended, or one at work."""

    def value(self, expression: cp_model.LinearExprT, /) -> int:
        """The value of a variable or an expression."""

    def boolean_value(self, literal: cp_model.LiteralT, /) -> bool:
        """Whether a literal is true."""


def solve_with_cp_sat(
    model: cp_model.CpModel,
    clock: Clock,
    *,
    threads: int,
    seed: int,
    lazy: bool = True,
    report: Report | None = None,
    answer: Callable[[Solution], object] | None = None,
) -> tuple[SolverReport, cp_model.CpSolver]:
    """Solve with the complete linear relaxation, without which the bounds of the compact models are far weaker.

    Parameters
    ----------
    threads : int
        CP-SAT's workers.
    lazy : bool
        Whether CP-SAT adds the rows of the relaxation as they are violated, its default, or all of them at the root.
    report : callable, optional
        Is given the objective of each solution, and each bound on it.
    answer : callable, optional
        From a solution to the answer that it stands for, which is offered while the search goes on.

    Returns
    -------
    report : SolverReport
        `nodes` counts conflicts.
    solver : CpSolver
        It holds the values of the variables if `report.found`.

    Raises
    ------
    OutOfTime
        If the clock has no time left.
    RuntimeError
        If the model is invalid.
    """
    from ortools.sat.python import cp_model

    solver = cp_model.CpSolver()
    solver.parameters.num_workers = threads
    solver.parameters.random_seed = seed % 2**31
    solver.parameters.linearization_level = 2
    solver.parameters.add_lp_constraints_lazily = lazy
    solver.parameters.presolve_inclusion_work_limit = _INCLUSION_WORK
    clock.check()
    if math.isfinite(clock.left):
        solver.parameters.max_time_in_seconds = clock.left
    context = copy_context()  # CP-SAT calls from threads of its own, which belong to no run

    def on_solution(solution: cp_model.CpSolverSolutionCallback) -> None:
        if report is not None:
            context.copy().run(report, solution.objective_value, solution.best_objective_bound)
        if answer is not None:
            context.copy().run(offer_made, partial(answer, solution))

    def on_bound(bound: float) -> None:
        if report is not None:
            context.copy().run(report, None, bound)

    solver.best_bound_callback = on_bound
    status = solve_and_keep_interrupts(solver, model, _on_solutions(on_solution))
    nodes = float(solver.num_conflicts)
    if status == cp_model.MODEL_INVALID:
        raise RuntimeError(f"CP-SAT refuses the model: {model.validate()[:200]}")
    if status == cp_model.INFEASIBLE:
        return SolverReport(False, math.inf, False, nodes), solver
    # Before it has a bound, CP-SAT reports 0, which is valid as no objective is negative.
    found, stopped = status in (cp_model.OPTIMAL, cp_model.FEASIBLE), status != cp_model.OPTIMAL
    return SolverReport(found, solver.best_objective_bound, stopped, nodes), solver


def _on_solutions(call: Callable[[cp_model.CpSolverSolutionCallback], object]) -> cp_model.CpSolverSolutionCallback:
    from ortools.sat.python import cp_model

    class Solutions(cp_model.CpSolverSolutionCallback):
        def on_solution_callback(self) -> None:
            call(self)

    return Solutions()


def solve_and_keep_interrupts(
    solver: cp_model.CpSolver, model: cp_model.CpModel, callback: cp_model.CpSolverSolutionCallback | None = None
) -> cp_model.CpSolverStatus:
    """Solve, and give Ctrl-C back to Python: CP-SAT stops at it, but leaves it with the system's action, death."""
    try:
        return solver.solve(model, callback)
    finally:
        handler = signal.getsignal(signal.SIGINT)
        if handler is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, handler)
