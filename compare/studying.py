"""What the commands study and report do."""

from __future__ import annotations

import signal
from collections import Counter
from functools import partial
from pathlib import Path
from typing import NoReturn

import click

from ..instances.topics.kind import TOPICS
from .studies.spark_study import run_study
from .studies.store import Store
from .studies.study import read_study


def study(spec: Path, out: Path, master: str, *, archive: Path | None, quiet: bool) -> None:
    """Run a study on Spark and say how its runs ended; notes of the study go to stderr."""
    signal.signal(signal.SIGTERM, _stop)
    plan, store = read_study(spec), Store(out)
    for note in plan.notes:
        click.echo(f"overlaybench: {note}", err=True)
    tasks = run_study(plan, store, master, archive=archive, quiet=quiet)
    counts = Counter(store.table((task.key for task in tasks), ["status"])["status"].to_pylist())
    click.echo(f"{out}: {len(tasks)} runs: " + ", ".join(f"{n} {status}" for status, n in sorted(counts.items())))


def report(folder: Path) -> Path:
    """Write the report of the runs that a folder holds; those still missing are noted."""
    from .report.writing import write_report  # matplotlib takes a second to import, and studies do not need it

    store = Store.existing(folder)
    plan = store.plan()
    rows = store.rows(plan.keys)
    notes = list(plan.notes)
    if missing := len(plan.keys) - len(rows):
        notes.append(f"{missing} of {len(plan.keys)} runs are not done yet: the same study command goes on with them.")
    return write_report(
        folder, rows, partial(store.instance, kind=TOPICS), title=plan.name, spec=plan.spec, notes=notes
    )


def _stop(number: int, frame: object) -> NoReturn:
    raise KeyboardInterrupt
