"""The LP relaxation solved by cutting planes and column generation, with a bound proven at every step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from heuristics.greedy_merge import greedy_merge
from instances import Overlay, TopicInstance
from models.candidate_edges import CandidateEdges, Edges, all_pairs
from models.certificate import Bound, Certificate, proven_bound
from models.cost_splitting import Splitting, certificate_rows
from models.diameter_rows import violated_diameters
from models.partition_inequalities import violated_partitions
from models.restricted_lp import Reals, RestrictedLP
from models.time_budget import TimeBudget
from models.topic_rows import TopicRows, joined, singleton_rows

Bits = npt.NDArray[np.int8]
_VIOLATION = 1e-4
_PATIENCE = 25
_USED, _WORTH = 0.02, 1e-3
_START_PAIRS = 3
_ALL_PAIRS = 30_000_000


@dataclass(frozen=True)
class Goal:
    """What is minimised over the overlays, and under which limits.

    Attributes
    ----------
    edge_cost, degree_cost : int
        The objective edge_cost·|E| + degree_cost·D, where D is at least every degree.
    least_degree, cap : int
        The range of D.
    diameter : bool
        Whether topics must have diameter at most 2, not only be connected.
    """

    edge_cost: int = 1
    degree_cost: int = 0
    least_degree: int = 0
    cap: int = 2**31
    diameter: bool = False


class CuttingPlanes:
    """A restricted LP that grows by violated rows and by edges of negative reduced cost.

    Parameters
    ----------
    instance : TopicInstance
    goal : Goal
    start : Overlay
        A valid overlay: its edges are candidates from the beginning.
    sparse : bool
        Start with few edges, and price the others in; without it all pairs with a topic in common are there.
    threads : int

    Attributes
    ----------
    lp : RestrictedLP
    cuts : int
        Rows added so far.
    best_units : int
        The best bound proven without fixed edges, times `UNIT`; `certificate` proves it.
    converged : bool
        Whether the last call of :meth:`tighten` ended because nothing is violated.
    """

    def __init__(
        self, instance: TopicInstance, goal: Goal, start: Overlay, *, sparse: bool = True, threads: int = 1
    ) -> None:
        self.instance = instance
        self.goal = goal
        candidates = CandidateEdges(instance, starting_pairs(instance, start, sparse=sparse))
        self.lp = RestrictedLP(
            candidates,
            edge_cost=goal.edge_cost,
            degree_cost=goal.degree_cost,
            degrees=goal.degree_cost > 0 or goal.cap < instance.num_nodes,
            threads=threads,
        )
        self._degrees = (goal.least_degree, min(goal.cap, instance.num_nodes))
        self.lp.bound_degree(*self._degrees)
        self.lp.add_rows(singleton_rows(candidates.interest))
        self.cuts = 0
        self.best_units = 0
        self.certificate: Certificate | None = None
        self.converged = False

    @property
    def edges(self) -> CandidateEdges:
        """The edges in the LP."""
        return self.lp.edges

    def warm_start(self, splitting: Splitting) -> None:
        """Add the edges and the rows that a nearly best split of costs leans on."""
        used = splitting.edges.keys[splitting.usage > _USED]
        self.lp.add_edges(np.setdiff1d(used, self.edges.keys))
        rows, duals = certificate_rows(splitting)
        rows = rows.chosen(duals > _WORTH)
        self.cuts += len(rows.topic)
        self.lp.add_rows(rows)

    def tighten(
        self,
        deadline: TimeBudget,
        *,
        lower: Bits | None = None,
        upper: Bits | None = None,
        enough: int = 2**62,
        exact: bool = True,
        stall: float = 0.0,
        rounds: int = 100_000,
        at_round: Callable[[Bound], bool] | None = None,
    ) -> Bound | None:
        """Solve, separate and price until nothing is violated, the bound stalls, or it is enough.

        Parameters
        ----------
        lower, upper : int8 arrays, one a candidate edge
            Bounds of x within a search tree; edges priced in meanwhile are free.
        enough : int
            Stop when the bound, in units, exceeds this.
        exact : bool
            Whether to separate exactly when the heuristic finds nothing.
        stall : float
            Stop when ten rounds raised the bound by less than this.
        at_round : callable
            Is shown the bound of each round, and says whether to stop.

        Returns
        -------
        Bound or None
            The best bound of this call; None if time ran out before there was any. If `lp.feasible` is False there is
            no solution, and that is proven: the bound is `enough`. `lp.x` is the last solution.
        """
        root = lower is None
        best: Bound | None = None
        history: list[float] = []
        self.converged = False
        last_raise = 0
        for _ in range(rounds):
            if deadline.passed:
                break
            if not root:
                lower, upper = self._extended(lower, 0), self._extended(upper, 1)
                self.lp.bound_edges(lower.astype(np.float64), upper.astype(np.float64))
            if not self.lp.solve(deadline.left):
                break
            bound = self._proven(lower, upper)
            if not self.lp.feasible:
                if bound.units > 0 and not len(bound.new_pairs):
                    return Bound(enough + 1, bound.new_pairs, bound.reduced_costs)
                if not len(bound.new_pairs):
                    break
                self.lp.add_edges(np.sort(bound.new_pairs[:200]))
                continue
            if best is None or bound.units >= best.units:
                best = bound
            if root and bound.units > self.best_units:
                self.best_units = bound.units
                self.certificate = Certificate.of(self.lp.rows, self.lp.duals, self.lp.node_duals)
            if best.units > enough or (at_round is not None and at_round(best)):
                break
            history.append(self.lp.value)
            rows = self.violated(self.lp.x, exact=exact)
            if not len(rows.topic) and not len(bound.new_pairs):
                self.converged = exact
                break
            if stall and len(history) > 10 and history[-1] - history[-11] < stall and not len(bound.new_pairs):
                break
            # A row dropped while the objective stands still may come back for ever.
            if len(history) > 1 and history[-1] > history[last_raise] + 1e-6:
                last_raise = len(history) - 1
                self.lp.drop_rows(self.lp.idle >= _PATIENCE)
            if len(bound.new_pairs):
                self.lp.add_edges(np.sort(bound.new_pairs[: max(200, self.instance.num_nodes)]))
            if len(rows.topic):
                self.cuts += len(rows.topic)
                self.lp.add_rows(rows)
        return best

    def violated(self, x: Reals, *, exact: bool) -> TopicRows:
        """Rows that x violates; for 0/1 values, none only if x is an overlay as the goal asks, whatever `exact`."""
        offsets = self.instance.topic_offsets
        rows = violated_partitions(offsets, self.edges.links, x, tolerance=_VIOLATION, exact=False)
        if self.goal.diameter:
            rows = joined(rows, violated_diameters(offsets, self.edges.links, x, tolerance=_VIOLATION))
        if exact and not len(rows.topic):
            rows = violated_partitions(offsets, self.edges.links, x, tolerance=_VIOLATION, exact=True)
        return rows

    def _proven(self, lower: Bits | None, upper: Bits | None) -> Bound:
        return proven_bound(
            self.edges,
            self.lp.rows,
            self.lp.duals,
            self.lp.node_duals,
            edge_cost=self.goal.edge_cost if self.lp.feasible else 0,
            degree_cost=self.goal.degree_cost if self.lp.feasible else 0,
            degree_bounds=self._degrees,
            lower=lower,
            upper=upper,
        )

    def _extended(self, bits: Bits | None, value: int) -> Bits:
        known = np.empty(0, np.int8) if bits is None else bits
        return np.concatenate([known, np.full(len(self.edges) - len(known), value, np.int8)])


def starting_pairs(instance: TopicInstance, start: Overlay, *, sparse: bool) -> Edges:
    """The edges of an overlay and of GM, and the pairs with most topics in common, three for each edge.

    Where all pairs are too many to list, the overlay's and GM's edges only.
    """
    known = np.unique(np.concatenate([_keys(start), _keys(greedy_merge(instance))]))
    # MinMax-ODA adds edges of no topic, and presolve may have taken an edge's topics away.
    known = known[CandidateEdges(instance, known).common > 0]
    sizes = np.diff(instance.topic_offsets)
    if int((sizes * (sizes - 1) // 2).sum()) > _ALL_PAIRS:
        return known
    pairs = all_pairs(instance)
    if not sparse:
        return pairs
    common = CandidateEdges(instance, pairs).common
    richest = np.lexsort((pairs, -common))[: _START_PAIRS * start.num_edges]
    return np.unique(np.concatenate([known, pairs[richest]]))


def _keys(overlay: Overlay) -> Edges:
    return overlay.edges[:, 0].astype(np.int64) * overlay.num_nodes + overlay.edges[:, 1]
