"""The commands on the papers' claims, figures and tables: ``claims`` and ``reproduce``."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from ...instances.contract.errors import unknown
from ...instances.contract.files import atomic_write
from ..claims.bench import rows_of, run_grids
from ..claims.claim import Claim, LedgerRow
from ..claims.data import FIGURES, TABLES, experiment_of
from ..claims.figures import Figure, PaperTable, draw, points_of, table_of
from ..claims.pages import listed, printed, row_of, write_pages
from ..claims.register import CLAIMS, TimeToGo, claims_named, keep_rows, record, run_claims
from ..printable import StatusLine
from .options import CLAIM, FILE, MASTER
from .outputs import show, table


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
def claims(ids: tuple[str, ...], every: bool, quick: bool, out: Path | None, master: str, **given: Any) -> None:
    """Show the papers' claims with these IDS (P1 for all of P1) as they stand on record, or run them.

    Without IDS, list them with their verdicts. A contradicted claim is no error. A claim whose check cannot run is
    reported in a line, and the others go on; the exit status is then 1.
    """
    folder, kept, as_json = out or _folder(quick), given["kept"], given["as_json"]
    chosen, known, run, failed = claims_named(ids), record(), given["full"] or quick, False
    if run:
        if not (ids or every):
            raise click.UsageError("name claims to run, or --all")
        rows, failed = _run(chosen, quick, folder, master, None if as_json else every and bool(ids))
        if kept is not None:
            keep_rows(rows, kept)
    else:
        rows = [row_of(known, claim.id) for claim in chosen]
    if as_json:
        shown = [(asdict(CLAIMS[row.id].statement) if row.id in CLAIMS else {}) | row.to_dict() for row in rows]
        click.echo(json.dumps(shown, ensure_ascii=False))
    elif not run and (ids or every):
        click.echo("\n\n".join(printed(row, every=every and bool(ids)) for row in rows))
    elif not run:
        click.echo(listed(known))
        click.echo("Name claims (overlaybench claims P3.F10), or --all; --run or --quick runs them.")
    if given["page"] is not None:
        write_pages(record(kept or folder / "claims.json") if kept or run else known, given["page"])
    sys.exit(1 if failed else 0)


def _folder(quick: bool) -> Path:
    return Path("claims-quick" if quick else "claims-full")


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


def _progress(claim: Claim, to_go: TimeToGo) -> None:
    """A bar in a terminal, a line in a log."""
    text = f"{claim.id}: {to_go}"
    if not sys.stderr.isatty():
        click.echo(f"overlaybench: {text}", err=True)
    filled = round(20 * to_go.share)
    StatusLine().show(0, f"{'█' * filled}{'░' * (20 - filled)} {text}")


@click.command("reproduce")
@click.argument("ids", nargs=-1)
@click.option("--quick", is_flag=True, help="Smaller grids and fewer seeds.")
@click.option("--all", "every", is_flag=True, help="Further panels: other laws, rules for ties and readings.")
@click.option("--out", type=FILE, help="Folder of figures, tables and runs [default: claims-quick or claims-full].")
@MASTER
def reproduce(ids: tuple[str, ...], quick: bool, every: bool, out: Path | None, master: str) -> None:
    """Draw the papers' figures and tables with these IDS (P1.F2, P3.T2; none for all) beside the published values."""
    named: dict[str, Figure | PaperTable] = {**FIGURES, **TABLES}
    for name in ids:
        if name not in named:
            raise unknown("figure or table", name, named)
    chosen = [named[name] for name in dict.fromkeys(ids)] or list(named.values())
    grids = {one.grid: experiment_of(one.grid, quick) for one in chosen}
    folder = out or _folder(quick)
    store = run_grids(list(grids.values()), quick, folder, master)
    for one in chosen:
        rows = rows_of(grids[one.grid], store).query("status != 'failed'")
        if isinstance(one, Figure):
            shown = points_of(one, rows, every=every)
            files = draw(one, shown).files
        else:
            shown, files = table_of(one, rows), {}
        show(table(one.name, shown.to_dict("records"), pipe=100_000))
        for ending, data in {"csv": shown.to_csv(index=False).encode(), **files}.items():
            atomic_write(folder / f"{one.name}.{ending}", data)
        click.echo(", ".join(f"{folder / one.name}.{ending}" for ending in (*files, "csv")))
