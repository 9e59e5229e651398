"""The candidate edges of a model, which are the columns of every relaxation, and their topics."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....heuristics.topics.kernels.interest import Interest, interest_of, positions_of
from ....instances.contract.arrays import Ids, Offsets, offsets_of
from ....instances.contract.compiled import kernel
from ....instances.contract.overlay import Overlay
from ....instances.topics.instance import TopicInstance

Edges = npt.NDArray[np.int64]


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
        self.position = positions(instance)
        self.keys = np.empty(0, np.int64)
        self.add(keys)

    def __len__(self) -> int:
        return len(self.keys)

    def add(self, keys: Edges) -> None:
        """Append edges, numbered in order. Cost O(links)."""
        n = self.instance.num_nodes
        self.keys = np.concatenate([self.keys, keys])
        self.u, self.v = (self.keys // n).astype(np.int32), (self.keys % n).astype(np.int32)
        self.common, edge, topic, a, b = _list_links(self.u, self.v, self.interest, self.position)
        order = np.argsort(topic, kind="stable")
        offsets = offsets_of(topic, self.instance.num_topics)
        self.links = TopicEdges(offsets, edge[order], a[order], b[order])

    @property
    def links_by_edge(self) -> tuple[Offsets, Offsets]:
        """CSR over the edges: offsets, and the numbers of each edge's links. Cost O(links log links)."""
        offsets = np.concatenate([[0], np.cumsum(self.common)]).astype(np.int64)
        return offsets, np.argsort(self.links.edge, kind="stable").astype(np.int64)


def positions(instance: TopicInstance) -> Ids:
    """For each subscription (v, t), in the order of ``node_topics``, the index of v in V_t. Cost O(Σ|T_v|)."""
    return (positions_of(interest_of(instance)) - instance.topic_offsets[instance.node_topics]).astype(np.int32)


def all_pairs(instance: TopicInstance) -> Edges:
    """Every pair u < v with a topic in common, as u·|V| + v, rising. Cost O(Σ_t |V_t|²) time, 8 bytes a pair."""
    return _list_pairs(interest_of(instance))


def keys_of(overlay: Overlay) -> Edges:
    """The edges as numbers u·|V| + v, sorted."""
    return overlay.edges[:, 0].astype(np.int64) * overlay.num_nodes + overlay.edges[:, 1]


def indices_of(keys: Edges, edges: Edges) -> Offsets:
    """The indices in `edges`, which rise, of those `keys` that are among them."""
    index = np.searchsorted(edges, keys)
    inside = index < len(edges)
    index = index[inside]
    return np.compress(edges[index] == keys[inside], index)


def count_links(instance: TopicInstance) -> int:
    """Σ_t |V_t|·(|V_t| − 1) ÷ 2, the number of links of all pairs."""
    sizes = np.diff(instance.topic_offsets).astype(np.int64)
    return int((sizes * (sizes - 1) // 2).sum())


@kernel
def _list_pairs(interest: Interest) -> Edges:
    n = len(interest.node_offsets) - 1
    pairs = np.empty(1024, np.int64)
    size = 0
    seen = np.full(n, -1, np.int64)
    later = np.empty(n, np.int64)
    for u in range(n):
        count = 0
        for i in range(interest.node_offsets[u], interest.node_offsets[u + 1]):
            t = interest.node_topics[i]
            for j in range(interest.topic_offsets[t], interest.topic_offsets[t + 1]):
                v = interest.topic_nodes[j]
                if v > u and seen[v] != u:
                    seen[v] = u
                    later[count] = v
                    count += 1
        while size + count > len(pairs):
            pairs = np.concatenate((pairs, np.empty_like(pairs)))
        for k, v in enumerate(np.sort(later[:count])):
            pairs[size + k] = np.int64(u) * n + v
        size += count
    return pairs[:size].copy()


@kernel
def _list_links(us: Ids, vs: Ids, interest: Interest, position: Ids) -> tuple[Ids, Ids, Ids, Ids, Ids]:
    """|T_u ∩ T_v| of each edge; then edge, topic and both ends of each link, edge by edge."""
    offsets, topics = interest.node_offsets, interest.node_topics
    common, edge = np.zeros(len(us), np.int32), np.empty(0, np.int32)
    topic, a, b = edge, edge, edge
    for listing in (False, True):
        k = 0
        for e in range(len(us)):
            i, end_i = offsets[us[e]], offsets[us[e] + 1]
            j, end_j = offsets[vs[e]], offsets[vs[e] + 1]
            while i < end_i and j < end_j:
                if topics[i] == topics[j]:
                    if listing:
                        edge[k], topic[k], a[k], b[k] = e, topics[i], position[i], position[j]
                    else:
                        common[e] += 1
                    k += 1
                step = topics[i] <= topics[j]
                j += topics[j] <= topics[i]
                i += step
        if not listing:
            edge, topic = np.empty(k, np.int32), np.empty(k, np.int32)
            a, b = np.empty(k, np.int32), np.empty(k, np.int32)
    return common, edge, topic, a, b
