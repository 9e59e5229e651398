"""Lower bounds from dual values, computed in integers.

Any dual values prove a bound, so they are rounded to multiples of 1/2^32 and the bound is computed from them in
integers. Neither the solver's tolerances nor rounding can lift it above the optimum.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import numpy.typing as npt

from ....heuristics.topics.kernels.interest import costs_of
from ....instances.contract.arrays import Ids
from ....instances.topics.instance import TopicInstance
from ...engine.integer_bound import UNIT, Bound
from ...engine.proof import Multipliers
from ..rows.candidate_edges import CandidateEdges
from ..rows.goal import Goal
from ..rows.topic_rows import DIAMETER, LEAVING, PARTITION, TWICE, TopicRows, Units, cover, sweep

_CROSSING = ({0, 1}, {0, 2}, {1, 3})  # labels of the ends of an edge that counts in a diameter row
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
    bound proves infeasibility.

    Parameters
    ----------
    duals : float64 array, one a row
    node_duals : float64 array, shape (|V|,)
        Of the rows degree(v) ≤ D.
    lower, upper : int8 arrays, one a candidate edge
        The bounds of x, 0 and 1 by default.

    Notes
    -----
    Weak duality: Σ duals·rhs + Σ_edges min over x of (cost − cover + prices)·x + min over D of (degree_cost − Σ
    prices)·D. Time as for :func:`.sweep`; the sums of integers stay below 2^62 as long as
    Σ duals·|E| < 2^30.
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
    """The rows of a bound with their multipliers in units, for a proof (:class:`.Proven`)."""

    rows: TopicRows
    units: Units
    prices: Units
    farkas: bool

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


@dataclass(frozen=True)
class Certificate:
    """A lower bound on the edges or the maximum degree that a few lines of code check.

    Attributes
    ----------
    rows : TopicRows
    duals : tuple of int
        Of the rows, times `unit`; not negative.
    node_duals : tuple of int
        Of the nodes' degrees, times `unit`; not negative. None, or all 0, for a bound on the edges; of sum at most
        `unit` otherwise.
    unit : int
    """

    rows: TopicRows
    duals: tuple[int, ...]
    node_duals: tuple[int, ...]
    unit: int = UNIT

    @classmethod
    def of(cls, rows: TopicRows, duals: Reals, node_duals: Reals) -> Certificate:
        """Round dual values down and drop the rows without one."""
        units, used = _rounded(duals), _rounded(duals) > 0
        kept = tuple(units[used].tolist())
        return cls(rows.chosen(used), kept, tuple(_rounded(node_duals).tolist()))

    def for_topics(self, topics: Ids) -> Certificate:
        """The same proof for an instance in which topic t has the number ``topics[t]``; it may have more topics."""
        return replace(self, rows=self.rows._replace(topic=topics[self.rows.topic]))

    def multipliers(self) -> Multipliers:
        """For a proof: of a bound on the edges, or that no overlay has smaller degrees than the bound on the degree."""
        duals, node_duals = (np.array(each, np.int64) for each in (self.duals, self.node_duals))
        return RowMultipliers(self.rows, duals, node_duals, self.of_degree).multipliers()

    @property
    def of_degree(self) -> bool:
        """Whether the bound is on the maximum degree, as there are node duals."""
        return any(self.node_duals)

    def check(
        self,
        instance: TopicInstance,
        *,
        diameter_two: bool = False,
        weighted: bool = False,
        fault_tolerant: bool = False,
    ) -> Fraction:
        """Compute the bound in Python's integers from the definitions, without code of the solver.

        Parameters
        ----------
        diameter_two : bool
            Whether the overlays have topics of diameter 2, so that rows of kind `DIAMETER` are valid.
        weighted : bool
            Whether the bound is on the cost of the edges.
        fault_tolerant : bool
            Whether the overlays are fault-tolerant, so that rows of kind `LEAVING` and `TWICE` are valid.

        Raises
        ------
        ValueError
            If a dual is negative, labels do not fit the topic, or a right-hand side is wrong.
        """
        if min((*self.duals, *self.node_duals), default=0) < 0 or sum(self.node_duals) > self.unit:
            raise ValueError("dual values must not be negative, nor those of the nodes exceed 1 in sum")
        prices = dict(enumerate(self.node_duals))
        unit = 0 if self.of_degree else self.unit
        covers: dict[tuple[int, int], int] = {}
        total = 0
        for r, dual in enumerate(self.duals):
            t, kind, rhs = int(self.rows.topic[r]), int(self.rows.kind[r]), int(self.rows.rhs[r])
            nodes = instance.subscribers(t).tolist() if 0 <= t < instance.num_topics else []
            label = self.rows.label[self.rows.offsets[r] : self.rows.offsets[r + 1]].tolist()
            if kind == PARTITION:
                valid = rhs == len(set(label)) - 1
            elif kind == LEAVING:
                valid = fault_tolerant and label.count(-1) == 1 and rhs == len(set(label)) - 2
            elif kind == TWICE:
                valid = fault_tolerant and len(nodes) > 2 and len(set(label)) == 2 and rhs == 2
            else:
                ends_are_single = label.count(0) == label.count(1) == 1
                valid = (
                    kind == DIAMETER and diameter_two and rhs == 1 and ends_are_single and set(label) <= {0, 1, 2, 3}
                )
            if not valid or len(label) != len(nodes):
                raise ValueError(f"row {r} is no valid inequality of a topic")
            total += dual * rhs
            for (u, one), (v, other) in combinations(zip(nodes, label, strict=True), 2):
                apart = one != other and not (kind == LEAVING and -1 in (one, other))
                if apart if kind != DIAMETER else ({one, other} in _CROSSING):
                    covers[u, v] = covers.get((u, v), 0) + dual
        for (u, v), covered in covers.items():
            cost = unit * (int(instance.edge_costs([u], [v])[0]) if weighted else 1)
            total -= max(0, covered - prices.get(u, 0) - prices.get(v, 0) - cost)
        return Fraction(total, self.unit)


def _rounded(duals: Reals) -> Units:
    units: Units = np.floor(np.maximum(duals, 0.0) * UNIT).astype(np.int64)
    return units
