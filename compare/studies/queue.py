"""The queue of a study's runs, from which idle workers take the next."""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Queue:
    """Numbers 0, 1, …, size − 1, each given once to one of many processes, by a locked file in a shared folder.

    A number that was given to a process that died is not given again: the queue's owner finds what is missing when it
    is empty, and creates another.
    """

    file: Path
    size: int

    @classmethod
    def create(cls, folder: Path, size: int) -> Queue:
        """A queue with a file of its own in a folder."""
        queue = cls(folder / f".queue.{secrets.token_hex(8)}", size)
        queue.file.write_bytes(b"0")
        return queue

    def close(self) -> None:
        """Give no more numbers to any process."""
        self.file.unlink(missing_ok=True)

    def take(self, count: Callable[[int], int]) -> range:
        """The next numbers, as many as `count` returns for the first of them; none if none are left."""
        try:
            handle = os.open(self.file, os.O_RDWR)
        except OSError:  # the study has ended, or its folder is gone
            return range(0)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            first = int(os.pread(handle, 32, 0) or self.size)
            end = min(self.size, first + count(first)) if first < self.size else first
            os.pwrite(handle, str(end).encode(), 0)
            return range(first, end)
        except OSError:
            return range(0)
        finally:
            os.close(handle)
