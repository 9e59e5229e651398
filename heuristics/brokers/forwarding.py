"""The forwarding strategies of P5 §5: to which of its links a broker sends a publication.

A broker sees the brokers with matching subscriptions as anchors: the slots that stand for them in its working map.
Of these it keeps the ones downstream, that is not back where the publication came from. S0 is S1 and S2 alike on a
mesh without soft links.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...instances.arrays import Ids
from ..compiled import kernel
from .working_map import Bits, Mesh, closer, has, put

STRATEGIES = ("s0", "s1", "s2", "sh")
S0, S1, S2, SH = range(4)
NOWHERE = -1


class Room(NamedTuple):
    """What a forwarding decision writes to: sets of w words, and the chosen slots, at most c of them."""

    anchors: Bits
    common: Bits
    targets: npt.NDArray[np.int32]


def room_for(mesh: Mesh) -> Room:
    """Room for decisions on a mesh."""
    words = mesh.real.shape[1]
    return Room(np.zeros(words, np.uint64), np.zeros(words, np.uint64), np.zeros(mesh.ends.shape[1], np.int32))


@kernel
def anchors_at(mesh: Mesh, a: int, came_from: int, matching: Ids, real: bool, room: Room) -> bool:
    """Put the downstream anchors of the matching brokers in ``room.anchors``: whether there are any.

    With `real`, a candidate's anchors are those of the primary or soft link that it is funnelled over.
    """
    room.anchors[:] = 0
    back = mesh.next_hops[a, came_from] if came_from != NOWHERE else NOWHERE
    found = False
    for v in matching:
        if v != a and mesh.next_hops[a, v] != back:
            slot = mesh.slots[a, v]
            while real and not has(mesh.real[a], slot):
                slot = closer(mesh, a, slot)
            put(room.anchors, slot)
            found = True
    return found


@kernel
def forward_far(mesh: Mesh, a: int, room: Room) -> int:
    """S2 (Fig. 6): straight to the anchors, nearest first, leaving out what lies beyond one chosen.

    The slots are put in ``room.targets``; returns how many.
    """
    # No views, helpers on sets or early ends here and below: with them numba counts references to every array of the
    # mesh at every step, which takes several times as long as the step.
    count = 0
    for i in range(mesh.counts[a]):
        slot = mesh.order[a, i]
        if has(room.anchors, slot):
            room.targets[count] = slot
            count += 1
            for w in range(len(room.anchors)):
                room.anchors[w] &= ~mesh.beyond[a, slot, w]
    return count


@kernel
def forward_common(mesh: Mesh, a: int, real: bool, room: Room) -> int:
    """S1 (Fig. 5): to the farthest broker on all primary paths to anchors in one direction. As :func:`forward_far`."""
    room.common[:] = 0
    for i in range(mesh.counts[a]):
        slot = mesh.order[a, i]
        if has(room.anchors, slot):
            shared = np.uint64(0)
            for w in range(len(room.common)):
                shared |= room.common[w] & mesh.between[a, slot, w]
            for w in range(len(room.common)):
                between = mesh.between[a, slot, w]
                if shared:
                    room.common[w] &= between | mesh.behind[a, slot, w]
                else:
                    room.common[w] |= between
    count = 0
    for i in range(mesh.counts[a] - 1, -1, -1):
        slot = mesh.order[a, i]
        usable = not real or has(mesh.real[a], slot)
        if usable and has(room.common, slot):
            reached = np.uint64(0)
            for w in range(len(room.anchors)):
                reached |= room.anchors[w] & mesh.beyond[a, slot, w]
                room.anchors[w] &= ~mesh.beyond[a, slot, w]
            if reached:
                room.targets[count] = slot
                count += 1
    return count
