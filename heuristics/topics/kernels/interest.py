"""The instance as kernels take it: the interest relation, the costs of edges, and topic components."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ....instances.contract.arrays import Ids, Offsets
from ....instances.runtime.compiled import in_place_kernel, kernel
from ....instances.topics.instance import TopicInstance


class Interest(NamedTuple):
    """The four arrays of a :class:`TopicInstance`."""

    node_offsets: Offsets
    node_topics: Ids
    topic_offsets: Offsets
    topic_nodes: Ids


def interest_of(instance: TopicInstance) -> Interest:
    """The arrays themselves, not copies."""
    return Interest(instance.node_offsets, instance.node_topics, instance.topic_offsets, instance.topic_nodes)


@kernel
def positions_of(interest: Interest) -> Ids:
    """The index in ``topic_nodes`` of each subscription of ``node_topics``. Cost O(Σ|T_v|)."""
    positions = np.empty(len(interest.node_topics), np.int32)
    following = interest.topic_offsets[:-1].copy()
    for i in range(len(positions)):
        topic = interest.node_topics[i]
        positions[i] = following[topic]
        following[topic] += 1
    return positions


def weighted_neighbours(instance: TopicInstance) -> Offsets:
    """The sum of |V_t| over the topics t of each node. Cost O(Σ|T_v|)."""
    sums = np.cumsum(np.diff(instance.topic_offsets)[instance.node_topics])
    return np.diff(np.concatenate([[0], sums])[instance.node_offsets])


def ordered_pairs(instance: TopicInstance) -> float:
    """Σ_t |V_t|²: about proportional to the time of a method that compares all subscribers of each topic."""
    return float((np.diff(instance.topic_offsets).astype(np.float64) ** 2).sum())


class EdgeCosts(NamedTuple):
    """The arrays of :class:`.LinkCosts`; without costs, all nodes are at one site."""

    points: Ids
    sites: Ids
    table: Ids


def edge_costs(instance: TopicInstance) -> EdgeCosts:
    """The edge costs of an instance, not copied; 1 for each edge of an instance without costs."""
    given = instance.costs
    return unit_costs(instance.num_nodes) if given is None else EdgeCosts(given.points, given.sites, given.table)


def unit_costs(num_nodes: int) -> EdgeCosts:
    """A cost of 1 for each edge."""
    costs = EdgeCosts(np.empty((0, 2), np.int32), np.zeros(num_nodes, np.int32), np.ones((1, 1), np.int32))
    for array in costs:
        array.setflags(write=False)  # as those of an instance: one compilation serves both
    return costs


@in_place_kernel
def cost_of(u: int, v: int, costs: EdgeCosts) -> int:
    """The cost of the edge (u, v)."""
    if len(costs.sites):
        return int(costs.table[costs.sites[u], costs.sites[v]])
    across = np.float64(costs.points[u, 0]) - np.float64(costs.points[v, 0])
    along = np.float64(costs.points[u, 1]) - np.float64(costs.points[v, 1])
    return max(1, int(np.sqrt(across * across + along * along) + 0.5))


@kernel
def costs_of(us: Ids, vs: Ids, costs: EdgeCosts) -> npt.NDArray[np.int64]:
    """The cost of each edge."""
    each = np.empty(len(us), np.int64)
    for e in range(len(us)):
        each[e] = cost_of(us[e], vs[e], costs)
    return each


class TopicComponents(NamedTuple):
    """The component of each subscription (node, topic), at its position in ``topic_nodes``."""

    node_offsets: Offsets
    node_topics: Ids
    topic_offsets: Offsets
    topic_nodes: Ids
    positions: Ids  # of each subscription of ``node_topics`` the index in ``topic_nodes``
    label: Ids  # equal for two subscriptions of one topic if and only if their nodes are in one component
    following: Ids  # the members of each component as a circular list
    size: Ids  # the number of members of a component, at the index that is its label


def singletons(instance: TopicInstance) -> TopicComponents:
    """The components of the overlay without edges: every subscriber of every topic alone. Cost O(Σ|T_v|)."""
    interest = interest_of(instance)
    return unconnected((*interest, positions_of(interest)), instance.num_subscriptions)


def unconnected(relation: tuple[Offsets, Ids, Offsets, Ids, Ids], num_vertices: int) -> TopicComponents:
    """Every vertex alone; `relation` has the fields up to ``positions``. Cost O(vertices)."""
    alone = np.arange(num_vertices, dtype=np.int32)
    return TopicComponents(*relation, alone, alone.copy(), np.ones_like(alone))


@in_place_kernel
def contribution(u: int, v: int, relation: Any, label: Ids) -> int:
    """The number of topics for which the edge (u, v) would join two components. Cost O(|T_u| + |T_v|).

    `relation` is a tuple with the fields ``node_offsets``, ``node_topics`` and ``positions``, and `label` has the
    component of each position.
    """
    topics, positions = relation.node_topics, relation.positions
    i, end_i = relation.node_offsets[u], relation.node_offsets[u + 1]
    j, end_j = relation.node_offsets[v], relation.node_offsets[v + 1]
    count = 0
    while i < end_i and j < end_j:
        topic, other = topics[i], topics[j]
        if topic == other and label[positions[i]] != label[positions[j]]:
            count += 1
        i += topic <= other
        j += other <= topic
    return count


@in_place_kernel
def join(u: int, v: int, components: TopicComponents) -> int:
    """Add the edge (u, v): unite components of its common topics, and return how many pairs were united.

    All calls of a run cost O(Σ|T_v| log |V|), because the smaller component takes the larger one's label.
    """
    topics, positions, label = components.node_topics, components.positions, components.label
    i, end_i = components.node_offsets[u], components.node_offsets[u + 1]
    j, end_j = components.node_offsets[v], components.node_offsets[v + 1]
    count = 0
    while i < end_i and j < end_j:
        topic, other = topics[i], topics[j]
        if topic == other and label[positions[i]] != label[positions[j]]:
            unite(positions[i], positions[j], components)
            count += 1
        i += topic <= other
        j += other <= topic
    return count


@in_place_kernel
def unite(i: int, j: int, components: TopicComponents) -> None:
    """Unite the different components of two subscriptions of one topic, given by their positions."""
    label, following, size = components.label, components.following, components.size
    if size[label[i]] < size[label[j]]:
        i, j = j, i
    kept = label[i]
    size[kept] += size[label[j]]
    label[j] = kept
    member = following[j]
    while member != j:
        label[member] = kept
        member = following[member]
    following[i], following[j] = following[j], following[i]
