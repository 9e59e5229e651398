"""Steiner trees grown by shortest paths, and improved by inserting or removing single nodes."""

from __future__ import annotations

import heapq

import numpy as np

from ...instances.arrays import Ids
from ...instances.option import Option
from ...instances.overlay import Overlay
from ...instances.steiner.instance import SteinerInstance
from ..compiled import kernel
from .graph import Flags, Graph, Reals, graph_of, spanning_tree
from .heuristic import steiner_heuristic

STARTS = Option("starts", 10, "terminals to start from", least=1, most=10**6)
IMPROVE = Option("improve", True, "insert and remove nodes while that lowers the cost")


def shortest_paths_tree(instance: SteinerInstance, *, starts: int, improve: bool) -> Overlay | None:
    """The best of trees grown from several terminals; None if the terminals are not connected.

    Parameters
    ----------
    instance : SteinerInstance
    starts : int
        The number of terminals to start from, evenly spaced.
    improve : bool
        Whether to improve each tree by :func:`improve_tree`.

    Returns
    -------
    Overlay
        Of at most 2(1 − 1/k) times the least cost.

    Notes
    -----
    Each step adds a shortest path from the tree to the nearest terminal outside it (Takahashi, Matsuyama 1980).
    Cost O(starts · k · m log n) at worst; in practice each tree takes few passes over the graph.
    """
    graph = graph_of(instance.num_nodes, instance.edges)
    costs = instance.costs.astype(np.float64)
    order = np.argsort(costs, kind="stable").astype(np.int32)
    best: Flags | None = None
    for start in evenly_spaced(instance.terminals, starts):
        inside = grown_nodes(graph, costs, instance.terminals, start)
        kept, separate = spanning_tree(graph, order, inside, instance.terminals)
        if separate:
            return None
        if improve:
            kept = improve_tree(graph, costs, order, kept, instance.terminals)
        if best is None or costs[kept].sum() < costs[best].sum():
            best = kept
    assert best is not None
    return Overlay.from_edges(instance.num_nodes, instance.edges[best])


def evenly_spaced(terminals: Ids, count: int) -> list[int]:
    """At most `count` of the terminals, evenly spaced."""
    indices = np.unique(np.linspace(0, len(terminals) - 1, min(count, len(terminals))).astype(np.int64))
    return [int(t) for t in terminals[indices]]


@kernel
def grown_nodes(graph: Graph, costs: Reals, terminals: Ids, start: int) -> Flags:
    """The nodes of a tree grown from a terminal by shortest paths to all reachable terminals."""
    n = len(graph.offsets) - 1
    terminal, inside = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    terminal[terminals] = True
    distance, via = np.full(n, np.inf), np.full(n, -1, np.int32)
    distance[start] = 0.0
    inside[start] = True
    heap = [(0.0, np.int32(start))]
    while len(heap) > 0:
        length, node = heapq.heappop(heap)
        if length > distance[node]:
            continue
        if terminal[node] and not inside[node]:
            # The path becomes part of the tree: its nodes have distance 0 from now on.
            step = node
            while not inside[step]:
                inside[step], distance[step] = True, 0.0
                heapq.heappush(heap, (0.0, np.int32(step)))
                edge = via[step]
                step = graph.u[edge] if graph.v[edge] == step else graph.v[edge]
            continue
        for k in range(graph.offsets[node], graph.offsets[node + 1]):
            other, through = graph.neighbour[k], length + costs[graph.edge[k]]
            if through < distance[other]:
                distance[other], via[other] = through, graph.edge[k]
                heapq.heappush(heap, (through, other))
    return inside


@kernel
def improve_tree(graph: Graph, costs: Reals, order: Ids, kept: Flags, terminals: Ids) -> Flags:
    """A local optimum: no insertion or removal of a single node gives a cheaper minimum spanning tree.

    `order` has the edges by cost. The result costs at most as much as `kept`. Cost O(n · m) for each round.
    """
    n = len(graph.offsets) - 1
    terminal = np.zeros(n, np.bool_)
    terminal[terminals] = True
    best = kept.copy()
    cost = costs[best].sum()
    since = 0
    v = 0
    while since < n:
        inside = terminal.copy()
        for e in range(len(best)):
            if best[e]:
                inside[graph.u[e]] = inside[graph.v[e]] = True
        near = 0
        for k in range(graph.offsets[v], graph.offsets[v + 1]):
            near += inside[graph.neighbour[k]]
        since += 1
        if not terminal[v] and near > 1:
            inside[v] = not inside[v]
            trial, separate = spanning_tree(graph, order, inside, terminals)
            if separate == 0 and costs[trial].sum() < cost - 1e-9:
                best, cost, since = trial, costs[trial].sum(), 0
        v = (v + 1) % n
    return best


SHORTEST_PATHS = steiner_heuristic(
    "shortest-paths",
    shortest_paths_tree,
    summary="trees grown by shortest paths from several terminals, improved by single nodes",
    source="Takahashi, Matsuyama 1980",
    guarantee="at most 2(1 − 1/k) times the least cost, k terminals",
    cost="time O(starts · k · m log n)",
    options=(STARTS, IMPROVE),
    colour="#661100",
    marker=">",
)
