"""A minimum spanning tree for each topic, in which the edges of earlier topics are free."""

from __future__ import annotations

import numpy as np

from ...instances.contract.arrays import Ids
from ...instances.runtime.compiled import kernel
from ...instances.topics.instance import TopicInstance
from .heuristic import heuristic
from .kernels.interest import EdgeCosts, TopicComponents, cost_of, edge_costs, join
from .kernels.partial_overlay import Edges, OverlayBuild, PartialOverlay
from .tie_breaking.ties import TIES, TieOrder, rank_of, tie_order


@heuristic(TIES)
def mst_per_topic(instance: TopicInstance, *, ties: str = "lowest", seed: int = 0) -> OverlayBuild:
    """A topic-connected overlay that costs at most Σ_t (minimum spanning tree of V_t), so at most |T| times the least.

    The topics are taken from few subscribers to many. Each is connected by the cheapest edges between the components
    that the overlay so far gives it.

    Without costs, every edge costs 1. Parameters and errors are those of :func:`.greedy_merge`.

    Notes
    -----
    From no paper: the weighted counterpart of the rings of P1 §8.3, which knows one topic at a time. The ratio holds
    because every overlay has a spanning tree of every topic. Prim's algorithm: time O(Σ_t |V_t|²), memory O(Σ|T_v|).

    Examples
    --------
    >>> instance = TopicInstance.from_subscriptions({"n0": ["a", "b"], "n1": ["a", "b"], "n2": ["b"]})
    >>> mst_per_topic(instance).edges.tolist()
    [[0, 1], [0, 2]]
    """
    partial = PartialOverlay(instance, tie_order(ties, seed))
    topics = np.argsort(np.diff(instance.topic_offsets), kind="stable").astype(np.int32)
    edges = spanning_trees(topics, partial.components, edge_costs(instance), partial.order)
    partial.record(edges, merged=partial.excess_components)
    return OverlayBuild(partial.overlay(), partial.counters())


@kernel
def spanning_trees(topics: Ids, components: TopicComponents, costs: EdgeCosts, order: TieOrder) -> Edges:
    """The edges of a cheapest tree over the components of each topic in turn; `components` is updated."""
    n = len(components.node_offsets) - 1
    edges, num_edges = np.empty(len(components.topic_nodes), np.int64), 0
    for topic in topics:
        first, last = components.topic_offsets[topic], components.topic_offsets[topic + 1]
        before = num_edges
        num_edges += _tree(
            n, components.topic_nodes[first:last], components.label[first:last], costs, order, edges[num_edges:]
        )
        # Joined in all common topics, so that these edges are free in the topics to come.
        for edge in edges[before:num_edges]:
            join(edge // n, edge % n, components)
    return edges[:num_edges].copy()


@kernel
def _tree(n: int, nodes: Ids, label: Ids, costs: EdgeCosts, order: TieOrder, edges: Edges) -> int:
    """Prim's algorithm on the components of one topic; returns the number of edges."""
    outside, num_outside = np.arange(len(nodes)), len(nodes)
    # Of each node outside: the cheapest edge to the tree, and its rank among equally cheap ones.
    cheapest, ranks = np.full(len(nodes), 2**62, np.int64), np.zeros(len(nodes), np.int64)
    via, entered = np.zeros(len(nodes), np.int64), np.empty(len(nodes), np.int64)
    entering, num_edges = 0, 0
    while True:
        # A whole component enters at a time, since its nodes are connected already.
        num_entered, num_left = 0, 0
        for k in outside[:num_outside]:
            if label[k] == label[entering]:
                entered[num_entered] = k
                num_entered += 1
            else:
                outside[num_left] = k
                num_left += 1
        num_outside = num_left
        if num_outside == 0:
            return num_edges
        best = outside[0]
        for k in outside[:num_outside]:
            for inside in entered[:num_entered]:
                cost = cost_of(nodes[k], nodes[inside], costs)
                if cost <= cheapest[k]:
                    edge = np.int64(min(nodes[k], nodes[inside])) * n + max(nodes[k], nodes[inside])
                    rank = rank_of(edge, order)
                    if cost < cheapest[k] or rank < ranks[k]:
                        cheapest[k], ranks[k], via[k] = cost, rank, edge
            if cheapest[k] < cheapest[best] or (cheapest[k] == cheapest[best] and ranks[k] < ranks[best]):
                best = k
        entering = best
        edges[num_edges] = via[best]
        num_edges += 1


MST_PER_TOPIC = mst_per_topic.method(
    "mst-per-topic",
    ("weighted-tco",),
    summary="a minimum spanning tree for each topic, from small to large, with earlier edges free",
    source="none; docs/topics.md",
    guarantee="costs at most |T| times the least",
    cost="time O(Σ_t |V_t|²), memory O(Σ|T_v|)",
    pace=8,
)
