"""The fewest links that connect a node without links to all its topics: a set cover by the other nodes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....instances.contract.arrays import Ids
from ....instances.contract.compiled import kernel
from .living_overlay import Changes, LivingOverlay, add_link, is_preferred

MOST_TOPICS = 12  # of an exact cover
_AT_ONCE = 62


class CoverSpace(NamedTuple):
    """Work space of :func:`attach`."""

    covered: npt.NDArray[np.int64]  # of each node the topics, as bits, that a link to it would connect
    touched: Ids  # the nodes that have some
    best: Ids  # of each set of at most `MOST_TOPICS` topics a node that covers them, or -1
    sets: Ids  # the sets that some node covers
    chosen: Ids  # the nodes of the cover


def cover_space(num_nodes: int) -> CoverSpace:
    """For so many nodes."""
    return CoverSpace(
        np.zeros(num_nodes, np.int64),
        np.zeros(num_nodes, np.int32),
        np.zeros(1 << MOST_TOPICS, np.int32),
        np.zeros(1 << MOST_TOPICS, np.int32),
        np.zeros(64, np.int32),
    )


@kernel
def attach(step: int, v: int, living: LivingOverlay, space: CoverSpace, changes: Changes) -> None:
    """Link a node that has no links, so that it has a neighbour in each of its topics that has another subscriber.

    Cost: the subscribers of its topics, and 2^topics for an exact cover of up to `MOST_TOPICS` topics by at most three
    nodes; otherwise the cover is greedy, of `_AT_ONCE` topics at a time.
    """
    slots = [0 for _ in range(0)]
    for slot in range(living.node_offsets[v], living.node_offsets[v + 1]):
        if living.active[slot] and living.counts[living.node_topics[slot]] > 1:
            slots.append(slot)
    for first in range(0, len(slots), _AT_ONCE):
        bits, num = min(_AT_ONCE, len(slots) - first), 0
        for k in range(bits):
            t, bit = living.node_topics[slots[first + k]], np.int64(1) << k
            for slot in living.members[living.topic_offsets[t] : living.topic_offsets[t] + living.counts[t]]:
                w = living.slot_nodes[slot]
                if w != v:
                    if space.covered[w] == 0:
                        space.touched[num] = w
                        num += 1
                    space.covered[w] |= bit
        half = living.head[v]
        every = (1 << bits) - 1
        while half >= 0:  # of an earlier part of the topics
            every &= ~space.covered[living.to[half]]
            half = living.following[half]
        for k in range(_fewest(every, bits, num, living, space)):
            changes.append((step, int(v), int(space.chosen[k]), 1))
            add_link(v, space.chosen[k], living)
        for w in space.touched[:num]:
            space.covered[w] = 0


@kernel
def _fewest(every: int, bits: int, num: int, living: LivingOverlay, space: CoverSpace) -> int:
    """Choose nodes that cover a set of topics: at most three by an exact search, more of them greedily."""
    count = _greedy(every, num, living, space)
    if count < 3 or bits > MOST_TOPICS:
        return count
    best, sets = space.best[: 1 << bits], 0
    best[:] = -1
    for w in space.touched[:num]:
        part = space.covered[w] & every
        if part & (part - 1):  # at least two
            if best[part] < 0:
                space.sets[sets] = part
                sets += 1
                best[part] = w
            elif is_preferred(w, best[part], living):
                best[part] = w
    for part in range((1 << bits) - 1, 0, -1):
        if best[part] >= 0:
            for k in range(bits):
                if part >> k & 1 and best[part ^ (1 << k)] < 0:
                    best[part ^ (1 << k)] = best[part]
    for w in space.touched[:num]:
        for k in range(bits):
            if (space.covered[w] & every) == 1 << k and best[1 << k] < 0:
                best[1 << k] = w
    for i in range(sets):
        rest = every & ~space.sets[i]
        if rest and best[rest] >= 0:
            space.chosen[0], space.chosen[1] = best[space.sets[i]], best[rest]
            return 2
    if count == 3:
        return count
    for i in range(sets):
        rest = every & ~space.sets[i]
        for j in range(i + 1, sets):
            left = rest & ~space.sets[j]
            if left and best[left] >= 0:
                space.chosen[0], space.chosen[1] = best[space.sets[i]], best[space.sets[j]]
                space.chosen[2] = best[left]
                return 3
    return count


@kernel
def _greedy(every: int, num: int, living: LivingOverlay, space: CoverSpace) -> int:
    """Always the node that covers most of what is left."""
    count, left = 0, every
    while left:
        best, most = -1, 0
        for w in space.touched[:num]:
            part, size = space.covered[w] & left, 0
            while part:
                part &= part - 1
                size += 1
            if size > most or (size == most and size and is_preferred(w, best, living)):
                best, most = w, size
        space.chosen[count] = best
        count += 1
        left &= ~space.covered[best]
    return count
