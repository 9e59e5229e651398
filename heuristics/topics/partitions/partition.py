"""Bulk and lightweight nodes, and random parts of the lightweight nodes (P3 §IV.B)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ....instances.contract.arrays import Ids, entries_of
from ....instances.topics.instance import TopicInstance
from ..kernels.ties import ranks_of, tie_order

BULK = -1


@dataclass(frozen=True)
class Partition:
    """The part of each node."""

    part_of: Ids  # 0…p-1 for a lightweight node, BULK for a bulk node
    num_parts: int  # p

    def parts(self) -> Iterator[Ids]:
        """The nodes of each part, sorted. Cost O(|V| log |V|) once."""
        by_part = np.argsort(self.part_of, kind="stable").astype(np.int32)
        light = by_part[np.searchsorted(self.part_of[by_part], 0) :]
        if self.num_parts:
            yield from np.split(light, np.cumsum(self.sizes())[:-1])

    def sizes(self, among: Ids | None = None) -> Ids:
        """The number of nodes in each part, or of the given nodes in each. Shape (p,)."""
        part_of = self.part_of if among is None else self.part_of[among]
        return np.bincount(part_of[part_of != BULK], minlength=self.num_parts).astype(np.int32)

    @property
    def bulk(self) -> Ids:
        """B, sorted."""
        return np.flatnonzero(self.part_of == BULK).astype(np.int32)

    @property
    def lightweight(self) -> Ids:
        """L, sorted."""
        return np.flatnonzero(self.part_of != BULK).astype(np.int32)


def bulk_threshold(instance: TopicInstance) -> int:
    """The least η for which at most 20% of the nodes have more than η topics (P3 §V). Cost O(|V| log |V|)."""
    sizes = np.sort(np.diff(instance.node_offsets))[::-1]
    return int(sizes[len(sizes) // 5])


def random_order(nodes: Ids, seed: int) -> Ids:
    """The nodes in a random order that is independent of random ties under the same seed. Cost O(|V| log |V|)."""
    return nodes[np.argsort(ranks_of(nodes.astype(np.int64), tie_order("random", ~seed)), kind="stable")]


def partition_of(num_nodes: int, shuffled: Ids, num_parts: int) -> Partition:
    """Distribute shuffled lightweight nodes over parts whose sizes differ by at most 1. Cost O(|V|)."""
    part_of = np.full(num_nodes, BULK, np.int32)
    part_of[shuffled] = np.arange(len(shuffled)) % max(num_parts, 1)
    return Partition(part_of, num_parts)


def restricted(instance: TopicInstance, nodes: Ids) -> TopicInstance:
    """The instance on the given sorted nodes, without labels. Cost O(Σ|T_v| + |T|) of these nodes."""
    offsets, entries = entries_of(instance.node_offsets, nodes)
    topics = instance.node_topics[entries]
    wanted = np.bincount(topics, minlength=instance.num_topics) > 0
    return TopicInstance(offsets, (np.cumsum(wanted) - 1)[topics].astype(np.int32))
