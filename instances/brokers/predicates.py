"""Content: publications as points, subscriptions as conjunctions of interval predicates, and which match (P5 §4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from ..arrays import Ids, Offsets, frozen
from ..errors import BadInput

LOWEST, HIGHEST = -(2**31), 2**31 - 1
_AT_ONCE = 1 << 22


@dataclass(frozen=True, eq=False)
class Subscriptions:
    """Conjunctions of interval predicates over whole-number attributes, each held at a broker.

    Parameters
    ----------
    brokers : int32 array, shape (S,), not falling
    lows, highs : int32 arrays, shape (S, A)
        Subscription s wants ``lows[s, a] <= value of a <= highs[s, a]`` for every attribute a. A bound of -2^31 or
        2^31 - 1 is none; an attribute without either bound has no predicate.

    Raises
    ------
    BadInput
        If the shapes differ, the brokers fall, or a predicate has its bounds swapped (naming it).
    """

    brokers: Ids
    lows: Ids
    highs: Ids

    def __post_init__(self) -> None:
        for name in ("brokers", "lows", "highs"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.int32))
        if self.lows.ndim != 2 or self.lows.shape != self.highs.shape or self.brokers.shape != self.lows.shape[:1]:
            raise BadInput("subscriptions need one broker and as many lower as upper bounds each")
        if (np.diff(self.brokers) < 0).any():
            raise BadInput("subscriptions must stand by broker, from the lowest to the highest")
        if (swapped := np.argwhere(self.lows > self.highs)).size:
            s, a = swapped[0].tolist()
            low, high = int(self.lows[s, a]), int(self.highs[s, a])
            raise BadInput(f"subscription {s}: predicate on attribute {a} from {low} to {high}: swap its bounds")

    def __len__(self) -> int:
        return len(self.brokers)

    @property
    def predicates(self) -> npt.NDArray[np.int64]:
        """How many attributes each subscription restricts, shape (S,)."""
        return np.asarray(((self.lows > LOWEST) | (self.highs < HIGHEST)).sum(axis=1))

    def __reduce__(self) -> tuple[Any, ...]:
        return Subscriptions, (self.brokers, self.lows, self.highs)


@dataclass(frozen=True, eq=False)
class Publications:
    """Points in attribute space, each published at a time by a broker.

    Parameters
    ----------
    times : int64 array, shape (P,), microseconds, not negative, not falling
    sources : int32 array, shape (P,)
    values : int32 array, shape (P, A)

    Raises
    ------
    BadInput
        If the shapes differ or the times fall or are negative.
    """

    times: Offsets
    sources: Ids
    values: Ids

    def __post_init__(self) -> None:
        object.__setattr__(self, "times", frozen(self.times, np.int64))
        for name in ("sources", "values"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.int32))
        if (
            self.values.ndim != 2
            or self.times.shape != self.sources.shape
            or self.sources.shape != self.values.shape[:1]
        ):
            raise BadInput("publications need one time, one source and as many values as there are attributes each")
        if self.times.size and (self.times[0] < 0 or (np.diff(self.times) < 0).any()):
            raise BadInput("the times of publications must not be negative nor fall: sort them")

    def __len__(self) -> int:
        return len(self.times)

    def window(self, first: int, last: int) -> Publications:
        """Publications `first` … `last` − 1."""
        return Publications(self.times[first:last], self.sources[first:last], self.values[first:last])

    def __reduce__(self) -> tuple[Any, ...]:
        return Publications, (self.times, self.sources, self.values)


def matching_brokers(subscriptions: Subscriptions, publications: Publications, num_brokers: int) -> tuple[Offsets, Ids]:
    """The brokers with a matching subscription, for each publication.

    Returns
    -------
    offsets : int64 array, shape (P + 1,)
    brokers : int32 array
        Those of publication p are ``brokers[offsets[p]:offsets[p + 1]]``, rising; its source is among them if it has
        a matching subscription itself.

    Notes
    -----
    Cost O(P · S · A) at worst; a broker is done at its first matching subscription, and at once where the point lies
    outside the box around all of its subscriptions.
    """
    first = np.searchsorted(subscriptions.brokers, np.arange(num_brokers + 1)).astype(np.int64)
    least, most = _boxes(first, subscriptions.lows, subscriptions.highs)
    rows = max(1, _AT_ONCE // num_brokers)
    sizes, found = [np.zeros(1, dtype=np.int64)], [np.zeros(0, dtype=np.int32)]
    for start in range(0, len(publications), rows):
        values = publications.values[start : start + rows]
        matched = _match(first, least, most, subscriptions.lows, subscriptions.highs, values)
        sizes.append(matched.sum(axis=1))
        found.append(np.nonzero(matched)[1].astype(np.int32))
    return frozen(np.cumsum(np.concatenate(sizes)), np.int64), frozen(np.concatenate(found), np.int32)


def matching_shares(subscriptions: Subscriptions, publications: Publications) -> npt.NDArray[np.float64]:
    """The share of all subscriptions that each publication matches, shape (P,). Cost O(P · S · A)."""
    counts: npt.NDArray[np.int64] = _count(subscriptions.lows, subscriptions.highs, publications.values)
    return counts / max(1, len(subscriptions))


def _boxes(first: Offsets, lows: Ids, highs: Ids) -> tuple[Ids, Ids]:
    """The least lower and the greatest upper bound of each broker's subscriptions, by attribute; swapped for none."""
    least = np.full((len(first) - 1, lows.shape[1]), HIGHEST, dtype=np.int32)
    most = np.full_like(least, LOWEST)
    at = np.repeat(np.arange(len(first) - 1), np.diff(first))
    np.minimum.at(least, at, lows)
    np.maximum.at(most, at, highs)
    return least, most


@njit(cache=True)
def _match(first, least, most, lows, highs, values):  # type: ignore[no-untyped-def]
    matched = np.zeros((len(values), len(first) - 1), dtype=np.bool_)
    for p in range(len(values)):
        for broker in range(len(first) - 1):
            if not _holds(least, most, broker, values[p]):
                continue
            for s in range(first[broker], first[broker + 1]):
                if _holds(lows, highs, s, values[p]):
                    matched[p, broker] = True
                    break
    return matched


@njit(cache=True)
def _count(lows, highs, values):  # type: ignore[no-untyped-def]
    count = np.zeros(len(values), dtype=np.int64)
    for p in range(len(values)):
        for s in range(len(lows)):
            count[p] += _holds(lows, highs, s, values[p])
    return count


@njit(cache=True)
def _holds(lows, highs, s, point):  # type: ignore[no-untyped-def]
    inside = True
    for a in range(len(point)):
        inside &= lows[s, a] <= point[a] <= highs[s, a]
    return inside
