"""The candidate edges, and inequalities of single topics: x(edges that cross) ≥ rhs, by labels of its subscribers.

In a row of kind `PARTITION`, an edge crosses if its ends have different labels: with k labels, at least k − 1 edges
cross in every topic-connected overlay. A row of kind `LEAVING` is one for the topic without a subscriber, whose label
is −1: no edge at it crosses. In a row of kind `TWICE` two edges cross between two labels: a fault-tolerant topic of
three or more subscribers has no bridge. In a row of kind `DIAMETER`, two subscribers u and v have labels 0 and 1, those
of a set W have 2 and the others 3; the edges uv, u–W and v–(V_t − W) cross: at least one, if u and v are adjacent or
have a common neighbour in V_t.

A row of kind `EDGES` is of no topic (−1): its labels are its right-hand side, then u, v and the coefficient of each of
its pairs. All pairs are candidates then.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....heuristics.topics.kernels.common_topics import BLOCK, pairs_sharing
from ....heuristics.topics.kernels.interest import EdgeCosts, Interest, cost_of, interest_of, positions_of
from ....instances.contract.arrays import Ids, Offsets, entries_of
from ....instances.contract.errors import BadInput
from ....instances.contract.overlay import Overlay
from ....instances.runtime.compiled import kernel
from ....instances.topics.instance import TopicInstance
from ....instances.topics.objective import EdgeRow
from ...engine.proof import Multipliers

Edges = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


class TopicEdges(NamedTuple):
    """The (edge, topic) pairs such that both ends subscribe to the topic, grouped by topic."""

    offsets: Offsets  # the links of topic t are those from offsets[t] to offsets[t + 1]
    edge: Ids  # of each link, by its number among the candidates
    a: Ids  # the index of one end in V_t, smaller than that of the other, b
    b: Ids


class CandidateEdges:
    """Distinct edges u < v, each with a number from 0 on, to which more can be added.

    They are given as numbers u·|V| + v, in order; each should have a topic in common. Memory O(Σ_edges |T_u ∩ T_v|).
    """

    def __init__(self, instance: TopicInstance, keys: Edges) -> None:
        self.instance = instance
        self.interest = interest_of(instance)
        # For each subscription (v, t), in the order of ``node_topics``, the index of v in V_t.
        offsets = instance.topic_offsets[instance.node_topics]
        self.position: Ids = (positions_of(self.interest) - offsets).astype(np.int32)
        self.keys = np.empty(0, np.int64)
        self.add(keys)

    def __len__(self) -> int:
        return len(self.keys)

    def add(self, keys: Edges) -> None:
        """Append edges, numbered in order. Cost O(links)."""
        n = self.instance.num_nodes
        self.keys = np.concatenate([self.keys, keys])
        self.u, self.v = (self.keys // n).astype(np.int32), (self.keys % n).astype(np.int32)
        self.common, self._order, self.links = _list_links(self.u, self.v, self.interest, self.position)

    @property
    def links_by_edge(self) -> tuple[Offsets, Ids]:
        """CSR over the edges: offsets, and the numbers of each edge's links."""
        return np.concatenate([[0], np.cumsum(self.common)]).astype(np.int64), self._order

    def overlay(self, chosen: npt.NDArray[np.integer] | npt.NDArray[np.bool_]) -> Overlay:
        """The overlay of some of the edges."""
        return Overlay.from_edges(self.instance.num_nodes, np.stack([self.u[chosen], self.v[chosen]], axis=1))


def all_pairs(instance: TopicInstance) -> Edges:
    """Every pair u < v with a topic in common, as u·|V| + v, rising. Cost of :func:`.pairs_sharing` and of sorting."""
    n, relation = instance.num_nodes, (instance.node_offsets, instance.node_topics, instance.num_topics)
    blocks = np.split(np.arange(n, dtype=np.int32), range(BLOCK, n, BLOCK))
    return np.sort(np.concatenate([pairs_sharing(1, block, np.ones(n, np.bool_), *relation)[0] for block in blocks]))


def keys_of(overlay: Overlay) -> Edges:
    """The edges as numbers u·|V| + v, sorted."""
    return overlay.edges[:, 0].astype(np.int64) * overlay.num_nodes + overlay.edges[:, 1]


def indices_of(keys: Edges, edges: Edges) -> Offsets:
    """The indices in `edges`, which rise, of those `keys` that are among them."""
    index = np.searchsorted(edges, keys)
    inside = index < len(edges)
    index = index[inside]
    return np.compress(edges[index] == keys[inside], index)


def useful_edges(instance: TopicInstance, keys: Edges) -> Edges:
    """Those of some edges whose ends have a common topic.

    MinMax-ODA adds others, and presolve may drop an edge's topics. Cost as for :class:`CandidateEdges`.
    """
    return keys[CandidateEdges(instance, keys).common > 0]


def count_links(instance: TopicInstance) -> int:
    """Σ_t |V_t|·(|V_t| − 1) ÷ 2, the number of links of all pairs."""
    sizes = np.diff(instance.topic_offsets).astype(np.int64)
    return int((sizes * (sizes - 1) // 2).sum())


@kernel
def _list_links(us: Ids, vs: Ids, interest: Interest, position: Ids) -> tuple[Ids, Ids, TopicEdges]:
    """|T_u ∩ T_v| of each edge; the number of each link, edge by edge; and the links, topic by topic."""
    offsets, topics = interest.node_offsets, interest.node_topics
    common, ends, number = np.zeros(len(us), np.int32), np.zeros(len(interest.topic_offsets), np.int64), 0
    order = np.empty(0, np.int32)
    edge, a, b = order, order, order
    for listing in (False, True):
        for e in range(len(us)):
            i, end_i = offsets[us[e]], offsets[us[e] + 1]
            j, end_j = offsets[vs[e]], offsets[vs[e] + 1]
            while i < end_i and j < end_j:
                t = topics[i]
                if t == topics[j]:
                    if listing:
                        k = ends[t]
                        order[number], edge[k], a[k], b[k] = k, e, position[i], position[j]
                        number += 1
                    else:
                        common[e] += 1
                    ends[t] += 1
                step = t <= topics[j]
                j += topics[j] <= t
                i += step
        if not listing:
            size = ends.sum()
            order, edge = np.empty(size, np.int32), np.empty(size, np.int32)
            a, b = np.empty(size, np.int32), np.empty(size, np.int32)
            first = 0
            for t in range(len(ends)):
                ends[t], first = first, first + ends[t]
    return common, order, TopicEdges(np.concatenate((np.zeros(1, np.int64), ends[:-1])), edge, a, b)


PARTITION, DIAMETER, LEAVING, TWICE, EDGES = 0, 1, 2, 3, 4
Units = npt.NDArray[np.int64]


class TopicRows(NamedTuple):
    """Rows in compressed form: the labels of row r are ``label[offsets[r]:offsets[r + 1]]``, in the order of V_t."""

    topic: Ids
    kind: Ids
    rhs: Ids
    offsets: Offsets
    label: Ids

    def chosen(self, rows: npt.NDArray[np.integer] | npt.NDArray[np.bool_]) -> TopicRows:
        """The given rows, in the given order."""
        index = np.arange(len(self.topic))[rows]
        offsets, inside = entries_of(self.offsets, index)
        return TopicRows(self.topic[index], self.kind[index], self.rhs[index], offsets, self.label[inside])


def tree_multipliers(instance: TopicInstance, row: Ids, gap: npt.NDArray[np.int64]) -> Multipliers:
    """A bound by rows of all topics' subscribers, one after the other, with the gap in units in front of each."""
    parts = enumerate(pairwise(instance.topic_offsets.tolist()))
    return Multipliers((), trees=[(t, row[a:b].tolist(), gap[a + 1 : b].tolist()) for t, (a, b) in parts if b > a])


def no_rows() -> TopicRows:
    """An empty set of rows."""
    empty = np.empty(0, np.int32)
    return TopicRows(empty, empty, empty, np.zeros(1, np.int64), empty)


def joined(first: TopicRows, second: TopicRows) -> TopicRows:
    """The rows of both, in order."""
    return TopicRows(
        np.concatenate([first.topic, second.topic]),
        np.concatenate([first.kind, second.kind]),
        np.concatenate([first.rhs, second.rhs]),
        np.concatenate([first.offsets, second.offsets[1:] + first.offsets[-1]]),
        np.concatenate([first.label, second.label]),
    )


def singleton_rows(interest: Interest) -> TopicRows:
    """For each topic, the partition into single subscribers: x(E[V_t]) ≥ |V_t| − 1."""
    sizes = np.diff(interest.topic_offsets)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    topic = np.arange(len(sizes), dtype=np.int32)
    label = (np.arange(offsets[-1]) - np.repeat(offsets[:-1], sizes)).astype(np.int32)
    return TopicRows(topic, np.zeros_like(topic), (sizes - 1).astype(np.int32), offsets, label)


def edge_rows(edges: CandidateEdges, x: Reals, given: Iterable[EdgeRow], tolerance: float) -> TopicRows:
    """Rows over pairs, those that x violates by more than a tolerance; BadInput for a pair without a common topic."""
    labels, value = [], dict(zip(edges.keys.tolist(), x.tolist(), strict=True))
    for row in given:
        try:
            total = sum(value[u * edges.instance.num_nodes + v] * c for (u, v), c in row.coefficients.items())
        except KeyError as error:
            u, v = divmod(error.args[0], edges.instance.num_nodes)
            raise BadInput(f"a row has the pair ({u}, {v}): give pairs u < v of nodes with a topic in common") from None
        if total < row.least - tolerance:
            terms = sorted((u, v, c) for (u, v), c in row.coefficients.items() if c)
            labels.append(np.array([row.least, *chain.from_iterable(terms)], np.int32))
    none, ones = np.full(len(labels), -1, np.int32), np.ones(len(labels), np.int32)
    offsets = np.cumsum([0, *map(len, labels)]).astype(np.int64)
    rhs = np.array([label[0] for label in labels], np.int32)
    return TopicRows(none, EDGES * ones, rhs, offsets, np.concatenate([*labels, np.empty(0, np.int32)]))


def edge_terms(rows: TopicRows, edges: CandidateEdges) -> tuple[Offsets, Offsets, Offsets]:
    """The rows of kind `EDGES` by number, the candidate edge and the coefficient of each of their terms."""
    row, edge, value = [], [], []
    for r in np.flatnonzero(rows.kind == EDGES).tolist():
        u, v, c = rows.label[rows.offsets[r] + 1 : rows.offsets[r + 1]].reshape(-1, 3).T.astype(np.int64)
        row.append(np.full(len(u), r))
        edge.append(np.searchsorted(edges.keys, u * edges.instance.num_nodes + v))
        value.append(c)
    none = [np.empty(0, np.int64)]
    return np.concatenate(none + row), np.concatenate(none + edge), np.concatenate(none + value)


@kernel
def crossing(rows: TopicRows, links: TopicEdges, first_edge: int) -> tuple[Offsets, Ids]:
    """The candidate edges, from number `first_edge` on, that cross each row: CSR over the rows.

    Cost O(Σ_rows links of the row's topic).
    """
    offsets, edges = np.zeros(len(rows.topic) + 1, np.int64), np.empty(0, np.int32)
    for listing in (False, True):
        size = 0
        for r in range(len(rows.topic)):
            start, t = rows.offsets[r], rows.topic[r]
            for k in range(links.offsets[t], links.offsets[t + 1]):
                if links.edge[k] < first_edge:
                    continue
                if _crosses(rows.kind[r], rows.label, start, links.a[k], links.b[k]):
                    if listing:
                        edges[size] = links.edge[k]
                    size += 1
            offsets[r + 1] = size
        if not listing:
            edges = np.empty(size, np.int32)
    return offsets, edges


@kernel
def cover(rows: TopicRows, duals: Units, links: TopicEdges, num_edges: int) -> Units:
    """The sum of the duals of the rows that each candidate edge crosses. Cost as for :func:`crossing`."""
    covers = np.zeros(num_edges, np.int64)
    for r in range(len(rows.topic)):
        if duals[r] == 0:
            continue
        start, t = rows.offsets[r], rows.topic[r]
        for k in range(links.offsets[t], links.offsets[t + 1]):
            if _crosses(rows.kind[r], rows.label, start, links.a[k], links.b[k]):
                covers[links.edge[k]] += duals[r]
    return covers


@kernel
def sweep(
    interest: Interest,
    position: Ids,
    rows: TopicRows,
    starts: Offsets,
    prices: Units,
    node_price: Units,
    unit_cost: int,
    least: int,
    costs: EdgeCosts,
) -> tuple[int, Units, Units]:
    """Cover every pair of nodes with a common topic by its rows' duals, minus the two nodes' prices, in integers.

    The rows of topic t are those from starts[t] to starts[t + 1], with positive duals `prices`; `node_price` are those
    of the nodes' degree rows. Both are in the unit of `unit_cost`, that of an edge times what `costs` has for it; sums
    must stay below 2^62. Returned are Σ over the pairs of max(0, cover − cost), the term of the bounds x ≤ 1 in the
    dual objective, and the pairs u·|V| + v whose cover exceeds cost + least, with their covers. Time O(Σ_t |V_t|² R_t)
    for R_t rows of topic t, memory O(|V|) and the pairs listed.
    """
    n = len(interest.node_offsets) - 1
    cover = np.zeros(n, np.int64)
    pairs, covers = np.empty(1024, np.int64), np.empty(1024, np.int64)
    size = excess = 0
    for u in range(n):
        for i in range(interest.node_offsets[u], interest.node_offsets[u + 1]):
            t, a = interest.node_topics[i], position[i]
            first = interest.topic_offsets[t]
            count = interest.topic_offsets[t + 1] - first
            for r in range(starts[t], starts[t + 1]):
                start, kind, price = rows.offsets[r], rows.kind[r], prices[r]
                for b in range(a + 1, count):
                    if _crosses(kind, rows.label, start, a, b):
                        cover[interest.topic_nodes[first + b]] += price
        for i in range(interest.node_offsets[u], interest.node_offsets[u + 1]):
            t = interest.node_topics[i]
            for j in range(interest.topic_offsets[t] + position[i] + 1, interest.topic_offsets[t + 1]):
                v = interest.topic_nodes[j]
                covered = cover[v] - node_price[u] - node_price[v]
                # No edge costs less than 1.
                cost = unit_cost * cost_of(u, v, costs) if cover[v] > 0 and covered > unit_cost else covered
                if covered > cost:
                    excess += covered - cost
                    if covered > cost + least:
                        if size == len(pairs):
                            pairs = np.concatenate((pairs, np.empty_like(pairs)))
                            covers = np.concatenate((covers, np.empty_like(covers)))
                        pairs[size], covers[size] = np.int64(u) * n + v, covered
                        size += 1
                cover[v] = 0
    return excess, pairs[:size].copy(), covers[:size].copy()


@kernel
def _crosses(kind: int, label: Ids, start: int, a: int, b: int) -> bool:
    """Whether the edge between the subscribers of index a < b in V_t crosses the row whose labels begin at `start`."""
    one, other = label[start + a], label[start + b]
    if kind != DIAMETER:
        return bool(one != other and (kind != LEAVING or (one >= 0 and other >= 0)))
    low, high = min(one, other), max(one, other)
    return bool((low == 0 and high <= 2 and high > 0) or (low == 1 and high == 3))
