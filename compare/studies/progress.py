"""The progress of a study: a bar in a terminal or notebook, a plain line every 15 s in a log."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from rich import progress as bars
from rich.console import Console
from rich.table import Column
from rich.text import Text

from ...instances.contract.errors import BadInput
from ...instances.contract.files import atomic_write, read_text
from .notebook import NotebookBar, in_notebook
from .tally import Tally

_PLAIN_SECONDS, _SAVED_SECONDS = 15.0, 5.0
_LEAST_BAR = 8
_FILE = "progress.json"


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
