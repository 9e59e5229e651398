"""The progress of what takes long: a bar in a terminal or notebook, a plain line every 15 s elsewhere."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from math import log
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from rich import progress as bars
from rich.console import Console
from rich.table import Column
from rich.text import Text

from ...instances.contract.errors import BadInput
from ...instances.contract.files import atomic_write, read_text
from ...instances.contract.numbers import duration
from ...instances.runtime.status_line import StatusLine, in_notebook
from .store import Store
from .task import RunGroup

_PLAIN_SECONDS, _SAVED_SECONDS = 15.0, 5.0
_LEAST_BAR = 8
_FILE = "progress.json"
_LONGEST_GAP = 1.0  # seconds between two rows, where no run took longer
_HEURISTIC_SECONDS = 0.1
_MOST_READ = 20_000  # stored rows
_LEAST_SECONDS = 0.005  # of a run, beside solving
_GROWTH = 1.5  # the time of a method is taken to grow with this power of the size, until two sizes are measured
_STEEPEST = 4.0


class Bar:
    """How much of a whole is done (``3 of 20 rows checked``), on what is stderr when it is made.

    If it is `quiet`, it shows nothing but notes.
    """

    def __init__(self, total: int, what: str, *, quiet: bool = False) -> None:
        self.total, self.what, self.quiet = total, what, quiet
        self._out, self._last, self._line = sys.stderr, time.monotonic(), ""
        console = Console(file=self._out)
        self._notebook = StatusLine(total) if in_notebook() and not quiet else None
        self._bar: bars.Progress | None = None
        if not quiet and console.is_terminal and not self._notebook:
            text = bars.TextColumn("{task.description}", table_column=Column(no_wrap=True))
            self._bar = bars.Progress(
                bars.BarColumn(bar_width=None), text, console=console, refresh_per_second=4, expand=True
            )

    def __enter__(self) -> Bar:
        if self._bar:
            self._bar.start()
            self._bar.add_task("", total=self.total)
        return self

    def __exit__(self, *ended: object) -> None:
        if self._notebook:
            self._notebook.clear()
        elif self._bar:
            self._bar.stop()
        elif self._line:
            self.note(self._line)

    def show(self, done: int, *texts: str) -> None:
        """Show how much is done, with the first of the texts beside which the bar is not too short."""
        texts = texts or (f"{done:,} of {self.total:,} {self.what}",)
        if self._notebook:
            self._notebook.show(done, texts[0])
        elif self._bar:
            width = self._bar.console.width - _LEAST_BAR
            fitting = next((text for text in texts if len(text) < width), texts[-1])
            self._bar.update(bars.TaskID(0), total=self.total, completed=done, description=fitting)
        elif not self.quiet:
            self._line = texts[0]
            if time.monotonic() - self._last >= _PLAIN_SECONDS:
                self._last, self._line = time.monotonic(), ""
                self.note(texts[0])

    def waiting(self, what: str) -> None:
        """Show what has to be there before the work begins."""
        self.show(0, f"0 of {self.total:,} {self.what}, starting {what}", f"starting {what}")

    def note(self, line: str) -> None:
        """Print a line that stays."""
        if self._bar:
            self._bar.console.print(Text(line))
        else:
            print(line, file=self._out, flush=True)


class RunKind(NamedTuple):
    """Runs of one kind take about equally long on instances of one size."""

    problem: str
    method: str
    options: str
    exact: bool
    time_limit: float

    @property
    def expected_seconds(self) -> float:
        """An estimate without any measurement: an exact method may take its limit, a heuristic seldom does."""
        return self.time_limit if self.exact else _HEURISTIC_SECONDS

    def alike(self) -> tuple[object, ...]:
        """The groups of runs like these, the most alike first."""
        return self, (self.problem, self.method), self.method, self.exact


class StudyWork(NamedTuple):
    """Seconds of solving: done, still to do, and the part of the latter that is known by a time limit alone."""

    done: float
    left: float
    limited: float

    def to_go(self, elapsed: float, running: int, runs: int) -> float:
        """The seconds until all is done, at the pace so far; `runs` are done, and those `running` are half done.

        A second of solving at full pace is added to it: the first rows come late, and say little.
        """
        if not runs:
            return self.left / max(running, 1)
        half_done = min(running * self.done / runs / 2, running * elapsed)
        pace = (elapsed + 1 / max(running, 1)) / (self.done + half_done + 1)
        return max(0.0, self.left - half_done) * pace

    @property
    def is_limited(self) -> bool:
        """Whether most of the work left is known by time limits alone: the estimate is an upper one."""
        return self.limited >= self.left / 2 > 0

    def about(self, to_go: float) -> str:
        """The time to go in words; "" if it is less than a second."""
        return f"{'at most' if self.is_limited else 'about'} {duration(to_go)} to go" if to_go >= 1 else ""


class RunTally:
    """Counts the runs done and failed, of the runs that are `left`: how many of each kind and size of the instance.

    The rows so far say how long runs take. `planned` is the number of all runs of the study by method; `cores` run at a
    time once all workers have started. The time so far counts from `begun` (monotonic), by default from now.
    """

    def __init__(
        self,
        store: Store,
        left: Mapping[tuple[RunGroup, int], int],
        planned: Mapping[str, int] | None = None,
        cores: int = 1,
        begun: float | None = None,
    ) -> None:
        self._store, self._planned, self._cores = store, planned or {}, cores
        self.done = self.failed = 0
        self._saved, heard = float("-inf"), time.monotonic()
        self._start = heard if begun is None else begun
        self._seconds, self._longest = 0.0, 0.0
        self._work: StudyWork | None = None
        self._busy, self._heard = 0.0, heard
        self._left: Counter[tuple[RunKind, int]] = Counter()
        self._measured: dict[object, dict[int, tuple[int, float]]] = defaultdict(dict)
        """The number of runs and their seconds, of each group (:meth:`RunKind.alike`) and size."""
        for (group, size), runs in left.items():
            self._left[_kind_of(group), size] += runs
        self._measure(store.sampled([*RunKind._fields, "sizes", "seconds"], _MOST_READ))

    def learn(self, runs: Iterable[tuple[str, str, int, float]]) -> None:
        """Take problem, method, size and seconds of runs elsewhere, for methods that have no row on the problem."""
        stored = set(self._measured)
        for problem, method, size, seconds in runs:
            if (group := (problem, method)) not in stored:
                number, total = self._measured[group].get(size, (0, 0.0))
                self._measured[group][size] = number + 1, total + max(_LEAST_SECONDS, seconds)
        self._work = None

    def count(self, rows: pa.Table) -> None:
        """Count runs that are done."""
        self._busy, self._heard = self._busy_now(), time.monotonic()
        self.done += rows.num_rows
        self.failed += pc.sum(pc.equal(rows["status"], "failed")).as_py() or 0
        for at, (runs, seconds, longest) in self._measure(rows).items():
            self._left[at] -= runs
            self._seconds += seconds
            self._longest = max(self._longest, longest)

    def _busy_now(self) -> float:
        """The seconds so far that count for the pace.

        A gap between two rows counts as the longest run at most: beyond that, workers start or compile kernels, once.
        """
        return self._busy + min(time.monotonic() - self._heard, max(_LONGEST_GAP, self._longest))

    def _measure(self, rows: pa.Table) -> dict[tuple[RunKind, int], tuple[int, float, float]]:
        """Take the times of some rows; the number, the seconds and the longest of each kind and size."""
        found: dict[tuple[RunKind, int], tuple[int, float, float]] = {}
        times = np.fmax(_LEAST_SECONDS, rows["seconds"].to_numpy())  # may be NaN
        columns = [rows[name].to_pylist() for name in RunKind._fields]
        for *fields, sizes, seconds in zip(*columns, rows["sizes"].to_pylist(), times.tolist(), strict=True):
            at = RunKind(*fields), next((int(number) for _, number in sizes), 1)
            runs, total, longest = found.get(at, (0, 0.0, 0.0))
            found[at] = runs + 1, total + seconds, max(longest, seconds)
        for (kind, size), (more, seconds, _) in found.items():
            for group in kind.alike():
                runs, total = self._measured[group].get(size, (0, 0.0))
                self._measured[group][size] = runs + more, total + seconds
        self._work = None
        return found

    def expected(self, group: RunGroup, size: int) -> float:
        """The seconds that a run is expected to take."""
        kind = _kind_of(group)
        seconds = _expected(kind, size, self._measured)
        return kind.expected_seconds if seconds is None else seconds

    @property
    def work(self) -> StudyWork:
        """The work done and left.

        A run to do counts as the mean of those of its kind and size. Where none is done yet it counts as those of the
        next size, of the same kind if possible, else of its method, else of any heuristic or exact method, scaled
        by the growth with the size; where nothing like it is done, as expected (its limit, for an exact method).
        """
        if self._work is not None:
            return self._work
        left = limited = 0.0
        for (kind, size), runs in self._left.items():
            if runs > 0:
                seconds = _expected(kind, size, self._measured)
                if seconds is None:
                    seconds = kind.expected_seconds
                    limited += runs * seconds if kind.exact else 0.0
                left += runs * seconds
        self._work = StudyWork(self._seconds, left, limited)
        return self._work

    def show(self, bar: Bar, running: int) -> None:
        """Show the runs done and failed, those running, and the time to go; `status` finds them in the folder."""
        total = sum(self._planned.values())
        done, elapsed = total - sum(self._left.values()), time.monotonic() - self._start
        running = min(running, max(0, total - done))  # a worker without a run may still be at its end
        left, work = max(0, total - done - running), self.work
        at_once = running if self.done else max(running, self._cores)
        about = work.about(work.to_go(self._busy_now(), at_once, self.done)) if done < total else ""
        on, failed = f"{running} running" if running else "", f"{self.failed} failed" if self.failed else ""
        waiting = "waiting for workers" if done < total else "ending the workers"
        to_do = f"{left} left" if done < total else ""
        short = about.removesuffix(" to go").replace("at most ", "≤ ").replace("about ", "~")
        counted = f"{done:,} of {total:,} runs done"
        texts = (
            [counted, failed, on or waiting, to_do, f"{duration(elapsed)} so far", about],
            [counted, failed, on, about],
            [f"{done:,} of {total:,} done", failed, about],
            [f"{done}/{total}", failed, short],
            [f"{done}/{total}", short],
        )
        bar.show(done, *(", ".join(filter(None, each)) for each in texts))
        if time.monotonic() - self._saved >= _SAVED_SECONDS:
            self._saved = time.monotonic()
            with suppress(BadInput):  # on a full disk the first row that cannot be stored ends the study
                text = json.dumps({"to_go": about, "planned": self._planned})
                atomic_write(self._store.folder / _FILE, text)


def _kind_of(group: RunGroup) -> RunKind:
    return RunKind(group.problem, group.method, group.options, group.exact, group.time_limit)


Measured = Mapping[int, tuple[int, float]]
"""The number of runs and their seconds, by size."""


def _expected(kind: RunKind, size: int, measured: Mapping[object, Measured]) -> float | None:
    """The seconds of a run by those on the nearest size of runs that are most like it; None if there are none."""
    for group in kind.alike():
        if sizes := measured.get(group):
            nearest = min(sizes, key=lambda other: abs(log(max(other, 1) / max(size, 1))))
            scaled = _mean(sizes[nearest]) * float((max(size, 1) / max(nearest, 1)) ** _growth(sizes))
            return min(scaled, kind.time_limit)
    return None


def _growth(sizes: Measured) -> float:
    """The power of the size with which the time grows from the least to the largest size."""
    low, high = max(1, min(sizes)), max(1, max(sizes))
    if low == high:
        return _GROWTH
    times = _mean(sizes[max(sizes)]) / _mean(sizes[min(sizes)])
    return min(_STEEPEST, max(0.0, log(times) / log(high / low)))


def _mean(measured: tuple[int, float]) -> float:
    runs, seconds = measured
    return seconds / runs


def saved(folder: Path) -> tuple[str, dict[str, int]]:
    """What a study that ran in a folder noted last: the time to go, and the number of its runs by method."""
    file = folder / _FILE
    try:
        data = json.loads(read_text(file)) if file.is_file() else {}
        return str(data.get("to_go", "")), {str(name): int(runs) for name, runs in data.get("planned", {}).items()}
    except (ValueError, AttributeError, TypeError):
        return "", {}
