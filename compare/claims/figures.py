"""The papers' figures and tables as rows of data: grid, axes, curves, and the published values as marks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd

from ..figures.style import Drawing, FigureOptions, styled
from ..intervals import mean_interval
from .rows import Part


@dataclass(frozen=True)
class Curve:
    """A curve: the mean over the instances at each x of the rows of a query, with its interval.

    With `over`, the numbers are divided by those of that query on the same instance ("2D-ODA ÷ GM").
    """

    label: str
    where: str
    over: str = ""


@dataclass(frozen=True)
class Panel:
    """A panel of a figure: the column of y with its label, and published values by label and x, or one for every x.

    The label of marks is that of the curve of which they are, or what the paper says of all ("at most"). `curves`, if
    any, stand in place of the figure's.
    """

    column: str
    label: str
    marks: Mapping[str, Mapping[str, float] | float] = field(default_factory=dict)
    curves: tuple[Curve, ...] = ()


@dataclass(frozen=True)
class Figure:
    """A figure of a paper, as the paper drew it; `name` is that of the claim (``P3.F10``).

    `x` is a column and its label, logarithmic if `log`; `curves` are the paper's own, and `more` has further panels on
    demand (``--all``): the curves of other laws, rules for ties or readings, by title. The `form` ``bars`` has a group
    of bars for each value of x; `prepare` adds columns to the rows.
    """

    name: str
    grid: str
    x: tuple[str, str]
    panels: tuple[Panel, ...]
    curves: tuple[Curve, ...]
    more: Mapping[str, tuple[Curve, ...]] = field(default_factory=dict)
    form: Literal["line", "step", "bars"] = "line"
    log: bool = False
    prepare: Callable[[pd.DataFrame], pd.DataFrame] = lambda rows: rows


@dataclass(frozen=True)
class PaperTable:
    """A table of a paper: each printed number as a part (`Part.name`, `Part.published`) on the rows of a query.

    `marked` names the printed numbers that the paper itself contradicts, with the reason.
    """

    name: str
    grid: str
    parts: tuple[Part, ...]
    where: str = "ties == 'lowest'"
    marked: Mapping[str, str] = field(default_factory=dict)
    prepare: Callable[[pd.DataFrame], pd.DataFrame] = lambda rows: rows


def points_of(figure: Figure, rows: pd.DataFrame, *, every: bool = False) -> pd.DataFrame:
    """The points of a figure's curves and its published marks, a row each: curve, panel, x, y, low, high, published.

    The figure is first; `every` adds its further panels. Cost O(R) for R rows.
    """
    rows = figure.prepare(rows)
    titled = {"": figure.curves, **(figure.more if every else {})}
    points: list[dict[str, Any]] = []
    for title, curves in titled.items():
        for panel in (one for one in figure.panels if not (title and one.curves)):
            name = ": ".join(filter(None, (title, panel.label)))
            for curve in panel.curves or curves:
                points += ({"panel": name, **one} for one in _curve(figure, panel.column, curve, rows))
            for label, marks in panel.marks.items() if not title else ():
                here = {"panel": name, "curve": label, "published": True}
                each = marks if isinstance(marks, Mapping) else dict.fromkeys(rows[figure.x[0]].unique(), marks)
                points += ({**here, "x": float(x), "y": y, "low": np.nan, "high": np.nan} for x, y in each.items())
    return pd.DataFrame(points)


def _curve(figure: Figure, column: str, curve: Curve, rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """The mean over the instances at each x with its interval."""

    def each(query: str) -> pd.Series:
        own = rows.query(query)
        return own[own[column].notna()].groupby([figure.x[0], "instance"])[column].mean()

    values = each(curve.where)
    if curve.over:
        values = (values / each(curve.over)).dropna()
    for x, sample in values.groupby(level=0):
        y = mean_interval(sample)
        yield {"curve": curve.label, "x": x, "y": y.mean, "low": y.low, "high": y.high, "n": y.n, "published": False}


def draw(figure: Figure, points: pd.DataFrame) -> Drawing:
    """Draw a figure: solid curves with shaded intervals, published values as marks, and the legend inside the page."""
    from ..figures.curves import Axis, curves

    labels = list(dict.fromkeys(points["panel"]))
    alone = len(labels) == 1
    shown = points.drop(columns="panel") if alone else points
    axes = Axis(figure.x[1], log=figure.log), Axis(labels[0] if alone else "", zero=True)
    caption = f"{figure.name}: {', '.join(labels)} against {figure.x[1]}; marks are the paper's values."
    with styled(FigureOptions(formats=("pdf", "svg", "png"))):
        return curves(shown, *axes, name=figure.name.replace(".", "-"), caption=caption, form=figure.form)


def comparison_of(table: PaperTable, rows: pd.DataFrame) -> pd.DataFrame:
    """Every printed number of a table beside ours with its interval; what the paper contradicts itself is marked."""
    rows = table.prepare(rows).query(table.where)
    found = []
    for part in table.parts:
        number = part.number(rows)
        ours = {} if number is None else {"ours": number.mean, "low": number.low, "high": number.high, "n": number.n}
        found.append(
            {"quantity": part.name, "published": part.published, **ours, "remark": table.marked.get(part.name)}
        )
    known = {part.name for part in table.parts}
    found += [{"quantity": name, "remark": why} for name, why in table.marked.items() if name not in known]
    return pd.DataFrame(found)
