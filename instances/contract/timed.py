"""What all traces have: times of events, their order, and steps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .arrays import Ids, Offsets, frozen
from .errors import BadInput
from .shown import Digested

SECOND = 1_000_000


def microseconds(seconds: float, where: str) -> int:
    """A time in microseconds; one that is no number or outside ±285 years is bad input."""
    if not -9e9 < seconds < 9e9:
        raise BadInput(f"{where}: time {seconds} is no number of seconds: correct it")
    return round(seconds * SECOND)


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
        """The number of events."""
        return len(self.times)

    @property
    def num_steps(self) -> int:
        """The start and every distinct time of events; what holds between two steps is a snapshot."""
        return len(self.step_times)


def check_order(start: int, times: Offsets, place: Callable[[int], str]) -> None:
    """Raise BadInput unless times, in microseconds, do not decrease and are later than the start."""
    late = np.flatnonzero(np.diff(np.concatenate([[start], times])) < (np.arange(len(times)) == 0))
    if len(late):
        event = int(late[0])
        at, previous = times[event] / SECOND, (times[event - 1] if event else start) / SECOND
        than = "the event before it" if event else "the start, and must be later"
        raise BadInput(f"{place(event)}: time {at:g} is not after {previous:g}, that of {than}: sort by time")
