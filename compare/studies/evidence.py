"""How far each lower bound of a study is proven: certified, agreed or claimed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ...instances.contract.result import Result, Status
from ..catalogue import METHODS

if TYPE_CHECKING:
    import pandas as pd

CERTIFIED, AGREED, CLAIMED = "certified", "agreed", "claimed"
LEVELS = (CERTIFIED, AGREED, CLAIMED)
"""From the strongest on; "" where nothing is proven."""

VERDICT = "proof_check"
"""The counter with the checker's sentence on a proof; `CERTIFIED` is the counter with the bound that it proves."""

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
    import pandas as pd

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


def level_of(result: Result[Any]) -> str:
    """The level of the lower bound (or infeasibility) of a single run."""
    if result.status in (Status.FAILED, Status.SKIPPED):
        return ""
    bound = np.inf if result.status is Status.INFEASIBLE else result.lower_bound
    certified = result.counters.get(CERTIFIED)
    if isinstance(certified, (int, float)) and bound is not None and bound <= _above(certified):
        return CERTIFIED
    return "" if bound is None else CLAIMED


def weakest(levels: list[str]) -> str:
    """The weakest of some levels; "" without any."""
    return max(levels, key=lambda level: LEVELS.index(level) if level else len(LEVELS), default="")


def refusals(rows: pd.DataFrame) -> Iterator[tuple[str, str, str, str]]:
    """The runs whose proof the checker has found wrong: key, problem, instance and the checker's sentence."""
    chosen = rows[rows["counters"].str.contains(f'"{VERDICT}": "wrong', regex=False)]
    for key, problem, instance, counters in zip(
        *(chosen[name] for name in ("key", "problem", "instance", "counters")), strict=True
    ):
        yield key, problem, instance, str(json.loads(counters)[VERDICT])


def _engine(method: str) -> str:
    return (METHODS[method].engine if method in METHODS else "") or method


def _certified(counters: str) -> float:
    if f'"{CERTIFIED}": ' not in counters:
        return np.nan
    bound = json.loads(counters).get(CERTIFIED)
    return float(bound) if isinstance(bound, (int, float)) else np.nan


def _above(values: Any) -> Any:
    """Numbers, each plus the tolerance."""
    return values + _TOLERANCE * np.maximum(1, np.where(np.isinf(values), 1, np.abs(values)))
