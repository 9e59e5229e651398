"""Edges of contribution 0 that do not raise the maximum degree, which MinMax-ODA adds (P2 §1.1)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....instances.contract.arrays import Ids, Offsets, offsets_of
from ....instances.runtime.compiled import kernel
from ..tie_breaking.ties import HIGHEST, RANDOM, TieOrder, rank_of
from .best_first import best_first
from .partial_overlay import Degrees, Edges, PartialOverlay


class _Search(NamedTuple):
    """Nodes below the maximum degree, in the order of ties, and the adjacency of the overlay before the search."""

    nodes: Ids
    degrees: Degrees
    max_degree: int
    offsets: Offsets
    neighbours: Ids
    adjacent: Offsets  # of each node the last node searched that it is adjacent to
    last: Edges  # of each node the rank of the edge to a later one that was added last
    order: TieOrder


def add_zero_contribution_edges(partial: PartialOverlay, max_degree: int) -> None:
    """Add, in the order of ties, edges between nodes below the maximum degree until all of these are adjacent.

    None of them may contribute. With F such nodes and E edges so far, memory O(E) and time O(F² + E log E).
    """
    nodes = np.flatnonzero(partial.degrees < max_degree).astype(np.int32)
    if len(nodes) < 2:
        return
    n, (u, v) = len(partial.degrees), np.divmod(partial.edges, len(partial.degrees))
    ends = np.concatenate([u, v])
    neighbours = np.concatenate([v, u])[np.argsort(ends, kind="stable")].astype(np.int32)
    if partial.order.rule == HIGHEST:
        nodes = nodes[::-1].copy()
    adjacent, last = np.full((2, n), -1, np.int64)
    offsets = offsets_of(ends, n)
    search = _Search(nodes, partial.degrees, max_degree, offsets, neighbours, adjacent, last, partial.order)
    most = int((max_degree - partial.degrees[nodes]).sum()) // 2
    random = partial.order.rule == RANDOM
    added = _add_at_random(len(nodes), n, most, search, partial.order) if random else _add_in_order(most, search)
    partial.record(added, merged=0)
    partial.work["idle_edges"] = partial.work.get("idle_edges", 0) + len(added)


@kernel
def _add_in_order(most: int, search: _Search) -> Edges:
    nodes, degrees, max_degree = search.nodes, search.degrees, search.max_degree
    edges, num_edges = np.empty(most, np.int64), 0
    for row in range(len(nodes)):
        u = nodes[row]
        _mark_adjacent(u, search)
        for v in nodes[row + 1 :]:
            if degrees[u] >= max_degree:
                break
            if degrees[v] < max_degree and search.adjacent[v] != u:
                edges[num_edges] = np.int64(min(u, v)) * len(degrees) + max(u, v)
                num_edges += 1
                degrees[u] += 1
                degrees[v] += 1
    return edges[:num_edges].copy()


@kernel
def _lowest_rank(row: int, search: _Search, order: TieOrder) -> tuple[float, int]:
    """1 and the lowest rank of an edge from the row's node to a later one; 0 and −1 if there is none.

    The edges of a row are added in ascending order of rank, so those added since lie at or below the last one's.
    """
    u, best = search.nodes[row], -1
    if search.degrees[u] >= search.max_degree:
        return 0.0, best
    _mark_adjacent(u, search)
    for v in search.nodes[row + 1 :]:
        if search.degrees[v] < search.max_degree and search.adjacent[v] != u:
            rank = rank_of(np.int64(u) * len(search.degrees) + v, order)
            if rank > search.last[u] and (best < 0 or rank < best):
                best = rank
    return 1.0 if best >= 0 else 0.0, best


@kernel
def _add(u: int, v: int, search: _Search) -> None:
    search.last[u] = rank_of(u * len(search.degrees) + v, search.order)
    search.degrees[u] += 1
    search.degrees[v] += 1


@kernel
def _mark_adjacent(u: int, search: _Search) -> None:
    for v in search.neighbours[search.offsets[u] : search.offsets[u + 1]]:
        search.adjacent[v] = u


_add_at_random = best_first(_lowest_rank, _add)
