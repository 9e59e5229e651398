"""What the command reproduce does: run a paper's grid, draw the figure, put the published numbers beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
import matplotlib
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from rich.console import Console
from rich.table import Table

from ..instances.errors import unknown
from ..instances.files import write_whole
from .claims.register import run_grids
from .figures.style import TOPIC_COLOURS, Drawing, drawing, panels, plain_ticks, styled
from .papers.bench import Experiment, rows_of, runs, together
from .papers.figure import PaperFigure
from .papers.figures import FIGURES, TABLES, name_of_line, rows_for, with_axes
from .papers.grids import GRIDS

matplotlib.use("Agg")
_MARKERS = "os^vD<>Xph*d"
_BOUND_SECONDS = {True: 3.0, False: 60.0}
_BOUND_NODES = 1000


def reproduce(ids: Sequence[str], *, quick: bool, out: Path, master: str) -> None:
    """Run grids and write ``<id>.csv``, and for figures ``<id>.svg`` and ``<id>.pdf``, into `out`."""
    for name in ids:
        if name not in GRIDS:
            raise unknown("figure or table", name, GRIDS)
    chosen = list(dict.fromkeys(ids)) or list(GRIDS)
    experiments = {name: [GRIDS[name](quick), *_bounds(name, quick)] for name in chosen}
    store = run_grids([together(parts) for parts in experiments.values()], quick, out, master)
    for name, parts in experiments.items():
        rows = rows_for(name, rows_of(parts[0], store))
        bounds = with_axes(rows_of(parts[1], store)) if len(parts) > 1 else None
        table = _table_of(name, rows, bounds)
        write_whole(out / f"{name}.csv", lambda file, table=table: table.to_csv(file, index=False))  # type: ignore[misc]
        Console(width=None if Console().is_terminal else 160).print(_shown(name, table))
        if name in FIGURES:
            drawn = draw(name, rows, bounds)
            write_whole(out / f"{name}.svg", lambda file, drawn=drawn: file.write_bytes(drawn.svg_file))  # type: ignore[misc]
            write_whole(out / f"{name}.pdf", lambda file, drawn=drawn: file.write_bytes(drawn.pdf_file))  # type: ignore[misc]
            click.echo(f"{out / name}.svg, .pdf, .csv")


def draw(name: str, rows: pd.DataFrame, bounds: pd.DataFrame | None = None) -> Drawing:
    """The figure: the mean of each line at each x, whiskers from the least to the largest run.

    Where there are proven lower bounds they are a dashed line under the first panel's curves. Cost O(R) for R rows.
    """
    figure = FIGURES[name]
    lines = sorted({tuple(values) for values in rows[list(figure.lines)].itertuples(index=False)}, key=str)
    colours = {line: TOPIC_COLOURS[place % len(TOPIC_COLOURS)] for place, line in enumerate(lines)}
    marks = {line: _MARKERS[place % len(_MARKERS)] for place, line in enumerate(lines)}
    handles = [
        Line2D(
            [], [], color=colours[line], marker=marks[line], markersize=3, linewidth=1, label=name_of_line(figure, line)
        )
        for line in lines
    ]
    if bounds is not None and not bounds.empty:
        handles.append(Line2D([], [], color="#222222", linestyle="--", linewidth=1, label="proven lower bound"))
    with styled():
        page, axes = panels(len(figure.panels), handles)
        for place, (panel, (column, label)) in enumerate(zip(axes, figure.panels, strict=True)):
            for line in lines:
                mine = rows[(rows[list(figure.lines)] == list(line)).all(axis=1) & rows[column].notna()]
                _curve(panel, figure, mine, column, colours[line], marks[line], rows)
            if place == 0 and bounds is not None and not bounds.empty:
                bound = _least_bounds(figure, bounds, rows)
                panel.plot(bound.index.to_numpy(float), bound.to_numpy(), "--", color="#222222", linewidth=1)
            panel.set_xlabel(figure.x[1])
            panel.set_ylabel(label)
            panel.set_ylim(bottom=0)
            if figure.x[0] == "p":
                panel.set_xscale("log")
                plain_ticks(panel.xaxis, [1, 5, 20, 100, 800])
        caption = f"{name}: {', '.join(label for _, label in figure.panels)} against {figure.x[1]}."
        return drawing(page, name.replace(".", "-"), caption)


def _curve(
    panel: Axes, figure: PaperFigure, mine: pd.DataFrame, column: str, colour: str, mark: str, rows: pd.DataFrame
) -> None:
    if mine.empty:
        return
    if mine["method"].iloc[0] in figure.flat:
        along = rows[figure.x[0]].dropna()
        panel.hlines(mine[column].mean(), along.min(), along.max(), color=colour, linewidth=1)
        return
    points = mine.groupby(figure.x[0])[column].agg(["mean", "min", "max"])
    x, mean = points.index.to_numpy(float), points["mean"].to_numpy(float)
    whiskers = [mean - points["min"].to_numpy(float), points["max"].to_numpy(float) - mean]
    panel.errorbar(x, mean, yerr=whiskers, color=colour, marker=mark, markersize=3, linewidth=1, elinewidth=0.5)


def _least_bounds(figure: PaperFigure, bounds: pd.DataFrame, rows: pd.DataFrame) -> pd.Series:
    """The least proven bound at each x, on the scale of the first panel; the same at all where x is an option."""
    lower = bounds["lower_bound"].astype(float)
    scaled = 2 * lower / bounds["nodes"] if figure.bound == "min-tco" else lower
    if bounds[figure.x[0]].isna().all():
        return pd.Series(scaled.min(), index=sorted(rows[figure.x[0]].dropna().unique()))
    return scaled.groupby(bounds[figure.x[0]]).min()


def _bounds(name: str, quick: bool) -> list[Experiment]:
    """The lower bounds of a figure's first seed at each point, on instances of up to 1000 nodes."""
    problem = FIGURES[name].bound if name in FIGURES else ""
    if not problem:
        return []
    first = {(recipe.workload, recipe.parameters): recipe for recipe in reversed(GRIDS[name](quick).recipes)}
    small = [recipe for recipe in first.values() if int(dict(recipe.parameters)["nodes"]) <= _BOUND_NODES]
    wanted = tuple(type(recipe)(**{**vars(recipe), "family": f"{name} bound"}) for recipe in small)
    return [Experiment(wanted, (runs(problem, "lp-bound", time_limit=_BOUND_SECONDS[quick]),))] if wanted else []


def _table_of(name: str, rows: pd.DataFrame, bounds: pd.DataFrame | None) -> pd.DataFrame:
    if name in TABLES:
        ours, published = TABLES[name].means(rows), TABLES[name].published
        return pd.DataFrame({"figure": key, "ours": ours[key], "published": published.get(key)} for key in ours)
    figure = FIGURES[name]
    keys = [*figure.lines, figure.x[0]]
    columns = [column for column, _ in figure.panels]
    table = rows.groupby(keys, dropna=False)[columns].mean().reset_index()
    table["runs"] = rows.groupby(keys, dropna=False).size().to_numpy()
    if bounds is not None and not bounds.empty:
        table["proven bound"] = table[figure.x[0]].map(_least_bounds(figure, bounds, rows))
    return table


def _shown(name: str, table: pd.DataFrame) -> Table:
    published = FIGURES[name].published if name in FIGURES else ""
    title = f"{name}" + (f" (published: {published})" if published else "")
    shown = Table(*map(str, table.columns), title=title, title_justify="left")
    for values in table.itertuples(index=False):
        shown.add_row(*(f"{value:.4g}" if isinstance(value, float) else str(value) for value in values))
    return shown
