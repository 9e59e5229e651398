"""The CP-SAT model of the topic-diameter problems, by distance layers.

A Boolean x_e for each pair e of nodes, and for each pair (u, v) and each k a Boolean that implies that their distance
in the overlay is at most k: it is so for k − 1, or a node w is adjacent to v and at most k − 1 from u. Paths may pass
through any node. A Boolean for each topic and k implies that of all pairs of its subscribers.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations

from ortools.sat.python import cp_model

from ....instances.contract.run import Clock
from ....instances.topics.instance import TopicInstance
from ...engine.exact_method import check_size
from .overlay_variables import OverlayVariables
from .requirements import Edge, Subscribers, pair

# At most this many variables are built: about 1 GB.
MOST_VARIABLES = 3_000_000


@dataclass
class DiameterCp(OverlayVariables):
    """The model, whose cost is the largest topic diameter or the sum of all of them.

    Attributes
    ----------
    near : dict
        For (u, v, k), u < v, the Boolean that implies a distance of at most k.
    """

    near: dict[tuple[int, int, int], cp_model.IntVar] = field(default_factory=dict)

    def within(self, ends: Edge, k: int) -> cp_model.IntVar:
        """The Boolean that implies a distance of at most k ≥ 1 between two nodes."""
        if k == 1:
            return self.edge[ends]
        u, v = ends
        if (u, v, k) not in self.near:
            near = self.near[u, v, k] = self.model.new_bool_var("")
            paths = [self._last_hop(u, w, v, k) for w in range(self.num_nodes) if w not in ends]
            self.model.add_bool_or(~near, self.within(ends, k - 1), *paths)
        return self.near[u, v, k]

    def _last_hop(self, u: int, w: int, v: int, k: int) -> cp_model.IntVar:
        """Implies that w is adjacent to v and at most k − 1 from u."""
        hop = self.model.new_bool_var("")
        self.model.add_implication(hop, self.edge[pair(w, v)])
        self.model.add_implication(hop, self.within(pair(u, w), k - 1))
        return hop


def build_diameter(instance: TopicInstance, largest: int, clock: Clock, *, average: bool) -> DiameterCp:
    """The overlays in which no topic diameter exceeds `largest`. O(|V|³·largest) variables.

    Parameters
    ----------
    largest : int
        At least 1.
    average : bool
        Whether the cost is the sum over the topics or the largest diameter.

    Raises
    ------
    OutOfTime
        If building takes longer than the clock.
    ModelTooLarge
        If there would be more than `MOST_VARIABLES` variables.
    """
    n = instance.num_nodes
    topics = Counter(tuple(instance.subscribers(t).tolist()) for t in range(instance.num_topics))
    check_size(n**3 // 2 * (largest - 1) + n * n, MOST_VARIABLES)
    cp = DiameterCp(n)
    connected = {subscribers: count for subscribers, count in topics.items() if len(subscribers) > 1}
    shared: list[cp_model.IntVar] = [] if average else [cp.model.new_bool_var("") for _ in range(1, largest)]
    for subscribers in connected:
        clock.check()
        for ends in combinations(subscribers, 2):
            cp.model.add(cp.within(ends, largest) == 1)
    for k in range(1, largest) if not average else ():
        for subscribers in connected:
            clock.check()
            _require(cp, subscribers, k, shared[k - 1])
    if not average:
        cp.cost = largest - sum(shared) if connected else 0
        return cp
    for subscribers, count in connected.items():
        for k in range(1, largest):
            clock.check()
            reached = cp.model.new_bool_var("")
            _require(cp, subscribers, k, reached)
            cp.cost = cp.cost + count * (1 - reached)
        cp.cost = cp.cost + count
    return cp


def _require(cp: DiameterCp, subscribers: Subscribers, k: int, if_true: cp_model.IntVar) -> None:
    for ends in combinations(subscribers, 2):
        cp.model.add_implication(if_true, cp.within(ends, k))
