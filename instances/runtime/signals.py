"""Ctrl-C, SIGTERM and SIGHUP: each ends a command at once, or keeps the answer of the run that it interrupts."""

from __future__ import annotations

import multiprocessing
import os
import select
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LOSES = ("<frozen importlib", "/numba/", "/llvmlite/", "/highspy/", "/ortools/", "/weakref.py")
_POLL_SECONDS, _PATIENCE = 0.02, 1.5
_received: list[int] = []
_kept: list[bool] = [False]


def handle_signals() -> list[int]:
    """From now on, a signal raises KeyboardInterrupt in the main thread; returns the list that arriving signals join.

    Signals that are ignored, such as SIGHUP under nohup, stay so. After the first signal only Ctrl-C raises again, so a
    second SIGTERM cannot cut short an orderly stop.
    """
    _received.clear()
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _receive)
    return _received


def _receive(number: int, frame: FrameType | None) -> None:
    _received.append(number)
    if number == signal.SIGINT if len(_received) > 1 else not _kept[-1]:
        _raise(frame, time.monotonic() + _PATIENCE)


def _raise(frame: FrameType | None, latest: float) -> None:
    """Raise KeyboardInterrupt once no code runs that loses it, or that it breaks: imports, compilers, finalizers.

    A library whose import an exception ends cannot be imported again, or crashes. Where such code runs on, the process
    ends.
    """
    while frame and frame.f_code.co_name != "__del__" and not any(one in frame.f_code.co_filename for one in _LOSES):
        frame = frame.f_back
    if frame is None:
        raise KeyboardInterrupt
    if time.monotonic() > latest and signal.getsignal(signal.SIGTERM) is _receive:
        os.write(2, f"overlaybench: stopped by {signal.Signals(_received[0]).name}\n".encode())
        os._exit(128 + _received[0])
    signal.signal(signal.SIGALRM, lambda _, frame: None if _kept[-1] else _raise(frame, latest))
    signal.setitimer(signal.ITIMER_REAL, _POLL_SECONDS)


def interrupt(_number: int, frame: FrameType | None) -> None:
    """As Python's own handler of SIGINT, but it raises where the exception is not lost and breaks nothing."""
    _raise(frame, time.monotonic() + _PATIENCE)


RAISING = (signal.default_int_handler, interrupt)
"""Handlers that raise KeyboardInterrupt."""


def stopped() -> bool:
    """Whether a signal has arrived that :func:`keeping` has kept from raising."""
    return bool(_received)


@contextmanager
def keeping(answer: bool = True) -> Iterator[None]:
    """Let the first signal be read by :func:`stopped` meanwhile; with False, let it raise within such a part again.

    In programs that do not :func:`handle_signals`, this is for Ctrl-C alone, and it counts for this part alone.
    """
    before = signal.getsignal(signal.SIGINT)
    own = threading.current_thread() is threading.main_thread() and answer and before in RAISING
    if own:
        _received.clear()
        signal.signal(signal.SIGINT, _receive)
    _kept.append(answer)
    try:
        if stopped() and not answer:
            raise KeyboardInterrupt
        yield
    finally:
        _kept.pop()
        if own:
            signal.signal(signal.SIGINT, before)
            _received.clear()


@contextmanager
def at_signal(call: Callable[[], object]) -> Iterator[None]:
    """Meanwhile, let a signal call a function again and again, in another thread; its handler runs as usual afterwards.

    Handlers of Python run between instructions of the main thread: not while compiled code goes on that it has called.
    Outside the main thread, which has no signals to wait for, nothing is done.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received, wake = os.pipe()
    os.set_blocking(wake, False)

    def wait() -> None:
        came = False
        while True:
            if select.select([received], [], [], _POLL_SECONDS if came else None)[0]:
                if not (number := os.read(received, 1)[0]):
                    return
                came |= number in SIGNALS
            if came:  # what is not yet at work cannot be stopped
                call()

    before = signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.write(wake, b"\0")  # no signal has this number
        waiting.join()
        os.close(received)
        os.close(wake)


@contextmanager
def forking() -> Iterator[None]:
    """Hold signals back meanwhile; the child calls :func:`default_signals` and dies with its parent.

    A worker of a :class:`multiprocessing.Pool` may fork here, too, which multiprocessing would refuse.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    process: Any = multiprocessing.current_process()
    is_daemon, process._config["daemon"] = process.daemon, False
    try:
        yield
    finally:
        process._config["daemon"] = is_daemon
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def default_signals() -> None:
    """In a forked process: take none of the signals that its parent has been sent, and handle the next as usual."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)  # discards those that wait
        signal.signal(number, interrupt if number == signal.SIGINT else signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    _received.clear()
    _kept[:] = [False]
