"""The figures of P4, and its Table I as ratios."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from ...models.content.exact import access_bound
from ..report.content_tables import BASELINE, content_runs
from ..studies.recipe import Recipe
from .figure import PaperFigure, PaperTable
from .grids_p4 import CONTENT_METHODS, METRICS

UPPER_BOUND = "proven upper bound"
_REDUCTION = (("crr", "cost reduction ratio"),)
_SLOWEST = CONTENT_METHODS[-1]
_SECONDS = dict(zip(CONTENT_METHODS, (0.9, 91.445, 100.235, 179.654), strict=True))


def with_reductions(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with cost reduction ratios, and for each instance a row with a proven upper bound on the ratio."""
    runs = content_runs(rows)
    return pd.concat([runs[runs["method"] != BASELINE], pd.DataFrame(_upper_bounds(runs))], ignore_index=True)


def with_reductions_by_metric(rows: pd.DataFrame) -> pd.DataFrame:
    """The same, with a column for each price metric."""
    reduced = with_reductions(rows)
    return reduced.assign(**{name: reduced["crr"].where(reduced["p_metric"] == name) for name in METRICS})


def _upper_bounds(runs: pd.DataFrame) -> Iterator[dict[str, Any]]:
    for own in runs[runs["method"] == BASELINE].to_dict("records"):
        bound = access_bound(Recipe.from_json(own["recipe"]).make())
        yield {**own, "method": UPPER_BOUND, "crr": own["value"] / bound}


def time_ratios(rows: pd.DataFrame) -> dict[str, float]:
    """Each method's mean time ÷ that of Steiner-tree mixing."""
    means = rows.groupby("method")["seconds"].mean()
    return {method: float(means[method] / means[_SLOWEST]) for method in CONTENT_METHODS}


FIGURES_P4: Mapping[str, PaperFigure] = {
    "P4.F9": PaperFigure(
        ("p_users", "number of users |U|"),
        tuple((name, f"cost reduction, {name}") for name in METRICS),
        ("method",),
        published="mixing > clustering > greedy packing > 1",
        measured=with_reductions_by_metric,
    ),
    "P4.F10": PaperFigure(
        ("p_access_to_core", "access-to-core price ratio"),
        _REDUCTION,
        ("method",),
        published="the three converge, mixing hardly moves",
        measured=with_reductions,
    ),
}
# Seconds of another machine are not comparable: the table holds shares of its largest number.
TABLES_P4: Mapping[str, PaperTable] = {
    "P4.TI": PaperTable(time_ratios, {method: seconds / _SECONDS[_SLOWEST] for method, seconds in _SECONDS.items()})
}
