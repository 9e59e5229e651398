"""The directed cut relaxation of content-based overlays: every destination is connected to its publisher."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...instances.content.instance import Floats
from ..engine.minimum_cuts import minimum_cut, network_of
from ..engine.sparse_relaxation import RowList, SparseRelaxation, SparseRows
from .model import ContentModel

_VIOLATION = 1e-4
_INTEGRAL = 1e-6


class ContentCuts(SparseRelaxation):
    """Directed cuts of each publisher's arborescence, for a content model with trees of publishers.

    For a set S of brokers and each j in S: x(publisher, S) + arcs into S ≥ d(j). Cuts of the shared tree are separated
    too, and cover inequalities, in case the capacity rows in integers admit overloads.
    """

    def __init__(self, model: ContentModel, *, threads: int = 1) -> None:
        self.model = model
        brokers = model.instance.num_brokers
        self._tails, self._heads = np.nonzero(model.off_diagonal)
        self._tree_network = network_of(brokers, self._tails, self._heads)
        # One more node, the publisher, with an arc to each broker for its access link.
        self._all_tails = np.concatenate([np.full(brokers, brokers), self._tails])
        self._all_heads = np.concatenate([np.arange(brokers), self._heads])
        self._network = network_of(brokers + 1, self._all_tails, self._all_heads)
        super().__init__(np.array(model.costs), model.rows.rows(), threads=threads)

    def least_value(self, units: int) -> float:
        """See :class:`Relaxation`; costs need not be integers."""
        return units / self.unit

    def described(self, column: int) -> list[object]:
        """See :meth:`.ContentModel.described`."""
        return self.model.described(column)

    def branchable(self, fractional: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Users on brokers first: once they are fixed, little is left to decide."""
        first = fractional[fractional < self.model.x.size]
        return first if len(first) else fractional

    def violated(self, x: Floats, *, exact: bool) -> SparseRows:
        """Violated directed cuts, those of the shared tree, and covers; always exact."""
        rows = RowList()
        model = self.model
        for number, tree in enumerate(model.trees):
            columns = np.concatenate([tree.source, model.y[number][self._tails, self._heads]])
            for target, destination in enumerate(model.d[tree.audience].tolist()):
                if x[destination] - x[tree.source[target]] <= _VIOLATION:
                    continue
                enough = float(x[destination]) - _VIOLATION
                sides = minimum_cut(self._network, x[columns], len(tree.source), target, enough)
                for side in sides or ():
                    crossing = columns[side[self._all_tails] & ~side[self._all_heads]]
                    inside = np.flatnonzero(~side[: model.instance.num_brokers]).tolist()
                    text = ("cut", number, target, *inside)
                    rows.add([*crossing, destination], [1] * len(crossing) + [-1], 0, text)
        if model.routing == "shared-tree":
            self._add_shared_tree_cuts(x, rows)
        self._add_covers(x, rows)
        return rows.rows()

    def _add_shared_tree_cuts(self, x: Floats, rows: RowList) -> None:
        links = self.model.t[self._tails, self._heads]
        for target in range(1, self.model.instance.num_brokers):
            for side in minimum_cut(self._tree_network, x[links], 0, target, 1 - _VIOLATION) or ():
                inside = np.flatnonzero(~side).tolist()
                rows.add(np.sort(links[side[self._tails] & ~side[self._heads]]), 1, 1, ("tree", *inside))

    def _add_covers(self, x: Floats, rows: RowList) -> None:
        """Users who together exceed the capacity of the broker that the LP assigns them to."""
        instance = self.model.instance
        there = x[self.model.x] > 1 - _INTEGRAL
        for b in np.flatnonzero((instance.demands @ there) > instance.load_limits()).tolist():
            users = np.flatnonzero(there[:, b])
            rows.add(self.model.x[users, b], -1, 1 - len(users), ("cover", b, *users.tolist()))
