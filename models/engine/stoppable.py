"""Work that cannot look at the clock, in a forked process that is killed when time is up."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from multiprocessing.connection import wait
from typing import TypeVar, cast

from ...instances.clock import Clock

Answer = TypeVar("Answer")
_LOOK_EVERY, _A_MOMENT = 0.05, 2e7
_PR_SET_PDEATHSIG = 1


def finished_within(clock: Clock, work: Callable[[], Answer], *, steps: float) -> Answer | None:
    """What `work` returns, or None if time or memory ran out before it did.

    Parameters
    ----------
    clock : Clock
        Its `left` is read 20 times a second, so that a Ctrl-C that ends a clock ends the work as well.
    work : callable
        Returns something that can be pickled. Its kernels should be compiled before.
    steps : float
        About how many steps of an inner loop it takes: where they are done in a moment, a fork is not worth its while,
        and all that is asked of the clock is some time to begin in.

    Raises
    ------
    RuntimeError
        If the process died.

    Notes
    -----
    Costs a fork, milliseconds. A compiled kernel cannot be interrupted within its own process: the interpreter handles
    signals between its own instructions only.
    """
    if clock.left <= 0:
        return None
    if steps <= _A_MOMENT:
        return work()
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(duplex=False)

    def run() -> None:
        _die_with_the_parent()
        try:
            answer: Answer | None = work()
        except MemoryError:
            answer = None
        send.send(answer)
        os._exit(0)

    process = context.Process(target=run)
    process.start()
    send.close()
    try:
        while clock.left > 0:
            if wait([receive, process.sentinel], timeout=min(_LOOK_EVERY, clock.left)):
                try:
                    return cast(Answer | None, receive.recv())
                except EOFError:
                    process.join()
                    raise RuntimeError(f"the process of a part of the work ended with {process.exitcode}") from None
        return None
    finally:
        process.kill()
        process.join()
        receive.close()


def _die_with_the_parent() -> None:
    # Ctrl-C reaches the whole group of processes; the parent decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
