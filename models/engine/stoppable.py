"""Work that cannot check the time itself, in a forked process that is killed at the time limit."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable
from multiprocessing.connection import wait
from typing import TypeVar, cast

from ...instances.contract.run import Clock, die_with_parent
from ...instances.contract.signals import default_signals, forking

Answer = TypeVar("Answer")
_POLL_SECONDS, _FEW_STEPS = 0.05, 2e7


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
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(duplex=False)

    def run() -> None:
        default_signals()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the process group; the parent handles it
        die_with_parent()
        try:
            answer: Answer | None = work()
        except MemoryError:
            answer = None
        send.send(answer)
        os._exit(0)

    process = context.Process(target=run)
    with forking():
        process.start()
    send.close()
    try:
        while clock.left > 0:
            if wait([receive, process.sentinel], timeout=min(_POLL_SECONDS, clock.left)):
                try:
                    return cast(Answer | None, receive.recv())
                except EOFError:
                    process.join()
                    raise RuntimeError(f"a child process ended with exit code {process.exitcode}") from None
        return None
    finally:
        process.kill()
        process.join()
        receive.close()
