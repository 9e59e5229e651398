"""What the topics of a problem must satisfy: objectives, and the separation of their inequalities.

Connected topics: for topic t and a partition of V_t into k blocks, x(cross) ≥ k − 1. These inequalities describe the
dominant of the spanning-tree polytope of each topic, as does the multi-commodity flow relaxation (Fulkerson 1971; Dar,
Fischer, Martinovic, Scheithauer 2021).

Fault tolerance: a topic of three or more subscribers stays connected after any one of them leaves, so a partition of
V_t − s into k blocks is crossed by at least k − 1 edges. The 0/1 vectors that satisfy all of these rows are the
fault-tolerant overlays. That every subscriber has two neighbours follows in integers only, and stands in the first LP.

True diameter 2: two subscribers of a topic are adjacent or have a common neighbour in the topic. For u, v in V_t and
any W ⊆ V_t − {u, v}: x(uv) + x(u–W) + x(v–the others) ≥ 1, as one of the two edges of every path u–w–v is on the
left-hand side. W = {w : x(uw) < x(wv)} minimises the left-hand side, so separation is exact and costs O(|V_t|) a pair.
The 0/1 vectors that satisfy all rows are the overlays of diameter 2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ....heuristics.topics.kernels.interest import EdgeCosts, edge_costs, unit_costs
from ....instances.contract.arrays import Ids, Offsets, entries_of, offsets_of
from ....instances.runtime.compiled import kernel
from ....instances.topics.instance import TopicInstance
from ....instances.topics.objective import Objective, SeparateRows
from .topic_rows import DIAMETER, LEAVING, TWICE, CandidateEdges, TopicEdges, TopicRows, edge_rows, joined, no_rows

Weights = npt.NDArray[np.float64]


class Separator:
    """The rows of connected topics.

    `quick` says whether LPs take milliseconds, so that trees have thousands of nodes.
    """

    splits = quick = True

    def first_rows(self, topic_offsets: Offsets) -> TopicRows:
        """Rows for the first LP, beside a partition of each topic into single subscribers."""
        return no_rows()

    def violated(self, edges: CandidateEdges, x: Weights, *, tolerance: float, exact: bool) -> TopicRows:
        """Rows that x violates. If x is 0/1, there are none exactly if x is an overlay of the problem."""
        offsets, links = edges.instance.topic_offsets, edges.links
        rows = violated_partitions(offsets, links, x, tolerance=tolerance, exact=False)
        rows = joined(rows, self._others(edges, x, tolerance))
        if exact and not len(rows.topic):
            rows = violated_partitions(offsets, links, x, tolerance=tolerance, exact=True)
        return rows

    def _others(self, edges: CandidateEdges, x: Weights, tolerance: float) -> TopicRows:
        return no_rows()


class DiameterSeparator(Separator):
    """The rows of topics of diameter at most 2, by pairs."""

    quick = False

    def _others(self, edges: CandidateEdges, x: Weights, tolerance: float) -> TopicRows:
        offsets = edges.instance.topic_offsets
        return violated_diameters(offsets, edges.links, x, tolerance=tolerance, shares=np.ones(len(offsets) - 1))


class FaultSeparator(Separator):
    """The rows of topics that stay connected after any one subscriber has left.

    The sets V_t − s of the topics of three or more subscribers are separated as topics of their own. Their links take
    time and memory O(Σ_t |V_t| · links of t); they are listed again when there are more candidate edges.
    """

    splits = False

    def __init__(self) -> None:
        self._leaving: tuple[Offsets, TopicEdges] | None = None
        self._num_edges = -1

    def first_rows(self, topic_offsets: Offsets) -> TopicRows:
        """Every subscriber of a topic of three or more has two neighbours in it: rows of kind `TWICE`."""
        topic, leaver = _leavers(topic_offsets)
        offsets = np.concatenate([[0], np.cumsum(np.diff(topic_offsets)[topic])]).astype(np.int64)
        label = np.zeros(offsets[-1], np.int32)
        label[offsets[:-1] + leaver] = 1
        return TopicRows(topic, np.full_like(topic, TWICE), np.full_like(topic, 2), offsets, label)

    def violated(self, edges: CandidateEdges, x: Weights, *, tolerance: float, exact: bool) -> TopicRows:
        """Rows of the topics, then of kind `LEAVING`, of the topics without one subscriber."""
        rows = violated_partitions(edges.instance.topic_offsets, edges.links, x, tolerance=tolerance, exact=False)
        for thorough in (False, True)[: 1 + exact]:
            if not len(rows.topic):
                rows = self._without_one(edges, x, tolerance, thorough)
        return rows

    def _without_one(self, edges: CandidateEdges, x: Weights, tolerance: float, exact: bool) -> TopicRows:
        topic, leaver = _leavers(edges.instance.topic_offsets)
        if self._leaving is None or self._num_edges != len(edges):
            self._leaving, self._num_edges = _leaving_topics(topic, leaver, edges), len(edges)
        rows = violated_partitions(*self._leaving, x, tolerance=tolerance, exact=exact)
        label = np.insert(rows.label, rows.offsets[:-1] + leaver[rows.topic], np.int32(-1))
        offsets = rows.offsets + np.arange(len(rows.offsets))
        return TopicRows(topic[rows.topic], np.full_like(rows.kind, LEAVING), rows.rhs, offsets, label)


class EdgeRowSeparator(Separator):
    """The rows of connected topics, and where none of these is violated, those of a function."""

    def __init__(self, rows: SeparateRows) -> None:
        self._rows = rows

    def violated(self, edges: CandidateEdges, x: Weights, *, tolerance: float, exact: bool) -> TopicRows:
        """Rows that x violates: of the topics, then of the function by more than the tolerance."""
        found = super().violated(edges, x, tolerance=tolerance, exact=exact)
        if len(found.topic):
            return found
        pairs = np.stack([edges.u, edges.v], axis=1).astype(np.int64)
        return edge_rows(edges, x, self._rows(edges.instance, pairs, x), tolerance)


def _leavers(topic_offsets: Offsets) -> tuple[Ids, Ids]:
    """The topics of three or more subscribers, once for each of these, and the index of each in V_t."""
    sizes = np.diff(topic_offsets)
    parts = np.where(sizes > 2, sizes, 0)
    topic = np.repeat(np.arange(len(sizes), dtype=np.int32), parts)
    return topic, (np.arange(len(topic)) - np.repeat(np.cumsum(parts) - parts, parts)).astype(np.int32)


def _leaving_topics(topic: Ids, leaver: Ids, edges: CandidateEdges) -> tuple[Offsets, TopicEdges]:
    """The offsets and the links of the sets V_t − s, as those of an instance with these topics."""
    sizes = np.diff(edges.instance.topic_offsets)[topic] - 1
    entries, place = entries_of(edges.links.offsets, topic)
    part = np.repeat(np.arange(len(topic)), np.diff(entries))
    a, b = edges.links.a[place], edges.links.b[place]
    kept = (a != leaver[part]) & (b != leaver[part])
    left, a, b = leaver[part[kept]], a[kept], b[kept]
    links = TopicEdges(
        offsets_of(part[kept], len(topic)), edges.links.edge[place[kept]], a - (a > left), b - (b > left)
    )
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    offsets.flags.writeable = False  # as an instance's: the kernel is compiled for these
    return offsets, links


_SEPARATORS: dict[str, type[Separator]] = {
    "connected": Separator,
    "two-connected": FaultSeparator,
    "diameter-2": DiameterSeparator,
    "star": Separator,
}


@dataclass(frozen=True)
class Goal:
    """An objective over the overlays, edge_cost·Σ costs + degree_cost·D with D at least every degree, and limits on
    them.
    """

    edge_cost: int = 1
    degree_cost: int = 0
    least_degree: int = 0  # the range of D is from this to `cap`
    cap: int = 2**31
    costs: EdgeCosts | None = None  # of the edges, 1 each by default
    separator: type[Separator] = Separator  # of the rows that topics must satisfy: every topic is connected
    rows: SeparateRows | None = None  # further ones, over pairs that must all be listed

    @classmethod
    def of(cls, objective: Objective, instance: TopicInstance) -> Goal:
        """The goal of a problem whose edges or their cost are lowered, on a priced instance."""
        costs = edge_costs(instance) if objective.weighted else None
        cap = cls.cap if objective.cap is None else objective.cap
        return cls(cap=cap, costs=costs, separator=_SEPARATORS[objective.rule], rows=objective.separator)

    @property
    def searchable(self) -> bool:
        """Whether every topic-connected overlay is valid, up to the cap: then local search applies."""
        return self.separator is Separator and self.rows is None

    def new_separator(self) -> Separator:
        """A separator of the rows of topics, and of the further ones."""
        return self.separator() if self.rows is None else EdgeRowSeparator(self.rows)

    def costs_on(self, num_nodes: int) -> EdgeCosts:
        """The costs of the edges on so many nodes."""
        return unit_costs(num_nodes) if self.costs is None else self.costs

    def degree_range(self, num_nodes: int) -> tuple[int, int]:
        """The range of D on so many nodes."""
        return self.least_degree, min(self.cap, num_nodes)


_PER_TOPIC = 6


def violated_diameters(
    topic_offsets: Offsets, links: TopicEdges, weights: Weights, *, tolerance: float, shares: Weights
) -> TopicRows:
    """The most violated rows of kind `DIAMETER`: at most one for each subscriber u, and six for each topic.

    The right-hand side is the topic's one of `shares`, at most 1. None is returned if and only if no row is violated by
    more than `tolerance`. P2 (Onus and Richa 2015), §6, states the problem. Time O(Σ_t |V_t|³), memory O(max |V_t|²).
    """
    topic, label = _separate_diameters(topic_offsets, links, weights, tolerance, shares)
    sizes = topic_offsets[topic + 1] - topic_offsets[topic]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return TopicRows(topic, np.full_like(topic, DIAMETER), np.ones_like(topic), offsets, label)


@kernel
def _separate_diameters(
    topic_offsets: Offsets, links: TopicEdges, weights: Weights, tolerance: float, shares: Weights
) -> tuple[Ids, Ids]:
    num_topics = len(topic_offsets) - 1
    topics = np.empty(num_topics * _PER_TOPIC, np.int32)
    labels = np.empty(topic_offsets[-1] * _PER_TOPIC, np.int32)
    rows = used = 0
    for t in range(num_topics):
        if shares[t] <= tolerance:
            continue
        n = topic_offsets[t + 1] - topic_offsets[t]
        x = np.zeros((n, n))
        for k in range(links.offsets[t], links.offsets[t + 1]):
            x[links.a[k], links.b[k]] = x[links.b[k], links.a[k]] = weights[links.edge[k]]
        sums, partner = np.full(n, 2.0), np.zeros(n, np.int32)
        for u in range(n):
            for v in range(n):
                if v == u:
                    continue
                total = x[u, v]
                for w in range(n):
                    total += min(x[u, w], x[v, w])
                    # Only the partner of least sum is cut off, so most sums end early.
                    if total >= sums[u]:
                        break
                if total < sums[u]:
                    sums[u], partner[u] = total, v
        taken = 0
        for u in np.argsort(sums, kind="mergesort"):
            v = partner[u]
            if sums[u] >= shares[t] - tolerance or taken == _PER_TOPIC:
                break
            # The same pair, found from its other end.
            if v < u and partner[v] == u:
                continue
            for w in range(n):
                labels[used + w] = 2 if x[u, w] < x[v, w] else 3
            labels[used + u], labels[used + v] = 0, 1
            topics[rows] = t
            rows += 1
            taken += 1
            used += n
    return topics[:rows].copy(), labels[:used].copy()


_FLOW_EPSILON = 1e-11


def violated_partitions(
    topic_offsets: Offsets, links: TopicEdges, weights: Weights, *, tolerance: float, exact: bool
) -> TopicRows:
    """At most one partition inequality per topic that the weights of candidate edges violate by more than `tolerance`.

    Without `exact`: the most violated of the partitions that arise when edges are contracted from the heaviest down
    (Kruskal); with 0/1 weights this finds every disconnected topic. O(L log L) for the L links of a topic with positive
    weight. With it, where the heuristic finds none: a most violated one of all partitions, by |V_t| minimum cuts:
    Dilworth truncation of the supermodular x(E[S]) + 1 by Cunningham's greedy (Barahona 1992; Baïou, Barahona, Mahjoub
    2000): subscribers are added one by one, and each is merged with the set of blocks that gains most, a minimum cut in
    the contracted graph (Goldberg's, by augmenting paths). Up to rounding, no violated partition is missed; rounding
    cannot make a returned row invalid.
    """
    topics = np.arange(len(topic_offsets) - 1, dtype=np.int32)
    label = np.empty(topic_offsets[-1], np.int32)
    blocks = _partition_topics(topic_offsets, label, links, weights, tolerance, exact)
    rows = TopicRows(topics, np.zeros_like(topics), (blocks - 1).astype(np.int32), topic_offsets, label)
    return rows.chosen(blocks > 1)


@kernel
def _partition_topics(
    offsets: Offsets, label: Ids, links: TopicEdges, weights: Weights, tolerance: float, exact: bool
) -> Ids:
    """Write a partition of each topic and return its number of blocks, 0 if none is violated."""
    blocks = np.zeros(len(offsets) - 1, np.int32)
    for t in range(len(blocks)):
        n = offsets[t + 1] - offsets[t]
        first, last = links.offsets[t], links.offsets[t + 1]
        count = 0
        for k in range(first, last):
            count += weights[links.edge[k]] > _FLOW_EPSILON
        one, other, weight = np.empty(count, np.int32), np.empty(count, np.int32), np.empty(count)
        count = 0
        for k in range(first, last):
            if weights[links.edge[k]] > _FLOW_EPSILON:
                one[count], other[count], weight[count] = links.a[k], links.b[k], weights[links.edge[k]]
                count += 1
        out = label[offsets[t] : offsets[t + 1]]
        blocks[t] = _by_contraction(n, one, other, weight, tolerance, out)
        if blocks[t] == 0 and exact:
            blocks[t] = _by_cuts(n, one, other, weight, tolerance, out)
    return blocks


@kernel
def _by_contraction(n: int, one: Ids, other: Ids, weight: Weights, tolerance: float, out: Ids) -> int:
    order = np.argsort(-weight, kind="mergesort")
    heads, partner, value = _adjacency(n, one, other, weight)
    block = np.arange(n, dtype=np.int32)
    size = np.ones(n, np.int32)
    following = np.arange(n, dtype=np.int32)
    united = np.empty((n, 2), np.int32)
    cross, blocks = weight.sum(), n
    best, merges, best_merges = n - 1 - cross, 0, 0
    for k in order:
        a, b = block[one[k]], block[other[k]]
        if a == b:
            continue
        if size[a] > size[b]:
            a, b = b, a
        member = a
        while True:
            for j in range(heads[member], heads[member + 1]):
                if block[partner[j]] == b:
                    cross -= value[j]
            member = following[member]
            if member == a:
                break
        while True:
            block[member] = b
            member = following[member]
            if member == a:
                break
        size[b] += size[a]
        following[a], following[b] = following[b], following[a]
        united[merges, 0], united[merges, 1] = a, b
        merges += 1
        blocks -= 1
        if blocks - 1 - cross > best:
            best, best_merges = blocks - 1 - cross, merges
    if best <= tolerance:
        return 0
    # A block is identified by one of its members, until it is merged into a larger one.
    for v in range(n):
        out[v] = v
    for k in range(best_merges):
        out[united[k, 0]] = united[k, 1]
    return _flattened(out)


@kernel
def _flattened(parent: Ids) -> int:
    """Replace a forest of parents by labels 0, 1, … and return their number."""
    n = len(parent)
    root = np.empty(n, np.int32)
    for v in range(n):
        w = v
        while parent[w] != w:
            w = parent[w]
        root[v] = w
    number = np.full(n, -1, np.int32)
    count = 0
    for v in range(n):
        if number[root[v]] < 0:
            number[root[v]] = count
            count += 1
        parent[v] = number[root[v]]
    return count


@kernel
def _by_cuts(n: int, one: Ids, other: Ids, weight: Weights, tolerance: float, out: Ids) -> int:
    block = np.full(n, -1, np.int32)
    count = 0
    for v in range(n):
        # The contracted graph has a node for each block, and last the new subscriber.
        node_of = np.full(n, -1, np.int32)
        name = np.empty(count + 1, np.int32)
        nodes = 0
        for w in range(v):
            if node_of[block[w]] < 0:
                node_of[block[w]] = nodes
                name[nodes] = block[w]
                nodes += 1
        between = np.zeros((nodes + 1, nodes + 1))
        for k in range(len(one)):
            if other[k] <= v:
                a = node_of[block[one[k]]]
                b = nodes if other[k] == v else node_of[block[other[k]]]
                if a != b:
                    between[a, b] += weight[k]
                    between[b, a] += weight[k]
        joins = _best_merge(between)
        block[v] = v
        count += 1
        for w in range(v):
            if joins[node_of[block[w]]]:
                block[w] = v
        for k in range(nodes):
            count -= joins[k]
    cross = 0.0
    for k in range(len(one)):
        if block[one[k]] != block[other[k]]:
            cross += weight[k]
    for v in range(n):
        out[v] = block[v]
    blocks = _flattened(out)
    return blocks if cross < blocks - 1 - tolerance else 0


@kernel
def _best_merge(between: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """The set S of nodes that maximises x(E[S + last]) − |S|, the smallest such set up to rounding.

    Every edge's weight is split between its ends, and each node but the last absorbs at most 1 of it: the maximum is
    the weight that cannot be absorbed, and S is the set that this excess reaches. As a flow: half of each edge goes to
    each end, then capacities of half the weight in either direction balance it. The graph is small, dense and new for
    every subscriber: on 5 to 30 nodes this takes 6 µs, and :func:`.maximum_flow` 17 µs after 22 µs for its network.
    """
    n = len(between)
    last = n - 1
    residual = between / 2
    surplus = np.empty(n)  # positive: to be sent; negative: can be absorbed
    for v in range(n):
        surplus[v] = between[v].sum() / 2 - (0.0 if v == last else 1.0)
    reached = np.zeros(n, np.bool_)
    via, queue = np.empty(n, np.int32), np.empty(n, np.int32)
    while True:
        reached[:] = False
        head = tail = 0
        # The last node is a source without limit, and no sink.
        for v in range(n):
            if v == last or surplus[v] > _FLOW_EPSILON:
                reached[v], via[v], queue[tail] = True, -1, v
                tail += 1
        sink = -1
        while head < tail and sink < 0:
            v = queue[head]
            head += 1
            for w in range(n):
                if not reached[w] and residual[v, w] > _FLOW_EPSILON:
                    reached[w], via[w], queue[tail] = True, v, w
                    tail += 1
                    if surplus[w] < -_FLOW_EPSILON:
                        sink = w
                        break
        if sink < 0:
            break
        amount, w = -surplus[sink], sink
        while via[w] >= 0:
            amount = min(amount, residual[via[w], w])
            w = via[w]
        if w != last:
            amount = min(amount, surplus[w])
        source, w = w, sink
        while via[w] >= 0:
            residual[via[w], w] -= amount
            residual[w, via[w]] += amount
            w = via[w]
        surplus[sink] += amount
        surplus[source] -= amount
    return reached[:last].copy()


@kernel
def _adjacency(n: int, one: Ids, other: Ids, weight: Weights) -> tuple[Ids, Ids, Weights]:
    heads = np.zeros(n + 1, np.int32)
    for k in range(len(one)):
        heads[one[k] + 1] += 1
        heads[other[k] + 1] += 1
    for v in range(n):
        heads[v + 1] += heads[v]
    free = heads[:-1].copy()
    partner, value = np.empty(2 * len(one), np.int32), np.empty(2 * len(one))
    for k in range(len(one)):
        for a, b in ((one[k], other[k]), (other[k], one[k])):
            partner[free[a]], value[free[a]] = b, weight[k]
            free[a] += 1
    return heads, partner, value
