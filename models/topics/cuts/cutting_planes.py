"""The LP relaxation, solved by cutting planes and column generation, with a proven bound in every round."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ....heuristics.topics.greedy_merge import greedy_merge
from ....instances.contract.overlay import Overlay
from ....instances.topics.instance import TopicInstance
from ...engine.highs_lp import Reals
from ...engine.integer_bound import Bound
from ...engine.relaxation import Bits, Relaxation
from ..bounds.certificate import Certificate, proven_bound
from ..bounds.cost_splitting import Splitting, certificate_rows
from ..rows.candidate_edges import CandidateEdges, Edges, all_pairs, count_links, keys_of
from ..rows.diameter_rows import violated_diameters
from ..rows.goal import Goal
from ..rows.topic_rows import TopicRows, joined, singleton_rows
from .fault_cuts import LeavingTopics, degree_rows, leaving_topics, violated_two_cuts
from .partition_inequalities import violated_partitions
from .restricted_lp import RestrictedLP

_VIOLATION = 1e-4
_PATIENCE = 25
_WORTH = 1e-3
_START_PAIRS = 3
ALL_PAIRS = 30_000_000


class CuttingPlanes(Relaxation[TopicRows]):
    """A restricted LP that grows by violated rows and by edges of negative reduced cost.

    Parameters
    ----------
    start : Overlay
        A valid overlay: its edges are initial candidates.
    sparse : bool
        Start with few edges, and price the others in; otherwise all pairs with a topic in common are candidates.

    Attributes
    ----------
    lp : RestrictedLP
    certificate : Certificate or None
        The proof of `best_units`.
    """

    lp: RestrictedLP

    def __init__(
        self, instance: TopicInstance, goal: Goal, start: Overlay, *, sparse: bool = True, threads: int = 1
    ) -> None:
        super().__init__()
        self.instance = instance
        self.goal = goal
        pairs = starting_pairs(instance, start, sparse=sparse, weighted=goal.costs is not None)
        candidates = CandidateEdges(instance, pairs)
        self.lp = RestrictedLP(candidates, goal, threads=threads)
        self.lp.add_rows(singleton_rows(candidates.interest))
        if goal.costs is not None:
            self.cost_scale = float(instance.edge_costs(candidates.u, candidates.v).mean()) if len(candidates) else 1.0
        self._leaving: LeavingTopics | None = None
        if goal.fault_tolerant:
            self.lp.add_rows(degree_rows(instance.topic_offsets))
        self.columns_at_once = max(self.columns_at_once, instance.num_nodes)
        self.certificate: Certificate | None = None

    @property
    def edges(self) -> CandidateEdges:
        """The edges in the LP."""
        return self.lp.edges

    columns = edges

    def warm_start(self, splitting: Splitting) -> None:
        """Take the bound of a split of costs, and add the edges and the rows with significant values in it."""
        self.lp.add_edges(np.setdiff1d(splitting.used, self.edges.keys))
        rows, duals = certificate_rows(splitting)
        prices = np.zeros(self.instance.num_nodes)
        bound = proven_bound(self.edges, rows, duals, prices, self.goal)
        self.best_units, self.best_proven = bound.units, bound.proven
        self.certificate = Certificate.of(rows, duals, prices)
        rows = rows.chosen(duals > _WORTH)
        self.cuts += len(rows.topic)
        self.lp.add_rows(rows)

    def violated(self, x: Reals, *, exact: bool) -> TopicRows:
        """Rows that x violates. If x is 0/1, there are none exactly if x is an overlay within the goal's limits."""
        offsets = self.instance.topic_offsets
        if self.goal.fault_tolerant:
            return self._violated_faults(x, exact=exact)
        rows = violated_partitions(offsets, self.edges.links, x, tolerance=_VIOLATION, exact=False)
        if self.goal.diameter:
            rows = joined(rows, violated_diameters(offsets, self.edges.links, x, tolerance=_VIOLATION))
        if exact and not len(rows.topic):
            rows = violated_partitions(offsets, self.edges.links, x, tolerance=_VIOLATION, exact=True)
        return rows

    def _violated_faults(self, x: Reals, *, exact: bool) -> TopicRows:
        """Rows of the topics without one subscriber, and cuts that need two edges."""
        offsets, links = self.instance.topic_offsets, self.edges.links
        if self._leaving is None or self._leaving.num_edges != len(self.edges):
            self._leaving = leaving_topics(offsets, links, len(self.edges))
        rows = joined(
            violated_partitions(offsets, links, x, tolerance=_VIOLATION, exact=False),
            violated_two_cuts(offsets, links, x, tolerance=_VIOLATION),
        )
        if not len(rows.topic):
            rows = joined(rows, self._leaving.violated(x, tolerance=_VIOLATION, exact=False))
        if exact and not len(rows.topic):
            rows = self._leaving.violated(x, tolerance=_VIOLATION, exact=True)
        return rows

    def _proven(self, lower: Bits | None, upper: Bits | None) -> Bound:
        lp = self.lp
        goal = self.goal if lp.feasible else replace(self.goal, edge_cost=0, degree_cost=0)
        return proven_bound(self.edges, lp.rows, lp.duals, lp.node_duals, goal, lower=lower, upper=upper)

    def described(self, column: int) -> tuple[int, int]:
        """The two nodes of an edge."""
        return int(self.edges.u[column]), int(self.edges.v[column])

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


def starting_pairs(instance: TopicInstance, start: Overlay, *, sparse: bool, weighted: bool = False) -> Edges:
    """The edges of an overlay and of Greedy Merge, and the pairs with most topics in common, three for each edge.

    With `weighted`, those with most topics in common ÷ cost. If there are more than `ALL_PAIRS` links, the overlay's
    edges only.
    """
    if count_links(instance) > ALL_PAIRS:
        return _useful(instance, keys_of(start))
    pairs = all_pairs(instance)
    if not sparse:
        return pairs
    useful = _useful(instance, np.unique(np.concatenate([keys_of(start), keys_of(greedy_merge(instance))])))
    common = CandidateEdges(instance, pairs).common
    worth = common / (instance.edge_costs(*np.divmod(pairs, instance.num_nodes)) if weighted else 1)
    richest = np.lexsort((pairs, -worth))[: _START_PAIRS * start.num_edges]
    return np.unique(np.concatenate([useful, pairs[richest]]))


def _useful(instance: TopicInstance, keys: Edges) -> Edges:
    # MinMax-ODA adds edges without a common topic, and presolve may drop an edge's topics.
    return keys[CandidateEdges(instance, keys).common > 0]
