"""The end of a greedy run without degree rule, where no edge contributes more than one topic any more."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from heuristics.compiled import kernel
from heuristics.interest import Interest, interest_of
from heuristics.ties import RULES, TieOrder, priority
from heuristics.topic_components import TopicComponents, unite
from instances import TopicInstance

_LOWEST, _HIGHEST = RULES.index("lowest"), RULES.index("highest")


def last_links(instance: TopicInstance, components: TopicComponents, order: TieOrder) -> npt.NDArray[np.int64]:
    """The edges u·|V| + v that Greedy Merge adds once every contribution is at most 1; `components` is updated.

    An edge that contributes one topic leaves the contributions of all other topics as they are. So the topics
    part, and for each the greedy choice in the order of ties is a minimum spanning tree of its components: for
    ``lowest`` (``highest``) a star at its lowest (highest) subscriber, for ``random`` Prim's tree. No pair is
    listed. Cost O(Σ_t |V_t|), for ``random`` O(Σ_t |V_t|²).
    """
    interest = interest_of(instance)
    if order.rule == _LOWEST or order.rule == _HIGHEST:
        return _stars(interest, components, order.rule == _HIGHEST)
    return _spanning_trees(interest, components, order)


@kernel
def _stars(interest: Interest, components: TopicComponents, highest: bool) -> npt.NDArray[np.int64]:
    n = len(interest.node_offsets) - 1
    edges = np.empty(len(interest.node_topics), np.int64)
    found = 0
    for topic in range(len(interest.topic_offsets) - 1):
        nodes = interest.topic_nodes[interest.topic_offsets[topic] : interest.topic_offsets[topic + 1]]
        if highest:
            nodes = nodes[::-1]
        hub = _place(nodes[0], topic, interest)
        for node in nodes[1:]:
            place = _place(node, topic, interest)
            if components.label[place] != components.label[hub]:
                unite(hub, place, components)
                edges[found] = np.int64(min(nodes[0], node)) * n + max(nodes[0], node)
                found += 1
    return edges[:found].copy()


@kernel
def _spanning_trees(interest: Interest, components: TopicComponents, order: TieOrder) -> npt.NDArray[np.int64]:
    n = len(interest.node_offsets) - 1
    edges = np.empty(len(interest.node_topics), np.int64)
    found = 0
    for topic in range(len(interest.topic_offsets) - 1):
        nodes = interest.topic_nodes[interest.topic_offsets[topic] : interest.topic_offsets[topic + 1]]
        places = np.empty(len(nodes), np.int64)
        for k in range(len(nodes)):
            places[k] = _place(nodes[k], topic, interest)
        found += _spanning_tree(n, nodes, places, components, order, edges[found:])
    return edges[:found].copy()


@kernel
def _spanning_tree(
    n: int,
    nodes: npt.NDArray[np.int32],
    places: npt.NDArray[np.int64],
    components: TopicComponents,
    order: TieOrder,
    edges: npt.NDArray[np.int64],
) -> int:
    """Prim's algorithm on one topic: the tree takes in whole components, best edge out of it first."""
    outside = np.arange(len(nodes))
    num_outside = len(nodes)
    best = np.full(len(nodes), 2**63 - 1, np.int64)
    via = np.zeros(len(nodes), np.int64)
    entered = np.empty(len(nodes), np.int64)
    label, found, entering = components.label, 0, 0
    while True:
        num_entered, num_left = 0, 0
        for k in outside[:num_outside]:
            if label[places[k]] == label[places[entering]]:
                entered[num_entered] = k
                num_entered += 1
            else:
                outside[num_left] = k
                num_left += 1
        num_outside = num_left
        if num_outside == 0:
            return found
        for k in outside[:num_outside]:
            for inside in entered[:num_entered]:
                edge = np.int64(min(nodes[k], nodes[inside])) * n + max(nodes[k], nodes[inside])
                place = priority(edge, order)
                if place <= best[k]:
                    best[k], via[k] = place, edge
        entering = outside[np.argmin(best[outside[:num_outside]])]
        edges[found] = via[entering]
        found += 1


@kernel
def _place(node: int, topic: int, interest: Interest) -> int:
    """Where the subscription stands in ``node_topics``."""
    start, end = interest.node_offsets[node], interest.node_offsets[node + 1]
    place: int = start + np.searchsorted(interest.node_topics[start:end], topic)
    return place
