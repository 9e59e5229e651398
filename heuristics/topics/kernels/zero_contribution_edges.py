"""The edges of contribution 0 that MinMax-ODA adds while they do not raise the maximum degree (P2 §1.1)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....instances.contract.arrays import Ids, Offsets, offsets_of
from ...compiled import kernel
from .contributions import Degrees
from .partial_overlay import PartialOverlay
from .ties import RULES, TieOrder, candidate_of, rank_of

_HIGHEST, _RANDOM = RULES.index("highest"), RULES.index("random")


class _Search(NamedTuple):
    """Nodes below the maximum degree, and the adjacency of the overlay before the search.

    `adjacent` marks the neighbours of the node whose row is being searched.
    """

    nodes: Ids
    degrees: Degrees
    max_degree: int
    offsets: Offsets
    neighbours: Ids
    adjacent: Offsets


def add_zero_contribution_edges(partial: PartialOverlay, max_degree: int) -> int:
    """Add, in the order of ties, edges between nodes below the maximum degree until all of these are adjacent.

    None of them may contribute. Returns the number of edges added. With F such nodes and E edges so
    far, memory O(E) and time O(E log E), for random ties expected time O(F² + E log E).
    """
    nodes = np.flatnonzero(partial.degrees < max_degree).astype(np.int32)
    if len(nodes) < 2:
        return 0
    n, (u, v) = len(partial.degrees), np.divmod(partial.edges, len(partial.degrees))
    ends = np.concatenate([u, v])
    offsets = offsets_of(ends, n)
    neighbours = np.concatenate([v, u])[np.argsort(ends, kind="stable")].astype(np.int32)
    if partial.order.rule == _HIGHEST:
        nodes = nodes[::-1].copy()
    search = _Search(nodes, partial.degrees, max_degree, offsets, neighbours, np.full(n, -1, np.int64))
    added = _add_at_random(search, partial.order) if partial.order.rule == _RANDOM else _add_in_order(search)
    partial.record(added, merged=0)
    return len(added)


@kernel
def _add_in_order(search: _Search) -> npt.NDArray[np.int64]:
    nodes, degrees, max_degree = search.nodes, search.degrees, search.max_degree
    following = np.arange(1, len(nodes) + 1)
    edges, num_edges = np.empty(np.sum(max_degree - degrees[nodes]) // 2 + 1, np.int64), 0
    for row in range(len(nodes)):
        u = nodes[row]
        _mark_adjacent(u, search)
        last, k = row, following[row]
        while k < len(nodes) and degrees[u] < max_degree:
            v = nodes[k]
            if degrees[v] < max_degree and search.adjacent[v] != u:
                edges[num_edges] = np.int64(min(u, v)) * len(degrees) + max(u, v)
                num_edges += 1
                degrees[u] += 1
                degrees[v] += 1
            if degrees[v] < max_degree:
                last = k
            else:
                following[last] = following[k]
            k = following[k]
    return edges[:num_edges].copy()


@kernel
def _add_at_random(search: _Search, order: TieOrder) -> npt.NDArray[np.int64]:
    nodes, degrees, max_degree = search.nodes, search.degrees, search.max_degree
    best = np.empty(len(nodes), np.int64)
    for row in range(len(nodes)):
        best[row] = _best_after(-1, row, search, order)
    edges, num_edges = np.empty(np.sum(max_degree - degrees[nodes]) // 2 + 1, np.int64), 0
    while True:
        row = _lowest(best)
        if row < 0:
            return edges[:num_edges].copy()
        edge = candidate_of(best[row], order)
        u = edge // len(degrees)
        v = edge - u * len(degrees)
        if degrees[u] < max_degree and degrees[v] < max_degree:
            edges[num_edges] = edge
            num_edges += 1
            degrees[u] += 1
            degrees[v] += 1
        best[row] = _best_after(best[row], row, search, order)


@kernel
def _lowest(best: npt.NDArray[np.int64]) -> int:
    """The row of the lowest rank; -1 if every row is done."""
    lowest = -1
    for row in range(len(best)):
        if best[row] >= 0 and (lowest < 0 or best[row] < best[lowest]):
            lowest = row
    return lowest


@kernel
def _best_after(last: int, row: int, search: _Search, order: TieOrder) -> int:
    """The lowest rank above `last` of an edge from the row's node to a later one; -1 if there is none.

    The edges of a row are added in ascending order of rank, so those added since lie at or below `last`.
    """
    u, best = search.nodes[row], -1
    if search.degrees[u] >= search.max_degree:
        return best
    _mark_adjacent(u, search)
    for v in search.nodes[row + 1 :]:
        if search.degrees[v] < search.max_degree and search.adjacent[v] != u:
            rank = rank_of(np.int64(u) * len(search.degrees) + v, order)
            if rank > last and (best < 0 or rank < best):
                best = rank
    return best


@kernel
def _mark_adjacent(u: int, search: _Search) -> None:
    for v in search.neighbours[search.offsets[u] : search.offsets[u + 1]]:
        search.adjacent[v] = u
