"""The loop of a greedy method whose scores only fall: always the edge of highest score (lazily, Minoux 1978)."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ....instances.runtime.compiled import kernel
from ..tie_breaking.ties import TieOrder, candidate_of

BestFirst = Callable[[int, int, int, Any, TieOrder], npt.NDArray[np.int64]]


def best_first(best: Callable[..., tuple[float, int]], add: Callable[..., None]) -> BestFirst:
    """The kernel that adds the edge of highest score, and of lowest rank among these, until no edge scores above 0.

    `best`, `add`: candidates stand in lists: ``best(k, state, order)`` returns the highest score in list k at
    present, 0 if it has no candidate, and that edge's rank. ``add(u, v, state)`` adds an edge, which raises no
    score. The kernel takes the number of lists, that of nodes, an upper bound on the edges added, the state and the
    order of ties, and returns the edges u·|V| + v in the order of their addition. Cost O(log lists) and one or two
    calls of `best` for each edge added and each list whose highest score has fallen.
    """

    @kernel
    def added(num_lists: int, num_nodes: int, most: int, state: Any, order: TieOrder) -> npt.NDArray[np.int64]:
        heap = [(0.0, 0, 0) for _ in range(0)]
        for k in range(num_lists):
            score, rank = best(k, state, order)
            if score > 0:
                heap.append((-score, rank, k))
        heapq.heapify(heap)
        edges, num_edges = np.empty(most, np.int64), 0
        while len(heap) > 0:
            before, rank, k = heap[0]
            score, now = best(k, state, order)
            # Scores only fall, so a first list whose best edge scores as before has the best edge of all.
            if score == -before and now == rank:
                edge = candidate_of(rank, order)
                u = edge // num_nodes
                add(u, edge - u * num_nodes, state)
                edges[num_edges] = edge
                num_edges += 1
                score, now = best(k, state, order)
            if score > 0:
                heapq.heapreplace(heap, (-score, now, k))
            else:
                heapq.heappop(heap)
        return edges[:num_edges].copy()

    return added
