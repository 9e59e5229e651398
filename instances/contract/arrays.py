"""Arrays of instances and answers: read-only, sorted, of one type."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from .errors import BadInput

Ids = npt.NDArray[np.int32]
Offsets = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
_Number = TypeVar("_Number", np.int32, np.int64)


class ReadOnly:
    """A frozen dataclass whose arrays stay read-only after unpickling, which does not check them again."""

    def __getstate__(self) -> dict[str, Any]:
        given: Any = self
        return {field.name: getattr(self, field.name) for field in fields(given)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
        self._set(**state)

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)


def frozen(values: npt.ArrayLike, kind: type[_Number]) -> npt.NDArray[_Number]:
    """A read-only copy in the given type.

    Raises BadInput if a value is no integer or lies outside the range of the type.
    """
    given = np.asarray(values)
    array = given.astype(kind, order="C")
    if given.dtype != array.dtype and not np.array_equal(array, given):
        raise BadInput(f"values of type {given.dtype} do not fit {array.dtype}: give whole numbers in its range")
    array.flags.writeable = False
    return array


def check_ends(edges: npt.NDArray[np.integer], count: int, noun: str) -> None:
    """Raise BadInput unless all ends of edges, or nodes, lie from 0 to `count` - 1."""
    for at in np.flatnonzero((edges < 0) | (edges >= count)):
        number = at // edges[0].size
        raise BadInput(f"{noun} {number}: its end {edges.flat[at]} is outside 0…{count - 1}")


def ordered_edges(edges: npt.ArrayLike, count: int, noun: str) -> Ids:
    """A read-only copy of edges on 0…count-1, shape (m, 2): each u < v, distinct, in lexicographic order. Cost O(m)."""
    pairs = frozen(edges, np.int32)
    check_ends(pairs, count, noun)
    keys = edge_keys(pairs, count)
    if (pairs[:, 0] >= pairs[:, 1]).any() or (np.diff(keys) <= 0).any():
        raise BadInput(f"each {noun} must be u < v, and all distinct and in lexicographic order: sort them")
    return pairs


def edge_keys(edges: npt.NDArray[np.integer], count: int) -> Offsets:
    """A number for each edge, in their lexicographic order."""
    return edges[:, 0].astype(np.int64) * count + edges[:, 1]


def sampled(count: int, size: int, seed: int, noun: str) -> Offsets:
    """The sorted numbers of `size` of `count` things, drawn without replacement; the seed lies from 0 to 2^63 - 1."""
    check_seed(seed)
    if not 1 <= size <= count:
        raise BadInput(f"a sample of {size} {noun} from {count}: choose from 1 to {count}")
    return np.sort(np.random.default_rng(seed).choice(count, size, replace=False))


def check_seed(seed: int) -> None:
    """Raise BadInput unless a seed is an integer from 0 to 2^63 - 1."""
    if not isinstance(seed, int | np.integer) or not 0 <= seed < 2**63:
        raise BadInput(f"seed {seed!r} must be an integer from 0 to 2^63 - 1")


def sorted_distinct(keys: Offsets) -> Offsets:
    """The distinct keys, ascending. Cost O(m log m); np.unique hashes them, which takes far longer on millions."""
    ordered = np.sort(keys)
    first = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]


def offsets_of(rows: npt.NDArray[np.integer], num_rows: int) -> Offsets:
    """The CSR offsets of entries that are sorted by their rows; `rows` has the row of each, in any order."""
    return np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=num_rows))]).astype(np.int64)


def rises(offsets: Offsets, entries: Ids) -> bool:
    """Whether CSR offsets start at 0 and do not decrease, and the entries of each row increase."""
    if offsets[0] != 0 or (np.diff(offsets) < 0).any():
        return False
    rising = np.diff(entries) > 0
    rising[offsets[(offsets > 0) & (offsets < len(entries))] - 1] = True
    return bool(rising.all())


def entries_of(offsets: Offsets, rows: npt.NDArray[np.integer]) -> tuple[Offsets, Offsets]:
    """The CSR offsets of some rows of a relation, in their order, and where their entries are. Cost O(entries)."""
    starts, sizes = offsets[rows], offsets[rows + 1] - offsets[rows]
    taken = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return taken, np.repeat(starts - taken[:-1], sizes) + np.arange(taken[-1])


def transposed(offsets: Offsets, columns: Ids, num_columns: int) -> tuple[Offsets, Ids]:
    """The offsets and the sorted rows of each column of a CSR relation.

    Cost O(m log m) for m entries; 20 million take 0.5 s (``scipy.sparse``: 0.6 s).
    """
    entries = columns.astype(np.int64) << 32
    entries |= np.repeat(np.arange(len(offsets) - 1, dtype=np.int32), np.diff(offsets))
    entries.sort()
    return offsets_of(columns, num_columns), (entries & (2**32 - 1)).astype(np.int32)


def connected_components(size: int, tails: Offsets, heads: Offsets) -> Offsets:
    """The smallest vertex of the component of each vertex of an undirected graph on 0…size-1.

    Every round links each root to the smallest root beside it and shortens all paths to the roots. A graph of m edges
    takes O(log size) rounds of O(size + m) in practice; 20 million vertices take 2 to 9 s (``scipy.sparse.csgraph``: 3
    to 13 s).
    """
    root = np.arange(size)
    while len(tails):
        np.minimum.at(root, np.maximum(tails, heads), np.minimum(tails, heads))
        while not np.array_equal(root, shortened := root[root]):
            root = shortened
        tails, heads = root[tails], root[heads]
        apart = tails != heads
        tails, heads = tails[apart], heads[apart]
    return root


def whole(numbers: Sequence[Decimal]) -> tuple[list[int], int]:
    """Decimals times the least power of 10 that makes all of them whole, and this power."""
    exact, unit = [Fraction(number) for number in numbers], 1
    while unit % math.lcm(*(number.denominator for number in exact)):
        unit *= 10
    return [int(number * unit) for number in exact], unit
