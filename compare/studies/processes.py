"""What the system says of running processes, at the cost of a few small files."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...instances.errors import BadInput

_PAGE = os.sysconf("SC_PAGE_SIZE")


def private_memory(pid: int) -> float:
    """Bytes of private memory resident in a process; 0 once it has ended. Costs one small file."""
    pages = _pages(pid)
    return float((pages[1] - pages[2]) * _PAGE) if pages else 0.0


def virtual_memory(pid: int) -> int:
    """Bytes of a process's address space; 0 once it has ended."""
    pages = _pages(pid)
    return pages[0] * _PAGE if pages else 0


@contextmanager
def memory_bounded(what: str) -> Iterator[None]:
    """Let this process take half of the machine's memory more for something; beyond that is bad input."""
    limits = resource.getrlimit(resource.RLIMIT_AS)
    half = os.sysconf("SC_PHYS_PAGES") * _PAGE // 2
    resource.setrlimit(resource.RLIMIT_AS, (virtual_memory(os.getpid()) + half, limits[1]))
    try:
        yield
    except MemoryError:
        raise BadInput(f"{what} takes more than half of the machine's memory: make it smaller") from None
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)


def session_of(leader: int) -> list[int]:
    """The processes of a session; costs a small file for every process of the machine."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and _session(name) == leader]


def has_children() -> bool:
    """Whether this process has started others that have not been waited for."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _session(pid: str) -> int:
    try:
        # The name of the program, in parentheses, may hold spaces; state, parent, group and session follow it.
        return int(Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[3])
    except (OSError, IndexError):
        return -1


def _pages(pid: int) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/{pid}/statm").read_text().split()[:3]]
    except OSError:
        return []
