"""What Spark's helpers in the driver print when its Java process dies or the study is stopped goes to Spark's log."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from traceback import print_exc, print_exception
from typing import Any

from pyspark import accumulators

_LOGGERS = ("py4j", "pyspark")


@contextmanager
def helpers_logged(log: Path) -> Iterator[None]:
    """Send the tracebacks of other threads, finalisers, the accumulators' server and py4j to a file, not to stderr."""
    with log.open("a", encoding="utf-8") as file, ExitStack() as stack:
        handler = logging.StreamHandler(file)
        for name in _LOGGERS:
            logger = logging.getLogger(name)
            logger.addHandler(handler)
            stack.callback(logger.removeHandler, handler)
            stack.enter_context(_replaced(logger, "propagate", False))

        def of_server(*_: Any) -> None:
            print_exc(file=file)

        def of_thread(failure: threading.ExceptHookArgs) -> None:
            print_exception(failure.exc_value, file=file)

        def unraisable(failure: sys.UnraisableHookArgs) -> None:
            print_exception(failure.exc_value, file=file)

        for server in (accumulators.AccumulatorTCPServer, accumulators.AccumulatorUnixServer):
            stack.enter_context(_replaced(server, "handle_error", of_server))
        stack.enter_context(_replaced(threading, "excepthook", of_thread))
        stack.enter_context(_replaced(sys, "unraisablehook", unraisable))
        yield


@contextmanager
def _replaced(owner: Any, name: str, value: object) -> Iterator[None]:
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)
