"""Growth of time and memory with the size of instances, with fitted exponents."""

from __future__ import annotations

import json
from collections.abc import Mapping

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from ...instances.contract.result import Status
from .style import Drawing, Style, drawing, panels, plain_ticks, styled

SIZES = {"nodes": "nodes", "topics": "topics", "subscriptions": "topics a node"}
_MEASURES = {"seconds": ("time", "s", 1.0), "peak_memory": ("memory", "MiB", 2.0**20)}
_LEAST_SECONDS, _LEAST_BYTES = 1e-3, 2.0**20
_FEWEST = 4
_LABEL = 0.055


def growth_drawing(runs: pd.DataFrame, styles: Mapping[str, Style]) -> Drawing | None:
    """Plot the medians of time and memory against each size that a study varies, both axes logarithmic.

    Parameters
    ----------
    runs : DataFrame
        The runs with their bounds (`judged_runs`).
    styles : mapping
        The style of each label.

    Returns
    -------
    Drawing or None
        None if no method has runs at four sizes that differ in one parameter of one workload only.
    """
    fitted = growth(runs)
    if fitted.empty:
        return None
    shown = [(size, measure) for measure in _MEASURES for size in SIZES if _has(fitted, size, measure)]
    labels = [label for label in styles if label in set(fitted["label"])]
    keys = [Line2D([], [], color=styles[label].colour, marker=styles[label].marker, label=label) for label in labels]
    with styled():
        figure, grid = panels(len(shown), keys)
        for axes, (size, measure) in zip(grid, shown, strict=True):
            here = fitted[(fitted["size"] == size) & (fitted["measure"] == measure)]
            name, unit, scale = _MEASURES[measure]
            ends = []
            axes.set(xscale="log", yscale="log", title=f"{name} against {SIZES[size]}", xlabel=SIZES[size], ylabel=unit)
            for line in here.itertuples():
                style = styles[line.label]
                along, medians = np.array(line.sizes), np.array(line.medians) / scale
                axes.plot(along, medians, style.marker, color=style.colour, markersize=3)
                fit = np.exp(line.intercept + line.exponent * np.log(along)) / scale
                axes.plot(along, fit, color=style.colour, linestyle=style.dashes, linewidth=0.9)
                ends.append((float(fit[-1]), float(along[-1]), f"{line.exponent:.2f}", style.colour))
            plain_ticks(axes.xaxis, sorted({size for line in here.itertuples() for size in line.sizes}))
            axes.margins(x=0.2, y=0.1)
            low, high = axes.get_ylim()
            ends.sort()
            heights = _spread([np.log(end / low) / np.log(high / low) for end, *_ in ends])
            for height, (_, right, exponent, colour) in zip(heights, ends, strict=True):
                axes.annotate(
                    exponent,
                    (right, height),
                    xycoords=axes.get_xaxis_transform(),
                    xytext=(5, 0),
                    textcoords="offset points",
                    fontsize=6 / 7 * mpl.rcParams["font.size"],
                    color=colour,
                    va="center",
                )
            plain_ticks(axes.yaxis, [10.0**power for power in range(-4, 7) if low <= 10.0**power <= high])
        caption = (
            "Median wall-clock time of the method, and median memory above that of its process at the start, against "
            "each size that the study varies, with workload and other sizes fixed; both axes logarithmic. A line is "
            "the least-squares fit of a power of the size, and the number at its end is the exponent. Medians below a "
            "millisecond or a mebibyte, and runs that failed or reached a time limit, are left out."
        )
        return drawing(figure, "growth", caption)


def growth(runs: pd.DataFrame) -> pd.DataFrame:
    """The fitted power laws.

    Returns
    -------
    DataFrame
        One row for each label, size, measure and combination of workload and other sizes with at least four sizes:
        label, size (a key of SIZES), measure (seconds or peak_memory), others (the recipe without that
        size), sizes and medians (rising in size), exponent and intercept of the fit of ln(median) to ln(size).
    """
    ended = runs[~runs["status"].isin([Status.FAILED, Status.TIME_LIMIT])]
    recipes = [json.loads(recipe) for recipe in ended["recipe"]]
    found = []
    for size in SIZES:
        varied = [recipe.get("parameters", {}).get(size) for recipe in recipes]
        others = [_without(recipe, size) for recipe in recipes]
        table = ended[["label", "problem", *_MEASURES]].assign(varied=varied, others=others).dropna(subset=["varied"])
        enough = table.groupby(["label", "problem", "others"])["varied"].transform("nunique") >= _FEWEST
        for (label, problem, rest), group in table[enough].groupby(["label", "problem", "others"]):
            for measure, least in (("seconds", _LEAST_SECONDS), ("peak_memory", _LEAST_BYTES)):
                medians = group.groupby("varied")[measure].median()
                medians = medians[medians >= least]
                if len(medians) >= _FEWEST:
                    along = np.log(medians.index.to_numpy(dtype=np.float64))
                    exponent, intercept = np.polyfit(along, np.log(medians.to_numpy(dtype=np.float64)), 1)
                    sizes, heights = tuple(medians.index.tolist()), tuple(medians.tolist())
                    found.append((label, problem, size, measure, rest, sizes, heights, exponent, intercept))
    columns = ("label", "problem", "size", "measure", "others", "sizes", "medians", "exponent", "intercept")
    return pd.DataFrame(found, columns=columns)


def _spread(heights: list[float]) -> list[float]:
    """Increasing heights (shares of the panel), moved apart so that labels do not overlap."""
    spread: list[float] = []
    for height in heights:
        spread.append(max(height, spread[-1] + _LABEL) if spread else height)
    excess = max(0.0, spread[-1] - 1) if spread else 0.0
    for i in range(len(spread) - 1, -1, -1):
        most = spread[-1] - excess if i == len(spread) - 1 else spread[i + 1] - _LABEL
        spread[i] = min(spread[i], most)
    return spread


def _without(recipe: dict[str, object], size: str) -> str:
    parameters = recipe.get("parameters", {})
    assert isinstance(parameters, dict)
    rest = {name: value for name, value in parameters.items() if name != size}
    return json.dumps([recipe.get("workload", ""), rest], sort_keys=True)


def _has(fitted: pd.DataFrame, size: str, measure: str) -> bool:
    return bool(((fitted["size"] == size) & (fitted["measure"] == measure)).any())
