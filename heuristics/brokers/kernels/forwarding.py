"""The forwarding strategies of P5 §5: over which of its links a broker sends a publication.

The anchor of a broker with a matching subscription is the slot that it is contracted into in the working map. A broker
keeps the anchors downstream, away from the sender of the publication. Without soft links S1 and S2 both equal S0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....instances.contract.arrays import Ids
from ...compiled import kernel
from .working_map import Bits, WorkingMaps, has_bit, previous_slot, set_bit

STRATEGIES = ("s0", "s1", "s2", "sh")
S0, S1, S2, SH = range(4)
NOWHERE = -1


class Workspace(NamedTuple):
    """The buffers of a forwarding decision: three sets of w words, and the chosen slots, at most c of them."""

    anchors: Bits
    matched: Bits
    common: Bits
    targets: npt.NDArray[np.int32]


def workspace_for(maps: WorkingMaps) -> Workspace:
    """Empty buffers for decisions on some maps."""
    words = maps.real.shape[1]
    anchors, matched, common = np.zeros((3, words), np.uint64)
    return Workspace(anchors, matched, common, np.zeros(maps.ends.shape[1], np.int32))


@kernel
def find_anchors(maps: WorkingMaps, a: int, sender: int, matching: Ids, workspace: Workspace) -> bool:
    """Put the downstream anchors of the matching brokers in ``workspace.anchors``; return whether there are any."""
    workspace.anchors[:] = 0
    back = maps.next_hops[a, sender] if sender != NOWHERE else NOWHERE
    found = False
    for v in matching:
        if v != a and maps.next_hops[a, v] != back:
            set_bit(workspace.anchors, maps.slots[a, v])
            found = True
    return found


@kernel
def use_real_links(maps: WorkingMaps, a: int, workspace: Workspace) -> None:
    """Put ``workspace.matched`` in ``workspace.anchors``, each candidate as the last real link on the path to it."""
    workspace.anchors[:] = 0
    for i in range(maps.counts[a]):
        slot = maps.order[a, i]
        if has_bit(workspace.matched, slot):
            while not has_bit(maps.real[a], slot):
                slot = previous_slot(maps, a, slot)
            set_bit(workspace.anchors, slot)


@kernel
def forward_far(maps: WorkingMaps, a: int, workspace: Workspace) -> int:
    """S2 (Fig. 6): directly to the nearest anchors, except those beyond one that is chosen already.

    The slots are put in ``workspace.targets``; returns their number.
    """
    # No views, helpers on sets or early exits here and below: with them numba counts references to every array of the
    # maps in every step, which takes several times as long as the step.
    count = 0
    for i in range(maps.counts[a]):
        slot = maps.order[a, i]
        if has_bit(workspace.anchors, slot):
            workspace.targets[count] = slot
            count += 1
            for w in range(len(workspace.anchors)):
                workspace.anchors[w] &= ~maps.beyond[a, slot, w]
    return count


@kernel
def forward_common(maps: WorkingMaps, a: int, real: bool, workspace: Workspace) -> int:
    """S1 (Fig. 5): to the farthest broker on all primary paths to anchors in one direction. As :func:`forward_far`."""
    workspace.common[:] = 0
    for i in range(maps.counts[a]):
        slot = maps.order[a, i]
        if has_bit(workspace.anchors, slot):
            shared = np.uint64(0)
            for w in range(len(workspace.common)):
                shared |= workspace.common[w] & maps.between[a, slot, w]
            for w in range(len(workspace.common)):
                between = maps.between[a, slot, w]
                if shared:
                    workspace.common[w] &= between | maps.behind[a, slot, w]
                else:
                    workspace.common[w] |= between
    count = 0
    for i in range(maps.counts[a] - 1, -1, -1):
        slot = maps.order[a, i]
        usable = not real or has_bit(maps.real[a], slot)
        if usable and has_bit(workspace.common, slot):
            reached = np.uint64(0)
            for w in range(len(workspace.anchors)):
                reached |= workspace.anchors[w] & maps.beyond[a, slot, w]
                workspace.anchors[w] &= ~maps.beyond[a, slot, w]
            if reached:
                workspace.targets[count] = slot
                count += 1
    return count
