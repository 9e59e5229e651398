"""Lower bounds from dual values, computed in integers, and the beginning of their proofs.

Any dual values prove a bound, so they are rounded to multiples of 1/2^32 and the bound is computed from them in
integers. Neither the solver's tolerances nor rounding can lift it above the optimum.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from ....heuristics.topics.kernels.interest import costs_of
from ....instances.topics.instance import TopicInstance
from ...engine.proof import Multipliers, ProofFile, Proven
from ...engine.relaxation import UNIT, Bound
from .candidate_edges import CandidateEdges
from .presolve import Presolved
from .separation import Goal
from .topic_rows import DIAMETER, LEAVING, PARTITION, TWICE, TopicRows, Units, cover, sweep

_KINDS = {PARTITION: "parts", DIAMETER: "pair", LEAVING: "leaving", TWICE: "twice"}
Reals = npt.NDArray[np.float64]
MOST_PROVEN = 2**28
"""Above this total cost of an overlay, sums in units of 1/2^32 might exceed 2^62."""


def proven_bound(
    edges: CandidateEdges,
    rows: TopicRows,
    duals: Reals,
    node_duals: Reals,
    goal: Goal,
    *,
    lower: npt.NDArray[np.int8] | None = None,
    upper: npt.NDArray[np.int8] | None = None,
) -> Bound:
    """A lower bound on the goal's objective over every overlay that satisfies the rows.

    Overlays may use every pair of nodes with a topic in common, candidate or not. If the goal has no costs, a positive
    bound proves infeasibility. The arrays have one number a row, one a node (of the rows degree(v) ≤ D), and one a
    candidate edge: the bounds of x, 0 and 1 by default.

    Weak duality: Σ duals·rhs + Σ_edges min over x of (cost − cover + prices)·x + min over D of (degree_cost − Σ
    prices)·D. Time as for :func:`.sweep`; the sums of integers stay below 2^62 as long as Σ duals·|E| < 2^30.
    """
    units, prices = _rounded(duals), _rounded(node_duals)
    cost, costs = goal.edge_cost * UNIT, goal.costs_on(edges.instance.num_nodes)
    swept = sweep(edges.interest, edges.position, rows, units, prices, cost, UNIT >> 20, costs)
    reduced = (
        cost * costs_of(edges.u, edges.v, costs)
        - cover(rows, units, edges.links, len(edges))
        + prices[edges.u]
        + prices[edges.v]
    )
    total = sum((units * rows.rhs.astype(np.int64)).tolist()) - swept.excess
    if lower is not None and upper is not None:
        negative = np.minimum(reduced, 0)
        total += int(-negative[upper == 0].sum() + (reduced - negative)[lower == 1].sum())
    slack = goal.degree_cost * UNIT - int(prices.sum())
    total += slack * goal.degree_range(edges.instance.num_nodes)[0 if slack >= 0 else 1]
    unknown = ~np.isin(swept.pairs, edges.keys)
    pairs, covers = swept.pairs[unknown], swept.covers[unknown]
    proof = RowMultipliers(rows, units, prices, not (goal.edge_cost or goal.degree_cost))
    return Bound(total, pairs[np.argsort(-covers, kind="stable")], reduced, proof)


@dataclass(frozen=True)
class RowMultipliers:
    """The rows of a bound and the nodes' degree rows with their multipliers in units, for a proof (:class:`.Proven`).

    `farkas` says that their sum is a contradiction without any costs.
    """

    rows: TopicRows
    units: Units
    prices: Units
    farkas: bool

    @classmethod
    def of(cls, rows: TopicRows, duals: Reals) -> RowMultipliers:
        """Round the dual values of a bound on the edges down."""
        return cls(rows, _rounded(duals), np.empty(0, np.int64), False)

    def multipliers(self) -> Multipliers:
        """See :class:`.Proven`. A row's text is its kind, topic, and the labels of the topic's subscribers."""
        return Multipliers(self._rows(), _nonzero(self.prices), self.farkas)

    def _rows(self) -> Iterator[tuple[tuple[str, int, tuple[int, ...]], int]]:
        rows, used = self.rows, np.flatnonzero(self.units)
        label, offsets = rows.label.tolist(), rows.offsets.tolist()
        listed = (used, rows.kind[used], rows.topic[used], self.units[used])
        for r, kind, topic, factor in zip(*(each.tolist() for each in listed), strict=True):
            yield (_KINDS[kind], topic, tuple(label[offsets[r] : offsets[r + 1]])), factor


def _nonzero(units: Units) -> Iterator[tuple[int, int]]:
    used = np.flatnonzero(units)
    return zip(used.tolist(), units[used].tolist(), strict=True)


def _rounded(duals: Reals) -> Units:
    units: Units = np.floor(np.maximum(duals, 0.0) * UNIT).astype(np.int64)
    return units


def begin_proof(file: ProofFile, instance: TopicInstance, problem: str, reduced: Presolved) -> None:
    """Write the first line, and those of the steps of :func:`.attach_leaves`.

    Rows speak of the topics that presolve keeps by their position there, and then of those of leaves.
    """
    if not file.is_written:
        return
    nodes = [instance.node_label(v) for v in range(instance.num_nodes)]
    topics = [instance.topic_label(t) for t in range(instance.num_topics)]
    kept = reduced.topics.tolist()
    file.head(problem=problem, instance=instance.digest, unit=UNIT, nodes=nodes, topics=topics, kept=kept)
    for step in reduced.leaves.tolist():
        file.line("leaf", *step)


def write_case(file: ProofFile, proven: Proven, bound: Fraction, *, of_degree: bool = False) -> None:
    """Write the case of a bound on the edges, or that no overlay has degrees below a bound on the degree."""
    if of_degree and bound <= 0:
        return
    case = file.case(cap=math.ceil(bound) - 1 if of_degree else None)
    (case.contradiction if of_degree else case.bound)(0, proven)
    case.end(math.inf)
