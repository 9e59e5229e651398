"""The times of events: microseconds, and their order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .arrays import Offsets
from .errors import BadInput

SECOND = 1_000_000


def microseconds(seconds: float, where: str) -> int:
    """A time in microseconds; one that is no number or outside ±285 years is bad input."""
    if not -9e9 < seconds < 9e9:
        raise BadInput(f"{where}: time {seconds} is no number of seconds: correct it")
    return round(seconds * SECOND)


def check_order(start: int, times: Offsets, place: Callable[[int], str]) -> None:
    """Raise BadInput unless times, in microseconds, do not decrease and are later than the start."""
    late = np.flatnonzero(np.diff(np.concatenate([[start], times])) < (np.arange(len(times)) == 0))
    if len(late):
        event = int(late[0])
        at, previous = times[event] / SECOND, (times[event - 1] if event else start) / SECOND
        than = "the event before it" if event else "the start, and must be later"
        raise BadInput(f"{place(event)}: time {at:g} is not after {previous:g}, that of {than}: sort by time")
