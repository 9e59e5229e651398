"""From a model of single minimisations to a method that answers every topic problem, with starts, bounds and limits."""

from __future__ import annotations

from collections.abc import Mapping

from ...instances.clock import Clock, OutOfTime
from ...instances.method import Proposal
from ...instances.overlay import Overlay
from ...instances.problem import Problem
from ...instances.result import Status
from ...instances.topics.instance import TopicInstance
from .compact.proof import Goal, Minimise, ModelTooLarge, Proof
from .compact.requirements import Requirements, requirements_of
from .compact.simple_bounds import SimpleBounds, simple_bounds
from .incumbents.starts import heuristic_overlays, stars
from .objectives.pareto_front import pareto_front

EXACTLY_ANSWERED = ("min-tco", "minmax-tco", "low-tco", "2d-star", "2d-true")


def solve_exactly(
    instance: TopicInstance,
    problem: Problem[TopicInstance, Overlay],
    minimise: Minimise,
    *,
    start: str,
    seed: int,
    time_limit: float | None,
) -> Proposal[Overlay]:
    """Minimise with the best start, and return the incumbent and a valid bound also when stopped.

    Parameters
    ----------
    minimise
        A model with its solver.
    start : {"best", "none"}
        Whether heuristics run first. Their best overlay is handed to the solver and is the incumbent from then on.
    seed : int
        Of the heuristics' random ties.
    time_limit : float or None
        Seconds of wall-clock time for heuristics, building and solving together.

    Returns
    -------
    Proposal
        Status ``time-limit`` where the limit left a gap. The lower bound is the better of the solver's and of
        :func:`simple_bounds`. For ``low-tco`` the counter ``front`` lists the proven points of the Pareto front as
        edges × maximum degree, and ``front_complete`` says whether these are all.
    """
    clock = Clock(time_limit)
    starts = heuristic_overlays(instance, problem, seed=seed, clock=clock) if start == "best" else []
    if start == "best" and not starts:
        starts = [stars(instance)]
    bound: float | None = None
    try:
        requirements = requirements_of(instance, clock)
        simple = simple_bounds(requirements, clock)
        bound = simple.value(problem.name)
        search = _search_front if problem.name == "low-tco" else _search_once
        proof = search(problem.name, requirements, simple, minimise, starts, clock)
    except OutOfTime:
        return Proposal(_best(instance, problem, starts), bound, Status.TIME_LIMIT)
    except ModelTooLarge as error:
        return Proposal(_best(instance, problem, starts), bound, reason=str(error))
    overlays = [*starts, proof.overlay] if proof.overlay is not None else starts
    incumbent = _best(instance, problem, overlays)
    closed = incumbent is not None and proof.rounded_bound >= problem.value(instance, incumbent)
    status = Status.TIME_LIMIT if proof.stopped and not closed else None
    return Proposal(incumbent, proof.lower_bound, status, _counters(instance, problem, proof, starts))


def _search_once(
    problem: str,
    requirements: Requirements,
    simple: SimpleBounds,
    minimise: Minimise,
    starts: list[Overlay],
    clock: Clock,
) -> Proof:
    goal = Goal(problem, simple.value(problem))
    proof = minimise(requirements, goal, start=starts[0] if starts else None, clock=clock)
    return Proof(proof.overlay, max(proof.lower_bound, goal.least), proof.stopped, proof.counters)


def _search_front(
    problem: str,
    requirements: Requirements,
    simple: SimpleBounds,
    minimise: Minimise,
    starts: list[Overlay],
    clock: Clock,
) -> Proof:
    front = pareto_front(requirements, simple, minimise, starts, clock)
    best = min(front.overlays, key=lambda overlay: overlay.num_edges * overlay.max_degree, default=None)
    complete = "yes" if front.complete else "no"
    counters: dict[str, float | str] = {"nodes": front.nodes, "front": str(front), "front_complete": complete}
    return Proof(best, max(front.lower_bound, simple.value(problem)), not front.complete, counters)


def _best(instance: TopicInstance, problem: Problem[TopicInstance, Overlay], overlays: list[Overlay]) -> Overlay | None:
    return min(overlays, key=lambda overlay: problem.value(instance, overlay), default=None)


def _counters(
    instance: TopicInstance, problem: Problem[TopicInstance, Overlay], proof: Proof, starts: list[Overlay]
) -> Mapping[str, float | str]:
    start = {"start": problem.value(instance, starts[0])} if starts else {}
    return {**proof.counters, **start}
