"""The directed cut relaxation of Steiner trees: an arc enters every set with a terminal and without the root."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ...heuristics.steiner.graph import Graph
from ...instances.arrays import Ids
from ...instances.steiner.instance import SteinerInstance
from ..engine.highs_lp import Reals
from ..engine.minimum_cuts import minimum_cut, network_of
from ..engine.sparse_relaxation import RowList, SparseRelaxation, SparseRows, Text
from .dual_ascent import Ascent

_VIOLATION = 1e-4
_NESTED = 5


class DirectedCuts(SparseRelaxation):
    """The cheapest arborescence from a root terminal to all other terminals, over 0/1 columns for arcs.

    Parameters
    ----------
    instance : SteinerInstance
    graph : Graph
        The graph of the instance.
    root : int
        A terminal.
    arcs : int array
        The arcs of the model: 2e from u to v of edge e, 2e + 1 from v to u.
    ascent : Ascent
        Its cuts are among the first rows.
    names : sequence of int
        The number of each node in a proof.
    sides : sequence of texts
        Of the ascent's cuts, for a proof.

    Notes
    -----
    Wong 1984; flow balance at nodes that are no terminals as in Koch, Martin 1998. The value of the directed cut
    relaxation does not depend on the root (Goemans, Myung 1993).
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
        super().__init__(instance.costs[arcs // 2], self._degree_rows(instance, ascent, sides))

    def _degree_rows(self, instance: SteinerInstance, ascent: Ascent, sides: Sequence[Text]) -> SparseRows:
        rows = RowList()
        terminal = np.zeros(instance.num_nodes, np.bool_)
        terminal[instance.terminals] = True
        for v in range(instance.num_nodes):
            into, out = np.flatnonzero(self.heads == v), np.flatnonzero(self.tails == v)
            if len(into):
                rows.add(into, -1, 0 if v == self.root else -1, ("into", self.names[v]))
            if not terminal[v] and len(into) + len(out):
                rows.add(
                    np.concatenate([out, into]),
                    np.repeat([1, -1], [len(out), len(into)]),
                    0,
                    ("through", self.names[v]),
                )
        column = np.full(2 * instance.num_edges, -1)
        column[self.arcs] = np.arange(len(self.arcs))
        texts = iter(sides)
        for first, last in zip(ascent.offsets[:-1], ascent.offsets[1:], strict=True):
            kept = column[ascent.arcs[first:last]]
            rows.add(np.sort(kept[kept >= 0]), 1, 1, next(texts, ()))
        return rows.rows()

    def described(self, column: int) -> tuple[int, int]:
        """The tail and the head of an arc."""
        return self.names[int(self.tails[column])], self.names[int(self.heads[column])]

    def violated(self, x: Reals, *, exact: bool) -> SparseRows:
        """Directed cuts of value below 1, nested ones too; always exact."""
        rows = RowList()
        for target in self.targets.tolist():
            capacities = x.copy()
            for _ in range(_NESTED):
                sides = minimum_cut(self._network, capacities, self.root, target, 1 - _VIOLATION)
                if sides is None:
                    break
                for side in sides:
                    crossing = np.flatnonzero(side[self.tails] & ~side[self.heads])
                    rows.add(crossing, 1, 1, ("cut", *(self.names[v] for v in np.flatnonzero(~side).tolist())))
                    capacities[crossing] = 1.0
        return rows.rows()
