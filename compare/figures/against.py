"""A measure against what a study varied: means with intervals, a panel a problem."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from ...instances.contract.errors import BadInput, unknown
from ...instances.contract.numbers import plain
from ..intervals import mean_interval
from ..studies.bounds import sizes_of, sorted_by
from ..studies.columns import chosen_parameters, varied
from ..studies.plot import MEASURES, Plot
from ..studies.task import without_limit
from .curves import Axis, curves
from .style import Drawing, Style, method_styles, rank_styles

_METHODS = ("variant", "label", "method")
_FEWEST = 3
_MOST_POSITIONS, _GROUPS, _CLOSE = 12, 8, 1.1
_SHORTEST, _WIDE = 1e-5, 4
_AND = ", "
_KEYS = ("problem", "panel", "curve", "x")
_STATISTICS = ("mean", "low", "high", "instances", "of_instances")


def default_plots(runs: pd.DataFrame) -> tuple[Plot, ...]:
    """For each kind of instances whose study varies one parameter only: the ratio against it."""
    bounded = runs[runs["ratio"].notna()]
    chosen = [(group, chosen_parameters(group)) for _, group in bounded.groupby("kind", sort=False)]
    plots = (Plot(names[0]) for group, names in chosen if len(names) == 1 and names[0] in varied(group))
    return tuple(dict.fromkeys(plots))


def plot_drawing(runs: pd.DataFrame, plot: Plot, table: pd.DataFrame) -> Drawing:
    """Draw a plot of runs (`judged_runs`) by its points (`plot_table`): lines through means, with 95% intervals."""
    exact = dict(zip(runs["label"], runs["exact"], strict=True))
    shown = {name: f"{name} (exact)" if exact.get(name) else name for name in table["curve"].unique()}
    points = table.rename(columns={"mean": "y"}).assign(
        panel=[_title(problem, panel) for problem, panel in zip(table["problem"], table["panel"], strict=True)],
        curve=table["curve"].map(shown),
    )
    styles = {shown[name]: style for name, style in _styles(runs, plot, table).items()}
    numbers = table["x"].dtype.kind in "if"
    wide = numbers and table["x"].min() > 0 and table["x"].max() / table["x"].min() >= _WIDE
    along = Axis(plot.x.replace("_", " "), log=bool(wide))
    title = "time" if plot.y == "time" else MEASURES[plot.y].title
    log = plot.y in ("ratio", "time")
    up = Axis(title, log=log, zero=plot.y in ("gap", "degree", "memory"), unit="s" if plot.y == "time" else "")
    given = points[["panel", "curve", "x", "y", "low", "high"]]
    rule, caption = 1.0 if plot.y == "ratio" else None, _caption(plot, table)
    return curves(given, along, up, name=plot.name, caption=caption, styles=styles, shaded=False, rule=rule)


def _title(problem: str, panel: str) -> str:
    together = panel.count(_AND) + 1
    return f"{problem}, {f'{together} families' if together > 3 else panel}" if panel else problem


def _caption(plot: Plot, table: pd.DataFrame) -> str:
    low, high = int(table["instances"].min()), int(table["instances"].max())
    what = {"ratio": "ratio of the value to the best bound", "time": "wall-clock time", "degree": "maximum degree"}
    together = [panel for panel in table["panel"].unique() if _AND in panel]
    return (
        f"{'Geometric mean' if plot.y == 'time' else 'Mean'} {what.get(plot.y, plot.y)} against "
        f"{plot.x.replace('_', ' ')}, with its 95% interval by Student's t from {_FEWEST} instances on. A point is a "
        f"mean over {low if low == high else f'{low} to {high}'} instances; points above each other are over the same "
        "ones. A method that lacks the measure on more than half of them has no point. "
        + "".join(f"{panel.count(_AND) + 1} families: {panel}. " for panel in together)
        + f"The numbers are in tables/{plot.name}.csv."
    )


def plot_table(runs: pd.DataFrame, plot: Plot) -> pd.DataFrame:
    """The points of a plot; bad input that says what there is if x does not vary, or no such group or measure exists.

    problem, panel (the families or the method that the panel is about; "" if all), curve, x, mean, low and high (the
    95% interval by Student's t, NaN below three instances), instances (of the mean) and of_instances (at this x). Means
    of times are geometric. Sizes that were not chosen are taken together where they are close (within a tenth, or an
    eighth of the runs where there are more than twelve), and x is their mean.
    """
    points = _points(runs, plot)
    found = [
        (*position, name, *_interval(values, MEASURES[plot.y].least, log=plot.y == "time"), asked)
        for position, group in points.groupby(["problem", "panel", "x"], sort=False)
        for name, values, asked in _columns(group, plot)
    ]
    if not found:
        raise BadInput(f"no method has the measure '{plot.y}' on half of the instances at any {plot.x}: choose another")
    table = pd.DataFrame(found, columns=["problem", "panel", "x", "curve", *_STATISTICS])
    return table[[*_KEYS, *_STATISTICS]]


def _columns(group: pd.DataFrame, plot: Plot) -> Iterator[tuple[str, np.ndarray[Any, np.dtype[np.float64]], int]]:
    """The measure of each curve at one position, and the number of instances that were asked.

    Curves that can be compared on the same instances have those that all have.
    """
    measured = group.set_index(["instance", "curve"])["y"].unstack("curve")
    asked = group.groupby("curve").size()
    if plot.group in _METHODS or asked.sum() > len(measured):
        asked[:] = len(measured)
        measured = measured.loc[:, measured.notna().sum() >= len(measured) / 2].dropna()
    for name in measured.columns:
        if measured[name].notna().any():
            yield str(name), measured[name].dropna().to_numpy(dtype=np.float64), int(asked[name])


def means_chart(
    runs: pd.DataFrame, x: str, y: str, *, name: str, title: str, caption: str, log: bool = False
) -> Drawing | None:
    """Means of a column over instances, a panel a problem and family, a curve a label; None where x does not vary."""
    shown = runs[runs[x].notna() & runs[y].notna()] if len(runs) else runs
    shown = shown[shown.groupby(["problem", "family"])[x].transform("nunique") > 1] if len(shown) else shown
    if shown.empty:
        return None
    several = shown.groupby("problem")["family"].transform("nunique") > 1
    shown = shown.assign(panel=shown["problem"] + (", " + shown["family"]).where(several, ""))
    each = shown.groupby(["panel", "label", x, "instance"], sort=False)[y].mean()
    least = 1.0 if y == "ratio" else -np.inf
    found = [(*at, *_interval(values.to_numpy(), least)) for at, values in each.groupby(level=[0, 1, 2], sort=False)]
    points = pd.DataFrame(found, columns=["panel", "curve", "x", "y", "low", "high", "instances"])
    order = {panel: rank for rank, panel in enumerate(shown["panel"].unique())}
    points = points.sort_values(["panel", "x"], key=lambda own: own.map(order) if own.name == "panel" else own)
    caption += f" Means over instances with their 95% intervals, from {_FEWEST} instances on."
    along, up, rule = Axis(x.replace("_", " "), log=log), Axis(title), 1.0 if y in ("ratio", "crr") else None
    return curves(points, along, up, name=name, caption=caption, styles=method_styles(shown), shaded=False, rule=rule)


def _interval(
    values: np.ndarray[Any, np.dtype[np.float64]], least: float, *, log: bool = False
) -> tuple[float, float, float, int]:
    """Mean, the ends of its interval, and the number of values; `log`: of the geometric mean."""
    found = mean_interval(np.log(values)) if log else mean_interval(values, least=least)
    low, high = (found.low, found.high) if len(values) >= _FEWEST else (np.nan, np.nan)
    ends = np.array([found.mean, low, high])
    mean, least, most = (np.exp(ends) if log else ends).tolist()
    return mean, least, most, found.n


def _points(runs: pd.DataFrame, plot: Plot) -> pd.DataFrame:
    """A row a curve and instance: problem, panel, x, curve, instance and y; only panels in which x varies."""
    columns, measure = varied(runs), MEASURES[plot.y]
    if plot.x not in columns:
        others = " or ".join(columns)
        fix = f"plot against {others}" if others else "nothing does, so there is nothing to plot against"
        raise BadInput(f"{plot.x} does not vary in this study: {fix}")
    of_methods = plot.group in _METHODS
    if not of_methods and plot.group not in columns and plot.group not in runs:
        raise unknown("group", plot.group, [*_METHODS, "family", *columns])
    labels = _without_options(runs, plot)
    groups = labels if plot.group in ("variant", "label") else columns.get(plot.group, runs.get(plot.group))
    own = runs[["family", "instance"]].assign(
        problem=[without_limit(problem, re.escape(plot.x)) for problem in runs["problem"]],
        label=labels,
        curve=groups,
        x=columns[plot.x],
        y=runs[measure.column] / measure.unit,
    )
    own = own[own["x"].notna() & own["curve"].notna() & own.groupby("problem")["y"].transform("count").gt(0)]
    own["y"] = own["y"].clip(lower=_SHORTEST) if plot.y == "time" else own["y"]
    own["curve"] = own["curve"].map(_text)
    is_size = plot.x.removeprefix("total_") in sizes_of(runs)
    own["x"] = _positions(own, chosen=plot.x in chosen_parameters(runs) or not is_size)
    own["panel"] = _families(own) if of_methods else own["label"]
    varying = own.groupby(["problem", "panel"])["x"].transform("nunique") > 1
    if not varying.any():
        raise BadInput(f"no run has the measure '{plot.y}' where {plot.x} varies: choose another")
    each = own[varying].groupby(["problem", "panel", "x", "curve", "instance"], as_index=False)["y"].mean()
    return sorted_by(each, "problem", "panel", "x")


def _text(value: object) -> str:
    return plain(value, ",") if isinstance(value, float) else str(value)


def _without_options(runs: pd.DataFrame, plot: Plot) -> pd.Series[str]:
    """The labels of the runs, without the options on the x-axis and of the curves."""
    return runs["label"].str.replace(rf" ({re.escape(plot.x)}|{re.escape(plot.group)})=[^\s,]+", "", regex=True)


def _positions(own: pd.DataFrame, *, chosen: bool) -> pd.Series[Any]:
    """The values of x as numbers or words; of numbers that are not `chosen`, the means of groups."""
    x = own["x"]
    if not x.map(lambda value: isinstance(value, (int, float)) and not isinstance(value, bool)).all():
        return x.map(_text)
    numbers = x.astype(np.float64)
    if chosen:
        return numbers
    distinct = np.unique(numbers)
    group, start = np.zeros(len(distinct)), distinct[0]
    for rank, value in enumerate(distinct):
        start = value if value > _CLOSE * start else start
        group[rank] = start
    if len(np.unique(group)) > _MOST_POSITIONS:
        taken = pd.qcut(numbers, _GROUPS, duplicates="drop", labels=False)
    else:
        taken = numbers.map(dict(zip(distinct, group, strict=True)))
    return numbers.groupby([own["problem"], taken]).transform("mean").round(1)


def _families(own: pd.DataFrame) -> pd.Series[str]:
    """The panel of each run: families of a problem with equal values of x share one; "" if there is only one."""
    shared = own.groupby(["problem", "family"])["x"].agg(lambda xs: tuple(sorted(xs.unique()))).rename("xs")
    by_panel = shared.reset_index().groupby(["problem", "xs"])["family"].agg(_AND.join).rename("panel").reset_index()
    single = by_panel.groupby("problem")["panel"].transform("size") == 1
    by_panel["panel"] = by_panel["panel"].mask(single, "")
    return (
        own.join(shared, on=["problem", "family"])
        .merge(by_panel, how="left", on=["problem", "xs"])["panel"]
        .set_axis(own.index)
    )


def _styles(runs: pd.DataFrame, plot: Plot, table: pd.DataFrame) -> dict[str, Style]:
    curves = set(table["curve"])
    if plot.group in _METHODS:
        named = runs["method"] if plot.group == "method" else _without_options(runs, plot)
        styles = method_styles(runs if set(runs["label"]) >= curves else runs.assign(label=named))
        return {name: style for name, style in styles.items() if name in curves}
    return rank_styles(table["curve"].drop_duplicates())
