"""Evidence over networks for the claims of P5: measures by network, rankings of strategies, scopes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import pandas as pd

from ..papers.bench import Bench
from ..papers.figures_p5 import NAMES, minutes
from ..papers.grids import SIZES
from .claim import Finding, Interval, Verdict
from .evidence import above, all_of, finding_from, mean_of, within

Judged = tuple[Verdict, list[Interval]]
SYMBOLS = {
    "workload": "data",
    "p_brokers": "brokers",
    "p_fanout": "fanout",
    "p_rate": "publications a minute",
    "minutes": "minutes",
    "p_uplink": "uplink",
}
_SYMBOLS = {**SYMBOLS, "service": "µs a match"}
_MODEL = "one balanced tree of degree 3; links chosen on the publications that are counted"
_UNIT = "3,600 publications a minute; §7 prints a second, see P5.S7.3"
_LOW_RATE = ("P5.T2", "P5.F9", "P5.F10", "P5.F11")


def by_network(rows: pd.DataFrame, measure: str, *by: str) -> pd.DataFrame:
    """A measure with a row for each network, by the seed that networks of every shape share, and columns `by`.

    Raises
    ------
    ValueError
        If a run failed.
    """
    seeds = [json.loads(recipe)["seed"] for recipe in rows["recipe"]]
    table = rows.assign(network=seeds).pivot_table(index="network", columns=list(by), values=measure)
    if (rows["status"] == "failed").any() or table.isna().any(axis=None):
        raise ValueError("runs failed")
    return table


def ranked(table: pd.DataFrame, order: Sequence[str], of: str, *, together: int) -> Judged:
    """Whether each strategy of an order has less than the one before it, from the paired differences."""
    differences = [
        mean_of(f"{of}, {before.upper()} − {after.upper()}", table[before] - table[after], together=together)
        for before, after in pairwise(order)
    ]
    return all_of(map(above, differences)), differences


def shown(by_strategy: Mapping[str, float], form: str = ".2f") -> str:
    """Values by strategy as text."""
    return ", ".join(f"{s.upper()} {value:{form}}" for s, value in by_strategy.items())


def near_published(intervals: Iterable[Interval], margin: float, *, relative: bool = False) -> Verdict:
    """Whether all intervals lie within a margin of their published numbers."""
    limits = [(one, margin * (abs(one.claimed or 0.0) if relative else 1.0)) for one in intervals]
    return all_of(within(one, (one.claimed or 0.0) - each, (one.claimed or 0.0) + each) for one, each in limits)


def order_or_numbers(ranking: Verdict, numbers: Verdict) -> Verdict:
    """``order holds`` where the ranking holds and the numbers are refuted; open here if they are."""
    if ranking is not Verdict.HOLDS:
        return ranking
    return Verdict.ORDER if numbers is Verdict.REFUTED else numbers


def finding(
    bench: Bench,
    figure: str,
    subject: str,
    verdict: Verdict,
    evidence: str,
    intervals: Sequence[Interval] = (),
    *,
    rows: pd.DataFrame | None = None,
    reading: str = "",
) -> Finding:
    """A finding from the runs of a grid, or from some of them; its reading says what the networks have in common."""
    own = bench.rows if rows is None else rows
    options = [json.loads(text) for text in own["options"]]
    periods = max(given.get("periods", 1) for given in options)
    repeated = f"a short trace repeated up to {periods} times" if periods > 1 else ""
    unit = _UNIT if figure in _LOW_RATE else ""
    reading = "; ".join(filter(None, (reading, _MODEL, repeated, unit)))
    sized = own.assign(minutes=minutes(own), service=[given.get("service") for given in options])
    claimed = SIZES.get(figure)
    return finding_from(sized, claimed, subject, verdict, evidence, intervals, reading=reading, symbols=_SYMBOLS)


def of_data(rows: pd.DataFrame) -> Iterable[tuple[str, pd.DataFrame]]:
    """The name (sparse, dense) and the rows of each data set."""
    return ((name, rows[rows["workload"] == data]) for data, name in NAMES.items() if (rows["workload"] == data).any())
