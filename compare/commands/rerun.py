"""``overlaybench rerun``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from .inputs import FILE


@click.command("rerun")
@click.argument("folder", type=FILE)
@click.argument("key")
def command(folder: Path, key: str) -> None:
    """Repeat the run with this KEY and compare; its first digits suffice. Exit status 1 if the rows differ."""
    from ..studies.rerun import rerun

    run = rerun(folder, key)
    for name in ("status", "value", "lower_bound", "seconds"):
        click.echo(f"{name}: {_text(run.before[name])} before, {_text(run.after[name])} now")
    if run.differences:
        click.echo(f"differs in {', '.join(run.differences)}")
        for name in run.differences:
            before, now = run.values(name)
            click.echo(f"  {name} before  {before}\n  {name} now     {now}")
    else:
        click.echo("the same row")
    sys.exit(1 if run.differences else 0)


def _text(value: object) -> str:
    return f"{value:.10g}" if isinstance(value, (int, float)) else str(value)
