"""The contributions of the pairs of nodes to a partial overlay, counted node by node when they are needed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....instances.contract.arrays import Ids, Offsets
from ...compiled import kernel
from .topic_components import TopicComponents

Degrees = npt.NDArray[np.int32]
Edges = npt.NDArray[np.int64]

_LAST_EPOCH = 2**30


class Contributions(NamedTuple):
    """The contribution of every pair u < v of nodes. The row of u is its pairs with later nodes."""

    components: TopicComponents
    used: Edges  # sorted pairs u·|V| + v that are no candidates
    counts: Ids  # ``counts[v] - epoch[0]``, if positive, is the contribution of v in the row being counted
    epoch: npt.NDArray[np.int64]
    row: Ids  # the nodes listed from a row
    counted: npt.NDArray[np.int64]  # shape (1,): the subscriptions compared so far to count rows


class Subscribers(NamedTuple):
    """Some of the subscribers of each topic."""

    offsets: Offsets
    positions: Ids  # in ``topic_nodes``, sorted
    nodes: Ids


class Eligible(NamedTuple):
    """The nodes of a degree below a limit, among which edges may be added."""

    nodes: Ids  # sorted
    subscribers: Subscribers  # the eligible ones
    largest: Ids  # of each topic a position in its largest component
    outside: Subscribers  # the eligible ones that are not in that component
    degrees: Degrees  # of all nodes; some may have reached the limit since
    below: int  # the limit


def contributions_to(components: TopicComponents, used: Edges) -> Contributions:
    """The contributions to an overlay with these components. Cost O(|V|)."""
    n = len(components.node_offsets) - 1
    return Contributions(
        components, used, np.zeros(n, np.int32), np.zeros(1, np.int64), np.empty(n, np.int32), np.zeros(1, np.int64)
    )


@kernel
def eligible_nodes(degrees: Degrees, below: int, components: TopicComponents) -> Eligible:
    """The nodes of a degree below the given one. Cost O(Σ|T_v|)."""
    c = components
    num_topics = len(c.topic_offsets) - 1
    largest, outside = np.zeros(num_topics, np.int32), np.zeros(len(c.topic_nodes), np.bool_)
    for topic in range(num_topics):
        first, last = c.topic_offsets[topic], c.topic_offsets[topic + 1]
        best = first
        for p in range(first, last):
            if c.size[c.label[p]] > c.size[c.label[best]]:
                best = p
        largest[topic] = best
        for p in range(first, last):
            outside[p] = c.label[p] != c.label[best]
    free, everywhere = degrees < below, np.ones(len(outside), np.bool_)
    nodes = np.flatnonzero(free).astype(np.int32)
    return Eligible(nodes, _selected(everywhere, free, c), largest, _selected(outside, free, c), degrees, below)


@kernel
def _selected(wanted: npt.NDArray[np.bool_], free: npt.NDArray[np.bool_], components: TopicComponents) -> Subscribers:
    """The free nodes at the wanted positions."""
    offsets = np.zeros(len(components.topic_offsets), np.int64)
    positions, nodes, num = np.empty(len(wanted), np.int32), np.empty(len(wanted), np.int32), 0
    for topic in range(len(offsets) - 1):
        for p in range(components.topic_offsets[topic], components.topic_offsets[topic + 1]):
            if wanted[p] and free[components.topic_nodes[p]]:
                positions[num], nodes[num] = p, components.topic_nodes[p]
                num += 1
        offsets[topic + 1] = num
    return Subscribers(offsets, positions[:num].copy(), nodes[:num].copy())


@kernel
def partners(u: int, level: int, eligible: Eligible, contributions: Contributions) -> tuple[Ids, int]:
    """The later eligible nodes, sorted, with which an eligible node contributes `level`.

    No pair of eligible nodes may contribute more. Also returns an upper bound on the contributions of the row: `level`
    if it has a partner, else less. Cost O(Σ_{t∈T_u} |V_t|), or less where u is in the largest component.
    """
    n, num = len(contributions.counts), 0
    row, most = _count(u, level, eligible, contributions)
    for v in row:
        if eligible.degrees[v] < eligible.below:
            row[num] = v
            num += 1
    row = row[:num]
    row.sort()
    if len(contributions.used):
        num = 0
        for v in row:
            pair = np.int64(u) * n + v
            at = np.searchsorted(contributions.used, pair)
            if at == len(contributions.used) or contributions.used[at] != pair:
                row[num] = v
                num += 1
        row = row[:num]
    return row, most if len(row) else min(most, level - 1)


@kernel
def contributing(u: int, eligible: Eligible, contributions: Contributions) -> tuple[Ids, int]:
    """The later nodes with which u contributes at all, in any order, and a number.

    The contribution of such a node v is ``counts[v]`` minus the number, until the next row is counted. Cost as for
    :func:`partners`.
    """
    row, _ = _count(u, 1, eligible, contributions)
    return row, contributions.epoch[0] - (
        contributions.components.node_offsets[u + 1] - contributions.components.node_offsets[u]
    )


@kernel
def _count(u: int, level: int, eligible: Eligible, contributions: Contributions) -> tuple[Ids, int]:
    """The nodes that contribute `level`, in any order, and the maximum contribution.

    Where u is in the largest component of a topic, only the subscribers outside of it are counted. The inner loop is
    the innermost one of every greedy method: with signed indices or wider numbers it takes four times as long.
    """
    c, counts, row = contributions.components, contributions.counts, contributions.row
    if contributions.epoch[0] > _LAST_EPOCH:
        counts[:] = 0
        contributions.epoch[0] = 0
    # Earlier rows have left counts of at most `zero`.
    zero = np.int32(contributions.epoch[0])
    target = np.int32(zero + level)
    contributions.epoch[0] += c.node_offsets[u + 1] - c.node_offsets[u]
    num, most = 0, zero
    for i in range(c.node_offsets[u], c.node_offsets[u + 1]):
        topic, p = c.node_topics[i], c.position[i]
        own = c.label[p]
        there = eligible.outside if own == c.label[eligible.largest[topic]] else eligible.subscribers
        first, last = there.offsets[topic], there.offsets[topic + 1]
        first += np.searchsorted(there.positions[first:last], p, side="right")
        positions, nodes = there.positions[first:last], there.nodes[first:last]
        contributions.counted[0] += len(positions)
        for k in range(len(positions)):
            v = np.uint32(nodes[k])
            apart = np.int32(c.label[np.uint32(positions[k])] != own)
            count = max(counts[v], zero) + apart
            counts[v] = count
            most = max(most, count)
            if apart & (count == target):
                row[num] = nodes[k]
                num += 1
    return row[:num], int(most - zero)
