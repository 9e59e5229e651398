"""The figures of P4 by their axes and lines, and its Table I."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from ...models.content.exact import capacity_bound
from ..report.content_tables import BASELINE, content_runs
from ..studies.recipe import Recipe
from .figure import PaperFigure, PaperTable
from .grids_p4 import CONTENT_METHODS, METRICS

UPPER_BOUND = "proven upper bound"
_SLOWEST = CONTENT_METHODS[-1]
_SECONDS = dict(zip(CONTENT_METHODS, (0.9, 91.445, 100.235, 179.654), strict=True))


@cache
def bound_of(recipe: str) -> float:
    """A proven lower bound on the cost of every overlay of an instance."""
    return capacity_bound(Recipe.from_json(recipe).make())


@cache
def traffic_of(recipe: str) -> float:
    """The total demand of an instance's users."""
    return float(Recipe.from_json(recipe).make().demands.sum())


def with_reductions_by_metric(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with cost reduction ratios in a column for each law of prices, the access-to-core price ratio as a power
    of two, and for each instance a row with a proven upper bound on the ratio.
    """
    runs = content_runs(rows)
    runs["log_ratio"] = np.log2(runs["access_to_core"])
    reduced = pd.concat([runs[runs["method"] != BASELINE], pd.DataFrame(_upper_bounds(runs))], ignore_index=True)
    return reduced.assign(**{name: reduced["crr"].where(reduced["p_metric"] == name) for name in METRICS})


def _upper_bounds(runs: pd.DataFrame) -> Iterator[dict[str, Any]]:
    for own in runs[runs["method"] == BASELINE].to_dict("records"):
        crr = own["value"] / bound_of(own["recipe"])
        yield {**own, "method": UPPER_BOUND, "variant": UPPER_BOUND, "crr": crr}


def time_ratios(rows: pd.DataFrame) -> dict[str, float]:
    """Each method's mean time ÷ that of Steiner-tree mixing, all with their default options."""
    means = rows[rows["variant"] == rows["method"]].groupby("method")["seconds"].mean()
    return {method: float(means[method] / means[_SLOWEST]) for method in CONTENT_METHODS}


_PANELS = tuple((name, f"cost reduction, {name}") for name in METRICS)
FIGURES_P4: Mapping[str, PaperFigure] = {
    "P4.F9": PaperFigure(
        ("p_users", "number of users |U|"),
        _PANELS,
        ("variant",),
        published="mixing > clustering > greedy packing > 1",
        measured=with_reductions_by_metric,
    ),
    "P4.F10": PaperFigure(
        ("log_ratio", "log₂ of the access-to-core price ratio"),
        _PANELS,
        ("variant",),
        published="the three converge, mixing hardly moves",
        measured=with_reductions_by_metric,
    ),
}
# Seconds of another machine are not comparable: the table holds shares of its largest number.
TABLES_P4: Mapping[str, PaperTable] = {
    "P4.TI": PaperTable(time_ratios, {method: seconds / _SECONDS[_SLOWEST] for method, seconds in _SECONDS.items()})
}
