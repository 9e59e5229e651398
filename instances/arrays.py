"""Arrays that instances and answers are made of: read-only, of one type, sorted."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from .errors import BadInput

Ids = npt.NDArray[np.int32]
Offsets = npt.NDArray[np.int64]
_Number = TypeVar("_Number", np.int32, np.int64)


def frozen(values: npt.ArrayLike, kind: type[_Number]) -> npt.NDArray[_Number]:
    """A read-only copy in the given type; a value that the type does not hold is bad input."""
    given = np.asarray(values)
    array = given.astype(kind, order="C")
    if given.dtype != array.dtype and not np.array_equal(array, given):
        raise BadInput(f"values of type {given.dtype} do not fit {array.dtype}: give whole numbers in its range")
    array.flags.writeable = False
    return array


def sorted_distinct(keys: Offsets) -> Offsets:
    """The distinct keys, rising, in O(m log m): np.unique hashes them, a hundred times slower on millions."""
    ordered = np.sort(keys)
    first = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]
