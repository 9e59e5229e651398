"""``overlaybench claims``."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from ..claims.claim import Claim, LedgerRow
from ..claims.pages import listed, printed, row_of, write_pages
from ..claims.register import CLAIMS, TimeToGo, claims_named, keep_rows, record, run_claims
from ..printable import StatusLine
from .options import CLAIM, FILE, MASTER


@click.command("claims")
@click.argument("ids", nargs=-1, type=CLAIM)
@click.option("--all", "every", is_flag=True, help="All claims; with IDS, also what was varied and the details.")
@click.option("--run", "full", is_flag=True, help="Run the claims again, in full: minutes a claim, hours for all.")
@click.option("--quick", is_flag=True, help="Run them on smaller grids with fewer seeds: seconds a claim.")
@click.option("--out", type=FILE, help="The folder of a run's evidence [default: claims-quick or claims-full].")
@MASTER
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list.")
@click.option("--record", "kept", type=FILE, help="Add the rows of a run to this file (JSON).")
@click.option("--page", type=FILE, help="Write all rows in the record, or in the folder, as Markdown pages.")
def claims(
    ids: tuple[str, ...],
    every: bool,
    full: bool,
    quick: bool,
    out: Path | None,
    master: str,
    as_json: bool,
    kept: Path | None,
    page: Path | None,
) -> None:
    """Show the papers' claims with these IDS (P1 for all of P1) as they stand on record, or run them.

    Without IDS, list them with their verdicts. A contradicted claim is no error. A claim whose check cannot run is
    reported in a line, and the others go on; the exit status is then 1.
    """
    folder = out or Path("claims-quick" if quick else "claims-full")
    chosen, known, failed = claims_named(ids), record(), False
    if full or quick:
        if not (ids or every):
            raise click.UsageError("name claims to run, or --all")
        rows, failed = _run(chosen, quick, folder, master, None if as_json else every and bool(ids))
    else:
        rows = [row_of(known, claim.id) for claim in chosen]
        if ids or every:
            shown = (printed(row, every=every and bool(ids)) for row in rows)
            click.echo("" if as_json else "\n\n".join(shown), nl=not as_json)
        elif not as_json:
            click.echo(listed(known))
            click.echo("Name claims (overlaybench claims P3.F10), or --all; --run or --quick runs them.")
    if as_json:
        click.echo(json.dumps([_as_json(row) for row in rows], ensure_ascii=False))
    if kept is not None and (full or quick):
        keep_rows(rows, kept)
    if page is not None:
        write_pages(record(kept or folder / "claims.json") if kept or full or quick else known, page)
    if failed:
        sys.exit(1)


def _run(
    chosen: Sequence[Claim], quick: bool, folder: Path, master: str, every: bool | None
) -> tuple[list[LedgerRow], bool]:
    """The rows of a run, and whether a claim raised; rows are printed, with all that was varied if `every`."""
    to_go, rows = TimeToGo(chosen, quick), list[LedgerRow]()
    click.echo(f"overlaybench: {len(chosen)} {'claim' if len(chosen) == 1 else 'claims'}, {to_go}", err=True)
    for outcome in run_claims(chosen, quick, folder, master, lambda claim: _progress(claim, to_go)):
        StatusLine().clear()
        if isinstance(outcome, LedgerRow):
            to_go.add(outcome)
            rows.append(outcome)
            if every is not None:
                click.echo(printed(outcome, every=every) + "\n")
        else:
            claim, error = outcome
            click.echo(f"overlaybench: {claim.id}: {type(error).__name__}: {error}".splitlines()[0], err=True)
    return rows, len(rows) < len(chosen)


def _as_json(row: LedgerRow) -> dict[str, object]:
    return {**(asdict(CLAIMS[row.id].statement) if row.id in CLAIMS else {}), **row.to_dict()}


def _progress(claim: Claim, to_go: TimeToGo) -> None:
    """A bar in a terminal, a line in a log."""
    text = f"{claim.id}: {to_go}"
    if not sys.stderr.isatty():
        click.echo(f"overlaybench: {text}", err=True)
        return
    filled = round(20 * to_go.share)
    StatusLine().show(0, f"{'█' * filled}{'░' * (20 - filled)} {text}")
