"""Lower bounds that need no solver."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from itertools import combinations
from typing import NamedTuple

from ....instances.contract.run import Clock
from .requirements import Edge, Requirements, Subscribers


class SimpleBounds(NamedTuple):
    """Valid for every overlay in which each topic is connected, so for all five problems.

    Attributes
    ----------
    edges, max_degree : int
    """

    edges: int
    max_degree: int

    def value(self, problem: str) -> int:
        """The bound on a problem's value."""
        return {"minmax-tco": self.max_degree, "low-tco": self.edges * self.max_degree}.get(problem, self.edges)


def simple_bounds(requirements: Requirements, clock: Clock) -> SimpleBounds:
    """Bounds from single topics and single nodes.

    A topic needs |V_t| − 1 edges, and topics that share no pair of subscribers need distinct ones. A node needs a
    neighbour in each of its topics, and topics that share no other subscriber need distinct neighbours. The degrees
    add up to twice the edges, and in a topic of more than two subscribers some degree is at least 2.

    Time O(Σ_t |V_t|²).

    Raises
    ------
    OutOfTime
    """
    smallest_first = sorted(requirements.topics, key=len)
    topics_at: dict[int, list[Subscribers]] = defaultdict(list)
    for topic in smallest_first:
        clock.check()
        for node in topic:
            topics_at[node].append(topic)
    degrees = [_neighbours_needed(node, topics) for node, topics in topics_at.items()]
    edges = max(_edges_needed(smallest_first, clock), math.ceil(sum(degrees) / 2))
    path = 2 if smallest_first and len(smallest_first[-1]) > 2 else 0
    return SimpleBounds(edges, max([*degrees, path, math.ceil(2 * edges / requirements.num_nodes)]))


def _neighbours_needed(node: int, topics: Iterable[Subscribers]) -> int:
    others: set[int] = set()
    count = 0
    for topic in topics:
        if not any(v in others for v in topic if v != node):
            others.update(v for v in topic if v != node)
            count += 1
    return count


def _edges_needed(topics: list[Subscribers], clock: Clock) -> int:
    taken: set[Edge] = set()
    total = 0
    for topic in topics:
        clock.check()
        pairs = list(combinations(topic, 2))
        if taken.isdisjoint(pairs):
            taken.update(pairs)
            total += len(topic) - 1
    return max(total, max((len(topic) - 1 for topic in topics), default=0))
