"""What a call takes, and what a command and its processes use, polled while it runs; calls in their own processes."""

from __future__ import annotations

import multiprocessing
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import psutil

_PROCESSES = multiprocessing.get_context("fork")


def apart(function: Callable[..., Any], *given: Any) -> Any:
    """What a function returns in a process of its own."""
    with _PROCESSES.Pool(1) as pool:
        return pool.apply(function, given)


class Spent(NamedTuple):
    """Wall-clock and processor seconds; they are equal on an idle machine."""

    clock: float = 0.0
    processor: float = 0.0

    def __str__(self) -> str:
        return f"{self.clock:.2f} ({self.processor:.2f})"


def timed(function: Callable[..., Any], *given: Any) -> tuple[Any, Spent]:
    """What a function returns, and the seconds that it takes in this process."""
    start, used = time.perf_counter(), time.process_time()
    result = function(*given)
    return result, Spent(time.perf_counter() - start, time.process_time() - used)


@dataclass
class Usage:
    """Processor seconds of all processes by time, and the largest memory (resident set) in bytes.

    ``largest`` has that of one process by its kind: ``driver`` for the command itself, and names such as ``java``;
    ``together`` that of all processes at one time, in which pages that processes share count more than once.
    """

    times: list[float] = field(default_factory=list)
    cpu_seconds: list[float] = field(default_factory=list)
    largest: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    together: int = 0
    output: str = ""


def usage_of(
    command: list[str],
    *,
    environment: Mapping[str, str] | None = None,
    pause: float = 0.25,
    at_each: Callable[[], None] = lambda: None,
) -> Usage:
    """Run a command and poll its processes every `pause` seconds, each time with `at_each`; exit if it fails."""
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    driver, usage, seconds = psutil.Process(process.pid), Usage(), dict[int, float]()
    while process.poll() is None:
        try:
            family = [driver, *driver.children(recursive=True)]
        except psutil.Error:
            break
        together = 0
        for each in family:
            try:
                spent, memory = each.cpu_times(), each.memory_info().rss
                kind = "driver" if each.pid == process.pid else each.name()
            except psutil.Error:  # it ended meanwhile
                continue
            seconds[each.pid] = spent.user + spent.system
            usage.largest[kind] = max(usage.largest[kind], memory)
            together += memory
        usage.together = max(usage.together, together)
        usage.times.append(time.time())
        usage.cpu_seconds.append(sum(seconds.values()))
        at_each()
        time.sleep(pause)
    usage.output = process.communicate()[0]
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return usage
