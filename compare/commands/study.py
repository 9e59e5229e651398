"""``overlaybench study``."""

from __future__ import annotations

import signal
from collections import Counter
from pathlib import Path
from typing import NoReturn

import click

from ..studies.spark_study import run_study
from ..studies.store import Store
from ..studies.study import read_study
from .inputs import ARCHIVE, FILE, MASTER


@click.command("study")
@click.argument("spec", type=FILE)
@click.option("--out", required=True, type=FILE, help="The folder of results; a stopped study is resumed there.")
@MASTER
@ARCHIVE
@click.option("--quiet", is_flag=True, help="Show no progress.")
def command(spec: Path, out: Path, master: str, archive: Path | None, quiet: bool) -> None:
    """Run the study in SPEC.toml on Spark."""
    signal.signal(signal.SIGTERM, _interrupt)
    study, store = read_study(spec), Store(out)
    for note in study.notes:
        click.echo(f"overlaybench: {note}", err=True)
    keys = run_study(study, store, master, archive=archive, quiet=quiet)
    counts = Counter(store.table(keys, ["status"])["status"].to_pylist())
    click.echo(f"{out}: {len(keys)} runs: " + ", ".join(f"{n} {status}" for status, n in sorted(counts.items())))


def _interrupt(number: int, frame: object) -> NoReturn:
    raise KeyboardInterrupt
