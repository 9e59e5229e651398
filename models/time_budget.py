"""The time a search may take, and shares of it for its parts."""

from __future__ import annotations

import math
import time


class TimeBudget:
    """Ends at a moment on the wall clock, `seconds` from now; None means never."""

    def __init__(self, seconds: float | None) -> None:
        self._end = math.inf if seconds is None else time.perf_counter() + seconds

    @property
    def left(self) -> float:
        """Seconds left, 0 when it has ended, infinite if it has no end."""
        return max(0.0, self._end - time.perf_counter())

    @property
    def passed(self) -> bool:
        """Whether no time is left."""
        return self.left <= 0.0

    def share(self, fraction: float, most: float = math.inf) -> TimeBudget:
        """A budget for a part: a fraction of the time left, and at most `most` seconds."""
        return TimeBudget(min(fraction * self.left, most))
