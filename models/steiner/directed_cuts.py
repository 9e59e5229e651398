"""Directed cuts of Steiner trees: dual ascent, which bounds in integers, and the relaxation over arcs and nodes."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...heuristics.graph import Graph
from ...heuristics.heap import pop, push
from ...instances.contract.arrays import Flags, Ids, Offsets
from ...instances.runtime.compiled import kernel
from ...instances.steiner.instance import SteinerInstance
from ..engine.minimum_cuts import ArcNetwork, maximum_flow, network_of, reachable
from ..engine.relaxation import Reals, RowList, SparseRelaxation, SparseRows, Text, Units

_FAR = 2**60


class Ascent(NamedTuple):
    """The result of dual ascent. Arc 2e goes from u to v of edge e, arc 2e + 1 from v to u.

    Cut i is of the arcs ``arcs[offsets[i]:offsets[i + 1]]``, which enter the nodes
    ``nodes[node_offsets[i]:node_offsets[i + 1]]``: with a terminal and without the root.
    """

    bound: int  # on arborescences from the root to all terminals; 2^60 or more if there is none
    reduced: Units  # costs of the arcs, not negative, shape (2m,)
    offsets: Offsets
    arcs: Ids
    duals: Units  # of the cuts
    node_offsets: Offsets
    nodes: Ids


def dual_ascent(graph: Graph, costs: Units, terminals: Ids, root: int, most_arcs: int = 200_000) -> Ascent:
    """Raise the duals of directed cuts until every terminal is reached from the root along arcs of reduced cost 0.

    `costs` are those of the arcs, not negative, shape (2m,); the cuts kept have at most `most_arcs` arcs in total. Wong
    1984; the terminal whose cut has the fewest arcs comes first. Duals ≥ 0 without negative reduced costs prove the
    bound, so it is valid in any order. Cost of each cut: the edges at its nodes; there is at most one per arc and
    terminal.
    """
    return Ascent(*_ascend(graph, costs, terminals, root, most_arcs))


@kernel
def _ascend(
    graph: Graph, costs: Units, terminals: Ids, root: int, most: int
) -> tuple[int, Units, Offsets, Ids, Units, Offsets, Ids]:
    n = len(graph.offsets) - 1
    reduced, bound, turn = costs.copy(), 0, 0
    mark, queue = np.zeros(n, np.int64), np.empty(n, np.int32)
    kept, inside = np.empty(most, np.int32), np.empty(most, np.int32)
    ends, last = [0], [0]
    duals = [np.int64(0)]
    heap = [(0, np.int32(0))]
    heap.pop()
    for t in terminals:
        if t != root:
            heapq.heappush(heap, (0, t))
    while len(heap) > 0 and bound < _FAR:
        score, terminal = heapq.heappop(heap)
        turn += 1
        entering, size = _entering(graph, reduced, int(terminal), root, mark, queue, turn)
        if mark[root] == turn:
            continue
        if len(heap) > 0 and len(entering) > heap[0][0] and len(entering) > score:
            heapq.heappush(heap, (len(entering), terminal))
            continue
        if len(entering) == 0:
            bound = _FAR
            break
        least = reduced[entering].min()
        bound += least
        if ends[-1] + len(entering) <= most and last[-1] + size <= most:
            kept[ends[-1] : ends[-1] + len(entering)] = entering
            inside[last[-1] : last[-1] + size] = queue[:size]
            last.append(last[-1] + size)
            ends.append(ends[-1] + len(entering))
            duals.append(least)
        for a in entering:
            reduced[a] -= least
        heapq.heappush(heap, (len(entering), terminal))
    sides = inside[: last[-1]].copy()
    return int(bound), reduced, np.array(ends), kept[: ends[-1]].copy(), np.array(duals[1:]), np.array(last), sides


@kernel
def _entering(
    graph: Graph, reduced: Units, terminal: int, root: int, mark: Units, queue: Ids, turn: int
) -> tuple[Ids, int]:
    """The arcs into the nodes that reach a terminal along arcs of reduced cost 0, and how many nodes these are.

    They get the mark `turn` and are the first in the queue. The search ends at the root.
    """
    mark[terminal], queue[0] = turn, terminal
    first, last = 0, 1
    candidates = [np.int32(0)]
    candidates.pop()
    while first < last and mark[root] != turn:
        v = queue[first]
        first += 1
        for k in range(graph.offsets[v], graph.offsets[v + 1]):
            w, e = graph.neighbour[k], graph.edge[k]
            arc = np.int32(2 * e + (graph.u[e] == v))
            if mark[w] != turn and reduced[arc] > 0:
                candidates.append(arc)
            elif mark[w] != turn:
                mark[w], queue[last] = turn, w
                last += 1
    arcs = [np.int32(0)]
    arcs.pop()
    for arc in candidates:
        if mark[graph.v[arc // 2] if arc % 2 else graph.u[arc // 2]] != turn:
            arcs.append(arc)
    return np.array(arcs), last


def least_through(graph: Graph, reduced: Units, terminals: Ids, root: int) -> Units:
    """The least reduced cost of a path from the root through each arc to another terminal; 2^60 if there is none.

    `reduced` adds up to 2^53 at most. Cost O(m log n).
    """
    ends = np.stack([graph.u, graph.v], axis=1)
    from_root = _distances(graph, reduced, np.array([root], np.int32), 0)
    to_terminal = _distances(graph, reduced, terminals[terminals != root], 1)
    through: Units = np.minimum(from_root[ends.ravel()] + reduced + to_terminal[ends[:, ::-1].ravel()], _FAR)
    return through


@kernel
def _distances(graph: Graph, costs: Units, sources: Ids, backward: int) -> Units:
    """The distance of each node from the nearest source along arcs, or to it; 2^60 if there is no path."""
    distance = np.full(len(graph.offsets) - 1, _FAR)
    heap = np.zeros((1 + len(sources) + len(graph.edge), 2), np.int64)
    distance[sources] = 0
    for source in sources:
        push(heap, 0, source)
    while heap[0, 0] > 0:
        length, v = pop(heap)
        if length > distance[v]:
            continue
        for k in range(graph.offsets[v], graph.offsets[v + 1]):
            w, e = graph.neighbour[k], graph.edge[k]
            through = length + costs[2 * e + ((graph.v[e] == v) ^ backward)]
            if through < distance[w]:
                distance[w] = through
                push(heap, through, w)
    return distance


_VIOLATION = 1e-4
_NESTED = 5
_CUTS = 150
_ON_TREE, _FEW = 0.99, 100


class DirectedCuts(SparseRelaxation):
    """The cheapest arborescence from a root terminal to all other terminals, over 0/1 columns for arcs and nodes.

    The columns are the `arcs` (2e from u to v of edge e, 2e + 1 from v to u) and then the nodes that are no terminals;
    a node is 1 if it is on the tree. The ascent's cuts are among the first rows, with the texts `sides` in a proof;
    `names` has the number of each node there.

    Wong 1984; flow balance at nodes that are no terminals as in Koch, Martin 1998; nodes as columns as in Ljubić et al.
    2006, https://doi.org/10.1007/s10107-005-0660-x. The value of the directed cut relaxation does not depend on the
    root (Goemans, Myung 1993). Branching is on nodes while one is fractional: a node at 1 is a terminal more, a node at
    0 is removed, which changes more of the tree than an arc does.
    """

    def __init__(
        self,
        instance: SteinerInstance,
        graph: Graph,
        root: int,
        arcs: npt.NDArray[np.int64],
        ascent: Ascent,
        names: Sequence[int],
        sides: Sequence[Text] = (),
    ) -> None:
        self.arcs, self.root, self.names = arcs, root, names
        ends = np.stack([graph.u, graph.v], axis=1)
        self.tails = ends[arcs // 2, arcs % 2]
        self.heads = ends[arcs // 2, 1 - arcs % 2]
        self.targets: Ids = instance.terminals[instance.terminals != root]
        self._network = network_of(instance.num_nodes, self.tails, self.heads)
        others = np.unique(np.concatenate([self.tails, self.heads]))
        self.others: Ids = others[~np.isin(others, instance.terminals)].astype(np.int32)
        self._column = np.full(instance.num_nodes, -1)
        self._column[self.others] = len(arcs) + np.arange(len(self.others))
        costs = np.concatenate([instance.costs[arcs // 2], np.zeros(len(self.others), np.int64)])
        super().__init__(costs, self._degree_rows(instance, ascent, sides))

    def _degree_rows(self, instance: SteinerInstance, ascent: Ascent, sides: Sequence[Text]) -> SparseRows:
        rows = RowList()
        into_node, out_of_node = _by_node(self.heads, instance.num_nodes), _by_node(self.tails, instance.num_nodes)
        for v, (into, out) in enumerate(zip(into_node, out_of_node, strict=True)):
            node, name = self._column[v], self.names[v]
            if node < 0 and len(into):
                rows.add(into, -1, 0 if v == self.root else -1, ("into", name))
            if node >= 0:
                signs = np.repeat([1, -1], [len(into), 1])
                rows.add(np.append(into, node), signs, 0, ("entered", name))
                rows.add(np.append(into, node), -signs, 0, ("once", name))
                rows.add(np.append(out, node), np.repeat([1, -1], [len(out), 1]), 0, ("left", name))
        column = np.full(2 * instance.num_edges, -1)
        column[self.arcs] = np.arange(len(self.arcs))
        texts = iter(sides)
        for first, last in zip(ascent.offsets[:-1], ascent.offsets[1:], strict=True):
            kept = column[ascent.arcs[first:last]]
            rows.add(np.sort(kept[kept >= 0]), 1, 1, next(texts, ()))
        return rows.rows()

    def described(self, column: int) -> tuple[int, int] | int:
        if column >= len(self.arcs):
            return self.names[int(self.others[column - len(self.arcs)])]
        return self.names[int(self.tails[column])], self.names[int(self.heads[column])]

    def branchable(self, fractional: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        nodes = fractional[fractional >= len(self.arcs)]
        return nodes if len(nodes) else fractional

    def violated(self, x: Reals, *, exact: bool) -> SparseRows:
        """Directed cuts that separate the root from terminals, nested ones too, and from other nodes if none; exact.

        The other nodes are those on the tree, and fractional ones if the model has few: they take a maximum flow each.
        """
        rows = RowList()
        self._separate(rows, x, self.targets)
        if not len(rows):
            least = _VIOLATION if len(self.others) <= _FEW else _ON_TREE
            self._separate(rows, x, self.others[x[len(self.arcs) :] > least])
        return rows.rows()

    def _separate(self, rows: RowList, x: Reals, targets: Ids) -> None:
        """Add violated cuts between the root and nodes, each of which must be entered as often as it is on the tree."""
        nodes = self._column[targets]
        demands = np.where(nodes < 0, 1.0, x[nodes])
        sides, chosen = _violated_cuts(self._network, x[: len(self.arcs)], self.root, targets, demands)
        for side, number in zip(sides, chosen, strict=True):
            crossing = np.flatnonzero(side[self.tails] & ~side[self.heads])
            inside = [self.names[v] for v in np.flatnonzero(~side).tolist()]
            if nodes[number] < 0:
                rows.add(crossing, 1, 1, ("cut", *inside))
            else:
                signs = np.repeat([1, -1], [len(crossing), 1])
                target = self.names[targets[number]]
                others = [v for v in inside if v != target]
                rows.add(np.append(crossing, nodes[number]), signs, 0, ("reach", target, *others))


@kernel
def _violated_cuts(
    network: ArcNetwork, x: Reals, root: int, targets: Ids, demands: Reals
) -> tuple[list[Flags], list[int]]:
    """The root's sides of violated cuts, and the index of the target of each.

    Of the two extreme minimum cuts, the one near the target mostly has the fewest arcs, and cuts of few arcs are deeper
    (Koch, Martin 1998); the one near the root is taken if it has no more. Arcs of a cut get capacity 1 for all targets
    after it: few cuts that overlap little keep the LP small. Targets without a cut have another turn while there are
    few cuts, with fewer arcs in total than four times the model.
    """
    sides, chosen = [np.empty(0, np.bool_)], [0]
    sides.pop()
    chosen.pop()
    residual, capacities = np.zeros(len(network.head)), x.copy()
    pending, size, before = np.zeros(len(targets), np.bool_), 0, -1
    for t in range(len(targets)):
        residual[:] = 0.0
        residual[network.given] = x
        enough = demands[t] - _VIOLATION
        pending[t] = maximum_flow(network, residual, root, targets[t], enough) < enough
    while len(sides) < _CUTS and size < 4 * len(x) and len(sides) > before:
        capacities[:] = x
        before = len(sides)
        for i in np.flatnonzero(pending):
            target, enough = targets[i], demands[i] - _VIOLATION
            for _ in range(_NESTED):
                residual[:] = 0.0
                residual[network.given] = capacities
                if maximum_flow(network, residual, root, target, enough) >= enough:
                    break
                near, far = ~reachable(network, residual, target, True), reachable(network, residual, root, False)
                fewest, pending[i] = len(x), False
                for k in range(2):
                    crossing = _crossing(network, near if k == 0 else far)
                    if len(crossing) <= fewest and (k == 0 or (near != far).any()):
                        fewest = len(crossing)
                        size += fewest
                        sides.append(near if k == 0 else far)
                        chosen.append(int(i))
                        capacities[crossing] = 1.0
    return sides, chosen


@kernel
def _crossing(network: ArcNetwork, side: Flags) -> Ids:
    """The given arcs that leave a set of nodes."""
    arcs = [np.int32(0)]
    arcs.pop()
    for a in range(len(network.given)):
        if side[network.head[network.reverse[network.given[a]]]] and not side[network.head[network.given[a]]]:
            arcs.append(np.int32(a))
    return np.array(arcs)


def _by_node(ends: Ids, num_nodes: int) -> list[npt.NDArray[np.int64]]:
    """For each node, the arcs that have it at this end."""
    order = np.argsort(ends, kind="stable")
    return np.split(order, np.cumsum(np.bincount(ends, minlength=num_nodes))[:-1])
