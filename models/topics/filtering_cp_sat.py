"""Method `filtering-cp-sat`: the filtering problems of P1 §9 by CP-SAT, with an arborescence and relays for each topic.

A 0/1 column x_e for each pair e of nodes. Each topic t has a column a_v for each non-subscriber v that relays it, and
an arborescence on V_t and its relays: every node but the root has one parent, a parent requires an edge, and a node has
a higher level than its parent, which excludes cycles. A relay has a child.

Valid inequalities raise the bound. With r_t = 1 where topic t has a relay, Σ_{e ⊆ V_t} x_e ≥ (|V_t| − 1)(1 − r_t), as
the subscribers are otherwise connected among themselves, and each of them has an edge to another one or r_t = 1. An
overlay that connects every topic through any nodes has at least |V| − c edges, where c counts the components of the
relation "a common topic".
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations

from ...heuristics.topics.limits import Limits
from ...instances.contract.run import Clock
from ...instances.topics.instance import TopicInstance
from ...instances.topics.soc import SOC
from ..engine.exact_method import check_size
from .compact.overlay_model import Subscribers, pair
from .compact.soc_search import Build, SocBounds, SocModel, soc_method

# At most this many columns are built: about 1 GB.
_MOST_VARIABLES = 3_000_000


class FilteringModel(SocModel):
    """The overlays that connect every topic, with their filtering cost.

    Raises
    ------
    OutOfTime
        If building takes longer than the clock.
    ModelTooLarge
        If there would be more than 3,000,000 columns: there are O(|T||V|²).
    """

    def __init__(self, instance: TopicInstance, clock: Clock) -> None:
        n = instance.num_nodes
        topics = Counter(tuple(instance.subscribers(t).tolist()) for t in range(instance.num_topics))
        check_size(len(topics) * n * n, _MOST_VARIABLES)
        super().__init__(n)
        for subscribers, count in topics.items():
            clock.check()
            if len(subscribers) > 1:
                self.routing |= dict.fromkeys(self._connect(subscribers), count)

    def _connect(self, subscribers: Subscribers) -> list[int]:
        """Connect a topic; returns the columns of its relays."""
        nodes, root = range(self.num_nodes), subscribers[0]
        relay = {v: self.column() for v in nodes if v not in subscribers}
        parent = {(u, v): self.column() for u in nodes for v in nodes if u != v and v != root}
        for v in nodes:
            into = [parent[u, v] for u in nodes if (u, v) in parent]
            out = [parent[v, w] for w in nodes if (v, w) in parent]
            if v in relay:
                self.require([*into, relay[v]], [*[1] * len(into), -1], least=0, most=0)
                self.require_some(out, of=relay[v])
                for child in out:
                    self.imply(child, relay[v])
            elif v != root:
                self.require(into, least=1, most=1)
        for u, v in combinations(nodes, 2):
            arcs = [parent[arc] for arc in ((u, v), (v, u)) if arc in parent]
            self.require([self.edge[u, v], *arcs], [1, *[-1] * len(arcs)], least=0)
        last = self.num_nodes - 1
        self.require_levels(parent, [self.column(int(v != root), last if v != root else 0) for v in nodes])
        if relay:
            self._require_edges_without_relays(subscribers, list(relay.values()))
        return list(relay.values())

    def _require_edges_without_relays(self, subscribers: Subscribers, relays: list[int]) -> None:
        relayed = self.column()
        for relay in relays:
            self.imply(relay, relayed)
        self.require_some(relays, of=relayed)
        for v in subscribers:
            self.require_some([relayed, *(self.edge[pair(v, w)] for w in subscribers if w != v)])
        among = [self.edge[pair(u, v)] for u, v in combinations(subscribers, 2)]
        fewest = len(subscribers) - 1
        self.require([*among, relayed], [*[1] * len(among), fewest], least=fewest)


def _formulate(instance: TopicInstance, soc: SOC, limits: Limits) -> tuple[Build, SocBounds]:
    def build(_most_cost: int | None, clock: Clock) -> FilteringModel:
        return FilteringModel(instance, clock)

    return build, SocBounds(limits.least_degree, 0, sweep_cost=False)


FILTERING_CP_SAT = soc_method(
    _formulate,
    name="filtering-cp-sat",
    marker="h",
    problems=("filtering",),
    summary="CP-SAT: an overlay on all pairs of nodes with an arborescence and relays for each topic",
    source="P1 §9; models/topics/filtering_cp_sat.py",
    cost="exponential in the worst case; O(|T||V|²) variables",
)
