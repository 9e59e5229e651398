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

Changes = list[tuple[int, int, int, int]]
"""Links added (1) and removed (-1): the step, both ends, and the sign."""
NUM_LINKS, NUM_FREE, EPOCH = 0, 1, 2
_FEW = 24


class LivingOverlay(NamedTuple):
    """The arrays of an overlay at work."""

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
        np.array([0, capacity, 0], np.int64),
        np.zeros(slots, np.int32),
        np.zeros(slots, np.int32),
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
def slot_of(v: int, t: int, living: LivingOverlay) -> int:
    """The active slot of a node and a topic, or -1. Cost O(log |T_v|)."""
    if not (living.masks[v] >> (t & 63)) & 1:
        return -1
    low, high = living.node_offsets[v], living.node_offsets[v + 1]
    while high - low > _FEW:
        middle = (low + high) >> 1
        if living.node_topics[middle] <= t:
            low = middle
        else:
            high = middle
    for slot in range(low, high):
        if living.node_topics[slot] == t:
            return int(slot) if living.active[slot] else -1
    return -1


@kernel
def toggle(slot: int, on: bool, living: LivingOverlay) -> None:
    """Begin or end a subscription."""
    t = living.node_topics[slot]
    first = living.topic_offsets[t]
    living.active[slot] = on
    if on:
        at = first + living.counts[t]
        living.members[at], living.places[slot] = slot, at
        living.counts[t] += 1
        living.masks[living.slot_nodes[slot]] |= np.int64(1) << np.int64(t & 63)
    else:
        v = living.slot_nodes[slot]
        living.masks[v] = 0
        for other in range(living.node_offsets[v], living.node_offsets[v + 1]):
            if living.active[other]:
                living.masks[v] |= np.int64(1) << np.int64(living.node_topics[other] & 63)
        living.counts[t] -= 1
        last, at = living.members[first + living.counts[t]], living.places[slot]
        living.members[at], living.places[last] = last, at


@kernel
def common_topics(u: int, v: int, living: LivingOverlay) -> int:
    """The number of topics that both nodes subscribe to. Cost O(slots of both)."""
    i, end_i = living.node_offsets[u], living.node_offsets[u + 1]
    j, end_j = living.node_offsets[v], living.node_offsets[v + 1]
    count = 0
    while i < end_i and j < end_j:
        one, other = living.node_topics[i], living.node_topics[j]
        count += one == other and living.active[i] and living.active[j]
        i += one <= other
        j += other <= one
    return count


@kernel
def is_preferred(v: int, other: int, living: LivingOverlay) -> bool:
    """The rule for ties: the lower degree, then the lower number."""
    return bool(living.degrees[v] < living.degrees[other] or (living.degrees[v] == living.degrees[other] and v < other))


@kernel
def add_link(u: int, v: int, living: LivingOverlay) -> int:
    """Add a link; returns its half-link from u."""
    living.numbers[NUM_FREE] -= 1
    living.numbers[NUM_LINKS] += 1
    link = living.free[living.numbers[NUM_FREE]]
    for half, at, end in ((2 * link, u, v), (2 * link + 1, v, u)):
        living.to[half] = end
        living.following[half], living.previous[half] = living.head[at], -1
        if living.head[at] >= 0:
            living.previous[living.head[at]] = half
        living.head[at] = half
        living.degrees[at] += 1
    return int(2 * link)


@kernel
def remove_link(half: int, living: LivingOverlay) -> None:
    """Remove the link of a half-link."""
    link = half >> 1
    for each in (2 * link, 2 * link + 1):
        at = living.to[each ^ 1]
        before, after = living.previous[each], living.following[each]
        if before >= 0:
            living.following[before] = after
        else:
            living.head[at] = after
        if after >= 0:
            living.previous[after] = before
        living.degrees[at] -= 1
    living.free[living.numbers[NUM_FREE]] = link
    living.numbers[NUM_FREE] += 1
    living.numbers[NUM_LINKS] -= 1


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
def root_of(group: int, broken: Broken) -> int:
    """The root of a group."""
    parent = broken.parent
    while parent[group] != group:
        parent[group] = parent[parent[group]]
        group = parent[group]
    return int(group)


@kernel
def component(slot: int, t: int, living: LivingOverlay, broken: Broken) -> int:
    """The component of an active slot of a broken topic."""
    if living.seen[slot] == living.numbers[EPOCH]:
        return root_of(living.group[slot], broken)
    return root_of(broken.main[t], broken)


@kernel
def unite_broken(u: int, v: int, living: LivingOverlay, broken: Broken) -> None:
    """Join the components that a new link joins."""
    i, end_i = living.node_offsets[u], living.node_offsets[u + 1]
    j, end_j = living.node_offsets[v], living.node_offsets[v + 1]
    while i < end_i and j < end_j:
        t, other = living.node_topics[i], living.node_topics[j]
        if t == other and broken.parts[t] > 1 and living.active[i] and living.active[j]:
            a, b = component(i, t, living, broken), component(j, t, living, broken)
            if a != b:
                broken.parent[a] = b
                broken.parts[t] -= 1
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
    epoch, numbers, parent = living.numbers[EPOCH], broken.numbers, broken.parent
    queue, behind, searches = broken.queue, broken.behind, broken.searches
    base, num, parts = numbers[2], 0, 0
    for key in seeds:
        slot = key & 0xFFFFFFFF
        if living.active[slot] and living.seen[slot] != epoch:
            group = base + parts
            living.seen[slot], living.group[slot], parent[group] = epoch, group, group
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
            half = living.head[living.slot_nodes[queue[entry]]]
            while half >= 0:
                other = slot_of(living.to[half], t, living)
                half = living.following[half]
                if other < 0:
                    continue
                if living.seen[other] != epoch:
                    living.seen[other], living.group[other] = epoch, base + k
                    queue[num], behind[num] = other, -1
                    behind[searches[k, 1]] = num
                    searches[k, 1] = num
                    num += 1
                elif living.group[other] != base + k:
                    a, b = root_of(base + k, broken), root_of(living.group[other], broken)
                    if a != b:
                        parent[a] = b
                        searches[b - base, 3] += searches[a - base, 3]
                        parts -= 1
                        open_parts -= 1
            searches[k, 0] = behind[entry]
            if searches[k, 0] < 0:
                root = root_of(base + k, broken) - base
                searches[root, 3] -= 1
                open_parts -= searches[root, 3] == 0
    if parts < 2:
        return
    main = base
    for k in range(count):
        if searches[root_of(base + k, broken) - base, 3] > 0:
            main = root_of(base + k, broken)
    broken.parts[t], broken.main[t] = parts, main
    broken.topics[numbers[0]] = t
    numbers[0] += 1
    broken.starts[t, 0] = numbers[1]
    for slot in queue[:num]:
        if root_of(living.group[slot], broken) != main:
            broken.slots[numbers[1]] = slot
            numbers[1] += 1
    broken.starts[t, 1] = numbers[1]


@kernel
def is_redundant(half: int, most: int, living: LivingOverlay) -> bool:
    """Whether all common topics of a link's ends stay connected without the link.

    Searches from both ends of each topic in turn; one that has visited `most` subscriptions is given up, as if the link
    were needed. Cost O(common topics · the smaller side · degree).
    """
    u, v = living.to[half ^ 1], living.to[half]
    i, end_i = living.node_offsets[u], living.node_offsets[u + 1]
    j, end_j = living.node_offsets[v], living.node_offsets[v + 1]
    while i < end_i and j < end_j:
        t, other = living.node_topics[i], living.node_topics[j]
        both = t == other and living.active[i] and living.active[j]
        if both and (_is_leaf(u, v, t, living) or _is_leaf(v, u, t, living)):
            return False
        i += t <= other
        j += other <= t
    i, j = living.node_offsets[u], living.node_offsets[v]
    while i < end_i and j < end_j:
        t, other = living.node_topics[i], living.node_topics[j]
        if t == other and living.active[i] and living.active[j] and not _meet(i, j, t, half, most, living):
            return False
        i += t <= other
        j += other <= t
    return True


@kernel
def _is_leaf(v: int, u: int, t: int, living: LivingOverlay) -> bool:
    """Whether no neighbour of v but u subscribes to the topic."""
    half = living.head[v]
    while half >= 0:
        if living.to[half] != u and slot_of(living.to[half], t, living) >= 0:
            return False
        half = living.following[half]
    return True


@kernel
def _meet(one: int, other: int, t: int, without: int, most: int, living: LivingOverlay) -> bool:
    """Whether two slots of a topic are connected without a link."""
    living.numbers[EPOCH] += 1
    epoch = living.numbers[EPOCH]
    living.seen[one], living.group[one] = epoch, 0
    living.seen[other], living.group[other] = epoch, 1
    queues = ([one], [other])
    at = np.zeros(2, np.int64)
    while True:
        for side in range(2):
            queue = queues[0] if side == 0 else queues[1]
            if at[side] == len(queue) or len(queue) > most:
                return False
            half = living.head[living.slot_nodes[queue[at[side]]]]
            at[side] += 1
            while half >= 0:
                if half >> 1 != without >> 1:
                    slot = slot_of(living.to[half], t, living)
                    if slot >= 0 and living.seen[slot] != epoch:
                        living.seen[slot], living.group[slot] = epoch, side
                        queue.append(slot)
                    elif slot >= 0 and living.group[slot] != side:
                        return True
                half = living.following[half]


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
                if not common_topics(v, living.to[half], living):
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
    living.numbers[EPOCH] += 1
    epoch = living.numbers[EPOCH]
    for signed in toggles:
        if signed > 0:
            living.seen[signed - 1] = epoch
    for signed in toggles:
        if signed < 0:
            continue
        slot, t = signed - 1, living.node_topics[signed - 1]
        half, attached = living.head[living.slot_nodes[slot]], False
        while half >= 0 and not attached:
            other = slot_of(living.to[half], t, living)
            attached = other >= 0 and living.seen[other] != epoch
            half = living.following[half]
        if attached:
            continue
        seeds.append(slot)
        for other in living.members[living.topic_offsets[t] : living.topic_offsets[t] + living.counts[t]]:
            if living.seen[other] != epoch:
                seeds.append(int(other))
                break


@kernel
def _seed_neighbours(v: int, t: int, living: LivingOverlay, seeds: list[int]) -> None:
    half = living.head[v]
    while half >= 0:
        slot = slot_of(living.to[half], t, living)
        if slot >= 0:
            seeds.append(slot)
        half = living.following[half]
