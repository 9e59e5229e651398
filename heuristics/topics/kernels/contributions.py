"""What the pairs of nodes contribute to an overlay in the making, counted row by row when it is asked for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....instances.arrays import Ids, Offsets
from ...compiled import kernel
from .topic_components import TopicComponents

Edges = npt.NDArray[np.int64]

_CLOCK_LIMIT = 2**30


class Contributions(NamedTuple):
    """The contribution of every pair u < v of nodes. The row of u is its pairs with later nodes.

    Attributes
    ----------
    components : TopicComponents
        Everything else follows from these.
    used : int64 array, sorted
        Pairs u·|V| + v that are no candidates.
    counts, clock
        Scratch: ``counts[v]`` less the clock, if that is positive, is the contribution of v in the row being counted.
    found
        Scratch: the nodes found in a row.
    """

    components: TopicComponents
    used: Edges
    counts: Ids
    clock: npt.NDArray[np.int64]
    found: Ids


class Subscribers(NamedTuple):
    """Some of the subscribers of each topic: places in ``topic_nodes``, sorted, and the nodes there.

    Attributes
    ----------
    offsets : int64 array, shape (|T| + 1,)
    places, nodes : int32 array
    """

    offsets: Offsets
    places: Ids
    nodes: Ids


class Open(NamedTuple):
    """The nodes among which edges are looked for.

    Attributes
    ----------
    nodes : int32 array, sorted
    subscribers : Subscribers
        The open ones.
    largest : int32 array, shape (|T|,)
        Of each topic, a place in its largest component.
    outside : Subscribers
        The open ones that are not in that component.
    """

    nodes: Ids
    subscribers: Subscribers
    largest: Ids
    outside: Subscribers


def contributions_to(components: TopicComponents, used: Edges) -> Contributions:
    """The contributions to an overlay with these components. Cost O(|V|)."""
    n = len(components.node_offsets) - 1
    scratch = np.zeros(n, np.int32), np.zeros(1, np.int64), np.empty(n, np.int32)
    return Contributions(components, used, *scratch)


@kernel
def open_nodes(degrees: Ids, below: int, contributions: Contributions) -> Open:
    """The nodes of a degree below the given one. Cost O(Σ|T_v|)."""
    c = contributions.components
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
    free, everybody = degrees < below, np.ones(len(outside), np.bool_)
    nodes = np.flatnonzero(free).astype(np.int32)
    return Open(nodes, _chosen(everybody, free, c), largest, _chosen(outside, free, c))


@kernel
def _chosen(wanted: npt.NDArray[np.bool_], free: npt.NDArray[np.bool_], components: TopicComponents) -> Subscribers:
    """The free nodes at the places that are wanted."""
    offsets = np.zeros(len(components.topic_offsets), np.int64)
    places, nodes, num = np.empty(len(wanted), np.int32), np.empty(len(wanted), np.int32), 0
    for topic in range(len(offsets) - 1):
        for p in range(components.topic_offsets[topic], components.topic_offsets[topic + 1]):
            if wanted[p] and free[components.topic_nodes[p]]:
                places[num], nodes[num] = p, components.topic_nodes[p]
                num += 1
        offsets[topic + 1] = num
    return Subscribers(offsets, places[:num].copy(), nodes[:num].copy())


@kernel
def partners(
    u: int, level: int, open_: Open, degrees: Ids, below: int, contributions: Contributions
) -> tuple[Ids, int]:
    """The later nodes, sorted and of a degree below the given one, with which an open node contributes `level`.

    No pair of open nodes may contribute more. Also returns a bound on what the node contributes with the open later
    ones: `level` if any is found, else less. Cost O(Σ_{t∈T_u} |V_t|), or less where u is in the largest component.
    """
    n, num = len(contributions.counts), 0
    found, most = _count(u, level, open_, contributions)
    for v in found:
        if degrees[v] < below:
            found[num] = v
            num += 1
    found = found[:num]
    found.sort()
    if len(contributions.used):
        num = 0
        for v in found:
            pair = np.int64(u) * n + v
            at = np.searchsorted(contributions.used, pair)
            if at == len(contributions.used) or contributions.used[at] != pair:
                found[num] = v
                num += 1
        found = found[:num]
    return found, most if len(found) else min(most, level - 1)


@kernel
def _count(u: int, level: int, open_: Open, contributions: Contributions) -> tuple[Ids, int]:
    """In any order, whatever the nodes' degrees are now; a topic whose largest component has u is walked outside it."""
    c, counts, found = contributions.components, contributions.counts, contributions.found
    if contributions.clock[0] > _CLOCK_LIMIT:
        counts[:] = 0
        contributions.clock[0] = 0
    # Whatever earlier rows left in `counts` is at most `zero`.
    zero = np.int32(contributions.clock[0])
    contributions.clock[0] += c.node_offsets[u + 1] - c.node_offsets[u]
    num, most = 0, zero
    for i in range(c.node_offsets[u], c.node_offsets[u + 1]):
        topic, p = c.node_topics[i], c.place[i]
        there = open_.outside if c.label[p] == c.label[open_.largest[topic]] else open_.subscribers
        first, last = there.offsets[topic], there.offsets[topic + 1]
        first += np.searchsorted(there.places[first:last], p, side="right")
        num, most = _meet(
            there.places[first:last],
            there.nodes[first:last],
            c.label,
            c.label[p],
            counts,
            zero,
            level,
            found,
            num,
            most,
        )
    return found[:num], int(most - zero)


@kernel
def _meet(
    places: Ids,
    nodes: Ids,
    label: Ids,
    mine: int,
    counts: Ids,
    zero: np.int32,
    level: int,
    found: Ids,
    num: int,
    most: np.int32,
) -> tuple[int, np.int32]:
    """Count one topic more for each node with another label there; returns how many are found, and the highest count.

    This is the innermost loop of every greedy method. Indices are unsigned and numbers of 32 bits: with others it takes
    four times as long.
    """
    target = np.int32(zero + level)
    for k in range(len(places)):
        v = np.uint32(nodes[k])
        apart = np.int32(label[np.uint32(places[k])] != mine)
        count = max(counts[v], zero) + apart
        counts[v] = count
        most = max(most, count)
        if apart & (count == target):
            found[num] = nodes[k]
            num += 1
    return num, most
