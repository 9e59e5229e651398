"""Divisions of the nodes into bulk nodes and random parts with representatives (P3 §IV.B–D, §V)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...instances.contract.arrays import Ids, Offsets, entries_of
from ...instances.contract.compiled import kernel
from ...instances.topics.instance import TopicInstance
from .kernels.interest import Interest, interest_of
from .kernels.ties import TieOrder, ranks_of, tie_order

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


_STOP_RATIO = 2.0


@dataclass(frozen=True)
class Division:
    """The nodes of an instance divided into bulk nodes and parts with representatives."""

    partition: Partition
    representatives: Ids  # R: the lightweight nodes that take part in combining, sorted

    @property
    def combined(self) -> Ids:
        """B ∪ R, sorted: the nodes among which the parts are combined."""
        return np.union1d(self.partition.bulk, self.representatives).astype(np.int32)

    @property
    def pn_ratio(self) -> float:
        """The largest share of the nodes that one node must know, itself included (P3 §IV.D)."""
        sizes, bulk = self.partition.sizes(), len(self.partition.bulk)
        chosen = self.partition.sizes(self.representatives)
        known = sizes + np.where(chosen > 0, bulk + len(self.representatives) - chosen, 0)
        at_bulk = bulk + len(self.representatives) if bulk else 0
        return max(at_bulk, int(known.max(initial=0))) / len(self.partition.part_of)

    @property
    def pn_ratio_formula(self) -> float:
        """The pn-ratio by P3, eq. 12, which assumes parts and representative sets of equal sizes."""
        bulk, light, chosen, parts = self._counts()
        inner = light / parts + chosen * (parts - 1) / parts if parts else 0.0
        return (bulk + inner) / len(self.partition.part_of)

    @property
    def pairs(self) -> float:
        """The number of candidate edges, within the parts and in the combine phase."""
        sizes = self.partition.sizes().astype(np.float64)
        return float((sizes * (sizes - 1) / 2).sum()) + self._combined_pairs()

    @property
    def parallel_pairs(self) -> float:
        """The number of candidate edges, within the largest part and in the combine phase."""
        largest = float(self.partition.sizes().max(initial=0))
        return largest * (largest - 1) / 2 + self._combined_pairs()

    def published_time(self, power: int) -> float:
        """(|B| + |R|)⁴ + |L|⁴/p^power: P3, Lemma 16 for power 3 and, one machine for each part, eq. 11 for power 4."""
        bulk, light, chosen, parts = map(float, self._counts())
        return (bulk + chosen) ** 4 + light**4 / max(parts, 1.0) ** power

    def _combined_pairs(self) -> float:
        bulk, _, chosen, _ = self._counts()
        sizes = self.partition.sizes(self.representatives).astype(np.float64)
        return bulk * (bulk - 1) / 2 + bulk * chosen + (chosen**2 - float((sizes**2).sum())) / 2

    def _counts(self) -> tuple[int, int, int, int]:
        bulk = len(self.partition.bulk)
        return bulk, len(self.partition.part_of) - bulk, len(self.representatives), self.partition.num_parts


AIMS: Mapping[str, Callable[[Division], float]] = {
    "time": lambda division: division.pairs,
    "parallel-time": lambda division: division.parallel_pairs,
    "pn-ratio": lambda division: division.pn_ratio_formula,
    "lemma-16": lambda division: division.published_time(3),
    "equation-11": lambda division: division.published_time(4),
}


def divide(instance: TopicInstance, shuffled: Ids, num_parts: int, coverage: int, order: TieOrder) -> Division:
    """Distribute shuffled lightweight nodes over parts and choose representatives. Cost O(Σ|T_v| + |V| log |V|)."""
    partition = partition_of(instance.num_nodes, shuffled, num_parts)
    return Division(partition, representatives(instance, partition, coverage, order))


def best_division(instance: TopicInstance, shuffled: Ids, coverage: int, order: TieOrder, aim: str) -> Division:
    """The division whose number of parts minimises the estimate of an aim (P3 §V).

    Divisions into p = 1, 2, 3, … parts, up to |L|, are compared until the estimate is twice the least. ``lemma-16``
    is the estimate that the paper minimises, as printed, and ``equation-11`` that with a machine for each part; their
    exponents precede Lemma 7, by which the time is proportional to the number of candidate edges (``time``;
    ``parallel-time`` counts the largest part only). Eq. 12 gives ``pn-ratio``.

    Cost O(Σ|T_v| + |V| log |V|) a number of parts.
    """
    best = divide(instance, shuffled, min(1, len(shuffled)), coverage, order)
    least = AIMS[aim](best)
    for num_parts in range(2, len(shuffled) + 1):
        division = divide(instance, shuffled, num_parts, coverage, order)
        estimate = AIMS[aim](division)
        if estimate < least:
            best, least = division, estimate
        elif estimate > _STOP_RATIO * least:
            break
    return best


def representatives(instance: TopicInstance, partition: Partition, coverage: int, order: TieOrder) -> Ids:
    """Choose from each part, greedily, nodes that cover each of its outward topics λ times, or as often as possible.

    A topic of a part is outward if a lightweight or bulk node outside the part subscribes to it. (Line 6 of
    Algorithm 12 considers the lightweight parts alone, which leaves a topic of one part and of bulk nodes
    unconnected.) The next node is one that subscribes to most outward topics of its part that are not yet covered. A
    topic with fewer than λ subscribers in the part is covered by all of them (P3, eq. 8), where Algorithm 13 would not
    end.

    `coverage` is λ, at least 1; `order` breaks ties of nodes that cover equally many topics. Returns all
    representatives, sorted.

    Notes
    -----
    P3, Definition 2 and Algorithm 13, for all parts at once. A node is evaluated at most |T_v| + 1 times, at O(|T_v|);
    memory O(Σ|T_v|).
    """
    slot_of, missing = _slots(interest_of(instance), partition.part_of, partition.num_parts, coverage)
    nodes = partition.lightweight
    ranked = nodes[np.argsort(ranks_of(nodes.astype(np.int64), order))]
    return np.flatnonzero(_chosen(ranked, instance.node_offsets, slot_of, missing)).astype(np.int32)


def groups_of(instance: TopicInstance, partition: Partition) -> Ids:
    """A number for each subscription, equal for a topic's subscribers in one part, -1 for bulk nodes. Shape (Σ|T_v|,).

    Cost O(Σ|T_v|).
    """
    slot_of, _ = _slots(interest_of(instance), partition.part_of, partition.num_parts, 1)
    return slot_of


@kernel
def _slots(interest: Interest, part_of: Ids, num_parts: int, coverage: int) -> tuple[Ids, Ids]:
    """Number the pairs (part, topic): the pair of each subscription (-1 for bulk nodes), and how many representatives
    each pair needs.
    """
    slot_of = np.empty(len(interest.node_topics), np.int32)
    missing = np.zeros(len(interest.node_topics) + 1, np.int32)
    cursor = interest.node_offsets[:-1].copy()
    newest = np.full(num_parts, -1, np.int32)
    num_slots = 0
    for topic in range(len(interest.topic_offsets) - 1):
        first = num_slots
        nodes = interest.topic_nodes[interest.topic_offsets[topic] : interest.topic_offsets[topic + 1]]
        for node in nodes:
            part, i = part_of[node], cursor[node]
            cursor[node] += 1
            slot_of[i] = -1
            if part < 0:
                continue
            if newest[part] < first:
                newest[part] = num_slots
                num_slots += 1
            slot_of[i] = newest[part]
            missing[newest[part]] += 1
        for slot in range(first, num_slots):
            # A topic that one part has alone is not outward: it needs no representative.
            missing[slot] = 0 if missing[slot] == len(nodes) else min(missing[slot], coverage)
    return slot_of, missing


@kernel
def _chosen(ranked: Ids, offsets: Offsets, slot_of: Ids, missing: Ids) -> npt.NDArray[np.bool_]:
    """Of each node whether it is a representative; `ranked` are the candidates in the order of ties."""
    chosen, gains = np.zeros(len(offsets) - 1, np.bool_), np.zeros(len(offsets) - 1, np.int32)
    for node in ranked:
        gains[node] = _gain(node, offsets, slot_of, missing)
    # A gain only falls, so from the highest level down each node with an outdated gain moves to a lower level.
    for level in range(gains.max(), 0, -1):
        for node in ranked:
            if gains[node] == level:
                gains[node] = _gain(node, offsets, slot_of, missing)
                if gains[node] == level:
                    chosen[node], gains[node] = True, 0
                    for slot in slot_of[offsets[node] : offsets[node + 1]]:
                        missing[slot] = max(missing[slot] - 1, 0)
    return chosen


@kernel
def _gain(node: int, offsets: Offsets, slot_of: Ids, missing: Ids) -> int:
    """How many topics of a node lack a representative in its part."""
    gain = 0
    for slot in slot_of[offsets[node] : offsets[node + 1]]:
        gain += slot >= 0 and missing[slot] > 0
    return gain
