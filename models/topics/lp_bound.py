"""Method `lp-bound`: lower bounds at any size, valid whenever it is stopped, and certified in integers."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ...heuristics.topics.heuristic import DIAMETER_TWO, trial_instance
from ...heuristics.topics.kernels.interest import edge_costs
from ...instances.contract.method import Method, Proposal
from ...instances.contract.option import Option
from ...instances.contract.overlay import Overlay
from ...instances.contract.problem import Problem
from ...instances.contract.result import Status
from ...instances.contract.run import Clock, interruptible, offer, offer_bound
from ...instances.topics.instance import TopicInstance
from ..engine.ilp_solvers import THREADS
from ..engine.integer_bound import UNIT, Bound
from ..engine.proof import ProofFile
from ..engine.search_log import PROGRESS, SearchLog
from .bounds.certificate import MOST_PROVEN, Certificate
from .bounds.certificate_text import CERTIFICATE, packed
from .bounds.cost_splitting import certificate_rows
from .bounds.dual_fitting import fitted_certificate, fitted_within, mean_degree_bound
from .bounds.priced_splitting import is_affordable, split_by_pricing
from .bounds.priced_splitting import warm_up as warm_up_pricing
from .cuts.cutting_planes import CuttingPlanes
from .incumbents.lp_guided import Incumbent
from .incumbents.lp_guided import warm_up as warm_up_incumbents
from .incumbents.starts import greedy_merge_or_stars, heuristic_overlays, stars, warm_up_heuristics
from .proofs import begin_proof, write_certificate
from .rows.candidate_edges import count_links
from .rows.goal import Goal
from .rows.leaf_nodes import attach_leaves
from .rows.presolve import PRESOLVE, drop_implied_topics

_FACTORS = {"minmax-tco": (True,), "low-tco": (False, True)}  # is a value the edges, the degree, or both?
_SMOOTHING, _STALL = 0.005, 2e-5
_BUILD_EVERY = 10
_LP_LINKS, _CERTIFIED_LINKS = 30_000, 60_000_000


@dataclass(frozen=True)
class BoundSettings:
    """The parameters of :func:`lower_bound`.

    Attributes
    ----------
    method : {"auto", "lp", "splitting", "fitting"}
    presolve : bool
        Drop topics that others imply.
    stall : float
        Cutting planes stop when ten rounds raise the bound by less than this.
    threads : int
        Of the LP solver.
    progress : {"auto", "on", "off"}
    certified : bool
        Keep a certificate of dual fitting, too.
    offers : bool
        Offer each bound (:func:`.offer`): the problem is the one that is bounded.
    """

    method: str = "auto"
    presolve: bool = True
    stall: float = 1e-3
    threads: int = 1
    progress: str = "auto"
    certified: bool = False
    offers: bool = False


DEFAULTS = BoundSettings()


@dataclass(frozen=True)
class LowerBound:
    """A proven bound.

    Attributes
    ----------
    value : Fraction
        On the number of edges, their cost, or the maximum degree. Each is an integer, so it may be rounded up.
    certificate : Certificate or None
        Proves `value`, or a number of edges that such a mean degree follows from; None if dual fitting was better or
        the LP had no time, unless `certified`.
    overlay : Overlay or None
        The best overlay found during the computation.
    stopped : bool
        Whether the time limit or Ctrl-C stopped it before the bound converged.
    counters : dict
    """

    value: Fraction
    certificate: Certificate | None
    overlay: Overlay | None
    stopped: bool
    counters: dict[str, float | str]


def lower_bound(
    instance: TopicInstance,
    settings: BoundSettings = DEFAULTS,
    *,
    of_degree: bool = False,
    weighted: bool = False,
    time_limit: float | None = None,
) -> LowerBound:
    """Bound the edges, their cost, or the maximum degree, of every topic-connected overlay from below.

    All methods approximate the LP over all partition inequalities: ``lp`` by cutting planes and pricing from a sparse
    start, ``splitting`` by subgradients. Every iterate's duals are rounded and their bound computed in integers
    over all pairs, so `time_limit` and Ctrl-C leave a valid bound, no worse than that of dual fitting. ``auto`` takes
    ``lp`` up to 30,000 pairs of subscribers of a topic, then ``splitting`` where :func:`.is_affordable`, else
    ``fitting``. From 60,000,000 pairs on there is no certificate: its rows would not fit in memory.

    Parameters
    ----------
    of_degree : bool
        Bound the maximum degree, not the edges. Only ``lp`` weighs the nodes; the others bound the mean degree.
    weighted : bool
        Bound the cost of the edges, which must be below 2^28 in total. ``fitting`` counts each as 1.
    time_limit : float, optional
        Seconds.

    Notes
    -----
    Costs: :mod:`.cutting_planes`, :mod:`.cost_splitting`, :mod:`.dual_fitting`. Min-TCO is P1 §4, MinMax-TCO P2 §2.1.
    """
    with interruptible(time_limit) as clock:
        return _bounded(instance, of_degree, clock, settings, weighted)


def _bounded(
    instance: TopicInstance, of_degree: bool, clock: Clock, settings: BoundSettings, weighted: bool = False
) -> LowerBound:
    if not settings.presolve:
        return _bounded_without_presolve(instance, of_degree, clock, settings, weighted)
    presolved = drop_implied_topics(instance)
    bound = _bounded_without_presolve(presolved.instance, of_degree, clock, settings, weighted)
    proof = None if bound.certificate is None else bound.certificate.for_topics(presolved.topics)
    return replace(bound, certificate=proof)


def _bounded_without_presolve(
    instance: TopicInstance, of_degree: bool, clock: Clock, settings: BoundSettings, weighted: bool
) -> LowerBound:
    method, on_bound = settings.method, offer_bound if settings.offers else None
    progress = SearchLog(settings.progress, on_bound=on_bound)
    if method == "auto":
        links = count_links(instance)
        method = "lp" if links <= _LP_LINKS else "splitting" if is_affordable(instance, clock) else "fitting"
    fitted = fitted_within(clock, instance)
    if method == "lp":
        bound = _by_planes(instance, of_degree, clock, settings, progress, weighted)
    elif method == "splitting":
        bound = _by_splitting(instance, clock, progress, weighted)
    else:
        bound = LowerBound(fitted, None, None, clock.passed, {})
    if of_degree and method == "lp":
        simple = mean_degree_bound(instance, fitted)
        bound = replace(bound, value=simple, certificate=None) if simple > bound.value else bound
    else:
        if bound.value < fitted:
            bound = replace(bound, value=fitted, certificate=None)
        bound.counters.update(fitted=float(fitted), certified=float(bound.value))
        bound = replace(bound, value=mean_degree_bound(instance, bound.value)) if of_degree else bound
    if settings.certified and bound.certificate is None:
        return replace(bound, certificate=fitted_certificate(instance, fitted))
    return bound


def _by_planes(
    instance: TopicInstance,
    of_degree: bool,
    clock: Clock,
    settings: BoundSettings,
    progress: SearchLog,
    weighted: bool,
) -> LowerBound:
    start = greedy_merge_or_stars(instance, clock)
    cost = _cost_goal(instance, weighted)
    incumbent = Incumbent(instance, cost, start, 0)
    goal = Goal(edge_cost=0, degree_cost=1) if of_degree else cost
    planes = CuttingPlanes(instance, goal, start, threads=settings.threads)
    rounds = 0

    def at_round(bound: Bound) -> bool:
        nonlocal rounds
        rounds += 1
        if not of_degree and rounds % _BUILD_EVERY == 0:
            incumbent.build_along(planes.edges, planes.lp.x)
        progress.line(
            incumbent=None if of_degree else incumbent.value,
            bound=planes.best_units / UNIT,
            cuts=planes.cuts,
            edges=len(planes.edges),
        )
        return False

    planes.tighten(clock, stall=settings.stall, at_round=at_round)
    stopped = clock.passed
    if not of_degree:
        incumbent.improve_along(planes.edges, planes.lp.x, clock, goal=0, steps=10_000)
    counters: dict[str, float | str] = {
        "rounds": rounds,
        "cuts": planes.cuts,
        "columns": len(planes.edges),
        "simplex_iterations": planes.lp.iterations,
    }
    value = Fraction(planes.best_units, UNIT)
    return LowerBound(value, planes.certificate, incumbent.overlay, stopped, counters)


def _cost_goal(instance: TopicInstance, weighted: bool) -> Goal:
    return Goal(costs=edge_costs(instance)) if weighted else Goal()


def _by_splitting(instance: TopicInstance, clock: Clock, progress: SearchLog, weighted: bool) -> LowerBound:
    start = greedy_merge_or_stars(instance, clock)
    incumbent = Incumbent(instance, _cost_goal(instance, weighted), start, 0)
    splitting = split_by_pricing(
        instance,
        start,
        clock.share(0.9),
        smoothing=_SMOOTHING,
        stall=_STALL,
        progress=progress,
        weighted=weighted,
    )
    stopped = not splitting.converged
    try:
        incumbent.improve_along(*splitting.used_or_in(start), clock, goal=0, steps=10_000)
    except KeyboardInterrupt:
        stopped = True
    certificate = None
    if count_links(instance) <= _CERTIFIED_LINKS:
        rows, duals = certificate_rows(splitting)
        certificate = Certificate.of(rows, duals, np.zeros(instance.num_nodes))
    counters: dict[str, float | str] = {"rounds": splitting.rounds, "columns": len(splitting.columns)}
    if math.isfinite(splitting.limit):
        counters["limit_at_most"] = round(splitting.limit, 3)
    value = Fraction(splitting.units, UNIT)
    return LowerBound(value, certificate, incumbent.overlay, stopped, counters)


def _solve(
    instance: TopicInstance,
    problem: Problem[TopicInstance, Overlay],
    *,
    seed: int,
    time_limit: float | None,
    presolve: bool,
    certificate: bool,
    proof: str | Path | None = None,
    **options: Any,
) -> Proposal[Overlay]:
    weighted = problem.name == "weighted-tco"
    with interruptible(time_limit) as clock, ProofFile(proof) as file:
        reduced, topics, leaves = instance, None, None
        if presolve and problem.name == "min-tco" and not certificate:
            presolved = drop_implied_topics(instance)
            reduced, leaves = attach_leaves(presolved.instance)
            topics, presolve = presolved.topics, False
        begin_proof(file, instance, problem.name, topics, leaves)
        offers = problem.name not in _FACTORS
        settings = BoundSettings(**options, presolve=presolve, certified=file.is_written, offers=offers)
        certificates: list[Certificate] = []
        overlays, value, stopped = [stars(instance)], 1, False
        if weighted and problem.value(instance, overlays[0]) >= MOST_PROVEN:
            settings = replace(settings, method="fitting")
        if settings.method != "fitting":
            first = clock.share(0.5)
            overlays += heuristic_overlays(instance, problem, seed=seed, clock=first)
            stopped = first.passed
        offer(min(overlays, key=lambda overlay: problem.value(instance, overlay)))
        counters: dict[str, float | str] = {}
        for of_degree in _FACTORS.get(problem.name, (False,)):
            share = clock.share(0.5) if problem.name == "low-tco" and not of_degree else clock
            bound = _bounded(reduced, of_degree, share, settings, weighted)
            value *= math.ceil(bound.value)
            offer(lower_bound=float(value))
            stopped |= bound.stopped
            counters |= bound.counters
            if bound.certificate is not None:
                certificates.append(bound.certificate)
                write_certificate(file, bound.certificate, bound.value)
            if bound.overlay is not None and not problem.violations(instance, bound.overlay):
                overlays.append(bound.overlay)
        if certificate and certificates:
            counters["certificate"] = packed(certificates)
        best = min(overlays, key=lambda overlay: problem.value(instance, overlay))
        file.claim(problem.value(instance, best), value, best.edges.tolist())
        stopped |= clock.interrupted
    return Proposal(best, float(value), Status.TIME_LIMIT if stopped else None, counters, clock.stopped_by)


@cache
def _warm_up() -> None:
    warm_up_heuristics()
    warm_up_incumbents()
    warm_up_pricing()
    small = trial_instance()
    attach_leaves(small)
    for method in ("lp", "splitting"):
        for of_degree in (False, True):
            lower_bound(small, BoundSettings(method=method, progress="off"), of_degree=of_degree)
        lower_bound(small, BoundSettings(method=method, progress="off"), weighted=True)


LP_BOUND: Method[TopicInstance, Overlay] = Method(
    name="lp-bound",
    problems=(*DIAMETER_TWO, "weighted-tco"),
    summary="certified lower bound by the LP of partition inequalities, anytime; with the best overlay found",
    source="P1 §4, P2 §2; docs/exact.md",
    guarantee="a lower bound certified in integers, valid whenever the method is stopped",
    cost="grows with the time limit; above 2·10⁹ pairs of subscribers of a topic, O(Σ|T_v|) by dual fitting alone",
    exact=False,
    bounds=True,
    engine="branch-and-cut",
    solve=_solve,
    options=(
        Option(
            "method",
            BoundSettings.method,
            "cutting planes; cost splitting; dual fitting alone; or the first two by size",
            choices=("auto", "lp", "splitting", "fitting"),
        ),
        PRESOLVE,
        Option("stall", BoundSettings.stall, "stop when ten rounds gain less than this", least=0.0, most=1e9),
        THREADS,
        CERTIFICATE,
        PROGRESS,
    ),
    inputs=("proof",),
    warm_up=_warm_up,
    colour="#6699CC",
    marker="X",
)
