"""The part of a report about content-based overlays (P4): cost reduction ratios, and the cost of each routing."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ...instances.content.files import CONTENT
from ...instances.contract.result import Status
from ..figures.charts import content_charts
from ..intervals import mean_interval
from ..studies.bounds import sorted_by
from .tables import Domain

BASELINE = "random-assignment"
_SHAPE = ["problem", "family", "users", "brokers", "channels", "access_to_core", "variant"]


def content_runs(rows: pd.DataFrame) -> pd.DataFrame:
    """The runs on content instances with a value, each with the baseline on its instance.

    Adds access_to_core (from the recipe, or NaN) and crr (the mean cost of random assignment on the instance ÷ the
    run's).
    """
    runs = rows[rows["value"].notna() & (rows["status"] != Status.FAILED)].copy()
    prices = runs["recipe_fields"].map(lambda recipe: recipe.get("parameters", {}).get("access_to_core"))
    runs["access_to_core"] = prices.astype(np.float64)
    pair = ["problem", "instance"]
    baseline = runs[runs["method"] == BASELINE].groupby(pair)["value"].mean().rename("baseline")
    runs = runs.join(baseline, on=pair)
    runs["crr"] = _quotient(runs["baseline"], runs["value"])
    return sorted_by(runs, *_SHAPE, "instance", "seed", "key")


def _quotient(above: pd.Series[float], below: pd.Series[float]) -> pd.Series[float]:
    return (above / below.where(below > 0)).mask((above == 0) & (below == 0), 1.0)


def reduction_table(runs: pd.DataFrame) -> pd.DataFrame:
    """Cost reduction ratios (Zhao and Wu, §VI.B) by problem, family, size, access-to-core ratio and method.

    Then instances, crr (the mean over instances of the mean over runs), low and high (its 95% confidence interval by
    Student's t; NaN for a single instance) and seconds (mean).
    """
    compared = runs[runs["crr"].notna() & (runs["method"] != BASELINE)]
    each = compared.groupby([*_SHAPE, "instance"], dropna=False)[["crr", "seconds"]].mean()
    found = []
    for shape, own in each.groupby(level=_SHAPE, dropna=False, sort=False):
        one = mean_interval(own["crr"])
        found.append((*shape, one.n, one.mean, one.low, one.high, own["seconds"].mean()))
    table = pd.DataFrame(found, columns=[*_SHAPE, "instances", "crr", "low", "high", "seconds"])
    return table.astype({"low": np.float64, "high": np.float64})


def routing_table(runs: pd.DataFrame) -> pd.DataFrame:
    """The core cost of each routing relative to ``mst``, over assignments that a method gave for both.

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


DOMAIN = Domain(
    CONTENT.name,
    "Content-based overlays",
    content_runs,
    (
        (
            "cost-reduction",
            "Cost reduction ratio",
            "The cost of random assignment ÷ the method's on the same instance (Zhao and Wu 2011, P4, §VI.B): mean "
            "over instances with its 95% confidence interval.",
            reduction_table,
        ),
        (
            "routings",
            "Cost of a routing for equal assignments",
            "Core cost and total cost ÷ those of mst, over assignments that a method gave for both.",
            routing_table,
        ),
    ),
    content_charts,
)
