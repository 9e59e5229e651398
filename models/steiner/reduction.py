"""Reductions of Steiner tree instances that keep an optimal tree, with proofs in docs/steiner.md."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from ...heuristics.graph import graph_of
from ...heuristics.steiner.spanning_trees import nearest_terminals, spanning_tree
from ...instances.contract.arrays import Flags, Ids
from ...instances.runtime.run import Clock
from ...instances.steiner.instance import SteinerInstance
from ..engine.proof import NO_FILE, ProofFile

_WORTHWHILE = 0.02  # of the edges, to try again
_EDGES = 200  # between two looks at the clock
_STAR = 5  # the largest degree of a node that is replaced
_Neighbours = dict[int, dict[int, tuple[int, tuple[int, ...]]]]


@dataclass(frozen=True)
class ReducedInstance:
    """A smaller instance; each of its optimal trees, with the fixed edges, expands to one of the original instance."""

    instance: SteinerInstance
    fixed: tuple[int, ...]  # edges of the original instance that are on an optimal tree
    original_edges: tuple[tuple[int, ...], ...]  # the path that each edge replaces
    fixed_cost: int
    nodes: tuple[int, ...]  # the original number of each node

    def expand(self, original: SteinerInstance, chosen: Flags) -> npt.NDArray[np.int64]:
        """The edges of an original tree that is as cheap as the chosen edges of the reduced instance, or cheaper."""
        edges = {*self.fixed, *(e for number in np.flatnonzero(chosen) for e in self.original_edges[number])}
        used = np.array(sorted(edges), dtype=np.int64)
        graph = graph_of(original.num_nodes, original.edges[used])
        order = np.argsort(original.costs[used], kind="stable").astype(np.int32)
        # Edges may share some of those that they replace.
        return used[spanning_tree(graph, order, np.ones(original.num_nodes, np.bool_), original.terminals)[0]]


def reduce(
    instance: SteinerInstance,
    proof: ProofFile = NO_FILE,
    clock: Clock | None = None,
    superfluous: Callable[[ReducedInstance, Clock], Flags] | None = None,
) -> ReducedInstance:
    """Remove edges and nodes that some optimal tree does not need, contract and merge edges, until nothing changes.

    Tests of degree 1 and 2, of the bottleneck Steiner distance, and without a proof of degrees 3 to 5 (Duin, Volgenant
    1989). Terminals that are not connected remain so. A proof receives the nodes and edges in the order of their
    removal. When the clock has passed, what is reduced till then is kept. `superfluous` goes from a reduced instance to
    edges that may be removed as well, and is asked again while it removes some part of them; it may disconnect the
    terminals, and is not in proofs. Cost O(m log n) a round.
    """
    near: _Neighbours = {v: {} for v in range(instance.num_nodes)}
    for e, ((u, v), cost) in enumerate(zip(instance.edges.tolist(), instance.costs.tolist(), strict=True)):
        near[u][v] = near[v][u] = (cost, (e,))
    terminals = set(instance.terminals.tolist())
    fixed: list[int] = []
    clock = clock or Clock(None)
    while True:
        is_open = True
        while is_open and not clock.passed:
            is_open = _by_degree(near, terminals, fixed, proof)
            bottlenecks = _Bottlenecks(near, terminals)
            is_open |= _by_bottleneck(near, bottlenecks, proof, clock)
            if not is_open and not proof.is_written:
                is_open = _by_star(near, terminals, bottlenecks, clock)
        reduced = _reduced_instance(instance, near, terminals, fixed)
        if superfluous is None or clock.passed or len(terminals) == 1:
            return reduced
        removed = superfluous(reduced, clock)
        for u, v in reduced.instance.edges[removed].tolist():
            del near[reduced.nodes[u]][reduced.nodes[v]], near[reduced.nodes[v]][reduced.nodes[u]]
        if removed.sum() <= _WORTHWHILE * len(removed):
            return _reduced_instance(instance, near, terminals, fixed)


def _by_degree(near: _Neighbours, terminals: set[int], fixed: list[int], proof: ProofFile) -> bool:
    """Remove other nodes of degree 0 or 1, fix the only edge of a terminal, merge the edges of nodes of degree 2."""
    changed = False
    pending = list(near)
    while pending:
        v = pending.pop()
        if v not in near or len(near[v]) > 2 or (v in terminals and (len(terminals) == 1 or len(near[v]) != 1)):
            continue
        ends = list(near[v].items())
        proof.line("node", v)
        if v in terminals:
            fixed.extend(ends[0][1][1])
            terminals.remove(v)
            terminals.add(ends[0][0])
        pending.extend(w for w, _ in ends)
        _remove(near, v)
        changed = True
    return changed


class _Bottlenecks:
    """Bounds on the bottleneck Steiner distances of a graph, from walks over the terminals nearest to the ends."""

    def __init__(self, near: _Neighbours, terminals: set[int]) -> None:
        self._nodes = sorted(near)
        self._index = {v: i for i, v in enumerate(self._nodes)}
        edges = [(self._index[u], self._index[v], cost) for u in near for v, (cost, _) in near[u].items() if u < v]
        ends, costs = np.array(edges, np.int64).reshape(-1, 3)[:, :2], np.array([edge[2] for edge in edges], np.float64)
        bases = np.array([self._index[t] for t in sorted(terminals)], dtype=np.int32)
        distance, base, _ = nearest_terminals(graph_of(len(self._nodes), ends), costs, bases)
        self._distance, self._base = distance.tolist(), base.tolist()
        u, v = ends.T
        lengths = distance[u] + costs + distance[v]
        order = np.argsort(lengths, kind="stable")
        # Each terminal leads to one above it by a path; the longest path between two of them is their bottleneck.
        self._above, self._length = list(range(len(self._nodes))), [np.inf] * len(self._nodes)
        size = [1] * len(self._nodes)
        for e in order[base[u[order]] != base[v[order]]]:
            one, other = self._top(base[u[e]]), self._top(base[v[e]])
            if one != other:
                small, large = (one, other) if size[one] < size[other] else (other, one)
                self._above[small], self._length[small] = large, lengths[e]
                size[large] += size[small]

    def _top(self, v: int) -> int:
        while self._above[v] != v:
            v = self._above[v]
        return v

    def between(self, u: int, v: int) -> float:
        """A bound for two nodes; infinite if no terminal is near. Cost O(log k)."""
        a, b = self._index[u], self._index[v]
        longest: float = max(self._distance[a], self._distance[b])
        one, other = self._base[a], self._base[b]
        while one != other and longest < np.inf:
            if self._length[one] > self._length[other]:
                one, other = other, one
            longest, one = max(longest, self._length[one]), self._above[one]
        return longest


def _by_bottleneck(near: _Neighbours, bottlenecks: _Bottlenecks, proof: ProofFile, clock: Clock) -> bool:
    """Remove the edges that cost more than the bottleneck Steiner distance of their ends, all at once."""
    edges = sorted(((cost, u, v) for u in near for v, (cost, _) in near[u].items() if u < v), reverse=True)
    dear = [(u, v) for cost, u, v in edges if bottlenecks.between(u, v) < cost]
    # From the dearest down, so that the paths that replace an edge are still there when the next one is removed.
    for number, (u, v) in enumerate(dear):
        if number % _EDGES == 0 and clock.passed:
            return number > 0
        proof.line("edge", u, v)
        del near[u][v], near[v][u]
    return len(dear) > 0


def _by_star(near: _Neighbours, terminals: set[int], bottlenecks: _Bottlenecks, clock: Clock) -> bool:
    """Replace nodes that some optimal tree has with degree 2 at most by edges between their neighbours.

    A node is one if bottlenecks connect any three or more of its neighbours for no more than the edges to them. All
    pairs of neighbours get an edge, so that bottlenecks stay; at most as many as the node had may remain later.
    """
    changed = False
    for number, v in enumerate(sorted(near)):
        if number % _EDGES == 0 and clock.passed:
            break
        ends = {w: cost for w, (cost, _) in near[v].items()}
        if v in terminals or not 2 < len(ends) <= _STAR:
            continue
        joins = []
        for a, b in combinations(ends, 2):
            length = bottlenecks.between(a, b)
            joins.append((min(length, near[a][b][0]) if b in near[a] else length, a, b))
        joins.sort()
        if sum(length >= ends[a] + ends[b] for length, a, b in joins) <= len(ends) and all(
            _connection(chosen, joins) <= sum(ends[w] for w in chosen)
            for size in range(3, len(ends) + 1)
            for chosen in combinations(ends, size)
        ):
            _remove(near, v)
            changed = True
    return changed


def _connection(chosen: tuple[int, ...], joins: list[tuple[float, int, int]]) -> float:
    """The cost of a minimum spanning tree of chosen nodes, from joins in the order of their lengths."""
    part, cost = {w: w for w in chosen}, 0.0
    for length, a, b in joins:
        if a in part and b in part and part[a] != part[b]:
            cost, one, other = cost + length, part[a], part[b]
            part = {w: one if root == other else root for w, root in part.items()}
    return cost


def _remove(near: _Neighbours, v: int) -> None:
    """Remove a node; each pair of its neighbours gets an edge of the summed cost."""
    ends = list(near.pop(v).items())
    for w, _ in ends:
        del near[w][v]
    for (a, (first, one)), (b, (second, other)) in combinations(ends, 2):
        if b not in near[a] or near[a][b][0] > first + second:
            near[a][b] = near[b][a] = (first + second, one + other)


def _reduced_instance(
    instance: SteinerInstance, near: _Neighbours, terminals: set[int], fixed: list[int]
) -> ReducedInstance:
    nodes = sorted(near)
    index = {v: i for i, v in enumerate(nodes)}
    listed = [(index[u], index[v], *near[u][v]) for u in nodes for v in sorted(near[u]) if u < v]
    edges: npt.NDArray[np.int32] = np.array([edge[:2] for edge in listed], dtype=np.int32).reshape(-1, 2)
    reduced_terminals: Ids = np.array(sorted(index[t] for t in terminals), dtype=np.int32)
    smaller = SteinerInstance(
        len(nodes), edges, np.array([edge[2] for edge in listed], dtype=np.int64), reduced_terminals
    )
    cost = int(instance.costs[np.array(fixed, dtype=np.int64)].sum())
    return ReducedInstance(smaller, tuple(fixed), tuple(edge[3] for edge in listed), cost, tuple(nodes))
