"""Dual ascent for Steiner arborescences: a lower bound in integers, reduced costs, and directed cuts."""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...heuristics.steiner.graph import Flags, Graph
from ...instances.contract.arrays import Ids, Offsets
from ...instances.contract.compiled import kernel

Units = npt.NDArray[np.int64]
_FAR = 2**60


class Ascent(NamedTuple):
    """The result of dual ascent. Arc 2e goes from u to v of edge e, arc 2e + 1 from v to u.

    Cut i is of the arcs ``arcs[offsets[i]:offsets[i + 1]]``, which enter a set with a terminal and without the root.
    """

    bound: int  # on arborescences from the root to all terminals; 2^60 or more if there is none
    reduced: Units  # costs of the arcs, not negative, shape (2m,)
    offsets: Offsets
    arcs: Ids
    duals: Units  # of the cuts

    def sides(self, graph: Graph, root: int) -> list[list[int]]:
        """For each cut, the nodes that the root does not reach without its arcs. Cost O(m) a cut."""
        behind = _cut_off(graph, self.offsets, self.arcs, root)
        return [np.flatnonzero(row).tolist() for row in behind]


def dual_ascent(graph: Graph, costs: Units, terminals: Ids, root: int, most_arcs: int = 200_000) -> Ascent:
    """Raise the duals of directed cuts until every terminal is reached from the root along arcs of reduced cost 0.

    `costs` are those of the arcs, not negative, shape (2m,); the cuts kept have at most `most_arcs` arcs in total. Wong
    1984; the terminal whose cut has the fewest arcs comes first. Duals ≥ 0 without negative reduced costs prove the
    bound, so it is valid in any order. Cost O(m) for each cut, of which there is at most one per arc and terminal.
    """
    bound, reduced, offsets, arcs, duals = _ascend(graph, costs, terminals, root, most_arcs)
    return Ascent(int(bound), reduced, offsets, arcs, duals)


@kernel
def _ascend(graph: Graph, costs: Units, terminals: Ids, root: int, most: int) -> tuple[int, Units, Offsets, Ids, Units]:
    reduced = costs.copy()
    bound = 0
    kept = np.empty(most, np.int32)
    ends = [0]
    duals = [np.int64(0)]
    heap = [(0, np.int32(0))]
    heap.pop()
    for t in terminals:
        if t != root:
            heapq.heappush(heap, (0, t))
    while len(heap) > 0 and bound < _FAR:
        score, terminal = heapq.heappop(heap)
        inside = _behind(graph, reduced, int(terminal))
        if inside[root]:
            continue
        entering = _entering(graph, inside)
        if len(heap) > 0 and len(entering) > heap[0][0] and len(entering) > score:
            heapq.heappush(heap, (len(entering), terminal))
            continue
        if len(entering) == 0:
            bound = _FAR
            break
        least = reduced[entering].min()
        if least > 0:
            bound += least
            if ends[-1] + len(entering) <= most:
                kept[ends[-1] : ends[-1] + len(entering)] = entering
                ends.append(ends[-1] + len(entering))
                duals.append(least)
            for a in entering:
                reduced[a] -= least
        heapq.heappush(heap, (len(entering), terminal))
    return bound, reduced, np.array(ends), kept[: ends[-1]].copy(), np.array(duals[1:])


@kernel
def _cut_off(graph: Graph, offsets: Offsets, arcs: Ids, root: int) -> npt.NDArray[np.bool_]:
    behind = np.ones((len(offsets) - 1, len(graph.offsets) - 1), np.bool_)
    blocked = np.zeros(2 * len(graph.u), np.bool_)
    for cut in range(len(offsets) - 1):
        for k in range(offsets[cut], offsets[cut + 1]):
            blocked[arcs[k]] = True
        behind[cut, root] = False
        stack = [np.int32(root)]
        while len(stack) > 0:
            node = stack.pop()
            for k in range(graph.offsets[node], graph.offsets[node + 1]):
                other, e = graph.neighbour[k], graph.edge[k]
                if behind[cut, other] and not blocked[2 * e + (graph.v[e] == node)]:
                    behind[cut, other] = False
                    stack.append(other)
        for k in range(offsets[cut], offsets[cut + 1]):
            blocked[arcs[k]] = False
    return behind


@kernel
def _behind(graph: Graph, reduced: Units, terminal: int) -> Flags:
    """The nodes with a path of reduced cost 0 to a terminal."""
    inside = np.zeros(len(graph.offsets) - 1, np.bool_)
    inside[terminal] = True
    stack = [np.int32(terminal)]
    while len(stack) > 0:
        node = stack.pop()
        for k in range(graph.offsets[node], graph.offsets[node + 1]):
            other, e = graph.neighbour[k], graph.edge[k]
            if not inside[other] and reduced[2 * e + (graph.u[e] == node)] == 0:
                inside[other] = True
                stack.append(other)
    return inside


@kernel
def _entering(graph: Graph, inside: Flags) -> Ids:
    """The arcs into a set of nodes."""
    arcs = [np.int32(0)]
    arcs.pop()
    for e in range(len(graph.u)):
        if inside[graph.u[e]] != inside[graph.v[e]]:
            arcs.append(np.int32(2 * e + inside[graph.u[e]]))
    return np.array(arcs)


@kernel
def least_through(graph: Graph, reduced: Units, terminals: Ids, root: int) -> Units:
    """The least reduced cost of a path from the root through each arc to a terminal; 2^60 if there is none."""
    from_root = np.full(len(graph.offsets) - 1, _FAR)
    to_terminal = from_root.copy()
    from_root[root] = 0
    _set_distances(graph, reduced, from_root, 0)
    for t in terminals:
        if t != root:
            to_terminal[t] = 0
    _set_distances(graph, reduced, to_terminal, 1)
    through = np.empty(len(reduced), np.int64)
    for e in range(len(graph.u)):
        u, v = graph.u[e], graph.v[e]
        through[2 * e] = min(_FAR, from_root[u] + reduced[2 * e] + to_terminal[v])
        through[2 * e + 1] = min(_FAR, from_root[v] + reduced[2 * e + 1] + to_terminal[u])
    return through


@kernel
def _set_distances(graph: Graph, reduced: Units, distance: Units, backwards: int) -> None:
    """Dijkstra's algorithm from all nodes at distance 0, along the arcs or against them."""
    heap = [(0, np.int32(0))]
    heap.pop()
    for v in range(len(distance)):
        if distance[v] == 0:
            heapq.heappush(heap, (0, np.int32(v)))
    while len(heap) > 0:
        length, node = heapq.heappop(heap)
        if length > distance[node]:
            continue
        for k in range(graph.offsets[node], graph.offsets[node + 1]):
            other, e = graph.neighbour[k], graph.edge[k]
            forward = 1 if graph.v[e] == node else 0
            through = length + reduced[2 * e + (forward ^ backwards)]
            if through < distance[other]:
                distance[other] = through
                heapq.heappush(heap, (through, other))
