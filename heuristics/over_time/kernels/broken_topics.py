"""What a step of a trace breaks: its events, the components of topics that are left, and links that are redundant.

The topics that a step touches are searched from where it touched them, so that a step costs in the subscriptions near
its events.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....instances.contract.arrays import Ids, Offsets
from ....instances.runtime.compiled import in_place_kernel, kernel
from ...graph import root_of
from .living_overlay import (
    ON,
    Changes,
    LivingOverlay,
    entry_of,
    first_mark,
    node_of,
    remove_link,
    slot_of,
    toggle,
    with_room,
)

_BUDGETS = 8, 64


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
    active, masks, twice = living.active, living.masks, living.twice
    node_offsets, node_topics = living.node_offsets, living.node_topics
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


@in_place_kernel
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


@in_place_kernel
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


@in_place_kernel
def _meet(one: int, other: int, t: int, most: int, living: LivingOverlay) -> int:
    """Whether two subscribers of a topic are connected (1) or not (-1); 0 if one side has more than `most`."""
    active, masks, twice = living.active, living.masks, living.twice
    node_offsets, node_topics = living.node_offsets, living.node_topics
    begin, degrees, to, colours = living.begin, living.degrees, living.to, living.colours
    marks, queue = living.marks, living.queue
    mark, colour = first_mark(2, living), t & 31
    marks[one], marks[other] = mark, mark + 1
    last = len(queue) - 1  # the second search has its queue from the end backwards
    queue[0], queue[last] = one, other
    side = at = at_other = 0
    num = num_other = 1
    while at < num:
        if num > most:
            return 0
        v = queue[last - at if side else at]
        at += 1
        unsure = twice[v] >> colour & 1
        for entry in range(begin[v], begin[v] + degrees[v]):
            if not colours[entry] >> colour & 1:
                continue
            w = to[entry]
            if marks[w] == mark + side or (unsure and slot_of(w, t, masks, node_offsets, node_topics, active) < 0):
                continue
            if marks[w] >= mark:
                return 1
            marks[w] = mark + side
            queue[last - num if side else num] = w
            num += 1
        side, at, at_other, num, num_other = 1 - side, at_other, at, num_other, num
    return -1


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
    node_offsets, node_topics, degrees, begin = living.node_offsets, living.node_topics, living.degrees, living.begin
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
            v = node_of(-signed - 1, node_offsets)
            _seed_neighbours(v, node_topics[-signed - 1], living, seeds)
            toggle(v, -signed - 1, False, living)
    for signed in toggles:  # before links go: a new topic of both ends keeps one
        if signed > 0:
            toggle(node_of(signed - 1, node_offsets), signed - 1, True, living)
    for signed in toggles:
        if signed < 0:
            v = node_of(-signed - 1, node_offsets)
            for k in range(degrees[v] - 1, -1, -1):
                if not living.colours[begin[v] + k]:
                    w = int(living.to[begin[v] + k])
                    changes.append((step, int(v), w, -1))
                    remove_link(v, w, living)
    return with_room(links + len(seeds), living), seeds


@kernel
def seed_new(toggles: Ids, living: LivingOverlay, seeds: list[int]) -> None:
    """Add seeds for the subscriptions that begin with a step and have no link yet to an older one of their topic."""
    active, masks, node_offsets, node_topics = living.active, living.masks, living.node_offsets, living.node_topics
    begin, degrees, to, colours = living.begin, living.degrees, living.to, living.colours
    members, counts, topic_offsets = living.members, living.counts, living.topic_offsets
    for signed in toggles:
        if signed < 0:
            continue
        v, t = node_of(signed - 1, node_offsets), node_topics[signed - 1]
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
