"""The part of a report about content-based overlays (P4): cost reduction ratios, and the cost of each routing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from ...instances.content.files import CONTENT
from ...instances.contract.catalogue import PROBLEMS
from ...instances.contract.result import Status
from ..figures.charts import content_charts
from . import cells
from .cells import Column, plain_table, table
from .page import Part

BASELINE = "random-assignment"
_CONFIDENCE = 0.95
_SHAPE = ["problem", "family", "users", "brokers", "channels", "access_to_core", "variant"]
_REDUCTIONS = (
    *(
        Column("problem"),
        Column("family"),
        *(Column(name, write=cells.count) for name in ("users", "brokers", "channels")),
    ),
    *(Column("access_to_core", "access ÷ core price", cells.number), Column("variant", "method")),
    *(Column("instances", write=cells.count), Column("crr", "cost reduction", cells.ratio)),
    *(Column("interval", "95% interval", format), Column("seconds", "mean time", cells.seconds)),
)


def content_part(rows: pd.DataFrame, keep: Callable[[str, pd.DataFrame], str]) -> Part | None:
    """The part, or None if the study has no content runs.

    Parameters
    ----------
    rows : DataFrame
        The runs of the kind ``content`` (`judged_runs`).
    keep : callable
        Adds a table as a CSV file under a name and returns the name.
    """
    if rows.empty:
        return None
    runs = content_runs(rows)
    reductions, routings = reduction_table(runs), routing_table(runs)
    ends = [f"{cells.ratio(low)} to {cells.ratio(high)}" for low, high in reductions[["low", "high"]].to_numpy()]
    shown = reductions.assign(
        interval=[end if np.isfinite(low) else "–" for end, low in zip(ends, reductions["low"], strict=True)]
    )
    ratios = dict.fromkeys(("core", "smallest", "largest", "total"), cells.ratio)
    tables = [
        (
            "Cost reduction ratio",
            "The cost of random assignment ÷ the method's on the same instance (Zhao and Wu 2011, P4, §VI.B): mean "
            "over instances with its 95% confidence interval.",
            table(shown, _REDUCTIONS, keep("content-cost-reduction", reductions)),
        ),
        (
            "Cost of a routing for equal assignments",
            "Core cost and total cost ÷ those of mst, over assignments that a method gave for both.",
            plain_table(routings, keep("content-routings", routings), {**ratios, "assignments": cells.count}),
        ),
    ]
    given = [(title, sentence, one) for title, sentence, one in tables if one.lines]
    return Part(CONTENT.name, "Content-based overlays", given, content_charts(reductions))


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
    prices = runs["recipe_fields"].map(lambda recipe: recipe.get("parameters", {}).get("access_to_core"))
    runs["access_to_core"] = prices.astype(np.float64)
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
    means = grouped.agg(
        instances=("crr", "size"), crr=("crr", "mean"), spread=("crr", "std"), seconds=("seconds", "mean")
    )
    half = stdtrit(means["instances"] - 1, (1 + _CONFIDENCE) / 2) * means["spread"] / np.sqrt(means["instances"])
    means.insert(2, "low", means["crr"] - half)
    means.insert(3, "high", means["crr"] + half)
    return means.drop(columns="spread").reset_index()


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
    means = others.groupby(["problem", "variant"], sort=False).agg(
        assignments=("core", "size"),
        core=("core", "mean"),
        smallest=("core", "min"),
        largest=("core", "max"),
        total=("total", "mean"),
    )
    return means.reset_index()
