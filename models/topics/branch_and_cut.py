"""Branch-and-cut: proven optima by partition inequalities, local search along LP values, and certified pruning."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ...heuristics.topics.fault_tolerant_polish import fault_tolerant_polish
from ...heuristics.topics.heuristic import trial_instance
from ...heuristics.topics.kernels.interest import edge_costs
from ...instances.contract.method import Method, Proposal
from ...instances.contract.option import Option
from ...instances.contract.overlay import Overlay
from ...instances.contract.problem import Problem
from ...instances.contract.result import Status
from ...instances.contract.run import Clock, OutOfTime, interruptible, offer
from ...instances.topics.instance import TopicInstance
from ...instances.topics.problems import TOPIC_PROBLEMS
from ..engine.exact_method import SolverOutcome
from ..engine.ilp_solvers import THREADS
from ..engine.proof import ProofFile
from ..engine.search_log import PROGRESS
from .bounds.certificate import MOST_PROVEN, Certificate
from .bounds.certificate_text import CERTIFICATE, packed
from .bounds.dual_fitting import fitted_certificate, fitted_within, mean_degree_bound
from .compact.requirements import Requirements, requirements_of
from .compact.simple_bounds import SimpleBounds, simple_bounds
from .compact.subproblem import Subproblem
from .cuts.cutting_planes import ALL_PAIRS
from .incumbents.guided_candidates import warm_up as warm_up_candidates
from .incumbents.lp_guided import warm_up as warm_up_incumbents
from .incumbents.star_centres import annealed_stars
from .incumbents.star_centres import warm_up as warm_up_stars
from .incumbents.starts import any_overlay, heuristic_overlays, warm_up_heuristics
from .objectives.edge_minimisation import SearchOutcome, SearchSettings, minimise_edges
from .objectives.pareto_front import pareto_front
from .objectives.smallest_degree import minimise_degree
from .objectives.star_search import minimise_stars
from .proofs import begin_proof, write_certificate
from .rows.candidate_edges import count_links
from .rows.goal import Goal
from .rows.leaf_nodes import attach_leaves, moved_to_neighbours
from .rows.presolve import PRESOLVE, drop_implied_topics

PROBLEMS_ANSWERED = ("min-tco", "minmax-tco", "low-tco", "weighted-tco", "k-tco", "2d-star", "2d-true")
_PRESOLVED = ("min-tco", "minmax-tco", "low-tco", "weighted-tco")
_FITTING_WORK = 20_000_000
_EDGES_POLISHED = 50  # by one round of steps; they take some 10 microseconds each


def branch_and_cut(
    instance: TopicInstance,
    problem: Problem[TopicInstance, Overlay],
    *,
    seed: int,
    time_limit: float | None,
    presolve: bool,
    certificate: bool,
    proof: str | Path | None = None,
    **search: Any,
) -> Proposal[Overlay]:
    """An optimal overlay with proof, or the best one found with a proven bound.

    Parameters
    ----------
    problem : Problem
        A topic problem.
    seed : int
        Of the local search. One seed gives one answer, unless the time limit ends the search.
    time_limit : float, optional
        Seconds.
    presolve, certificate : bool
        See the options.
    proof : path, optional
        Write a proof of the bound to this file (docs/proofs.md).
    search
        The other fields of :class:`.SearchSettings`.

    Returns
    -------
    Proposal
        Its bound is proven in integers (:mod:`.certificate`), at every node of the tree. For ``low-tco`` the
        counter ``front`` lists the proven points of the Pareto front as edges × maximum degree.

    Notes
    -----
    Exponential in the worst case; docs/exact.md has the formulation, proofs and measurements. Min-TCO is P1 §4.
    Ctrl-C and running out of memory end the search as the time limit does.
    """
    with interruptible(time_limit) as clock, ProofFile(proof) as file:
        settings = SearchSettings(seed=seed, **search, proof=file)
        starts = heuristic_overlays(instance, problem, seed=seed, clock=clock.share(0.5))
        starts = starts or [any_overlay(instance, problem)]
        offer(starts[0])
        if problem.name == "k-tco":
            starts = [_polished(instance, starts[0], clock, settings)]
            offer(starts[0])
        if problem.name == "2d-true":
            stars = annealed_stars(instance, settings.steps, clock.share(0.2), seed)
            if stars is not None and stars.num_edges < starts[0].num_edges:
                starts = [stars]
                offer(stars)
        if problem.value(instance, starts[0]) >= MOST_PROVEN and problem.name == "weighted-tco":
            least = float(math.ceil(fitted_within(clock, instance, work=_FITTING_WORK)))
            return Proposal(starts[0], least, Status.TIME_LIMIT, reason=f"costs above {MOST_PROVEN:,}: divide them")
        reduced, topics = instance, np.arange(instance.num_topics, dtype=np.int32)
        counters: dict[str, float | str] = {}
        if presolve and problem.name in _PRESOLVED:
            presolved = drop_implied_topics(instance)
            reduced, topics = presolved.instance, presolved.topics
            counters["topics_implied"] = instance.num_topics - len(presolved.kept)
            counters["edges_forced"] = len(presolved.forced)
        leaves = None
        if presolve and problem.name == "min-tco" and not certificate and count_links(instance) <= ALL_PAIRS:
            whole = reduced
            reduced, leaves = attach_leaves(whole)
            starts = [moved_to_neighbours(start, whole, leaves) for start in starts]
            counters["leaves"] = len(leaves)
        begin_proof(file, instance, problem.name, topics, leaves)
        proposal, root_proof = _without_presolve(reduced, problem, starts, clock, settings)
        if (answer := proposal.answer) is not None:
            file.claim(problem.value(instance, answer), proposal.lower_bound, answer.edges.tolist())
    if certificate and root_proof is not None:
        counters["certificate"] = packed([root_proof.for_topics(topics)])
    return replace(proposal, counters={**proposal.counters, **counters})


def _without_presolve(
    instance: TopicInstance,
    problem: Problem[TopicInstance, Overlay],
    starts: list[Overlay],
    clock: Clock,
    settings: SearchSettings,
) -> tuple[Proposal[Overlay], Certificate | None]:
    fitted = fitted_within(clock, instance, work=_FITTING_WORK)
    if problem.name == "low-tco":
        return _front(instance, problem, starts, fitted, clock, settings)
    if problem.name == "minmax-tco":
        least = math.ceil(mean_degree_bound(instance, fitted))
        offer(lower_bound=least)
        overlay, bound, outcome = minimise_degree(instance, least, starts, clock, settings)
        if bound <= least:
            _prove(fitted, instance, settings)
        return _proposal(overlay, bound, outcome), outcome.certificate
    offer(lower_bound=math.ceil(fitted))
    offering = replace(settings, offers=True)
    if problem.name == "2d-star":
        outcome = minimise_stars(instance, starts[0], clock, offering)
    else:
        outcome = minimise_edges(instance, _goal(instance, problem.name), starts[0], clock, offering)
    if math.ceil(fitted) > outcome.lower_bound:
        _prove(fitted, instance, settings)
    return _proposal(outcome.overlay, max(outcome.lower_bound, math.ceil(fitted)), outcome), outcome.certificate


def _goal(instance: TopicInstance, problem: str) -> Goal:
    costs = edge_costs(instance) if problem == "weighted-tco" else None
    return Goal(diameter=problem == "2d-true", fault_tolerant=problem == "k-tco", costs=costs)


def _polished(instance: TopicInstance, start: Overlay, clock: Clock, settings: SearchSettings) -> Overlay:
    """The search has no local search of its own for fault-tolerant overlays."""
    steps = settings.steps * max(1, start.num_edges // _EDGES_POLISHED)
    return fault_tolerant_polish(instance, start, seed=settings.seed, steps=steps, clock=clock.share(0.2))


def _prove(fitted: Fraction, instance: TopicInstance, settings: SearchSettings) -> None:
    """Write the case of dual fitting, if its bound is the best one."""
    if settings.proof.is_written and fitted > 0:
        write_certificate(settings.proof, fitted_certificate(instance, fitted), fitted)


def _proposal(overlay: Overlay | None, bound: float, outcome: SearchOutcome) -> Proposal[Overlay]:
    status = None if outcome.complete else Status.TIME_LIMIT
    return Proposal(overlay, bound, status, outcome.counters, outcome.stopped_by)


def _front(
    instance: TopicInstance,
    problem: Problem[TopicInstance, Overlay],
    starts: list[Overlay],
    fitted: Fraction,
    clock: Clock,
    settings: SearchSettings,
) -> tuple[Proposal[Overlay], Certificate | None]:
    """The ε-constraint of :func:`.pareto_front`, each subproblem by branch-and-cut."""
    total = SearchOutcome()
    overlays = list(starts)

    def minimise(
        requirements: Requirements, subproblem: Subproblem, *, start: Overlay | None, clock: Clock
    ) -> SolverOutcome[Overlay]:
        cap = instance.num_nodes if subproblem.degree_cap is None else subproblem.degree_cap
        first = start if start is not None else min(overlays, key=lambda overlay: overlay.max_degree)
        outcome = minimise_edges(instance, Goal(cap=cap), first, clock, settings)
        total.stopped_by = outcome.stopped_by
        if subproblem.degree_cap is None:
            total.certificate = outcome.certificate
        if outcome.overlay is not None:
            overlays.append(outcome.overlay)
        infeasible = outcome.complete and outcome.overlay is None
        bound = math.inf if infeasible else float(outcome.lower_bound)
        return SolverOutcome(outcome.overlay, bound, not outcome.complete, outcome.counters)

    try:
        requirements = requirements_of(instance, clock)
        simple = simple_bounds(requirements, clock)
        if settings.proof.is_written:
            simple = SimpleBounds(0, _proven_degree(instance, simple.max_degree, starts[0], clock, settings))
        front = pareto_front(requirements, simple, minimise, starts, clock)
        total.complete, total.counters, bound = front.complete, front.counters, front.lower_bound
    except OutOfTime:
        bound = math.ceil(fitted) * math.ceil(mean_degree_bound(instance, fitted))
        _prove(fitted, instance, settings)
    total.stopped_by = total.stopped_by or clock.stopped_by
    best = min(overlays, key=lambda overlay: problem.value(instance, overlay))
    return _proposal(best, float(bound), total), total.certificate


def _proven_degree(instance: TopicInstance, degree: int, start: Overlay, clock: Clock, settings: SearchSettings) -> int:
    """A simple bound on the maximum degree if one case of the proof shows it, else 1."""
    if degree <= 1:
        return 1
    outcome = minimise_edges(instance, Goal(cap=degree - 1), start, clock.share(0.3), settings)
    return degree if outcome.complete and outcome.overlay is None else 1


@cache
def _warm_up() -> None:
    """Compile the kernels, and load the LP solver."""
    warm_up_heuristics()
    small = trial_instance()
    for problem in TOPIC_PROBLEMS:
        if problem.name in PROBLEMS_ANSWERED:
            options = BRANCH_AND_CUT.complete({"progress": "off", "steps": 50}, problem.name)
            BRANCH_AND_CUT.solve(small, problem, seed=0, time_limit=None, **options)
    # The search may solve so small an instance before it improves an incumbent.
    warm_up_incumbents()
    warm_up_stars()
    warm_up_candidates()


BRANCH_AND_CUT: Method[TopicInstance, Overlay] = Method(
    name="branch-and-cut",
    problems=PROBLEMS_ANSWERED,
    summary="branch-and-cut on partition inequalities, with bounds proven in integers",
    source="P1 §4, P2 §2; docs/exact.md",
    guarantee="the optimum with proof; when stopped, the incumbent with a proven bound; bounds are proven in integers",
    cost="exponential in the worst case",
    exact=True,
    solve=branch_and_cut,
    options=(
        Option("sparse", SearchSettings.sparse, "start the LP with few edges and price the others in"),
        PRESOLVE,
        Option("steps", SearchSettings.steps, "steps of local search at the root", least=0, most=10**9),
        THREADS,
        CERTIFICATE,
        PROGRESS,
    ),
    inputs=("proof",),
    warm_up=_warm_up,
    colour="#CC6677",
    marker="d",
)
