"""The directed cut relaxation of Steiner trees, over arcs and nodes: an arc enters every set that has a tree's node."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ...heuristics.steiner.graph import Graph
from ...instances.contract.arrays import Ids
from ...instances.steiner.instance import SteinerInstance
from ..engine.minimum_cuts import minimum_cut, network_of
from ..engine.relaxation import Reals
from ..engine.sparse_relaxation import RowList, SparseRelaxation, SparseRows, Text
from .dual_ascent import Ascent

_VIOLATION = 1e-4
_NESTED = 5
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
        """The tail and the head of an arc, or a node."""
        if column >= len(self.arcs):
            return self.names[int(self.others[column - len(self.arcs)])]
        return self.names[int(self.tails[column])], self.names[int(self.heads[column])]

    def branchable(self, fractional: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Nodes before arcs."""
        nodes = fractional[fractional >= len(self.arcs)]
        return nodes if len(nodes) else fractional

    def violated(self, x: Reals, *, exact: bool) -> SparseRows:
        """Directed cuts that separate the root from terminals, nested ones too, and from other nodes if none; exact.

        The other nodes are those on the tree, and fractional ones if the model has few: they take a maximum flow each.
        """
        rows = RowList()
        for target in self.targets.tolist():
            self._separate(rows, x, target)
        if not len(rows):
            least = _VIOLATION if len(self.others) <= _FEW else _ON_TREE
            for target in self.others[x[len(self.arcs) :] > least].tolist():
                self._separate(rows, x, target)
        return rows.rows()

    def _separate(self, rows: RowList, x: Reals, target: int) -> None:
        """Add violated cuts between the root and a node, which must be entered as often as it is on the tree."""
        capacities = x[: len(self.arcs)].copy()
        node = int(self._column[target])
        demand = 1.0 if node < 0 else float(x[node])
        for _ in range(_NESTED):
            sides = minimum_cut(self._network, capacities, self.root, target, demand - _VIOLATION)
            if sides is None:
                return
            for side in sides:
                crossing = np.flatnonzero(side[self.tails] & ~side[self.heads])
                capacities[crossing] = 1.0
                inside = [self.names[v] for v in np.flatnonzero(~side).tolist()]
                if node < 0:
                    rows.add(crossing, 1, 1, ("cut", *inside))
                else:
                    signs = np.repeat([1, -1], [len(crossing), 1])
                    others = [v for v in inside if v != self.names[target]]
                    rows.add(np.append(crossing, node), signs, 0, ("reach", self.names[target], *others))


def _by_node(ends: Ids, num_nodes: int) -> list[npt.NDArray[np.int64]]:
    """For each node, the arcs that have it at this end."""
    order = np.argsort(ends, kind="stable")
    return np.split(order, np.cumsum(np.bincount(ends, minlength=num_nodes))[:-1])
