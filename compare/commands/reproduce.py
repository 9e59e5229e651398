"""``overlaybench reproduce``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click
import pandas as pd
from rich.table import Table

from ...instances.contract.errors import unknown
from ...instances.contract.files import atomic_write
from ..papers.bench import Experiment, rows_of, run_grids, runs, together
from ..papers.drawing import draw, least_bounds
from ..papers.figures import FIGURES, TABLES, rows_for, with_axes
from ..papers.grids import GRIDS
from .options import FILE, MASTER
from .outputs import console

_BOUND_SECONDS = {True: 3.0, False: 60.0}
_BOUND_NODES = 1000


@click.command("reproduce")
@click.argument("ids", nargs=-1)
@click.option("--quick", is_flag=True, help="Fewer seeds.")
@click.option("--out", type=FILE, help="Folder of figures, tables and runs [default: claims-quick or claims-full].")
@MASTER
def reproduce(ids: tuple[str, ...], quick: bool, out: Path | None, master: str) -> None:
    """Draw the papers' figures and tables with these IDS (P1.F2, P3.T2; none for all) from runs of their grids."""
    for name in ids:
        if name not in GRIDS:
            raise unknown("figure or table", name, GRIDS)
    folder = out or Path("claims-quick" if quick else "claims-full")
    chosen = list(dict.fromkeys(ids)) or list(GRIDS)
    experiments = {name: [GRIDS[name](quick), *_bounds(name, quick)] for name in chosen}
    store = run_grids([together(parts) for parts in experiments.values()], quick, folder, master)
    for name, parts in experiments.items():
        rows = rows_for(name, rows_of(parts[0], store))
        bounds = with_axes(rows_of(parts[1], store)) if len(parts) > 1 else None
        table = _table(name, rows, bounds)
        files = {"csv": table.to_csv(index=False).encode()}
        console().print(_shown(name, table))
        if name in FIGURES:
            drawn = draw(name, rows, bounds)
            files |= {"svg": drawn.svg_file, "pdf": drawn.pdf_file}
            click.echo(f"{folder / name}.svg, .pdf, .csv")
        for ending, data in files.items():
            atomic_write(folder / f"{name}.{ending}", data)


def _bounds(name: str, quick: bool) -> list[Experiment]:
    """The lower bounds of a figure's first seed at each point, on instances of up to 1000 nodes."""
    problem = FIGURES[name].bound if name in FIGURES else ""
    if not problem:
        return []
    first = {(recipe.workload, recipe.parameters): recipe for recipe in reversed(GRIDS[name](quick).recipes)}
    small = [recipe for recipe in first.values() if int(dict(recipe.parameters)["nodes"]) <= _BOUND_NODES]
    wanted = tuple(replace(recipe, family=f"{name} bound") for recipe in small)
    return [Experiment(wanted, (runs(problem, "lp-bound", time_limit=_BOUND_SECONDS[quick]),))] if wanted else []


def _table(name: str, rows: pd.DataFrame, bounds: pd.DataFrame | None) -> pd.DataFrame:
    if name in TABLES:
        ours, published = TABLES[name].means(rows), TABLES[name].published
        return pd.DataFrame({"figure": key, "ours": ours[key], "published": published.get(key)} for key in ours)
    figure = FIGURES[name]
    groups = rows.groupby([*figure.lines, figure.x[0]], dropna=False)
    table = groups[[column for column, _ in figure.panels]].mean().reset_index()
    table["runs"] = groups.size().to_numpy()
    if bounds is not None and not bounds.empty:
        table["proven bound"] = table[figure.x[0]].map(least_bounds(figure, bounds, rows))
    return table


def _shown(name: str, table: pd.DataFrame) -> Table:
    published = FIGURES[name].published if name in FIGURES else ""
    title = f"{name}" + (f" (published: {published})" if published else "")
    shown = Table(*map(str, table.columns), title=title, title_justify="left")
    for values in table.itertuples(index=False):
        shown.add_row(*(f"{value:.4g}" if isinstance(value, float) else str(value) for value in values))
    return shown
