"""The fewest links that connect a node without links to all its topics: a set cover by the other nodes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....instances.contract.arrays import Ids
from ....instances.runtime.compiled import in_place_kernel, kernel
from ...graph import bit_count
from .living_overlay import Changes, LivingOverlay, add_link, is_preferred

MOST_TOPICS = 12  # of an exact cover
_AT_ONCE = 30


class CoverSpace(NamedTuple):
    """Work space of :func:`attach`."""

    covered: Ids  # of each node the topics, as bits, that a link to it would connect
    best: Ids  # of each set of at most `MOST_TOPICS` topics a node that covers them, or -1
    worth: Ids  # of each set of topics how many that node covers, 0 without one
    sets: Ids  # the sets that some node covers
    chosen: Ids  # the nodes of the cover


def cover_space(num_nodes: int) -> CoverSpace:
    """For so many nodes."""
    best, worth, sets = np.zeros((3, 1 << MOST_TOPICS), np.int32)
    return CoverSpace(np.zeros(num_nodes, np.int32), best, worth, sets, np.zeros(64, np.int32))


@kernel
def attach(step: int, v: int, living: LivingOverlay, space: CoverSpace, changes: Changes) -> None:
    """Link a node without links to a neighbour in each of its topics with another subscriber.

    Of three nodes that cover the topics it takes those with most common topics in all: the cycles that they close spare
    later repairs. Cost: the subscribers of its topics, and 2^topics and the square of the sets that nodes cover for an
    exact cover of up to `MOST_TOPICS` topics by at most three nodes; otherwise the cover is greedy, of `_AT_ONCE`
    topics at a time.
    """
    active, node_offsets, node_topics = living.active, living.node_offsets, living.node_topics
    counts, members, topic_offsets = living.counts, living.members, living.topic_offsets
    chosen, covered, touched = space.chosen, space.covered, living.queue
    slots = [0 for _ in range(0)]
    for slot in range(node_offsets[v], node_offsets[v + 1]):
        if active[slot] and counts[node_topics[slot]] > 1:
            slots.append(slot)
    for first in range(0, len(slots), _AT_ONCE):
        bits, num = min(_AT_ONCE, len(slots) - first), 0
        for k in range(bits):
            t, bit = node_topics[slots[first + k]], np.int64(1) << k
            for w in members[topic_offsets[t] : topic_offsets[t] + counts[t]]:
                if w != v:
                    if covered[w] == 0:
                        touched[num] = w
                        num += 1
                    covered[w] |= bit
        every = (1 << bits) - 1
        for w in living.to[living.begin[v] : living.begin[v] + living.degrees[v]]:  # of an earlier part of the topics
            every &= ~covered[w]
        for k in range(_fewest(every, bits, num, living, space)):
            changes.append((step, int(v), int(chosen[k]), 1))
            add_link(v, chosen[k], living)
        for w in touched[:num]:
            covered[w] = 0


@in_place_kernel
def _fewest(every: int, bits: int, num: int, living: LivingOverlay, space: CoverSpace) -> int:
    """Choose nodes that cover a set of topics: at most three by an exact search, more of them greedily."""
    chosen, covered, touched = space.chosen, space.covered, living.queue
    count = _greedy(every, num, living, space)
    if count < 3 or bits > MOST_TOPICS:
        return count
    best, worth, covers, sets = space.best[: 1 << bits], space.worth[: 1 << bits], space.sets, 0
    degrees = living.degrees
    best[:] = -1
    worth[:] = 0
    for w in touched[:num]:
        part = covered[w] & every
        if part and (best[part] < 0 or is_preferred(w, best[part], degrees)):
            if best[part] < 0 and part & (part - 1):  # at least two
                covers[sets] = part
                sets += 1
            best[part], worth[part] = w, bit_count(part)
    for part in range((1 << bits) - 1, 0, -1):
        if best[part] >= 0:
            for k in range(bits):
                less = part & ~(1 << k)
                if less != part and worth[less] < worth[part]:
                    best[less], worth[less] = best[part], worth[part]
    for i in range(sets):
        rest = every & ~covers[i]
        if rest and best[rest] >= 0:
            chosen[0], chosen[1] = best[covers[i]], best[rest]
            return 2
    most = 0
    for i in range(sets):
        one = covers[i]
        for j in range(i):
            other = covers[j]
            left = every & ~(one | other)
            if left and worth[left] and worth[one] + worth[other] + worth[left] > most:
                most = worth[one] + worth[other] + worth[left]
                chosen[0], chosen[1], chosen[2] = best[one], best[other], best[left]
    return 3 if most else count


@in_place_kernel
def _greedy(every: int, num: int, living: LivingOverlay, space: CoverSpace) -> int:
    """Always the node that covers most of what is left."""
    degrees = living.degrees
    chosen, covered, touched = space.chosen, space.covered, living.queue
    count, left = 0, every
    while left:
        best, most = -1, 0
        for w in touched[:num]:
            size = bit_count(covered[w] & left)
            if size > most or (size == most and size and is_preferred(w, best, degrees)):
                best, most = w, size
        chosen[count] = best
        count += 1
        left &= ~covered[best]
    return count
