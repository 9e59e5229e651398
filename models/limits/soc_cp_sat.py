"""Methods `filtering-cp-sat` and `diameter-cp-sat`: the SOC problems of P1 §9 by CP-SAT.

Both models have a 0/1 column x_e for each pair e of nodes: unlike in a G_t, any pair may help a topic.

* **Filtering**. Each topic t has a column a_v for each non-subscriber v that relays it, and an arborescence on V_t and
  its relays: every node but the root has one parent, a parent requires an edge, and a node has a higher level than its
  parent, which excludes cycles. A relay has a child. Valid inequalities raise the bound. With r_t = 1 where topic t has
  a relay, Σ_{e ⊆ V_t} x_e ≥ (|V_t| − 1)(1 − r_t), as the subscribers are otherwise connected among themselves, and each
  of them has an edge to another one or r_t = 1. An overlay that connects every topic through any nodes has at least
  |V| − c edges, where c counts the components of the relation "a common topic". Where c = 1 and at most |V| edges are
  allowed, :func:`.fewest_relays` searches first.
* **Diameters**. For each pair (u, v) and each k a column implies that their distance in the overlay is at most k: it is
  so for k − 1, or a node w is adjacent to v and at most k − 1 from u. Paths may pass through any node. A column for
  each topic and k implies that of all pairs of its subscribers.

Chockler, Melamed, Tock and Vitenberg 2007 (P1), §9, state the decision problems and that they are NP-hard; the models
were designed here. Solving is exponential in the worst case.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, count
from typing import Any

import numpy as np

from ...heuristics.limits.limits import DegreeLimits, answers_of, limits_of, offer_star
from ...instances.contract.catalogue import methods_of
from ...instances.contract.method import Method, Proposal
from ...instances.contract.overlay import Overlay
from ...instances.limits.soc import SOC, as_soc
from ...instances.runtime.run import Clock, OutOfTime, Report, offer, offer_value
from ...instances.topics.instance import TopicInstance
from ...instances.topics.problems import AnyTopicProblem
from ..engine.exact_method import START, SolverOutcome, check_size, proving_method, solve_exactly
from ..engine.integer_model import THREADS, minimise_with_cp_sat
from ..topics.compact.overlay_model import Edge, OverlayModel, Subscribers, pair
from ..topics.compact.pareto_front import Front
from ..topics.relaxation.topic_rows import all_pairs, count_links
from .unicyclic_overlays import fewest_relays

# At most this many columns are built: about 1 GB.
_MOST_VARIABLES = 3_000_000
_MOST_PAIRS = 2_000_000  # listed before anything else
_STARTS_SHARE, _STARTS_SECONDS = 0.25, 60.0  # of the time left, and at most, for the heuristics
_UNICYCLIC_SHARE = 0.8  # 30 nodes with 15 topics take 46 seconds
_SLACK = 1e-6


class SocModel(OverlayModel):
    """Overlays on all pairs of nodes with their routing cost, which is Σ coefficient·column + `routing_constant`."""

    def __init__(self, num_nodes: int, clock: Clock) -> None:
        super().__init__(num_nodes, combinations(range(num_nodes), 2), clock=clock)
        self.routing: dict[int, int] = {}
        self.routing_constant = 0

    def limit(self, sum_of: dict[int, int], *, least: float = -math.inf, most: float = math.inf) -> None:
        self.require(sum_of, list(sum_of.values()), least=least, most=most)


def _topics(instance: TopicInstance) -> Counter[Subscribers]:
    return Counter(tuple(instance.subscribers(t).tolist()) for t in range(instance.num_topics))


class FilteringModel(SocModel):
    """The overlays that connect every topic, with their filtering cost: O(|T||V|²) columns.

    Raises OutOfTime and ModelTooLarge, as the other model does.
    """

    def __init__(self, instance: TopicInstance, clock: Clock) -> None:
        topics, n = _topics(instance), instance.num_nodes
        check_size(len(topics) * n * n, _MOST_VARIABLES)
        super().__init__(n, clock)
        for subscribers, number in topics.items():
            clock.check()
            if len(subscribers) > 1:
                self.routing |= dict.fromkeys(self._connect(subscribers), number)

    def _connect(self, subscribers: Subscribers) -> list[int]:
        """Connect a topic; returns the columns of its relays."""
        nodes, root = range(self.num_nodes), subscribers[0]
        relay = {v: self.column() for v in nodes if v not in subscribers}
        parent = {(u, v): self.column() for u in nodes for v in nodes if u != v and v != root}
        for v in nodes:
            into = [parent[u, v] for u in nodes if (u, v) in parent]
            out = [parent[v, w] for w in nodes if (v, w) in parent]
            if v in relay:
                self.require([*into, relay[v]], [*[1] * len(into), -1], least=0, most=0)
                self.require_some(out, of=relay[v])
                for child in out:
                    self.imply(child, relay[v])
            elif v != root:
                self.require(into, least=1, most=1)
        for u, v in combinations(nodes, 2):
            arcs = [parent[arc] for arc in ((u, v), (v, u)) if arc in parent]
            self.require([self.edge[u, v], *arcs], [1, *[-1] * len(arcs)], least=0)
        last = self.num_nodes - 1
        self.require_levels(parent, [self.column(int(v != root), last if v != root else 0) for v in nodes])
        if relay:
            self._require_edges_without_relays(subscribers, list(relay.values()))
        return list(relay.values())

    def _require_edges_without_relays(self, subscribers: Subscribers, relays: list[int]) -> None:
        relayed = self.column()
        for relay in relays:
            self.imply(relay, relayed)
        self.require_some(relays, of=relayed)
        for v in subscribers:
            self.require_some([relayed, *(self.edge[pair(v, w)] for w in subscribers if w != v)])
        among = [self.edge[pair(u, v)] for u, v in combinations(subscribers, 2)]
        fewest = len(subscribers) - 1
        self.require([*among, relayed], [*[1] * len(among), fewest], least=fewest)


class DiameterModel(SocModel):
    """The overlays in which no topic diameter exceeds `largest` ≥ 1: O(|V|³·largest) columns.

    The cost is the largest diameter, or the sum of all with `average`. The columns `near` of (u, v, k), u < v, imply a
    distance of at most k.
    """

    def __init__(self, instance: TopicInstance, largest: int, clock: Clock, *, average: bool) -> None:
        n = instance.num_nodes
        check_size(n**3 // 2 * (largest - 1) + n * n, _MOST_VARIABLES)
        super().__init__(n, clock)
        self.near: dict[tuple[int, int, int], int] = {}
        connected = {subscribers: number for subscribers, number in _topics(instance).items() if len(subscribers) > 1}
        for subscribers in connected:
            clock.check()
            for ends in combinations(subscribers, 2):
                self.require([self._within(ends, largest)], least=1)
        # A diameter of `largest`, less 1 for each k below it within which all pairs are.
        shared = {} if average else {k: self.column() for k in range(1, largest)}
        for subscribers, number in connected.items():
            for k in range(1, largest):
                clock.check()
                within = self.column() if average else shared[k]
                if average:
                    self.routing[within] = -number
                for ends in combinations(subscribers, 2):
                    self.imply(within, self._within(ends, k))
        self.routing |= dict.fromkeys(shared.values(), -1)
        self.routing_constant = largest * (sum(connected.values()) if average else min(1, len(connected)))

    def _within(self, ends: Edge, k: int) -> int:
        """The column that implies a distance of at most k ≥ 1 between two nodes."""
        if k == 1:
            return self.edge[ends]
        u, v = ends
        if (u, v, k) not in self.near:
            near = self.near[u, v, k] = self.column()
            paths = [self._last_hop(u, w, v, k) for w in range(self.num_nodes) if w not in ends]
            self.require_some([self._within(ends, k - 1), *paths], of=near)
        return self.near[u, v, k]

    def _last_hop(self, u: int, w: int, v: int, k: int) -> int:
        """Implies that w is adjacent to v and at most k − 1 from u."""
        hop = self.column()
        self.imply(hop, self.edge[pair(w, v)])
        self.imply(hop, self._within(pair(u, w), k - 1))
        return hop


def least_degree(instance: TopicInstance, limits: DegreeLimits, *, average: bool) -> int:
    """A lower bound on the degree function, in its unit; Moore's bound where all topic diameters are limited.

    A node of degree at most d reaches at most d Σ_{i<C} (d − 1)^i others within C hops, so d must be large enough for
    the nodes with which each node shares a topic.
    """
    if not limits.counts_max_degree or average or limits.cost is None:
        return limits.least_degree
    most, degree = _most_neighbours(instance), limits.least_degree
    while degree < most and _within(degree, limits.cost) < most:
        degree += 1
    return degree


def least_diameters(instance: TopicInstance, limits: DegreeLimits, *, average: bool) -> int:
    """A lower bound on the largest topic diameter, or on the sum of all with `average`; Moore's bound if degrees are
    limited.

    The nodes with which a node shares a topic are within its largest topic diameter, those of one topic within its
    diameter.
    """
    others = [size - 1 for size in np.diff(instance.topic_offsets).tolist() if size > 1]
    if not average:
        others = [_most_neighbours(instance)] if others else []
    degree = limits.most_degree
    if degree is None or degree < limits.least_degree:
        return len(others)
    return sum(next(hops for hops in count(1) if _within(degree, hops) >= most) for most in others)


def _most_neighbours(instance: TopicInstance) -> int:
    """The most nodes with which one node shares a topic; with many pairs, one topic."""
    if count_links(instance) > _MOST_PAIRS:
        return int(np.diff(instance.topic_offsets).max()) - 1
    ends = np.divmod(all_pairs(instance), instance.num_nodes)
    return int(np.bincount(np.concatenate(ends)).max(initial=0))


def _within(degree: int, hops: int) -> int:
    """The most nodes that a node can reach within some hops where no degree exceeds `degree`."""
    reached, layer = 0, degree
    for _ in range(hops):
        reached += layer
        layer *= degree - 1
        if layer <= 0 or reached > 2**31:
            break
    return reached


_Search = Callable[[int, Clock], tuple[int, Overlay | None]]
"""By a limit on the cost: a bound on it, unless the limit is less, and perhaps an overlay."""


@dataclass(frozen=True)
class _Formulation:
    """A model, and bounds that are known before a search, in units (see :class:`.DegreeLimits`)."""

    build: Callable[[int | None, Clock], SocModel]  # by a limit on the routing cost, or None
    degree: int  # no valid overlay has less
    cost: int  # no valid overlay has less
    sweeps_cost: bool  # the Pareto front is found by limits on the routing cost, else on the degree function
    first: _Search | None = None


def _filtering(instance: TopicInstance, limits: DegreeLimits) -> _Formulation:
    known = _Formulation(lambda _, clock: FilteringModel(instance, clock), limits.least_degree, 0, False)
    most, n = limits.most_edges, instance.num_nodes
    if most is None or not limits.fewest_edges == n - 1 <= most <= n:
        return known
    return replace(known, first=partial(fewest_relays, instance, cycle=most == n))


def _diameters(instance: TopicInstance, limits: DegreeLimits) -> _Formulation:
    average = limits.problem.routing.name == "average-topic-diameter"
    connected = int((np.diff(instance.topic_offsets) > 1).sum())

    def build(most_cost: int | None, clock: Clock) -> DiameterModel:
        largest = instance.num_nodes - 1
        if most_cost is not None:  # each of the other topics has a diameter of 1 or more
            largest = min(largest, most_cost - (connected - 1) if average else most_cost)
        return DiameterModel(instance, largest, clock, average=average)

    least = least_degree(instance, limits, average=average), least_diameters(instance, limits, average=average)
    return _Formulation(build, *least, True)


def _solve(
    formulate: Callable[[TopicInstance, DegreeLimits], _Formulation],
    instance: TopicInstance,
    problem: AnyTopicProblem,
    *,
    seed: int,
    time_limit: float | None,
    start: str,
    threads: int,
) -> Proposal[Overlay]:
    """Minimise from the best heuristic overlay, and return the incumbent and a valid bound also if stopped.

    `formulate` goes from an instance and the limits of its problem to the model; with `start` "best", the problem's
    heuristics run first. Status ``time-limit`` if the limit left a gap. Without a limit in the problem, the counter
    ``front`` lists the proven points of the Pareto front as degree × cost, and ``front_complete`` is "yes" if it has no
    others.
    """
    clock, soc = Clock(time_limit), as_soc(problem)
    limits = limits_of(soc, instance)
    known = formulate(instance, limits)
    least = known.cost * limits.cost_unit if limits.degree is not None else known.degree * limits.degree_unit
    offer(lower_bound=least)
    if start == "best" and time_limit is not None:
        offer_star(instance)
    starts = list[Overlay]()
    if start == "best":
        part = clock.share(_STARTS_SHARE, _STARTS_SECONDS)
        starts += answers_of(methods_of("overlaybench.heuristics.limits"), instance, soc, seed=seed, clock=part)
    minimise = partial(_minimise, instance, known.build, threads=threads, seed=seed)

    def once(best: Overlay | None, clock: Clock) -> SolverOutcome[Overlay]:
        if (limits.degree is not None and limits.degree < known.degree) or (
            limits.cost is not None and limits.cost < known.cost
        ):
            return SolverOutcome(None, math.inf)
        by_cost = limits.degree is not None
        unit, least = (limits.cost_unit, known.cost) if by_cost else (limits.degree_unit, known.degree)
        if known.first is not None:
            best, least = _searched_first(known.first, instance, soc, best, clock)
        if best is not None and soc.value(instance, best) <= least * unit + 1e-9:
            return SolverOutcome(best, least * unit)

        def scaled_report(value: float | None, bound: float | None) -> None:
            whole = None if bound is None else math.ceil(bound - _SLACK)
            offer_value(None if value is None else value * unit, None if whole is None else whole * unit)

        outcome = minimise(best, clock, limits, least, scaled_report)
        return SolverOutcome(outcome.answer, outcome.lower_bound * unit, outcome.stopped, outcome.counters)

    def both(_best: Overlay | None, clock: Clock) -> SolverOutcome[Overlay]:
        def ordered(degree: Any, cost: Any) -> tuple[Any, Any]:
            return (cost, degree) if known.sweeps_cost else (degree, cost)

        units = ordered(limits.degree_unit, limits.cost_unit)
        front = Front(
            *ordered(known.degree, known.cost),
            lambda overlay: ordered(limits.degree_of(overlay), limits.cost_of(overlay, instance)),
            lambda limit, f: limit * units[0] + f * units[1],
            starts,
        )

        def under(limit: int, best: Overlay | None, clock: Clock, least: int) -> SolverOutcome[Overlay]:
            at_limit = limits.limited(**{"cost" if known.sweeps_cost else "degree": limit})
            return minimise(best, clock, at_limit, least)

        front.search(under, clock)
        shown = sorted(ordered(limit * units[0], f * units[1]) for limit, f in front.points)
        answer = min(front.overlays, key=partial(soc.value, instance), default=None)
        return SolverOutcome(answer, front.lower_bound, not front.complete, front.counters(shown))

    return solve_exactly(
        partial(soc.value, instance),
        both if limits.degree is None and limits.cost is None else once,
        clock,
        starts=starts,
        lower_bound=least,
        infeasible="no overlay keeps the limits",
    )


def _searched_first(
    search: _Search, instance: TopicInstance, soc: SOC, best: Overlay | None, clock: Clock
) -> tuple[Overlay | None, int]:
    """The better of an overlay and that of a search in a part of the time, and the bound of the search, 0 if late."""
    value = partial(soc.value, instance)
    below = instance.num_topics * instance.num_nodes if best is None else round(value(best))
    try:
        bound, found = search(below, clock.share(_UNICYCLIC_SHARE))
    except OutOfTime:
        return best, 0
    overlays = [each for each in (best, found) if each is not None and not soc.violations(instance, each)]
    best = min(overlays, key=value, default=None)
    offer(best, bound)
    return best, bound


def _minimise(
    instance: TopicInstance,
    build: Callable[[int | None, Clock], SocModel],
    best: Overlay | None,
    clock: Clock,
    limits: DegreeLimits,
    least: int,
    report: Report | None = None,
    *,
    threads: int,
    seed: int,
) -> SolverOutcome[Overlay]:
    """One minimisation; bounds are in units."""
    if (np.diff(instance.topic_offsets) < 2).all():
        return SolverOutcome(Overlay.from_edges(instance.num_nodes, []), 0)
    most = limits.cost
    if most is None and best is not None:
        most = limits.cost_of(best, instance)
    model = build(most, clock)
    edges = dict.fromkeys(model.edge.values(), 1)
    degree = {model.max_degree(): 1} if limits.counts_max_degree else edges
    if limits.cost is not None:
        model.limit(model.routing, most=limits.cost - model.routing_constant)
    if limits.degree is not None:
        model.limit(degree, most=limits.degree)
    objective, model.constant = (model.routing, model.routing_constant) if limits.degree is not None else (degree, 0)
    model.limit(objective, least=least - model.constant)
    model.limit(edges, least=limits.fewest_edges)
    for column, cost in objective.items():
        model.costs[column] = cost
    start = None if best is None else model.start(best)
    outcome = minimise_with_cp_sat(
        model, clock, answer=model.overlay, start=start, threads=threads, seed=seed, report=report
    )
    bound = outcome.lower_bound
    bound = bound if math.isinf(bound) else max(least, math.ceil(bound - _SLACK))
    return SolverOutcome(outcome.answer, bound, outcome.stopped, outcome.counters)


def _method(
    formulate: Callable[[TopicInstance, DegreeLimits], _Formulation], **fields: Any
) -> Method[TopicInstance, Overlay]:
    return proving_method(
        source="P1 §9; models/limits/soc_cp_sat.py",
        guarantee="the optimum or the Pareto front with proof; when stopped, the incumbent with a proven bound",
        solve=partial(_solve, formulate),
        options=(START, THREADS),
        **fields,
    )


DIAMETER_CP_SAT = _method(
    _diameters,
    name="diameter-cp-sat",
    problems=("topic-diameter", "average-topic-diameter"),
    summary="CP-SAT: an overlay on all pairs of nodes with distance layers between the subscribers of each topic",
    cost="exponential in the worst case; O(|V|³ C) variables for topic diameters up to C",
)

FILTERING_CP_SAT = _method(
    _filtering,
    name="filtering-cp-sat",
    problems=("filtering",),
    summary="CP-SAT: an overlay on all pairs of nodes with an arborescence and relays for each topic",
    cost="exponential in the worst case; O(|T||V|²) variables",
)
