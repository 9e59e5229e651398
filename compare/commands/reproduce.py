"""``overlaybench reproduce``."""

from __future__ import annotations

from pathlib import Path

import click

from ...instances.contract.errors import unknown
from ...instances.contract.files import atomic_write
from ..claims.bench import rows_of, run_grids
from ..claims.data import FIGURES, TABLES, experiment_of
from ..claims.figures import Figure, PaperTable, draw, points_of, table_of
from .options import FILE, MASTER
from .outputs import show, table


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
    folder = out or Path("claims-quick" if quick else "claims-full")
    chosen = [named[name] for name in dict.fromkeys(ids)] or list(named.values())
    store = run_grids(
        [experiment_of(name, quick) for name in dict.fromkeys(one.grid for one in chosen)], quick, folder, master
    )
    for one in chosen:
        rows = rows_of(experiment_of(one.grid, quick), store)
        rows = rows[rows["status"] != "failed"]
        if isinstance(one, Figure):
            shown = points_of(one, rows, every=every)
            files = draw(one, shown).files
        else:
            shown, files = table_of(one, rows), {}
        show(table(one.name, shown.to_dict("records"), pipe=100_000))
        for ending, data in {"csv": shown.to_csv(index=False).encode(), **files}.items():
            atomic_write(folder / f"{one.name}.{ending}", data)
        click.echo(", ".join(f"{folder / one.name}.{ending}" for ending in (*files, "csv")))
