"""Times of traces in microseconds: the order of events, steps, and series of a judge."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ..contract.arrays import Ids, Offsets, frozen
from ..contract.errors import BadInput
from ..contract.numbers import distinct
from ..contract.shown import Digested
from ..contract.time_units import SECOND


def microseconds(seconds: float, where: str) -> int:
    """A time in microseconds; BadInput for a time that is no number or outside ±285 years."""
    if not -9e9 < seconds < 9e9:
        raise BadInput(f"{where}: time {seconds} is no number of seconds: correct it")
    return round(seconds * SECOND)


def rising(seconds: npt.NDArray[np.float64]) -> list[int]:
    """Times in microseconds, the first above 0 and each later than its predecessor."""
    times = np.rint(seconds * SECOND).astype(np.int64)
    index = np.arange(len(times))
    found: list[int] = (np.maximum.accumulate(np.maximum(times, 1) - index) + index).tolist()
    return found


def steps(start: int, times: Offsets) -> tuple[Offsets, Ids]:
    """The start and the distinct times, in which order events of a trace are; and of each event its step, from 1 on."""
    distinct, step_of = np.unique(times, return_inverse=True)
    return frozen(np.concatenate([[start], distinct]), np.int64), frozen(step_of + 1, np.int32)


class Timed(Digested):
    """A trace: events, and the steps at which they happen."""

    times: Offsets
    step_times: Offsets

    @property
    def num_events(self) -> int:
        return len(self.times)

    @property
    def num_steps(self) -> int:
        """The start and every distinct time of events; what holds between two steps is a snapshot."""
        return len(self.step_times)

    def step_at(self, time: int) -> int:
        """The last step until a time in microseconds; before the start, the first."""
        return max(0, int(np.searchsorted(self.step_times, time, side="right")) - 1)


class Series:
    """The measures of an answer to a trace at the moments of its changes.

    `times` are in microseconds, shape (moments,); a state holds until the next moment. `steps`, shape (steps,), has the
    last moment before the next step of the trace: its snapshot, repaired.
    """

    times: Offsets
    steps: Offsets

    def integral(self, values: npt.NDArray[np.number]) -> float:
        """The sum over the moments of value times seconds that the value holds; the last moment holds for 0 seconds."""
        return float((values * (np.diff(self.times, append=self.times[-1]) / SECOND)).sum())


def last_moments(times: Offsets, step_times: Offsets) -> Offsets:
    """The `steps` of a series."""
    following: Offsets = np.append(np.searchsorted(times, step_times[1:]), len(times))
    return following - 1


def check_order(start: int, times: Offsets, place: Callable[[int], str]) -> None:
    """Raise BadInput unless times, in microseconds, do not decrease and are later than the start."""
    late = np.flatnonzero(np.diff(np.concatenate([[start], times])) < (np.arange(len(times)) == 0))
    if len(late):
        event = int(late[0])
        at, previous = times[event] / SECOND, (times[event - 1] if event else start) / SECOND
        than = "the event before it" if event else "the start, and must be later"
        now, before = distinct(at, previous)
        raise BadInput(f"{place(event)}: time {now} is not after {before}, that of {than}: sort by time")
