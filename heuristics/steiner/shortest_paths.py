"""Steiner trees grown by shortest paths, and improved by local search."""

from __future__ import annotations

import heapq

import numpy as np

from ...instances.contract.arrays import Flags, Ids, Reals
from ...instances.contract.option import Option
from ...instances.contract.overlay import Overlay
from ...instances.runtime.compiled import kernel
from ...instances.runtime.run import Clock, offer
from ...instances.steiner.instance import SteinerInstance
from ..graph import Graph, graph_of
from .local_search import improve_tree
from .spanning_trees import spanning_tree, steiner_heuristic


def shortest_paths_tree(
    instance: SteinerInstance, *, starts: int, improve: bool, clock: Clock | None = None
) -> Overlay | None:
    """The best of trees grown from several terminals; None if the terminals are not connected.

    Parameters
    ----------
    starts : int
        The number of terminals to start from, evenly spaced.
    improve : bool
        Whether to improve each tree by :func:`improve_tree`.
    clock : Clock, optional
        When it has passed, the best tree so far is returned.

    Notes
    -----
    Each step adds a shortest path from the tree to the nearest terminal outside it (Takahashi, Matsuyama 1980). The
    cost is at most 2(1 − 1/k) times the least. Time O(starts · k · m log n) at worst; in practice each tree takes few
    passes over the graph.
    """
    graph = graph_of(instance.num_nodes, instance.edges)
    costs = instance.costs.astype(np.float64)
    order = np.argsort(costs, kind="stable").astype(np.int32)
    best: Flags | None = None
    clock = clock or Clock(None)
    for start in evenly_spaced(instance.terminals, starts):
        if best is not None and clock.passed:
            break
        inside = grown_nodes(graph, costs, instance.terminals, start)
        kept, separate = spanning_tree(graph, order, inside, instance.terminals)
        if separate:
            return None
        if improve:
            offer(Overlay.from_edges(instance.num_nodes, instance.edges[kept]))
            kept = improve_tree(graph, costs, kept, instance.terminals, clock)
        if best is None or costs[kept].sum() < costs[best].sum():
            best = kept
            offer(Overlay.from_edges(instance.num_nodes, instance.edges[best]))
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


SHORTEST_PATHS = steiner_heuristic(
    "shortest-paths",
    shortest_paths_tree,
    summary="trees grown by shortest paths from several terminals, improved by local search",
    source="Takahashi, Matsuyama 1980",
    guarantee="at most 2(1 − 1/k) times the least cost, k terminals",
    cost="time O(starts · k · m log n)",
    options=(
        Option("starts", 10, "terminals to start from", least=1, most=10**6),
        Option("improve", True, "insert nodes and replace key paths and vertices while that lowers the cost"),
    ),
)
