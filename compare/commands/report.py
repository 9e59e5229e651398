"""``overlaybench report``."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from ...instances.topics.kind import TOPICS
from ..report.writing import write_report
from ..studies.store import Store
from .inputs import FILE


@click.command("report")
@click.argument("folder", type=FILE)
def command(folder: Path) -> None:
    """Write the report of the study in FOLDER: report.html, tables/ and figures/ there."""
    store = Store.existing(folder)
    plan = store.plan()
    rows = store.rows(plan.keys)
    notes = list(plan.notes)
    if missing := len(plan.keys) - len(rows):
        notes.append(f"{missing} of {len(plan.keys)} runs are missing: the same study command resumes.")
    read_instance = partial(store.instance, kind=TOPICS)
    click.echo(write_report(folder, rows, read_instance, title=plan.name, spec=plan.spec, notes=notes))
