"""Charts in panels: curves with intervals, published marks, dots and bars, as one specification (Vega-Lite by Altair).

The specification is what a page shows with tooltips, and what files are written from.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from textwrap import wrap
from typing import Any, Literal, NamedTuple

import altair as alt
import numpy as np
import pandas as pd
from matplotlib.markers import MarkerStyle
from matplotlib.path import Path as Outline

from ...instances.contract.terms import said
from ..studies.latex import called
from .style import INK, QUIET, TICKS, TITLE, Drawing, FigureOptions, Style, current_options, drawing, rank_styles

_PANEL_WIDTH, _PANEL_HEIGHT, _COLUMNS = 150, 118, 3  # points, and panels side by side
_LEAST_PANEL = 117  # points at a font size of 7
_HANDLE, _CHARACTER = 20, 0.6  # of a legend: points, and a letter's width as a share of the font size
_MOST_TICKS = 8
_DODGE = 2.2  # points, from the interval of a curve to that of the next
_DATA = ("values", "datasets")  # of a specification
_SHOWN = (*_DATA, "title", "domain", "sort")
_TIME = "datum.value < 1 ? format(datum.value * 1000, '~g') + ' ms' : format(datum.value, ',~g') + ' s'"
_PLAIN = "format(datum.value, ',.9~g')"


class Axis(NamedTuple):
    """An axis of every panel: logarithmic, from 0 on, with ticks such as ``10 ms`` (unit ``s``)."""

    title: str
    log: bool = False
    zero: bool = False
    unit: Literal["", "s"] = ""


def curves(
    points: pd.DataFrame,
    x: Axis,
    y: Axis,
    *,
    name: str,
    caption: str = "",
    styles: Mapping[str, Style] | None = None,
    form: Literal["line", "step", "bars"] = "line",
    shaded: bool = True,
    rule: float | None = None,
) -> Drawing:
    """Draw curves in panels: lines through means with their intervals, and published values as hollow marks.

    `points` has a row a point: curve (its name, as in the legend), x (numbers, or words in their order) and y; if there
    are any, low and high (the interval, NaN for none), panel (its title; panels stand in the order of their rows) and
    published (True for a value from a paper: a hollow diamond in the colour of its curve). `styles` are by the names of
    curves, by default a colour for each (`rank_styles`); intervals are areas if `shaded`, else bars; `rule` is where a
    line goes across. The files of the drawing have the formats of the options (`styled`), each with the legend inside
    the page.
    """
    names = list(dict.fromkeys(points["curve"]))
    chosen = rank_styles(names) if styles is None else {name: styles[name] for name in styles if name in set(names)}
    if form == "line" and not shaded:
        points = dodged(points, chosen, log=x.log)
    layers = curve_layers(points, x, y, chosen, form=form, shaded=shaded)
    return drawing(panels([*across(rule), *layers], points, chosen), name, caption)


def dodged(points: pd.DataFrame, curves: Iterable[str], *, log: bool) -> pd.DataFrame:
    """The points with `at`, their x moved a little by their curve, so that intervals do not cover each other."""
    if "low" not in points or points["low"].isna().all() or not pd.api.types.is_numeric_dtype(points["x"]):
        return points
    order, parts, points = list(curves), [], points.reset_index(drop=True)
    panel = points["panel"] if "panel" in points else pd.Series("", points.index)
    for _, own in points.groupby(panel, sort=False):
        along = np.log(own["x"]) if log else own["x"]
        rank = {name: place for place, name in enumerate(sorted(own["curve"].unique(), key=order.index))}
        xs = np.unique(along)
        apart = min(_DODGE / _PANEL_WIDTH * np.ptp(xs), 0.6 * np.diff(xs).min() / len(rank)) if len(xs) > 1 else 0.0
        at = along + apart * (own["curve"].map(rank) - (len(rank) - 1) / 2)
        parts.append(np.exp(at) if log else at)
    return points.assign(at=pd.concat(parts))


def across(*values: float | None) -> list[alt.Chart]:
    """The layers of quiet lines across at these values, none for None."""
    quiet = alt.Chart().transform_aggregate(points="count()").mark_rule(color=QUIET, strokeWidth=0.6)
    return [quiet.encode(y=alt.datum(value)) for value in values if value is not None]


def curve_layers(
    points: pd.DataFrame,
    x: Axis,
    y: Axis,
    styles: Mapping[str, Style],
    *,
    form: Literal["line", "step", "bars"] = "line",
    shaded: bool = False,
) -> list[alt.Chart]:
    """The layers of `curves` for `panels`."""
    published = bool(points.get("published", pd.Series(False)).any())
    legend: dict[str, Any] = {"symbolType": "stroke", "symbolStrokeWidth": 1.2} if form == "step" else {}
    along = x_channel(x, points["x"], "at" if "at" in points else "x", few=form != "step")
    given = {"x": along, "y": y_channel(y), "color": colours(styles, **legend)}
    own = alt.Chart().transform_filter("!datum.published") if published else alt.Chart()
    tooltip = [
        alt.Tooltip(name) for name in ("curve:N", "x:N", "y:Q", "low:Q", "high:Q") if name.split(":")[0] in points
    ]
    if form == "bars":
        given["xOffset"] = alt.XOffset("curve:N", sort=list(styles))
    layers = []
    if "low" in points and points["low"].notna().any():
        ends = {**given, "y": y_channel(y, "low"), "y2": "high:Q"}
        ranged = own.transform_filter("isValid(datum.low)")
        shape = ranged.mark_area(opacity=0.18) if shaded and form != "bars" else ranged.mark_rule(strokeWidth=0.6)
        layers.append(shape.encode(**ends))
    if form == "bars":
        layers.insert(0, own.mark_bar().encode(**given, tooltip=tooltip))
    else:
        line = own.mark_line(strokeWidth=1, interpolate="step-after" if form == "step" else "linear")
        layers.append(line.encode(**given, strokeDash=dash(styles)))
    if form == "line":
        layers.append(
            own.mark_point(filled=True, size=13, opacity=1).encode(**given, shape=shapes(styles), tooltip=tooltip)
        )
    if published:
        marks = alt.Chart().transform_filter("datum.published").transform_calculate(hollow="'published'")
        shape = marks.mark_point(shape="diamond", size=26, strokeWidth=0.9, filled=False)
        layers.append(shape.encode(**given, opacity=hollow("published", "diamond"), tooltip=tooltip))
    return layers


def panels(
    layers: Sequence[alt.Chart],
    points: pd.DataFrame,
    entries: Iterable[str],
    *,
    size: tuple[float, float] = (_PANEL_WIDTH, _PANEL_HEIGHT),
    most: int = _COLUMNS,
    ticks: Callable[[list[float]], list[float]] = sorted,
) -> dict[str, Any]:
    """The specification of layers in a grid of panels, one for each value of ``panel``, with the legend below.

    The layers have no data of their own: all have the `points`, without NaN. The texts of the legend (`entries`) decide
    how many stand side by side. `size` is a panel's width and height in points; the width is fitted where the options
    have one. At most `most` panels stand side by side, each with axes of its own. Where the x axis has its `values`,
    they are the `ticks` of the values of the panel.
    """
    options = current_options()
    points = points.assign(
        **{name: [_called(each) for each in points[name]] for name in points.select_dtypes("object")}
    )
    given = points["panel"] if "panel" in points else pd.Series("", points.index)
    fitting = max(1, int(options.width * 72 / (_LEAST_PANEL * options.enlarged))) if options.width else _COLUMNS
    columns = min(given.nunique(), most, fitting)
    width, height = size
    if options.width:
        width = max(40.0, options.width * 72 / columns - 40 * options.enlarged)
        height = size[1] * max(0.75, min(1.0, width / size[0]))
    letters = int(width / (0.66 * TITLE * options.font_size))
    table = points.assign(panel=given.map(lambda title: "\n".join(wrap(title, letters))))
    titles = list(dict.fromkeys(table["panel"]))
    title = alt.Header(
        title=None, labelExpr="split(datum.label, '\\n')", labelAnchor="start", labelFontWeight="bold", labelPadding=4
    )
    chart = (
        alt.layer(*layers)
        .properties(width=width, height=height)
        .facet(
            facet=alt.Facet("panel:N", sort=titles, header=title),
            columns=columns,
            data=alt.NamedData("points"),
            align="each",
        )
        .resolve_scale(x="independent", y="independent", xOffset="independent")
    )
    spec: dict[str, Any] = _called(chart.to_dict(validate=False))
    spec["data"] = {"values": records(table)}
    own = {
        panel: ticks(list(set(each)))
        for panel, each in table.dropna(subset=["x"]).groupby("panel")["x"].agg(list).items()
    }
    for layer in spec["spec"]["layer"]:
        axis = layer["encoding"].get("x", {}).get("axis", {})
        if "values" in axis and len(own) > 1:  # those of the panel, which is the parent of its axes
            axis["values"] = {"expr": f"({json.dumps(own)})[parent.panel]"}
    return spec | {
        "config": _config(options, entries, columns * (width + 40)),
        "usermeta": {"width": 72 * options.width},
    }


def concatenated(charts: Sequence[Any], columns: int, entries: Iterable[str]) -> dict[str, Any]:
    """The specification of charts that have their data side by side in `columns`, with one legend below."""
    options = current_options()
    joined = alt.concat(*charts, columns=columns, align="each").resolve_scale(color="shared", shape="shared")
    config = _config(options, entries, 72 * options.width or columns * 220.0)
    spec: dict[str, Any] = _called(joined.to_dict(validate=False))
    return spec | {"config": config, "usermeta": {"width": 72 * options.width}}


def data(table: pd.DataFrame) -> Any:
    """Rows as the data of one layer."""
    return alt.InlineData(values=records(table))


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows as JSON has them: None for what is missing or not finite."""
    rows: list[dict[str, Any]] = json.loads(table.to_json(orient="records", double_precision=9))
    return rows


def _called(given: Any, at: str = "title") -> Any:
    """A text, or the texts that a specification shows, with the names of the options."""
    if not (names := current_options().names):
        return given
    if isinstance(given, dict):
        return {name: _called(each, at if at in _DATA else name) for name, each in given.items()}
    if isinstance(given, list):
        return [_called(each, at) for each in given]
    return called(given, names) if isinstance(given, str) and at in _SHOWN else given


def _config(options: FigureOptions, entries: Iterable[str], width: float) -> dict[str, Any]:
    size, longest = options.font_size, max((len(_called(str(entry))) for entry in entries), default=1)
    side_by_side = max(1, int(width / (_HANDLE + _CHARACTER * size * longest)))
    text: dict[str, Any] = {
        "titleFontSize": size,
        "labelFontSize": TICKS * size,
        "titleFontWeight": "normal",
        "labelLimit": 0,
    }
    return {
        "font": options.measured,
        "background": "white",
        "view": {"stroke": None},
        **{mark: {"aria": False} for mark in ("rule", "tick", "area", "text")},  # points and lines say it all
        "padding": 3,
        "axis": {**text, "titleColor": INK, "labelColor": INK, "domainColor": QUIET, "tickColor": QUIET, "tickSize": 3,
                 "gridColor": "#E4E4E4", "gridWidth": 0.5, "domainWidth": 0.6, "tickWidth": 0.6, "titlePadding": 3},
        "axisX": {"grid": False, "labelAngle": 0, "labelOverlap": "greedy", "labelSeparation": 4},
        "title": {"fontSize": TITLE * size, "anchor": "start", "color": INK, "offset": 6},
        "header": {"labelFontSize": TITLE * size, "labelColor": INK},
        "facet": {"spacing": 14},
        "legend": {"orient": "bottom", "columns": side_by_side, "labelFontSize": size, "labelLimit": 0,
                   "symbolLimit": 0, "symbolSize": 28, "rowPadding": 1, "columnPadding": 8, "offset": 6,
                   "labelColor": INK, "layout": {"bottom": {"anchor": "start", "direction": "vertical", "margin": 2}}},
    }  # fmt: skip


def x_channel(x: Axis, values: pd.Series[Any], field: str = "x", *, few: bool = True) -> alt.X:
    """The horizontal channel: words stand in their order; numbers have a tick each where there are `few` of them."""
    if not pd.api.types.is_numeric_dtype(values) or pd.api.types.is_bool_dtype(values):
        words = list(dict.fromkeys(values))
        crowded = len("".join(map(str, words))) * _CHARACTER * current_options().font_size > 0.7 * _PANEL_WIDTH
        readable = alt.Axis(labelAngle=-40 if crowded else 0, labelOverlap=False)
        return alt.X(f"{field}:O", title=said(x.title), sort=words, axis=readable)
    distinct = sorted(values.dropna().unique().tolist())
    ticks: dict[str, Any] = {"values": distinct} if few and len(distinct) <= _MOST_TICKS and not x.unit else {}
    return alt.X(f"{field}:Q", title=said(x.title), scale=scale(x), axis=_axis(x, **({"tickCount": 5} | ticks)))


def y_channel(y: Axis, field: str = "y", **ticks: Any) -> alt.Y:
    """The vertical channel."""
    return alt.Y(f"{field}:Q", title=said(y.title), scale=scale(y), axis=_axis(y, **({"tickCount": 5} | ticks)))


def scale(axis: Axis) -> alt.Scale:
    """The scale of an axis."""
    given: dict[str, Any] = {"type": "log"} if axis.log else {"type": "linear", "zero": axis.zero}
    return alt.Scale(**given, nice=False, padding=6)


def _axis(axis: Axis, **given: Any) -> alt.Axis:
    powers = {"values": [10.0**power for power in range(-5, 6)]} if axis.log else {}
    # An axis rounds numbers in its format to the step of its ticks: 200 would be "2e+2". An expression does not.
    formats: Mapping[str, dict[str, Any]] = {"s": {"labelExpr": _TIME, **powers}, "": {"labelExpr": _PLAIN}}
    return alt.Axis(**formats[axis.unit], **given)


def colours(styles: Mapping[str, Style], *, shown: bool = True, **legend: Any) -> alt.Color:
    """The channel of colours, with the legend of the names of `styles` if it is `shown`."""
    known = alt.Scale(domain=list(styles), range=[style.colour for style in styles.values()])
    look = {"symbolOpacity": 1, "symbolStrokeWidth": 0, **legend}
    several = shown and (len(styles) > 1 or legend)
    return alt.Color("curve:N", scale=known, legend=alt.Legend(title=None, **look) if several else None)


def shapes(styles: Mapping[str, Style]) -> alt.Shape:
    """The channel of markers."""
    known = alt.Scale(domain=list(styles), range=[outline(style.marker) for style in styles.values()])
    return alt.Shape("curve:N", scale=known, legend=alt.Legend(title=None) if len(styles) > 1 else None)


def hollow(text: str, shape: str = "circle") -> alt.Opacity:
    """The channel of a layer of hollow marks: a legend that says `text` of them."""
    look: dict[str, Any] = {
        "symbolType": shape,
        "symbolFillColor": "transparent",
        "symbolStrokeColor": QUIET,
        "symbolOpacity": 1,
    }
    known = alt.Scale(type="ordinal", domain=[text], range=[1])
    return alt.Opacity("hollow:N", scale=known, legend=alt.Legend(title=None, **look))


def dash(styles: Mapping[str, Style]) -> alt.StrokeDash:
    """The channel of dashes; in a legend of colours with strokes they are dashed too."""
    known = alt.Scale(domain=list(styles), range=[list(style.dashes) for style in styles.values()])
    return alt.StrokeDash("curve:N", scale=known, legend=alt.Legend(title=None) if len(styles) > 1 else None)


def outline(marker: str) -> str:
    """A marker of matplotlib as an SVG path in a square from −1 to 1."""
    style = MarkerStyle(marker)
    path = style.get_path().transformed(style.get_transform())
    size = max(float(np.abs(path.vertices).max()), 1e-9)
    letters = {Outline.MOVETO: "M", Outline.LINETO: "L", Outline.CURVE3: "Q", Outline.CURVE4: "C"}
    steps = []
    for points, code in path.iter_segments(simplify=False):
        if code == Outline.CLOSEPOLY:
            steps.append("Z")
        else:
            pairs = points.reshape(-1, 2) / size * (1, -1)  # SVG's y points down
            steps.append(letters[code] + " ".join(f"{x:g},{y:g}" for x, y in pairs.round(2) + 0.0))
    return "".join(steps)
