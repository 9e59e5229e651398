"""``overlaybench archive``."""

from __future__ import annotations

from pathlib import Path

import click

from ..studies.code_archive import write_archive
from .inputs import FILE


@click.command("archive")
@click.option("-o", "--output", required=True, type=FILE, help="A .zip file.")
@click.option("--libraries", is_flag=True, help="Include every library: workers then need only Python and Java.")
def command(output: Path, libraries: bool) -> None:
    """Write the code that a cluster's workers import to one file."""
    click.echo(write_archive(output, libraries=libraries))
