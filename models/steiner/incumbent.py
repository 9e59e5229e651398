"""The best Steiner tree so far, and trees grown along LP values."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...heuristics.steiner.mehlhorn import Flags, Graph, spanning_tree
from ...heuristics.steiner.shortest_paths import grown_nodes, improved_tree, spread
from ...instances.clock import Clock
from ...instances.steiner.instance import SteinerInstance
from ..engine.highs_lp import Reals
from ..engine.relaxation import NO_CUTOFF

_STARTS = 20


class SteinerIncumbent:
    """A tree, as a choice of edges.

    Parameters
    ----------
    instance : SteinerInstance
    graph : Graph

    Attributes
    ----------
    chosen : bool array, shape (m,), or None
    value : float
        Its cost, infinite without one.
    unit : int
        Of the relaxation whose bounds it cuts off.
    """

    def __init__(self, instance: SteinerInstance, graph: Graph, unit: int = 1) -> None:
        self.instance, self.graph, self.unit = instance, graph, unit
        self.chosen: Flags | None = None
        self.value = np.inf
        self.arcs: npt.NDArray[np.int64] = np.arange(2 * instance.num_edges)
        self._costs = instance.costs.astype(np.float64)
        self._order = np.argsort(instance.costs, kind="stable").astype(np.int32)
        self._turn = 0

    @property
    def cutoff(self) -> int:
        """A bound above this, in units, leaves no cheaper tree."""
        return int(self.value - 1) * self.unit if np.isfinite(self.value) else NO_CUTOFF

    def start(self, clock: Clock) -> None:
        """Grow trees from several terminals, and improve each."""
        for terminal in spread(self.instance.terminals, _STARTS):
            if not clock.passed or self.chosen is None:
                self._grow(self._costs, terminal, improve=True)

    def offer_chosen(self, columns: object, chosen: Flags) -> None:
        """The tree within a choice of arcs that reaches all terminals."""
        used = self.arcs[chosen] // 2
        inside = np.zeros(self.instance.num_nodes, np.bool_)
        inside[self.instance.terminals] = True
        inside[self.graph.u[used]] = inside[self.graph.v[used]] = True
        self._offer(inside, improve=False)

    def build_along(self, columns: object, x: Reals) -> None:
        """Grow a tree where edges are the cheaper the larger their LP value, and improve it."""
        along = np.zeros(self.instance.num_edges)
        np.add.at(along, self.arcs // 2, x)
        terminals = self.instance.terminals
        self._turn += 1
        self._grow(self._costs * (1.0 - np.minimum(along, 1.0)), int(terminals[self._turn % len(terminals)]), True)

    def improve_along(self, columns: object, x: Reals, clock: Clock, *, goal: float, steps: int) -> None:
        """As :meth:`build_along`: its trees are local optima already."""
        self.build_along(columns, x)

    def _grow(self, costs: Reals, terminal: int, improve: bool) -> None:
        self._offer(grown_nodes(self.graph, costs, self.instance.terminals, terminal), improve)

    def _offer(self, inside: Flags, improve: bool) -> None:
        terminals = self.instance.terminals
        kept, apart = spanning_tree(self.graph, self._order, inside, terminals)
        if apart:
            return
        if improve:
            kept = improved_tree(self.graph, self._costs, self._order, kept, terminals)
        cost = int(self.instance.costs[kept].sum())
        if cost < self.value:
            self.chosen, self.value = kept, cost
