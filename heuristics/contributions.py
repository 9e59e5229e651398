"""What the pairs of nodes contribute to an overlay in the making: counted row by row, or kept in a matrix."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from heuristics.compiled import kernel
from heuristics.topic_components import TopicComponents, contribution
from instances.topic_instance import Ids, Offsets

Edges = npt.NDArray[np.int64]
Matrix = npt.NDArray[np.int16]

# A matrix of 1 GiB, of which the half above the diagonal is ever touched.
MOST_KEPT_NODES = 23_170
_MOST_KEPT_TOPICS = 2**15 - 1
# Counting a row costs a step for each subscriber of its topics, reading it from the matrix one for each node.
_KEPT_FROM = 2.0
_CLOCK_LIMIT = 2**30


class Contributions(NamedTuple):
    """The contribution of every pair u < v of nodes. The row of u is its pairs with later nodes.

    Attributes
    ----------
    components : TopicComponents
        Everything else follows from these.
    kept : int16 array, shape (|V|, |V|) or (0, 0)
        The contributions themselves above the diagonal (the LINKCONTRIB of P1, Algorithm 1), or nothing: then a row
        is counted whenever it is asked for.
    used : int64 array, sorted
        Pairs u·|V| + v that are no candidates.
    counts, clock
        Scratch: ``counts[v]`` less the clock, if that is positive, is the contribution of v in the row being counted.
    found, members
        Scratch: the nodes found in a row, and those of a component.
    """

    components: TopicComponents
    kept: Matrix
    used: Edges
    counts: Ids
    clock: npt.NDArray[np.int64]
    found: Ids
    members: Ids


class Open(NamedTuple):
    """The nodes among which edges are looked for.

    Attributes
    ----------
    nodes : int32 array, sorted
    offsets, places : int64 and int32 array
        Of each topic, the places in ``topic_nodes`` of its open subscribers, sorted; empty if contributions are kept.
    largest : int32 array, shape (|T|,)
        Of each topic, a place in its largest component.
    rest_offsets, rest : int64 and int32 array
        Of each topic, the open subscribers outside of its largest component.
    """

    nodes: Ids
    offsets: Offsets
    places: Ids
    largest: Ids
    rest_offsets: Offsets
    rest: Ids


def contributions_to(components: TopicComponents, *, used: Edges, keep: bool | None = None) -> Contributions:
    """The contributions to an overlay with these components.

    `keep` says whether to keep them in a matrix; by default they are kept if there are at most `MOST_KEPT_NODES` nodes
    and two of them have at least two topics in common on average. Cost O(Σ|T_v|), with a matrix O(|V|² + Σ_t |V_t|²).
    """
    n = len(components.node_offsets) - 1
    subscribers = np.diff(components.topic_offsets).astype(np.float64)
    fits = n <= MOST_KEPT_NODES and int(np.diff(components.node_offsets).max()) <= _MOST_KEPT_TOPICS
    if keep is None:
        keep = float((subscribers**2).sum()) >= _KEPT_FROM * n * n
    kept = np.zeros((n, n) if keep and fits else (0, 0), np.int16)
    scratch = np.zeros(n, np.int32), np.zeros(1, np.int64), np.empty(n, np.int32), np.empty(n, np.int32)
    contributions = Contributions(components, kept, used, *scratch)
    _count_all(contributions)
    return contributions


@kernel
def open_nodes(degrees: Ids, below: int, contributions: Contributions) -> Open:
    """The nodes of a degree below the given one. Cost O(Σ|T_v|)."""
    n = len(degrees)
    nodes = np.flatnonzero(degrees < below).astype(np.int32)
    c = contributions.components
    num_topics = len(c.topic_offsets) - 1
    offsets, rest_offsets = np.zeros(num_topics + 1, np.int64), np.zeros(num_topics + 1, np.int64)
    if len(contributions.kept) == n:
        nothing = np.empty(0, np.int32)
        return Open(nodes, offsets, nothing, nothing, rest_offsets, nothing)
    places, rest = np.empty(len(c.topic_nodes), np.int32), np.empty(len(c.topic_nodes), np.int32)
    largest = np.empty(num_topics, np.int32)
    for topic in range(num_topics):
        first, last = c.topic_offsets[topic], c.topic_offsets[topic + 1]
        best = first
        for p in range(first, last):
            if c.size[c.label[p]] > c.size[c.label[best]]:
                best = p
        largest[topic] = best
        here, there = offsets[topic], rest_offsets[topic]
        for p in range(first, last):
            if degrees[c.topic_nodes[p]] < below:
                places[here] = p
                here += 1
                if c.label[p] != c.label[best]:
                    rest[there] = p
                    there += 1
        offsets[topic + 1], rest_offsets[topic + 1] = here, there
    return Open(nodes, offsets, places[: offsets[-1]].copy(), largest, rest_offsets, rest[: rest_offsets[-1]].copy())


@kernel
def partners(
    row: int, level: int, open_: Open, degrees: Ids, below: int, contributions: Contributions
) -> tuple[Ids, int]:
    """The later nodes, sorted and of a degree below the given one, with which an open node contributes `level`.

    No pair of them may contribute more. Also returns the most that any pair of the row contributes, or a bound on it
    that is at most `level`; if there is no such node it is below `level`.
    """
    u, n = open_.nodes[row], len(contributions.counts)
    if len(contributions.kept) == n:
        found, most = _read(row, level, open_.nodes, degrees, below, contributions)
    else:
        found, most = _count(u, level, open_, contributions)
        num = 0
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
def contribution_of(u: int, v: int, contributions: Contributions) -> int:
    """What the pair u < v contributes now. Cost O(1) if it is kept, else O(|T_u| + |T_v|)."""
    if len(contributions.kept):
        return int(contributions.kept[u, v])
    return contribution(u, v, contributions.components)


@kernel
def foresee(u: int, v: int, contributions: Contributions) -> None:
    """Before u and v are joined: let every pair that will contribute less contribute less.

    Over a whole run this costs O(Σ_t |V_t|²), a step for each time that a contribution falls (P1, Lemma 6.4).
    """
    c = contributions.components
    i, end_i = c.node_offsets[u], c.node_offsets[u + 1]
    j, end_j = c.node_offsets[v], c.node_offsets[v + 1]
    while i < end_i and j < end_j:
        topic, other = c.node_topics[i], c.node_topics[j]
        if topic == other and c.label[c.place[i]] != c.label[c.place[j]]:
            _take_one_off(c.place[i], c.place[j], contributions)
        i += topic <= other
        j += other <= topic


@kernel
def _take_one_off(i: int, j: int, contributions: Contributions) -> None:
    """From every pair of a node of one component and a node of the other, given by a place in each."""
    c, kept, members = contributions.components, contributions.kept, contributions.members
    if c.size[c.label[i]] > c.size[c.label[j]]:
        i, j = j, i
    num, place = 0, j
    while num == 0 or place != j:
        members[num] = c.topic_nodes[place]
        num += 1
        place = c.following[place]
    place = i
    while True:
        u = c.topic_nodes[place]
        for v in members[:num]:
            kept[min(u, v), max(u, v)] -= 1
        place = c.following[place]
        if place == i:
            return


@kernel
def _count_all(contributions: Contributions) -> None:
    c, kept = contributions.components, contributions.kept
    for u in range(len(kept)):
        for i in range(c.node_offsets[u], c.node_offsets[u + 1]):
            p = c.place[i]
            for q in range(p + 1, c.topic_offsets[c.node_topics[i] + 1]):
                kept[u, c.topic_nodes[q]] += c.label[q] != c.label[p]


@kernel
def _read(row: int, level: int, nodes: Ids, degrees: Ids, below: int, contributions: Contributions) -> tuple[Ids, int]:
    kept, found, num, most = contributions.kept[nodes[row]], contributions.found, 0, 0
    for v in nodes[row + 1 :]:
        here = kept[v]
        if here > most and degrees[v] < below:
            most = here
        if here == level and degrees[v] < below:
            found[num] = v
            num += 1
    return found[:num], most


@kernel
def _count(u: int, level: int, open_: Open, contributions: Contributions) -> tuple[Ids, int]:
    """In any order, whatever the nodes' degrees are now; a topic whose largest component has u is walked outside it."""
    c, counts, found = contributions.components, contributions.counts, contributions.found
    zero = contributions.clock[0]
    if zero > _CLOCK_LIMIT:
        counts[:] = 0
        zero = np.int64(0)
    # Whatever earlier rows left in `counts` is at most `zero`.
    contributions.clock[0] = zero + c.node_offsets[u + 1] - c.node_offsets[u]
    num, most = 0, zero
    for i in range(c.node_offsets[u], c.node_offsets[u + 1]):
        topic, p = c.node_topics[i], c.place[i]
        mine = c.label[p]
        if mine == c.label[open_.largest[topic]]:
            places = open_.rest[open_.rest_offsets[topic] : open_.rest_offsets[topic + 1]]
        else:
            places = open_.places[open_.offsets[topic] : open_.offsets[topic + 1]]
        for q in places[np.searchsorted(places, p, side="right") :]:
            v, apart = c.topic_nodes[q], c.label[q] != mine
            here = max(np.int64(counts[v]), zero) + apart
            counts[v] = here
            most = max(most, here)
            if apart and here == zero + level:
                found[num] = v
                num += 1
    return found[:num], most - zero
