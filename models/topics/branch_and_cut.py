"""Branch-and-cut: proven optima by partition inequalities, local search along LP values, and certified pruning."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np

from ...heuristics.topics.heuristic import trial_instance
from ...instances.clock import Clock, OutOfTime, interruptible
from ...instances.method import Method, Proposal
from ...instances.option import Option
from ...instances.overlay import Overlay
from ...instances.problem import Problem
from ...instances.result import Status
from ...instances.topics.instance import TopicInstance
from ...instances.topics.problems import TOPIC_PROBLEMS
from ..engine.search_log import PROGRESS
from .bounds.certificate import Certificate
from .bounds.certificate_text import packed
from .bounds.dual_fitting import fitted_within, mean_degree_bound
from .compact import proof
from .compact.requirements import Requirements, requirements_of
from .compact.simple_bounds import simple_bounds
from .cuts.cutting_planes import Goal
from .incumbents.lp_guided import warm_up as warm_up_incumbents
from .incumbents.starts import heuristic_overlays, stars, warm_up_heuristics
from .objectives.edge_minimisation import Outcome, Settings, minimise_edges
from .objectives.pareto_front import pareto_front
from .objectives.smallest_degree import minimise_degree
from .rows import presolve as topic_presolve

OPTIONS = (
    Option("sparse", True, "start the LP with few edges and price the others in"),
    Option("presolve", True, "drop topics that others imply (not for diameter 2)"),
    Option("steps", 10_000, "steps of local search at the root", least=0, most=10**9),
    Option("threads", 1, "threads of the LP solver", least=1, most=1024),
    Option(
        "certificate",
        False,
        "put a proof of the root's bound into the counters: overlaybench.models.topics.bounds.certificate_text",
    ),
    PROGRESS,
)
_FITTING_WORK = 20_000_000
PROBLEMS_ANSWERED = ("min-tco", "minmax-tco", "low-tco", "2d-true")


def branch_and_cut(
    instance: TopicInstance,
    problem: Problem[TopicInstance, Overlay],
    *,
    seed: int = 0,
    time_limit: float | None = None,
    sparse: bool = True,
    presolve: bool = True,
    steps: int = 10_000,
    threads: int = 1,
    certificate: bool = False,
    progress: str = "auto",
) -> Proposal[Overlay]:
    """An optimal overlay with proof, or the best one found with a proven bound.

    Parameters
    ----------
    instance : TopicInstance
    problem : Problem
        ``min-tco``, ``minmax-tco``, ``low-tco`` or ``2d-true``.
    seed : int
        Of the local search. Without a time limit that is hit, one seed gives one answer.
    time_limit : float, optional
        Seconds.
    sparse, presolve, steps, threads, certificate, progress
        See `OPTIONS`.

    Returns
    -------
    Proposal
        Its bound is proven in integers (:mod:`.certificate`), at every node of the tree. For ``low-tco`` the
        counter ``front`` lists the proven points of the Pareto front as edges × maximum degree.

    Notes
    -----
    Exponential in the worst case; docs/exact.md has the formulation, proofs and measurements. Min-TCO is P1 §4.
    Ctrl-C and want of memory end the search as the time limit does.
    """
    settings = Settings(seed, sparse, threads, steps, progress)
    with interruptible(time_limit) as clock:
        starts = heuristic_overlays(instance, problem, seed=seed, clock=clock.share(0.5)) or [stars(instance)]
        reduced, topics = instance, np.arange(instance.num_topics, dtype=np.int32)
        counters: dict[str, float | str] = {}
        if presolve and problem.name != "2d-true":
            presolved = topic_presolve.presolve(instance)
            reduced, topics = topic_presolve.without_implied(instance, presolved)
            counters["topics_implied"] = instance.num_topics - len(presolved.kept)
            counters["edges_forced"] = len(presolved.forced)
        found, proof_at_root = _without_presolve(reduced, problem, starts, clock, settings)
    if certificate and proof_at_root is not None:
        counters["certificate"] = packed([proof_at_root.for_topics(topics)])
    return replace(found, counters={**found.counters, **counters})


def _without_presolve(
    instance: TopicInstance,
    problem: Problem[TopicInstance, Overlay],
    starts: list[Overlay],
    clock: Clock,
    settings: Settings,
) -> tuple[Proposal[Overlay], Certificate | None]:
    fitted = fitted_within(clock, instance, work=_FITTING_WORK)
    if problem.name == "low-tco":
        return _front(instance, problem, starts, fitted, clock, settings)
    if problem.name == "minmax-tco":
        least = math.ceil(mean_degree_bound(instance, fitted))
        overlay, bound, outcome = minimise_degree(instance, least, starts, clock, settings)
        return _found(overlay, bound, outcome), outcome.certificate
    outcome = minimise_edges(instance, Goal(diameter=problem.name == "2d-true"), starts[0], clock, settings)
    return _found(outcome.overlay, max(outcome.lower_bound, math.ceil(fitted)), outcome), outcome.certificate


def _found(overlay: Overlay | None, bound: float, outcome: Outcome) -> Proposal[Overlay]:
    status = None if outcome.complete else Status.TIME_LIMIT
    return Proposal(overlay, bound, status, outcome.counters, outcome.stopped_by)


def _front(
    instance: TopicInstance,
    problem: Problem[TopicInstance, Overlay],
    starts: list[Overlay],
    fitted: Fraction,
    clock: Clock,
    settings: Settings,
) -> tuple[Proposal[Overlay], Certificate | None]:
    """The ε-constraint of :func:`.pareto_front`, each point by the engine."""
    total = Outcome()
    overlays = list(starts)

    def minimise(requirements: Requirements, goal: proof.Goal, *, start: Overlay | None, clock: Clock) -> proof.Proof:
        cap = instance.num_nodes if goal.degree_cap is None else goal.degree_cap
        first = start if start is not None else min(overlays, key=lambda overlay: overlay.max_degree)
        outcome = minimise_edges(instance, Goal(cap=cap), first, clock, settings)
        total.stopped_by = outcome.stopped_by
        if goal.degree_cap is None:
            total.certificate = outcome.certificate
        if outcome.overlay is not None:
            overlays.append(outcome.overlay)
        impossible = outcome.complete and outcome.overlay is None
        bound = math.inf if impossible else float(outcome.lower_bound)
        return proof.Proof(outcome.overlay, bound, not outcome.complete, outcome.counters)

    best = min(overlays, key=lambda overlay: problem.value(instance, overlay))
    try:
        requirements = requirements_of(instance, clock)
        simple = simple_bounds(requirements, clock)
    except OutOfTime:
        least = math.ceil(fitted) * math.ceil(mean_degree_bound(instance, fitted))
        return _found(best, least, total), None
    front = pareto_front(requirements, simple, minimise, starts, clock)
    total.complete, total.stopped_by = front.complete, total.stopped_by or clock.stopped_by
    best = min(overlays, key=lambda overlay: problem.value(instance, overlay))
    complete = "yes" if front.complete else "no"
    total.counters = {"nodes": front.nodes, "front": str(front), "front_complete": complete}
    return _found(best, float(front.lower_bound), total), total.certificate


@cache
def warm_up() -> None:
    """Compile the kernels, and load the LP solver."""
    warm_up_heuristics()
    small = trial_instance()
    for problem in TOPIC_PROBLEMS:
        if problem.name in PROBLEMS_ANSWERED:
            branch_and_cut(small, problem, progress="off", steps=50)
    # So small an instance may be solved before its incumbent needs improving.
    warm_up_incumbents()


BRANCH_AND_CUT: Method[TopicInstance, Overlay] = Method(
    name="branch-and-cut",
    problems=PROBLEMS_ANSWERED,
    summary="branch-and-cut on partition inequalities, with bounds proven in integers",
    source="P1 §4, P2 §2; docs/exact.md",
    exact=True,
    solve=branch_and_cut,
    options=OPTIONS,
    warm_up=warm_up,
)
