"""Local search from an overlay, whole or in parts, and the candidate edges of a search."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from ....instances.contract.arrays import Ids, entries_of, frozen, offsets_of
from ....instances.contract.overlay import Overlay
from ....instances.runtime.compiled import kernel
from ....instances.topics.instance import TopicInstance
from ..kernels.interest import (
    EdgeCosts,
    Interest,
    TopicComponents,
    cost_of,
    costs_of,
    edge_costs,
    interest_of,
    join,
    singletons,
    unconnected,
    unit_costs,
)
from .linked_overlay import VertexTable, edges_of, links_of, mark_all_bridges
from .ruin_and_recreate import (
    COST,
    DEGREE_EXCESS,
    LEVELS_PER_UNIT,
    MOST_REMOVED,
    PRICED_LEVELS_PER_UNIT,
    CandidateLists,
    Keys,
    SearchParameters,
    Weights,
    drop_redundant,
    reset,
    ruin_and_recreate,
    workspace,
)

MOST_STEPS = 500
_DROPS = 1000
_CHEAP = 0.2


def most_common_topics(subscriptions: VertexTable) -> int:
    """No two nodes have more topics in common: those of three subscribers or more, and those of the two alone.

    A node with thousands of leaf nodes shares a topic of its own with each of them.
    """
    offsets, topics = subscriptions.node_offsets, subscriptions.node_topics
    sizes = np.bincount(topics)
    nodes, size = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)), sizes[topics]
    shared = np.bincount(nodes[size > 2], minlength=1)
    alone = nodes[size == 2][np.argsort(topics[size == 2], kind="stable")].reshape(-1, 2)
    pairs, count = np.unique(alone @ [len(offsets), 1], return_counts=True)
    return int(shared.max() + (count.max() if len(pairs) else 0))


class OverlaySearch:
    """A local search by ruin and recreate from a topic-connected overlay.

    Edges cost 1 each without `costs`; with them, candidates should have weights by cost (:func:`priced_weights`). At
    any time `overlay` is the best that a call has kept, at first the one given, and `steps` counts the steps so far.
    """

    def __init__(
        self,
        subscriptions: VertexTable,
        overlay: Overlay,
        candidates: CandidateLists,
        seed: int,
        costs: EdgeCosts | None = None,
    ) -> None:
        self.overlay, self.candidates, self.steps = overlay, candidates, 0
        self._subscriptions = subscriptions
        width = int(np.diff(subscriptions.node_offsets).max())
        self._links = links_of(
            overlay,
            self._subscriptions,
            spare_edges=2 * MOST_REMOVED * width + overlay.num_edges // 4,
            spare_links=2 * MOST_REMOVED * width * most_common_topics(subscriptions) + overlay.num_edges,
        )
        paid = unit_costs(overlay.num_nodes) if costs is None else costs
        levels = LEVELS_PER_UNIT if costs is None else PRICED_LEVELS_PER_UNIT
        slots = len(self._links.members)
        self._space = workspace(self._subscriptions, candidates, slots, MOST_STEPS, seed, paid, levels)
        u, v = np.ascontiguousarray(overlay.edges.T)
        self._space.counts[COST] = costs_of(u, v, paid).sum()
        mark_all_bridges(self._subscriptions, self._links, self._space.work)

    def drop_redundant(self, passed: Callable[[], bool] = lambda: False) -> None:
        """Drop redundant edges in random order, until the time has `passed`. Call it before :meth:`run`."""
        while self._links.counts[2] > 0 and not passed():
            drop_redundant(_DROPS, len(self._links.degrees), self._subscriptions, self._links, self._space)
            reset(self._space)
        self.overlay = self._overlay(edges_of(self._links))

    def run(self, parameters: SearchParameters, steps: int = MOST_STEPS, below: float = np.inf) -> float:
        """Take at most 500 steps from the current overlay.

        Returns the least cost of these steps; if it is below `below`, its overlay is kept.
        """
        before = edges_of(self._links)
        self._space.counts[DEGREE_EXCESS] = np.maximum(self._links.degrees - parameters.cap, 0).sum()
        cost, logged, taken = ruin_and_recreate(
            steps, parameters, self.candidates, self._subscriptions, self._links, self._space
        )
        self.steps += max(1, taken)
        if cost < below:
            changed, times = np.unique(self._space.log[:logged], return_counts=True)
            self.overlay = self._overlay(np.setxor1d(before, changed[times % 2 == 1], assume_unique=True))
        return float(cost)

    def _overlay(self, keys: Keys) -> Overlay:
        return Overlay.from_edges(len(self._links.degrees), np.stack(np.divmod(keys, len(self._links.degrees)), axis=1))


def priced_candidates(instance: TopicInstance, overlay: Overlay) -> CandidateLists:
    """Candidates by contribution ÷ cost: the nearest pairs by cost and the edges of an overlay, with their weights."""
    u, v = overlay.edges.astype(np.int64).T
    keys = np.union1d(nearest_pairs(instance, by_cost=True), u * overlay.num_nodes + v)
    return candidate_lists(instance, keys, priced_weights(instance, keys))


def priced_weights(instance: TopicInstance, keys: Keys) -> Weights:
    """Weights in (0, 1] in inverse proportion to costs; the cheapest fifth of the edges weighs 1."""
    costs = instance.edge_costs(*np.divmod(keys, instance.num_nodes))
    cheap = np.sort(costs)[int(_CHEAP * (len(costs) - 1))] if len(costs) else 1
    weights: Weights = np.minimum(1.0, cheap / costs).astype(np.float32)
    return weights


def candidate_lists(
    instance: TopicInstance, keys: Keys | None = None, weights: Weights | None = None
) -> CandidateLists:
    """Candidate edges, distinct numbers u·|V| + v, with weights in (0, 1]; by default nearest pairs of weight 1."""
    return lists_of(instance.num_nodes, nearest_pairs(instance) if keys is None else keys, weights)


def lists_of(n: int, keys: Keys, weights: Weights | None = None) -> CandidateLists:
    """The lists of `n` nodes; see :func:`candidate_lists`."""
    if weights is None:
        weights = np.ones(len(keys), np.float32)
    u, v = np.divmod(keys, n)
    ends, others, both = np.concatenate([u, v]), np.concatenate([v, u]), np.concatenate([weights, weights])
    order = np.lexsort((others, ends))
    offsets = offsets_of(ends, n)
    return CandidateLists(offsets, others[order].astype(np.int32), both[order].astype(np.float32))


_MOST_VISITS, _NODES_AT_ONCE = 2_000_000_000, 10_000


def nearest_pairs(
    instance: TopicInstance,
    count: int = 40,
    *,
    by_cost: bool = False,
    reach: int = 2**31 - 1,
    passed: Callable[[], bool] = lambda: False,
) -> npt.NDArray[np.int64]:
    """The pairs u < v, as ascending numbers u·|V| + v, of every node with its `count` ≥ 1 nearest neighbours.

    The proximity of two nodes is the sum of ln(2·max|V_s| ÷ |V_t|) over their common topics t: rare topics weigh more.
    With `by_cost` it is divided by the cost of the edge. Of equally near nodes the first are taken.

    Time O(Σ_t |V_t|²) and memory O(|V| · count). Each node considers the subscribers of its topics at most `reach`
    positions from its own, and fewer where Σ_t |V_t|² exceeds 2·10⁹. Nodes have no list once the time has `passed`.
    """
    costs, found = edge_costs(instance) if by_cost else None, [np.empty(0, np.int64)]
    for first in range(0, instance.num_nodes, _NODES_AT_ONCE):
        if not passed():
            nodes = np.arange(first, min(instance.num_nodes, first + _NODES_AT_ONCE), dtype=np.int32)
            found.append(nearest_to(nodes, interest_of(instance), count, costs, reach))
    return np.unique(np.concatenate(found))


def nearest_to(
    nodes: Ids, interest: Interest, count: int, costs: EdgeCosts | None = None, reach: int = 2**31 - 1
) -> npt.NDArray[np.int64]:
    """The pairs of :func:`nearest_pairs` for some of the nodes, in any order; some occur twice."""
    sizes = np.diff(interest.topic_offsets)
    # Integers: their sums are the same on any machine.
    weights = np.rint(100 * np.log(2 * sizes.max() / sizes)).astype(np.int64)
    visits = int((sizes.astype(np.int64) ** 2).sum())
    most = int(sizes.max()) if visits <= _MOST_VISITS else max(1, _MOST_VISITS // (2 * len(interest.topic_nodes)))
    paid = unit_costs(len(interest.node_offsets) - 1) if costs is None else costs
    return _nearest(nodes, interest, weights, count, min(reach, most), paid)


@kernel
def _nearest(
    nodes: Ids, interest: Interest, weights: npt.NDArray[np.int64], count: int, reach: int, costs: EdgeCosts
) -> npt.NDArray[np.int64]:
    n = len(interest.node_offsets) - 1
    score, others = np.zeros(n, np.int64), np.empty(n, np.int32)
    proximity, ranked = np.empty(n), np.empty(n)
    keys, num_keys = np.empty(len(nodes) * min(count, n), np.int64), 0
    for v in nodes:
        size = _score(v, interest, weights, reach, score, others)
        for i in range(size):
            b = others[i]
            proximity[i] = score[b] / cost_of(v, b, costs)
            score[b] = 0
        least, at_least = 0.0, np.int64(0)
        if size > count:
            ranked[:size] = proximity[:size]
            least = _select(ranked[:size], count - 1)
            at_least = np.int64(count)
            for i in range(size):
                at_least -= proximity[i] > least
        for i in range(size):
            at_cut = proximity[i] == least
            if proximity[i] > least or (at_cut and at_least > 0):
                keys[num_keys] = np.int64(min(v, others[i])) * n + max(v, others[i])
                num_keys += 1
                at_least -= at_cut
    return keys[:num_keys].copy()


@kernel
def _select(values: npt.NDArray[np.float64], k: int) -> float:
    """The value that k values are before in falling order; reorders them. numba compiles np.partition for 4 s."""
    first, last = 0, len(values) - 1
    while first < last:
        pivot, i, j = values[(first + last) // 2], first, last
        while i <= j:
            while values[i] > pivot:
                i += 1
            while values[j] < pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i, j = i + 1, j - 1
        first, last = (first, j) if k <= j else (i, last) if k >= i else (k, k)
    return float(values[k])


@kernel
def _score(
    v: int, interest: Interest, weights: npt.NDArray[np.int64], reach: int, score: npt.NDArray[np.int64], others: Ids
) -> int:
    """Compute the proximity to v of all nodes that share a topic with it; returns their number, and lists them."""
    size = 0
    for i in range(interest.node_offsets[v], interest.node_offsets[v + 1]):
        t = interest.node_topics[i]
        first, last = interest.topic_offsets[t], interest.topic_offsets[t + 1]
        position = first + np.searchsorted(interest.topic_nodes[first:last], v)
        for p in range(max(first, position - reach), min(last, position + reach + 1)):
            b = interest.topic_nodes[p]
            if b != v:
                if score[b] == 0:
                    others[size] = b
                    size += 1
                score[b] += weights[t]
    return size


PARTS_AT_ONCE = 4
_GROUP, _PART, _NEAREST = 5000, 100, 20
_STEPS_A_NODE = 5
_HOT, _COLD = 0.1, 0.05

Done = Callable[[int], bool]
"""Whether the search is to end, by the number of its steps."""
Apply = Callable[..., Iterable[Any]]
"""The built-in ``map``, or that of a pool of threads."""


class PartitionedSearch:
    """A search for fewer edges by ruin and recreate, from a topic-connected overlay of many nodes.

    Nodes of similar interests form a group, and those of a group parts of 100. All edges of a part's nodes may be
    replaced by `candidates`, by default edges to their nearest nodes. Nodes whose topics all have two subscribers are
    in no group, as their edges are in every overlay. Four parts are searched independently of each other, while the
    edges between them and all edges of other nodes are fixed: what these connect is contracted, so that a step takes
    time in proportion to the part, not to the subscribers of the topics.

    `threads` search parts, at most `PARTS_AT_ONCE` at a time, which changes no overlay; `group` and `part` are about
    how many nodes these have. At any time `overlay` is topic-connected, without more edges than the one given, and
    `steps` counts the steps so far.

    A group takes O(Σ|T_v| + Σ_edges (|T_u| + |T_v|)) beside its steps, and the nearest nodes of its nodes, which are
    kept: 160 bytes a node.
    """

    def __init__(
        self,
        instance: TopicInstance,
        overlay: Overlay,
        seed: int,
        threads: int = 1,
        *,
        candidates: CandidateLists | None = None,
        group: int = _GROUP,
        part: int = _PART,
    ) -> None:
        self.overlay, self.steps = overlay, 0
        self._instance, self._threads, self._part, self._candidates = instance, threads, part, candidates
        self._random = np.random.default_rng(seed)
        order = similar_order(instance, self._random)
        self._groups = np.array_split(order, max(1, -(-len(order) // group)))
        self._near: dict[int, Ids] = {}
        self._next = 0

    @property
    def has_choice(self) -> bool:
        """Whether any topic has more than two subscribers."""
        return len(self._groups[0]) > 0

    def run(self, done: Done) -> None:
        """Search the next group of nodes, part by part, until the search is done."""
        group = self._groups[self._next]
        inside = np.zeros(self._instance.num_nodes, np.bool_)
        inside[group] = True
        edges = self.overlay.edges
        free = inside[edges].any(axis=1)
        fixed = singletons(self._instance)
        connect(edges[~free], fixed)
        with ThreadPoolExecutor(self._threads) as pool:
            apply: Apply = pool.map if self._threads > 1 else map
            near = self._nearest(group, apply)
            nodes = np.unique(np.concatenate([edges[free].ravel(), near.ravel(), group]))
            own, near = _indices(nodes, edges[free]), _indices(nodes, near)
            united = copied(fixed)
            connect(edges[free], united)
            subscriptions = contracted(nodes, fixed, united)
            parts = self._parts(_indices(nodes, group))
            try:
                while parts and not done(self.steps):
                    chosen = [parts.pop() for _ in range(min(len(parts), PARTS_AT_ONCE))]
                    own = self._searched(own, chosen, near, subscriptions, apply, done)
            finally:
                replaced = np.concatenate([edges[~free], nodes[own]])
                self.overlay = Overlay.from_edges(self._instance.num_nodes, replaced)
        self._next = (self._next + 1) % len(self._groups)

    def _nearest(self, group: Ids, apply: Apply) -> Ids:
        """The candidates of each node of the group, or the pairs with its nearest ones."""
        if self._next not in self._near:
            if (given := self._candidates) is not None:
                offsets, index = entries_of(given.offsets, group)
                u, v = np.repeat(group, np.diff(offsets)).astype(np.int64), given.nodes[index]
                keys = np.unique(np.minimum(u, v) * self._instance.num_nodes + np.maximum(u, v))
            else:
                interest, shares = interest_of(self._instance), np.array_split(group, self._threads)
                found = apply(lambda share: nearest_to(share, interest, _NEAREST), shares)
                keys = np.unique(np.concatenate(list(found)))
            self._near[self._next] = np.stack(np.divmod(keys, self._instance.num_nodes), axis=1).astype(np.int32)
        return self._near[self._next]

    def _parts(self, group: Ids) -> list[Ids]:
        """Parts of a group in random order, each time others."""
        shifted = np.roll(group, self._random.integers(self._part))
        parts = np.array_split(shifted, -(-len(group) // self._part))
        self._random.shuffle(parts)
        return parts

    def _searched(
        self, edges: Ids, parts: list[Ids], near: Ids, subscriptions: VertexTable, apply: Apply, done: Done
    ) -> Ids:
        """The edges of a group after a search of some of its parts."""
        part = np.full(len(subscriptions.node_offsets) - 1, -1, np.int32)
        for number, nodes in enumerate(parts):
            part[nodes] = number
        first, second = part[edges].T
        free = np.where((first == second) | (np.minimum(first, second) < 0), np.maximum(first, second), -1)
        fixed = unconnected(subscriptions[:5], len(subscriptions.vertex_offsets) - 1)
        connect(edges[free < 0], fixed)
        seeds, ends = self._random.integers(2**62, size=len(parts)).tolist(), part[near]

        def searched(number: int) -> tuple[Ids, int]:
            own, choice = edges[free == number], near[(ends == number).any(axis=1)]
            steps = _STEPS_A_NODE * len(parts[number])
            return _search(own, choice, fixed, seeds[number], steps, lambda: done(self.steps))

        results = list(apply(searched, range(len(parts))))
        self.steps += sum(steps for _, steps in results)
        return np.concatenate([edges[free < 0], *(found for found, _ in results)])


def _search(
    edges: Ids, near: Ids, fixed: TopicComponents, seed: int, steps: int, done: Callable[[], bool]
) -> tuple[Ids, int]:
    """Edges that replace those of a part, which may be replaced by the pairs `near`; and the number of steps."""
    nodes = np.unique(np.concatenate([edges, near]))
    united = copied(fixed)
    connect(edges, united)
    subscriptions = contracted(nodes, fixed, united)
    if not len(subscriptions.positions):  # the fixed edges are enough
        return edges[:0], 1
    n = len(nodes)
    overlay = Overlay.from_edges(n, _indices(nodes, edges))
    u, v = _indices(nodes, near).astype(np.int64).T
    search = OverlaySearch(subscriptions, overlay, lists_of(n, u * n + v), seed)
    search.drop_redundant()
    below = np.inf
    while search.steps < steps and not done():
        temperature = _HOT * (_COLD / _HOT) ** (search.steps / steps)
        below = min(below, search.run(SearchParameters(n, 0.0, temperature), steps - search.steps, below))
    return nodes[search.overlay.edges], search.steps


def _indices(nodes: Ids, chosen: Ids) -> Ids:
    """The indices of nodes in an ascending array."""
    return np.searchsorted(nodes, chosen).astype(np.int32)


def similar_order(instance: TopicInstance, random: np.random.Generator) -> Ids:
    """The nodes in an order in which similar ones are close: by their first three topics in a random order of topics.

    Only nodes with a topic of three subscribers or more, and these topics, are considered.

    Two nodes have the same first topic with a probability equal to the Jaccard index of their interests (Broder 1997).
    Cost O(Σ|T_v| log Σ|T_v|). https://doi.org/10.1109/SEQUEN.1997.666900
    """
    rank = random.permutation(instance.num_topics)[instance.node_topics]
    owners = np.repeat(np.arange(instance.num_nodes, dtype=np.int32), np.diff(instance.node_offsets))
    kept = np.flatnonzero(np.diff(instance.topic_offsets)[instance.node_topics] > 2)
    kept = kept[np.lexsort((rank[kept], owners[kept]))]
    nodes, first = np.unique(owners[kept], return_index=True)
    last = np.append(first[1:], len(kept)) - 1
    hashes = [rank[kept[np.minimum(first + k, last)]] for k in range(3)]
    return nodes[np.lexsort((random.random(len(nodes)), *reversed(hashes)))]


@kernel
def connect(edges: Ids, components: TopicComponents) -> None:
    """Unite the components that edges connect. Cost O(Σ_edges (|T_u| + |T_v|))."""
    for e in range(len(edges)):
        join(edges[e, 0], edges[e, 1], components)


def copied(components: TopicComponents) -> TopicComponents:
    """Components to which edges can be added."""
    label, following, size = components.label.copy(), components.following.copy(), components.size.copy()
    return components._replace(label=label, following=following, size=size)


def contracted(nodes: Ids, fixed: TopicComponents, united: TopicComponents) -> VertexTable:
    """What edges between some ascending nodes have to connect, given the edges that are fixed.

    The nodes are numbered from 0. A vertex is a component of the `fixed` edges, and a topic is one of the components of
    those and the present edges, `united`, if it has several vertices here. Edges that connect these topics keep all
    topics of the instance connected, even if the edges between other nodes are replaced at the same time in this way.

    Cost O(S log S) for S subscriptions of these nodes.
    """
    offsets, index = entries_of(fixed.node_offsets, nodes)
    owners = np.repeat(np.arange(len(nodes), dtype=np.int32), np.diff(offsets))
    # A label is the position of a member among the subscribers of its topic, so labels are in the order of topics.
    used = np.zeros(len(fixed.label), np.bool_)
    used[fixed.label[fixed.positions[index]]] = True
    labels, vertices = np.flatnonzero(used), (np.cumsum(used) - 1)[fixed.label[fixed.positions[index]]]
    _, topics, sizes = np.unique(united.label[labels], return_inverse=True, return_counts=True)
    order = np.argsort(topics, kind="stable")
    order = order[sizes[topics[order]] > 1]
    number = np.full(len(labels), -1, np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    kept = number[vertices] >= 0
    owners, positions = owners[kept], number[vertices[kept]]
    _, topics = np.unique(topics[order], return_inverse=True)
    return VertexTable(
        # Read-only as those of an instance: one compilation serves both.
        node_offsets=frozen(offsets_of(owners, len(nodes)), np.int64),
        node_topics=frozen(topics[positions], np.int32),
        topic_offsets=frozen(offsets_of(topics, int(topics.max(initial=-1)) + 1), np.int64),
        topic_nodes=frozen(owners[np.argsort(positions, kind="stable")], np.int32),
        positions=positions,
        vertex_offsets=offsets_of(positions, len(order)).astype(np.int32),
    )
