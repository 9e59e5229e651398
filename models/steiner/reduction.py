"""Reductions of Steiner tree instances that keep an optimal tree, with proofs in docs/steiner.md."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...heuristics.graph import graph_of
from ...heuristics.steiner.spanning_trees import Flags, nearest_terminals
from ...instances.contract.arrays import Ids
from ...instances.contract.overlay import Overlay
from ...instances.contract.run import Clock
from ...instances.steiner.instance import SteinerInstance
from ..engine.proof import NO_FILE, ProofFile

_WORTHWHILE = 0.02  # of the edges, to try again
_EDGES = 200  # between two looks at the clock
_Neighbours = dict[int, dict[int, tuple[int, tuple[int, ...]]]]


@dataclass(frozen=True)
class ReducedInstance:
    """A smaller instance; each of its optimal trees, with the fixed edges, expands to one of the original instance."""

    instance: SteinerInstance
    fixed: tuple[int, ...]  # edges of the original instance that are on an optimal tree
    original_edges: tuple[tuple[int, ...], ...]  # the path that each edge replaces
    fixed_cost: int
    nodes: tuple[int, ...]  # the original number of each node

    def expand(self, original: SteinerInstance, chosen: Flags) -> Overlay:
        """The original tree of chosen edges of the reduced instance."""
        edges = [*self.fixed, *(e for number in np.flatnonzero(chosen) for e in self.original_edges[number])]
        return Overlay.from_edges(original.num_nodes, original.edges[np.array(edges, dtype=np.int64)])


def reduce(
    instance: SteinerInstance,
    proof: ProofFile = NO_FILE,
    clock: Clock | None = None,
    superfluous: Callable[[ReducedInstance, Clock], Flags] | None = None,
) -> ReducedInstance:
    """Remove edges and nodes that some optimal tree does not need, contract and merge edges, until nothing changes.

    Tests of degree 1 and 2, and of the bottleneck Steiner distance (Duin, Volgenant 1989). Terminals that are not
    connected remain so. A proof receives the nodes and edges in the order of their removal. When the clock has passed,
    what is reduced till then is kept. `superfluous` goes from a reduced instance to edges that may be removed as well,
    and is asked again while it removes some part of them; it may disconnect the terminals, and is not in proofs. Cost
    O(m log n + m · k) a round.
    """
    near: _Neighbours = {v: {} for v in range(instance.num_nodes)}
    for e, ((u, v), cost) in enumerate(zip(instance.edges.tolist(), instance.costs.tolist(), strict=True)):
        near[u][v] = near[v][u] = (cost, (e,))
    terminals = set(instance.terminals.tolist())
    fixed: list[int] = []
    clock = clock or Clock(None)
    while True:
        while not clock.passed and _by_degree(near, terminals, fixed, proof) | _by_bottleneck(
            near, terminals, proof, clock
        ):
            pass
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
        for w, _ in ends:
            del near[w][v]
            pending.append(w)
        del near[v]
        changed = True
        if len(ends) == 2 and v not in terminals:
            (a, (first, one)), (b, (second, other)) = ends
            if b not in near[a] or near[a][b][0] > first + second:
                near[a][b] = near[b][a] = (first + second, one + other)
    return changed


def _by_bottleneck(near: _Neighbours, terminals: set[int], proof: ProofFile, clock: Clock) -> bool:
    """Remove the edges that cost more than the bottleneck Steiner distance of their ends, all at once."""
    nodes = sorted(near)
    index = {v: i for i, v in enumerate(nodes)}
    edges = [(index[u], index[v], cost) for u in nodes for v, (cost, _) in near[u].items() if u < v]
    if not edges:
        return False
    ends, costs = np.array([edge[:2] for edge in edges]), np.array([edge[2] for edge in edges], dtype=np.float64)
    graph = graph_of(len(nodes), ends)
    distance, base, _ = nearest_terminals(graph, costs, np.array([index[t] for t in sorted(terminals)], dtype=np.int32))
    u, v = ends[:, 0], ends[:, 1]
    lengths = distance[u] + costs + distance[v]
    joins = [(lengths[e], base[u[e]], base[v[e]]) for e in np.argsort(lengths) if base[u[e]] != base[v[e]]]
    parent, done, dear = list(range(len(nodes))), 0, list[tuple[int, int]]()

    def root(v: int) -> int:
        while parent[v] != v:
            parent[v] = v = parent[parent[v]]
        return v

    dearest_first = sorted(edges, key=lambda edge: -edge[2])
    # The bottleneck between two bases is below a cost if shorter joins connect them.
    for a, b, cost in dearest_first[::-1]:
        while done < len(joins) and joins[done][0] < cost:
            _, one, other = joins[done]
            parent[root(one)] = root(other)
            done += 1
        if max(distance[a], distance[b]) < cost and root(base[a]) == root(base[b]):
            dear.append((a, b))
    # From the dearest down, so that the paths that replace an edge are still there when the next one is removed.
    for number, (a, b) in enumerate(reversed(dear)):
        if number % _EDGES == 0 and clock.passed:
            return number > 0
        proof.line("edge", nodes[a], nodes[b])
        del near[nodes[a]][nodes[b]], near[nodes[b]][nodes[a]]
    return len(dear) > 0


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
