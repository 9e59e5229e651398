"""Valid inequalities of single topics, x(edges that cross) ≥ rhs, represented by labels on the topic's subscribers.

In a row of kind `PARTITION`, an edge crosses if its ends have different labels: with k labels, at least k − 1 edges
cross in every topic-connected overlay. A row of kind `LEAVING` is one for the topic without a subscriber, whose label
is −1: no edge at it crosses. In a row of kind `TWICE` two edges cross between two labels: a fault-tolerant topic of
three or more subscribers has no bridge. In a row of kind `DIAMETER`, two subscribers u and v have labels 0 and 1, those
of a set W have 2 and the others 3; the edges uv, u–W and v–(V_t − W) cross: at least one, if u and v are adjacent or
have a common neighbour in V_t. All coefficients are 0 or 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....heuristics.topics.kernels.interest import EdgeCosts, Interest, cost_of
from ....instances.contract.arrays import Ids, Offsets, entries_of
from ....instances.contract.compiled import kernel
from .candidate_edges import TopicEdges

PARTITION, DIAMETER, LEAVING, TWICE = 0, 1, 2, 3
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
                one, other = rows.label[start + links.a[k]], rows.label[start + links.b[k]]
                if links.edge[k] >= first_edge and _crosses(rows.kind[r], one, other):
                    if listing:
                        edges[size] = links.edge[k]
                    size += 1
            offsets[r + 1] = size
        if not listing:
            edges = np.empty(size, np.int32)
    return offsets, edges


class Sweep(NamedTuple):
    """The reduced costs of all pairs of nodes with a topic in common."""

    excess: int  # Σ over the pairs of max(0, cover − cost), the term of the bounds x ≤ 1 in the dual objective
    pairs: Units  # those u·|V| + v whose cover exceeds cost + least
    covers: Units


def sweep(
    interest: Interest,
    position: Ids,
    rows: TopicRows,
    duals: Units,
    node_price: Units,
    cost: int,
    least: int,
    costs: EdgeCosts,
) -> Sweep:
    """Cover every pair by its rows' duals, minus the two nodes' prices, in integers without rounding.

    `duals`, one a row, and `node_price`, of the nodes' degree rows, are not negative and in the unit of `cost`, that of
    an edge times what `costs` has for it; sums must stay below 2^62. Time O(Σ_t |V_t|² R_t) for R_t rows of topic t
    with a positive dual, memory O(|V|) and the pairs listed.
    """
    used = np.flatnonzero(duals > 0)
    used = used[np.argsort(rows.topic[used], kind="stable")]
    kept, prices = rows.chosen(used), duals[used]
    starts = np.searchsorted(kept.topic, np.arange(len(interest.topic_offsets))).astype(np.int64)
    excess, pairs, covers = _sweep(interest, position, kept, starts, prices, node_price, cost, least, costs)
    return Sweep(int(excess), pairs, covers)


@kernel
def cover(rows: TopicRows, duals: Units, links: TopicEdges, num_edges: int) -> Units:
    """Σ duals of the rows that each candidate edge crosses. Cost as for :func:`crossing`."""
    covers = np.zeros(num_edges, np.int64)
    for r in range(len(rows.topic)):
        if duals[r] == 0:
            continue
        start, t = rows.offsets[r], rows.topic[r]
        for k in range(links.offsets[t], links.offsets[t + 1]):
            if _crosses(rows.kind[r], rows.label[start + links.a[k]], rows.label[start + links.b[k]]):
                covers[links.edge[k]] += duals[r]
    return covers


@kernel
def _sweep(
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
                label = rows.label[start + a]
                for b in range(a + 1, count):
                    if _crosses(kind, label, rows.label[start + b]):
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
def _crosses(kind: int, one: int, other: int) -> bool:
    if kind != DIAMETER:
        return one != other and (kind != LEAVING or (one >= 0 and other >= 0))
    low, high = min(one, other), max(one, other)
    return (low == 0 and high <= 2 and high > 0) or (low == 1 and high == 3)
