"""The directed cut relaxation of content-based overlays: whoever wants a publisher's messages is reached by them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..engine.highs_lp import Reals
from ..engine.minimum_cuts import minimum_cut, network_of
from ..engine.sparse_relaxation import RowList, SparseRelaxation, SparseRows
from .model import ContentModel

_VIOLATION = 1e-4
_INTEGRAL = 1e-6


class ContentCuts(SparseRelaxation):
    """Directed cuts of each publisher's arborescence, over a content model with trees of publishers.

    For a set S of brokers without the publisher, arcs into S ≥ d(j) for each j in S; with the publisher spread over
    brokers, its share in S counts as entering. Cuts of the shared tree, and covers where whole numbers are too coarse
    for the capacities, are separated too.

    Parameters
    ----------
    model : ContentModel
    threads : int
    """

    def __init__(self, model: ContentModel, *, threads: int = 1) -> None:
        self.model = model
        brokers = model.instance.num_brokers
        self._tails, self._heads = np.nonzero(model.off_diagonal)
        self._tree_network = network_of(brokers, self._tails, self._heads)
        # One more node, the publisher, with an arc to each broker in the place of its access link.
        self._all_tails = np.concatenate([np.full(brokers, brokers), self._tails])
        self._all_heads = np.concatenate([np.arange(brokers), self._heads])
        self._network = network_of(brokers + 1, self._all_tails, self._all_heads)
        super().__init__(np.array(model.costs), model.rows.rows(), threads=threads)

    def least_value(self, units: int) -> float:
        """See :class:`Relaxation`; costs need not be whole numbers."""
        return units / self.unit

    def branchable(self, fractional: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Users on brokers first: with all of them decided, little is left."""
        first = fractional[fractional < self.model.x.size]
        return first if len(first) else fractional

    def violated(self, x: Reals, *, exact: bool) -> SparseRows:
        """Violated directed cuts, those of the shared tree, and covers; always exact."""
        rows = RowList()
        model = self.model
        for number, tree in enumerate(model.trees):
            columns = np.concatenate([tree.source, model.y[number][self._tails, self._heads]])
            for target, wanted in enumerate(model.d[tree.content].tolist()):
                if x[wanted] - x[tree.source[target]] <= _VIOLATION:
                    continue
                sides = minimum_cut(self._network, x[columns], len(tree.source), target, float(x[wanted]) - _VIOLATION)
                for side in sides or ():
                    crossing = columns[side[self._all_tails] & ~side[self._all_heads]]
                    rows.add([*crossing, wanted], [1] * len(crossing) + [-1], 0)
        if model.routing == "shared-tree":
            self._split_tree(x, rows)
        self._overloads(x, rows)
        return rows.rows()

    def _split_tree(self, x: Reals, rows: RowList) -> None:
        links = self.model.t[self._tails, self._heads]
        for target in range(1, self.model.instance.num_brokers):
            for side in minimum_cut(self._tree_network, x[links], 0, target, 1 - _VIOLATION) or ():
                rows.add(np.sort(links[side[self._tails] & ~side[self._heads]]), 1, 1)

    def _overloads(self, x: Reals, rows: RowList) -> None:
        """Users who are all on one broker, which has no room for them."""
        instance = self.model.instance
        room = instance.room()
        there = x[self.model.x] > 1 - _INTEGRAL
        for b in np.flatnonzero((instance.demands @ there) > room).tolist():
            users = np.flatnonzero(there[:, b])
            rows.add(self.model.x[users, b], -1, 1 - len(users))
