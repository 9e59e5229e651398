"""Publications as points, subscriptions as conjunctions of interval predicates, and their matching (P5 §4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..contract.arrays import Ids, Offsets, ReadOnly, frozen
from ..contract.errors import BadInput
from ..runtime.compiled import kernel

LOWEST, HIGHEST = -(2**31), 2**31 - 1
_MOST_ENTRIES = 1 << 22


@dataclass(frozen=True, eq=False)
class Subscriptions(ReadOnly):
    """Conjunctions of interval predicates over integer attributes, each issued at a broker.

    Subscription s matches a point with ``lows[s, a] <= value of a <= highs[s, a]`` for every attribute a. A bound of
    -2^31 or 2^31 - 1 means no bound; an attribute with neither bound has no predicate. Raises BadInput if the shapes
    differ, the brokers are not sorted, or the bounds of a predicate are swapped.
    """

    brokers: Ids  # shape (S,), in ascending order
    lows: Ids  # shape (S, A)
    highs: Ids

    def __post_init__(self) -> None:
        self._set(**{name: frozen(getattr(self, name), np.int32) for name in ("brokers", "lows", "highs")})
        if self.lows.ndim != 2 or self.lows.shape != self.highs.shape or self.brokers.shape != self.lows.shape[:1]:
            raise BadInput("each subscription needs one broker and as many lower as upper bounds")
        if (np.diff(self.brokers) < 0).any():
            raise BadInput("the brokers of subscriptions must be in ascending order: sort the subscriptions by broker")
        if (swapped := np.argwhere(self.lows > self.highs)).size:
            s, a = swapped[0].tolist()
            low, high = int(self.lows[s, a]), int(self.highs[s, a])
            raise BadInput(f"subscription {s}: predicate on attribute {a} from {low} to {high}: swap its bounds")

    def __len__(self) -> int:
        return len(self.brokers)

    @property
    def predicates(self) -> npt.NDArray[np.int64]:
        """The number of attributes that each subscription restricts, shape (S,)."""
        return np.asarray(((self.lows > LOWEST) | (self.highs < HIGHEST)).sum(axis=1))

    def __repr__(self) -> str:
        return f"Subscriptions({len(self)} on {self.lows.shape[1]} attributes)"


@dataclass(frozen=True, eq=False)
class Publications(ReadOnly):
    """Points in attribute space, each published at a time by a broker.

    Raises BadInput if the shapes differ, or the times are negative or not sorted.
    """

    times: Offsets  # shape (P,), microseconds, not negative, in ascending order
    sources: Ids
    values: Ids  # shape (P, A)

    def __post_init__(self) -> None:
        sources, values = (frozen(each, np.int32) for each in (self.sources, self.values))
        self._set(times=frozen(self.times, np.int64), sources=sources, values=values)
        if self.values.ndim != 2 or not self.times.shape == self.sources.shape == self.values.shape[:1]:
            raise BadInput("each publication needs one time, one source and one value for each attribute")
        if self.times.size and (self.times[0] < 0 or (np.diff(self.times) < 0).any()):
            raise BadInput("the times of publications must not be negative and must be in ascending order: sort them")

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        return f"Publications({len(self)} on {self.values.shape[1]} attributes)"


def matching_brokers(subscriptions: Subscriptions, publications: Publications, num_brokers: int) -> tuple[Offsets, Ids]:
    """The brokers with a matching subscription, for each publication.

    Returns offsets, shape (P + 1,), and brokers: those of publication p are ``brokers[offsets[p]:offsets[p + 1]]``, in
    ascending order, its source included if it has a matching subscription. Cost O(P · S · A) in the worst case. The
    search in a broker's subscriptions ends at the first that matches, and is skipped if the point lies outside their
    bounding box.
    """
    lows, highs = subscriptions.lows, subscriptions.highs
    first = np.searchsorted(subscriptions.brokers, np.arange(num_brokers + 1)).astype(np.int64)
    box_lows = np.full((num_brokers, lows.shape[1]), HIGHEST, dtype=np.int32)
    box_highs = np.full_like(box_lows, LOWEST)
    np.minimum.at(box_lows, subscriptions.brokers, lows)
    np.maximum.at(box_highs, subscriptions.brokers, highs)
    sizes, brokers = [np.zeros(1, dtype=np.int64)], [np.zeros(0, dtype=np.int32)]
    for values in _chunks(publications, num_brokers):
        matches = _match(first, box_lows, box_highs, lows, highs, values)
        sizes.append(matches.sum(axis=1))
        brokers.append(np.nonzero(matches)[1].astype(np.int32))
    return frozen(np.cumsum(np.concatenate(sizes)), np.int64), frozen(np.concatenate(brokers), np.int32)


def matching_shares(subscriptions: Subscriptions, publications: Publications) -> npt.NDArray[np.float64]:
    """The share of all subscriptions that each publication matches, shape (P,). Cost O(P · S · A)."""
    lows, highs = subscriptions.lows.T.copy(), subscriptions.highs.T.copy()
    counts = [np.zeros(0)]
    for values in _chunks(publications, len(subscriptions)):
        matches = np.ones((len(values), len(subscriptions)), dtype=np.bool_)
        for low, high, value in zip(lows, highs, values.T[:, :, None], strict=True):
            matches &= (low <= value) & (value <= high)
        counts.append(matches.sum(axis=1))
    return np.concatenate(counts) / max(1, len(subscriptions))


def _chunks(publications: Publications, width: int) -> Iterator[Ids]:
    """The values of a few publications at a time, so that an array with `width` entries for each stays small."""
    rows = max(1, _MOST_ENTRIES // max(1, width))
    return (publications.values[start : start + rows] for start in range(0, len(publications), rows))


@kernel
def _match(first: Offsets, box_lows: Ids, box_highs: Ids, lows: Ids, highs: Ids, values: Ids) -> npt.NDArray[np.bool_]:
    """Whether a broker, whose subscriptions are ``first[broker] … first[broker + 1] - 1``, matches each point."""
    matches = np.zeros((len(values), len(first) - 1), dtype=np.bool_)
    for p in range(len(values)):
        for broker in range(len(first) - 1):
            inside = True
            for a in range(values.shape[1]):
                inside &= box_lows[broker, a] <= values[p, a] <= box_highs[broker, a]
            if not inside:
                continue
            for s in range(first[broker], first[broker + 1]):
                inside = True
                for a in range(values.shape[1]):
                    inside &= lows[s, a] <= values[p, a] <= highs[s, a]
                if inside:
                    matches[p, broker] = True
                    break
    return matches
