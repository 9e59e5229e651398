"""The directed cut relaxation of Steiner trees: every set with a terminal and without the root is entered."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...heuristics.steiner.mehlhorn import Graph
from ...instances.arrays import Ids
from ...instances.steiner.instance import SteinerInstance
from ..engine.highs_lp import Reals
from ..engine.minimum_cuts import minimum_cut, network_of
from ..engine.sparse_relaxation import RowList, SparseRelaxation, SparseRows
from .dual_ascent import Ascent

_VIOLATION = 1e-4
_NESTED = 5


class DirectedCuts(SparseRelaxation):
    """Arcs out of a root terminal: the cheapest arborescence that reaches all other terminals.

    Parameters
    ----------
    instance : SteinerInstance
    graph : Graph
        Its graph.
    root : int
        A terminal.
    arcs : int array
        The arcs to choose from: 2e from u to v of edge e, 2e + 1 back.
    ascent : Ascent
        Its cuts are the first rows.

    Notes
    -----
    Wong 1984; flow balance at nodes that are no terminals as in Koch, Martin 1998. On edges with an optimal LP value of
    0 or 1 nothing is gained by the choice of the root (Goemans, Myung 1993).
    """

    def __init__(
        self, instance: SteinerInstance, graph: Graph, root: int, arcs: npt.NDArray[np.int64], ascent: Ascent
    ) -> None:
        self.arcs, self.root = arcs, root
        ends = np.stack([graph.u, graph.v], axis=1)
        self.tails = ends[arcs // 2, arcs % 2]
        self.heads = ends[arcs // 2, 1 - arcs % 2]
        self.targets: Ids = instance.terminals[instance.terminals != root]
        self._network = network_of(instance.num_nodes, self.tails, self.heads)
        super().__init__(instance.costs[arcs // 2], self._degree_rows(instance, ascent))

    def _degree_rows(self, instance: SteinerInstance, ascent: Ascent) -> SparseRows:
        rows = RowList()
        wanted = np.zeros(instance.num_nodes, np.bool_)
        wanted[instance.terminals] = True
        for v in range(instance.num_nodes):
            into, out = np.flatnonzero(self.heads == v), np.flatnonzero(self.tails == v)
            if len(into):
                rows.add(into, -1, 0 if v == self.root else -1)
            if not wanted[v] and len(into) + len(out):
                rows.add(np.concatenate([out, into]), np.repeat([1, -1], [len(out), len(into)]), 0)
        column = np.full(2 * instance.num_edges, -1)
        column[self.arcs] = np.arange(len(self.arcs))
        for first, last in zip(ascent.offsets[:-1], ascent.offsets[1:], strict=True):
            kept = column[ascent.arcs[first:last]]
            rows.add(np.sort(kept[kept >= 0]), 1, 1)
        return rows.rows()

    def violated(self, x: Reals, *, exact: bool) -> SparseRows:
        """Directed cuts of value below 1, nested ones too; always exact."""
        rows = RowList()
        for target in self.targets.tolist():
            room = x.copy()
            for _ in range(_NESTED):
                sides = minimum_cut(self._network, room, self.root, target, 1 - _VIOLATION)
                if sides is None:
                    break
                for side in sides:
                    crossing = np.flatnonzero(side[self.tails] & ~side[self.heads])
                    rows.add(crossing, 1, 1)
                    room[crossing] = 1.0
        return rows.rows()
