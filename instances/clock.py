"""The one clock of a run: the time a method may take, until a moment on the wall clock or until Ctrl-C."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class OutOfTime(Exception):
    """The limit passed before there was an answer."""


class Clock:
    """The time left to a run.

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
        """Seconds left: 0 after the limit or an interruption, infinite without a limit."""
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
        """The reason for a :class:`.Result`: ``interrupted`` or nothing."""
        return "interrupted" if self.interrupted else ""

    def check(self) -> None:
        """Raise :class:`OutOfTime` once no time is left."""
        if self.passed:
            raise OutOfTime

    def interrupt(self) -> None:
        """End it, and all clocks that share its interruption."""
        self._interruption.set()

    def share(self, fraction: float, most: float = math.inf) -> Clock:
        """The clock of a part of the run: a fraction of the time left, and at most `most` seconds."""
        left = min(fraction * self.left, most)
        return Clock(left if math.isfinite(left) else None, self._interruption)


@contextmanager
def interruptible(time_limit: float | None) -> Iterator[Clock]:
    """A clock that the first Ctrl-C ends; the second one raises KeyboardInterrupt as ever.

    An exception from a signal could strike inside a compiled kernel or the LP solver, which cannot pass it on. Outside
    the main thread, and where Ctrl-C has another handler already, nothing changes.
    """
    clock = Clock(time_limit)
    here = threading.current_thread() is threading.main_thread()
    if not here or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
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
