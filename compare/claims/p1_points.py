"""P1's curves as samples: a number of each instance, paired between methods, and intervals at each point."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping

import pandas as pd

from .claim import Interval, Verdict
from .evidence import all_of, mean_of, over_ties, with_ties

POINT = ("workload", "p_topics", "p_subscriptions", "p_nodes")
_SYMBOLS = {"workload": "", "p_topics": "|T| = ", "p_subscriptions": "|T_v| = ", "p_nodes": "|V| = "}

Judge = Callable[[Interval], Verdict]


def by_rule(rows: pd.DataFrame, measure: str) -> pd.DataFrame:
    """A measure with a row for each instance, by `POINT` and its number there, and a column for each method and rule.

    The rule is that of ties for GM, the order of nodes for ring-per-topic. Seeds are averaged.
    """
    own = with_ties(rows[rows["status"] != "failed"])
    orders = [json.loads(options).get("order") for options in own["options"]]
    own = own.assign(rule=[order or ties for order, ties in zip(orders, own["ties"], strict=True)])
    every = own.drop_duplicates("instance").sort_values("instance")
    number = dict(zip(every["instance"], every.groupby(list(POINT)).cumcount(), strict=True))
    own["number"] = own["instance"].map(number)
    return own.pivot_table(measure, [*POINT, "number"], ["method", "rule"], "mean").dropna()


def at_points(
    values: Mapping[str, pd.Series], name: str, claimed: float | None = None, *, families: int = 1
) -> dict[str, list[Interval]]:
    """An interval at each point under each rule, all of which hold together at 95%; `values` are by `POINT`.

    `families` is the number of such sets of intervals that one verdict uses.
    """
    groups = {
        rule: list(series.groupby([series.index.get_level_values(level) for level in _levels(series)]))
        for rule, series in values.items()
    }
    together = families * sum(map(len, groups.values()))
    varied = {level for series in values.values() for level in _levels(series) if series.index.unique(level).size > 1}
    found: dict[str, list[Interval]] = {}
    for rule, each in groups.items():
        for key, sample in each:
            levels = _levels(sample)
            at = dict(zip(levels, key, strict=True))
            shown = [f"{_SYMBOLS[level]}{at[level]}" for level in levels if level in varied]
            of = ", ".join([name, f"ties {rule}", *shown]) if rule else ", ".join([name, *shown])
            found.setdefault(rule, []).append(mean_of(of, sample, claimed, together=together))
    return found


def over_rules(found: Mapping[str, Iterable[Interval]], judge: Judge) -> tuple[Verdict, str]:
    """The verdict on all intervals, over the rules for ties, and a sentence where these differ."""
    return over_ties({rule: all_of(map(judge, intervals)) for rule, intervals in found.items()})


def in_all(found: Mapping[str, Iterable[Interval]]) -> list[Interval]:
    """The intervals of all rules."""
    return [interval for intervals in found.values() for interval in intervals]


def range_of(found: Mapping[str, Iterable[Interval]], form: str = ".2f") -> str:
    """The smallest and the largest mean: ``2.97 to 3.66``."""
    means = [interval.mean for interval in in_all(found)]
    return f"{min(means):{form}} to {max(means):{form}}"


def _levels(series: pd.Series) -> list[str]:
    return [name for name in series.index.names if name in POINT]
