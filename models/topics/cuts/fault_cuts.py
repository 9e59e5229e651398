"""Inequalities of fault tolerance: topics without one of their subscribers, and cuts that two edges must cross.

A topic of three or more subscribers stays connected after any one of them leaves, so (i) a partition of V_t − s into k
blocks is crossed by at least k − 1 edges, and (ii) G_t has no bridge: every cut of V_t is crossed by two edges. The
0/1 vectors that satisfy all of (i) are the fault-tolerant overlays; (ii) follows from (i) in integers only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ....heuristics.compiled import kernel
from ....instances.contract.arrays import Ids, Offsets
from ..rows.candidate_edges import Links
from ..rows.topic_rows import LEAVING, TWICE, TopicRows
from .partition_inequalities import violated_partitions

Weights = npt.NDArray[np.float64]


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
