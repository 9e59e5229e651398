"""Method `best`: the best overlay that a time limit allows, whatever algorithm it comes from."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...heuristics.topics.local_search.overlay_search import candidate_lists
from ...heuristics.topics.polish import THREADS, fault_tolerant_polish, least_edges, polish, searches_in_parts
from ...instances.contract.catalogue import PROBLEMS, methods_of
from ...instances.contract.method import Method, Proposal
from ...instances.contract.option import Option
from ...instances.contract.overlay import Overlay
from ...instances.contract.result import Status
from ...instances.runtime.run import Clock, interruptible, offer
from ...instances.topics.instance import TopicInstance
from ...instances.topics.objective import Objective
from ...instances.topics.problems import TOPIC_PROBLEMS, AnyTopicProblem
from ..engine.stoppable import finished_within
from .branch_and_cut import is_searched
from .lp_heuristics.lp_guided import flatter_overlays, guided_candidates
from .relaxation.dual_fitting import dual_fitting_bound, mean_degree_bound
from .relaxation.presolve import presolved
from .search.star_search import starred

STEPS = Option("steps", 200_000, "steps of local search, if there is no time limit", least=0, most=10**12)
_SECONDS = 0.35e-9  # a unit of a method's pace, measured on 20,000 nodes
_SUBSCRIPTION_PACE = 5_000  # a subscription, beside the method's own pace
_OTHERS_SHARE = 0.25
_PATIENCE = 600.0  # expected seconds up to which a heuristic runs without a limit


class _Plan(NamedTuple):
    """What follows the heuristics for a problem; `finish` gives one no worse without :func:`polish`."""

    finish: Callable[[TopicInstance, Overlay, int, Clock, int], Overlay] | None = None
    guided: bool = False  # an overlay is built along an LP solution, whose edges the search takes
    exchanges: bool = False  # row weighting improves it: only the number of edges matters
    flattens: bool = False  # row weighting under caps on degrees: only the maximum degree matters


def _polished(instance: TopicInstance, best: Overlay, steps: int, clock: Clock, seed: int) -> Overlay:
    limited = math.isfinite(clock.left)
    return fault_tolerant_polish(instance, best, seed=seed, steps=None if limited else steps, clock=clock)


def _unchanged(instance: TopicInstance, best: Overlay, steps: int, clock: Clock, seed: int) -> Overlay:
    return best


_FINISHES = {"two-connected": _polished, "star": starred, "diameter-2": starred}
_PLANS = {
    "edges": _Plan(guided=True, exchanges=True),
    "degree": _Plan(flattens=True),
    "product": _Plan(guided=True),
    "cost": _Plan(guided=True),
}


def best(
    instance: TopicInstance,
    problem: AnyTopicProblem,
    *,
    seed: int,
    time_limit: float | None,
    steps: int,
    threads: int = 1,
) -> Proposal[Overlay]:
    """The best overlay of all heuristics, of a greedy along an approximate LP solution, and of local search.

    First the heuristics for the problem run with their default options: the fastest, then those that are promising for
    the problem if they are expected to end in the time left, then the others if in half of it (without a limit: in ten
    minutes). Where there is no time for all that are promising, the slowest that fits comes first. What follows is in
    `_PLANS`: for min-tco, low-tco and weighted-tco an overlay along a fifth of the time of cost splitting; row
    weighting, in the number of edges or under caps on degrees; polish; and for diameter 2 stars by simulated annealing.

    Without a time limit, one seed gives one answer. A limit is used up, except for diameter 2 and where simple bounds
    leave nothing to search for. Ctrl-C ends it as the limit does. Never worse than any heuristic that ran: counter
    ``heuristics`` lists these with their values. Counter ``built`` is the number of edges of the overlay built along
    the LP solution, for weighted-tco their cost.
    """
    objective: Objective = problem.objective
    instance, weighted = objective.priced(instance), objective.weighted
    with interruptible(time_limit) as clock:
        values = {}
        chosen: Overlay | None = None
        plan = _PLANS[objective.first]
        if not objective.free:
            plan = _Plan(_FINISHES.get(objective.rule, _unchanged))
        others = clock.share(_OTHERS_SHARE) if plan.flattens else clock
        pairs = float((np.diff(instance.topic_offsets).astype(np.float64) ** 2).sum() / 2)
        expected = partial(_expected_seconds, pairs=pairs, subscriptions=instance.num_subscriptions)
        for method, one in _in_order(problem, expected, clock):
            share = 1.0 if one.name in method.promising else 0.5
            if chosen is not None and expected(method) >= min(_PATIENCE, share * clock.left):
                continue
            if chosen is not None and others.passed and one.name not in method.promising:
                continue
            options = method.complete({}, one)
            run = partial(method.solve, instance, one, seed=seed, time_limit=None, **options)
            proposal = run() if chosen is None else finished_within(clock, run, steps=pairs)
            overlay = None if proposal is None else proposal.answer
            if overlay is None or (one is not problem and problem.violations(instance, overlay)):
                continue
            values[method.name] = problem.value(instance, overlay)
            if chosen is None or values[method.name] < problem.value(instance, chosen):
                chosen = overlay
                offer(chosen)
        if chosen is None:
            return Proposal(status=Status.TIME_LIMIT, reason="no heuristic has a valid answer")
        listed = sorted(values.items(), key=lambda item: (item[1], item[0]))
        counters: dict[str, float | str] = {"heuristics": ", ".join(f"{name} {value:g}" for name, value in listed)}
        if clock.passed or min(values.values()) <= _bound(instance, objective):
            return Proposal(chosen, counters=counters, reason=clock.stopped_by)
        if plan.finish is not None:
            chosen = plan.finish(instance, chosen, steps, clock, seed)
            offer(chosen)
            return Proposal(chosen, counters=counters, reason=clock.stopped_by)
        searched, near = instance, None
        if plan.exchanges and searches_in_parts(instance.num_nodes, objective.first):
            reduced = presolved(instance, leaves=True)
            searched, chosen = reduced.instance, reduced.moved(chosen)
        overlays = [chosen]
        if plan.guided:
            exchanged = steps if plan.exchanges else None
            near, built = guided_candidates(searched, chosen, clock, weighted=weighted, steps=exchanged, seed=seed)
            overlays += built
            if built:
                counters["built"] = instance.total_cost(built[0].edges) if weighted else built[0].num_edges
                offer(built[0])
        if plan.flattens:
            limit = steps if math.isinf(clock.left) else None
            near, found = flatter_overlays(instance, chosen, clock, steps=limit, seed=seed)
            overlays += found
        if near is None and not weighted and not searches_in_parts(instance.num_nodes, objective.first):
            near = finished_within(clock, partial(candidate_lists, instance), steps=2 * pairs)
            if near is None:
                return Proposal(chosen, counters=counters, reason=clock.stopped_by)
        if not clock.passed:
            polished = polish(
                searched,
                min(overlays, key=lambda overlay: problem.value(instance, overlay)),
                first=objective.first,
                seed=seed,
                steps=steps if math.isinf(clock.left) else None,
                candidates=near,
                clock=clock,
                threads=threads,
            )
            overlays.append(polished)
        chosen = min(overlays, key=lambda overlay: problem.value(instance, overlay))
        return Proposal(chosen, counters=counters, reason=clock.stopped_by)


def _bound(instance: TopicInstance, objective: Objective) -> float:
    """A simple bound on the value, which needs no pairs of nodes unless the instance is tiny."""
    edges = dual_fitting_bound(instance, work=0)
    least = least_edges(instance, priced=objective.weighted) if instance.is_tiny else (0, 0)
    fitted = math.ceil(edges), math.ceil(mean_degree_bound(instance, edges))
    return max(objective.value(*fitted), objective.value(*least))


def _in_order(
    problem: AnyTopicProblem, expected: Callable[[Method[Any, Any]], float], clock: Clock
) -> list[tuple[Method[TopicInstance, Overlay], AnyTopicProblem]]:
    """The heuristics, and what each solves: the fastest, then the promising ones, then the others from fast to slow."""
    asked = [PROBLEMS[name] for name in problem.objective.starts] or [problem]
    known = [
        (method, one)
        for method in methods_of("overlaybench.heuristics.topics")
        if not method.anytime and (one := next((each for each in asked if method.answers(each)), None)) is not None
    ]
    promising = [each for each in known[1:] if each[1].name in each[0].promising]
    others = [each for each in known[1:] if each not in promising]
    if sum(expected(method) for method, _ in promising) > clock.left:
        promising.reverse()
    return [*known[:1], *promising, *others]


def _expected_seconds(method: Method[Any, Any], *, pairs: float, subscriptions: int) -> float:
    return _SECONDS * (method.pace * pairs + _SUBSCRIPTION_PACE * subscriptions)


BEST: Method[TopicInstance, Overlay] = Method(
    name="best",
    problems=tuple(each.name for each in TOPIC_PROBLEMS),
    models=is_searched,
    summary="the best of all heuristics, of a greedy along an LP solution, and of local search from there",
    source="none; docs/topics.md",
    guarantee="never worse than any of the heuristics that ran",
    cost="all of the time limit; without one, the heuristics' time and `steps` of local search",
    random=True,
    solve=best,
    options=(STEPS, THREADS),
    compiled=True,
    colour="#44AA99",
    marker="*",
)
