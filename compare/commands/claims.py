"""``overlaybench claims``."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from ..claims.claim import Claim, Row
from ..claims.pages import listed, printed, write_pages
from ..claims.register import CLAIMS, TimeToGo, claims_named, keep_rows, record, run_claims
from .options import CLAIM, FILE, MASTER


@click.command("claims")
@click.argument("ids", nargs=-1, type=CLAIM)
@click.option("--all", "every", is_flag=True, help="All claims.")
@click.option("--quick", is_flag=True, help="Smaller grids and fewer seeds: seconds a claim.")
@click.option("--out", type=FILE, help="The folder of evidence [default: claims-quick or claims-full].")
@MASTER
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list.")
@click.option("--record", "kept", type=FILE, help="Add the rows to this file (JSON).")
@click.option("--page", type=FILE, help="Write all rows in the record, or in the folder, as Markdown pages.")
def claims(
    ids: tuple[str, ...],
    every: bool,
    quick: bool,
    out: Path | None,
    master: str,
    as_json: bool,
    kept: Path | None,
    page: Path | None,
) -> None:
    """Test the papers' claims with these IDS (P1 for all of P1); without any, list them with their verdicts.

    A contradicted claim is no error. A claim whose check cannot run is reported in a line, and the others go on; the
    exit status is then 1.
    """
    folder = out or Path("claims-quick" if quick else "claims-full")
    rows: list[Row] = []
    failed = False
    if ids or every:
        chosen = claims_named(ids)
        to_go = TimeToGo(chosen, quick)
        click.echo(f"overlaybench: {len(chosen)} {'claim' if len(chosen) == 1 else 'claims'}, {to_go}", err=True)
        for outcome in run_claims(chosen, quick, folder, master, lambda claim: _progress(claim, to_go)):
            if isinstance(outcome, Row):
                to_go.add(outcome)
                rows.append(outcome)
                _clear()
                if not as_json:
                    click.echo(printed(outcome) + "\n")
            else:
                claim, error = outcome
                failed = True
                _clear()
                click.echo(f"overlaybench: {claim.id}: {type(error).__name__}: {error}".splitlines()[0], err=True)
    if as_json:
        click.echo(json.dumps(_as_json(rows if ids or every else list(record().values())), ensure_ascii=False))
    elif not (ids or every):
        click.echo(listed(record()))
        click.echo("Name claims to run them (overlaybench claims P3.F10), or --all.")
    if kept is not None:
        keep_rows(rows, kept)
    if page is not None:
        write_pages(record(kept or folder / "claims.json") if ids or every or kept else record(), page)
    if failed:
        sys.exit(1)


def _as_json(rows: Sequence[Row]) -> list[dict[str, object]]:
    return [{**asdict(CLAIMS[row.id].statement), **row.to_dict()} for row in rows if row.id in CLAIMS]


def _progress(claim: Claim, to_go: TimeToGo) -> None:
    """A bar in a terminal, a line in a log."""
    text = f"{claim.id}: {to_go}"
    if not sys.stderr.isatty():
        click.echo(f"overlaybench: {text}", err=True)
        return
    filled = round(20 * to_go.share)
    click.echo(f"\r\x1b[K{'█' * filled}{'░' * (20 - filled)} {text}"[:90], err=True, nl=False)


def _clear() -> None:
    if sys.stderr.isatty():
        click.echo("\r\x1b[K", err=True, nl=False)
