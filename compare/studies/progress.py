"""The progress of a study: a bar in a terminal or notebook, a plain line every 15 s in a log."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import inf, log
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from rich import progress as bars
from rich.console import Console
from rich.table import Column
from rich.text import Text

from ...instances.contract.errors import BadInput
from ...instances.contract.files import atomic_write, read_text
from .notebook import NotebookBar, in_notebook
from .row import from_line
from .store import Store, lines_from
from .study import expected_seconds
from .task import Task

_PLAIN_SECONDS, _SAVED_SECONDS = 15.0, 5.0
_LEAST_BAR = 8
_FILE = "progress.json"
_LEAST_SECONDS = 0.005  # of a run, beside solving
_GROWTH = 1.5  # the time of a method is taken to grow with this power of the size, until two sizes are measured
_STEEPEST = 4.0


class Progress:
    """Shows done, failed, running and remaining runs on stderr, with an estimate of the time to go.

    Parameters
    ----------
    planned : mapping
        The number of the study's runs, by method.
    before : int
        Those that were stored before it started.
    quiet : bool
        Show nothing.
    folder : Path, optional
        The results folder, where ``overlaybench status`` finds the estimate.
    """

    def __init__(
        self, planned: Mapping[str, int], before: int, *, quiet: bool = False, folder: Path | None = None
    ) -> None:
        self._quiet, self._folder = quiet, folder
        self._planned, self._total, self._before = planned, sum(planned.values()), before
        self._start = self._last = time.monotonic()
        self._saved = float("-inf")
        self._line = ""
        self._console = Console(stderr=True)
        self._bar: bars.Progress | None = None
        self._notebook = NotebookBar(self._total) if in_notebook() and not quiet else None
        if not quiet and self._console.is_terminal and not self._notebook:
            self._bar = bars.Progress(
                bars.BarColumn(bar_width=None),
                bars.TextColumn("{task.description}", table_column=Column(no_wrap=True)),
                console=self._console,
                refresh_per_second=4,
                expand=True,
            )

    def __enter__(self) -> Progress:
        if self._before:
            self._print(f"{self._before} of {self._total} runs were done before")
        if self._bar:
            self._bar.start()
            self._bar.add_task("", total=self._total, completed=self._before)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._notebook:
            self._notebook.clear()
        elif self._bar:
            self._bar.stop()
        elif self._line:
            self._print(self._line)

    def show(self, tally: Tally, running: int) -> None:
        """Show the runs done and failed since the start, those running, and the time to go."""
        done, elapsed = self._before + tally.done, time.monotonic() - self._start
        running = min(running, max(0, self._total - done))  # a worker without a run may still be at its end
        left = max(0, self._total - done - running)
        known = done < self._total and (tally.done or tally.work.is_limited)
        to_go = tally.work.to_go(elapsed, running, tally.done) if known else 0.0
        about = f"{'at most' if tally.work.is_limited else 'about'} {clock(to_go)} to go" if to_go >= 1 else ""
        self._line = (
            f"{done} of {self._total} runs done ({tally.failed} failed), {running} running, {left} left, "
            f"{clock(elapsed)} so far{', ' if about else ''}{about}"
        )
        if self._notebook:
            self._notebook.show(done, self._line)
        elif self._bar:
            self._bar.update(bars.TaskID(0), completed=done, description=self._fitting(tally, running, about))
        elif time.monotonic() - self._last >= _PLAIN_SECONDS:
            self._last = time.monotonic()
            self._print(self._line)
        if self._folder and time.monotonic() - self._saved >= _SAVED_SECONDS:
            self._saved = time.monotonic()
            _save(self._folder, about, self._planned)

    def _fitting(self, tally: Tally, running: int, about: str) -> str:
        """The longest text beside which the bar is not too short."""
        done, failed = self._before + tally.done, f"{tally.failed} failed" if tally.failed else ""
        on = f"{running} running" if running else ""
        short = about.removesuffix(" to go").replace("at most ", "≤ ").replace("about ", "~")
        texts = (
            [f"{done:,} of {self._total:,} runs done", failed, on, about],
            [f"{done:,} of {self._total:,} done", failed, on, about],
            [f"{done}/{self._total} done", failed, about],
            [f"{done}/{self._total}", failed, short],
            [f"{done}/{self._total}", short],
        )
        lines = [", ".join(filter(None, parts)) for parts in texts]
        return next((line for line in lines if len(line) + _LEAST_BAR < self._console.width), lines[-1])

    def _print(self, line: str) -> None:
        if self._bar:
            self._bar.console.print(Text(line))
        elif not self._quiet:
            print(line, file=sys.stderr, flush=True)


def _save(folder: Path, about: str, planned: Mapping[str, int]) -> None:
    text = json.dumps({"to_go": about, "planned": planned})
    with suppress(BadInput):  # on a full disk the first row that cannot be stored ends the study
        atomic_write(folder / _FILE, text)


def saved(folder: Path) -> tuple[str, dict[str, int]]:
    """What a study that ran in a folder noted last: the time to go, and the number of its runs by method."""
    file = folder / _FILE
    try:
        data = json.loads(read_text(file)) if file.is_file() else {}
        return str(data.get("to_go", "")), {str(name): int(runs) for name, runs in data.get("planned", {}).items()}
    except (ValueError, AttributeError, TypeError):
        return "", {}


def clock(seconds: float) -> str:
    """A duration as minutes:seconds, or hours:minutes:seconds."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class RunKind(NamedTuple):
    """Runs of one kind take about equally long on instances of one size."""

    problem: str
    method: str
    options: str
    exact: bool
    time_limit: float

    def alike(self) -> tuple[object, ...]:
        """The groups of runs like these, the most alike first."""
        return self, (self.problem, self.method), self.method, self.exact


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
    _work: Work | None = None

    def __post_init__(self) -> None:
        self._read = Counter({log.name: log.stat().st_size for log in self.store.logs()})
        self._left: Counter[tuple[RunKind, int]] = Counter()
        self._measured: dict[object, dict[int, list[float]]] = defaultdict(lambda: defaultdict(lambda: [0.0, 0.0]))
        """The number of runs done and their seconds, of each group (:meth:`RunKind.alike`) and size."""
        for task in self.tasks:
            kind = RunKind(task.problem, task.method, task.options, task.exact, task.time_limit)
            self._left[kind, self.sizes.get(task.instance, 1)] += 1

    def update(self) -> None:
        """Count what was logged since the last update."""
        for log_file in self.store.logs():
            with suppress(FileNotFoundError):  # merged meanwhile
                for line in lines_from(log_file, self._read[log_file.name]):
                    if line.endswith(b"\n"):
                        self._read[log_file.name] += len(line)
                        with suppress(ValueError):
                            self.count(from_line(line))

    def count(self, row: Mapping[str, Any]) -> None:
        """Count a run that is done."""
        kind = RunKind(*(row[name] for name in RunKind._fields))
        size = next((int(number) for _, number in row["sizes"]), 1)
        self.done += 1
        self.failed += row["status"] == "failed"
        self._left[kind, size] -= 1
        for group in kind.alike():
            of_size = self._measured[group][size]
            of_size[0] += 1
            of_size[1] += max(_LEAST_SECONDS, row["seconds"])  # may be NaN
        self._work = None

    @property
    def work(self) -> Work:
        """The work done and left.

        A run to do counts as the mean of those of its kind and size. Where none is done yet it counts as those of the
        next size, of the same kind if possible, else of its method, else of any heuristic or exact method, scaled
        by the growth with the size; where nothing like it is done, as expected (its limit, for an exact method).
        """
        if self._work is None:
            means = {
                group: {size: seconds / runs for size, (runs, seconds) in sizes.items()}
                for group, sizes in self._measured.items()
            }
            left = limited = 0.0
            for (kind, size), runs in self._left.items():
                if runs > 0:
                    seconds = _expected(kind, size, means)
                    if seconds is None:
                        seconds = expected_seconds(kind.exact, kind.time_limit)
                        limited += runs * seconds if kind.exact else 0.0
                    left += runs * seconds
            done = sum(seconds for exact in (False, True) for _, seconds in self._measured[exact].values())
            self._work = Work(done, left, limited)
        return self._work


def _expected(kind: RunKind, size: int, means: Mapping[object, Mapping[int, float]]) -> float | None:
    """The seconds of a run by those on the nearest size of runs that are most like it; None if there are none."""
    for group in kind.alike():
        if seconds := means.get(group):
            nearest = min(seconds, key=lambda other: abs(log(max(other, 1) / max(size, 1))))
            scaled = seconds[nearest] * float((max(size, 1) / max(nearest, 1)) ** _growth(seconds))
            return min(scaled, kind.time_limit if kind.time_limit > 0 else inf)
    return None


def _growth(seconds: Mapping[int, float]) -> float:
    """The power of the size with which the time grows from the least to the largest size."""
    low, high = max(1, min(seconds)), max(1, max(seconds))
    if low == high:
        return _GROWTH
    return min(_STEEPEST, max(0.0, log(seconds[max(seconds)] / seconds[min(seconds)]) / log(high / low)))
