"""The interest relation as kernels take it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....instances.contract.arrays import Ids, Offsets
from ....instances.topics.instance import TopicInstance
from ...compiled import kernel


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


@kernel
def weighted_neighbours(interest: Interest) -> Offsets:
    """The sum of |V_t| over the topics t of each node. Cost O(Σ|T_v|)."""
    weighted = np.zeros(len(interest.node_offsets) - 1, np.int64)
    for node in range(len(weighted)):
        for topic in interest.node_topics[interest.node_offsets[node] : interest.node_offsets[node + 1]]:
            weighted[node] += interest.topic_offsets[topic + 1] - interest.topic_offsets[topic]
    return weighted
