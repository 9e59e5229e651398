"""What the topics of a problem must satisfy: objectives, and the separation of their inequalities.

Connected topics: :mod:`.partition_inequalities`.

Fault tolerance: a topic of three or more subscribers stays connected after any one of them leaves, so (i) a partition
of V_t − s into k blocks is crossed by at least k − 1 edges, and (ii) G_t has no bridge: every cut of V_t is crossed by
two edges. The 0/1 vectors that satisfy all of (i) are the fault-tolerant overlays; (ii) follows from (i) in integers
only.

True diameter 2: two subscribers of a topic are adjacent or have a common neighbour in the topic. For u, v in V_t and
any W ⊆ V_t − {u, v}: x(uv) + x(u–W) + x(v–the others) ≥ 1, as one of the two edges of every path u–w–v is on the
left-hand side. W = {w : x(uw) < x(wv)} minimises the left-hand side, so separation is exact and costs O(|V_t|) a pair.
The 0/1 vectors that satisfy all rows are the overlays of diameter 2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ....heuristics.topics.kernels.interest import EdgeCosts, unit_costs
from ....instances.contract.arrays import Ids, Offsets
from ....instances.contract.compiled import kernel
from .candidate_edges import CandidateEdges, Links
from .partition_inequalities import violated_partitions
from .topic_rows import DIAMETER, LEAVING, TWICE, TopicRows, joined, no_rows

Weights = npt.NDArray[np.float64]


class Separator:
    """The rows of connected topics.

    Attributes
    ----------
    splits : bool
        Whether a split of costs bounds the LP about as well as its rows, so that it is worth its time.
    """

    splits = True

    def first_rows(self, topic_offsets: Offsets) -> TopicRows:
        """Rows for the first LP, beside a partition of each topic into single subscribers."""
        return no_rows()

    def violated(self, edges: CandidateEdges, x: Weights, *, tolerance: float, exact: bool) -> TopicRows:
        """Rows that x violates. If x is 0/1, there are none exactly if x is an overlay of the problem."""
        offsets, links = edges.instance.topic_offsets, edges.links
        rows = joined(
            violated_partitions(offsets, links, x, tolerance=tolerance, exact=False),
            self._others(edges, x, tolerance),
        )
        if exact and not len(rows.topic):
            rows = violated_partitions(offsets, links, x, tolerance=tolerance, exact=True)
        return rows

    def _others(self, edges: CandidateEdges, x: Weights, tolerance: float) -> TopicRows:
        return no_rows()


class DiameterSeparator(Separator):
    """The rows of topics of diameter at most 2."""

    def _others(self, edges: CandidateEdges, x: Weights, tolerance: float) -> TopicRows:
        return violated_diameters(edges.instance.topic_offsets, edges.links, x, tolerance=tolerance)


class FaultSeparator(Separator):
    """The rows of topics that stay connected after any one subscriber has left: cuts of two edges, then its topics."""

    splits = False

    def __init__(self) -> None:
        self._leaving: LeavingTopics | None = None

    def first_rows(self, topic_offsets: Offsets) -> TopicRows:
        """See :func:`degree_rows`."""
        return degree_rows(topic_offsets)

    def violated(self, edges: CandidateEdges, x: Weights, *, tolerance: float, exact: bool) -> TopicRows:
        """Rows of the topics without one subscriber, and cuts that need two edges."""
        offsets, links = edges.instance.topic_offsets, edges.links
        if self._leaving is None or self._leaving.num_edges != len(edges):
            self._leaving = leaving_topics(offsets, links, len(edges))
        rows = joined(
            violated_partitions(offsets, links, x, tolerance=tolerance, exact=False),
            violated_two_cuts(offsets, links, x, tolerance=tolerance),
        )
        if not len(rows.topic):
            rows = self._leaving.violated(x, tolerance=tolerance, exact=False)
        if exact and not len(rows.topic):
            rows = self._leaving.violated(x, tolerance=tolerance, exact=True)
        return rows


@dataclass(frozen=True)
class Goal:
    """An objective over the overlays, and limits on them.

    Attributes
    ----------
    edge_cost, degree_cost : int
        The objective edge_cost·Σ costs + degree_cost·D over the edges, where D is at least every degree.
    costs : EdgeCosts, optional
        Of the edges, 1 each by default.
    least_degree, cap : int
        The range of D.
    separator : type of Separator
        The rows that topics must satisfy: every topic is connected, by default.
    """

    edge_cost: int = 1
    degree_cost: int = 0
    least_degree: int = 0
    cap: int = 2**31
    costs: EdgeCosts | None = None
    separator: type[Separator] = Separator

    @property
    def searchable(self) -> bool:
        """Whether every topic-connected overlay is valid, up to the cap: then local search applies."""
        return self.separator is Separator

    def costs_on(self, num_nodes: int) -> EdgeCosts:
        """The costs of the edges on so many nodes."""
        return unit_costs(num_nodes) if self.costs is None else self.costs

    def degree_range(self, num_nodes: int) -> tuple[int, int]:
        """The range of D on so many nodes."""
        return self.least_degree, min(self.cap, num_nodes)


@dataclass(frozen=True)
class LeavingTopics:
    """The sets V_t − s for all topics of three or more subscribers as topics of their own, with their links.

    Attributes
    ----------
    leaver : int32 array
        Of each set, the index of s in V_t.
    topic : int32 array
        Of each set, t.
    offsets, links
        As those of an instance with these topics.
    num_edges : int
        The number of candidate edges that `links` knows.
    """

    leaver: Ids
    topic: Ids
    offsets: Offsets
    links: Links
    num_edges: int

    def violated(self, weights: Weights, *, tolerance: float, exact: bool) -> TopicRows:
        """Rows of kind `LEAVING`, at most one for each set; see :func:`.violated_partitions`."""
        rows = violated_partitions(self.offsets, self.links, weights, tolerance=tolerance, exact=exact)
        first = rows.offsets[:-1]
        label = np.insert(rows.label, first + self.leaver[rows.topic], np.int32(-1))
        offsets = rows.offsets + np.arange(len(rows.offsets))
        return TopicRows(self.topic[rows.topic], np.full_like(rows.kind, LEAVING), rows.rhs, offsets, label)


def leaving_topics(topic_offsets: Offsets, links: Links, num_edges: int) -> LeavingTopics:
    """The sets V_t − s. Time and memory O(Σ_t |V_t| · links of t)."""
    sizes = np.diff(topic_offsets)
    parts = np.where(sizes > 2, sizes, 0)
    topic = np.repeat(np.arange(len(sizes), dtype=np.int32), parts)
    leaver = (np.arange(len(topic)) - np.repeat(np.cumsum(parts) - parts, parts)).astype(np.int32)
    offsets = np.concatenate([[0], np.cumsum(sizes[topic] - 1)]).astype(np.int64)
    return LeavingTopics(leaver, topic, offsets, Links(*_links_without(topic, leaver, links)), num_edges)


def degree_rows(topic_offsets: Offsets) -> TopicRows:
    """Every subscriber of a topic of three or more has two neighbours in it: rows of kind `TWICE`."""
    sizes = np.diff(topic_offsets)
    parts = np.where(sizes > 2, sizes, 0)
    topic = np.repeat(np.arange(len(sizes), dtype=np.int32), parts)
    offsets = np.concatenate([[0], np.cumsum(sizes[topic])]).astype(np.int64)
    label = np.zeros(offsets[-1], np.int32)
    label[offsets[:-1] + np.arange(len(topic)) - np.repeat(np.cumsum(parts) - parts, parts)] = 1
    return TopicRows(topic, np.full_like(topic, TWICE), np.full_like(topic, 2), offsets, label)


def violated_two_cuts(topic_offsets: Offsets, links: Links, weights: Weights, *, tolerance: float) -> TopicRows:
    """A minimum cut of each topic of three or more subscribers, if less than 2 − `tolerance` crosses it.

    Stoer and Wagner 1997: time O(Σ_t |V_t|³), memory O(max |V_t|²).
    """
    label = np.empty(topic_offsets[-1], np.int32)
    below = _minimum_cuts(topic_offsets, label, links, weights) < 2 - tolerance
    topics = np.arange(len(topic_offsets) - 1, dtype=np.int32)
    rows = TopicRows(topics, np.full_like(topics, TWICE), np.full_like(topics, 2), topic_offsets, label)
    return rows.chosen(below & (np.diff(topic_offsets) > 2))


@kernel
def _links_without(topic: Ids, leaver: Ids, links: Links) -> tuple[Offsets, Ids, Ids, Ids]:
    offsets = np.zeros(len(topic) + 1, np.int64)
    for d in range(len(topic)):
        s, count = leaver[d], 0
        for k in range(links.offsets[topic[d]], links.offsets[topic[d] + 1]):
            count += links.a[k] != s and links.b[k] != s
        offsets[d + 1] = offsets[d] + count
    edge, a, b = (np.empty(offsets[-1], np.int32), np.empty(offsets[-1], np.int32), np.empty(offsets[-1], np.int32))
    size = 0
    for d in range(len(topic)):
        s = leaver[d]
        for k in range(links.offsets[topic[d]], links.offsets[topic[d] + 1]):
            if links.a[k] != s and links.b[k] != s:
                edge[size] = links.edge[k]
                a[size], b[size] = links.a[k] - (links.a[k] > s), links.b[k] - (links.b[k] > s)
                size += 1
    return offsets, edge, a, b


@kernel
def _minimum_cuts(topic_offsets: Offsets, label: Ids, links: Links, weights: Weights) -> Weights:
    """Write 1 for one side of a minimum cut of each topic and 0 for the other; returns what crosses it."""
    least = np.full(len(topic_offsets) - 1, np.inf)
    for t in range(len(least)):
        n = topic_offsets[t + 1] - topic_offsets[t]
        side = label[topic_offsets[t] : topic_offsets[t + 1]]
        between = np.zeros((n, n))
        for k in range(links.offsets[t], links.offsets[t + 1]):
            between[links.a[k], links.b[k]] = between[links.b[k], links.a[k]] = weights[links.edge[k]]
        group, gone = np.arange(n), np.zeros(n, np.bool_)
        for left in range(n, 1, -1):
            reach, done = np.zeros(n), gone.copy()
            last = before = -1
            for _ in range(left):
                nearest = -1
                for v in range(n):
                    if not done[v] and (nearest < 0 or reach[v] > reach[nearest]):
                        nearest = v
                before, last = last, nearest
                done[last] = True
                for v in range(n):
                    reach[v] += between[last, v]
            cut = between[last].sum()
            if cut < least[t]:
                least[t] = cut
                for v in range(n):
                    side[v] = group[v] == last
            for v in range(n):
                between[before, v] += between[last, v]
                between[v, before] = between[before, v]
                if group[v] == last:
                    group[v] = before
            between[before, before] = 0.0
            between[last, :] = 0.0
            between[:, last] = 0.0
            gone[last] = True
    return least


_PER_TOPIC = 6


def violated_diameters(topic_offsets: Offsets, links: Links, weights: Weights, *, tolerance: float) -> TopicRows:
    """The most violated rows of each topic, at most one for each subscriber u and six for each topic.

    Parameters
    ----------
    topic_offsets : int64 array, shape (|T| + 1,)
    weights : float64 array, one a candidate edge

    Returns
    -------
    TopicRows
        Of kind `DIAMETER`; empty if and only if no row is violated by more than `tolerance`.

    Notes
    -----
    P2 (Onus and Richa 2015), §6, states the problem. Time O(Σ_t |V_t|³), memory O(max |V_t|²).
    """
    topic, label = _separate(topic_offsets, links, weights, tolerance)
    sizes = topic_offsets[topic + 1] - topic_offsets[topic]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return TopicRows(topic, np.full_like(topic, DIAMETER), np.ones_like(topic), offsets, label)


@kernel
def _separate(topic_offsets: Offsets, links: Links, weights: Weights, tolerance: float) -> tuple[Ids, Ids]:
    num_topics = len(topic_offsets) - 1
    topics = np.empty(num_topics * _PER_TOPIC, np.int32)
    labels = np.empty(topic_offsets[-1] * _PER_TOPIC, np.int32)
    rows = used = 0
    for t in range(num_topics):
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
                    if total >= sums[u]:
                        break
                if total < sums[u]:
                    sums[u], partner[u] = total, v
        taken = 0
        for u in np.argsort(sums, kind="mergesort"):
            v = partner[u]
            if sums[u] >= 1 - tolerance or taken == _PER_TOPIC:
                break
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
