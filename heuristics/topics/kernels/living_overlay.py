"""An overlay whose subscriptions and links change: what a step of a trace breaks, and the components that are left.

Subscriptions that ever hold are *slots*, numbered by node and topic; those that hold now are active. The topics that a
step touches are searched from where it touched them, so that a step costs in the subscriptions near its events.

A node's links are a block of entries one after the other, with the *colours* of the topics that both ends have: topic t
has colour t mod 32. A search of a topic follows the links of its colour, and looks at topics only where a node has two
of one colour.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....instances.contract.arrays import Ids, Offsets, offsets_of
from ....instances.contract.compiled import kernel, wrapping_kernel
from ....instances.contract.overlay import Overlay
from ....instances.topics.trace import TopicTrace
from ...graph import root_of

Changes = list[tuple[int, int, int, int]]
"""Links added (1) and removed (-1): the step, both ends, and the sign."""
NUM_LINKS, NUM_ENTRIES, SEARCHES, LARGEST, USED = range(5)
OFF, ON, NEW = 0, 1, 2
_FEW = 24
_MOST_SEARCHES = 2**30
_CLASSES = 64
_BUDGETS = 8, 64


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
    topics: Ids  # of each node how many it has
    degrees: Ids
    begin: Ids  # of each node the first entry of its block, which has room for `_room_for` its degree
    to: Ids  # the other end of each entry
    colours: npt.NDArray[np.uint32]  # of the common topics of its ends
    free: Ids  # of each size of blocks the first that is free, or -1; its first entry names the next
    numbers: npt.NDArray[np.int64]
    marks: Ids  # of each node the search that visited it last
    queue: Ids  # work space of such a search, in between of others
    behind: Ids  # the next entry of the same queue, or -1


def living_overlay(trace: TopicTrace) -> LivingOverlay:
    """Without subscriptions and links. Memory: 9 bytes a slot and 44 a node, of which 4 and 8 are the trace's."""
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
    v: int,
    t: int,
    masks: npt.NDArray[np.int64],
    node_offsets: Offsets,
    node_topics: Ids,
    active: npt.NDArray[np.int8],
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
def toggle(v: int, slot: int, on: bool, living: LivingOverlay) -> None:
    """Begin or end a subscription. Cost O(|V_t| + the links of the node · |T_v|)."""
    active, masks, twice, node_offsets, node_topics = (
        living.active,
        living.masks,
        living.twice,
        living.node_offsets,
        living.node_topics,
    )
    begin, to, colours, degrees = living.begin, living.to, living.colours, living.degrees
    t = int(node_topics[slot])
    active[slot] = NEW if on else OFF
    living.topics[v] += 1 if on else -1
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


@kernel
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


@kernel
def common_topics(u: int, v: int, node_offsets: Offsets, node_topics: Ids, active: npt.NDArray[np.int8]) -> int:
    """The number of topics that both nodes subscribe to. Cost O(slots of both)."""
    i, end_i = node_offsets[u], node_offsets[u + 1]
    j, end_j = node_offsets[v], node_offsets[v + 1]
    count = 0
    while i < end_i and j < end_j:
        one, other = node_topics[i], node_topics[j]
        count += one == other and active[i] > 0 and active[j] > 0
        i += one <= other
        j += other <= one
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
def most_common(u: int, v: int, masks: npt.NDArray[np.int64], topics: Ids) -> int:
    """An upper bound on the common topics of both nodes. Cost O(1)."""
    mask = masks[u]
    return int(bit_count(mask & masks[v]) + max(0, topics[u] - bit_count(mask)))


@wrapping_kernel  # the lowest bit may be the sign
def bit_count(bits: int) -> int:
    """The number of bits that are set."""
    count = 0
    while bits:
        bits &= bits - 1
        count += 1
    return count


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
    return enlarged(numbers[USED] + needed + numbers[USED] // 8, living)


@kernel
def enlarged(entries: int, living: LivingOverlay) -> LivingOverlay:
    """The overlay with memory for so many entries."""
    to, colours = np.zeros(entries, np.int32), np.zeros(entries, np.uint32)
    to[: len(living.to)], colours[: len(living.to)] = living.to, living.colours
    return LivingOverlay(
        living.node_offsets,
        living.node_topics,
        living.active,
        living.topic_offsets,
        living.members,
        living.counts,
        living.masks,
        living.twice,
        living.topics,
        living.degrees,
        living.begin,
        to,
        colours,
        living.free,
        living.numbers,
        living.marks,
        living.queue,
        living.behind,
    )


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


@kernel
def _resize(v: int, degree: int, living: LivingOverlay) -> None:
    """Give a node a degree, and move its links to another block if that needs one of another size."""
    begin, degrees, to, colours, free, numbers = (
        living.begin,
        living.degrees,
        living.to,
        living.colours,
        living.free,
        living.numbers,
    )
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


@kernel
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


@kernel
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


@kernel
def first_mark(count: int, living: LivingOverlay) -> int:
    """The first of so many marks that no node has."""
    numbers = living.numbers
    if numbers[SEARCHES] > _MOST_SEARCHES:
        living.marks[:] = 0
        numbers[SEARCHES] = 0
    numbers[SEARCHES] += count
    return int(numbers[SEARCHES] - count + 1)


class Broken(NamedTuple):
    """The topics that are not connected after a step, and their components.

    All components of a topic but its main one have been visited, and their nodes are listed with the component, which
    is -1 once it is joined to the main one. A node that is not listed is in the main component.
    """

    topics: list[int]  # some may be connected again
    parts: Ids  # of each topic the components that are left, 0 if it was not broken in this step
    starts: npt.NDArray[np.int32]  # of each broken topic in `nodes`: the first and after the last
    nodes: list[int]
    groups: list[int]  # of each of `nodes` the component


@kernel
def nothing_broken(num_topics: int) -> Broken:
    """No topic is broken; memory 12 bytes a topic, and 16 for each node that a step lists."""
    return Broken(
        [0 for _ in range(0)],
        np.zeros(num_topics, np.int32),
        np.zeros((num_topics, 2), np.int32),
        [0 for _ in range(0)],
        [0 for _ in range(0)],
    )


@kernel
def group_of(v: int, t: int, broken: Broken) -> int:
    """The component of a subscriber of a broken topic. Cost O(nodes listed for it)."""
    nodes = broken.nodes
    for k in range(broken.starts[t, 0], broken.starts[t, 1]):
        if nodes[k] == v:
            return int(broken.groups[k])
    return -1


@kernel
def unite_broken(u: int, v: int, living: LivingOverlay, broken: Broken) -> None:
    """Join the components that a new link joins."""
    active, node_offsets, node_topics = living.active, living.node_offsets, living.node_topics
    parts, starts, groups = broken.parts, broken.starts, broken.groups
    i, end_i = node_offsets[u], node_offsets[u + 1]
    j, end_j = node_offsets[v], node_offsets[v + 1]
    while i < end_i and j < end_j:
        t, other = node_topics[i], node_topics[j]
        if t == other and parts[t] > 1 and active[i] and active[j]:
            a, b = group_of(u, t, broken), group_of(v, t, broken)
            if a != b:
                parts[t] -= 1
                for k in range(starts[t, 0], starts[t, 1]):
                    if groups[k] == max(a, b):
                        groups[k] = min(a, b)
        i += t <= other
        j += other <= t


@kernel
def find_broken(seeds: list[int], living: LivingOverlay, broken: Broken) -> None:
    """Find the components of the topics of some subscriptions, given as t · 2^32 + v.

    Every component of such a topic must have a seed among its nodes. From all seeds of a topic searches go on in turn,
    one subscription each, until all but one component are complete: cost O(seeds · the largest of these · degree).
    """
    for t in broken.topics:
        broken.parts[t] = 0
    broken.topics.clear()
    broken.nodes.clear()
    broken.groups.clear()
    of_topic = np.empty(len(seeds), np.int64)
    for k in range(len(seeds)):
        of_topic[k] = seeds[k]
    of_topic.sort()
    first = 0
    while first < len(of_topic):
        t, last = of_topic[first] >> 32, first
        while last < len(of_topic) and of_topic[last] >> 32 == t:
            last += 1
        _search(t, of_topic[first:last] & 0xFFFFFFFF, living, broken)
        first = last


@kernel
def _search(t: int, seeds: Offsets, living: LivingOverlay, broken: Broken) -> None:
    """See :func:`find_broken`, of one topic whose seeds are sorted."""
    active, masks, node_offsets, node_topics, twice = (
        living.active,
        living.masks,
        living.node_offsets,
        living.node_topics,
        living.twice,
    )
    begin, degrees, to, colours = living.begin, living.degrees, living.to, living.colours
    marks, queue, behind = living.marks, living.queue, living.behind
    # Of each seed the first and last entry of its queue, and how many queues its root has.
    searches, parent = np.empty((len(seeds), 3), np.int32), np.arange(len(seeds)).astype(np.int32)
    base, colour, parts = first_mark(len(seeds), living), t & 31, 0
    for v in seeds:
        if marks[v] < base and slot_of(v, t, masks, node_offsets, node_topics, active) >= 0:
            marks[v], queue[parts], behind[parts] = base + parts, v, -1
            searches[parts, 0], searches[parts, 1], searches[parts, 2] = parts, parts, 1
            parts += 1
    num = count = open_parts = parts
    while open_parts > 1:
        for k in range(count):
            entry = searches[k, 0]
            if entry < 0 or open_parts <= 1:
                continue
            v = queue[entry]
            unsure = twice[v] >> colour & 1
            for at in range(begin[v], begin[v] + degrees[v]):
                w = to[at]
                if not colours[at] >> colour & 1 or (
                    unsure and slot_of(w, t, masks, node_offsets, node_topics, active) < 0
                ):
                    continue
                if marks[w] < base:
                    marks[w], queue[num], behind[num] = base + k, w, -1
                    behind[searches[k, 1]] = num
                    searches[k, 1] = num
                    num += 1
                elif marks[w] != base + k:
                    a, b = root_of(parent, k), root_of(parent, marks[w] - base)
                    if a != b:
                        parent[a] = b
                        searches[b, 2] += searches[a, 2]
                        parts -= 1
                        open_parts -= 1
            searches[k, 0] = behind[entry]
            if searches[k, 0] < 0:
                root = root_of(parent, k)
                searches[root, 2] -= 1
                open_parts -= searches[root, 2] == 0
    if parts < 2:
        return
    main = 0
    for k in range(count):
        if searches[root_of(parent, k), 2] > 0:
            main = root_of(parent, k)
    broken.parts[t] = parts
    broken.topics.append(int(t))
    broken.starts[t, 0] = len(broken.nodes)
    for v in queue[:num]:
        group = root_of(parent, marks[v] - base)
        if group != main:
            broken.nodes.append(int(v))
            broken.groups.append(int(group))
    broken.starts[t, 1] = len(broken.nodes)


@kernel
def is_redundant(u: int, at: int, most: int, living: LivingOverlay) -> bool:
    """Whether all common topics of the ends of a node's entry stay connected without its link.

    Searches from both ends of each topic in turn; one that has visited `most` subscriptions is given up, as if the link
    were needed. Cost O(common topics · the smaller side · degree).
    """
    begin, degrees, to, colours = living.begin, living.degrees, living.to, living.colours
    v, bits = to[at], colours[at]
    if np.int64(bits) & ~colours_twice(v, begin, degrees, colours):
        return False
    back = entry_of(v, u, begin, degrees, to)
    colours[at] = colours[back] = 0  # no search takes it
    spare = _all_meet(u, v, most, living)
    colours[at] = colours[back] = bits
    return spare


@kernel
def colours_twice(v: int, begin: Ids, degrees: Ids, colours: npt.NDArray[np.uint32]) -> int:
    """The colours of at least two links of a node: a link with another one is needed."""
    once = more = np.int64(0)
    for at in range(begin[v], begin[v] + degrees[v]):
        each = np.int64(colours[at])
        more |= once & each
        once |= each
    return int(more)


@kernel
def _all_meet(u: int, v: int, most: int, living: LivingOverlay) -> bool:
    """Whether two nodes are connected in all their topics: short searches first, as one that fails decides."""
    active, node_offsets, node_topics = living.active, living.node_offsets, living.node_topics
    met = np.int64(0)  # bits of the first common topics that are connected
    for length in (*_BUDGETS, most):
        i, end_i = node_offsets[u], node_offsets[u + 1]
        j, end_j = node_offsets[v], node_offsets[v + 1]
        bit, complete = np.int64(1), True
        while i < end_i and j < end_j:
            t, other = node_topics[i], node_topics[j]
            if t == other and active[i] and active[j]:
                if not met & bit:
                    outcome = _meet(u, v, t, min(length, most), living)
                    if outcome < 0:
                        return False
                    if outcome > 0:
                        met |= bit
                    else:
                        complete = False
                bit = bit << 1 if 0 < bit < 1 << 61 else np.int64(0)
            i += t <= other
            j += other <= t
        if complete:
            return True
    return False


@kernel
def _meet(one: int, other: int, t: int, most: int, living: LivingOverlay) -> int:
    """Whether two subscribers of a topic are connected (1) or not (-1); 0 if one side has more than `most`."""
    masks, twice, node_offsets, node_topics, active = (
        living.masks,
        living.twice,
        living.node_offsets,
        living.node_topics,
        living.active,
    )
    begin, degrees, to, colours = living.begin, living.degrees, living.to, living.colours
    marks, queue = living.marks, living.queue
    mark, colour = first_mark(2, living), t & 31
    marks[one], marks[other] = mark, mark + 1
    last = len(queue) - 1  # the second search has its queue from the end backwards
    queue[0], queue[last] = one, other
    at_one = at_other = 0
    num_one = num_other = 1
    while True:
        for side in range(2):
            if side == 0:
                if at_one == num_one:
                    return -1
                if num_one > most:
                    return 0
                v = queue[at_one]
                at_one += 1
            else:
                if at_other == num_other:
                    return -1
                if num_other > most:
                    return 0
                v = queue[last - at_other]
                at_other += 1
            unsure = twice[v] >> colour & 1
            for at in range(begin[v], begin[v] + degrees[v]):
                if not colours[at] >> colour & 1:
                    continue
                w = to[at]
                if marks[w] == mark + side or (unsure and slot_of(w, t, masks, node_offsets, node_topics, active) < 0):
                    continue
                if marks[w] >= mark:
                    return 1
                marks[w] = mark + side
                if side == 0:
                    queue[num_one] = w
                    num_one += 1
                else:
                    queue[last - num_other] = w
                    num_other += 1


@kernel
def begin_step(
    step: int, departures: Ids, toggles: Ids, living: LivingOverlay, changes: Changes
) -> tuple[LivingOverlay, list[int]]:
    """Let the events of a step happen; returns seeds for :func:`find_broken` where a subscription has ended.

    Seeds may be active no more. :func:`seed_new` adds those of subscriptions that begin. There is room for the links
    that the step may need.

    The links of nodes that depart vanish; those without a common topic any more are removed. Cost O(links of the nodes
    that depart or give up topics · |T_v|).
    """
    node_offsets, node_topics, degrees, begin = (
        living.node_offsets,
        living.node_topics,
        living.degrees,
        living.begin,
    )
    seeds = [0 for _ in range(0)]
    links = 2 * len(toggles) + 1
    for v in departures:
        for slot in range(node_offsets[v], node_offsets[v + 1]):
            if living.active[slot]:
                _seed_neighbours(v, node_topics[slot], living, seeds)
        while degrees[v]:
            remove_link(v, living.to[begin[v]], living)
    for signed in toggles:
        if signed < 0:
            v = _node_of(-signed - 1, node_offsets)
            _seed_neighbours(v, node_topics[-signed - 1], living, seeds)
            toggle(v, -signed - 1, False, living)
    for signed in toggles:
        if signed < 0:
            v = _node_of(-signed - 1, node_offsets)
            for k in range(degrees[v] - 1, -1, -1):
                if not living.colours[begin[v] + k]:
                    w = int(living.to[begin[v] + k])
                    changes.append((step, int(v), w, -1))
                    remove_link(v, w, living)
    for signed in toggles:
        if signed > 0:
            toggle(_node_of(signed - 1, node_offsets), signed - 1, True, living)
    return with_room(links + len(seeds), living), seeds


@kernel
def _node_of(slot: int, node_offsets: Offsets) -> int:
    return int(np.searchsorted(node_offsets, slot, side="right")) - 1


@kernel
def seed_new(toggles: Ids, living: LivingOverlay, seeds: list[int]) -> None:
    """Add seeds for the subscriptions that begin with a step and have no link yet to an older one of their topic."""
    active, masks, node_offsets, node_topics = living.active, living.masks, living.node_offsets, living.node_topics
    begin, degrees, to, colours = living.begin, living.degrees, living.to, living.colours
    members, counts, topic_offsets = living.members, living.counts, living.topic_offsets
    for signed in toggles:
        if signed < 0:
            continue
        v, t = _node_of(signed - 1, node_offsets), node_topics[signed - 1]
        attached = False
        for at in range(begin[v], begin[v] + degrees[v]):
            if colours[at] >> (t & 31) & 1:
                slot = slot_of(to[at], t, masks, node_offsets, node_topics, active)
                attached = attached or (slot >= 0 and active[slot] == ON)
        if attached:
            continue
        seeds.append(int((np.int64(t) << 32) + v))
        for w in members[topic_offsets[t] : topic_offsets[t] + counts[t]]:
            if active[slot_of(w, t, masks, node_offsets, node_topics, active)] == ON:
                seeds.append(int((np.int64(t) << 32) + w))
                break


@kernel
def end_step(toggles: Ids, living: LivingOverlay) -> None:
    """The subscriptions that began with this step are no newer than others."""
    for signed in toggles:
        if signed > 0:
            living.active[signed - 1] = ON


@kernel
def _seed_neighbours(v: int, t: int, living: LivingOverlay, seeds: list[int]) -> None:
    begin, degrees, to, colours = living.begin, living.degrees, living.to, living.colours
    for at in range(begin[v], begin[v] + degrees[v]):
        if colours[at] >> (t & 31) & 1:
            seeds.append(int((np.int64(t) << 32) + to[at]))
