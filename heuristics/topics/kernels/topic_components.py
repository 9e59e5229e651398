"""The topic-connected components of an overlay in the making (the NODES sets of P1, Algorithm 1)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....instances.arrays import Ids, Offsets
from ....instances.topics.instance import TopicInstance
from ...compiled import kernel
from .interest import Interest, interest_of


class TopicComponents(NamedTuple):
    """For each subscription (node, topic), at its place in ``topic_nodes``, the component of the node for the topic.

    Topic by topic, because whoever looks for a node's partners walks the subscribers of its topics.

    Attributes
    ----------
    node_offsets, node_topics, topic_offsets, topic_nodes
        As in :class:`TopicInstance`.
    place : int32 array, shape (Σ|T_v|,)
        Where each subscription of ``node_topics`` stands in ``topic_nodes``.
    label : int32 array, shape (Σ|T_v|,)
        Equal for two subscriptions of one topic if and only if their nodes are in one component.
    following : int32 array, shape (Σ|T_v|,)
        The members of each component in a circle.
    size : int32 array, shape (Σ|T_v|,)
        The number of members, at the place ``label`` names.
    """

    node_offsets: Offsets
    node_topics: Ids
    topic_offsets: Offsets
    topic_nodes: Ids
    place: Ids
    label: Ids
    following: Ids
    size: Ids


def singletons(instance: TopicInstance) -> TopicComponents:
    """Every subscriber of every topic by itself: the components of the overlay without edges. Cost O(Σ|T_v|)."""
    interest = interest_of(instance)
    places = np.arange(instance.num_subscriptions, dtype=np.int32)
    return TopicComponents(*interest, _places(interest), places, places.copy(), np.ones_like(places))


@kernel
def contribution(u: int, v: int, components: TopicComponents) -> int:
    """The number of topics for which the edge (u, v) would join two components. Cost O(|T_u| + |T_v|)."""
    topics, place, label = components.node_topics, components.place, components.label
    i, end_i = components.node_offsets[u], components.node_offsets[u + 1]
    j, end_j = components.node_offsets[v], components.node_offsets[v + 1]
    count = 0
    while i < end_i and j < end_j:
        topic, other = topics[i], topics[j]
        if topic == other and label[place[i]] != label[place[j]]:
            count += 1
        i += topic <= other
        j += other <= topic
    return count


@kernel
def join(u: int, v: int, components: TopicComponents) -> int:
    """Add the edge (u, v): unite the components it touches and return how many pairs of them were united.

    Over a whole run this costs O(Σ|T_v| log |V|): the smaller component takes the larger one's label.
    """
    topics, place, label = components.node_topics, components.place, components.label
    i, end_i = components.node_offsets[u], components.node_offsets[u + 1]
    j, end_j = components.node_offsets[v], components.node_offsets[v + 1]
    count = 0
    while i < end_i and j < end_j:
        topic, other = topics[i], topics[j]
        if topic == other and label[place[i]] != label[place[j]]:
            unite(place[i], place[j], components)
            count += 1
        i += topic <= other
        j += other <= topic
    return count


@kernel
def unite(i: int, j: int, components: TopicComponents) -> None:
    """Unite the different components of two subscriptions of one topic, given by their places."""
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


@kernel
def _places(interest: Interest) -> Ids:
    """Where each subscription of ``node_topics`` stands in ``topic_nodes``."""
    places = np.empty(len(interest.node_topics), np.int32)
    free = interest.topic_offsets[:-1].copy()
    for i in range(len(places)):
        topic = interest.node_topics[i]
        places[i] = free[topic]
        free[topic] += 1
    return places
