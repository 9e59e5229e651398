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
from ....instances.contract.compiled import kernel
from ...events import SECOND
from .working_map import Bits, WorkingMaps, has_bit, previous_slot, set_bit

STRATEGIES = ("s0", "s1", "s2", "sh")
S0, S1, S2, SH = range(4)
NOWHERE = -1
_MOST_ROWS = 1 << 22


class SentCounts(NamedTuple):
    """What brokers have sent: in an interval of a second for SH, in all for link management; and buffers of decisions.

    Attributes
    ----------
    limits : int64 array, shape (n,)
        Publications sent in one interval above which a broker saves its uplink; 0 for no limit.
    interval, current, previous : int64 arrays, shape (n,)
        The last interval in which a broker sent, and the publications sent in it and in the one before it.
    by_slot : int64 array, shape (n, c)
        Publications intended for each slot, candidates included.
    total : int64 array, shape (n,)
        Publications that each broker did send.
    anchors, matched, common : uint64 arrays, shape (w,)
        Sets of slots of the broker that decides.
    targets : int32 array, shape (c,)
        The slots that it chose.
    """

    limits: npt.NDArray[np.int64]
    interval: npt.NDArray[np.int64]
    current: npt.NDArray[np.int64]
    previous: npt.NDArray[np.int64]
    by_slot: npt.NDArray[np.int64]
    total: npt.NDArray[np.int64]
    anchors: Bits
    matched: Bits
    common: Bits
    targets: npt.NDArray[np.int32]


def no_messages(uplinks: npt.NDArray[np.int64], maps: WorkingMaps, output_threshold: int) -> SentCounts:
    """Counts of 0; a broker saves its uplink above `output_threshold` percent of its capacity."""
    limits, by_slot = -(-uplinks * output_threshold // 100), np.zeros(maps.ends.shape, dtype=np.int64)
    interval, current, previous, total = np.zeros((4, len(maps.ends)), dtype=np.int64)
    anchors, matched, common = np.zeros((3, maps.real.shape[1]), dtype=np.uint64)
    targets = np.zeros(maps.ends.shape[1], dtype=np.int32)
    return SentCounts(limits, interval, current, previous, by_slot, total, anchors, matched, common, targets)


@kernel
def use_real_links(maps: WorkingMaps, a: int, counts: SentCounts) -> None:
    """Put ``counts.matched`` in ``counts.anchors``, each candidate as the last real link on the path to it."""
    counts.anchors[:] = 0
    for i in range(maps.counts[a]):
        slot = maps.order[a, i]
        if has_bit(counts.matched, slot):
            while not has_bit(maps.real[a], slot):
                slot = previous_slot(maps, a, slot)
            set_bit(counts.anchors, slot)


@kernel
def _forward_far(maps: WorkingMaps, a: int, counts: SentCounts) -> int:
    """S2 (Fig. 6): directly to the nearest anchors, except those beyond one that is chosen already.

    The slots are put in ``counts.targets``; returns their number.
    """
    # No views, helpers on sets or early exits here and below: with them numba counts references to every array of the
    # maps in every step, which takes several times as long as the step.
    count = 0
    for i in range(maps.counts[a]):
        slot = maps.order[a, i]
        if has_bit(counts.anchors, slot):
            counts.targets[count] = slot
            count += 1
            for w in range(len(counts.anchors)):
                counts.anchors[w] &= ~maps.beyond[a, slot, w]
    return count


@kernel
def _forward_common(maps: WorkingMaps, a: int, real: bool, counts: SentCounts) -> int:
    """S1 (Fig. 5): to the farthest broker on all primary paths to anchors in one direction. As :func:`_forward_far`."""
    counts.common[:] = 0
    for i in range(maps.counts[a]):
        slot = maps.order[a, i]
        if has_bit(counts.anchors, slot):
            shared = np.uint64(0)
            for w in range(len(counts.common)):
                shared |= counts.common[w] & maps.between[a, slot, w]
            for w in range(len(counts.common)):
                between = maps.between[a, slot, w]
                if shared:
                    counts.common[w] &= between | maps.behind[a, slot, w]
                else:
                    counts.common[w] |= between
    count = 0
    for i in range(maps.counts[a] - 1, -1, -1):
        slot = maps.order[a, i]
        usable = not real or has_bit(maps.real[a], slot)
        if usable and has_bit(counts.common, slot):
            reached = np.uint64(0)
            for w in range(len(counts.anchors)):
                reached |= counts.anchors[w] & maps.beyond[a, slot, w]
                counts.anchors[w] &= ~maps.beyond[a, slot, w]
            if reached:
                counts.targets[count] = slot
                count += 1
    return count


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


def route(traffic: Traffic, maps: WorkingMaps, strategy: int, counts: SentCounts) -> npt.NDArray[np.int32]:
    """The messages that bring each publication to its destinations, by decisions that each broker takes alone.

    Parameters
    ----------
    strategy : {S0, S1, S2, SH}
        Of all brokers; S0 requires maps of primary links only.
    counts
        Updated in place.

    Returns
    -------
    int32 array, shape (messages, 3)
        Rows (publication, sender, receiver); publications are counted from 0 as in `traffic`.

    Notes
    -----
    Cost O(d + c w) a message, where d is the number of destinations of its publication. All messages of a publication
    are sent at its time, also in the counts of the hybrid strategy.
    """
    size, total = len(maps.ends), len(traffic.times)
    rows = max(1, _MOST_ROWS // size)
    buffer = np.empty((min(rows, total) * (size - 1) + 1, 3), dtype=np.int32)
    parts = [buffer[:0]]
    for first in range(0, total, rows):
        filled = _route(first, min(first + rows, total), traffic, maps, strategy, counts, buffer)
        if filled < 0:
            raise RuntimeError("a broker received a publication twice")
        parts.append(buffer[:filled].copy())
    return np.concatenate(parts)


@kernel
def _route(
    first: int, last: int, traffic: Traffic, maps: WorkingMaps, strategy: int, counts: SentCounts, messages: Ids
) -> int:
    """Fill `messages`, for each publication the queue of a breadth-first search; return their number, or -1."""
    filled = 0
    for p in range(first, last):
        matching = traffic.brokers[traffic.offsets[p] : traffic.offsets[p + 1]]
        begin = done = filled
        broker, sender = traffic.sources[p], NOWHERE
        while True:
            chosen = choose_targets(maps, broker, sender, matching, traffic.times[p], strategy, counts)
            if filled + chosen - begin >= len(maps.ends):
                return -1
            for i in range(chosen):
                messages[filled, 0] = p
                messages[filled, 1] = broker
                messages[filled, 2] = maps.ends[broker, counts.targets[i]]
                filled += 1
            if done == filled:
                break
            sender, broker = messages[done, 1], messages[done, 2]
            done += 1
    return filled


@kernel
def choose_targets(
    maps: WorkingMaps, a: int, sender: int, matching: Ids, time: int, strategy: int, counts: SentCounts
) -> int:
    """Put the slots that broker `a` sends to in ``counts.targets`` and count them; return their number."""
    counts.anchors[:] = 0
    back = maps.next_hops[a, sender] if sender != NOWHERE else NOWHERE
    found = False
    for v in matching:
        if v != a and maps.next_hops[a, v] != back:
            set_bit(counts.anchors, maps.slots[a, v])
            found = True
    return choose_slots(maps, a, found, time, strategy, counts)


@kernel
def choose_slots(maps: WorkingMaps, a: int, found: bool, time: int, strategy: int, counts: SentCounts) -> int:
    """As :func:`choose_targets`, for the anchors in ``counts.anchors``, if any were `found`."""
    common = strategy == S1 or (strategy == SH and _is_busy(counts, a, time))
    if not found:
        return 0
    for w in range(len(counts.anchors)):
        counts.matched[w] = counts.anchors[w]
    chosen = _forward_common(maps, a, False, counts) if common else _forward_far(maps, a, counts)
    candidates = False
    for i in range(chosen):
        counts.by_slot[a, counts.targets[i]] += 1
        candidates |= not has_bit(maps.real[a], counts.targets[i])
    if candidates:
        # To redirect each copy alone would deliver twice if the link in use serves another target too.
        use_real_links(maps, a, counts)
        chosen = _forward_common(maps, a, True, counts) if common else _forward_far(maps, a, counts)
    counts.total[a] += chosen
    counts.current[a] += chosen
    return chosen


@kernel
def _is_busy(counts: SentCounts, broker: int, time: int) -> bool:
    """Whether the broker sent more than its limit in the interval before that of `time`."""
    interval = time // SECOND
    if interval != counts.interval[broker]:
        counts.previous[broker] = counts.current[broker] if interval == counts.interval[broker] + 1 else 0
        counts.current[broker] = 0
        counts.interval[broker] = interval
    return bool(0 < counts.limits[broker] < counts.previous[broker])
