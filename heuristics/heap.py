"""A binary heap as kernels take it, in an array: several times as fast as a list of tuples."""

from __future__ import annotations

from ..instances.contract.arrays import Offsets
from ..instances.runtime.compiled import in_place_kernel


@in_place_kernel
def push(heap: Offsets, key: int, item: int) -> None:
    """Enter an item. Row 0 of `heap`, shape (1 + most, 2), has the number of items, the others a key and an item each.

    There must be a row for it. Cost O(log n).
    """
    at = heap[0, 0] + 1
    heap[0, 0] = at
    while at > 1 and heap[at >> 1, 0] > key:
        heap[at, 0], heap[at, 1] = heap[at >> 1, 0], heap[at >> 1, 1]
        at >>= 1
    heap[at, 0], heap[at, 1] = key, item


@in_place_kernel
def pop(heap: Offsets) -> tuple[int, int]:
    """Take out an item of the least key, with that key; there must be one. Cost O(log n)."""
    last, first, item = heap[0, 0], heap[1, 0], heap[1, 1]
    key, moved, at, below = heap[last, 0], heap[last, 1], 1, 2
    heap[0, 0] = last - 1
    while below < last:
        if below + 1 < last and heap[below + 1, 0] < heap[below, 0]:
            below += 1
        if heap[below, 0] >= key:
            break
        heap[at, 0], heap[at, 1] = heap[below, 0], heap[below, 1]
        at, below = below, 2 * below
    heap[at, 0], heap[at, 1] = key, moved
    return first, item
