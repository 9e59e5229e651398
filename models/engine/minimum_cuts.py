"""Minimum cuts between two nodes of a directed network, for the separation of directed cuts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...instances.contract.arrays import Flags, Ids, Offsets, Reals, offsets_of
from ...instances.runtime.compiled import kernel

_FLOW_EPSILON = 1e-9


class ArcNetwork(NamedTuple):
    """Arcs, each with its reverse, sorted by tail."""

    offsets: Offsets
    head: Ids  # the arcs that leave node v lead to head[offsets[v]:offsets[v + 1]]
    reverse: Offsets  # the index of the reverse arc, shape (2a,)
    given: Offsets  # the index of each arc given, shape (a,)


def network_of(num_nodes: int, tails: npt.NDArray[np.integer], heads: npt.NDArray[np.integer]) -> ArcNetwork:
    """The network of arcs tail → head."""
    count = len(tails)
    tail, head = np.concatenate([tails, heads]), np.concatenate([heads, tails])
    order = np.argsort(tail, kind="stable")
    index = np.empty(2 * count, np.int64)
    index[order] = np.arange(2 * count)
    offsets = offsets_of(tail, num_nodes)
    reverse = index[(order + count) % max(1, 2 * count)]
    return ArcNetwork(offsets, head[order].astype(np.int32), reverse, index[:count])


def minimum_cut(
    network: ArcNetwork, capacities: Reals, source: int, sink: int, enough: float
) -> tuple[Flags, Flags] | None:
    """The source sides of two minimum cuts, the smallest and the largest one; None if the flow reaches `enough`.

    `capacities`, shape (a,), are not negative; residual ones below 1e-9 count as 0. Dinic's algorithm; O(n² a) at
    worst.
    """
    residual = np.zeros(len(network.head))
    residual[network.given] = capacities
    if maximum_flow(network, residual, source, sink, enough) >= enough:
        return None
    return reachable(network, residual, source, False), ~reachable(network, residual, sink, True)


@kernel
def maximum_flow(network: ArcNetwork, residual: Reals, source: int, sink: int, enough: float) -> float:
    """Augment until the flow is maximal or at least `enough`; `residual` capacities are updated in place."""
    n = len(network.offsets) - 1
    level, queue = np.empty(n, np.int32), np.empty(n, np.int32)
    next_arc, path = np.empty(n, np.int64), np.empty(n, np.int64)
    total = 0.0
    while total < enough:
        # Dinic: levels by breadth-first search, then paths along rising levels, each arc tried once a phase.
        level[:] = -1
        level[source] = 0
        queue[0] = source
        first, last = 0, 1
        while first < last and level[sink] < 0:
            v = queue[first]
            first += 1
            for k in range(network.offsets[v], network.offsets[v + 1]):
                w = network.head[k]
                if level[w] < 0 and residual[k] > _FLOW_EPSILON:
                    level[w] = level[v] + 1
                    queue[last] = w
                    last += 1
        if level[sink] < 0:
            break
        next_arc[:] = network.offsets[:-1]
        v, depth = source, 0
        while True:
            if v == sink:
                amount = np.inf
                for d in range(depth):
                    amount = min(amount, residual[path[d]])
                for d in range(depth):
                    residual[path[d]] -= amount
                    residual[network.reverse[path[d]]] += amount
                total += amount
                v, depth = source, 0
            elif next_arc[v] < network.offsets[v + 1]:
                k = next_arc[v]
                if residual[k] > _FLOW_EPSILON and level[network.head[k]] == level[v] + 1:
                    path[depth] = k
                    depth += 1
                    v = network.head[k]
                else:
                    next_arc[v] += 1
            elif v == source:
                break
            else:
                # A dead end: one step back, and never through this arc again in this phase.
                depth -= 1
                v = network.head[network.reverse[path[depth]]]
                next_arc[v] += 1
    return total


@kernel
def reachable(network: ArcNetwork, residual: Reals, start: int, backwards: bool) -> Flags:
    """The nodes reachable from `start` along positive residual capacities; `backwards`, those that reach it."""
    reached = np.zeros(len(network.offsets) - 1, np.bool_)
    queue = np.empty(len(reached), np.int32)
    reached[start], queue[0] = True, start
    first, last = 0, 1
    while first < last:
        v = queue[first]
        first += 1
        for k in range(network.offsets[v], network.offsets[v + 1]):
            w = network.head[k]
            if not reached[w] and residual[network.reverse[k] if backwards else k] > _FLOW_EPSILON:
                reached[w] = True
                queue[last] = w
                last += 1
    return reached
