"""The last edges of Greedy Merge: those of contribution 1, num_edges without a search over pairs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...compiled import kernel
from .ties import RULES, TieOrder, rank_of
from .topic_components import TopicComponents, unite

_LOWEST, _HIGHEST = RULES.index("lowest"), RULES.index("highest")


def last_edges(components: TopicComponents, order: TieOrder) -> npt.NDArray[np.int64]:
    """The edges u·|V| + v that Greedy Merge adds once every contribution is at most 1; `components` is updated.

    An edge that contributes to one topic does not change the other topics, so the topics are independent. For each,
    the greedy choice in the order of ties is a minimum spanning tree of its components: for ``lowest`` (``highest``)
    a star at its lowest (highest) subscriber, for ``random`` Prim's tree. Cost O(Σ_t |V_t|), for ``random``
    O(Σ_t |V_t|²).
    """
    if order.rule == _LOWEST or order.rule == _HIGHEST:
        return _stars(components, order.rule == _HIGHEST)
    return _spanning_trees(components, order)


@kernel
def _stars(components: TopicComponents, highest: bool) -> npt.NDArray[np.int64]:
    n, nodes, label = len(components.node_offsets) - 1, components.topic_nodes, components.label
    edges, num_edges = np.empty(len(nodes), np.int64), 0
    for topic in range(len(components.topic_offsets) - 1):
        first, last = components.topic_offsets[topic], components.topic_offsets[topic + 1]
        hub = last - 1 if highest else first
        for k in range(1, last - first):
            position = hub - k if highest else hub + k
            if label[position] != label[hub]:
                unite(hub, position, components)
                edges[num_edges] = np.int64(min(nodes[hub], nodes[position])) * n + max(nodes[hub], nodes[position])
                num_edges += 1
    return edges[:num_edges].copy()


@kernel
def _spanning_trees(components: TopicComponents, order: TieOrder) -> npt.NDArray[np.int64]:
    n = len(components.node_offsets) - 1
    edges, num_edges = np.empty(len(components.topic_nodes), np.int64), 0
    for topic in range(len(components.topic_offsets) - 1):
        first, last = components.topic_offsets[topic], components.topic_offsets[topic + 1]
        nodes, label = components.topic_nodes[first:last], components.label[first:last]
        num_edges += _spanning_tree(n, nodes, label, order, edges[num_edges:])
    return edges[:num_edges].copy()


@kernel
def _spanning_tree(
    n: int,
    nodes: npt.NDArray[np.int32],
    label: npt.NDArray[np.int32],
    order: TieOrder,
    edges: npt.NDArray[np.int64],
) -> int:
    """Prim's algorithm on the components of one topic; returns the number of edges."""
    outside = np.arange(len(nodes))
    num_outside = len(nodes)
    best = np.full(len(nodes), 2**63 - 1, np.int64)
    via = np.zeros(len(nodes), np.int64)
    entered = np.empty(len(nodes), np.int64)
    num_edges, entering = 0, 0
    while True:
        num_entered, num_outside = enter(entering, label, outside[:num_outside], entered)
        if num_outside == 0:
            return num_edges
        for k in outside[:num_outside]:
            for inside in entered[:num_entered]:
                edge = np.int64(min(nodes[k], nodes[inside])) * n + max(nodes[k], nodes[inside])
                rank = rank_of(edge, order)
                if rank <= best[k]:
                    best[k], via[k] = rank, edge
        entering = outside[np.argmin(best[outside[:num_outside]])]
        edges[num_edges] = via[entering]
        num_edges += 1


@kernel
def enter(
    entering: int, label: npt.NDArray[np.int32], outside: npt.NDArray[np.int64], entered: npt.NDArray[np.int64]
) -> tuple[int, int]:
    """Move the component of `entering` from those outside of Prim's tree to `entered`; returns how many are in each."""
    num_entered, num_left = 0, 0
    for k in outside:
        if label[k] == label[entering]:
            entered[num_entered] = k
            num_entered += 1
        else:
            outside[num_left] = k
            num_left += 1
    return num_entered, num_left
