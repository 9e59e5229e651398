"""Working overlay maps: how each broker sees the primary network through its own links (P5 §3).

A broker knows the primary network within Δ hops, its master map: the rows of next hops and distances. Contracting
every broker that it has no link to into the next one towards itself leaves its working map. The map is kept as the
brokers it has links to, each in a slot, and for every other broker the slot that stands for it; relative positions
are sets of slots, a bit each. A new or a dropped link touches one broker's map alone, and only what lies beyond it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...instances.brokers.tree import BrokerTree
from ..compiled import kernel

Bits = npt.NDArray[np.uint64]
WORD = 64
FREE = -1
_ONE = np.uint64(1)


class Mesh(NamedTuple):
    """The working maps of all brokers. n brokers, c slots each, w words of 64 bits.

    Attributes
    ----------
    next_hops, distances : int32 arrays, shape (n, n)
        The master maps, as in :class:`.BrokerTree`.
    counts : int64 array, shape (n,)
        How many links each broker has, candidates among them.
    ends : int32 array, shape (n, c)
        The broker that a slot's link goes to; -1 for a free slot.
    order : int32 array, shape (n, c)
        The slots in use, by distance and then by broker.
    slots : int32 array, shape (n, n)
        ``slots[a, v]`` is the slot of the last broker on the primary path from a to v that a has a link to; -1 at a.
    between, beyond, behind : uint64 arrays, shape (n, c, w)
        Slots of the brokers between a and the slot's broker (and itself), downstream of it (and itself), and those it
        reaches through a.
    real : uint64 array, shape (n, w)
        The slots of primary and soft links; the others in use are candidates.
    """

    next_hops: npt.NDArray[np.int32]
    distances: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int32]
    order: npt.NDArray[np.int32]
    slots: npt.NDArray[np.int32]
    between: Bits
    beyond: Bits
    behind: Bits
    real: Bits


def mesh_of(tree: BrokerTree, soft_links: Iterable[tuple[int, int]] = (), capacity: int = 0) -> Mesh:
    """The working maps over the primary links and the given soft links, which are (sender, receiver).

    Parameters
    ----------
    capacity : int
        Slots a broker; more are made where a broker has more links than that.

    Notes
    -----
    Cost O(n) a link, memory O(n² + n c²/64).
    """
    links = list(soft_links)
    most = int((tree.degrees + np.bincount([u for u, _ in links], minlength=tree.num_brokers)).max())
    mesh = _empty(tree, max(capacity, most, 1))
    for broker, ends in enumerate(tree.neighbours):
        for end in ends.tolist():
            link(mesh, broker, end, True)
    for broker, end in links:
        link(mesh, broker, end, True)
    return mesh


def _empty(tree: BrokerTree, capacity: int) -> Mesh:
    size, words = tree.num_brokers, -(-capacity // WORD)

    def sets() -> Bits:
        return np.zeros((size, capacity, words), dtype=np.uint64)

    return Mesh(
        tree.next_hops,
        tree.distances,
        np.zeros(size, dtype=np.int64),
        np.full((size, capacity), FREE, dtype=np.int32),
        np.full((size, capacity), FREE, dtype=np.int32),
        np.full((size, size), FREE, dtype=np.int32),
        sets(),
        sets(),
        sets(),
        np.zeros((size, words), dtype=np.uint64),
    )


@kernel
def link(mesh: Mesh, a: int, v: int, real: bool) -> int:
    """Give broker `a` a link to `v`, which it has none to: its slot. Cost O(n + c w)."""
    ends, between, beyond, behind = mesh.ends[a], mesh.between[a], mesh.beyond[a], mesh.behind[a]
    slot = 0
    while ends[slot] != FREE:
        slot += 1
    ends[slot] = v
    before = mesh.slots[a, v]
    between[slot] = 0
    beyond[slot] = 0
    behind[slot] = 0
    if before != FREE:
        between[slot] = between[before]
    put(between[slot], slot)
    for i in range(mesh.counts[a]):
        other = mesh.order[a, i]
        if mesh.next_hops[a, ends[other]] != mesh.next_hops[a, v]:
            put(behind[slot], other)
            put(behind[other], slot)
        elif has(between[slot], other):
            put(beyond[other], slot)
        elif passes(mesh, a, v, ends[other]):
            put(beyond[slot], other)
            put(between[other], slot)
    put(beyond[slot], slot)
    for x in range(len(mesh.slots)):
        if x != a and mesh.slots[a, x] == before and passes(mesh, a, v, x):
            mesh.slots[a, x] = slot
    _insert(mesh, a, slot)
    if real:
        put(mesh.real[a], slot)
    return slot


@kernel
def unlink(mesh: Mesh, a: int, slot: int) -> None:
    """Take a soft or candidate link of broker `a` away. Cost O(n + c w)."""
    before = closer(mesh, a, slot)
    for x in range(len(mesh.slots)):
        if mesh.slots[a, x] == slot:
            mesh.slots[a, x] = before
    kept = 0
    for i in range(mesh.counts[a]):
        other = mesh.order[a, i]
        if other != slot:
            mesh.order[a, kept] = other
            kept += 1
            drop(mesh.between[a, other], slot)
            drop(mesh.beyond[a, other], slot)
            drop(mesh.behind[a, other], slot)
    mesh.order[a, kept] = FREE
    mesh.counts[a] = kept
    mesh.ends[a, slot] = FREE
    drop(mesh.real[a], slot)


@kernel
def closer(mesh: Mesh, a: int, slot: int) -> int:
    """The slot of the last broker before the slot's own on the primary path, candidates among them; -1 if none."""
    for i in range(mesh.counts[a] - 1, -1, -1):
        other = mesh.order[a, i]
        if other != slot and has(mesh.between[a, slot], other):
            return int(other)
    return FREE


@kernel
def passes(mesh: Mesh, a: int, v: int, x: int) -> bool:
    """Whether the primary path from `a` to `x` goes through `v`."""
    return bool(mesh.distances[a, v] + mesh.distances[v, x] == mesh.distances[a, x])


@kernel
def _insert(mesh: Mesh, a: int, slot: int) -> None:
    place, v = mesh.counts[a], mesh.ends[a, slot]
    while place > 0:
        other = mesh.order[a, place - 1]
        end = mesh.ends[a, other]
        near = mesh.distances[a, end] < mesh.distances[a, v]
        if near or (mesh.distances[a, end] == mesh.distances[a, v] and end < v):
            break
        mesh.order[a, place] = other
        place -= 1
    mesh.order[a, place] = slot
    mesh.counts[a] += 1


@kernel
def put(bits: Bits, slot: int) -> None:
    """Add a slot to a set."""
    bits[slot >> 6] |= _ONE << np.uint64(slot & 63)


@kernel
def drop(bits: Bits, slot: int) -> None:
    """Take a slot from a set."""
    bits[slot >> 6] &= ~(_ONE << np.uint64(slot & 63))


@kernel
def has(bits: Bits, slot: int) -> bool:
    """Whether a slot is in a set."""
    return bool((bits[slot >> 6] >> np.uint64(slot & 63)) & _ONE)
