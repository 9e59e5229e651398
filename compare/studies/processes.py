"""Memory and session of running processes."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psutil

from ...instances.errors import BadInput


def private_memory(pid: int) -> float:
    """Bytes of private memory resident in a process; 0 once it has ended. Cost: 0.1 ms."""
    with suppress(psutil.Error):
        memory = psutil.Process(pid).memory_info()
        return float(memory.rss - memory.shared)
    return 0.0


@contextmanager
def address_space_bounded(more: float) -> Iterator[None]:
    """Let this process map `more` bytes beyond what it has mapped now."""
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (psutil.Process().memory_info().vms + int(more), limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)


@contextmanager
def memory_bounded(what: str) -> Iterator[None]:
    """Bound the memory that an input takes by half of the machine's; beyond that it is bad input."""
    half = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    try:
        with address_space_bounded(half):
            yield
    except MemoryError:
        raise BadInput(f"{what} takes more than half of the machine's memory: make it smaller") from None


def session_members(leader: int) -> list[int]:
    """The processes of a session, without its leader. Cost: one system call for every process of the machine."""
    members = []
    for pid in psutil.pids():
        with suppress(OSError):  # it has ended
            if os.getsid(pid) == leader != pid:
                members.append(pid)
    return members


def has_children() -> bool:
    """Whether this process has started others that have not been waited for."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True
