"""The statistics of evidence: intervals of means, verdicts from intervals, scopes from the rows of runs."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from scipy import stats

from ..catalogue import METHODS
from .claim import Finding, Interval, Scope, Verdict

NO_CHOICE = ("no choice is open",)
"""The rules for ties of a finding that no rule for ties can change, in a claim about a method that has them."""
_LEVEL = 0.05
_GRAVEST = (Verdict.REFUTED, Verdict.OPEN, Verdict.ORDER, Verdict.SOME_TIES, Verdict.HOLDS)
SYMBOLS = {
    "workload": "law",
    "p_nodes": "|V|",
    "p_topics": "|T|",
    "p_subscriptions": "|T_v|",
    "p_users": "|U|",
    "p_brokers": "|B|",
    "p_metric": "prices",
    "p_access_to_core": "access ÷ core",
    "p_fanout": "fanout",
    "p_rate": "publications a minute",
    "p_publications": "publications",
    "p_uplink": "uplink",
}
"""The symbols of the columns whose values are sizes."""


def mean_of(of: str, sample: Iterable[float], claimed: float | None = None, *, together: int = 1) -> Interval:
    """A mean with Student's 95% interval.

    Parameters
    ----------
    sample : iterable of float
        One number an instance: average over ties' seeds and repeats first, since instances are what is sampled.
    together : int
        The number of intervals that a verdict uses at once: each is widened so that all hold together at 95%
        (Bonferroni).
    """
    numbers = np.asarray(list(sample), float)
    mean, count = float(numbers.mean()), len(numbers)
    if count < 2:
        return Interval(of, mean, None, None, count, claimed)
    error = float(numbers.std(ddof=1)) / math.sqrt(count)
    half = float(stats.t.ppf(1 - _LEVEL / (2 * together), count - 1)) * error
    return Interval(of, mean, mean - half, mean + half, count, claimed)


def share_of(of: str, hits: int, trials: int, claimed: float | None = None, *, together: int = 1) -> Interval:
    """A share of trials with Wilson's 95% interval."""
    found = stats.binomtest(hits, trials).proportion_ci(1 - _LEVEL / together, "wilson")
    return Interval(of, hits / trials, float(found.low), float(found.high), trials, claimed)


def at_most(interval: Interval, limit: float) -> Verdict:
    """``holds`` if the whole interval is at most the limit, ``refuted`` if it lies above it, otherwise open."""
    return within(interval, -math.inf, limit)


def at_least(interval: Interval, limit: float) -> Verdict:
    """The same for a lower limit."""
    return within(interval, limit, math.inf)


def above(interval: Interval, limit: float = 0.0) -> Verdict:
    """``holds`` if the whole interval lies above the limit, ``refuted`` if no part of it does, otherwise open."""
    if interval.low is None or interval.high is None:
        return Verdict.OPEN
    if interval.low > limit:
        return Verdict.HOLDS
    return Verdict.REFUTED if interval.high <= limit else Verdict.OPEN


def within(interval: Interval, low: float, high: float) -> Verdict:
    """``holds`` if the whole interval lies between the limits, ``refuted`` if it lies outside, otherwise open.

    A single sample leaves every claim open.
    """
    if interval.low is None or interval.high is None:
        return Verdict.OPEN
    if low <= interval.low and interval.high <= high:
        return Verdict.HOLDS
    return Verdict.REFUTED if interval.high < low or interval.low > high else Verdict.OPEN


def all_of(verdicts: Iterable[Verdict]) -> Verdict:
    """The gravest of some verdicts: refuted, open here, order holds, holds for some ties, holds."""
    return min(verdicts, key=_GRAVEST.index)


def over_ties(by_rule: Mapping[str, Verdict]) -> tuple[Verdict, str]:
    """One verdict from those under each tie-breaking rule, and a sentence where they differ ("" otherwise).

    ``holds for some ties`` if a rule is refuted where another holds; otherwise the gravest.
    """
    if len(set(by_rule.values())) == 1:
        return next(iter(by_rule.values())), ""
    shown = "; ".join(f"ties {rule}: {verdict}" for rule, verdict in by_rule.items())
    some = {Verdict.HOLDS, Verdict.REFUTED} <= set(by_rule.values())
    return (Verdict.SOME_TIES if some else all_of(by_rule.values())), f" The rules differ: {shown}."


def with_ties(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with the column ``ties``: the rule of each run, "lowest" where its options name none."""
    return rows.assign(ties=[json.loads(options).get("ties", "lowest") for options in rows["options"]])


def per_instance(rows: pd.DataFrame, measure: str, *by: str) -> pd.DataFrame:
    """A measure by instance (rows) and the last of these columns, say the method; means over seeds and repeats.

    Runs that failed are left out, and so are instances that lack a column: the rest is paired.
    """
    done = rows[rows["status"] != "failed"]
    table = done.pivot_table(index=["instance", *by[:-1]], columns=by[-1], values=measure, aggfunc="mean")
    return table.dropna()


def scope_of(
    rows: pd.DataFrame,
    claimed: Mapping[str, Sequence[float | str]] | None = None,
    *,
    reading: str = "",
    symbols: Mapping[str, str] = SYMBOLS,
) -> Scope:
    """The scope of runs on a grid: their sizes from the columns, instances a point, rules for ties and seeds.

    Parameters
    ----------
    claimed : mapping, optional
        The sizes that the paper names, by symbol (see `Scope`).
    symbols : mapping
        The symbol of each column that has sizes; columns that the rows lack are left out.
    """
    columns = [column for column in symbols if column in rows and rows[column].notna().any()]
    sizes = {symbols[column]: tuple(sorted(rows[column].dropna().unique().tolist())) for column in columns}
    instances = rows.groupby(columns, dropna=False)["instance"].nunique() if columns else pd.Series([len(rows)])
    named = {name for name, method in METHODS.items() if any(option.name == "ties" for option in method.options)}
    runs = with_ties(rows[rows["method"].isin(named)])
    random = runs[runs["ties"] == "random"]
    seeds = random.groupby(["instance", "problem", "variant"])["key"].nunique().max() if len(random) else 1
    ties = sorted(set(runs["ties"]), key=("lowest", "highest", "random").index) if len(runs) else _orders(rows)
    return Scope(
        sizes,
        {symbol: tuple(values) for symbol, values in (claimed or {}).items()},
        samples=int(instances.min()),
        points=len(instances),
        ties=tuple(ties),
        seeds=int(seeds),
        reading=reading,
    )


def _orders(rows: pd.DataFrame) -> list[str]:
    """The orders of nodes, the one choice that ring-per-topic leaves open."""
    return sorted({f"rings by {order}" for one in rows["options"] if (order := json.loads(one).get("order"))})


def finding_from(
    rows: pd.DataFrame,
    claimed: Mapping[str, Sequence[float | str]] | None,
    subject: str,
    verdict: Verdict,
    evidence: str,
    intervals: Iterable[Interval] = (),
    *,
    reading: str = "",
    symbols: Mapping[str, str] = SYMBOLS,
) -> Finding:
    """A finding from these rows; see `scope_of` for `claimed` and `symbols`."""
    scope = scope_of(rows, claimed, reading=reading, symbols=symbols)
    return Finding(subject, verdict, evidence.strip(), len(rows), scope=scope, intervals=tuple(intervals))
