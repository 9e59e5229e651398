"""``overlaybench rerun``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ..studies.verification import rerun
from .inputs import FILE


@click.command("rerun")
@click.argument("folder", type=FILE)
@click.argument("key")
def command(folder: Path, key: str) -> None:
    """Repeat the run with this KEY and compare; its first digits suffice. Exit status 1 if the rows differ."""
    run = rerun(folder, key)
    for name in ("status", "value", "lower_bound", "seconds"):
        click.echo(f"{name}: {run.before[name]} before, {run.after[name]} now")
    click.echo(f"differs in {', '.join(run.differences)}" if run.differences else "the same row")
    sys.exit(1 if run.differences else 0)
