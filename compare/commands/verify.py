"""``overlaybench verify``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ..printable import printable
from ..studies.verification import verify
from .inputs import ARCHIVE, FILE, MASTER


@click.command("verify")
@click.argument("folder", type=FILE)
@MASTER
@ARCHIVE
@click.option(
    "--rerun",
    "share",
    type=click.FloatRange(0, 1, min_open=True),
    metavar="SHARE",
    help="Also repeat this share of the runs, drawn at random, and compare: 0.05 for one in twenty.",
)
@click.option("--seed", default=0, show_default=True, help="Of the draw of --rerun.")
def command(folder: Path, master: str, archive: Path | None, share: float | None, seed: int) -> None:
    """Check every stored row, answer and proof of the study in FOLDER again, on Spark.

    Exit status 1 if one is wrong. docs/reliability.md says what is checked, and what it cannot find.
    """
    verification = verify(folder, master, archive, share=share or 0.0, seed=seed)
    for key, fault in verification.faults:
        click.echo(printable(f"{key}: {fault}"))
    for note in verification.notes:
        click.echo(f"overlaybench: {note}", err=True)
    proofs = f" and {verification.proofs} proofs" if verification.proofs else ""
    repeated = f", {verification.repeated} runs repeated" if verification.repeated else ""
    click.echo(
        f"{folder}: {verification.checked} answers{proofs} checked{repeated}, {len(verification.faults)} faults found"
    )
    sys.exit(1 if verification.faults else 0)
