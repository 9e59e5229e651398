"""What a greedy method does next, as data: its runs, their traces and every search of ties follow from one rule."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

NEIGHBOURS, WEIGHTED, DENSITY, FEWEST = range(4)


class EdgeRule(NamedTuple):
    """The choice of a method between two edges: e1 contributes most among the edges that raise the maximum degree
    least, e2 among all edges. The method adds e1 unless e2 contributes more than `factor` times as much.
    """

    limits_degree: bool = True  # whether degrees count; else every edge raises the maximum degree least, and e1 is e2
    adds_idle: bool = False  # whether an e1 of contribution 0 is added, too; else e2 is added where no e1 contributes
    factor: Fraction | None = None  # at least 1; None for any e1 that contributes

    def threshold(self, contribution: int) -> float:
        """The largest contribution of e2 with which an e1 of this contribution is added."""
        if self.factor is not None:
            return math.floor(self.factor * contribution)
        return math.inf if contribution or self.adds_idle else 0


class StarRule(NamedTuple):
    """The stars of all topics left at the node that has the highest score, or of one of these topics.

    The score of a node is its neighbours over the topics left, its weighted neighbours, these divided by those, or its
    neighbours negated; of a node and one topic, the weighted neighbours divided by one more than the edges that its
    star lacks.
    """

    score: int
    of_one_topic: bool = False


class RingRule(NamedTuple):
    """A ring on each topic in one order of the nodes: by number for ``lowest``, else in any order."""


GreedyRule = EdgeRule | StarRule | RingRule
