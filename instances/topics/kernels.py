"""Compiled kernels of topic instances: the cut nodes of every topic, and the draw of random topics by popularity."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..contract.arrays import Ids, Offsets, offsets_of
from ..contract.overlay import SubscriptionArrays
from ..contract.workload import Weights
from ..runtime.compiled import kernel, wrapping_kernel

_Flags = npt.NDArray[np.bool_]


def topic_faults(instance: SubscriptionArrays, tails: Offsets, heads: Offsets) -> list[tuple[int, list[int]]]:
    """The topics that a node's leaving disconnects, each with all such nodes; without any if it is not connected.

    `tails`, `heads`: the links as indices into ``node_topics``, as in :meth:`.Overlay.topic_links`. A depth-first
    search of each topic with lowest preorder numbers (Hopcroft, Tarjan 1973): O(Σ|T_v| + links).
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


@kernel
def _faults(topic_offsets: Offsets, by_topic: Offsets, offsets: Offsets, neighbours: Offsets) -> tuple[_Flags, _Flags]:
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


_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_TRIES = 64


def draw_subscriptions(
    weights: Weights, least: int, most: int, seed: int, first: int, last: int, *, peaked: bool = False
) -> tuple[npt.NDArray[np.int64], Ids]:
    """The topics of nodes `first` … `last` − 1.

    `weights`, shape (|T|,): integers proportional to the popularity of each topic, with a sum below 2^62. `least`,
    `most`: the number of topics of a node is uniform on least … most; if `peaked`, it is `least` plus two uniform
    numbers up to half of the range each, a triangular distribution. `seed`: node v uses the stream (seed, v),
    independent of `first` and `last`. Returns sizes, shape (last − first,), and topics, shape (Σ sizes,), sorted
    within each node.

    Cost O(Σ sizes · log |T|) if few draws repeat a topic. After 64 repetitions in a row a node draws among its missing
    topics, with the same distribution, in O(|T|) a draw.
    """
    return _draw(weights, least, most, peaked, np.uint64(seed), first, last)


@wrapping_kernel
def _draw(
    weights: Weights, least: int, most: int, peaked: bool, seed: np.uint64, first: int, last: int
) -> tuple[npt.NDArray[np.int64], Ids]:
    cumulative = np.cumsum(weights)
    sizes = np.empty(last - first, dtype=np.int64)
    topics = np.empty((last - first) * most, dtype=np.int32)
    taken_by = np.full(len(weights), -1, dtype=np.int64)
    half = (most - least) // 2 if peaked else 0
    filled = np.int64(0)
    for node in range(first, last):
        state = _mixed(seed + _GOLDEN) ^ _mixed(np.uint64(node) * _GOLDEN + np.uint64(1))
        state += _GOLDEN
        size = least + np.int64(_mixed(state) % np.uint64(most - least - half + 1))
        if peaked:
            state += _GOLDEN
            size += np.int64(_mixed(state) % np.uint64(half + 1))
        left = cumulative[-1]
        for k in range(size):
            topic = -1
            for _ in range(_TRIES):
                state += _GOLDEN
                drawn = np.searchsorted(cumulative, _mixed(state) % cumulative[-1], side="right")
                if taken_by[drawn] != node:
                    topic = int(drawn)
                    break
            if topic < 0:
                state += _GOLDEN
                topic = _among_free(weights, taken_by, node, _mixed(state) % left)
            taken_by[topic] = node
            left -= weights[topic]
            topics[filled + k] = topic
        topics[filled : filled + size].sort()
        sizes[node - first] = size
        filled += size
    return sizes, topics[:filled].copy() if filled < len(topics) else topics


@wrapping_kernel
def _mixed(state: np.uint64) -> np.uint64:
    """The output function of splitmix64."""
    state = (state ^ (state >> np.uint64(30))) * _MIX1
    state = (state ^ (state >> np.uint64(27))) * _MIX2
    return state ^ (state >> np.uint64(31))


@kernel
def _among_free(weights: Weights, taken_by: npt.NDArray[np.int64], node: int, mark: np.uint64) -> int:
    """The topic not yet taken by the node at which the cumulative weight of such topics exceeds `mark`."""
    for topic in range(len(weights)):
        if taken_by[topic] != node:
            if mark < weights[topic]:
                return topic
            mark -= weights[topic]
    return -1
