"""Cost reduction ratios of content heuristics against size and core price (Zhao and Wu, Figures 9 and 10)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from .style import QUIET, Drawing, Style, curve, curve_legend, drawing, method_styles, panels, plain_ticks, styled

_FIGURES = {
    "users": (
        "content-crr-by-users",
        "users",
        "Cost reduction ratio against the number of users",
        "one access-to-core ratio",
    ),
    "access_to_core": (
        "content-crr-by-core-price",
        "access-to-core price ratio",
        "Cost reduction ratio against the ratio of the mean access price to the mean core price",
        "one number of users",
    ),
}


def content_drawings(reductions: pd.DataFrame) -> list[Drawing]:
    """The figures whose horizontal axis the study varies.

    Parameters
    ----------
    reductions : DataFrame
        The ratios (`reduction_table`).
    """
    return [one for along in _FIGURES if (one := _along(reductions, along)) is not None]


def _along(reductions: pd.DataFrame, along: str) -> Drawing | None:
    fixed = "access_to_core" if along == "users" else "users"
    # Of several values of the other parameter: the one with most points, then the largest size or the ratio nearest 1.
    counts = reductions.groupby(fixed)[along].nunique()
    if counts.empty or counts.max() < 2:
        return None
    most = counts[counts == counts.max()].index.to_numpy(dtype=np.float64)
    kept = most[np.argmin(np.abs(np.log(most)))] if fixed == "access_to_core" else most.max()
    shown = reductions[reductions[fixed] == kept]
    styles = method_styles(
        shown.assign(method=shown["variant"].str.split().str[0], label=shown["variant"], exact=False)
    )
    name, label, caption, single = _FIGURES[along]
    parts = list(shown.groupby(["problem", "family"], sort=False))
    several = shown["family"].nunique() > 1
    with styled():
        figure, grid = panels(len(parts), curve_legend(styles))
        for axes, ((problem, family), part) in zip(grid, parts, strict=True):
            _curves(axes, part, along, styles)
            axes.set(
                title=f"{problem}, {family}" if several else problem,
                xlabel=label,
                ylabel="random's cost ÷ cost",
            )
        caption = (
            f"{caption}, at {single} ({kept:,g}): the cost of random assignment ÷ the method's on the same instance, "
            "the mean over instances with its 95% confidence interval. Above 1 is better than random."
        )
        return drawing(figure, name, caption)


def _curves(axes: Axes, here: pd.DataFrame, along: str, styles: Mapping[str, Style]) -> None:
    axes.set_xscale("log")
    ticks = sorted(here[along].unique().tolist())
    plain_ticks(axes.xaxis, ticks)
    axes.axhline(1, color=QUIET, linewidth=0.6, zorder=1)
    for variant, style in styles.items():
        mine = here[here["variant"] == variant].sort_values(along)
        half = (mine["high"] - mine["crr"]).fillna(0.0)
        curve(axes, mine[along], mine["crr"], half, style)
