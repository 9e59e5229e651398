"""Starts of exact methods, and heuristics guided by an LP solution: greedy overlays and local search."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ....heuristics.graph import root_of
from ....heuristics.topics.greedy_merge import greedy_merge
from ....heuristics.topics.kernels.interest import interest_of
from ....heuristics.topics.local_search.linked_overlay import subscriptions_of, without_redundant
from ....heuristics.topics.local_search.overlay_search import (
    MOST_STEPS,
    OverlaySearch,
    PartitionedSearch,
    candidate_lists,
    nearest_pairs,
    nearest_to,
    priced_weights,
)
from ....heuristics.topics.local_search.polish import is_judged_within, searches_in_parts
from ....heuristics.topics.local_search.ruin_and_recreate import (
    CandidateLists,
    Cooling,
    Keys,
    SearchParameters,
    random_number,
)
from ....heuristics.topics.ring_per_topic import harary_per_topic
from ....instances.contract.arrays import Flags, Ids, Offsets
from ....instances.contract.catalogue import PROBLEMS, methods_of
from ....instances.contract.method import Method
from ....instances.contract.overlay import Overlay
from ....instances.runtime.compiled import kernel
from ....instances.runtime.run import Clock, offer
from ....instances.runtime.stoppable import Answer, finished_within
from ....instances.topics.instance import TopicInstance
from ....instances.topics.problems import AnyTopicProblem
from ...engine import tree_search
from ...engine.relaxation import UNIT, Reals
from ..relaxation.cost_splitting import MOST_PROVEN, Splitting, is_affordable, pricing_parameters, split_by_pricing
from ..relaxation.price_join import processors
from ..relaxation.separation import Goal
from ..relaxation.topic_rows import CandidateEdges, all_pairs, count_links, keys_of
from .row_weighting import ENTRIES_A_STEP, RowWeighting, preferred

HeuristicMethod = Method[TopicInstance, Overlay]
ANY_OVERLAY = 2.0**61  # as a goal: any overlay within the limits
_NOISE, _STEPS_A_LINK = 5e-4, 20
_ROUNDS, _FEW_ROUNDS = 2_000, 350  # few of a large instance without a time limit
_FAST = 10  # a method's pace
_HOT, _COLD = 0.2, 0.05
_FEW_NODES = 50
_MANY_NODES, _FLAT_SHARE = 10_000, 0.5
_LARGE, _MORE_NEAREST = 0.8, 200
_OVERLOAD = 1.5


def heuristic_overlays(
    instance: TopicInstance,
    problem: AnyTopicProblem,
    *,
    seed: int,
    clock: Clock,
    share: float = 1.0,
    known_answer: Overlay | None = None,
    shown: Callable[[Overlay], object] | None = None,
) -> list[Overlay]:
    """The overlays of the problem's own heuristics with their default options, the best first; each is `shown` at once.

    The first one has all of the time, those after it a share: fast ones come first, then the promising ones. If one of
    them does not end, a known answer, or :func:`any_overlay`, stands for it. Of a problem of others, heuristics for the
    problems that its objective names are taken, and of their answers those that are valid, as far as there is time to
    judge them; there may be none. Cost: the heuristics'.
    """
    known = heuristics_for(problem, lambda method, one: method.name in one.objective.heuristics)
    answers: dict[str, Overlay | None] = {}
    part = clock.share(share)
    for method, one in sorted(known, key=lambda each: each[0].pace > _FAST and not is_promising(*each)):
        solve = partial(method.by_default, instance, one, seed=seed, threads=processors(instance))
        proposal = _run(solve, instance, clock if all(answer is None for answer in answers.values()) else part)
        answer = answers[method.name] = None if proposal is None else proposal.answer
        if answer is not None and not problem.objective.starts and shown is not None:
            shown(answer)
    overlays = [overlay for method, _ in known if (overlay := answers[method.name]) is not None]
    if len(overlays) < len(known) or not known:
        overlays += any_overlay(instance, problem) if known_answer is None else [known_answer]
    if problem.objective.starts:

        def is_valid(overlay: Overlay) -> bool:
            return is_judged_within(instance, overlay, clock) and not problem.violations(instance, overlay)

        overlays = [overlay for overlay in overlays if overlay is known_answer or is_valid(overlay)]
    return sorted(overlays, key=lambda overlay: problem.value(instance, overlay))


def heuristics_for(
    problem: AnyTopicProblem, chosen: Callable[[HeuristicMethod, AnyTopicProblem], bool]
) -> list[tuple[HeuristicMethod, AnyTopicProblem]]:
    """The chosen heuristics, from fast to slow, and what each solves: the problem, or one that its objective names."""
    asked = [PROBLEMS[name] for name in problem.objective.starts] or [problem]
    return [
        (method, one)
        for method in methods_of("overlaybench.heuristics.topics")
        if (one := next((each for each in asked if chosen(method, each)), None)) is not None
    ]


def is_promising(method: HeuristicMethod, problem: AnyTopicProblem) -> bool:
    """Whether a heuristic runs before faster ones."""
    return method.name in problem.objective.promising


def greedy_merge_or_stars(instance: TopicInstance, clock: Clock) -> Overlay:
    """The overlay of Greedy Merge, or :func:`stars` if the clock leaves no time for it."""
    return _run(partial(greedy_merge, instance), instance, clock) or stars(instance)


def quick_overlays(instance: TopicInstance, problem: AnyTopicProblem) -> Iterator[Overlay]:
    """Valid ones of :func:`stars` and of a ring for each topic, each in time O(Σ|T_v| log Σ|T_v|).

    Of a problem of others there may be none.
    """
    objective = problem.objective
    cap = instance.num_nodes if objective.cap is None else objective.cap
    for rules, make in (
        (("connected", "star", "diameter-2"), stars),
        (("connected", "two-connected"), partial(harary_per_topic, order="number")),
    ):
        if objective.rule in rules:
            overlay = make(instance)
            if overlay.max_degree <= cap and not (objective.separator and problem.violations(instance, overlay)):
                yield overlay


def any_overlay(instance: TopicInstance, problem: AnyTopicProblem) -> list[Overlay]:
    """The best of :func:`quick_overlays`, if there is one."""
    return sorted(quick_overlays(instance, problem), key=lambda overlay: problem.value(instance, overlay))[:1]


def stars(instance: TopicInstance) -> Overlay:
    """The star of each topic at its first subscriber, valid for all problems but ``k-tco``.

    Time O(Σ|T_v| log Σ|T_v|).
    """
    sizes = np.diff(instance.topic_offsets)
    centres = np.repeat(instance.topic_nodes[instance.topic_offsets[:-1]], sizes)
    others = centres != instance.topic_nodes
    return Overlay.from_edges(instance.num_nodes, np.stack([centres[others], instance.topic_nodes[others]], axis=1))


def _run(work: Callable[[], Answer], instance: TopicInstance, clock: Clock) -> Answer | None:
    sizes = np.diff(instance.topic_offsets).astype(np.float64)
    steps = instance.num_nodes**2 + (sizes**2).sum() * int(np.diff(instance.node_offsets).max())
    return finished_within(clock, work, steps=float(steps))


def weighted_greedy(edges: CandidateEdges, weights: Reals, *, cap: int, overload: float, seed: int) -> Overlay:
    """Choose edges greedily by contribution × weight, then drop the redundant ones, lightest first.

    The `edges` together connect every topic; `weights`, one an edge, are positive, for instance LP values plus a small
    constant. At a node of degree `cap`, another edge costs 1 + `overload` instead of 1. The seed breaks ties. The
    overlay is topic-connected, without redundant edges. Cost O(links log candidates), and that of
    :func:`.without_redundant`.
    """
    instance, n = edges.instance, edges.instance.num_nodes
    state = np.array([np.uint64(seed) * np.uint64(2) + np.uint64(1)], np.uint64)
    components = np.arange(instance.num_subscriptions, dtype=np.int32)
    chosen = _connect(
        *ends_by_edge(edges), edges.u, edges.v, weights, cap, overload, np.zeros(n, np.int32), components, state
    )
    by_key = chosen[np.argsort(edges.keys[chosen])]
    return without_redundant(instance, edges.overlay(chosen), np.argsort(weights[by_key], kind="stable"))


def _greedy_within(clock: Clock | None, edges: CandidateEdges, weights: Reals, **given: Any) -> Overlay | None:
    """The overlay of :func:`weighted_greedy`, None if it takes longer than the time left."""
    work = partial(weighted_greedy, edges, weights, **given)
    return work() if clock is None else finished_within(clock, work, steps=float(_STEPS_A_LINK * len(edges.links.edge)))


def ends_by_edge(edges: CandidateEdges) -> tuple[Offsets, Ids]:
    """CSR over the edges: the two subscriptions, in the order of ``topic_nodes``, that each link of an edge joins."""
    first = np.repeat(edges.instance.topic_offsets[:-1], np.diff(edges.links.offsets))
    offsets, order = edges.links_by_edge
    return offsets, np.stack([first + edges.links.a, first + edges.links.b], axis=1)[order].astype(np.int32)


@kernel
def _connect(
    offsets: Offsets,
    ends: Ids,
    u: Ids,
    v: Ids,
    weights: Reals,
    cap: int,
    overload: float,
    degree: Ids,
    parent: Ids,
    state: npt.NDArray[np.uint64],
) -> Ids:
    """Choose edges of best contribution × weight ÷ cost until the topics are connected.

    As neither contributions nor 1 ÷ cost ever rise, an edge is judged again only when it comes first (Minoux 1978).
    """
    noisy = np.empty(len(weights))
    for e in range(len(weights)):
        noisy[e] = weights[e] * (1.0 + _NOISE * random_number(state))
    queue = [(-(offsets[e + 1] - offsets[e]) * noisy[e], e) for e in range(len(weights))]
    heapq.heapify(queue)
    chosen, count = np.empty(len(weights), np.int32), 0
    while len(queue):
        before, e = queue[0]
        contribution = 0
        for k in range(offsets[e], offsets[e + 1]):
            contribution += root_of(parent, ends[k, 0]) != root_of(parent, ends[k, 1])
        if contribution == 0:
            heapq.heappop(queue)
            continue
        price = 1.0 + overload * (int(degree[u[e]] >= cap) + int(degree[v[e]] >= cap))
        score = -contribution * noisy[e] / price
        # Its place was of an earlier state: it may not be the best any more.
        if score > before:
            heapq.heapreplace(queue, (score, e))
            continue
        heapq.heappop(queue)
        chosen[count] = e
        count += 1
        degree[u[e]] += 1
        degree[v[e]] += 1
        for k in range(offsets[e], offsets[e + 1]):
            parent[root_of(parent, ends[k, 0])] = root_of(parent, ends[k, 1])
    return chosen[:count].copy()


def guided_candidates(
    instance: TopicInstance,
    start: Overlay,
    clock: Clock,
    *,
    weighted: bool = False,
    splitting: Splitting | None = None,
    steps: int | None = None,
    seed: int = 0,
) -> tuple[CandidateLists | None, list[Overlay]]:
    """The edges that an approximate LP solution uses, as candidates of local search, and overlays built along it.

    Unless there is a split of costs already, a fifth of the time goes into one where :func:`.is_affordable`; else each
    node's nearest are the candidates, which a search in parts finds by itself. The overlay is built if there is time.
    `steps` are given if only the number of edges matters: :class:`.RowWeighting` along the split then improves the
    better overlay, by its `seed`, in half of the time that is left, or without a time limit for as long as so many
    steps of ruin and recreate take; not where overlays are searched in parts.
    """
    in_parts = searches_in_parts(instance.num_nodes, "cost" if weighted else "edges")
    target = instance.total_cost(start.edges) if weighted else start.num_edges
    fifth = clock.share(0.2)
    if splitting is None and target < MOST_PROVEN and is_affordable(instance, fifth):
        rounds = _FEW_ROUNDS if in_parts and math.isinf(fifth.left) else _ROUNDS
        parameters = replace(pricing_parameters(instance), rounds=rounds)
        splitting = split_by_pricing(instance, start, fifth, parameters, weighted=weighted)
    if splitting is None:
        if in_parts:
            return None, []
        near = np.union1d(nearest_pairs(instance, by_cost=weighted), keys_of(start))
        return candidate_lists(instance, near, priced_weights(instance, near) if weighted else None), []
    kept, usage = splitting.used_or_in(start)
    worth = (usage + 0.01) / (instance.edge_costs(kept.u, kept.v) if weighted else 1)
    built = _greedy_within(clock, kept, worth, cap=instance.num_nodes, overload=0.0, seed=0)
    overlays = [] if built is None else [built]
    if steps is not None and not in_parts:
        best = min([start, *overlays], key=lambda overlay: overlay.num_edges)
        least = -(-splitting.units // UNIT)
        work = steps * ENTRIES_A_STEP if math.isinf(clock.left) else 10**18
        search = RowWeighting(*_searched(kept, usage), best, seed)
        for found in search.overlays(best.num_edges, clock.share(0.5), work, least):
            offer(found)
            overlays.append(found)
    weights = preferred(usage).astype(np.float32)
    if weighted:
        weights *= priced_weights(instance, kept.keys)
    return candidate_lists(instance, kept.keys, weights), overlays


def flatter_overlays(
    instance: TopicInstance, start: Overlay, clock: Clock, *, steps: int | None, seed: int, least: float = 1
) -> tuple[CandidateLists | None, list[Overlay]]:
    """The candidates of local search for a smaller maximum degree, and overlays that row weighting found among them.

    The candidates are the edges of an overlay and of each node to its nearest, None if the time does not suffice to
    list them. The overlays have smaller and smaller maximum degrees, until one has `least`; they take as long as so
    many steps of ruin and recreate, without `steps` half of the time. Of 10,000 nodes or more there are none.
    """
    keys = finished_within(clock, partial(_near_pairs, instance, start), steps=4.0 * count_links(instance))
    if keys is None:
        return None, []
    overlays = []
    if instance.num_nodes < _MANY_NODES:
        edges = CandidateEdges(instance, keys)
        search = RowWeighting(edges, np.zeros(len(edges)), start, seed)
        work = 10**18 if steps is None else steps * ENTRIES_A_STEP
        for found in search.overlays(start.max_degree, clock.share(_FLAT_SHARE), work, least, of_degree=True):
            offer(found)
            overlays.append(found)
    return candidate_lists(instance, keys), overlays


def flatter_along(
    edges: CandidateEdges, x: Reals, best: Overlay, clock: Clock, *, steps: int, seed: int, least: int
) -> Overlay:
    """An overlay of smaller maximum degree than `best`, or that: row weighting along the LP values of a cap `least`.

    It begins at the greedy overlay along the values, and takes as long as so many steps of ruin and recreate.
    """
    values = _padded(x, len(edges))
    start = _greedy_within(clock, edges, values + 0.01, cap=least, overload=_OVERLOAD, seed=seed)
    if start is None:
        return best
    search = RowWeighting(*_searched(edges, values), start, seed)
    for found in search.overlays(best.max_degree, clock, steps * ENTRIES_A_STEP, least, of_degree=True):
        offer(best := found)
    return best


def _near_pairs(instance: TopicInstance, start: Overlay) -> Keys:
    """The edges of an overlay, and the pairs of each node with its nearest ones, more if its degree is large."""
    large = np.flatnonzero(start.degrees >= _LARGE * start.max_degree).astype(np.int32)
    more = nearest_to(large, interest_of(instance), _MORE_NEAREST)
    return np.unique(np.concatenate([nearest_pairs(instance), more, keys_of(start)]))


def _searched(edges: CandidateEdges, values: Reals) -> tuple[CandidateEdges, Reals]:
    """The edges among which row weighting searches, with their LP values: these or, in a small instance, all pairs.

    Where a node has many topics, the best overlays have edges that the LP does not use, yet few of them.
    """
    if edges.instance.num_nodes > _FEW_NODES:
        return edges, values
    keys = np.union1d(all_pairs(edges.instance), edges.keys)
    extended = np.zeros(len(keys))
    extended[np.searchsorted(keys, edges.keys)] = values
    return CandidateEdges(edges.instance, keys), extended


class GuidedIncumbent(tree_search.Incumbent):
    """The cheapest overlay so far, of those that respect the goal's cap on degrees; by edges if each costs 1.

    `start` is valid for the problem; if it exceeds the cap, it is not an incumbent.
    """

    def __init__(self, instance: TopicInstance, goal: Goal, start: Overlay | None, seed: int) -> None:
        self.instance, self.cap = instance, min(goal.cap, instance.num_nodes)
        self.seed = seed
        self.overlay: Overlay | None = None
        self._searchable, self._costs = goal.searchable, goal.costs
        if start is not None:
            self.offer(start)

    def offer(self, overlay: Overlay) -> None:
        """Keep a valid overlay if it respects the cap and costs less."""
        value = self.cost(overlay)
        if value < self.value and overlay.max_degree <= self.cap:
            self.overlay, self.value = overlay, value
            offer(overlay)

    def vary(self, number: int) -> None:
        self.seed += number

    def cost(self, overlay: Overlay) -> int:
        """What an overlay costs: its number of edges if each costs 1."""
        if self._costs is None:
            return overlay.num_edges
        return self.instance.total_cost(overlay.edges)

    def offer_chosen(self, edges: CandidateEdges, chosen: Flags) -> None:
        self.offer(edges.overlay(np.flatnonzero(chosen)))

    def build_along(self, edges: CandidateEdges, x: Reals, clock: Clock | None = None) -> Overlay | None:
        """Build an overlay along LP values, one a candidate edge, and offer it; None if the clock passes before.

        Edges are chosen by contribution × (LP value + 0.01) ÷ cost, and redundant ones dropped.
        """
        if not self._searchable or not len(edges):
            return None
        weights = _padded(x, len(edges)) + 0.01
        if self._costs is not None:
            weights /= self.instance.edge_costs(edges.u, edges.v)
        overlay = _greedy_within(clock, edges, weights, cap=self.cap, overload=self._overload, seed=self._next())
        if overlay is not None:
            self.offer(overlay)
        return overlay

    def improve_along(self, edges: CandidateEdges, x: Reals, clock: Clock, *, goal: float, steps: int) -> None:
        """Build along LP values, then search for a number of steps, or until the value is `goal`.

        The search is :class:`.RowWeighting` for as long as so many steps of ruin and recreate take, and these
        themselves if edges have costs, or degrees a cap and any overlay is not enough. Of two edges of equal
        contribution it prefers the one of larger LP value. Ruin and recreate cools down within the time of the clock,
        if that is shorter. Of 10,000 nodes or more without a cap, :class:`.PartitionedSearch` goes on from the best
        overlay until the time is over, if there is a limit. If there is no time to build, nothing is done.
        """
        start = self.build_along(edges, x, None if self.overlay is None else clock)
        if start is None or self.value <= goal or clock.passed:
            return
        if self._costs is None and (self.cap >= self.instance.num_nodes or goal >= ANY_OVERLAY):
            self._exchange(edges, x, start, clock, goal, steps)
        else:
            self._ruin_and_recreate(edges, x, start, clock, goal, steps)

    def _exchange(self, edges: CandidateEdges, x: Reals, start: Overlay, clock: Clock, goal: float, steps: int) -> None:
        if self.cap >= self.instance.num_nodes and searches_in_parts(self.instance.num_nodes, "edges"):
            near, most = candidate_lists(self.instance, edges.keys), steps if math.isinf(clock.left) else math.inf
            parts = PartitionedSearch(self.instance, self.overlay or start, self._next(), candidates=near)
            while parts.has_choice and parts.steps < most and self.value > goal and not clock.passed:
                parts.run(lambda taken: taken >= most or clock.passed)
                self.offer(parts.overlay)
            return
        search = RowWeighting(*_searched(edges, _padded(x, len(edges))), start, self._next(), cap=self.cap)
        below = int(min(self.value, len(edges) + 1))
        for overlay in search.overlays(below, clock, steps * ENTRIES_A_STEP):
            self.offer(overlay)
            if self.value <= goal:
                return

    def _ruin_and_recreate(
        self, edges: CandidateEdges, x: Reals, start: Overlay, clock: Clock, goal: float, steps: int
    ) -> None:
        weights = preferred(_padded(x, len(edges)))
        scale = 1.0
        if self._costs is not None:
            weights *= priced_weights(self.instance, edges.keys)
            scale = start.num_edges / max(1, self.cost(start))
        near = candidate_lists(self.instance, edges.keys, weights.astype(np.float32))
        search, least = OverlaySearch(subscriptions_of(self.instance), start, near, self._next(), self._costs), np.inf
        search.drop_redundant()
        cooling = Cooling(_HOT, _COLD, clock)
        while search.steps < steps and self.value > goal and not clock.passed:
            rules = SearchParameters(self.cap, self._overload, cooling.at(search.steps / steps), scale)
            cost = search.run(rules, min(MOST_STEPS, steps - search.steps), least)
            if cost < least:
                least = cost
                self.offer(search.overlay)

    @property
    def _overload(self) -> float:
        return _OVERLOAD if self.cap < self.instance.num_nodes else 0.0

    def _next(self) -> int:
        self.seed = (self.seed * 6364136223846793005 + 1442695040888963407) % 2**62
        return self.seed


def _padded(x: Reals, size: int) -> Reals:
    return np.concatenate([x, np.zeros(size - len(x))])
