"""The topic problems on top of a compact model that solves single minimisations."""

from __future__ import annotations

from functools import partial

from ....instances.contract.method import Proposal
from ....instances.contract.overlay import Overlay
from ....instances.contract.problem import Problem
from ....instances.contract.result import Status
from ....instances.contract.run import Clock, OutOfTime, offer, offer_value
from ....instances.topics.instance import TopicInstance
from ...engine.exact_method import ModelTooLarge, SolverOutcome, solve_exactly
from ..compact.requirements import requirements_of
from ..compact.simple_bounds import simple_bounds
from ..compact.subproblem import Minimise, Subproblem
from ..incumbents.starts import any_overlay, heuristic_overlays
from .pareto_front import pareto_front


def solve_by_model(
    instance: TopicInstance,
    problem: Problem[TopicInstance, Overlay],
    minimise: Minimise,
    *,
    start: str,
    seed: int,
    time_limit: float | None,
) -> Proposal[Overlay]:
    """Minimise from the best heuristic overlay, and return the incumbent and a valid bound also if stopped.

    Parameters
    ----------
    minimise
        A model with its solver.
    start : {"best", "none"}
        Whether heuristics run first. Their best overlay is the solver's start and the first incumbent.
    seed : int
        Of the heuristics' random ties.
    time_limit : float or None
        Seconds of wall-clock time for heuristics, building and solving together.

    Returns
    -------
    Proposal
        Status ``time-limit`` if the limit left a gap. The lower bound is the better of the solver's and of
        :func:`.simple_bounds`. For ``low-tco`` the counter ``front`` lists the proven points of the Pareto front as
        edges × maximum degree, and ``front_complete`` is "yes" if the front has no others.
    """
    clock = Clock(time_limit)
    value = partial(problem.value, instance)
    if start == "best" and time_limit is not None:  # the heuristics may take longer
        offer(any_overlay(instance, problem))
    starts = heuristic_overlays(instance, problem, seed=seed, clock=clock) if start == "best" else []
    if start == "best" and not starts:
        starts = [any_overlay(instance, problem)]
    offer(min(starts, key=value, default=None))
    weighted, fault_tolerant = problem.name == "weighted-tco", problem.name == "k-tco"
    try:
        requirements = requirements_of(instance, clock, weighted=weighted, fault_tolerant=fault_tolerant)
        simple = simple_bounds(requirements, clock)
    except OutOfTime:
        return Proposal(min(starts, key=value, default=None), status=Status.TIME_LIMIT)
    except ModelTooLarge as error:
        return Proposal(min(starts, key=value, default=None), status=Status.TIME_LIMIT, reason=str(error))

    def once(best: Overlay | None, clock: Clock) -> SolverOutcome[Overlay]:
        subproblem = Subproblem(problem.name, simple.value(problem.name), report=offer_value)
        return minimise(requirements, subproblem, start=best, clock=clock)

    def front(_best: Overlay | None, clock: Clock) -> SolverOutcome[Overlay]:
        front = pareto_front(requirements, simple, minimise, starts, clock)
        answer = min(front.overlays, key=value, default=None)
        return SolverOutcome(answer, front.lower_bound, not front.complete, front.counters)

    search = front if problem.name == "low-tco" else once
    return solve_exactly(value, search, clock, starts=starts, lower_bound=simple.value(problem.name))
