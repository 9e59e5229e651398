"""Greedy Merge with the data structures of P1, Algorithms 1-3, compiled: the reference of the benchmarks."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from overlaybench.heuristics.compiled import kernel
from overlaybench.heuristics.topics.kernels.topic_components import TopicComponents, singletons, unite
from overlaybench.instances.topics.instance import TopicInstance

Links = npt.NDArray[np.int32]


def greedy_merge_by_link_contributions(instance: TopicInstance) -> npt.NDArray[np.int64]:
    """The edges u·|V| + v in the order of their addition; of a list the edge added last is taken.

    Every pair of nodes is in the doubly linked list of its contribution and moves to a lower list whenever that falls.
    The loop of Algorithm 3, line 6 is over the topics in which the edge joins components; as printed it would also
    lower contributions within one component. Time O(|V|²|T|) (P1, Lemma 6.4), memory 10 bytes for each pair of nodes.

    Raises
    ------
    ValueError
        If there are more than 65,536 nodes: pairs are numbered by 32 bits.
    """
    if instance.num_nodes > 2**16:
        raise ValueError("at most 65536 nodes")
    lists = int(np.diff(instance.node_offsets).max()) + 1
    return _greedy_merge(singletons(instance), lists)


@kernel
def _greedy_merge(components: TopicComponents, lists: int) -> npt.NDArray[np.int64]:
    n = len(components.node_offsets) - 1
    size = n * (n - 1) // 2
    contributions = np.zeros(size, np.int16)
    heads, after, before = np.full(lists, -1, np.int32), np.empty(size, np.int32), np.empty(size, np.int32)
    for v in range(1, n):
        for u in range(v):
            pair = v * (v - 1) // 2 + u
            contributions[pair] = _common_topics(u, v, components)
            if contributions[pair] > 0:
                _put(pair, contributions[pair], heads, after, before)
    edges, num_edges, highest = np.empty(len(components.label), np.int64), 0, lists - 1
    while True:
        while highest > 0 and heads[highest] < 0:
            highest -= 1
        if highest == 0:
            return edges[:num_edges].copy()
        pair = int(heads[highest])
        v = int((1 + np.sqrt(1 + 8.0 * pair)) / 2)
        v += (v * (v + 1) // 2 <= pair) - (v * (v - 1) // 2 > pair)
        u = pair - v * (v - 1) // 2
        edges[num_edges] = u * n + v
        num_edges += 1
        _lower_and_merge(u, v, components, contributions, heads, after, before)


@kernel
def _common_topics(u: int, v: int, components: TopicComponents) -> int:
    topics, offsets = components.node_topics, components.node_offsets
    i, j, count = offsets[u], offsets[v], 0
    while i < offsets[u + 1] and j < offsets[v + 1]:
        topic, other = topics[i], topics[j]
        count += topic == other
        i += topic <= other
        j += other <= topic
    return count


@kernel
def _lower_and_merge(
    u: int,
    v: int,
    components: TopicComponents,
    contributions: npt.NDArray[np.int16],
    heads: Links,
    after: Links,
    before: Links,
) -> None:
    """Lines 5 to 14 of Algorithm 3, which lower the contribution of the edge itself to 0."""
    c = components
    for i in range(c.node_offsets[u], c.node_offsets[u + 1]):
        topics = c.node_topics[c.node_offsets[v] : c.node_offsets[v + 1]]
        at = np.searchsorted(topics, c.node_topics[i])
        if at == len(topics) or topics[at] != c.node_topics[i]:
            continue
        first, second = c.position[i], c.position[c.node_offsets[v] + at]
        if c.label[first] == c.label[second]:
            continue
        one, started = first, False
        while not started or one != first:
            other, begun = second, False
            while not begun or other != second:
                low = min(c.topic_nodes[one], c.topic_nodes[other])
                high = np.int64(max(c.topic_nodes[one], c.topic_nodes[other]))
                pair = high * (high - 1) // 2 + low
                _take(pair, contributions[pair], heads, after, before)
                contributions[pair] -= 1
                if contributions[pair] > 0:
                    _put(pair, contributions[pair], heads, after, before)
                other, begun = c.following[other], True
            one, started = c.following[one], True
        unite(first, second, c)


@kernel
def _put(pair: int, level: int, heads: Links, after: Links, before: Links) -> None:
    after[pair], before[pair] = heads[level], -1
    if heads[level] >= 0:
        before[heads[level]] = pair
    heads[level] = pair


@kernel
def _take(pair: int, level: int, heads: Links, after: Links, before: Links) -> None:
    if before[pair] < 0:
        heads[level] = after[pair]
    else:
        after[before[pair]] = after[pair]
    if after[pair] >= 0:
        before[after[pair]] = before[pair]
