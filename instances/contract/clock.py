"""The clock of a run: its time limit and its interruption by Ctrl-C."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class OutOfTime(Exception):
    """The time limit passed before there was an answer."""


class Clock:
    """The remaining time of a run.

    Parameters
    ----------
    time_limit : float or None
        Seconds from now; None means no limit.
    interruption : threading.Event, optional
        Set by :meth:`interrupt`; shared by all clocks that :meth:`share` makes.
    """

    def __init__(self, time_limit: float | None, interruption: threading.Event | None = None) -> None:
        self._end = math.inf if time_limit is None else time.perf_counter() + time_limit
        self._interruption = threading.Event() if interruption is None else interruption

    @property
    def left(self) -> float:
        """Remaining seconds: 0 after the limit or an interruption, infinite without a limit."""
        return 0.0 if self.interrupted else max(0.0, self._end - time.perf_counter())

    @property
    def passed(self) -> bool:
        """Whether no time remains."""
        return self.left <= 0.0

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C was pressed."""
        return self._interruption.is_set()

    @property
    def stopped_by(self) -> str:
        """The reason for a :class:`.Result`: ``interrupted`` or ""."""
        return "interrupted" if self.interrupted else ""

    def check(self) -> None:
        """Raise :class:`OutOfTime` if no time remains."""
        if self.passed:
            raise OutOfTime

    def interrupt(self) -> None:
        """End this clock and all that share its interruption."""
        self._interruption.set()

    def share(self, fraction: float, most: float = math.inf) -> Clock:
        """A clock for a part of the run: a fraction of the remaining time, at most `most` seconds."""
        left = min(fraction * self.left, most)
        return Clock(left if math.isfinite(left) else None, self._interruption)


@contextmanager
def interruptible(time_limit: float | None) -> Iterator[Clock]:
    """A clock that the first Ctrl-C ends; the second one raises KeyboardInterrupt as usual.

    An exception raised by a signal could occur inside a compiled kernel or the LP solver, which cannot pass it on.
    Outside the main thread, or if SIGINT has another handler, signals are not handled here.
    """
    clock = Clock(time_limit)
    in_main_thread = threading.current_thread() is threading.main_thread()
    if not in_main_thread or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield clock
        return

    def stop(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        clock.interrupt()

    signal.signal(signal.SIGINT, stop)
    try:
        yield clock
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
