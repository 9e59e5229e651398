"""How far a study is, by the logs in its results folder, and how much work is left."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import inf, log
from typing import Any, NamedTuple

from .row import from_line
from .run_log import lines_from
from .store import Store
from .study import expected_seconds
from .task import Task

_LEAST_SECONDS = 0.005  # of a run, beside solving
_GROWTH = 1.5  # the time of a method is taken to grow with this power of the size, until two sizes are measured
_STEEPEST = 4.0


class RunKind(NamedTuple):
    """Runs of one kind take about equally long on instances of one size."""

    problem: str
    method: str
    options: str
    exact: bool
    time_limit: float


class Work(NamedTuple):
    """Seconds of solving: done, still to do, and the part of the latter that is known by a time limit alone."""

    done: float
    left: float
    limited: float

    def to_go(self, elapsed: float, running: int, runs: int) -> float:
        """The seconds until all is done, at the pace so far; `runs` are done, and those `running` are half done."""
        if not runs:
            return self.left / max(running, 1)
        half_done = min(running * self.done / runs / 2, running * elapsed)
        return max(0.0, self.left - half_done) * elapsed / (self.done + half_done)

    @property
    def is_limited(self) -> bool:
        """Whether most of the work left is known by time limits alone: the estimate is an upper one."""
        return self.limited >= self.left / 2 > 0


@dataclass
class _Size:
    """The runs of one kind on instances of one size."""

    planned: int = 0
    done: int = 0
    seconds: float = 0.0


@dataclass
class Tally:
    """Counts the runs that are logged from now on; an update costs reading what is new.

    Parameters
    ----------
    store : Store
    tasks : iterable of Task
        The runs to do.
    sizes : mapping
        The first size of each instance, by digest.

    Attributes
    ----------
    done, failed : int
        Runs since the tally was created.
    """

    store: Store
    tasks: Iterable[Task]
    sizes: Mapping[str, int]
    done: int = 0
    failed: int = 0
    _kinds: dict[RunKind, dict[int, _Size]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(_Size)))
    _work: Work | None = None

    def __post_init__(self) -> None:
        self._read = {log.name: log.stat().st_size for log in self.store.logs()}
        for task in self.tasks:
            kind = RunKind(task.problem, task.method, task.options, task.exact, task.time_limit)
            self._kinds[kind][self.sizes.get(task.instance, 1)].planned += 1

    def update(self) -> None:
        """Count what was logged since the last update."""
        for log_file in self.store.logs():
            try:
                for line in lines_from(log_file, self._read.get(log_file.name, 0)):
                    if line.endswith(b"\n"):
                        self._read[log_file.name] = self._read.get(log_file.name, 0) + len(line)
                        self._count_line(line)
            except FileNotFoundError:  # merged meanwhile
                continue

    def _count_line(self, line: bytes) -> None:
        try:
            self.count(from_line(line))
        except (ValueError, KeyError, TypeError):
            return

    def count(self, row: Mapping[str, Any]) -> None:
        """Count a run that is done."""
        kind = RunKind(*(row[name] for name in RunKind._fields))
        size = next((int(number) for _, number in row["sizes"]), 1)
        self.done += 1
        self.failed += row["status"] == "failed"
        cell = self._kinds[kind][size]
        cell.done += 1
        cell.seconds += max(_LEAST_SECONDS, row["seconds"])  # may be NaN
        self._work = None

    @property
    def work(self) -> Work:
        """The work done and left.

        A run to do counts as the mean of those of its kind and size. Where none is done yet it counts as those of the
        next size, of the same kind if possible, else of its method, else of any heuristic or exact method, scaled
        by the growth with the size; where nothing like it is done, as expected (its limit, for an exact method).
        """
        if self._work is None:
            self._work = self._worked_out()
        return self._work

    def _worked_out(self) -> Work:
        done = left = limited = 0.0
        measured = self._measured()
        for kind, sizes in self._kinds.items():
            for size, cell in sizes.items():
                done += cell.seconds
                to_do = max(0, cell.planned - cell.done)
                if not to_do:
                    continue
                seconds = cell.seconds / cell.done if cell.done else self._borrowed(kind, size, measured)
                if seconds is None:
                    seconds = expected_seconds(kind.exact, kind.time_limit)
                    limited += to_do * seconds if kind.exact else 0.0
                left += to_do * seconds
        return Work(done, left, limited)

    def _measured(self) -> dict[object, dict[int, float]]:
        """The mean seconds by size of each kind, of each method, and of exact and other methods."""
        groups: dict[object, dict[int, _Size]] = defaultdict(lambda: defaultdict(_Size))
        for kind, sizes in self._kinds.items():
            for size, cell in sizes.items():
                for group in _alike(kind) if cell.done else ():
                    groups[group][size].done += cell.done
                    groups[group][size].seconds += cell.seconds
        return {group: {size: one.seconds / one.done for size, one in sizes.items()} for group, sizes in groups.items()}

    def _borrowed(self, kind: RunKind, size: int, measured: Mapping[object, Mapping[int, float]]) -> float | None:
        """The seconds of a run by those on the nearest size of runs that are most like it; None if there are none."""
        for group in _alike(kind):
            if group in measured:
                seconds = measured[group]
                nearest = min(seconds, key=lambda other: abs(log(max(other, 1) / max(size, 1))))
                scaled = seconds[nearest] * float((max(size, 1) / max(nearest, 1)) ** _growth(seconds))
                return min(scaled, kind.time_limit if kind.time_limit > 0 else inf)
        return None


def _alike(kind: RunKind) -> tuple[object, ...]:
    return kind, (kind.problem, kind.method), kind.method, kind.exact


def _growth(seconds: Mapping[int, float]) -> float:
    """The power of the size with which the time grows from the least to the largest size."""
    low, high = max(1, min(seconds)), max(1, max(seconds))
    if low == high:
        return _GROWTH
    return min(_STEEPEST, max(0.0, log(seconds[max(seconds)] / seconds[min(seconds)]) / log(high / low)))
