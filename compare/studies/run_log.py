"""Logs of finished runs: one a worker, a line a run, each line with its checksum."""

from __future__ import annotations

import contextlib
import fcntl
import os
import platform
import secrets
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...instances.contract.errors import BadInput
from .row import from_line, to_line

ENDING = ".log"
_ROWS, _BYTES = 1000, 2**24
_SYNC_EVERY = 1.0
_LONGEST_LINE = 2**30


class RunLog:
    """Appends rows to a file of its own, and starts another when that one is long.

    The operating system has a line when :meth:`add` returns, so that a kill of any process loses nothing. It is on the
    disk a second later at most: a power cut may cost a worker's last second. A log that is being written is locked
    against merging.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._handle = -1
        self._rows = self._size = 0
        self._synced = 0.0

    def add(self, row: dict[str, Any]) -> None:
        """Append a row; BadInput if it cannot be written completely, and then no part of it is left."""
        line = to_line(row)
        try:
            if self._handle < 0:
                self._open()
            self._append(line)
        except OSError as error:
            raise BadInput(
                f"{self._folder}: cannot be written ({error.strerror}): free some space and resume"
            ) from None
        self._rows += 1
        if self._rows >= _ROWS or self._size >= _BYTES:
            self.close()

    def close(self) -> None:
        """Sync the rows to the disk and unlock the log; the next row starts another file."""
        if self._handle >= 0:
            handle, self._handle = self._handle, -1
            try:
                os.fdatasync(handle)
            finally:
                os.close(handle)

    def _open(self) -> None:
        name = f"{platform.node()}-{os.getpid()}-{secrets.token_hex(4)}{ENDING}"
        self._handle = os.open(self._folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        fcntl.flock(self._handle, fcntl.LOCK_EX)
        self._rows = self._size = 0

    def _append(self, line: bytes) -> None:
        written = 0
        try:
            while written < len(line):
                written += os.write(self._handle, line[written:])
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(self._handle, self._size)
            raise
        self._size += written
        if time.monotonic() - self._synced >= _SYNC_EVERY:
            os.fdatasync(self._handle)
            self._synced = time.monotonic()


def read_log(file: Path, damaged: list[bytes] | None = None) -> Iterator[dict[str, Any]]:
    """The complete rows of a log; other lines are added to `damaged`, if given."""
    for line in lines_from(file, 0):
        try:
            yield from_line(line)
        except (ValueError, KeyError, TypeError):
            if damaged is not None:
                damaged.append(line)


def lines_from(file: Path, offset: int) -> Iterator[bytes]:
    """The lines of a log from a byte offset; the last may be incomplete."""
    with file.open("rb") as log:
        log.seek(offset)
        while line := log.readline(_LONGEST_LINE):
            yield line


@contextlib.contextmanager
def unwritten(file: Path) -> Iterator[bool]:
    """Whether no worker is writing a log; if so, none does inside the context."""
    with file.open("rb") as log:
        try:
            fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
