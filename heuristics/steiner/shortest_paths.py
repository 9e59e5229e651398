"""Steiner trees grown by shortest paths, and improved by inserting or removing single nodes."""

from __future__ import annotations

import heapq

import numpy as np

from ...instances.contract.arrays import Ids
from ...instances.contract.compiled import kernel
from ...instances.contract.option import Option
from ...instances.contract.overlay import Overlay
from ...instances.contract.run import Clock, offer
from ...instances.steiner.instance import SteinerInstance
from ..graph import Graph, graph_of
from .spanning_trees import Flags, Reals, spanning_tree, steiner_heuristic

_STEPS = 2_000_000  # edges looked at between two looks at the clock


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
            kept = improve_tree(graph, costs, order, kept, instance.terminals, clock)
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


def improve_tree(graph: Graph, costs: Reals, order: Ids, kept: Flags, terminals: Ids, clock: Clock) -> Flags:
    """A local optimum: no insertion or removal of a single node gives a cheaper minimum spanning tree.

    `order` has the edges by cost. The result costs at most as much as `kept`. When the clock has passed, it is the best
    tree so far. Cost O(n · m) for each round.
    """
    best, node, since = kept.copy(), 0, 0
    most = max(1, _STEPS // max(1, len(kept)))
    while since < len(graph.offsets) - 1 and not clock.passed:
        best, node, since = _improved(graph, costs, order, best, terminals, node, since, most)
    return best


@kernel
def _improved(
    graph: Graph, costs: Reals, order: Ids, kept: Flags, terminals: Ids, node: int, unchanged: int, most: int
) -> tuple[Flags, int, int]:
    """The tree after `most` trials from a node on, the next node, and how many trials in a row improved nothing."""
    n = len(graph.offsets) - 1
    terminal = np.zeros(n, np.bool_)
    terminal[terminals] = True
    best = kept
    cost = costs[best].sum()
    since = unchanged
    v = node
    for _ in range(most):
        if since >= n:
            break
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
    return best, v, since


SHORTEST_PATHS = steiner_heuristic(
    "shortest-paths",
    shortest_paths_tree,
    summary="trees grown by shortest paths from several terminals, improved by single nodes",
    source="Takahashi, Matsuyama 1980",
    guarantee="at most 2(1 − 1/k) times the least cost, k terminals",
    cost="time O(starts · k · m log n)",
    options=(
        Option("starts", 10, "terminals to start from", least=1, most=10**6),
        Option("improve", True, "insert and remove nodes while that lowers the cost"),
    ),
    colour="#661100",
    marker=">",
)
