"""Method `lp-bound`: lower bounds at any size, valid whenever it is stopped, and certified in integers."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from ...heuristics.topics.kernels.interest import edge_costs
from ...instances.contract.method import Method
from ...instances.contract.option import Option
from ...instances.contract.overlay import Overlay
from ...instances.runtime.run import Clock, offer, offer_bound
from ...instances.topics.instance import TopicInstance
from ...instances.topics.objective import CONNECTED
from ...instances.topics.problems import TOPIC_PROBLEMS
from ..engine.exact_method import PROGRESS, SearchLog
from ..engine.proof import Proven
from ..engine.relaxation import UNIT, Bound, Reals
from .lp_heuristics.lp_guided import GuidedIncumbent, greedy_merge_or_stars, stars
from .relaxation.cost_splitting import (
    MOST_PROVEN,
    PricingParameters,
    is_affordable,
    pricing_parameters,
    proof_trees,
    split_by_pricing,
)
from .relaxation.cutting_planes import LP_LINKS, CuttingPlanes, write_case
from .relaxation.dual_fitting import fitted_multipliers, fitted_within, mean_degree_bound
from .relaxation.node_cover import node_cover
from .relaxation.presolve import PRESOLVE
from .relaxation.separation import Goal
from .relaxation.topic_rows import CandidateEdges, count_links
from .stages import STARTS, Run, Stage, first_answers, is_searched, solve_in_stages

_PRICING, _LP_STALL = PricingParameters(smoothing=0.005, stall=2e-5), 1e-3
_BUILD_EVERY, _STEPS = 10, 10_000
_METHODS = ("auto", "lp", "splitting", "fitting")


@dataclass(frozen=True)
class LowerBound:
    """A proven bound."""

    value: Fraction  # on the edges, their cost, or the maximum degree: an integer, so it may be rounded up
    proven: Proven | None  # of `value`, or of the edges that such a mean degree follows from
    overlay: Overlay | None  # the best one found during the computation
    stopped: bool  # the time limit or Ctrl-C stopped it before the bound converged
    counters: dict[str, float | str]
    proves_degree: bool = False  # `proven` is of the maximum degree, not of the edges


def lower_bound(
    instance: TopicInstance,
    clock: Clock,
    *,
    of_degree: bool = False,
    weighted: bool = False,
    method: str = "auto",
    log: SearchLog | None = None,
    enough: float = math.inf,
    start: Overlay | None = None,
) -> LowerBound:
    """Bound the edges, their cost, or the maximum degree, of every topic-connected overlay from below.

    All methods approximate the LP over all partition inequalities: ``lp`` by cutting planes and pricing from a sparse
    start, ``splitting`` by subgradients. Every iterate's duals are rounded and their bound computed in integers over
    all pairs, so the clock and Ctrl-C leave a valid bound, no worse than that of dual fitting. ``auto`` takes ``lp`` up
    to 30,000 pairs of subscribers of a topic, then ``splitting`` where :func:`.is_affordable`, else ``fitting``.

    For the maximum degree only ``lp`` weighs the nodes; the others take the larger of the mean degree and
    :func:`.node_cover`. The cost of the edges must be below 2^28 in total; ``fitting`` counts each as 1. Cutting planes
    stop when ten rounds raise the bound by less than 0.001. What a known overlay has is `enough`: a bound as large
    ends the computation, as does one that an overlay found here has. It begins with `start`, by default the overlay of
    Greedy Merge. Costs: :mod:`.cutting_planes`,
    :mod:`.cost_splitting`, :mod:`.dual_fitting`. Min-TCO is P1 §4, MinMax-TCO P2 §2.1.
    """
    log = log or SearchLog("off")
    if method == "auto":
        links = count_links(instance)
        method = "lp" if links <= LP_LINKS else "splitting" if is_affordable(instance, clock) else "fitting"
    fitted = fitted_within(clock, instance)
    by_fitting = bound = LowerBound(fitted, partial(fitted_multipliers, instance, fitted), None, clock.passed, {})
    simple = mean_degree_bound(instance, fitted)
    cover = node_cover(instance, clock.share(0.5), enough=enough) if of_degree and method != "lp" else None
    least = max(simple, cover.value if cover else simple) if of_degree else fitted
    if math.ceil(least) >= enough:
        method = "fitting"
    if method != "fitting":
        start = start or greedy_merge_or_stars(instance, clock)
        goal = Goal(costs=edge_costs(instance) if weighted else None)
        incumbent = GuidedIncumbent(instance, goal, start, 0)
        if method == "splitting":
            bound = _by_splitting(incumbent, start, clock, log, weighted, enough)
        else:
            goal = Goal(edge_cost=0, degree_cost=1) if of_degree else goal
            planes = CuttingPlanes(instance, goal, start)
            bound = _by_planes(planes, incumbent, clock, log, enough)
    if of_degree and method == "lp":
        if simple > bound.value:
            return replace(bound, value=simple, proven=by_fitting.proven)
        return replace(bound, proves_degree=True)
    if bound.value < fitted:
        bound = replace(bound, value=fitted, proven=by_fitting.proven)
    bound.counters.update(fitted=float(fitted), certified=float(bound.value))
    if not of_degree:
        return bound
    mean = mean_degree_bound(instance, bound.value)
    if cover is not None and cover.value > mean:
        return replace(bound, value=cover.value, proven=cover.multipliers, proves_degree=True)
    return replace(bound, value=mean)


def _by_planes(
    planes: CuttingPlanes, incumbent: GuidedIncumbent, clock: Clock, log: SearchLog, enough: float
) -> LowerBound:
    of_degree, rounds = planes.goal.degree_cost > 0, 0

    def at_round(bound: Bound) -> bool:
        nonlocal rounds
        rounds += 1
        if not of_degree and rounds % _BUILD_EVERY == 0:
            incumbent.build_along(planes.edges, planes.lp.x)
        planes.print_on(log, math.inf if of_degree else incumbent.value)
        return planes.least_value(planes.best_units) >= min(enough, math.inf if of_degree else incumbent.value)

    planes.tighten(clock, stall=_LP_STALL, at_round=at_round)
    stopped = clock.passed
    if not of_degree:
        least = planes.least_value(planes.best_units)
        incumbent.improve_along(planes.edges, planes.lp.x, clock, goal=least, steps=_STEPS)
    counters = {**planes.counters, "rounds": rounds}
    return LowerBound(Fraction(planes.best_units, UNIT), planes.best_proven, incumbent.overlay, stopped, counters)


def _by_splitting(
    incumbent: GuidedIncumbent, start: Overlay, clock: Clock, log: SearchLog, weighted: bool, enough: float
) -> LowerBound:
    instance, part = incumbent.instance, clock.share(0.9)
    parameters = pricing_parameters(instance, _PRICING)

    def build(edges: CandidateEdges, usage: Reals) -> float:
        incumbent.build_along(edges, usage, part)
        return incumbent.value

    splitting = split_by_pricing(
        instance, start, part, parameters, progress=log, weighted=weighted, enough=enough, build=build
    )
    least = -(-splitting.units // UNIT)
    incumbent.improve_along(*splitting.used_or_in(start), clock, goal=least, steps=_STEPS)
    counters: dict[str, float | str] = {"rounds": splitting.rounds, "columns": len(splitting.columns)}
    value = Fraction(splitting.units, UNIT)
    return LowerBound(value, partial(proof_trees, splitting), incumbent.overlay, not splitting.converged, counters)


def bounds(run: Run) -> None:
    """Bound the value by :func:`lower_bound`, and take the overlays found on the way.

    Overlays for topics of any diameter are bounded, so topics that others imply may always go.
    """
    objective, clock = run.objective, run.clock
    factors = (False, True) if objective.first == "product" else (objective.of_degree,)
    reduced = run.reduce(implied=True, leaves=objective == CONNECTED)
    instance, by, start = reduced.instance, run.by, None
    if run.best is not None and objective.free and not objective.of_degree and run.is_large:
        start = reduced.moved(run.best)
    if objective.weighted and run.instance.total_cost(stars(run.instance).edges) >= MOST_PROVEN:
        by = "fitting"
    log = SearchLog(run.settings.progress, on_bound=offer_bound if len(factors) == 1 else None)
    value = 1
    for number, of_degree in enumerate(factors, start=1):
        bound = lower_bound(
            instance,
            clock.share(0.5) if number < len(factors) else clock,
            of_degree=of_degree,
            weighted=objective.weighted,
            method=by,
            log=log,
            enough=min((_size(run, overlay, of_degree) for overlay in run.answers), default=math.inf),
            start=start,
        )
        value *= math.ceil(bound.value)
        offer(lower_bound=float(value))
        run.stopped |= bound.stopped
        run.counters |= bound.counters
        if bound.proven is not None and run.settings.proof.is_written:
            write_case(run.settings.proof, bound.proven, bound.value, of_degree=bound.proves_degree)
        if bound.overlay is not None and not run.problem.violations(run.instance, bound.overlay):
            run.take(bound.overlay)
    run.prove(float(value))
    run.stopped |= clock.interrupted


def _size(run: Run, overlay: Overlay, of_degree: bool) -> int:
    if of_degree:
        return overlay.max_degree
    return run.instance.total_cost(overlay.edges) if run.objective.weighted else overlay.num_edges


_FIRST, BOUNDS = Stage("first answers", partial(first_answers, always=True)), Stage("lower bound", bounds)


LP_BOUND: Method[TopicInstance, Overlay] = Method(
    name="lp-bound",
    problems=tuple(each.name for each in TOPIC_PROBLEMS),
    models=is_searched,
    summary="certified lower bound by the LP of partition inequalities, anytime; with the best overlay found",
    source="P1 §4, P2 §2; docs/exact.md",
    guarantee="a lower bound certified in integers, valid whenever the method is stopped",
    cost="grows with the time limit; above 12,000,000 subscriptions, O(Σ|T_v|) by dual fitting alone",
    exact=False,
    bounds=True,
    engine="branch-and-cut",
    solve=partial(solve_in_stages, lambda run: (_FIRST, *([] if run.by == "fitting" else [STARTS]), BOUNDS)),
    options=(
        Option("by", "auto", "cutting planes; cost splitting; dual fitting alone; or by size", choices=_METHODS),
        PRESOLVE,
        PROGRESS,
    ),
    inputs=("proof",),
    compiled=True,
)
