"""The incumbent of branch-and-cut: the best Steiner tree so far, and trees grown along LP values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ...heuristics.steiner.graph import Flags, Graph, spanning_tree
from ...heuristics.steiner.shortest_paths import evenly_spaced, grown_nodes, improve_tree
from ...instances.contract.run import Clock
from ...instances.steiner.instance import SteinerInstance
from ..engine.highs_lp import Reals
from ..engine.relaxation import NO_CUTOFF

_STARTS = 20


class SteinerIncumbent:
    """The best tree as marked edges (`chosen`, shape (m,)), and its cost (`value`, infinite without one).

    Parameters
    ----------
    clock : Clock
        Ends the improvement of trees.
    found : callable, optional
        Takes the marked edges of each better tree.
    unit : int
        That of the relaxation whose bounds it cuts off.
    """

    def __init__(
        self,
        instance: SteinerInstance,
        graph: Graph,
        clock: Clock,
        found: Callable[[Flags], object] | None = None,
        unit: int = 1,
    ) -> None:
        self._clock, self._found = clock, found
        self.instance, self.graph, self.unit = instance, graph, unit
        self.chosen: Flags | None = None
        self.value = np.inf
        self.arcs: npt.NDArray[np.int64] = np.arange(2 * instance.num_edges)
        self._costs = instance.costs.astype(np.float64)
        self._order = np.argsort(instance.costs, kind="stable").astype(np.int32)
        self._rounds = 0

    @property
    def cutoff(self) -> int:
        """Nodes with a bound above this, in units, hold no cheaper tree."""
        return int(self.value - 1) * self.unit if np.isfinite(self.value) else NO_CUTOFF

    def start(self, clock: Clock) -> None:
        """Grow and improve trees from several terminals."""
        for terminal in evenly_spaced(self.instance.terminals, _STARTS):
            if not clock.passed or not np.isfinite(self.value):
                self._grow(self._costs, terminal, improve=True)

    def offer_chosen(self, columns: object, chosen: Flags) -> None:
        """Offer the minimum spanning tree of the nodes of the chosen arcs."""
        used = self.arcs[chosen[: len(self.arcs)]] // 2
        inside = np.zeros(self.instance.num_nodes, np.bool_)
        inside[self.instance.terminals] = True
        inside[self.graph.u[used]] = inside[self.graph.v[used]] = True
        self._offer(inside, improve=False)

    def build_along(self, columns: object, x: Reals) -> None:
        """Grow and improve a tree under costs that fall with the edges' LP values."""
        along = np.zeros(self.instance.num_edges)
        np.add.at(along, self.arcs // 2, x[: len(self.arcs)])
        terminals = self.instance.terminals
        self._rounds += 1
        self._grow(self._costs * (1.0 - np.minimum(along, 1.0)), int(terminals[self._rounds % len(terminals)]), True)

    def improve_along(self, columns: object, x: Reals, clock: Clock, *, goal: float, steps: int) -> None:
        """As :meth:`build_along`, whose trees are local optima."""
        self.build_along(columns, x)

    def grow_along(self, reduced: npt.NDArray[np.int64], terminal: int) -> None:
        """Grow and improve a tree along edges of small reduced cost."""
        self._grow(self._costs + reduced, terminal, True)

    def _grow(self, costs: Reals, terminal: int, improve: bool) -> None:
        self._offer(grown_nodes(self.graph, costs, self.instance.terminals, terminal), improve)

    def _offer(self, inside: Flags, improve: bool) -> None:
        terminals = self.instance.terminals
        kept, separate = spanning_tree(self.graph, self._order, inside, terminals)
        if separate:
            return
        if improve:
            self._keep(kept)
            kept = improve_tree(self.graph, self._costs, self._order, kept, terminals, self._clock)
        self._keep(kept)

    def _keep(self, kept: Flags) -> None:
        cost = int(self.instance.costs[kept].sum())
        if cost < self.value:
            self.chosen, self.value = kept, cost
            if self._found is not None:
                self._found(kept)
