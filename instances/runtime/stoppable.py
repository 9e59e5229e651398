"""Forked processes: work that cannot check the time itself and is killed at the limit, and workers of a search."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from threading import Lock
from typing import Any, TypeVar, cast

from .run import Clock, die_with_parent
from .signals import default_signals, forking

Answer = TypeVar("Answer")
_POLL_SECONDS, _FEW_STEPS = 0.05, 2e7
_one_at_a_time = Lock()  # a fork of another thread would hold this one's end of the pipe, and hide that it died


def _free_the_lock() -> None:
    """In a fork, whose parent's thread keeps the lock for itself."""
    global _one_at_a_time
    _one_at_a_time = Lock()


os.register_at_fork(after_in_child=_free_the_lock)


class Fork:
    """A forked process that does `work` with its end of a pipe, and dies with its parent; Ctrl-C is the parent's."""

    def __init__(self, work: Callable[[Connection], object]) -> None:
        context = multiprocessing.get_context("fork")

        def run() -> None:
            default_signals()
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the process group; the parent handles it
            die_with_parent()
            self.pipe.close()
            work(end)
            os._exit(0)

        self._process = context.Process(target=run)
        with _one_at_a_time:
            self.pipe, end = context.Pipe()
            with forking():
                self._process.start()
            end.close()

    def receive(self, within: float | None = None) -> Any:
        """What the process sends next; TimeoutError after so many seconds, RuntimeError if the process died."""
        if not wait([self.pipe, self._process.sentinel], timeout=within):
            raise TimeoutError
        with suppress(EOFError, ConnectionResetError):
            if self.pipe.poll():  # else the process ended without a word
                return self.pipe.recv()
        self._process.join()
        raise RuntimeError(f"a child process ended with exit code {self._process.exitcode}")

    def signal(self, number: int) -> None:
        if self._process.pid is not None and self._process.is_alive():
            os.kill(self._process.pid, number)

    def end(self) -> None:
        self._process.kill()
        self._process.join()
        self.pipe.close()


def finished_within(clock: Clock, work: Callable[[], Answer], *, steps: float) -> Answer | None:
    """The result of `work`, or None if time or memory runs out first.

    The result must be picklable; kernels should be compiled already. With few `steps`, an estimate of the inner loop's
    iterations, the work runs in this process, to its end; else in a fork, which costs milliseconds, and the clock is
    read 20 times a second, so that Ctrl-C ends it too. A compiled kernel cannot be interrupted within its own process,
    because the interpreter handles signals only between its own instructions. RuntimeError if the process died.
    """
    if clock.left <= 0:
        return None
    if steps <= _FEW_STEPS:
        return work()

    def run(pipe: Connection) -> None:
        try:
            answer: Answer | None = work()
        except MemoryError:
            answer = None
        pipe.send(answer)

    child = Fork(run)
    try:
        while clock.left > 0:
            with suppress(TimeoutError):
                return cast(Answer | None, child.receive(min(_POLL_SECONDS, clock.left)))
        return None
    finally:
        child.end()
