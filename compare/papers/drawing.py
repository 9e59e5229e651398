"""Drawing a figure of a paper from our runs of its grid."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from scipy.special import stdtrit

from ..figures.style import QUIET, TOPIC_COLOURS, Drawing, drawing, panels, plain_ticks, styled
from .figure import PaperFigure
from .figures import FIGURES, name_of_line
from .published import PUBLISHED, PublishedCurve

_MARKERS = "os^vD<>Xph*d"
_CONFIDENCE = 0.95
_DASHES = ("--", ":", "-.")
_BOUND_STYLE: Mapping[str, Any] = {"color": "#222222", "linestyle": "--", "linewidth": 1}


def draw(name: str, rows: pd.DataFrame, bounds: pd.DataFrame | None = None) -> Drawing:
    """The figure: the mean of each line at each x over instances, with its 95% interval by Student's t.

    Numbers that the paper gives are lines in the same axes (`PUBLISHED`). Proven lower bounds, if given, are a dashed
    line in the first panel. Cost O(R) for R rows.
    """
    figure = FIGURES[name]
    lines = sorted({tuple(values) for values in rows[list(figure.lines)].itertuples(index=False)}, key=str)
    styles: dict[Any, Mapping[str, Any]] = {
        line: {
            "color": TOPIC_COLOURS[rank % len(TOPIC_COLOURS)],
            "marker": _MARKERS[rank % len(_MARKERS)],
            "markersize": 3,
            "linewidth": 1,
        }
        for rank, line in enumerate(lines)
    }
    handles = [Line2D([], [], label=name_of_line(figure, line), **styles[line]) for line in lines]
    bound = None if bounds is None or bounds.empty else least_bounds(figure, bounds, rows)
    if bound is not None:
        handles.append(Line2D([], [], label="proven lower bound", **_BOUND_STYLE))
    published: dict[PublishedCurve, dict[str, Any]] = {
        one: {"color": QUIET, "linestyle": dashes, "linewidth": 1}
        for one, dashes in zip(PUBLISHED.get(name, ()), cycle(_DASHES))
    }
    handles += [Line2D([], [], label=f"published: {one.label}", **style) for one, style in published.items()]
    with styled():
        page, axes = panels(len(figure.panels), handles)
        for number, (panel, (column, label)) in enumerate(zip(axes, figure.panels, strict=True)):
            for line in lines:
                of_line = rows[(rows[list(figure.lines)] == list(line)).all(axis=1) & rows[column].notna()]
                if not of_line.empty and of_line["method"].iloc[0] in figure.flat:
                    along = rows[figure.x[0]].dropna()
                    level, colour = of_line[column].mean(), styles[line]["color"]
                    panel.hlines(level, along.min(), along.max(), color=colour, linewidth=1)
                elif not of_line.empty:
                    _curve(panel, figure, of_line, column, styles[line])
            for one, style in published.items():
                if one.column == column and (curve := curve_of(one, figure, rows)) is not None:
                    panel.plot(curve.index.to_numpy(float), curve.to_numpy(), **style)
            if number == 0 and bound is not None:
                panel.plot(bound.index.to_numpy(float), bound.to_numpy(), **_BOUND_STYLE)
            panel.set_xlabel(figure.x[1])
            panel.set_ylabel(label)
            panel.set_ylim(bottom=0)
            if figure.x[0] == "p":
                panel.set_xscale("log")
                plain_ticks(panel.xaxis, [1, 5, 20, 100, 800])
        caption = f"{name}: {', '.join(label for _, label in figure.panels)} against {figure.x[1]}."
        return drawing(page, name.replace(".", "-"), caption)


def _curve(panel: Axes, figure: PaperFigure, rows: pd.DataFrame, column: str, style: Mapping[str, Any]) -> None:
    each = rows.groupby([figure.x[0], "recipe"])[column].mean()
    points = each.groupby(level=0).agg(["mean", "std", "size"])
    half = stdtrit(points["size"] - 1, (1 + _CONFIDENCE) / 2) * points["std"] / np.sqrt(points["size"])
    x, mean = points.index.to_numpy(float), points["mean"].to_numpy(float)
    panel.errorbar(x, mean, yerr=np.nan_to_num(half), elinewidth=0.5, **style)


def curve_of(one: PublishedCurve, figure: PaperFigure, rows: pd.DataFrame) -> pd.Series | None:
    """A published curve at every x of our runs; None without runs of the method that it multiplies."""
    along = sorted(rows[figure.x[0]].dropna().unique())
    if not one.base:
        return pd.Series(one.plus, index=along)
    base = rows[rows["method"] == one.base]
    if base.empty:
        return None
    means = base.groupby(figure.x[0])[one.column].mean()
    if means.empty:  # x is an option that the base lacks
        means = pd.Series(base[one.column].mean(), index=along)
    return means * one.times + one.plus


def least_bounds(figure: PaperFigure, bounds: pd.DataFrame, rows: pd.DataFrame) -> pd.Series:
    """The least proven bound at each x, on the scale of the first panel; the same at all where x is an option."""
    lower = bounds["lower_bound"].astype(float)
    scaled = 2 * lower / bounds["nodes"] if figure.bound == "min-tco" else lower
    if bounds[figure.x[0]].isna().all():
        return pd.Series(scaled.min(), index=sorted(rows[figure.x[0]].dropna().unique()))
    return scaled.groupby(bounds[figure.x[0]]).min()
