"""``overlaybench results``."""

from __future__ import annotations

from pathlib import Path

import click

from ..studies.results import export, grouped, results, shown, write_answers
from .inputs import FILE, key_values


@click.command("results")
@click.argument("folder", type=FILE)
@click.option("--where", multiple=True, metavar="COLUMN=VALUE", help="Only rows with this value; repeatable.")
@click.option("--by", multiple=True, metavar="COLUMN", help="A line a group: counts and means; repeatable.")
@click.option("-o", "--output", type=FILE, help="Write all columns to this file: .csv or .parquet.")
@click.option("--answers", type=FILE, help="Write the answers to this folder, a file a run.")
def command(
    folder: Path, where: tuple[str, ...], by: tuple[str, ...], output: Path | None, answers: Path | None
) -> None:
    """Show the results of the study in FOLDER as a table; docs/results.md explains its columns."""
    rows = results(folder, key_values(where, "--where"))
    if answers is not None:
        click.echo(f"{answers}: {write_answers(folder, rows, answers)} answers", err=True)
    if by:
        rows = grouped(rows, by)
    if output is not None:
        export(rows, output)
        click.echo(f"{output}: {len(rows)} rows", err=True)
    elif answers is None:
        click.echo((rows if by else shown(rows)).to_string(index=False) if len(rows) else "no such runs")
