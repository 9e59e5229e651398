"""``overlaybench study``."""

from __future__ import annotations

import shlex
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import NoReturn

import click

from .inputs import ARCHIVE, FILE, MASTER


def _print_schema(ctx: click.Context, parameter: click.Parameter, asked: bool) -> None:
    if asked:
        import json

        from ..studies.schema import study_schema

        click.echo(json.dumps(study_schema(), ensure_ascii=False, indent=1))
        ctx.exit()


@click.command("study")
@click.argument("spec", type=FILE)
@click.option("--out", required=True, type=FILE, help="The folder of results; a study goes on or grows there.")
@MASTER
@ARCHIVE
@click.option("--grow", is_flag=True, help="Take the folder of an unrelated study, whose runs stay stored there.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
@click.option(
    "--schema",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_schema,
    help="Print the JSON schema of study files, for editors.",
)
def command(spec: Path, out: Path, master: str, archive: Path | None, grow: bool, quiet: bool) -> None:
    """Run the study in SPEC.toml on Spark.

    What is stored in the folder is not repeated: a study that was stopped is resumed, and a study file with more
    methods, instances, seeds or limits runs only what is new. docs/study.md explains every key of a study file.
    """
    from ..studies.spark_study import run_study
    from ..studies.store import Store
    from ..studies.study import read_study

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            signal.signal(number, _interrupt)
    study, store = read_study(spec), Store(out)
    for note in study.notes:
        click.echo(f"overlaybench: {note}", err=True)
    try:
        keys = run_study(study, store, master, archive=archive, quiet=quiet, grow=grow)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"stopped; finished runs are kept. To go on: {_again()}") from None
    counts = Counter(store.table(keys, ["status"])["status"].to_pylist())
    click.echo(f"{out}: {len(keys)} runs: " + ", ".join(f"{n} {status}" for status, n in sorted(counts.items())))
    if other := len(store.done().difference(keys)):
        click.echo(
            f"overlaybench: {other} stored runs of earlier studies or code versions are not among them: see "
            f"`overlaybench results {out} --all`",
            err=True,
        )


def _again() -> str:
    """The command line of this study."""
    return shlex.join(["overlaybench", *sys.argv[1:]])


def _interrupt(number: int, frame: object) -> NoReturn:
    signal.signal(number, signal.SIG_IGN)  # a second one must not end what the first one stops in order
    raise KeyboardInterrupt
