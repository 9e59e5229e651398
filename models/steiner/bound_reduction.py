"""Reductions by bounds: edges that no tree cheaper than the best known uses, by reduced costs of dual ascent."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...heuristics.steiner.graph import Flags, graph_of
from ...heuristics.steiner.shortest_paths import evenly_spaced
from ...instances.contract.overlay import Overlay
from ...instances.contract.run import Clock
from ...instances.steiner.instance import SteinerInstance
from .dual_ascent import dual_ascent, least_through
from .incumbent import SteinerIncumbent
from .reduction import ReducedInstance

_ROOTS = 10
_LARGEST = 10**8  # edges times terminals, of which an ascent takes about a second at worst


class BoundReduction:
    """The best tree of an instance so far, and what it excludes from smaller forms of the instance.

    Parameters
    ----------
    original : SteinerInstance
    offer : callable
        Takes each better tree.

    Attributes
    ----------
    tree : Overlay or None
        A tree of the original instance.
    value : float
        Its cost, infinite without one.
    is_optimal : bool
        Whether no tree is cheaper.
    """

    def __init__(self, original: SteinerInstance, offer: Callable[[Overlay], object]) -> None:
        self._original, self._offer = original, offer
        self.tree: Overlay | None = None
        self.value = np.inf
        self.is_optimal = False

    def superfluous(self, reduced: ReducedInstance, clock: Clock) -> Flags:
        """The edges of a reduced instance without which it keeps all trees cheaper than the best one, shape (m,).

        Notes
        -----
        From a root, a tree costs at least the bound of dual ascent plus the reduced costs of its arcs, and an arc of
        it is on its path from the root to a terminal. So an edge is superfluous if in both directions the bound plus
        the least reduced cost of such a path reaches the best tree's cost (Duin 1993; Polzin, Vahdati Daneshmand 2001,
        https://doi.org/10.1016/S0166-218X(00)00319-X). An edge once excluded costs too much for a cheaper tree in the
        ascent from the next root. Trees are grown along the reduced costs. Cost: ten ascents; with more
        than `_LARGEST` edges times terminals, none is made and no edge removed, to keep time limits.
        """
        instance = reduced.instance
        graph = graph_of(instance.num_nodes, instance.edges)
        incumbent = SteinerIncumbent(instance, graph, clock, lambda chosen: self.keep(reduced, chosen))
        incumbent.value = self.value - reduced.fixed_cost
        removed = np.zeros(instance.num_edges, np.bool_)
        if instance.num_edges * instance.num_terminals > _LARGEST:
            return removed
        for root in evenly_spaced(instance.terminals, _ROOTS):
            if clock.passed:
                break
            if not np.isfinite(incumbent.value):
                incumbent.start(clock)
                if incumbent.chosen is None:
                    break
            costs = np.where(removed, int(incumbent.value), instance.costs)
            ascent = dual_ascent(graph, np.repeat(costs, 2), instance.terminals, root, 0)
            incumbent.grow_along(np.minimum(ascent.reduced[::2], ascent.reduced[1::2]), root)
            allowed = int(incumbent.value) - ascent.bound
            if allowed <= 0:
                self.is_optimal = True
                return np.zeros(instance.num_edges, np.bool_)
            through = least_through(graph, ascent.reduced, instance.terminals, root)
            removed |= np.minimum(through[::2], through[1::2]) >= allowed
        return removed

    def keep(self, reduced: ReducedInstance, chosen: Flags) -> None:
        """Keep the tree of chosen edges of a reduced instance if it is the best."""
        value = reduced.fixed_cost + int(reduced.instance.costs[chosen].sum())
        if value < self.value:
            self.tree, self.value = reduced.expand(self._original, chosen), value
            self._offer(self.tree)
