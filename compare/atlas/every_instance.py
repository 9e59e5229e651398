"""Every topic instance of a size, once up to renaming nodes and topics: orderly generation, and its count.

An instance is a rising sequence of sets of two or more nodes, each given by its number in :func:`node_sets`. It is
canonical if no renaming of the nodes gives a lexicographically smaller sequence. A prefix of a canonical sequence is
canonical, so a search that extends canonical sequences alone finds all of them, each once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import permutations
from math import factorial, prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...instances.contract.arrays import Ids
from ...instances.contract.errors import BadInput
from ...instances.runtime.compiled import in_place_kernel
from ...instances.topics.instance import TopicInstance

MOST_NODES = 7
MOST_TOPICS = 16
Rows = npt.NDArray[np.uint8]
"""Instances, shape (instances, topics): the numbers of their topics' sets of subscribers."""

_EQUAL = 255  # above the number of every set


@cache
def node_sets(nodes: int) -> Ids:
    """The sets of two or more nodes by size and then by number; bit v is node v."""
    every = [s for s in range(1 << nodes) if s.bit_count() > 1]
    return np.array(sorted(every, key=lambda s: (s.bit_count(), s)), np.int32)


def members_of(nodes: int, row: Sequence[int] | Rows) -> tuple[tuple[int, ...], ...]:
    """The subscribers of each topic."""
    sets = node_sets(nodes)
    return tuple(tuple(v for v in range(nodes) if sets[k] >> v & 1) for k in row)


def instance_of(nodes: int, topics: Sequence[Sequence[int]]) -> TopicInstance:
    """The instance with these subscribers; a node without topics gets one of its own."""
    interest: dict[str, list[str]] = {f"n{v}": [] for v in range(nodes)}
    for number, members in enumerate(topics):
        for v in members:
            interest[f"n{v}"].append(f"t{number}")
    return TopicInstance.from_subscriptions({v: wanted or [f"own-{v}"] for v, wanted in interest.items()})


def check_size(nodes: int, topics: int) -> None:
    """Raise BadInput for a size that is not enumerated."""
    if not (2 <= nodes <= MOST_NODES and 1 <= topics <= MOST_TOPICS):
        raise BadInput(f"{nodes} nodes, {topics} topics: from 2 to {MOST_NODES} nodes, 1 to {MOST_TOPICS} topics")


def number_of_instances(nodes: int, topics: int) -> int:
    """How many instances there are up to renaming, by Burnside's lemma: no enumeration.

    A renaming leaves as many multisets of sets unchanged as x^topics has in Π 1 / (1 − x^length) over its cycles of
    sets; the count is the mean over all renamings.
    """
    total = 0
    for cycles in _partitions(nodes, nodes):
        series = [1] + [0] * topics
        for length in _cycles_of_sets(cycles):
            for t in range(length, topics + 1):
                series[t] += series[t - length]
        alike = prod(length ** cycles.count(length) * factorial(cycles.count(length)) for length in set(cycles))
        total += series[topics] * (factorial(nodes) // alike)
    return total // factorial(nodes)


def _partitions(n: int, most: int) -> Iterator[list[int]]:
    if n == 0:
        yield []
    for part in range(min(n, most), 0, -1):
        yield from ([part, *rest] for rest in _partitions(n - part, part))


def _cycles_of_sets(cycles: Sequence[int]) -> list[int]:
    """The lengths of the cycles of :func:`node_sets` under a renaming with these cycles of nodes."""
    image, start = list[int](), 0
    for length in cycles:
        image += [start + (i + 1) % length for i in range(length)]
        start += length
    seen, lengths = set[int](), []
    for first in node_sets(start).tolist():
        length, s = 0, first
        while s not in seen:
            seen.add(s)
            s, length = sum(1 << image[v] for v in range(start) if s >> v & 1), length + 1
        lengths += [length] if length else []
    return lengths


@cache
def renamings(nodes: int) -> Rows:
    """The number of each set's image under every renaming of the nodes, shape (sets, nodes!)."""
    sets, orders = node_sets(nodes), np.array(list(permutations(range(nodes))))
    number = np.zeros(1 << nodes, np.uint8)
    number[sets] = np.arange(len(sets))
    images = sum((sets[:, None] >> v & 1) << orders[:, v] for v in range(nodes))
    return np.ascontiguousarray(number[images])


def instances(nodes: int, topics: int, prefix: Sequence[int] = (), *, most: int = 1 << 16) -> Iterator[Rows]:
    """Every canonical sequence of so many topics that extends a canonical prefix, in order, in arrays of `most` rows.

    The memory does not depend on the number of instances. Time at most O(nodes!) a candidate; few renamings are looked
    at beyond their first set.
    """
    check_size(nodes, topics)
    images = renamings(nodes)
    levels, every = topics + 1, images.shape[1]
    sequence = np.zeros(levels, np.uint8)
    search = _Search(images, np.zeros((levels, every, topics), np.uint8), np.full((levels, every), _EQUAL, np.uint8))
    for level, number in enumerate(prefix):
        sequence[level] = number
        _extend(level, sequence, search)
        sequence[level + 1] = number
    level = len(prefix)
    if level == topics:
        yield sequence[None, :topics].copy()
        return
    while level >= len(prefix):
        rows = np.empty((most, topics), np.uint8)
        count, level = _fill(rows, len(prefix), level, sequence, search)
        if count:
            yield rows[:count]


class _Search(NamedTuple):
    images: Rows
    ordered: Rows  # [length, renaming]: the image of the sequence of this length, rising
    first: Rows  # [length, renaming]: the entry at which this image exceeds the sequence, 255 if they are equal


@in_place_kernel
def _fill(rows: Rows, fixed: int, level: int, sequence: Rows, search: _Search) -> tuple[int, int]:
    """Fill rows with canonical sequences; return their number and the level at which the search goes on."""
    topics, count = rows.shape[1], 0
    while level >= fixed and count < len(rows):
        if sequence[level] == len(search.images):  # no further set
            level -= 1
            if level >= fixed:
                sequence[level] += 1
        elif not _is_canonical(level, sequence, search):
            sequence[level] += 1
        elif level < topics - 1:
            _extend(level, sequence, search)
            level += 1
            sequence[level] = sequence[level - 1]
        else:
            for j in range(topics):
                rows[count, j] = sequence[j]
            count += 1
            sequence[level] += 1
    return count, level


@in_place_kernel
def _is_canonical(level: int, sequence: Rows, search: _Search) -> bool:
    """Whether a canonical sequence stays canonical with its next set.

    An image that is larger from some entry on stays larger if the set's image is not before that entry.
    """
    images, first = search.images[sequence[level]], search.first[level]
    for renaming in range(len(images)):
        image = images[renaming]
        if image >= first[renaming]:
            continue
        ordered, i, inserted = search.ordered[level, renaming], 0, False
        for j in range(level + 1):
            if not inserted and (i == level or image < ordered[i]):
                entry, inserted = image, True
            else:
                entry = ordered[i]
                i += 1
            if entry < sequence[j]:
                return False
            if entry > sequence[j]:
                break
    return True


@in_place_kernel
def _extend(level: int, sequence: Rows, search: _Search) -> None:
    """Insert the images of the sequence's next set."""
    images, first = search.images[sequence[level]], search.first[level + 1]
    for renaming in range(len(images)):
        before, after = search.ordered[level, renaming], search.ordered[level + 1, renaming]
        entry = images[renaming]
        for j in range(level):
            after[j] = min(before[j], entry)
            entry = max(before[j], entry)
        after[level] = entry
        first[renaming] = _EQUAL
        for j in range(level + 1):
            if after[j] != sequence[j]:
                first[renaming] = after[j]
                break
