"""Soft links: messages against the best bound by size, pure forwarders against the tree alone by fanout."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from .style import QUIET, Drawing, Style, curve, curve_legend, drawing, method_styles, panels, plain_ticks, styled

_MOST_TICKS = 10
_OVER_TIME = (
    ("yield", "deliveries ÷ messages", "Yield"),
    ("deliveries", "deliveries a second", "Throughput"),
    ("messages", "messages a second", "Traffic"),
    ("hops", "hops to a delivery", "Path length"),
    ("delay_ms", "ms to a delivery", "Delay"),
    ("control_bytes", "bytes a second", "Control messages"),
)


def broker_drawings(runs: pd.DataFrame) -> list[Drawing]:
    """The figures whose horizontal axis the study varies.

    Parameters
    ----------
    runs : DataFrame
        The runs (`broker_runs`).
    """
    heuristic = runs[~runs["exact"].astype(bool)].assign(label=lambda own: own["variant"], percent=100 * runs["fewer"])
    drawn = [
        _drawing(
            heuristic[heuristic["bounded"]],
            ("brokers", "brokers"),
            ("ratio", "messages ÷ best bound"),
            "soft-links-ratio-by-brokers",
            "Messages ÷ the best proven bound against the number of brokers: means over instances, whiskers from the "
            "smallest to the largest value. 1 is optimal.",
        ),
        _drawing(
            heuristic[~heuristic["bounded"]],
            ("fanout", "fanout"),
            ("percent", "% fewer pure forwarders"),
            "soft-links-forwarders-by-fanout",
            "Reduction of pure forwarders against strategy S0 (the tree alone), by fanout: means over instances, "
            "whiskers from the smallest to the largest value.",
        ),
    ]
    return [one for one in drawn if one is not None]


def system_drawings(series: pd.DataFrame) -> list[Drawing]:
    """Measures of the system over time, one figure each; none without such runs.

    Parameters
    ----------
    series : DataFrame
        A row for each run and bin of time: family, label, method, exact, seconds and the measures.
    """
    if series.empty:
        return []
    drawn = [
        _drawing(
            series,
            ("seconds", "seconds"),
            (measure, axis),
            f"system-{measure.replace('_', '-')}-over-time",
            f"{what} in the system over time: means over instances, whiskers from the smallest to the largest value.",
        )
        for measure, axis, what in _OVER_TIME
    ]
    return [one for one in drawn if one is not None]


def _drawing(runs: pd.DataFrame, x: tuple[str, str], y: tuple[str, str], name: str, caption: str) -> Drawing | None:
    shown = runs[runs[x[0]].notna() & runs[y[0]].notna()]
    if shown.empty or shown[x[0]].nunique() < 2:
        return None
    styles = method_styles(shown)
    with styled():
        parts = list(shown.groupby("family", sort=False))
        figure, grid = panels(len(parts), curve_legend(styles))
        for axes, (family, part) in zip(grid, parts, strict=True):
            for label, style in styles.items():
                _curve(axes, part[part["label"] == label], x[0], y[0], style)
            if y[0] == "ratio":
                axes.axhline(1, color=QUIET, linewidth=0.6, zorder=1)
            axes.set(title=family, xlabel=x[1], ylabel=y[1])
            places = sorted(part[x[0]].unique().tolist())
            plain_ticks(axes.xaxis, places[:: -(-len(places) // _MOST_TICKS)])
        return drawing(figure, name, caption)


def _curve(axes: Axes, mine: pd.DataFrame, x: str, y: str, style: Style) -> None:
    if mine.empty:
        return
    points = mine.groupby(x)[y].agg(["mean", "min", "max"])
    mean = points["mean"]
    errors = [(mean - points["min"]).to_numpy(float), (points["max"] - mean).to_numpy(float)]
    curve(axes, points.index.to_numpy(float), mean.to_numpy(float), errors, style)
