"""Method `lp-bound`: lower bounds at any size, valid whenever it is stopped, and certified in integers."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from ...heuristics.topics.heuristic import DIAMETER_TWO
from ...heuristics.topics.kernels.interest import edge_costs
from ...instances.contract.method import Method, Proposal
from ...instances.contract.option import Option
from ...instances.contract.overlay import Overlay
from ...instances.contract.problem import Problem
from ...instances.contract.result import Status
from ...instances.contract.run import Clock, interruptible, offer, offer_bound
from ...instances.topics.instance import TopicInstance
from ..engine.exact_method import PROGRESS, SearchLog
from ..engine.ilp_solvers import THREADS
from ..engine.proof import ProofFile, Proven
from ..engine.relaxation import UNIT, Bound
from .lp_heuristics.lp_guided import Incumbent
from .lp_heuristics.starts import greedy_merge_or_stars, heuristic_overlays, stars
from .relaxation.candidate_edges import count_links
from .relaxation.cost_splitting import is_affordable, proof_rows, split_by_pricing
from .relaxation.cutting_planes import CuttingPlanes
from .relaxation.dual_fitting import FittedProof, fitted_within, mean_degree_bound
from .relaxation.presolve import PRESOLVE, attach_leaves, drop_implied_topics
from .relaxation.proven_bound import MOST_PROVEN, RowMultipliers, begin_proof, write_case
from .relaxation.separation import Goal


class _Bounded(NamedTuple):
    """What is bounded for a problem, topic-connected overlays where nothing else is said.

    Attributes
    ----------
    factors : tuple of bool
        The value is the product of bounds on the degree (True) and on the edges.
    weighted : bool
        Whether edges have the instance's costs.
    leaves : bool
        Whether nodes that need one neighbour may be attached to it.
    """

    factors: tuple[bool, ...] = (False,)
    weighted: bool = False
    leaves: bool = False


_BOUNDED = {
    "min-tco": _Bounded(leaves=True),
    "minmax-tco": _Bounded((True,)),
    "low-tco": _Bounded((False, True)),
    "weighted-tco": _Bounded(weighted=True),
}
_SMOOTHING, _STALL = 0.005, 2e-5
_BUILD_EVERY = 10
_LP_LINKS, _PROVEN_LINKS = 30_000, 60_000_000


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
    offers : bool
        Offer each bound (:func:`.offer`): the problem is the one that is bounded.
    """

    method: str = "auto"
    presolve: bool = True
    stall: float = 1e-3
    threads: int = 1
    progress: str = "auto"
    offers: bool = False


DEFAULTS = BoundSettings()


@dataclass(frozen=True)
class LowerBound:
    """A proven bound.

    Attributes
    ----------
    value : Fraction
        On the number of edges, their cost, or the maximum degree. Each is an integer, so it may be rounded up.
    proven : Proven or None
        The proof of `value`, or of a number of edges that such a mean degree follows from, on the presolved instance;
        None if it would not fit in memory.
    overlay : Overlay or None
        The best overlay found during the computation.
    stopped : bool
        Whether the time limit or Ctrl-C stopped it before the bound converged.
    counters : dict
    proves_degree : bool
        Whether `proven` is of the maximum degree, not of the edges.
    """

    value: Fraction
    proven: Proven | None
    overlay: Overlay | None
    stopped: bool
    counters: dict[str, float | str]
    proves_degree: bool = False


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
    ``fitting``. From 60,000,000 pairs on ``splitting`` has no proof: its rows would not fit in memory.

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
    if settings.presolve:
        instance = drop_implied_topics(instance).instance
    method, on_bound = settings.method, offer_bound if settings.offers else None
    progress = SearchLog(settings.progress, on_bound=on_bound)
    if method == "auto":
        links = count_links(instance)
        method = "lp" if links <= _LP_LINKS else "splitting" if is_affordable(instance, clock) else "fitting"
    fitted = fitted_within(clock, instance)
    by_fitting = LowerBound(fitted, FittedProof(instance, fitted), None, clock.passed, {})
    if method == "lp":
        bound = _by_planes(instance, of_degree, clock, settings, progress, weighted)
    elif method == "splitting":
        bound = _by_splitting(instance, clock, progress, weighted)
    else:
        bound = by_fitting
    if of_degree and method == "lp":
        simple = mean_degree_bound(instance, fitted)
        if simple > bound.value:
            return replace(bound, value=simple, proven=by_fitting.proven)
        return replace(bound, proves_degree=True)
    if bound.value < fitted:
        bound = replace(bound, value=fitted, proven=by_fitting.proven)
    bound.counters.update(fitted=float(fitted), certified=float(bound.value))
    return replace(bound, value=mean_degree_bound(instance, bound.value)) if of_degree else bound


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
    return LowerBound(value, planes.best_proven, incumbent.overlay, stopped, counters)


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
    proven = None
    if count_links(instance) <= _PROVEN_LINKS:
        proven = RowMultipliers.of(*proof_rows(splitting))
    counters: dict[str, float | str] = {"rounds": splitting.rounds, "columns": len(splitting.columns)}
    if math.isfinite(splitting.limit):
        counters["limit_at_most"] = round(splitting.limit, 3)
    value = Fraction(splitting.units, UNIT)
    return LowerBound(value, proven, incumbent.overlay, stopped, counters)


def _solve(
    instance: TopicInstance,
    problem: Problem[TopicInstance, Overlay],
    *,
    seed: int,
    time_limit: float | None,
    presolve: bool,
    proof: str | Path | None = None,
    **options: Any,
) -> Proposal[Overlay]:
    factors, weighted, may_attach = _BOUNDED.get(problem.name, _Bounded())
    with interruptible(time_limit) as clock, ProofFile(proof) as file:
        reduced, topics, leaves = instance, None, None
        if presolve:
            presolved = drop_implied_topics(instance)
            reduced, topics = presolved.instance, presolved.topics
        if presolve and may_attach:
            reduced, leaves = attach_leaves(reduced)
        begin_proof(file, instance, problem.name, topics, leaves)
        settings = BoundSettings(**options, presolve=False, offers=len(factors) == 1)
        overlays, value, stopped = [stars(instance)], 1, False
        if weighted and problem.value(instance, overlays[0]) >= MOST_PROVEN:
            settings = replace(settings, method="fitting")
        if settings.method != "fitting":
            first = clock.share(0.5)
            overlays += heuristic_overlays(instance, problem, seed=seed, clock=first)
            stopped = first.passed
        offer(min(overlays, key=lambda overlay: problem.value(instance, overlay)))
        counters: dict[str, float | str] = {}
        for number, of_degree in enumerate(factors, start=1):
            share = clock.share(0.5) if number < len(factors) else clock
            bound = _bounded(reduced, of_degree, share, settings, weighted)
            value *= math.ceil(bound.value)
            offer(lower_bound=float(value))
            stopped |= bound.stopped
            counters |= bound.counters
            if bound.proven is not None and file.is_written:
                write_case(file, bound.proven, bound.value, of_degree=bound.proves_degree)
            if bound.overlay is not None and not problem.violations(instance, bound.overlay):
                overlays.append(bound.overlay)
        best = min(overlays, key=lambda overlay: problem.value(instance, overlay))
        file.claim(problem.value(instance, best), value, best.edges.tolist())
        stopped |= clock.interrupted
    return Proposal(best, float(value), Status.TIME_LIMIT if stopped else None, counters, clock.stopped_by)


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
        PROGRESS,
    ),
    inputs=("proof",),
    compiled=True,
    colour="#6699CC",
    marker="X",
)
