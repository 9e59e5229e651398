"""How far each lower bound of a study is proven: certified, agreed or claimed."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

from ...instances.result import Status
from ..catalogue import METHODS

CERTIFIED, AGREED, CLAIMED = "certified", "agreed", "claimed"
LEVELS = (CERTIFIED, AGREED, CLAIMED)
"""From the strongest on; "" where nothing is proven."""

_PAIR = ["instance", "problem"]
_TOLERANCE = 1e-6


def levels(rows: pd.DataFrame) -> pd.Series[str]:
    """The level of each row's lower bound (or infeasibility), by all rows of its instance and problem.

    ``certified``: a proof or certificate was checked that proves this bound or a higher one. ``agreed``: methods of two
    engines have each proven it or a higher one. ``claimed``: one has. "": the row has none. Where some run's bound lies
    above some run's value, one of the engines is wrong, and none of them counts as agreeing.

    Parameters
    ----------
    rows : DataFrame
        One row a run: instance, problem, method, status, value, lower_bound, counters.

    Notes
    -----
    Two methods are independent unless one names the other as its engine (:attr:`.Method.engine`). Cost O(R log R).
    """
    over = rows["status"].isin([Status.FAILED, Status.SKIPPED])
    bound = pd.to_numeric(rows["lower_bound"]).astype(np.float64).mask(over)
    bound = bound.mask(rows["status"] == Status.INFEASIBLE, np.inf)
    known = rows[_PAIR].assign(
        bound=bound,
        value=pd.to_numeric(rows["value"]).astype(np.float64).mask(over),
        certified=rows["counters"].map(_certified).astype(np.float64),
        engine=rows["method"].map({name: _engine(name) for name in rows["method"].unique()}),
    )
    pairs = known.groupby(_PAIR, sort=False)
    contradicted = pairs["bound"].transform("max") > _above(pairs["value"].transform("min"))
    by_engine = known.groupby([*_PAIR, "engine"], sort=False)["bound"].max().dropna()
    second = by_engine.sort_values(ascending=False).groupby(level=_PAIR, sort=False).nth(1).droplevel("engine")
    agreed = pd.Series(second.reindex(pd.MultiIndex.from_frame(known[_PAIR])).to_numpy(np.float64), rows.index).mask(
        contradicted
    )
    found = pd.Series(np.where(bound.notna(), CLAIMED, ""), rows.index)
    found = found.mask(bound <= _above(agreed), AGREED)
    return found.mask(bound <= _above(pairs["certified"].transform("max")), CERTIFIED)


def weakest(levels: list[str]) -> str:
    """The weakest of some levels; "" without any."""
    return max(levels, key=lambda level: LEVELS.index(level) if level else len(LEVELS), default="")


def _engine(method: str) -> str:
    return (METHODS[method].engine if method in METHODS else "") or method


def _certified(counters: str) -> float:
    if f'"{CERTIFIED}": ' not in counters:
        return np.nan
    bound = json.loads(counters).get(CERTIFIED)
    return float(bound) if isinstance(bound, (int, float)) else np.nan


def _above(values: pd.Series[float]) -> pd.Series[float]:
    return values + _TOLERANCE * values.abs().clip(lower=1).replace(np.inf, 1)
