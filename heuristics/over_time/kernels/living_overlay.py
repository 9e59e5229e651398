"""An overlay whose subscriptions and links change, in contiguous blocks of links.

Subscriptions that ever hold are *slots*, numbered by node and topic; those that hold now are active. A node's links are
a block of entries one after the other, with the *colours* of the topics that both ends have: topic t has colour t mod
32. A search of a topic follows the links of its colour, and looks at topics only where a node has two of one colour.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....instances.contract.arrays import Ids, Offsets, offsets_of
from ....instances.contract.overlay import Overlay
from ....instances.over_time.trace import TopicTrace
from ....instances.runtime.compiled import in_place_kernel, kernel

Changes = list[tuple[int, int, int, int]]
"""Links added (1) and removed (-1): the step, both ends, and the sign."""
NUM_LINKS, NUM_ENTRIES, SEARCHES, LARGEST, USED = range(5)
OFF, ON, NEW = 0, 1, 2
_FEW = 24
_MOST_SEARCHES = 2**30
_CLASSES = 64


class LivingOverlay(NamedTuple):
    """The arrays of an overlay at work.

    Kernels bind those that a loop uses to names before it: numba counts a reference at each access of a field, which
    took two fifths of the time.
    """

    node_offsets: Offsets  # the slots of node v are those from node_offsets[v] to node_offsets[v + 1]
    node_topics: Ids  # the topic of each slot, ascending within a node
    active: npt.NDArray[np.int8]  # of each slot OFF, ON, or NEW if it began with this step
    topic_offsets: Offsets  # the memory of each topic in `members`
    members: Ids  # subscribers of topic t, ascending: counts[t] entries from topic_offsets[t] on
    counts: Ids  # of each topic the active slots
    masks: npt.NDArray[np.int64]  # of each node the bits t mod 64 of its topics
    twice: npt.NDArray[np.uint32]  # of each node the colours of at least two of its topics
    degrees: Ids
    begin: Ids  # of each node the first entry of its block, of the size for its degree (`_class_of`)
    to: Ids  # the other end of each entry
    colours: npt.NDArray[np.uint32]  # of the common topics of its ends
    free: Ids  # of each size of blocks the first that is free, or -1; its first entry names the next
    numbers: npt.NDArray[np.int64]
    marks: Ids  # of each node the search that visited it last
    queue: Ids  # work space of such a search, in between of others
    behind: Ids  # the next entry of the same queue, or -1


def living_overlay(trace: TopicTrace) -> LivingOverlay:
    """An overlay without subscriptions and links. Memory: 9 bytes a slot and 40 a node, of which 4 and 8 are the
    trace's.
    """
    slots, n = len(trace.node_topics), trace.num_nodes
    return LivingOverlay(
        trace.node_offsets,
        trace.node_topics,
        np.zeros(slots, np.int8),
        offsets_of(trace.node_topics, trace.num_topics),
        np.zeros(slots, np.int32),
        np.zeros(trace.num_topics, np.int32),
        np.zeros(n, np.int64),
        np.zeros(n, np.uint32),
        np.zeros(n, np.int32),
        np.zeros(n, np.int32),
        np.zeros(0, np.int32),
        np.zeros(0, np.uint32),
        np.full(_CLASSES, -1, np.int32),
        np.zeros(5, np.int64),
        np.zeros(n, np.int32),
        np.zeros(n, np.int32),
        np.zeros(n, np.int32),
    )


def overlay_of(living: LivingOverlay) -> Overlay:
    """The overlay as it stands."""
    return Overlay.from_edges(len(living.begin), _ends(living))


@kernel
def _ends(living: LivingOverlay) -> Ids:
    ends, num = np.empty((living.numbers[NUM_LINKS], 2), np.int32), 0
    for v in range(len(living.begin)):
        for w in living.to[living.begin[v] : living.begin[v] + living.degrees[v]]:
            if v < w:
                ends[num, 0], ends[num, 1] = v, w
                num += 1
    return ends


@kernel
def slot_of(
    v: int, t: int, masks: npt.NDArray[np.int64], node_offsets: Offsets, node_topics: Ids, active: npt.NDArray[np.int8]
) -> int:
    """The active slot of a node and a topic, or -1. Cost O(log |T_v|)."""
    if not (masks[v] >> (t & 63)) & 1:
        return -1
    low, high = node_offsets[v], node_offsets[v + 1]
    while high - low > _FEW:
        middle = (low + high) >> 1
        if node_topics[middle] <= t:
            low = middle
        else:
            high = middle
    for slot in range(low, high):
        if node_topics[slot] == t:
            return int(slot) if active[slot] else -1
    return -1


@kernel
def node_of(slot: int, node_offsets: Offsets) -> int:
    """The node of a slot. Cost O(log |V|)."""
    return int(np.searchsorted(node_offsets, slot, side="right")) - 1


@in_place_kernel
def toggle(v: int, slot: int, on: bool, living: LivingOverlay) -> None:
    """Begin or end a subscription. Cost O(|V_t| + the links of the node · |T_v|)."""
    active, masks, twice = living.active, living.masks, living.twice
    node_offsets, node_topics = living.node_offsets, living.node_topics
    begin, to, colours, degrees = living.begin, living.to, living.colours, living.degrees
    t = int(node_topics[slot])
    active[slot] = NEW if on else OFF
    _list_member(v, t, on, living)
    mask, once, more = np.int64(0), np.int64(0), np.int64(0)
    for other in range(node_offsets[v], node_offsets[v + 1]):
        if active[other]:
            mask |= np.int64(1) << np.int64(node_topics[other] & 63)
            colour = np.int64(1) << np.int64(node_topics[other] & 31)
            more |= once & colour
            once |= colour
    masks[v], twice[v] = mask, more
    for at in range(begin[v], begin[v] + degrees[v]):
        w = to[at]
        if (colours[at] >> (t & 31) & 1) != on:
            colours[at] = common_colours(v, w, node_offsets, node_topics, active)
            colours[entry_of(w, v, begin, degrees, to)] = colours[at]


@in_place_kernel
def _list_member(v: int, t: int, on: bool, living: LivingOverlay) -> None:
    members, counts, first = living.members, living.counts, living.topic_offsets[t]
    last = first + counts[t]
    if on:
        at = last
        while at > first and members[at - 1] > v:
            members[at] = members[at - 1]
            at -= 1
        members[at] = v
        counts[t] += 1
    else:
        at = first + np.searchsorted(members[first:last], v)
        for k in range(at, last - 1):
            members[k] = members[k + 1]
        counts[t] -= 1


@in_place_kernel
def hold(v: int, on: bool, living: LivingOverlay, held: npt.NDArray[np.bool_]) -> int:
    """Set whether a node's topics are held, for :func:`common_with`; returns their number."""
    active, node_topics, count = living.active, living.node_topics, 0
    for slot in range(living.node_offsets[v], living.node_offsets[v + 1]):
        if active[slot]:
            held[node_topics[slot]] = on
            count += 1
    return count


@kernel
def common_with(
    held: npt.NDArray[np.bool_], v: int, node_offsets: Offsets, node_topics: Ids, active: npt.NDArray[np.int8]
) -> int:
    """The number of topics of a node that are held. Cost O(slots of the node)."""
    count = 0
    for slot in range(node_offsets[v], node_offsets[v + 1]):
        count += held[node_topics[slot]] & (active[slot] > 0)
    return count


@kernel
def common_colours(u: int, v: int, node_offsets: Offsets, node_topics: Ids, active: npt.NDArray[np.int8]) -> int:
    """The colours, as bits, of the topics that both nodes subscribe to. Cost O(slots of both)."""
    i, end_i = node_offsets[u], node_offsets[u + 1]
    j, end_j = node_offsets[v], node_offsets[v + 1]
    bits = np.int64(0)
    while i < end_i and j < end_j:
        one, other = node_topics[i], node_topics[j]
        if one == other and active[i] and active[j]:
            bits |= np.int64(1) << np.int64(one & 31)
        i += one <= other
        j += other <= one
    return int(bits)


@kernel
def is_preferred(v: int, other: int, degrees: Ids) -> bool:
    """The rule for ties: the lower degree, then the lower number."""
    return bool(degrees[v] < degrees[other] or (degrees[v] == degrees[other] and v < other))


@kernel
def _size_of(number: int) -> int:
    """The entries of a block: 2, 3, 4, 6, 8, 12, 16 and so on."""
    return (2 + (number & 1)) << (number >> 1)


@kernel
def _class_of(degree: int) -> int:
    """The number of the least size of a block for so many links, -1 for none."""
    number = -1
    while degree and (number < 0 or _size_of(number) < degree):
        number += 1
    return number


@kernel
def with_room(links: int, living: LivingOverlay) -> LivingOverlay:
    """The overlay with memory for so many further links, if all blocks are moved together. Cost O(1), or O(entries)."""
    numbers = living.numbers
    # A block of d entries that gets k more grows by at most d / 2 + 3k / 2 + 2; one may be there twice as it moves.
    needed = 7 * links + min(links * numbers[LARGEST], numbers[NUM_LINKS]) + 2 * (numbers[LARGEST] + links) + 8
    if numbers[USED] + needed <= len(living.to):
        return living
    entries = numbers[USED] + needed + numbers[USED] // 16
    to, colours = np.zeros(entries, np.int32), np.zeros(entries, np.uint32)
    to[: len(living.to)], colours[: len(living.to)] = living.to, living.colours
    return LivingOverlay(*living[:10], to, colours, *living[12:])


@kernel
def _compact(living: LivingOverlay) -> None:
    """Move all blocks together, in their order. Cost O(|V| log |V| + entries)."""
    begin, degrees, to, colours = living.begin, living.degrees, living.to, living.colours
    entries = 0
    for v in np.argsort(begin):
        if degrees[v]:
            first = begin[v]
            for k in range(degrees[v]):
                to[entries + k], colours[entries + k] = to[first + k], colours[first + k]
            begin[v] = entries
            entries += _size_of(_class_of(degrees[v]))
    living.numbers[NUM_ENTRIES] = entries
    living.free[:] = -1


@in_place_kernel
def _resize(v: int, degree: int, living: LivingOverlay) -> None:
    """Give a node a degree, and move its links to another block if that needs one of another size."""
    begin, degrees, to, colours = living.begin, living.degrees, living.to, living.colours
    free, numbers = living.free, living.numbers
    old, new = _class_of(degrees[v]), _class_of(degree)
    if old != new:
        if new >= 0:
            if free[new] < 0 and numbers[NUM_ENTRIES] + _size_of(new) > len(to):
                _compact(living)
            first, at = begin[v], int(free[new])
            if at >= 0:
                free[new] = to[at]
            else:
                at = numbers[NUM_ENTRIES]
                numbers[NUM_ENTRIES] += _size_of(new)
            for k in range(min(degree, degrees[v])):
                to[at + k], colours[at + k] = to[first + k], colours[first + k]
            begin[v] = at
            numbers[USED] += _size_of(new)
        else:
            first = begin[v]
        if old >= 0:
            to[first] = free[old]
            free[old] = first
            numbers[USED] -= _size_of(old)
    degrees[v] = degree
    numbers[LARGEST] = max(numbers[LARGEST], degree)


@in_place_kernel
def add_link(u: int, v: int, living: LivingOverlay) -> None:
    """Add a link; it is the last entry of both nodes."""
    bits = common_colours(u, v, living.node_offsets, living.node_topics, living.active)
    for at, end in ((u, v), (v, u)):
        degree = living.degrees[at] + 1
        _resize(at, degree, living)
        entry = living.begin[at] + degree - 1
        living.to[entry], living.colours[entry] = end, bits
    living.numbers[NUM_LINKS] += 1


@kernel
def add_first(edges: Ids, living: LivingOverlay) -> LivingOverlay:
    """Add the first links, in blocks of their size."""
    begin, degrees, numbers = living.begin, living.degrees, living.numbers
    for e in range(len(edges)):
        degrees[edges[e, 0]] += 1
        degrees[edges[e, 1]] += 1
    for v in range(len(degrees)):
        begin[v] = numbers[USED]
        if degrees[v]:
            numbers[USED] += _size_of(_class_of(degrees[v]))
        numbers[LARGEST] = max(numbers[LARGEST], degrees[v])
    numbers[NUM_ENTRIES], numbers[NUM_LINKS] = numbers[USED], len(edges)
    living = with_room(0, living)
    degrees[:] = 0
    for e in range(len(edges)):
        u, v = edges[e, 0], edges[e, 1]
        bits = common_colours(u, v, living.node_offsets, living.node_topics, living.active)
        for at, end in ((u, v), (v, u)):
            entry = begin[at] + degrees[at]
            living.to[entry], living.colours[entry] = end, bits
            degrees[at] += 1
    return living


@in_place_kernel
def remove_link(u: int, v: int, living: LivingOverlay) -> None:
    """Remove a link; the last entries of both nodes take its entries."""
    begin, degrees, to, colours = living.begin, living.degrees, living.to, living.colours
    for at, end in ((u, v), (v, u)):
        entry, last = entry_of(at, end, begin, degrees, to), begin[at] + degrees[at] - 1
        to[entry], colours[entry] = to[last], colours[last]
        _resize(at, degrees[at] - 1, living)
    living.numbers[NUM_LINKS] -= 1


@kernel
def entry_of(v: int, w: int, begin: Ids, degrees: Ids, to: Ids) -> int:
    """The entry of a node for its link to another one, or -1."""
    for entry in range(begin[v], begin[v] + degrees[v]):
        if to[entry] == w:
            return entry
    return -1


@in_place_kernel
def first_mark(count: int, living: LivingOverlay) -> int:
    """The first of so many marks that no node has."""
    numbers = living.numbers
    if numbers[SEARCHES] > _MOST_SEARCHES:
        living.marks[:] = 0
        numbers[SEARCHES] = 0
    numbers[SEARCHES] += count
    return int(numbers[SEARCHES] - count + 1)
