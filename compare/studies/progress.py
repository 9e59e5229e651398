"""The progress of a study: a live line in a terminal, a plain line every 15 s in a log."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.text import Text

_PLAIN_SECONDS = 15.0


class Progress:
    """Shows done, failed, running and remaining runs on stderr, with an estimate of the time to go.

    Parameters
    ----------
    total : int
        The study's runs.
    before : int
        Those that were stored before it started.
    quiet : bool
        Show nothing.
    """

    def __init__(self, total: int, before: int, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._total, self._before = total, before
        self._start = self._last = time.monotonic()
        console = Console(stderr=True)
        self._live = Live(console=console, refresh_per_second=4) if console.is_terminal and not quiet else None
        self._line = ""

    def __enter__(self) -> Progress:
        if self._live:
            self._live.start()
        if self._before:
            self._print(f"{self._before} of {self._total} runs were done before")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._live.stop()
        elif self._line:
            self._print(self._line)

    def show(self, done: int, failed: int, running: int, share: float) -> None:
        """Show the runs done and failed since the start, those running, and the time to go by the share of the work
        that is done.
        """
        left = self._total - self._before - done - running
        seconds = time.monotonic() - self._start
        to_go = seconds * (1 - share) / share if share else 0.0
        estimate = f", about {_clock(to_go)} to go" if to_go > 0 and left > 0 else ""
        self._line = (
            f"{self._before + done} of {self._total} runs done ({failed} failed), "
            f"{running} running, {max(0, left)} left, {_clock(seconds)} so far{estimate}"
        )
        if self._live:
            self._live.update(Text(self._line))
        elif time.monotonic() - self._last >= _PLAIN_SECONDS:
            self._last = time.monotonic()
            self._print(self._line)

    def _print(self, line: str) -> None:
        if self._live:
            self._live.console.print(Text(line))
        elif not self._quiet:
            print(line, file=sys.stderr, flush=True)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
