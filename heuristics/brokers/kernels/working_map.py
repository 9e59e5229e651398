"""Working overlay maps: the primary network as each broker uses it through its own links (P5 §3).

The master map of a broker is the primary network within Δ hops: next hops and distances. Contracting every broker that
it has no link to into the next one on the path back gives its working map. The map is stored as one slot for each of
the broker's links and, for every other broker, the slot it is contracted into; relative positions are sets of slots,
one bit each. Adding or removing a link changes one broker's map only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....instances.brokers.network import BrokerTree
from ....instances.runtime.compiled import kernel

Bits = npt.NDArray[np.uint64]
WORD = 64
FREE = -1
_ONE = np.uint64(1)


class WorkingMaps(NamedTuple):
    """The working maps of all brokers. n brokers with c slots each, in w words of 64 bits.

    `next_hops`, `distances`, shape (n, n): the master maps, as in :class:`.BrokerTree`. `slots`, shape (n, n):
    ``slots[a, v]`` is the slot of the last broker on the primary path from a to v that a has a link to; -1 for a.
    `between`, `beyond`, `behind`, shape (n, c, w): for each slot of a: the slots on the path from a to the slot's
    broker, those downstream of that broker (both with the slot itself), and those that it reaches through a.
    """

    next_hops: npt.NDArray[np.int32]
    distances: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int64]  # shape (n,): the number of links of each broker, candidates included
    ends: npt.NDArray[np.int32]  # shape (n, c): the broker that a slot's link goes to; -1 for a free slot
    order: npt.NDArray[np.int32]  # shape (n, c): the slots in use, by distance and then by broker
    slots: npt.NDArray[np.int32]
    between: Bits
    beyond: Bits
    behind: Bits
    real: Bits  # shape (n, w): the slots of primary and soft links; the others in use are candidates


def working_maps(tree: BrokerTree, soft_links: npt.ArrayLike = (), capacity: int = 0) -> WorkingMaps:
    """The working maps over the primary links and the given soft links, rows (sender, receiver).

    Each broker has `capacity` slots, or more if a broker has more links. Cost O(n) a link, memory O(n² + n c²/64).
    """
    links: list[list[int]] = np.asarray(soft_links, dtype=np.int64).reshape(-1, 2).tolist()
    senders = [u for u, _ in links]
    most = int((tree.degrees + np.bincount(senders, minlength=tree.num_brokers)).max())
    maps = maps_without_links(tree, max(capacity, most))
    for sender, receiver in [*tree.links.tolist(), *tree.links[:, ::-1].tolist(), *links]:
        add_link(maps, sender, receiver, True)
    return maps


def maps_without_links(tree: BrokerTree, capacity: int) -> WorkingMaps:
    """Working maps with `capacity` slots for the links of each broker, and none yet."""
    size, capacity = tree.num_brokers, max(1, capacity)
    words = -(-capacity // WORD)
    counts, real = np.zeros(size, dtype=np.int64), np.zeros((size, words), dtype=np.uint64)
    ends, order = (np.full((size, capacity), FREE, dtype=np.int32) for _ in range(2))
    between, beyond, behind = (np.zeros((size, capacity, words), dtype=np.uint64) for _ in range(3))
    slots = np.full((size, size), FREE, dtype=np.int32)
    return WorkingMaps(tree.next_hops, tree.distances, counts, ends, order, slots, between, beyond, behind, real)


@kernel
def add_link(maps: WorkingMaps, a: int, v: int, real: bool) -> int:
    """Add a link from broker `a` to `v`, which has none yet, and return its slot. Cost O(n + c w)."""
    ends, between, beyond, behind = maps.ends[a], maps.between[a], maps.beyond[a], maps.behind[a]
    slot = 0
    while ends[slot] != FREE:
        slot += 1
    ends[slot] = v
    before = maps.slots[a, v]
    between[slot], beyond[slot], behind[slot] = 0, 0, 0
    if before != FREE:
        between[slot] = between[before]
    set_bit(between[slot], slot)
    for i in range(maps.counts[a]):
        other = maps.order[a, i]
        if maps.next_hops[a, ends[other]] != maps.next_hops[a, v]:
            set_bit(behind[slot], other)
            set_bit(behind[other], slot)
        elif has_bit(between[slot], other):
            set_bit(beyond[other], slot)
        elif on_path(maps, a, v, ends[other]):
            set_bit(beyond[slot], other)
            set_bit(between[other], slot)
    set_bit(beyond[slot], slot)
    # Only what was contracted into the broker before `v` can lie beyond `v`.
    for x in range(len(maps.slots)):
        if x != a and maps.slots[a, x] == before and on_path(maps, a, v, x):
            maps.slots[a, x] = slot
    _insert(maps, a, slot)
    if real:
        set_bit(maps.real[a], slot)
    return slot


@kernel
def remove_link(maps: WorkingMaps, a: int, slot: int) -> None:
    """Remove a soft or candidate link of broker `a`. Cost O(n + c w)."""
    before = previous_slot(maps, a, slot)
    for x in range(len(maps.slots)):
        if maps.slots[a, x] == slot:
            maps.slots[a, x] = before
    kept = 0
    for i in range(maps.counts[a]):
        other = maps.order[a, i]
        if other != slot:
            maps.order[a, kept] = other
            kept += 1
            clear_bit(maps.between[a, other], slot)
            clear_bit(maps.beyond[a, other], slot)
            clear_bit(maps.behind[a, other], slot)
    maps.order[a, kept] = FREE
    maps.counts[a] = kept
    maps.ends[a, slot] = FREE
    clear_bit(maps.real[a], slot)


@kernel
def previous_slot(maps: WorkingMaps, a: int, slot: int) -> int:
    """The slot of the last broker before the slot's own on the primary path, candidates included; -1 if none."""
    for i in range(maps.counts[a] - 1, -1, -1):
        other = maps.order[a, i]
        if other != slot and has_bit(maps.between[a, slot], other):
            return int(other)
    return FREE


@kernel
def on_path(maps: WorkingMaps, a: int, v: int, x: int) -> bool:
    """Whether `v` is on the primary path from `a` to `x`."""
    return bool(maps.distances[a, v] + maps.distances[v, x] == maps.distances[a, x])


@kernel
def _insert(maps: WorkingMaps, a: int, slot: int) -> None:
    rank, v = maps.counts[a], maps.ends[a, slot]
    while rank > 0:
        other = maps.order[a, rank - 1]
        end = maps.ends[a, other]
        near = maps.distances[a, end] < maps.distances[a, v]
        if near or (maps.distances[a, end] == maps.distances[a, v] and end < v):
            break
        maps.order[a, rank] = other
        rank -= 1
    maps.order[a, rank] = slot
    maps.counts[a] += 1


@kernel
def set_bit(bits: Bits, slot: int) -> None:
    """Add a slot to a set."""
    bits[slot >> 6] |= _ONE << np.uint64(slot & 63)


@kernel
def clear_bit(bits: Bits, slot: int) -> None:
    """Remove a slot from a set."""
    bits[slot >> 6] &= ~(_ONE << np.uint64(slot & 63))


@kernel
def has_bit(bits: Bits, slot: int) -> bool:
    """Whether a slot is in a set."""
    return bool((bits[slot >> 6] >> np.uint64(slot & 63)) & _ONE)
