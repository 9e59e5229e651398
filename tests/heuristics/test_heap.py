"""The heap of kernels against Python's."""

import heapq
import random

import numpy as np
import pytest

from overlaybench.heuristics.heap import pop, push

pytestmark = pytest.mark.interpreted


@pytest.mark.parametrize("seed", range(20))
def test_items_come_out_by_key_while_others_enter(seed: int) -> None:
    draw, heap, entries = random.Random(seed), np.zeros((1 + 60, 2), np.int64), list[tuple[int, int]]()
    for item in range(60):
        key = draw.randint(-3, 3)
        push(heap, key, item)
        heapq.heappush(entries, (key, item))
        while entries and draw.random() < 0.4:
            key, taken = pop(heap)
            assert key == entries[0][0]
            entries.remove((key, taken))
            heapq.heapify(entries)
    assert heap[0, 0] == len(entries)
