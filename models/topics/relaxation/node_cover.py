"""A lower bound on the maximum degree at any size: how many neighbours one node needs for its topics.

In each topic of two or more subscribers a node has a neighbour. Its degree is therefore at least the fractional cover
of these topics by other nodes: numbers y_t ≥ 0 with Σ_{t ∈ T_u ∩ T_v} y_t ≤ 1 for each u ≠ v prove that degree(v) ≥
Σ_{t ∈ T_v} y_t. In the LP of MinMax-TCO (P2 §2.1) it is the bound by the degree row of v alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ....instances.contract.arrays import Flags, Ids, Offsets, entries_of
from ....instances.runtime.run import Clock
from ....instances.topics.instance import TopicInstance
from ...engine.proof import Multipliers
from ...engine.relaxation import UNIT, HighsLP, Reals
from .cutting_planes import row_multipliers
from .topic_rows import TopicRows, Units

_MOST_ENTRIES = 20_000_000  # of the table of a node's neighbours by its topics


@dataclass(frozen=True)
class NodeCover:
    """The proof that the degree of `node` is at least `value`; `units` holds the y_t · 2^32."""

    instance: TopicInstance
    node: int
    topics: Ids
    units: Units

    @property
    def value(self) -> Fraction:
        """Σ y_t."""
        return Fraction(int(self.units.sum()), UNIT)

    def multipliers(self) -> Multipliers:
        """The row of a topic says that an edge joins the node to the other subscribers."""
        offsets, subscribers = _subscribers(self.instance, self.topics)
        labels = (subscribers != self.node).astype(np.int32)
        kind = np.zeros(len(self.topics), np.int32)
        prices = np.zeros(self.instance.num_nodes, np.int64)
        prices[self.node] = UNIT
        rows = TopicRows(self.topics, kind, kind + 1, offsets, labels)
        return row_multipliers(rows, self.units, prices, farkas=True)


def node_cover(instance: TopicInstance, clock: Clock, *, enough: float = math.inf) -> NodeCover | None:
    """The largest fractional cover of a node's topics found until the clock ends, or one that rounds up to `enough`.

    Nodes come by a simple bound, y_t = 1 ÷ the most topics that a subscriber of t shares with v; an LP is solved only
    where a greedy cover, which is no smaller, exceeds the best bound. None if no topic has two subscribers.

    Time O(Σ_{t ∈ T_v} |V_t|) a node, and an LP of |T_v| rows for those left; memory O(|T_v| · neighbours) of a node,
    of which those with more than 20,000,000 are left out.
    """
    best: NodeCover | None = None
    simple = np.zeros(instance.num_nodes)
    for v in range(instance.num_nodes):
        if clock.passed:
            break
        offsets, nodes = _subscribers(instance, _shared_topics(instance, v))
        if len(nodes):
            _, inverse, common = np.unique(np.where(nodes == v, -1, nodes), return_inverse=True, return_counts=True)
            common[0] = 0  # of v itself
            simple[v] = (1 / np.maximum.reduceat(common[inverse], offsets[:-1])).sum()
    for v in np.argsort(-simple, kind="stable").tolist():
        least = 0 if best is None else math.ceil(best.value)
        if clock.passed or least >= enough or not simple[v]:
            break
        topics, shared = _shared(instance, v)
        if len(topics) <= least or _greedy_cover(shared) <= least:
            continue
        duals = _fractional_cover(shared, clock)
        if duals is None:
            continue
        units = np.floor(np.maximum(duals, 0.0) * UNIT).astype(np.int64)
        most = int((shared @ units).max())
        if most > UNIT:  # the LP's rows hold up to its tolerance: scaled down, they hold exactly
            units = np.array([each * UNIT // most for each in units.tolist()], np.int64)
        found = NodeCover(instance, v, topics, units)
        if best is None or found.value > best.value:
            best = found
    return best


def _shared_topics(instance: TopicInstance, v: int) -> Ids:
    topics = instance.topics_of(v)
    return topics[np.diff(instance.topic_offsets)[topics] > 1]


def _subscribers(instance: TopicInstance, topics: Ids) -> tuple[Offsets, Ids]:
    """The subscribers of some topics: CSR."""
    offsets, entries = entries_of(instance.topic_offsets, topics)
    return offsets, instance.topic_nodes[entries]


def _shared(instance: TopicInstance, v: int) -> tuple[Ids, Flags]:
    """The topics of a node with other subscribers, and the distinct sets of them that its neighbours have, as rows."""
    topics = _shared_topics(instance, v)
    offsets, subscribers = _subscribers(instance, topics)
    if len(subscribers) * len(topics) > _MOST_ENTRIES:
        return topics[:0], np.empty((0, 0), np.bool_)
    nodes, row = np.unique(subscribers, return_inverse=True)
    table = np.zeros((len(nodes), len(topics)), np.bool_)
    table[row, np.repeat(np.arange(len(topics)), np.diff(offsets))] = True
    return topics, np.unique(table[nodes != v], axis=0)


def _greedy_cover(shared: Flags) -> int:
    left, count = shared.copy(), 0
    while (most := left.sum(axis=1)).any():
        left[:, left[most.argmax()]] = False
        count += 1
    return count


def _fractional_cover(shared: Flags, clock: Clock) -> Reals | None:
    """The dual values of the least fractional cover of the columns by the rows; None if the clock ends first."""
    count, topics = shared.shape
    lp = HighsLP()
    lp.append_columns(np.ones(count), 0.0, 1.0)
    topic, row = np.nonzero(shared.T)
    starts = np.searchsorted(topic, np.arange(topics))
    lp.append_rows(np.ones(topics), starts, row, np.ones(len(row)))
    return lp.row_duals if lp.solve(clock.left) and lp.feasible else None
