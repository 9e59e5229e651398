"""The time a search may take: until a moment on the wall clock, or until Ctrl-C."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TimeBudget:
    """Ends at a moment on the wall clock, `seconds` from now, or when it is interrupted; None means no such moment."""

    def __init__(self, seconds: float | None, interruption: threading.Event | None = None) -> None:
        self._end = math.inf if seconds is None else time.perf_counter() + seconds
        self._interruption = threading.Event() if interruption is None else interruption

    @property
    def left(self) -> float:
        """Seconds left, 0 when it has ended, infinite if it has no end."""
        return 0.0 if self.interrupted else max(0.0, self._end - time.perf_counter())

    @property
    def passed(self) -> bool:
        """Whether no time is left."""
        return self.left <= 0.0

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C has ended it."""
        return self._interruption.is_set()

    @property
    def stopped_by(self) -> str:
        """The reason for a :class:`Result`: ``interrupted`` or nothing."""
        return "interrupted" if self.interrupted else ""

    def interrupt(self) -> None:
        """End it, and all budgets shared from it."""
        self._interruption.set()

    def share(self, fraction: float, most: float = math.inf) -> TimeBudget:
        """A budget for a part: a fraction of the time left, and at most `most` seconds."""
        left = min(fraction * self.left, most)
        return TimeBudget(left if math.isfinite(left) else None, self._interruption)


@contextmanager
def interruptible(seconds: float | None) -> Iterator[TimeBudget]:
    """A budget that the first Ctrl-C ends; the second one raises KeyboardInterrupt as ever.

    An exception from a signal could strike inside a compiled kernel or the LP solver, which cannot pass it on. Outside
    the main thread, and where Ctrl-C has another handler already, nothing changes.
    """
    budget = TimeBudget(seconds)
    here = threading.current_thread() is threading.main_thread()
    if not here or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield budget
        return

    def stop(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        budget.interrupt()

    signal.signal(signal.SIGINT, stop)
    try:
        yield budget
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
