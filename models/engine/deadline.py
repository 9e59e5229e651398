"""The wall-clock limit of one run, shared by building a model and solving it."""

from __future__ import annotations

import math
import time


class OutOfTime(Exception):
    """The limit passed before there was anything to solve."""


class Deadline:
    """Seconds left of a limit that starts to run now.

    Parameters
    ----------
    time_limit : float or None
        In seconds; None means none.
    """

    def __init__(self, time_limit: float | None) -> None:
        self._end = math.inf if time_limit is None else time.perf_counter() + time_limit

    @property
    def left(self) -> float:
        """Seconds left, not below 0; infinite without a limit."""
        return max(0.0, self._end - time.perf_counter())

    def half(self) -> Deadline:
        """A deadline halfway from now to this one."""
        return Deadline(self.left / 2)

    def check(self) -> None:
        """Raise :class:`OutOfTime` once nothing is left."""
        if self.left <= 0:
            raise OutOfTime
