"""Method `diameter-cp-sat`: the topic-diameter problems of P1 §9 by CP-SAT, with distance layers.

A 0/1 column x_e for each pair e of nodes, and for each pair (u, v) and each k one that implies that their distance in
the overlay is at most k: it is so for k − 1, or a node w is adjacent to v and at most k − 1 from u. Paths may pass
through any node. A column for each topic and k implies that of all pairs of its subscribers.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np

from ...heuristics.topics.limits import Limits
from ...instances.contract.run import Clock
from ...instances.topics.instance import TopicInstance
from ...instances.topics.soc import SOC
from ..engine.exact_method import check_size
from .compact.overlay_model import Edge, pair
from .compact.soc_search import Build, SocBounds, SocModel, soc_method

# At most this many columns are built: about 1 GB.
_MOST_VARIABLES = 3_000_000


class DiameterModel(SocModel):
    """The overlays in which no topic diameter exceeds `largest`; the cost is the largest diameter or the sum of all.

    Parameters
    ----------
    largest : int
        At least 1.
    average : bool
        Whether the cost is the sum over the topics or the largest diameter.

    Attributes
    ----------
    near : dict
        For (u, v, k), u < v, the column that implies a distance of at most k.

    Raises
    ------
    OutOfTime
        If building takes longer than the clock.
    ModelTooLarge
        If there would be more than 3,000,000 columns: there are O(|V|³·largest).
    """

    def __init__(self, instance: TopicInstance, largest: int, clock: Clock, *, average: bool) -> None:
        n = instance.num_nodes
        check_size(n**3 // 2 * (largest - 1) + n * n, _MOST_VARIABLES)
        super().__init__(n)
        self.near: dict[tuple[int, int, int], int] = {}
        topics = Counter(tuple(instance.subscribers(t).tolist()) for t in range(instance.num_topics))
        connected = {subscribers: count for subscribers, count in topics.items() if len(subscribers) > 1}
        for subscribers in connected:
            clock.check()
            for ends in combinations(subscribers, 2):
                self.require([self._within(ends, largest)], least=1)
        # A diameter of `largest`, less 1 for each k below it within which all pairs are.
        shared = {} if average else {k: self.column() for k in range(1, largest)}
        for subscribers, count in connected.items():
            for k in range(1, largest):
                clock.check()
                within = self.column() if average else shared[k]
                if average:
                    self.routing[within] = -count
                for ends in combinations(subscribers, 2):
                    self.imply(within, self._within(ends, k))
        self.routing |= dict.fromkeys(shared.values(), -1)
        self.routing_constant = largest * (sum(connected.values()) if average else min(1, len(connected)))

    def _within(self, ends: Edge, k: int) -> int:
        """The column that implies a distance of at most k ≥ 1 between two nodes."""
        if k == 1:
            return self.edge[ends]
        u, v = ends
        if (u, v, k) not in self.near:
            near = self.near[u, v, k] = self.column()
            paths = [self._last_hop(u, w, v, k) for w in range(self.num_nodes) if w not in ends]
            self.require_some([self._within(ends, k - 1), *paths], of=near)
        return self.near[u, v, k]

    def _last_hop(self, u: int, w: int, v: int, k: int) -> int:
        """Implies that w is adjacent to v and at most k − 1 from u."""
        hop = self.column()
        self.imply(hop, self.edge[pair(w, v)])
        self.imply(hop, self._within(pair(u, w), k - 1))
        return hop


def _formulate(instance: TopicInstance, soc: SOC, limits: Limits) -> tuple[Build, SocBounds]:
    """The model, and two bounds that come without it.

    An overlay has at least |V| − c edges (see :class:`.Limits`), which a star on each component attains as soon as
    C ≥ 2. And a node of degree at most d reaches at most d Σ_{i<C} (d − 1)^i others within C hops (Moore's bound), so d
    must be large enough for the nodes with which each node shares a topic.
    """
    average = soc.routing.name == "average-topic-diameter"
    connected = int((np.diff(instance.topic_offsets) > 1).sum())

    def build(most_cost: int | None, clock: Clock) -> DiameterModel:
        largest = instance.num_nodes - 1
        if most_cost is not None:  # each of the other topics has a diameter of 1 or more
            largest = min(largest, most_cost - (connected - 1) if average else most_cost)
        return DiameterModel(instance, largest, clock, average=average)

    least_cost = connected if average else min(connected, 1)
    return build, SocBounds(least_degree(instance, limits, average=average), least_cost, sweep_cost=True)


def least_degree(instance: TopicInstance, limits: Limits, *, average: bool) -> int:
    """A lower bound on the degree function, in its unit; Moore's bound where all topic diameters are limited."""
    if not limits.counts_max_degree or average or limits.cost is None:
        return limits.least_degree
    most = 0
    for v in range(instance.num_nodes):
        topics = [instance.subscribers(t) for t in instance.topics_of(v).tolist()]
        most = max(most, len({int(u) for subscribers in topics for u in subscribers}) - 1)
    degree = limits.least_degree
    while degree < most and _within(degree, limits.cost) < most:
        degree += 1
    return degree


def _within(degree: int, hops: int) -> int:
    """The most nodes that a node can reach within some hops where no degree exceeds `degree`."""
    reached, layer = 0, degree
    for _ in range(hops):
        reached += layer
        layer *= degree - 1
        if layer <= 0 or reached > 2**31:
            break
    return reached


DIAMETER_CP_SAT = soc_method(
    _formulate,
    name="diameter-cp-sat",
    marker="H",
    problems=("topic-diameter", "average-topic-diameter"),
    summary="CP-SAT: an overlay on all pairs of nodes with distance layers between the subscribers of each topic",
    source="P1 §9; models/topics/diameter_cp_sat.py",
    cost="exponential in the worst case; O(|V|³ C) variables for topic diameters up to C",
)
