"""Cost splitting where a few topics have too many pairs of subscribers to list: they get what the others leave."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ....heuristics.compiled import kernel
from ....heuristics.topics.kernels.interest import Interest, interest_of
from ....instances.arrays import Ids, Offsets
from ....instances.topics.instance import TopicInstance
from ...engine.integer_bound import UNIT
from ..rows.presolve import root
from .cost_splitting import Splitting


def small_topics(instance: TopicInstance, links: int) -> npt.NDArray[np.bool_]:
    """Whether each topic is one of the smallest that have at most so many pairs of subscribers together."""
    sizes = np.diff(instance.topic_offsets).astype(np.int64)
    order = np.argsort(sizes, kind="stable")
    small = np.zeros(instance.num_topics, np.bool_)
    small[order[np.cumsum((sizes * (sizes - 1) // 2)[order]) <= links]] = True
    return small


def with_topics(instance: TopicInstance, chosen: npt.NDArray[np.bool_]) -> TopicInstance:
    """The instance with the chosen topics, in order, on the same nodes; those without any get one of their own."""
    stays = chosen[instance.node_topics]
    nodes = np.repeat(np.arange(instance.num_nodes), np.diff(instance.node_offsets))[stays]
    number = np.cumsum(chosen) - 1
    alone = np.setdiff1d(np.arange(instance.num_nodes), nodes)
    topics = np.concatenate([number[instance.node_topics[stays]], chosen.sum() + np.arange(len(alone))])
    num_topics = int(chosen.sum()) + len(alone)
    keys = np.sort(np.concatenate([nodes, alone]) * num_topics + topics)
    return TopicInstance.from_keys(keys, instance.num_nodes, num_topics)


def units_of_large_topics(instance: TopicInstance, small: npt.NDArray[np.bool_], splitting: Splitting) -> int:
    """What the other topics add to the bound of a split among the small ones, in units of 1/2^32.

    Parameters
    ----------
    small : bool array, shape (|T|,)
    splitting : Splitting
        Of the instance :func:`with_topics` of the small ones; each edge costs 1.

    Notes
    -----
    The rest of an edge's cost, all of it for pairs without a small topic in common, is given to the smallest of the
    large topics that both ends have. So a pair that also has a smaller one costs a topic nothing, and its minimum
    spanning tree follows without a list of its pairs: merge its subscribers of each smaller one; take the listed pairs
    by rising rest (Kruskal); what is still apart is joined at the full cost. Time O(L (edges + Σ|T_v|)) for L large
    topics.
    """
    edges = splitting.edges
    rest = np.full(len(edges), UNIT, np.int64)
    np.subtract.at(rest, edges.links.edge, splitting.shares)
    order = np.argsort(rest, kind="stable")
    sizes = np.diff(instance.topic_offsets)
    large = np.flatnonzero(~small)
    large = large[np.argsort(sizes[large], kind="stable")]
    rank = np.full(instance.num_topics, instance.num_topics, np.int64)
    rank[large] = np.arange(len(large))
    return int(_units(interest_of(instance), large, rank, edges.u[order], edges.v[order], rest[order]))


@kernel
def _units(interest: Interest, large: Offsets, rank: Offsets, us: Ids, vs: Ids, rest: Offsets) -> np.int64:
    n = len(interest.node_offsets) - 1
    total = np.int64(0)
    parent = np.empty(n, np.int64)
    inside = np.full(n, -1, np.int64)
    first = np.full(len(rank), -1, np.int64)
    for t in large:
        begin, end = interest.topic_offsets[t], interest.topic_offsets[t + 1]
        for j in range(begin, end):
            v = interest.topic_nodes[j]
            parent[v], inside[v] = v, t
        parts = end - begin
        for j in range(begin, end):
            v = interest.topic_nodes[j]
            for i in range(interest.node_offsets[v], interest.node_offsets[v + 1]):
                s = interest.node_topics[i]
                if rank[s] < rank[t]:
                    if first[s] < 0:
                        first[s] = v
                    a, b = root(parent, first[s]), root(parent, np.int64(v))
                    if a != b:
                        parent[a] = b
                        parts -= 1
        for e in range(len(us)):
            if parts == 1:
                break
            if inside[us[e]] == t and inside[vs[e]] == t:
                a, b = root(parent, np.int64(us[e])), root(parent, np.int64(vs[e]))
                if a != b:
                    parent[a] = b
                    parts -= 1
                    total += rest[e]
        total += np.int64(parts - 1) * np.int64(UNIT)
        first[:] = -1
    return total
