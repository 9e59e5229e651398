"""Simulated time: a clock, and the events and processes that follow one another in it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import simpy

SECOND = 1_000_000
MINUTE = 60 * SECOND
NEVER = 2**62
Process = Generator[simpy.Event, Any, None]


class SimulatedClock:
    """Simulated time in microseconds; what happens at the same time happens in the order in which it was planned."""

    def __init__(self) -> None:
        self.env = simpy.Environment()

    @property
    def now(self) -> int:
        """Microseconds since the beginning."""
        return int(self.env.now)

    def begin(self, process: Process) -> None:
        """Begin a process, a generator that yields the events for which it waits."""
        self.env.process(process)

    def wait(self, microseconds: int) -> simpy.Event:
        """For a process: let time pass."""
        return self.env.timeout(microseconds)

    def after(self, microseconds: int, event: Callable[[], None]) -> None:
        """Let something happen later."""
        later = self.env.timeout(microseconds)
        if later.callbacks is not None:
            later.callbacks.append(lambda _: event())

    def every(self, gap: float, start: int, end: int, event: Callable[[], None]) -> Process:
        """A process: let something happen at `start` + `gap`, `start` + 2 `gap`, …, before `end`."""
        yield self.wait(start - self.now)
        count = 1
        while (time := start + round(gap * count)) < end:
            yield self.wait(time - self.now)
            event()
            count += 1

    def run(self, until: int | None = None) -> None:
        """Let things happen until nothing is left, or only what happens up to a time."""
        self.env.run(None if until is None else until + 1)
