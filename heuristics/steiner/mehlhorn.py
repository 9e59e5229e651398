"""The minimum spanning tree approximation of Steiner trees over the terminals' distances, by Mehlhorn."""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...instances.arrays import Ids, Offsets
from ...instances.overlay import Overlay
from ...instances.steiner.instance import SteinerInstance
from ..compiled import kernel
from .heuristic import steiner_heuristic

Reals = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


class Graph(NamedTuple):
    """An undirected graph as kernels walk it.

    Attributes
    ----------
    offsets : int64 array, shape (n + 1,)
        The edges at node v are ``neighbour[offsets[v]:offsets[v + 1]]`` and ``edge[…]``.
    neighbour, edge : int32 arrays, shape (2m,)
    u, v : int32 arrays, shape (m,)
    """

    offsets: Offsets
    neighbour: Ids
    edge: Ids
    u: Ids
    v: Ids


def mehlhorn(instance: SteinerInstance) -> Overlay | None:
    """A tree that joins all terminals, of at most 2(1 − 1/k) times the least cost; None if they cannot be joined.

    Notes
    -----
    A minimum spanning tree of the k terminals under shortest-path distances, each of its edges replaced by a path
    (Kou, Markowsky, Berman 1981), all at once from the terminals' Voronoi regions (Mehlhorn 1988); then the minimum
    spanning tree of those nodes, without leaves that are no terminals. Cost O(m log n). P4 §IV.B, Algorithm 3.
    """
    graph = graph_of(instance.num_nodes, instance.edges)
    costs = instance.costs.astype(np.float64)
    chosen = spanning_approximation(graph, costs, instance.terminals)
    return None if chosen is None else Overlay.from_edges(instance.num_nodes, instance.edges[chosen])


def graph_of(num_nodes: int, edges: npt.NDArray[np.integer]) -> Graph:
    """The graph of edges given as an array of shape (m, 2)."""
    ends = edges.astype(np.int32)
    tail = np.concatenate([ends[:, 0], ends[:, 1]])
    head = np.concatenate([ends[:, 1], ends[:, 0]])
    number = np.tile(np.arange(len(ends), dtype=np.int32), 2)
    order = np.argsort(tail, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(tail, minlength=num_nodes))]).astype(np.int64)
    return Graph(offsets, head[order], number[order], ends[:, 0].copy(), ends[:, 1].copy())


def spanning_approximation(graph: Graph, costs: Reals, terminals: Ids) -> Flags | None:
    """As :func:`mehlhorn`: whether each edge is on the tree, or None if the terminals cannot be joined.

    Parameters
    ----------
    graph : Graph
    costs : float64 array, shape (m,)
        Not negative.
    terminals : int32 array
        Distinct.
    """
    distance, base, via = nearest_terminals(graph, costs, terminals)
    reached = (base[graph.u] >= 0) & (base[graph.v] >= 0)
    between = np.flatnonzero(reached & (base[graph.u] != base[graph.v]))
    lengths = distance[graph.u[between]] + costs[between] + distance[graph.v[between]]
    crossing = between[np.argsort(lengths, kind="stable")]
    kept = _joining(crossing.astype(np.int32), base[graph.u], base[graph.v], len(graph.offsets) - 1)
    if len(kept) < len(terminals) - 1:
        return None
    inside = np.zeros(len(graph.offsets) - 1, np.bool_)
    inside[terminals] = True
    _mark_paths(graph, kept, via, inside)
    order = np.argsort(costs, kind="stable").astype(np.int32)
    return spanning_tree(graph, order, inside, terminals)[0]


@kernel
def nearest_terminals(graph: Graph, costs: Reals, terminals: Ids) -> tuple[Reals, Ids, Ids]:
    """For each node the distance to the nearest terminal, that terminal, and the edge towards it (−1 if none is)."""
    n = len(graph.offsets) - 1
    distance, base, via = np.full(n, np.inf), np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    heap = [(0.0, np.int32(0))]
    heap.pop()
    for t in terminals:
        distance[t], base[t] = 0.0, t
        heapq.heappush(heap, (0.0, t))
    while len(heap) > 0:
        length, node = heapq.heappop(heap)
        if length > distance[node]:
            continue
        for k in range(graph.offsets[node], graph.offsets[node + 1]):
            other, through = graph.neighbour[k], length + costs[graph.edge[k]]
            if through < distance[other]:
                distance[other], base[other], via[other] = through, base[node], graph.edge[k]
                heapq.heappush(heap, (through, other))
    return distance, base, via


@kernel
def _joining(order: Ids, a: Ids, b: Ids, n: int) -> Ids:
    """Kruskal's algorithm: of the edges in the given order, those that join different components."""
    parent = np.arange(n, dtype=np.int32)
    kept = np.empty(len(order), np.int32)
    count = 0
    for e in order:
        one, other = _root(parent, a[e]), _root(parent, b[e])
        if one != other:
            parent[one] = other
            kept[count] = e
            count += 1
    return kept[:count]


@kernel
def _root(parent: Ids, node: int) -> int:
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


@kernel
def _mark_paths(graph: Graph, edges: Ids, via: Ids, inside: Flags) -> None:
    """Mark the nodes on the ways from both ends of the edges to their terminals."""
    for e in edges:
        for end in (graph.u[e], graph.v[e]):
            node = end
            while not inside[node]:
                inside[node] = True
                node = graph.u[via[node]] if graph.v[via[node]] == node else graph.v[via[node]]


@kernel
def spanning_tree(graph: Graph, order: Ids, inside: Flags, terminals: Ids) -> tuple[Flags, int]:
    """A minimum spanning tree of the nodes inside, without leaves that are no terminals.

    Parameters
    ----------
    order : int32 array, shape (m,)
        The edges by cost.
    inside : bool array, shape (n,)

    Returns
    -------
    bool array, shape (m,)
        Whether each edge is on it.
    int
        How many terminals are not joined to the first one.
    """
    n = len(inside)
    parent, degree = np.arange(n, dtype=np.int32), np.zeros(n, np.int32)
    kept = np.zeros(len(order), np.bool_)
    for e in order:
        if inside[graph.u[e]] and inside[graph.v[e]]:
            one, other = _root(parent, graph.u[e]), _root(parent, graph.v[e])
            if one != other:
                parent[one] = other
                kept[e] = True
                degree[graph.u[e]] += 1
                degree[graph.v[e]] += 1
    needed = np.zeros(n, np.bool_)
    apart = 0
    for t in terminals:
        needed[t] = True
        apart += _root(parent, t) != _root(parent, terminals[0])
    for v in range(n):
        leaf = v
        while degree[leaf] == 1 and not needed[leaf]:
            for k in range(graph.offsets[leaf], graph.offsets[leaf + 1]):
                if kept[graph.edge[k]]:
                    kept[graph.edge[k]] = False
                    degree[leaf] -= 1
                    leaf = graph.neighbour[k]
                    degree[leaf] -= 1
                    break
    return kept, apart


MEHLHORN = steiner_heuristic(
    "mehlhorn",
    mehlhorn,
    summary="minimum spanning tree of the terminals' distances, within 2(1 − 1/k) of the least cost",
    source="Mehlhorn 1988; P4 §IV.B, Algorithm 3",
)
