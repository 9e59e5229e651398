"""``overlaybench verify``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ..studies.verification import verify
from .inputs import ARCHIVE, FILE, MASTER


@click.command("verify")
@click.argument("folder", type=FILE)
@MASTER
@ARCHIVE
def command(folder: Path, master: str, archive: Path | None) -> None:
    """Check every stored answer and proof of the study in FOLDER again, on Spark. Exit status 1 if one is wrong."""
    verification = verify(folder, master, archive)
    for key, fault in verification.faults:
        click.echo(f"{key}: {fault}")
    proofs = f" and {verification.proofs} proofs" if verification.proofs else ""
    click.echo(f"{folder}: {verification.checked} answers{proofs} checked, {len(verification.faults)} faults found")
    sys.exit(1 if verification.faults else 0)
