"""The map of what is proven: nodes against topics a node, a panel a law, coloured by time to the proof or by gap."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, LogNorm
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from .style import QUIET, panels, plain_ticks, styled

LIMITS = (60.0, 600.0)
_PROVEN = ("#117733", "#88CCEE", "#332288")
_GAPS = LinearSegmentedColormap.from_list("gap", ["#F6D9A8", "#DD7733", "#7A1020"])
_LEAST, _MOST = 0.001, 0.5
_SPREAD = 0.035


def proof_map(points: pd.DataFrame) -> Figure:
    """Draw the map.

    Parameters
    ----------
    points : DataFrame
        One row an instance: law, nodes, subscriptions (topics a node), gap (0 if the optimum is proven, NaN without
        a bound), seconds (processor seconds of the run that proved it).

    Returns
    -------
    Figure
        Both axes are logarithmic. Instances of equal size lie side by side. Cost O(instances).
    """
    laws = points["law"].unique().tolist()
    texts = [f"proven in {LIMITS[0]:g} s", f"proven in {LIMITS[1]:g} s", "proven later"]
    keys = [
        *(_dot(colour, "o", text) for colour, text in zip(_PROVEN, texts, strict=True)),
        _dot(_GAPS(0.5), "s", "open: colour is the gap"),
        _dot("white", "s", "no bound"),
    ]
    with styled():
        figure, grid = panels(len(laws), keys)
        for axes, law in zip(grid, laws, strict=True):
            here = points[points["law"] == law].sort_values(["nodes", "subscriptions", "gap"])
            along = here.groupby(["nodes", "subscriptions"]).cumcount()
            of = here.groupby(["nodes", "subscriptions"])["gap"].transform("size")
            x = here["nodes"] * np.exp(_SPREAD * (along - (of - 1) / 2))
            for at, s, gap, seconds in zip(x, here["subscriptions"], here["gap"], here["seconds"], strict=True):
                colour, marker = _look(float(gap), float(seconds))
                axes.plot(at, s, marker, color=colour, markersize=4, markeredgecolor=QUIET, markeredgewidth=0.3)
            axes.set(xscale="log", yscale="log", title=law, xlabel="nodes n", ylabel="topics a node s")
            axes.margins(0.12)
            plain_ticks(axes.xaxis, _few(here["nodes"]))
            plain_ticks(axes.yaxis, _few(here["subscriptions"]))
        scale = ScalarMappable(LogNorm(100 * _LEAST, 100 * _MOST), _GAPS)
        bar = figure.colorbar(scale, ax=grid, shrink=0.8, label="gap left (%)")
        plain_ticks(bar.ax.yaxis, [0.1, 1, 10, 50])
        return figure


def _look(gap: float, seconds: float) -> tuple[object, str]:
    if math.isnan(gap):
        return "white", "s"
    if gap > 0:
        share = math.log(min(max(gap, _LEAST), _MOST) / _LEAST) / math.log(_MOST / _LEAST)
        return _GAPS(share), "s"
    return _PROVEN[sum(seconds > limit for limit in LIMITS)], "o"


def _few(sizes: pd.Series[float]) -> list[float]:
    """Sizes for the ticks, each at least 1.6 times the one before."""
    kept: list[float] = []
    for size in sorted(set(sizes.tolist())):
        if not kept or size >= 1.6 * kept[-1]:
            kept.append(size)
    return kept


def _dot(colour: object, marker: str, text: str) -> Line2D:
    edge = {"markeredgecolor": QUIET, "markeredgewidth": 0.3}
    return Line2D([], [], linestyle="none", marker=marker, color=colour, markersize=4, label=text, **edge)  # type: ignore[arg-type]
