"""The LP relaxation solved by cutting planes and column generation, with a bound proven at every step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....heuristics.topics.greedy_merge import greedy_merge
from ....instances.overlay import Overlay
from ....instances.topics.instance import TopicInstance
from ...engine.highs_lp import Reals
from ...engine.integer_bound import Bound
from ...engine.relaxation import Bits, Relaxation
from ..bounds.certificate import Certificate, proven_bound
from ..bounds.cost_splitting import Splitting, certificate_rows
from ..rows.candidate_edges import CandidateEdges, Edges, all_pairs, count_links
from ..rows.diameter_rows import violated_diameters
from ..rows.topic_rows import TopicRows, joined, singleton_rows
from .partition_inequalities import violated_partitions
from .restricted_lp import RestrictedLP

_VIOLATION = 1e-4
_PATIENCE = 25
_USED, _WORTH = 0.02, 1e-3
_START_PAIRS = 3
ALL_PAIRS = 30_000_000


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


class CuttingPlanes(Relaxation[TopicRows]):
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
    certificate : Certificate or None
        It proves `best_units`.
    """

    lp: RestrictedLP

    def __init__(
        self, instance: TopicInstance, goal: Goal, start: Overlay, *, sparse: bool = True, threads: int = 1
    ) -> None:
        super().__init__()
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
        self.columns_at_once = max(self.columns_at_once, instance.num_nodes)
        self.certificate: Certificate | None = None

    @property
    def edges(self) -> CandidateEdges:
        """The edges in the LP."""
        return self.lp.edges

    columns = edges

    def warm_start(self, splitting: Splitting) -> None:
        """Add the edges and the rows that a nearly best split of costs leans on."""
        used = splitting.edges.keys[splitting.usage > _USED]
        self.lp.add_edges(np.setdiff1d(used, self.edges.keys))
        rows, duals = certificate_rows(splitting)
        rows = rows.chosen(duals > _WORTH)
        self.cuts += len(rows.topic)
        self.lp.add_rows(rows)

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

    def _size(self, rows: TopicRows) -> int:
        return len(rows.topic)

    def _add_rows(self, rows: TopicRows) -> None:
        self.lp.add_rows(rows)

    def _drop_idle_rows(self) -> None:
        self.lp.drop_rows(self.lp.idle >= _PATIENCE)

    def _add_columns(self, columns: Edges) -> None:
        self.lp.add_edges(columns)

    def _keep_certificate(self) -> None:
        self.certificate = Certificate.of(self.lp.rows, self.lp.duals, self.lp.node_duals)


def starting_pairs(instance: TopicInstance, start: Overlay, *, sparse: bool) -> Edges:
    """The edges of an overlay and of GM, and the pairs with most topics in common, three for each edge.

    Where all pairs are too many to list, the overlay's edges only.
    """
    if count_links(instance) > ALL_PAIRS:
        return _useful(instance, _keys(start))
    pairs = all_pairs(instance)
    if not sparse:
        return pairs
    known = _useful(instance, np.unique(np.concatenate([_keys(start), _keys(greedy_merge(instance))])))
    common = CandidateEdges(instance, pairs).common
    richest = np.lexsort((pairs, -common))[: _START_PAIRS * start.num_edges]
    return np.unique(np.concatenate([known, pairs[richest]]))


def _useful(instance: TopicInstance, keys: Edges) -> Edges:
    # MinMax-ODA adds edges of no topic, and presolve may have taken an edge's topics away.
    return keys[CandidateEdges(instance, keys).common > 0]


def _keys(overlay: Overlay) -> Edges:
    return overlay.edges[:, 0].astype(np.int64) * overlay.num_nodes + overlay.edges[:, 1]
