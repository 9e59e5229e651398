"""Lower bounds in integers: dual values, rounded, and what they prove whatever a solver thought of them.

Any dual values prove a bound, so they are rounded to multiples of 1/2^32 and the bound is computed from them
anew, in integers. Neither the solver's tolerances nor rounding can lift it above the truth.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import numpy.typing as npt

from ....heuristics.compiled import kernel
from ....instances.arrays import Ids
from ....instances.topics.instance import TopicInstance
from ...engine.integer_bound import UNIT, Bound
from ..rows.candidate_edges import CandidateEdges, Links
from ..rows.topic_rows import DIAMETER, PARTITION, TopicRows, Units, sweep

_CROSSING = ({0, 1}, {0, 2}, {1, 3})  # labels of the ends of an edge that counts in a diameter row
Reals = npt.NDArray[np.float64]


def proven_bound(
    edges: CandidateEdges,
    rows: TopicRows,
    duals: Reals,
    node_duals: Reals,
    *,
    edge_cost: int,
    degree_cost: int,
    degree_bounds: tuple[int, int],
    lower: npt.NDArray[np.int8] | None = None,
    upper: npt.NDArray[np.int8] | None = None,
) -> Bound:
    """A lower bound on Σ edge_cost·x + degree_cost·D over every overlay that satisfies the rows.

    Overlays may use every pair of nodes with a topic in common, candidate or not. With both costs 0, a positive
    bound proves that there is no such overlay.

    Parameters
    ----------
    duals : float64 array, one a row
    node_duals : float64 array, shape (|V|,)
        Of the rows degree(v) ≤ D.
    degree_bounds : pair of int
        The least and the largest D allowed.
    lower, upper : int8 arrays, one a candidate edge
        The bounds of x, 0 and 1 by default.

    Returns
    -------
    Bound

    Notes
    -----
    Weak duality: Σ duals·rhs + Σ_edges min over x of (cost − cover + prices)·x + min over D of (degree_cost − Σ
    prices)·D. Time as for :func:`.sweep`; the sums of integers stay below 2^62 as long as
    Σ duals·|E| < 2^30.
    """
    units, prices = _rounded(duals), _rounded(node_duals)
    cost = edge_cost * UNIT
    swept = sweep(edges.interest, edges.position, rows, units, prices, cost, UNIT >> 20)
    reduced = cost - _cover(rows, units, edges.links, len(edges)) + prices[edges.u] + prices[edges.v]
    total = sum((units * rows.rhs.astype(np.int64)).tolist()) - swept.excess
    if lower is not None and upper is not None:
        negative = np.minimum(reduced, 0)
        total += int(-negative[upper == 0].sum() + (reduced - negative)[lower == 1].sum())
    slack = degree_cost * UNIT - int(prices.sum())
    total += slack * degree_bounds[0 if slack >= 0 else 1]
    unknown = ~np.isin(swept.pairs, edges.keys)
    pairs, covers = swept.pairs[unknown], swept.covers[unknown]
    return Bound(total, pairs[np.argsort(-covers, kind="stable")], reduced)


@dataclass(frozen=True)
class Certificate:
    """A lower bound on the edges or the maximum degree that anyone can check with a few lines of code.

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
        """Round dual values and keep the rows that have one."""
        units, used = _rounded(duals), _rounded(duals) > 0
        kept = tuple(units[used].tolist())
        return cls(rows.chosen(used), kept, tuple(_rounded(node_duals).tolist()))

    def for_topics(self, topics: Ids) -> Certificate:
        """The same proof for an instance in which topic t has the number ``topics[t]``, and perhaps there are more."""
        return replace(self, rows=self.rows._replace(topic=topics[self.rows.topic]))

    @property
    def of_degree(self) -> bool:
        """Whether the bound is on the maximum degree: there are node duals."""
        return any(self.node_duals)

    def check(self, instance: TopicInstance, *, diameter_two: bool = False) -> Fraction:
        """The bound, in Python's integers and from the definitions, sharing no code with the solver.

        Parameters
        ----------
        instance : TopicInstance
        diameter_two : bool
            Whether the overlays have topics of diameter 2, so that rows of kind `DIAMETER` are valid.

        Raises
        ------
        ValueError
            If the certificate is not one: a negative dual, labels that do not fit the topic, or a right-hand side
            that is not the row's.
        """
        if min((*self.duals, *self.node_duals), default=0) < 0 or sum(self.node_duals) > self.unit:
            raise ValueError("dual values must not be negative, nor those of the nodes exceed 1 in sum")
        prices = dict(enumerate(self.node_duals))
        cost = 0 if self.of_degree else self.unit
        cover: dict[tuple[int, int], int] = {}
        total = 0
        for r, dual in enumerate(self.duals):
            t, kind, rhs = int(self.rows.topic[r]), int(self.rows.kind[r]), int(self.rows.rhs[r])
            nodes = instance.subscribers(t).tolist() if 0 <= t < instance.num_topics else []
            label = self.rows.label[self.rows.offsets[r] : self.rows.offsets[r + 1]].tolist()
            if kind == PARTITION:
                valid = rhs == len(set(label)) - 1
            else:
                ends_are_single = label.count(0) == label.count(1) == 1
                valid = (
                    kind == DIAMETER and diameter_two and rhs == 1 and ends_are_single and set(label) <= {0, 1, 2, 3}
                )
            if not valid or len(label) != len(nodes):
                raise ValueError(f"row {r} is no valid inequality of a topic")
            total += dual * rhs
            for (u, one), (v, other) in combinations(zip(nodes, label, strict=True), 2):
                if (one != other) if kind == PARTITION else ({one, other} in _CROSSING):
                    cover[u, v] = cover.get((u, v), 0) + dual
        for (u, v), covered in cover.items():
            total -= max(0, covered - prices.get(u, 0) - prices.get(v, 0) - cost)
        return Fraction(total, self.unit)


def _rounded(duals: Reals) -> Units:
    units: Units = np.floor(np.maximum(duals, 0.0) * UNIT).astype(np.int64)
    return units


@kernel
def _cover(rows: TopicRows, duals: Units, links: Links, num_edges: int) -> Units:
    """Σ duals of the rows that each candidate edge crosses."""
    cover = np.zeros(num_edges, np.int64)
    for r in range(len(rows.topic)):
        if duals[r] == 0:
            continue
        start, t = rows.offsets[r], rows.topic[r]
        for k in range(links.offsets[t], links.offsets[t + 1]):
            one, other = rows.label[start + links.a[k]], rows.label[start + links.b[k]]
            low, high = min(one, other), max(one, other)
            if rows.kind[r] == PARTITION:
                crosses = one != other
            else:
                crosses = (low == 0 and 0 < high <= 2) or (low == 1 and high == 3)
            if crosses:
                cover[links.edge[k]] += duals[r]
    return cover
