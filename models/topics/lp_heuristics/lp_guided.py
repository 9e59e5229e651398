"""The incumbent, improved by overlays that are built along LP values and by local search."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ....heuristics.topics.local_search.linked_overlay import subscriptions_of
from ....heuristics.topics.local_search.overlay_search import (
    MOST_STEPS,
    OverlaySearch,
    candidate_lists,
    priced_weights,
)
from ....heuristics.topics.local_search.ruin_and_recreate import Cooling, SearchParameters
from ....instances.contract.overlay import Overlay
from ....instances.contract.run import Clock, offer
from ....instances.topics.instance import TopicInstance
from ...engine.relaxation import NO_CUTOFF, UNIT, Bits, Reals
from ..relaxation.candidate_edges import CandidateEdges, all_pairs
from ..relaxation.cutting_planes import CuttingPlanes
from ..relaxation.separation import Goal
from .guided_candidates import seconds_of_greedy, weighted_greedy
from .row_weighting import ENTRIES_A_STEP, RowWeighting, preferred

Flags = npt.NDArray[np.bool_]
ANY_OVERLAY = 2.0**61  # as a goal: any overlay within the limits
_HOT, _COLD = 0.2, 0.05
_FEW_NODES = 50


class Incumbent:
    """The cheapest overlay so far, of those that respect the goal's cap on degrees; by edges if each costs 1.

    Parameters
    ----------
    start : Overlay, optional
        Valid for the problem; if it exceeds the cap, it is not an incumbent.

    Attributes
    ----------
    overlay : Overlay or None
    value : float
        Its cost, infinite without one.
    calls : int
        The number of overlays built.
    """

    def __init__(self, instance: TopicInstance, goal: Goal, start: Overlay | None, seed: int) -> None:
        self.instance, self.cap = instance, min(goal.cap, instance.num_nodes)
        self.seed, self.calls = seed, 0
        self.overlay: Overlay | None = None
        self.value = np.inf
        self._searchable, self._costs = goal.searchable, goal.costs
        self._pairs: CandidateEdges | None = None
        if start is not None:
            self.offer(start)

    @property
    def cutoff(self) -> int:
        """A node with a bound above this, in units, has no better overlay."""
        return int(self.value - 1) * UNIT if np.isfinite(self.value) else NO_CUTOFF

    def offer(self, overlay: Overlay) -> bool:
        """Keep a valid overlay if it respects the cap and costs less; returns whether it was kept."""
        value = self.cost(overlay)
        better = value < self.value and overlay.max_degree <= self.cap
        if better:
            self.overlay, self.value = overlay, value
            offer(overlay)
        return better

    def cost(self, overlay: Overlay) -> int:
        """What an overlay costs: its number of edges if each costs 1."""
        if self._costs is None:
            return overlay.num_edges
        return self.instance.total_cost(overlay.edges)

    def offer_chosen(self, edges: CandidateEdges, chosen: Flags) -> bool:
        """As :meth:`offer`, for a selection of candidate edges."""
        ends = np.stack([edges.u[: len(chosen)][chosen], edges.v[: len(chosen)][chosen]], axis=1)
        return self.offer(Overlay.from_edges(self.instance.num_nodes, ends))

    def build_along(self, edges: CandidateEdges, x: Reals) -> Overlay | None:
        """Build an overlay along LP values, one a candidate edge, and offer it.

        Edges are chosen by contribution × (LP value + 0.01) ÷ cost, and redundant ones dropped.
        """
        if not self._searchable or not len(edges):
            return None
        self.calls += 1
        weights = _padded(x, len(edges)) + 0.01
        if self._costs is not None:
            weights /= self.instance.edge_costs(edges.u, edges.v)
        overlay = weighted_greedy(edges, weights, cap=self.cap, overload=self._overload, seed=self._next())
        self.offer(overlay)
        return overlay

    def improve_along(self, edges: CandidateEdges, x: Reals, clock: Clock, *, goal: float, steps: int) -> None:
        """Build along LP values, then search for a number of steps, or until the value is `goal`.

        The search is :class:`.RowWeighting` for as long as so many steps of ruin and recreate take, and these
        themselves if edges have costs or degrees a cap. Of two edges of equal contribution the search prefers the one
        of larger LP value. Ruin and recreate cools down within the time of the clock, if that is shorter. If there is
        no time to build, nothing is done.
        """
        if self.overlay is not None and seconds_of_greedy(edges) > clock.left:
            return
        start = self.build_along(edges, x)
        if start is None or self.value <= goal or clock.passed:
            return
        if self._costs is None and self.cap >= self.instance.num_nodes:
            self._exchange(edges, x, start, clock, goal, steps)
        else:
            self._ruin_and_recreate(edges, x, start, clock, goal, steps)

    def _exchange(self, edges: CandidateEdges, x: Reals, start: Overlay, clock: Clock, goal: float, steps: int) -> None:
        """Row weighting among the candidate edges along their LP values; in a small instance among all pairs, without.

        Where a node has many topics, the LP says little about the best overlays of a small instance.
        """
        values = _padded(x, len(edges))
        if self.instance.num_nodes <= _FEW_NODES:
            if self._pairs is None:
                self._pairs = CandidateEdges(self.instance, all_pairs(self.instance))
            edges, values = self._pairs, np.zeros(len(self._pairs))
        search = RowWeighting(edges, values, start, self._next())
        for overlay in search.overlays(int(self.value), clock, steps * ENTRIES_A_STEP):
            self.offer(overlay)
            if self.value <= goal:
                break

    def _ruin_and_recreate(
        self, edges: CandidateEdges, x: Reals, start: Overlay, clock: Clock, goal: float, steps: int
    ) -> None:
        weights = preferred(_padded(x, len(edges)))
        scale = 1.0
        if self._costs is not None:
            weights *= priced_weights(self.instance, edges.keys)
            scale = start.num_edges / max(1, self.cost(start))
        near = candidate_lists(self.instance, edges.keys, weights.astype(np.float32))
        search, least = OverlaySearch(subscriptions_of(self.instance), start, near, self._next(), self._costs), np.inf
        search.drop_redundant()
        cooling = Cooling(_HOT, _COLD, clock)
        while search.steps < steps and self.value > goal and not clock.passed:
            rules = SearchParameters(self.cap, self._overload, cooling.at(search.steps / steps), scale)
            cost = search.run(rules, min(MOST_STEPS, steps - search.steps), least)
            if cost < least:
                least = cost
                self.offer(search.overlay)

    @property
    def _overload(self) -> float:
        return 1.5 if self.cap < self.instance.num_nodes else 0.0

    def _next(self) -> int:
        self.seed = (self.seed * 6364136223846793005 + 1442695040888963407) % 2**62
        return self.seed


def _padded(x: Reals, size: int) -> Reals:
    return np.concatenate([x, np.zeros(size - len(x))])


_ROUNDS = 6
_STEPS = 4_000
_INTEGRAL = 1e-6


def dive(planes: CuttingPlanes, incumbent: Incumbent, x: Reals, clock: Clock, *, goal: float, share: float) -> None:
    """Fix the free edges of largest LP value at 1, a share at a time, until the LP bound reaches the incumbent.

    Parameters
    ----------
    planes : CuttingPlanes
        Its bounds on edges change; the next :meth:`.Relaxation.tighten` sets them again.
    incumbent : Incumbent
        Improved by a short local search along every LP solution.
    x : float64 array, one a candidate edge
        The LP solution to start from.
    goal : float
        Stop at an incumbent of this value.
    share : float
        The share of the free edges of positive value to fix at a time; at least one is fixed.

    Notes
    -----
    About 1 ÷ share LP solves times a few rounds of cuts.
    """
    lower, upper = np.zeros(len(x), np.int8), np.ones(len(x), np.int8)
    while incumbent.value > goal and not clock.passed:
        _fix_heaviest(lower, x, share)
        bound = planes.tighten(
            clock,
            lower=lower,
            upper=upper,
            enough=int(min(incumbent.value - 1, 2**29)) * UNIT,
            exact=False,
            stall=0.02,
            rounds=_ROUNDS,
        )
        if bound is None or not planes.lp.feasible:
            return
        x = np.append(planes.lp.x, np.zeros(len(planes.edges) - len(planes.lp.x)))
        incumbent.improve_along(planes.edges, x, clock, goal=goal, steps=_STEPS)
        if bound.units > int(min(incumbent.value - 1, 2**29)) * UNIT:
            return
        grown = len(planes.edges) - len(lower)
        lower, upper = np.append(lower, np.zeros(grown, np.int8)), np.append(upper, np.ones(grown, np.int8))
        if not ((x > _INTEGRAL) & (lower == 0)).any():
            return


def _fix_heaviest(lower: Bits, x: Reals, share: float) -> None:
    free = np.flatnonzero((x > _INTEGRAL) & (lower == 0))
    ones = free[x[free] > 1 - _INTEGRAL]
    rest = free[x[free] <= 1 - _INTEGRAL]
    heaviest = rest[np.argsort(-x[rest], kind="stable")[: max(1, int(share * len(rest)))]]
    lower[ones] = 1
    lower[heaviest] = 1
