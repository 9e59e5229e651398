"""The interest relation as kernels take it."""

from __future__ import annotations

from typing import NamedTuple

from ....instances.arrays import Ids, Offsets
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
