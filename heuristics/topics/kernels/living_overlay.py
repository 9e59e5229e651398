"""An overlay whose subscriptions and links change: what a step of a trace breaks, and the components that are left.

Subscriptions that ever hold are *slots*, numbered by node and topic; those that hold now are active. The topics that a
step touches are searched from where it touched them, so that a step costs in the subscriptions near its events.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....instances.contract.arrays import Ids, Offsets, offsets_of
from ....instances.contract.compiled import kernel
from ....instances.contract.overlay import Overlay
from ....instances.topics.trace import TopicTrace
from ...graph import root_of

Changes = list[tuple[int, int, int, int]]
"""Links added (1) and removed (-1): the step, both ends, and the sign."""
NUM_LINKS, NUM_FREE, EPOCH, SEARCHES = 0, 1, 2, 3
_FEW = 24
_MOST_BITS = 2**63 - 1


class LivingOverlay(NamedTuple):
    """The arrays of an overlay at work.

    Kernels bind those that a loop uses to names before it: numba counts a reference at each access of a field, which
    took two fifths of the time.
    """

    node_offsets: Offsets  # the slots of node v are those from node_offsets[v] to node_offsets[v + 1]
    node_topics: Ids  # the topic of each slot, ascending within a node
    slot_nodes: Ids
    active: npt.NDArray[np.bool_]  # of each slot
    topic_offsets: Offsets  # the memory of each topic in `members`
    members: Ids  # active slots of topic t: counts[t] entries from topic_offsets[t] on, in any order
    places: Ids  # of each active slot the index in `members`
    counts: Ids  # of each topic the active slots
    head: Ids  # of each node its first half-link, -1 without
    following: Ids  # half-links 2l and 2l + 1 belong to link l: a list for each node
    previous: Ids
    to: Ids  # the other end of each half-link
    degrees: Ids
    free: Ids  # unused links, in the first numbers[NUM_FREE] entries
    numbers: npt.NDArray[np.int64]
    seen: Ids  # the epoch in which a slot was last visited by a search
    group: Ids  # the group of a slot that was visited in this epoch
    marks: npt.NDArray[np.int64]  # of each slot twice the search that visited it last, plus its side
    queue: Ids  # work space of such a search
    topics: Ids  # of each node how many it has
    masks: npt.NDArray[np.int64]  # of each node the bits t mod 64 of its topics: spares most searches for one


def living_overlay(trace: TopicTrace) -> LivingOverlay:
    """Without subscriptions and links. Memory: about 50 bytes for each subscription that ever holds."""
    slots, n = len(trace.node_topics), trace.num_nodes
    capacity = slots + n
    return LivingOverlay(
        trace.node_offsets,
        trace.node_topics,
        np.repeat(np.arange(n, dtype=np.int32), np.diff(trace.node_offsets)),
        np.zeros(slots, np.bool_),
        offsets_of(trace.node_topics, trace.num_topics),
        np.zeros(slots, np.int32),
        np.zeros(slots, np.int32),
        np.zeros(trace.num_topics, np.int32),
        np.full(n, -1, np.int32),
        np.full(2 * capacity, -1, np.int32),
        np.full(2 * capacity, -1, np.int32),
        np.zeros(2 * capacity, np.int32),
        np.zeros(n, np.int32),
        np.arange(capacity - 1, -1, -1, dtype=np.int32),
        np.array([0, capacity, 0, 0], np.int64),
        np.zeros(slots, np.int32),
        np.zeros(slots, np.int32),
        np.zeros(slots, np.int64),
        np.zeros(slots, np.int32),
        np.zeros(n, np.int32),
        np.zeros(n, np.int64),
    )


def overlay_of(living: LivingOverlay) -> Overlay:
    """The overlay as it stands."""
    return Overlay.from_edges(len(living.head), _ends(living))


@kernel
def _ends(living: LivingOverlay) -> Ids:
    ends, num = np.empty((living.numbers[NUM_LINKS], 2), np.int32), 0
    for v in range(len(living.head)):
        half = living.head[v]
        while half >= 0:
            if v < living.to[half]:
                ends[num, 0], ends[num, 1] = v, living.to[half]
                num += 1
            half = living.following[half]
    return ends


@kernel
def slot_of(
    v: int,
    t: int,
    masks: npt.NDArray[np.int64],
    node_offsets: Offsets,
    node_topics: Ids,
    active: npt.NDArray[np.bool_],
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
def toggle(slot: int, on: bool, living: LivingOverlay) -> None:
    """Begin or end a subscription."""
    active, counts, masks, members = living.active, living.counts, living.masks, living.members
    node_offsets, node_topics, places, slot_nodes = (
        living.node_offsets,
        living.node_topics,
        living.places,
        living.slot_nodes,
    )
    topic_offsets, topics = living.topic_offsets, living.topics
    t = node_topics[slot]
    first = topic_offsets[t]
    active[slot] = on
    topics[slot_nodes[slot]] += 1 if on else -1
    if on:
        at = first + counts[t]
        members[at], places[slot] = slot, at
        counts[t] += 1
        masks[slot_nodes[slot]] |= np.int64(1) << np.int64(t & 63)
    else:
        v = slot_nodes[slot]
        masks[v] = 0
        for other in range(node_offsets[v], node_offsets[v + 1]):
            if active[other]:
                masks[v] |= np.int64(1) << np.int64(node_topics[other] & 63)
        counts[t] -= 1
        last, at = members[first + counts[t]], places[slot]
        members[at], places[last] = last, at


@kernel
def common_topics(u: int, v: int, node_offsets: Offsets, node_topics: Ids, active: npt.NDArray[np.bool_]) -> int:
    """The number of topics that both nodes subscribe to. Cost O(slots of both)."""
    i, end_i = node_offsets[u], node_offsets[u + 1]
    j, end_j = node_offsets[v], node_offsets[v + 1]
    count = 0
    while i < end_i and j < end_j:
        one, other = node_topics[i], node_topics[j]
        count += one == other and active[i] and active[j]
        i += one <= other
        j += other <= one
    return count


@kernel
def most_common(u: int, v: int, masks: npt.NDArray[np.int64], topics: Ids) -> int:
    """An upper bound on the common topics of both nodes. Cost O(1)."""
    mask = masks[u]
    return int(bit_count(mask & masks[v]) + max(0, topics[u] - bit_count(mask)))


@kernel
def bit_count(bits: int) -> int:
    """The number of bits that are set."""
    count = int(bits < 0)
    bits &= _MOST_BITS  # the lowest integer less 1 would overflow where kernels are interpreted
    while bits:
        bits &= bits - 1
        count += 1
    return count


@kernel
def is_preferred(v: int, other: int, degrees: Ids) -> bool:
    """The rule for ties: the lower degree, then the lower number."""
    return bool(degrees[v] < degrees[other] or (degrees[v] == degrees[other] and v < other))


@kernel
def add_link(u: int, v: int, living: LivingOverlay) -> int:
    """Add a link; returns its half-link from u."""
    degrees, following, free, head = living.degrees, living.following, living.free, living.head
    numbers, previous, to = living.numbers, living.previous, living.to
    numbers[NUM_FREE] -= 1
    numbers[NUM_LINKS] += 1
    link = free[numbers[NUM_FREE]]
    for half, at, end in ((2 * link, u, v), (2 * link + 1, v, u)):
        to[half] = end
        following[half], previous[half] = head[at], -1
        if head[at] >= 0:
            previous[head[at]] = half
        head[at] = half
        degrees[at] += 1
    return int(2 * link)


@kernel
def remove_link(half: int, living: LivingOverlay) -> None:
    """Remove the link of a half-link."""
    degrees, following, free, head = living.degrees, living.following, living.free, living.head
    numbers, previous, to = living.numbers, living.previous, living.to
    link = half >> 1
    for each in (2 * link, 2 * link + 1):
        at = to[each ^ 1]
        before, after = previous[each], following[each]
        if before >= 0:
            following[before] = after
        else:
            head[at] = after
        if after >= 0:
            previous[after] = before
        degrees[at] -= 1
    free[numbers[NUM_FREE]] = link
    numbers[NUM_FREE] += 1
    numbers[NUM_LINKS] -= 1


class Broken(NamedTuple):
    """The topics that are not connected after a step, and their components.

    All components of a topic but its main one have been visited, and are listed. A slot that was not visited is in the
    main component. Groups are joined as links are added.
    """

    topics: Ids  # numbers[0] of them; some may be connected again
    parts: Ids  # of each topic the components that are left, 0 if it was not broken in this step
    main: Ids  # of each broken topic a group in its main component
    starts: Ids  # of each broken topic in `slots`: the first and after the last
    slots: Ids  # of components that were not main, topic by topic
    parent: Ids  # of each group, as a forest
    numbers: npt.NDArray[np.int64]  # of topics, slots and groups
    queue: Ids  # work space: visited slots, in a queue for each seed
    behind: Ids  # the next entry of the same queue, or -1
    searches: Ids  # of each seed the first and last entry of its queue, its group, and how many queues its root has


def nothing_broken(living: LivingOverlay) -> Broken:
    """No topic is broken; memory 28 bytes a slot, and O(|T|)."""
    slots, topics = len(living.active), len(living.counts)
    return Broken(
        np.zeros(topics, np.int32),
        np.zeros(topics, np.int32),
        np.zeros(topics, np.int32),
        np.zeros((topics, 2), np.int32),
        np.zeros(slots, np.int32),
        np.zeros(2 * slots + topics + 1, np.int32),
        np.zeros(3, np.int64),
        np.zeros(slots, np.int32),
        np.zeros(slots, np.int32),
        np.zeros((slots + topics, 4), np.int32),
    )


@kernel
def component(slot: int, t: int, epoch: int, seen: Ids, group: Ids, parent: Ids, main: Ids) -> int:
    """The component of an active slot of a broken topic."""
    return root_of(parent, group[slot] if seen[slot] == epoch else main[t])


@kernel
def unite_broken(u: int, v: int, living: LivingOverlay, broken: Broken) -> None:
    """Join the components that a new link joins."""
    active, group, node_offsets, node_topics = living.active, living.group, living.node_offsets, living.node_topics
    numbers, seen = living.numbers, living.seen
    main, parent, parts = broken.main, broken.parent, broken.parts
    i, end_i = node_offsets[u], node_offsets[u + 1]
    j, end_j = node_offsets[v], node_offsets[v + 1]
    while i < end_i and j < end_j:
        t, other = node_topics[i], node_topics[j]
        if t == other and parts[t] > 1 and active[i] and active[j]:
            a, b = (
                component(i, t, numbers[EPOCH], seen, group, parent, main),
                component(j, t, numbers[EPOCH], seen, group, parent, main),
            )
            if a != b:
                parent[a] = b
                parts[t] -= 1
        i += t <= other
        j += other <= t


@kernel
def find_broken(seeds: list[int], living: LivingOverlay, broken: Broken) -> None:
    """Find the components of the topics of some slots.

    Every component of such a topic must have a seed among its slots. From all seeds of a topic searches go on in turn,
    one subscription each, until all but one component are complete: cost O(seeds · the largest of these · degree).
    """
    living.numbers[EPOCH] += 1
    for k in range(broken.numbers[0]):
        broken.parts[broken.topics[k]] = 0
    broken.numbers[:] = 0
    of_topic = np.empty(len(seeds), np.int64)
    for k in range(len(seeds)):
        of_topic[k] = (np.int64(living.node_topics[seeds[k]]) << 32) + seeds[k]
    of_topic.sort()
    first = 0
    while first < len(of_topic):
        t, last = of_topic[first] >> 32, first
        while last < len(of_topic) and of_topic[last] >> 32 == t:
            last += 1
        _search(t, of_topic[first:last], living, broken)
        first = last


@kernel
def _search(t: int, seeds: Offsets, living: LivingOverlay, broken: Broken) -> None:
    """See :func:`find_broken`, of one topic whose seeds are sorted."""
    active, following, head, masks = living.active, living.following, living.head, living.masks
    node_offsets, node_topics, seen, slot_nodes = (
        living.node_offsets,
        living.node_topics,
        living.seen,
        living.slot_nodes,
    )
    to = living.to
    slots, starts, topics = broken.slots, broken.starts, broken.topics
    epoch, numbers, parent = living.numbers[EPOCH], broken.numbers, broken.parent
    queue, behind, searches = broken.queue, broken.behind, broken.searches
    base, num, parts = numbers[2], 0, 0
    for key in seeds:
        slot = key & 0xFFFFFFFF
        if active[slot] and seen[slot] != epoch:
            group = base + parts
            seen[slot], living.group[slot], parent[group] = epoch, group, group
            queue[num], behind[num] = slot, -1
            searches[parts, 0], searches[parts, 1], searches[parts, 2], searches[parts, 3] = num, num, group, 1
            num, parts = num + 1, parts + 1
    numbers[2] += parts
    count = open_parts = parts
    while open_parts > 1:
        for k in range(count):
            entry = searches[k, 0]
            if entry < 0 or open_parts <= 1:
                continue
            half = head[slot_nodes[queue[entry]]]
            while half >= 0:
                other = slot_of(to[half], t, masks, node_offsets, node_topics, active)
                half = following[half]
                if other < 0:
                    continue
                if seen[other] != epoch:
                    seen[other], living.group[other] = epoch, base + k
                    queue[num], behind[num] = other, -1
                    behind[searches[k, 1]] = num
                    searches[k, 1] = num
                    num += 1
                elif living.group[other] != base + k:
                    a, b = root_of(broken.parent, base + k), root_of(broken.parent, living.group[other])
                    if a != b:
                        parent[a] = b
                        searches[b - base, 3] += searches[a - base, 3]
                        parts -= 1
                        open_parts -= 1
            searches[k, 0] = behind[entry]
            if searches[k, 0] < 0:
                root = root_of(broken.parent, base + k) - base
                searches[root, 3] -= 1
                open_parts -= searches[root, 3] == 0
    if parts < 2:
        return
    main = base
    for k in range(count):
        if searches[root_of(broken.parent, base + k) - base, 3] > 0:
            main = root_of(broken.parent, base + k)
    broken.parts[t], broken.main[t] = parts, main
    topics[numbers[0]] = t
    numbers[0] += 1
    starts[t, 0] = numbers[1]
    for slot in queue[:num]:
        if root_of(broken.parent, living.group[slot]) != main:
            slots[numbers[1]] = slot
            numbers[1] += 1
    starts[t, 1] = numbers[1]


@kernel
def is_redundant(half: int, most: int, living: LivingOverlay) -> bool:
    """Whether all common topics of a link's ends stay connected without the link.

    Searches from both ends of each topic in turn; one that has visited `most` subscriptions is given up, as if the link
    were needed. Cost O(common topics · the smaller side · degree).
    """
    head, following, to, masks = living.head, living.following, living.to, living.masks
    u, v = to[half ^ 1], to[half]
    shared = _topics_beside(u, half, head, following, to, masks) & _topics_beside(v, half, head, following, to, masks)
    if not shared:
        return False
    active, node_offsets, node_topics = living.active, living.node_offsets, living.node_topics
    i, end_i = node_offsets[u], node_offsets[u + 1]
    j, end_j = node_offsets[v], node_offsets[v + 1]
    while i < end_i and j < end_j:
        t, other = node_topics[i], node_topics[j]
        if t == other and active[i] and active[j] and not shared >> np.int64(t & 63) & 1:
            return False
        i += t <= other
        j += other <= t
    i, j = node_offsets[u], node_offsets[v]
    while i < end_i and j < end_j:
        t, other = node_topics[i], node_topics[j]
        if t == other and active[i] and active[j] and not _meet(i, j, t, half, most, living):
            return False
        i += t <= other
        j += other <= t
    return True


@kernel
def _topics_beside(v: int, without: int, head: Ids, following: Ids, to: Ids, masks: npt.NDArray[np.int64]) -> int:
    """The topics, as bits, of the neighbours of a node but for one link, which is needed for all others."""
    mask, half = np.int64(0), head[v]
    while half >= 0:
        if half >> 1 != without >> 1:
            mask |= masks[to[half]]
        half = following[half]
    return int(mask)


@kernel
def _meet(one: int, other: int, t: int, without: int, most: int, living: LivingOverlay) -> bool:
    """Whether two slots of a topic are connected without a link."""
    slot_nodes, head, following, to = living.slot_nodes, living.head, living.following, living.to
    masks, node_offsets, node_topics, active = living.masks, living.node_offsets, living.node_topics, living.active
    marks, queue, numbers = living.marks, living.queue, living.numbers
    numbers[SEARCHES] += 1
    mark = 2 * numbers[SEARCHES]
    marks[one], marks[other] = mark, mark + 1
    last = len(queue) - 1  # the second search has its queue from the end backwards
    queue[0], queue[last] = one, other
    at_one = at_other = 0
    num_one = num_other = 1
    while True:
        for side in range(2):
            if side == 0:
                if at_one == num_one or num_one > most:
                    return False
                half = head[slot_nodes[queue[at_one]]]
                at_one += 1
            else:
                if at_other == num_other or num_other > most:
                    return False
                half = head[slot_nodes[queue[last - at_other]]]
                at_other += 1
            while half >= 0:
                v, link = to[half], half >> 1
                half = following[half]
                if link == without >> 1 or not masks[v] >> (t & 63) & 1:
                    continue
                slot = slot_of(v, t, masks, node_offsets, node_topics, active)
                if slot < 0 or marks[slot] == mark + side:
                    continue
                if marks[slot] >= mark:
                    return True
                marks[slot] = mark + side
                if side == 0:
                    queue[num_one] = slot
                    num_one += 1
                else:
                    queue[last - num_other] = slot
                    num_other += 1


@kernel
def begin_step(step: int, departures: Ids, toggles: Ids, living: LivingOverlay, changes: Changes) -> list[int]:
    """Let the events of a step happen; returns seeds for :func:`find_broken` where a subscription has ended.

    Seeds may be active no more. :func:`seed_new` adds those of subscriptions that begin.

    The links of nodes that depart vanish; those without a common topic any more are removed. Cost O(links of the nodes
    that depart or give up topics · |T_v|).
    """
    seeds = [0 for _ in range(0)]
    for v in departures:
        for slot in range(living.node_offsets[v], living.node_offsets[v + 1]):
            if living.active[slot]:
                _seed_neighbours(v, living.node_topics[slot], living, seeds)
        while living.head[v] >= 0:
            remove_link(living.head[v], living)
    for signed in toggles:
        if signed < 0:
            slot = -signed - 1
            _seed_neighbours(living.slot_nodes[slot], living.node_topics[slot], living, seeds)
            toggle(slot, False, living)
    for signed in toggles:
        if signed < 0:
            v = living.slot_nodes[-signed - 1]
            half = living.head[v]
            while half >= 0:
                after = living.following[half]
                if not common_topics(v, living.to[half], living.node_offsets, living.node_topics, living.active):
                    changes.append((step, v, int(living.to[half]), -1))
                    remove_link(half, living)
                half = after
    for signed in toggles:
        if signed > 0:
            toggle(signed - 1, True, living)
    return seeds


@kernel
def seed_new(toggles: Ids, living: LivingOverlay, seeds: list[int]) -> None:
    """Add seeds for the subscriptions that begin with a step and have no link yet to an older one of their topic."""
    active, counts, following, head = living.active, living.counts, living.following, living.head
    masks, members, node_offsets, node_topics = living.masks, living.members, living.node_offsets, living.node_topics
    numbers, seen, slot_nodes, to = living.numbers, living.seen, living.slot_nodes, living.to
    topic_offsets = living.topic_offsets
    numbers[EPOCH] += 1
    epoch = numbers[EPOCH]
    for signed in toggles:
        if signed > 0:
            seen[signed - 1] = epoch
    for signed in toggles:
        if signed < 0:
            continue
        slot, t = signed - 1, node_topics[signed - 1]
        half, attached = head[slot_nodes[slot]], False
        while half >= 0 and not attached:
            other = slot_of(to[half], t, masks, node_offsets, node_topics, active)
            attached = other >= 0 and seen[other] != epoch
            half = following[half]
        if attached:
            continue
        seeds.append(slot)
        for other in members[topic_offsets[t] : topic_offsets[t] + counts[t]]:
            if seen[other] != epoch:
                seeds.append(int(other))
                break


@kernel
def _seed_neighbours(v: int, t: int, living: LivingOverlay, seeds: list[int]) -> None:
    active, following, head, masks = living.active, living.following, living.head, living.masks
    node_offsets, node_topics, to = living.node_offsets, living.node_topics, living.to
    half = head[v]
    while half >= 0:
        slot = slot_of(to[half], t, masks, node_offsets, node_topics, active)
        if slot >= 0:
            seeds.append(slot)
        half = following[half]
