"""The kernel that judges fault tolerance: the cut nodes of every topic.

It is compiled when this module is imported, so import it where it is used.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from ...contract.arrays import Offsets, offsets_of
from ...contract.overlay import Subscriptions

Flags = npt.NDArray[np.bool_]


def topic_faults(instance: Subscriptions, tails: Offsets, heads: Offsets) -> list[tuple[int, list[int]]]:
    """The topics that a node's leaving disconnects, each with all such nodes; without any if it is not connected.

    Parameters
    ----------
    tails, heads : int64 arrays
        The links as indices into ``node_topics``, as in :meth:`.Overlay.topic_links`.

    Notes
    -----
    A depth-first search of each topic with lowest preorder numbers (Hopcroft, Tarjan 1973): O(Σ|T_v| + links).
    """
    size = len(instance.node_topics)
    ends = np.concatenate([tails, heads])
    order = np.argsort(ends, kind="stable")
    offsets = offsets_of(ends, size)
    neighbours = np.concatenate([heads, tails])[order]
    by_topic = np.argsort(instance.node_topics, kind="stable")
    topic_offsets = offsets_of(instance.node_topics, instance.num_topics)
    connected, is_cut = _faults(topic_offsets, by_topic, offsets, neighbours)
    nodes = np.repeat(np.arange(instance.num_nodes), np.diff(instance.node_offsets))
    faults: dict[int, list[int]] = {int(t): [] for t in np.flatnonzero(~connected)}
    for index in np.flatnonzero(is_cut & connected[instance.node_topics]).tolist():
        faults.setdefault(int(instance.node_topics[index]), []).append(int(nodes[index]))
    return sorted(faults.items())


@njit(cache=True)
def _faults(topic_offsets: Offsets, by_topic: Offsets, offsets: Offsets, neighbours: Offsets) -> tuple[Flags, Flags]:
    """Whether each topic is connected, and whether each subscription's node is a cut node of it."""
    size, num_topics = len(offsets) - 1, len(topic_offsets) - 1
    connected, is_cut = np.ones(num_topics, np.bool_), np.zeros(size, np.bool_)
    number, low = np.zeros(size, np.int64), np.zeros(size, np.int64)  # preorder numbers from 1 on
    parent, following = np.full(size, -1, np.int64), offsets[:-1].copy()
    stack = np.empty(size, np.int64)
    for t in range(num_topics):
        root = by_topic[topic_offsets[t]]
        stack[0], number[root], low[root] = root, 1, 1
        depth, visited, children = 1, 1, 0
        while depth > 0:
            v = stack[depth - 1]
            if following[v] < offsets[v + 1]:
                w = neighbours[following[v]]
                following[v] += 1
                if number[w] == 0:
                    visited += 1
                    number[w], low[w], parent[w] = visited, visited, v
                    stack[depth] = w
                    depth += 1
                elif w != parent[v]:
                    low[v] = min(low[v], number[w])
                continue
            depth -= 1
            if v == root:
                break
            p = parent[v]
            low[p] = min(low[p], low[v])
            if p == root:
                children += 1
                is_cut[root] = children > 1
            elif low[v] >= number[p]:
                is_cut[p] = True
        if visited < topic_offsets[t + 1] - topic_offsets[t]:
            connected[t] = False
    return connected, is_cut
