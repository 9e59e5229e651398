"""Ctrl-C within a run, at one of its answers or whenever a solver process sends it: no test waits for a moment.

A signal that no run takes would end the process of the tests: here it is the failure of a test.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psutil

from overlaybench.instances.runtime.run import watched


class _AtAnswer:
    """A watcher of a run that sends this process a signal once the run has offered so many answers."""

    def __init__(self, number: int) -> None:
        self.left = number

    def offered(self, _answer: Any, value: float | None, _bound: float | None) -> None:
        if value is not None:
            self.left -= 1
            if self.left == 0:
                os.kill(os.getpid(), signal.SIGINT)

    def solving(self, begun: bool) -> None:
        pass

    def paused(self, begun: bool) -> None:
        pass


@contextmanager
def ctrl_c_raises() -> Iterator[None]:
    """SIGINT as in a terminal, also in tests that are started in the background, where it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt as interrupt:
        raise AssertionError("Ctrl-C ended the run instead of its search") from interrupt
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def ctrl_c_at_answer(number: int = 1) -> Iterator[None]:
    """Press Ctrl-C when a run of this process has its first, second, … answer."""
    watcher = _AtAnswer(number)
    with ctrl_c_raises(), watched(watcher):
        yield
    assert watcher.left <= 0


def press_ctrl_c_in_the_parent() -> None:
    """In a solver process: Ctrl-C for the process that waits for it, as solvers lead sessions of their own."""
    os.kill(os.getppid(), signal.SIGINT)


def has_ended(pid: int) -> bool:
    """Whether a process has ended; nobody may wait for one whose parent was killed, and it stays as a zombie."""
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True
