"""Mehlhorn's approximation: a minimum spanning tree of the terminals' distances."""

from __future__ import annotations

import numpy as np

from ...instances.contract.arrays import Flags, Ids, Offsets
from ...instances.contract.overlay import Overlay
from ...instances.runtime.compiled import kernel
from ...instances.runtime.run import Clock
from ...instances.steiner.instance import SteinerInstance
from ..graph import Graph, graph_of
from .spanning_trees import nearest_terminals, spanning_tree, steiner_heuristic


def mehlhorn(instance: SteinerInstance, *, clock: Clock | None = None) -> Overlay | None:
    """A tree of at most 2(1 − 1/k) times the least cost; None if the terminals are not connected; no limit ends it.

    A minimum spanning tree of the k terminals under shortest-path distances, each of its edges replaced by a path
    (Kou, Markowsky, Berman 1981), computed from the terminals' Voronoi regions (Mehlhorn 1988); then a minimum
    spanning tree of those nodes, pruned of leaves that are no terminals. Cost O(m log n). P4 §IV.B, Algorithm 3.
    """
    graph = graph_of(instance.num_nodes, instance.edges)
    costs, terminals = instance.costs.astype(np.float64), instance.terminals
    distance, base, via = nearest_terminals(graph, costs, terminals)
    reached = (base[graph.u] >= 0) & (base[graph.v] >= 0)
    between = np.flatnonzero(reached & (base[graph.u] != base[graph.v]))
    lengths = distance[graph.u[between]] + costs[between] + distance[graph.v[between]]
    crossing = between[np.argsort(lengths, kind="stable")].astype(np.int32)
    inside = np.zeros(instance.num_nodes, np.bool_)
    inside[terminals] = True
    regions = graph._replace(u=base[graph.u], v=base[graph.v])
    kept, separate = spanning_tree(regions, crossing, inside, terminals)
    if separate:
        return None
    _mark_paths(graph, np.flatnonzero(kept), via, inside)
    order = np.argsort(costs, kind="stable").astype(np.int32)
    chosen = spanning_tree(graph, order, inside, terminals)[0]
    return Overlay.from_edges(instance.num_nodes, instance.edges[chosen])


@kernel
def _mark_paths(graph: Graph, edges: Offsets, via: Ids, inside: Flags) -> None:
    """Mark the nodes on the paths from both ends of the edges to their terminals."""
    for e in edges:
        for end in (graph.u[e], graph.v[e]):
            node = end
            while not inside[node]:
                inside[node] = True
                node = graph.u[via[node]] if graph.v[via[node]] == node else graph.v[via[node]]


MEHLHORN = steiner_heuristic(
    "mehlhorn",
    mehlhorn,
    summary="minimum spanning tree of the terminals' distances",
    source="Mehlhorn 1988; P4 §IV.B, Algorithm 3",
    guarantee="at most 2(1 − 1/k) times the least cost, k terminals",
    cost="time O(m log n)",
    anytime=False,
)
