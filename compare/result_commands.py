"""The commands for the results of studies, and for the cluster that runs them."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from . import solving

_FILE = click.Path(path_type=Path)


@click.command()
@click.argument("folder", type=_FILE)
def status(folder: Path) -> None:
    """Say how the study in FOLDER stands, also while it runs."""
    from .studies import watching

    click.echo(watching.status(folder))


@click.command()
@click.argument("folder", type=_FILE)
@click.option("--where", multiple=True, metavar="COLUMN=VALUE", help="Only rows with this value; repeatable.")
@click.option("--by", multiple=True, metavar="COLUMN", help="A line a group: counts and means; repeatable.")
@click.option("-o", "--output", type=_FILE, help="Write all columns there: .csv or .parquet.")
@click.option("--answers", type=_FILE, help="Write the answers into this folder, a file a run.")
def results(
    folder: Path, where: tuple[str, ...], by: tuple[str, ...], output: Path | None, answers: Path | None
) -> None:
    """Show the results of the study in FOLDER as a table; docs/results.md explains its columns."""
    from .studies import results as data

    rows = data.results(folder, {str(key): str(value) for key, value in solving.options_given(where).items()})
    if answers is not None:
        click.echo(f"{answers}: {data.write_answers(folder, rows, answers)} answers", err=True)
    if by:
        rows = data.grouped(rows, by)
    if output is not None:
        data.export(rows, output)
        click.echo(f"{output}: {len(rows)} rows", err=True)
    elif answers is None:
        click.echo((rows if by else data.shown(rows)).to_string(index=False) if len(rows) else "no such runs")


@click.command()
@click.argument("folder", type=_FILE)
@click.option("--master", default="local[*]", show_default=True, help="Spark master.")
@click.option("--archive", type=_FILE, help="What a cluster's workers import (see `overlaybench archive`).")
def verify(folder: Path, master: str, archive: Path | None) -> None:
    """Judge every stored answer of the study in FOLDER afresh, on Spark. Exit status 1 if one is wrong."""
    from .studies import verifying

    verdict = verifying.verify(folder, master, archive)
    for key, sentence in verdict.wrong:
        click.echo(f"{key}: {sentence}")
    click.echo(f"{folder}: {verdict.judged} answers judged, {len(verdict.wrong)} faults found")
    sys.exit(1 if verdict.wrong else 0)


@click.command()
@click.argument("folder", type=_FILE)
@click.argument("key")
def rerun(folder: Path, key: str) -> None:
    """Do the run with this KEY (or its first digits) again and compare. Exit status 1 if they differ."""
    from .studies import verifying

    run = verifying.rerun(folder, key)
    for name in ("status", "value", "lower_bound", "seconds"):
        click.echo(f"{name}: {run.before[name]} before, {run.after[name]} now")
    click.echo(f"differs in {', '.join(run.differences)}" if run.differences else "the same row")
    sys.exit(1 if run.differences else 0)


@click.command()
@click.option("-o", "--output", required=True, type=_FILE, help="A .zip file.")
@click.option("--libraries", is_flag=True, help="With every library: workers need only Python and Java then.")
def archive(output: Path, libraries: bool) -> None:
    """Write the code that a cluster's workers import, as one file."""
    from .studies.code_archive import write_archive

    click.echo(write_archive(output, libraries=libraries))


RESULT_COMMANDS = (status, results, verify, rerun, archive)
