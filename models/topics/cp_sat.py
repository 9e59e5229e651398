"""Method `cp-sat`: the compact models of :mod:`.overlay_cp`, solved by CP-SAT of OR-Tools."""

from __future__ import annotations

import math
from functools import cache, partial

from ...instances.clock import Clock, OutOfTime
from ...instances.method import Method, Proposal
from ...instances.overlay import Overlay
from ...instances.problem import Problem
from ...instances.topics.instance import TopicInstance
from .compact.proof import Goal, Proof
from .compact.requirements import Requirements
from .exact_method import EXACTLY_ANSWERED, solve_exactly
from .ilp import THREADS
from .incumbents.starts import START, warm_up_heuristics


def solve_cp_sat(
    instance: TopicInstance,
    problem: Problem[TopicInstance, Overlay],
    *,
    seed: int = 0,
    time_limit: float | None = None,
    start: str = "best",
    threads: int = 1,
) -> Proposal[Overlay]:
    """Solve any of the five topic problems by constraint programming.

    Parameters
    ----------
    seed : int
        Of the heuristics' and the solver's random choices. One seed gives one answer with one thread and no limit; a
        limit cuts the search where the machine happens to be.
    time_limit : float or None
        Seconds of wall-clock time, building the model included.
    start : {"best", "none"}
        The best heuristic overlay is a hint.
    threads : int
        CP-SAT's workers. More of them also search in other ways; which one is first may differ from run to run.

    Returns
    -------
    Proposal
        With the incumbent and a proven bound, also when stopped. Counters: nodes (conflicts), variables, constraints,
        and for ``low-tco`` the Pareto front.

    Notes
    -----
    The size of the model is that of :func:`.build_cp`; solving it is exponential in the worst case.
    CP-SAT's proofs are in integers: its LP only proposes, its clauses and cuts are derived exactly.
    """
    minimise = partial(_minimise, threads=threads, seed=seed)
    return solve_exactly(instance, problem, minimise, start=start, seed=seed, time_limit=time_limit)


def _minimise(
    requirements: Requirements, goal: Goal, *, start: Overlay | None, clock: Clock, threads: int, seed: int
) -> Proof:
    # OR-Tools takes half a second to load, which only those who solve should pay.
    from ortools.sat.python import cp_model

    from .compact.overlay_cp import build_cp

    if not requirements.edges:
        return Proof(Overlay.from_edges(requirements.num_nodes, []), 0)
    cp = build_cp(requirements, goal, clock)
    if start is not None:
        cp.hint(start)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = threads
    solver.parameters.random_seed = seed % 2**31
    # The whole LP from the beginning: without it the bound of these models is a fraction of what it could be.
    solver.parameters.linearization_level = 2
    solver.parameters.add_lp_constraints_lazily = False
    if math.isfinite(clock.left):
        if clock.left <= 0:
            raise OutOfTime
        solver.parameters.max_time_in_seconds = clock.left
    status = solver.solve(cp.model)
    counters = {
        "nodes": float(solver.num_conflicts),
        "variables": float(len(cp.model.proto.variables)),
        "constraints": float(len(cp.model.proto.constraints)),
    }
    if status == cp_model.MODEL_INVALID:
        raise RuntimeError(f"CP-SAT refuses the model: {cp.model.validate()}")
    if status == cp_model.INFEASIBLE:
        return Proof(None, math.inf, False, counters)
    if status == cp_model.UNKNOWN:
        # Before it has a bound, CP-SAT reports 0, which is one: no objective here is negative.
        return Proof(None, solver.best_objective_bound, True, counters)
    return Proof(cp.overlay(solver), solver.best_objective_bound, status != cp_model.OPTIMAL, counters)


@cache
def _warm_up() -> None:
    from .compact import overlay_cp  # noqa: F401

    warm_up_heuristics()


CP_SAT = Method(
    name="cp-sat",
    colour="#6B5B00",
    marker="*",
    problems=EXACTLY_ANSWERED,
    summary="compact CP-SAT models: an arborescence with levels in each topic, centres for diameter 2",
    source="models/topics/compact/overlay_cp.py",
    exact=True,
    solve=solve_cp_sat,
    options=(START, THREADS),
    warm_up=_warm_up,
)
