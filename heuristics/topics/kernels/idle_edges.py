"""The edges without contribution that MinMax-ODA adds while they cost no maximum degree (P2 §1.1)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ....instances.arrays import Ids
from ...compiled import kernel
from .growth import Degrees, Growth
from .ties import RULES, TieOrder, candidate_of, priority

_HIGHEST, _RANDOM = RULES.index("highest"), RULES.index("random")


def add_idle_edges(growth: Growth, max_degree: int) -> int:
    """Add, best first, edges between nodes below the maximum degree until all of these are adjacent.

    To be called when none of them contributes. Returns the number of edges added. With F such nodes and E edges so
    far, memory O(E) and time O(E), for random ties expected time O(F² + E).
    """
    free = np.flatnonzero(growth.degrees < max_degree).astype(np.int32)
    if len(free) < 2:
        return 0
    n, edges = len(growth.degrees), growth.edges
    ends = np.concatenate([edges // n, edges % n]), np.concatenate([edges % n, edges // n])
    graph = sp.csr_array((np.ones(2 * len(edges), dtype=np.int8), ends), shape=(n, n))
    offsets, neighbours = graph.indptr.astype(np.int64), graph.indices.astype(np.int32)
    if growth.order.rule == _RANDOM:
        added = _add_at_random(free, growth.degrees, max_degree, offsets, neighbours, growth.order)
    else:
        ordered = free[::-1].copy() if growth.order.rule == _HIGHEST else free
        added = _add_in_order(ordered, growth.degrees, max_degree, offsets, neighbours)
    growth.add(added, merged=0)
    return len(added)


@kernel
def _add_in_order(
    free: Ids, degrees: Degrees, max_degree: int, offsets: npt.NDArray[np.int64], neighbours: Ids
) -> npt.NDArray[np.int64]:
    n = len(degrees)
    adjacent = np.full(n, -1, np.int64)
    following = np.arange(1, len(free) + 1)
    edges = np.empty(np.sum(max_degree - degrees[free]) // 2 + 1, np.int64)
    found = 0
    for row in range(len(free)):
        u = free[row]
        for v in neighbours[offsets[u] : offsets[u + 1]]:
            adjacent[v] = u
        last, k = row, following[row]
        while k < len(free) and degrees[u] < max_degree:
            v = free[k]
            if degrees[v] < max_degree and adjacent[v] != u:
                edges[found] = np.int64(min(u, v)) * n + max(u, v)
                found += 1
                degrees[u] += 1
                degrees[v] += 1
            if degrees[v] < max_degree:
                last = k
            else:
                following[last] = following[k]
            k = following[k]
    return edges[:found].copy()


@kernel
def _add_at_random(
    free: Ids,
    degrees: Degrees,
    max_degree: int,
    offsets: npt.NDArray[np.int64],
    neighbours: Ids,
    order: TieOrder,
) -> npt.NDArray[np.int64]:
    n = len(degrees)
    adjacent = np.full(n, -1, np.int64)
    best = np.empty(len(free), np.int64)
    for row in range(len(free)):
        best[row] = _best_after(-1, row, free, degrees, max_degree, offsets, neighbours, adjacent, order)
    edges = np.empty(np.sum(max_degree - degrees[free]) // 2 + 1, np.int64)
    found = 0
    while True:
        row = _lowest(best)
        if row < 0:
            return edges[:found].copy()
        edge = candidate_of(best[row], order)
        u = edge // n
        v = edge - u * n
        if degrees[u] < max_degree and degrees[v] < max_degree:
            edges[found] = edge
            found += 1
            degrees[u] += 1
            degrees[v] += 1
        best[row] = _best_after(best[row], row, free, degrees, max_degree, offsets, neighbours, adjacent, order)


@kernel
def _lowest(best: npt.NDArray[np.int64]) -> int:
    """The row of the lowest priority; -1 if every row is done."""
    found = -1
    for row in range(len(best)):
        if best[row] >= 0 and (found < 0 or best[row] < best[found]):
            found = row
    return found


@kernel
def _best_after(
    last: int,
    row: int,
    free: Ids,
    degrees: Degrees,
    max_degree: int,
    offsets: npt.NDArray[np.int64],
    neighbours: Ids,
    adjacent: npt.NDArray[np.int64],
    order: TieOrder,
) -> int:
    """The lowest priority above `last` of an edge from the row's node to a later one; -1 if there is none.

    The edges of a row come in increasing priority, so those added meanwhile lie at or below `last`. To be called for
    random ties.
    """
    u, found = free[row], -1
    if degrees[u] >= max_degree:
        return found
    for v in neighbours[offsets[u] : offsets[u + 1]]:
        adjacent[v] = u
    for v in free[row + 1 :]:
        if degrees[v] < max_degree and adjacent[v] != u:
            place = priority(np.int64(u) * len(degrees) + v, order)
            if place > last and (found < 0 or place < found):
                found = place
    return found
