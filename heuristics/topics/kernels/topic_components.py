"""The topic components of a partial overlay (the NODES sets of P1, Algorithm 1)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....instances.contract.arrays import Ids, Offsets
from ....instances.topics.instance import TopicInstance
from ...compiled import kernel
from .interest import interest_of, positions_of


class TopicComponents(NamedTuple):
    """The component of each subscription (node, topic), at its position in ``topic_nodes``."""

    node_offsets: Offsets
    node_topics: Ids
    topic_offsets: Offsets
    topic_nodes: Ids
    position: Ids  # of each subscription of ``node_topics`` the index in ``topic_nodes``
    label: Ids  # equal for two subscriptions of one topic if and only if their nodes are in one component
    following: Ids  # the members of each component as a circular list
    size: Ids  # the number of members of a component, at the index that is its label


def singletons(instance: TopicInstance) -> TopicComponents:
    """The components of the overlay without edges: every subscriber of every topic alone. Cost O(Σ|T_v|)."""
    interest = interest_of(instance)
    return unconnected((*interest, positions_of(interest)), instance.num_subscriptions)


def unconnected(relation: tuple[Offsets, Ids, Offsets, Ids, Ids], num_vertices: int) -> TopicComponents:
    """Every vertex alone; `relation` has the fields up to ``position``. Cost O(vertices)."""
    alone = np.arange(num_vertices, dtype=np.int32)
    return TopicComponents(*relation, alone, alone.copy(), np.ones_like(alone))


@kernel
def contribution(u: int, v: int, components: TopicComponents) -> int:
    """The number of topics for which the edge (u, v) would join two components. Cost O(|T_u| + |T_v|)."""
    topics, position, label = components.node_topics, components.position, components.label
    i, end_i = components.node_offsets[u], components.node_offsets[u + 1]
    j, end_j = components.node_offsets[v], components.node_offsets[v + 1]
    count = 0
    while i < end_i and j < end_j:
        topic, other = topics[i], topics[j]
        if topic == other and label[position[i]] != label[position[j]]:
            count += 1
        i += topic <= other
        j += other <= topic
    return count


@kernel
def join(u: int, v: int, components: TopicComponents) -> int:
    """Add the edge (u, v): unite components of its common topics, and return how many pairs were united.

    All calls of a run cost O(Σ|T_v| log |V|), because the smaller component takes the larger one's label.
    """
    topics, position, label = components.node_topics, components.position, components.label
    i, end_i = components.node_offsets[u], components.node_offsets[u + 1]
    j, end_j = components.node_offsets[v], components.node_offsets[v + 1]
    count = 0
    while i < end_i and j < end_j:
        topic, other = topics[i], topics[j]
        if topic == other and label[position[i]] != label[position[j]]:
            unite(position[i], position[j], components)
            count += 1
        i += topic <= other
        j += other <= topic
    return count


@kernel
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
