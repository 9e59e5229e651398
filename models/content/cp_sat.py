"""Method `cp-sat` for content-based overlays: the compact models in whole numbers, solved by CP-SAT of OR-Tools."""

from __future__ import annotations

import math
from functools import cache, partial

import numpy as np

from ...instances.clock import Clock
from ...instances.content.instance import ContentInstance
from ...instances.content.overlay import ContentOverlay
from ...instances.content.problems import CONTENT_PROBLEMS, ContentProblem
from ...instances.method import Method, Proposal
from ...instances.problem import Problem
from ..engine.ilp_solvers import THREADS
from .exact import START, Proof, solve_content
from .formulations import FORMULATION, compact_model
from .starts import warm_up_heuristics

_LARGEST = 2.0**50


def content_cp_sat(
    instance: ContentInstance,
    problem: Problem[ContentInstance, ContentOverlay],
    *,
    seed: int = 0,
    time_limit: float | None = None,
    formulation: str = "arborescences",
    start: str = "best",
    threads: int = 1,
) -> Proposal[ContentOverlay]:
    """Solve a content problem by constraint programming.

    Parameters
    ----------
    seed : int
        Of the heuristics' and the solver's random choices.
    time_limit : float or None
        Seconds of wall-clock time, building the model included.
    formulation : {"arborescences", "broker-trees", "flows"}
        See :func:`.compact_model`.
    start : {"best", "none"}
        The best heuristic overlay is a hint.
    threads : int
        CP-SAT's workers.

    Returns
    -------
    Proposal
        With the incumbent and a proven bound, also when stopped. Counters: nodes (conflicts), variables, constraints,
        start.

    Notes
    -----
    Exponential in the worst case. P4 §II.B and §IV.A. Costs that are no whole numbers are rounded down to multiples of
    a power of 2, finer than a billionth of all costs together, so that the bound stays valid.
    """
    assert isinstance(problem, ContentProblem)
    minimise = partial(_minimise, instance, problem, formulation=formulation, threads=threads, seed=seed)
    return solve_content(instance, problem, minimise, start=start, seed=seed, time_limit=time_limit)


def _minimise(
    instance: ContentInstance,
    problem: ContentProblem,
    start: ContentOverlay | None,
    clock: Clock,
    *,
    formulation: str,
    threads: int,
    seed: int,
) -> Proof:
    # OR-Tools takes half a second to load, which only those who solve should pay.
    from ortools.sat.python import cp_model

    model = compact_model(instance, problem.routing, formulation, clock)
    cp = cp_model.CpModel()
    columns = [cp.new_int_var(0, int(upper), f"v{number}") for number, upper in enumerate(model.upper)]
    for users in model.x:
        cp.add_exactly_one(columns[k] for k in users.tolist())
    for numbers, values, rhs in model.rows_in_time():
        cp.add(cp_model.LinearExpr.weighted_sum([columns[k] for k in numbers.tolist()], values.tolist()) >= rhs)
    costs = np.array(model.costs)
    unit = _unit(costs)
    cp.minimize(cp_model.LinearExpr.weighted_sum(columns, np.floor(costs * unit).astype(np.int64).tolist()))
    if start is not None:
        chosen = model.values(start).tolist()
        for k, integral in enumerate(model.integral):
            if integral and model.upper[k] == 1:
                cp.add_hint(columns[k], chosen[k])
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = threads
    solver.parameters.random_seed = seed % 2**31
    # The whole LP from the beginning: without it the bound of these models is a fraction of what it could be.
    solver.parameters.linearization_level = 2
    if math.isfinite(clock.left):
        solver.parameters.max_time_in_seconds = max(0.01, clock.left)
    status = solver.solve(cp)
    counters: dict[str, float | str] = {
        "nodes": solver.num_conflicts,
        "variables": len(columns),
        "constraints": len(model.rows),
    }
    if status == cp_model.INFEASIBLE:
        return Proof(None, math.inf, True, counters)
    if status == cp_model.MODEL_INVALID:
        raise RuntimeError(f"CP-SAT refuses the model: {cp.validate()[:200]}")
    if status == cp_model.UNKNOWN:
        return Proof(None, solver.best_objective_bound / unit, False, counters)
    answer = model.answer(np.array([solver.value(column) for column in columns], dtype=np.float64))
    return Proof(answer, solver.best_objective_bound / unit, status == cp_model.OPTIMAL, counters)


def _unit(costs: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """A power of 2 that makes costs whole numbers, exactly if they are and are not too large."""
    total = float(costs.sum())
    if total < _LARGEST and (costs == np.floor(costs)).all():
        return 1.0
    return 2.0 ** math.floor(math.log2(_LARGEST / total)) if total > 0 else 1.0


@cache
def _warm_up() -> None:
    from ortools.sat.python import cp_model

    cp_model.CpModel()
    warm_up_heuristics()


CONTENT_CP_SAT: Method[ContentInstance, ContentOverlay] = Method(
    name="cp-sat",
    colour="#6B5B00",
    marker="*",
    problems=tuple(problem.name for problem in CONTENT_PROBLEMS),
    summary="content: the compact models in whole numbers",
    source="P4 §II.B, §IV.A; docs/content_exact.md",
    exact=True,
    solve=content_cp_sat,
    options=(FORMULATION, START, THREADS),
    warm_up=_warm_up,
)
