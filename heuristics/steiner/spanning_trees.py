"""Graphs as kernels take them: shortest paths to terminals, and spanning trees without superfluous leaves."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

import numpy as np

from ...instances.contract.arrays import Flags, Ids, Reals
from ...instances.contract.method import Method, Proposal
from ...instances.contract.overlay import Overlay
from ...instances.contract.result import Status
from ...instances.runtime.compiled import kernel
from ...instances.runtime.run import interruptible
from ...instances.steiner.instance import SteinerInstance
from ..graph import Graph, root_of


@kernel
def nearest_terminals(graph: Graph, costs: Reals, terminals: Ids) -> tuple[Reals, Ids, Ids]:
    """For each node the distance to the nearest terminal, that terminal, and the edge towards it; −1 if unreachable."""
    n = len(graph.offsets) - 1
    distance, base, via = np.full(n, np.inf), np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    heap = [(0.0, np.int32(0)) for _ in range(0)]
    for t in terminals:
        distance[t], base[t] = 0.0, t
        heapq.heappush(heap, (0.0, t))
    settle(graph, costs, distance, base, via, heap, np.inf)
    return distance, base, via


@kernel
def settle(
    graph: Graph, costs: Reals, distance: Reals, base: Ids, via: Ids, heap: list[tuple[float, np.int32]], limit: float
) -> None:
    """Dijkstra's algorithm from the nodes of a heap, for distances below a limit; nodes get the base of those before.

    Cost O(m log n).
    """
    while len(heap) > 0:
        length, node = heapq.heappop(heap)
        if length > distance[node]:
            continue
        for k in range(graph.offsets[node], graph.offsets[node + 1]):
            other, through = graph.neighbour[k], length + costs[graph.edge[k]]
            if through < distance[other] and through < limit:
                distance[other], base[other], via[other] = through, base[node], graph.edge[k]
                heapq.heappush(heap, (through, other))


@kernel
def spanning_tree(graph: Graph, order: Ids, inside: Flags, terminals: Ids) -> tuple[Flags, int]:
    """A minimum spanning tree of the marked nodes, pruned of leaves that are no terminals.

    `order`: the edges by cost. `inside`, shape (n,): the marked nodes. Returns whether each edge is on the tree, and
    the number of terminals not connected to the first one.
    """
    n = len(inside)
    parent = np.arange(n, dtype=np.int32)
    kept = np.zeros(len(graph.u), np.bool_)
    for e in order:
        if inside[graph.u[e]] and inside[graph.v[e]]:
            a, b = root_of(parent, graph.u[e]), root_of(parent, graph.v[e])
            if a != b:
                parent[a] = b
                kept[e] = True
    needed = np.zeros(n, np.bool_)
    separate = 0
    for t in terminals:
        needed[t] = True
        separate += root_of(parent, t) != root_of(parent, terminals[0])
    prune(graph, kept, needed)
    return kept, separate


@kernel
def prune(graph: Graph, kept: Flags, needed: Flags) -> None:
    """Remove leaves of a forest that are not needed, until there are none. Cost O(n + m)."""
    degree = np.zeros(len(needed), np.int32)
    for e in range(len(kept)):
        if kept[e]:
            degree[graph.u[e]] += 1
            degree[graph.v[e]] += 1
    for v in range(len(degree)):
        leaf = v
        while degree[leaf] == 1 and not needed[leaf]:
            for k in range(graph.offsets[leaf], graph.offsets[leaf + 1]):
                if kept[graph.edge[k]]:
                    kept[graph.edge[k]] = False
                    degree[leaf] -= 1
                    leaf = graph.neighbour[k]
                    degree[leaf] -= 1
                    break


def steiner_heuristic(
    name: str, build: Callable[..., Overlay | None], **attributes: Any
) -> Method[SteinerInstance, Overlay]:
    """The method of a polynomial heuristic, with further attributes of :class:`.Method`.

    `build` takes the instance and, by name, the options and a `clock`, and returns a tree or, if the terminals are not
    connected, None.
    """

    def solve(
        instance: SteinerInstance, problem: object, *, seed: int, time_limit: float | None, **chosen: Any
    ) -> Proposal[Overlay]:
        with interruptible(time_limit) as clock:
            tree = build(instance, clock=clock, **chosen)
        if tree is None:
            return Proposal(status=Status.INFEASIBLE, reason=instance.unreachable())
        return Proposal(tree, status=Status.TIME_LIMIT if clock.passed else None, reason=clock.stopped_by)

    return Method(name=name, problems=("steiner",), solve=solve, compiled=True, **attributes)
