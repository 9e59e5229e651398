"""What a study says of content-based overlays: cost reduction ratios, and what each routing costs."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
from scipy.stats import t as student

from ...instances.catalogue import PROBLEMS
from ...instances.result import Status

BASELINE = "random-assignment"
_CONFIDENCE = 0.95
_SHAPE = ["problem", "family", "users", "brokers", "channels", "access_to_core", "variant"]


def content_runs(rows: pd.DataFrame) -> pd.DataFrame:
    """The runs on content instances, each beside the baseline on its instance.

    Parameters
    ----------
    rows : DataFrame
        One row a run, as the store keeps them, of the kind ``content``.

    Returns
    -------
    DataFrame
        The rows that have a value, with: access_to_core (from the recipe; NaN where it says none), crr (the mean cost
        of random assignment on the instance ÷ the run's).
    """
    runs = rows[rows["value"].notna() & (rows["status"] != Status.FAILED)].copy()
    recipes = runs["recipe"].map(lambda text: json.loads(text).get("parameters", {}).get("access_to_core"))
    runs["access_to_core"] = recipes.astype(np.float64)
    pair = ["problem", "instance"]
    baseline = runs[runs["method"] == BASELINE].groupby(pair)["value"].mean().rename("baseline")
    runs = runs.join(baseline, on=pair)
    runs["crr"] = _quotient(runs["baseline"], runs["value"])
    order = {name: place for place, name in enumerate(PROBLEMS)}
    return runs.sort_values(
        [*_SHAPE, "instance", "seed", "key"],
        key=lambda column: column.map(order) if column.name == "problem" else column,
        ignore_index=True,
    )


def _quotient(above: pd.Series[float], below: pd.Series[float]) -> pd.Series[float]:
    return (above / below.where(below > 0)).mask((above == 0) & (below == 0), 1.0)


def reduction_table(runs: pd.DataFrame) -> pd.DataFrame:
    """Cost reduction ratios (P4 §VI.B) by problem, family, size, access-to-core ratio and method.

    Returns
    -------
    DataFrame
        The columns of the group, instances, crr (the mean over instances; of several runs on one instance, their mean
        counts), low and high (of the 95% confidence interval by Student's t; NaN for a single instance) and seconds
        (mean).
    """
    compared = runs[runs["crr"].notna() & (runs["method"] != BASELINE)]
    each = compared.groupby([*_SHAPE, "instance"], dropna=False)[["crr", "seconds"]].mean()
    grouped = each.groupby(level=_SHAPE, dropna=False, sort=False)
    table = grouped.agg(
        instances=("crr", "size"), crr=("crr", "mean"), spread=("crr", "std"), seconds=("seconds", "mean")
    )
    half = student.ppf((1 + _CONFIDENCE) / 2, table["instances"] - 1) * table["spread"] / np.sqrt(table["instances"])
    table.insert(2, "low", table["crr"] - half)
    table.insert(3, "high", table["crr"] + half)
    return table.drop(columns="spread").reset_index()


def routing_table(runs: pd.DataFrame) -> pd.DataFrame:
    """What each routing costs on the same assignments: core cost as a share of that of ``mst``.

    Assignments that a method gave for ``content-mst`` and for another routing alike are compared.

    Returns
    -------
    DataFrame
        problem, variant, assignments, core (the mean of core cost ÷ that of mst), total (the same of access and core)
        and largest and smallest (of core).
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
