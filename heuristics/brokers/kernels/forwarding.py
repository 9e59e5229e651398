"""The forwarding strategies of P5 §5: over which of its links a broker sends a publication.

The anchor of a broker with a matching subscription is the slot that it is contracted into in the working map. A broker
keeps the anchors downstream, away from the sender of the publication. Without soft links S1 and S2 both equal S0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....instances.brokers.network import BrokerNetwork
from ....instances.contract.arrays import Ids, Offsets
from ....instances.contract.time_units import SECOND
from ....instances.runtime.compiled import kernel
from .working_map import Bits, WorkingMaps, has_bit, previous_slot, set_bit

STRATEGIES = ("s0", "s1", "s2", "sh")
S0, S1, S2, SH = range(4)
NOWHERE = -1
_MOST_ROWS = 1 << 22


class ForwardingBuffers(NamedTuple):
    """The buffers of a forwarding decision: three sets of w words, and the chosen slots, at most c of them."""

    anchors: Bits
    matched: Bits
    common: Bits
    targets: npt.NDArray[np.int32]


def workspace_for(maps: WorkingMaps) -> ForwardingBuffers:
    """Empty buffers for decisions on some maps."""
    words = maps.real.shape[1]
    anchors, matched, common = np.zeros((3, words), np.uint64)
    return ForwardingBuffers(anchors, matched, common, np.zeros(maps.ends.shape[1], np.int32))


@kernel
def find_anchors(maps: WorkingMaps, a: int, sender: int, matching: Ids, workspace: ForwardingBuffers) -> bool:
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
def use_real_links(maps: WorkingMaps, a: int, workspace: ForwardingBuffers) -> None:
    """Put ``workspace.matched`` in ``workspace.anchors``, each candidate as the last real link on the path to it."""
    workspace.anchors[:] = 0
    for i in range(maps.counts[a]):
        slot = maps.order[a, i]
        if has_bit(workspace.matched, slot):
            while not has_bit(maps.real[a], slot):
                slot = previous_slot(maps, a, slot)
            set_bit(workspace.anchors, slot)


@kernel
def forward_far(maps: WorkingMaps, a: int, workspace: ForwardingBuffers) -> int:
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
def forward_common(maps: WorkingMaps, a: int, real: bool, workspace: ForwardingBuffers) -> int:
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


class SentCounts(NamedTuple):
    """What brokers have sent: in an interval of a second for the hybrid strategy, in all for link management.

    `limits`, shape (n,): publications sent in one interval above which a broker saves its uplink; 0 for no limit.
    `interval`, `current`, `previous`, shape (n,): the last interval in which a broker sent, and the publications
    sent in it and in the one before it.
    """

    limits: npt.NDArray[np.int64]
    interval: npt.NDArray[np.int64]
    current: npt.NDArray[np.int64]
    previous: npt.NDArray[np.int64]
    by_slot: npt.NDArray[np.int64]  # shape (n, c): publications intended for each slot, candidates included
    total: npt.NDArray[np.int64]  # shape (n,): publications that each broker did send


class Traffic(NamedTuple):
    """Publications as kernels take them: the arrays of a network's publications and destinations."""

    times: Offsets
    sources: Ids
    offsets: Offsets
    brokers: Ids


def traffic_of(network: BrokerNetwork, first: int = 0, last: int | None = None) -> Traffic:
    """Publications `first` … `last` − 1 of a network."""
    offsets, brokers = network.destinations
    stop = len(network.publications) if last is None else last
    published = network.publications
    return Traffic(published.times[first:stop], published.sources[first:stop], offsets[first : stop + 1], brokers)


def no_messages(uplinks: npt.NDArray[np.int64], maps: WorkingMaps, output_threshold: int) -> SentCounts:
    """Counts of 0; a broker saves its uplink above `output_threshold` percent of its capacity."""
    limits, by_slot = -(-uplinks * output_threshold // 100), np.zeros(maps.ends.shape, dtype=np.int64)
    interval, current, previous, total = np.zeros((4, len(maps.ends)), dtype=np.int64)
    return SentCounts(limits, interval, current, previous, by_slot, total)


def route(traffic: Traffic, maps: WorkingMaps, strategy: int, counts: SentCounts) -> npt.NDArray[np.int32]:
    """The messages that bring each publication to its destinations, by decisions that each broker takes alone.

    `strategy`, one of S0, S1, S2, SH: of all brokers; S0 requires maps of primary links only. `counts`: updated in
    place. Returns rows (publication, sender, receiver); publications are counted from 0 as in `traffic`.

    Cost O(d + c w) a message, where d is the number of destinations of its publication. All messages of a publication
    are sent at its time, also in the counts of the hybrid strategy.
    """
    size, total, workspace = len(maps.ends), len(traffic.times), workspace_for(maps)
    rows = max(1, _MOST_ROWS // size)
    buffer = np.empty((min(rows, total) * (size - 1) + 1, 3), dtype=np.int32)
    parts = [buffer[:0]]
    for first in range(0, total, rows):
        filled = _route(first, min(first + rows, total), traffic, maps, strategy, counts, workspace, buffer)
        if filled < 0:
            raise RuntimeError("a broker received a publication twice")
        parts.append(buffer[:filled].copy())
    return np.concatenate(parts)


@kernel
def _route(
    first: int,
    last: int,
    traffic: Traffic,
    maps: WorkingMaps,
    strategy: int,
    counts: SentCounts,
    workspace: ForwardingBuffers,
    messages: npt.NDArray[np.int32],
) -> int:
    """Fill `messages`, for each publication the queue of a breadth-first search; return their number, or -1."""
    filled = 0
    for p in range(first, last):
        matching = traffic.brokers[traffic.offsets[p] : traffic.offsets[p + 1]]
        begin = done = filled
        broker, sender = traffic.sources[p], NOWHERE
        while True:
            chosen = choose_targets(maps, broker, sender, matching, traffic.times[p], strategy, counts, workspace)
            if filled + chosen - begin >= len(maps.ends):
                return -1
            for i in range(chosen):
                messages[filled, 0] = p
                messages[filled, 1] = broker
                messages[filled, 2] = maps.ends[broker, workspace.targets[i]]
                filled += 1
            if done == filled:
                break
            sender, broker = messages[done, 1], messages[done, 2]
            done += 1
    return filled


@kernel
def choose_targets(
    maps: WorkingMaps,
    broker: int,
    sender: int,
    matching: Ids,
    time: int,
    strategy: int,
    counts: SentCounts,
    workspace: ForwardingBuffers,
) -> int:
    """Put the slots that a broker sends to in ``workspace.targets`` and count them; return their number."""
    common = strategy == S1 or (strategy == SH and is_busy(counts, broker, time))
    if not find_anchors(maps, broker, sender, matching, workspace):
        return 0
    return choose_slots(maps, broker, common, counts, workspace)


@kernel
def choose_slots(maps: WorkingMaps, broker: int, common: bool, counts: SentCounts, workspace: ForwardingBuffers) -> int:
    """As :func:`choose_targets`, for the anchors in ``workspace.anchors``, by S1 if `common`, else by S2."""
    for w in range(len(workspace.anchors)):
        workspace.matched[w] = workspace.anchors[w]
    chosen = forward_common(maps, broker, False, workspace) if common else forward_far(maps, broker, workspace)
    candidates = False
    for i in range(chosen):
        counts.by_slot[broker, workspace.targets[i]] += 1
        candidates |= not has_bit(maps.real[broker], workspace.targets[i])
    if candidates:
        # To redirect each copy alone would deliver twice if the link in use serves another target too.
        use_real_links(maps, broker, workspace)
        chosen = forward_common(maps, broker, True, workspace) if common else forward_far(maps, broker, workspace)
    counts.total[broker] += chosen
    counts.current[broker] += chosen
    return chosen


@kernel
def is_busy(counts: SentCounts, broker: int, time: int) -> bool:
    """Whether the broker sent more than its limit in the interval before that of `time`."""
    interval = time // SECOND
    if interval != counts.interval[broker]:
        counts.previous[broker] = counts.current[broker] if interval == counts.interval[broker] + 1 else 0
        counts.current[broker] = 0
        counts.interval[broker] = interval
    return bool(0 < counts.limits[broker] < counts.previous[broker])
