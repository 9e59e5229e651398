"""Tables of content-based overlays: cost reduction ratios, and the cost of each routing."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from ...instances.contract.catalogue import PROBLEMS
from ...instances.contract.result import Status

BASELINE = "random-assignment"
_CONFIDENCE = 0.95
_SHAPE = ["problem", "family", "users", "brokers", "channels", "access_to_core", "variant"]


def content_runs(rows: pd.DataFrame) -> pd.DataFrame:
    """The runs on content instances, each with the baseline on its instance.

    Parameters
    ----------
    rows : DataFrame
        The runs of the kind ``content``, as in the store.

    Returns
    -------
    DataFrame
        The rows with a value, and: access_to_core (from the recipe, or NaN), crr (the mean cost of random assignment on
        the instance ÷ the run's).
    """
    runs = rows[rows["value"].notna() & (rows["status"] != Status.FAILED)].copy()
    recipes = runs["recipe"].map(lambda text: json.loads(text).get("parameters", {}).get("access_to_core"))
    runs["access_to_core"] = recipes.astype(np.float64)
    pair = ["problem", "instance"]
    baseline = runs[runs["method"] == BASELINE].groupby(pair)["value"].mean().rename("baseline")
    runs = runs.join(baseline, on=pair)
    runs["crr"] = _quotient(runs["baseline"], runs["value"])
    order = {name: index for index, name in enumerate(PROBLEMS)}
    return runs.sort_values(
        [*_SHAPE, "instance", "seed", "key"],
        key=lambda column: column.map(order) if column.name == "problem" else column,
        ignore_index=True,
    )


def _quotient(above: pd.Series[float], below: pd.Series[float]) -> pd.Series[float]:
    return (above / below.where(below > 0)).mask((above == 0) & (below == 0), 1.0)


def reduction_table(runs: pd.DataFrame) -> pd.DataFrame:
    """Cost reduction ratios (Zhao and Wu, §VI.B) by problem, family, size, access-to-core ratio and method.

    Returns
    -------
    DataFrame
        The grouping columns, instances, crr (the mean over instances of the mean over runs), low and high (the 95%
        confidence interval by Student's t; NaN for a single instance) and seconds (mean).
    """
    compared = runs[runs["crr"].notna() & (runs["method"] != BASELINE)]
    each = compared.groupby([*_SHAPE, "instance"], dropna=False)[["crr", "seconds"]].mean()
    grouped = each.groupby(level=_SHAPE, dropna=False, sort=False)
    table = grouped.agg(
        instances=("crr", "size"), crr=("crr", "mean"), spread=("crr", "std"), seconds=("seconds", "mean")
    )
    half = stdtrit(table["instances"] - 1, (1 + _CONFIDENCE) / 2) * table["spread"] / np.sqrt(table["instances"])
    table.insert(2, "low", table["crr"] - half)
    table.insert(3, "high", table["crr"] + half)
    return table.drop(columns="spread").reset_index()


def routing_table(runs: pd.DataFrame) -> pd.DataFrame:
    """The core cost of each routing relative to ``mst``, over assignments that a method gave for both.

    Returns
    -------
    DataFrame
        problem, variant, assignments, core (the mean of core cost ÷ that of mst), total (the same with access cost),
        smallest and largest (of core).
    """
    given = runs[runs["answer"].notna()]
    assigned = given.assign(
        assignment=[np.asarray(answer[: int(answer[0]) + 1], dtype=np.int32).tobytes() for answer in given["answer"]]
    )
    same = ["instance", "variant", "assignment"]
    distinct = assigned.drop_duplicates(["problem", *same])
    base = distinct.loc[distinct["problem"] == "content-mst", [*same, "core", "value"]]
    others = distinct[distinct["problem"] != "content-mst"].merge(base, on=same, suffixes=("", "_mst"))
    others = others.assign(
        core=_quotient(others["core"], others["core_mst"]), total=_quotient(others["value"], others["value_mst"])
    )
    table = others.groupby(["problem", "variant"], sort=False).agg(
        assignments=("core", "size"),
        core=("core", "mean"),
        smallest=("core", "min"),
        largest=("core", "max"),
        total=("total", "mean"),
    )
    return table.reset_index()
