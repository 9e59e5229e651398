"""Divisions of the nodes into bulk nodes and parts with representatives, and the number of parts (P3 §IV.D, §V)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ....instances.contract.arrays import Ids
from ....instances.topics.instance import TopicInstance
from ..kernels.ties import TieOrder
from .partition import Partition, partition_of
from .representatives import representatives

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

    Divisions into p = 1, 2, 3, 4, 6, 8, 12, 16, … parts, up to |L|, are compared until the estimate is twice the
    least. By Lemma 7 the time is proportional to the number of candidate edges (``time``; ``parallel-time`` counts the
    largest part only), and eq. 12 gives ``pn-ratio``. ``lemma-16`` and ``equation-11`` are the paper's own estimates,
    whose exponents precede Lemma 7.

    Cost O((Σ|T_v| + |V| log |V|) log |L|).
    """
    numbers = _numbers_of_parts(len(shuffled))
    best = divide(instance, shuffled, next(numbers), coverage, order)
    least = AIMS[aim](best)
    for num_parts in numbers:
        division = divide(instance, shuffled, num_parts, coverage, order)
        estimate = AIMS[aim](division)
        if estimate < least:
            best, least = division, estimate
        elif estimate > _STOP_RATIO * least:
            break
    return best


def _numbers_of_parts(most: int) -> Iterator[int]:
    if most == 0:
        yield 0
    power = 1
    while power <= most:
        yield power
        if power > 1 and power + power // 2 <= most:
            yield power + power // 2
        power *= 2
