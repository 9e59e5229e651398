"""P3's lemmas on running time (1, 7, 10, 13, 16), by the counted work of its own Algorithms 3 to 6."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd

from ..papers.bench import LAWS, Bench, Experiment, grid, runs
from ..papers.grids_p3 import p3_default
from .claim import Claim, Finding, Scope, Verdict, verdict_of
from .evidence import all_of, at_least, at_most, mean_of, per_instance, scope_of
from .p3_growth import slopes
from .properties import TIES

_PARTS = (2, 8, 32)
_ABOUT = 0.1
_COUNTED = "counted steps of Algorithms 3 to 6 (data=table); taking any edge of a list is one step"
_SYMBOLS = {"workload": "law", "p_nodes": "|V|", "p_topics": "|T|", "p": "p"}


def _table(ties: str) -> dict[str, Any]:
    return {"data": "table", "ties": ties}


def _greedy(quick: bool) -> Experiment:
    count = 4
    recipes = [
        recipe
        for law in LAWS
        for nodes in ((100, 200, 400) if quick else (250, 500, 1000, 2000))
        for recipe in grid("P3.L7.V", law, count, nodes=nodes, topics=100, subscriptions=10)
    ]
    recipes += [
        recipe
        for law in LAWS
        for topics in ((50, 100, 200) if quick else (100, 200, 400, 800))
        for recipe in grid(
            "P3.L7.T", law, count, nodes=150 if quick else 500, topics=topics, subscriptions=topics // 10
        )
    ]
    return Experiment(tuple(recipes), (runs("minmax-tco", *(("gm-m", _table(ties)) for ties in TIES)),))


def _divided(quick: bool) -> Experiment:
    shape = {"topics": 100, "least": 4, "most": 20}
    recipes = tuple(
        recipe
        for law in LAWS
        for nodes in ((100, 200, 400) if quick else (250, 500, 1000))
        for recipe in p3_default("P3.L10", law, 5, nodes=nodes, **shape)
    )
    methods = [
        (method, {"partitions": p, **_table(ties)})
        for method in ("dcb-m", "dcbr-m")
        for p in _PARTS
        for ties in (TIES if p == 8 else TIES[:1])
    ]
    return Experiment(recipes, (runs("minmax-tco", *methods),))


def counted(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with a column for each counter, the number of parts as ``p`` and the steps of Algorithms 3 to 6."""
    counters = pd.DataFrame([json.loads(text) for text in rows["counters"]], index=rows.index)
    parts = [int(json.loads(text).get("partitions", 1)) for text in rows["options"]]
    found = rows.drop(columns=[name for name in counters if name in rows]).join(counters)
    return found.assign(p=parts, work=counters["table_work"] - counters["table_listed"])


def _bounded(
    rows: pd.DataFrame,
    subject: str,
    formula: str,
    work: str,
    bound: Callable[[pd.DataFrame], pd.Series],
    size: str = "p_nodes",
) -> Finding:
    """Whether work ÷ bound is at most 1 in every run, and does not grow with a size.

    A tight bound has the exponent 0, which no interval can lie below: up to 0.1 counts as no growth.
    """
    rows = rows.assign(share=rows[work] / bound(rows))
    laws = rows.groupby("workload")
    growth = [
        mean_of(f"exponent of work ÷ {formula} in {_SYMBOLS[size]}, {law}", _exponents(some, size), together=3)
        for law, some in laws
    ]
    verdict = all_of([verdict_of(bool((rows["share"] <= 1).all())), *(at_most(one, _ABOUT) for one in growth)])
    grows = "does not grow" if verdict is Verdict.HOLDS else "may grow"
    text = (
        f"Work ÷ {formula} is at most {rows['share'].max():.3g}, and {grows} with {_SYMBOLS[size]} (an exponent up to "
        f"{_ABOUT} counts as no growth)."
    )
    return Finding(subject, verdict, text, len(rows), scope=_scope(rows), intervals=tuple(growth))


def _exponents(rows: pd.DataFrame, size: str) -> list[float]:
    """Of the share in the size, on each replicate; the share is scaled because `slopes` cuts below 1."""
    return slopes(rows.assign(share=rows["share"] / rows["share"].min()), size, "share")


def _scope(rows: pd.DataFrame) -> Scope:
    return scope_of(rows, reading=_COUNTED, symbols={k: v for k, v in _SYMBOLS.items() if k != "p" or "p" in rows})


def _greedy_time(bench: Bench) -> Iterable[Finding]:
    rows = counted(bench.rows)
    in_nodes, in_topics = rows[rows["family"] == "P3.L7.V"], rows[rows["family"] == "P3.L7.T"]
    for symbol, some, size in (("|V|", in_nodes, "p_nodes"), ("|T|", in_topics, "p_topics")):
        yield _bounded(some, f"O(|V|²|T|), as {symbol} grows", "|V|²|T|", "work", _square, size)
    parts = {
        "contributions at the start": rows["table_initial"] / (_square(rows) / 2),
        "their updates": rows["table_contribution_updates"] / rows["table_initial"],
        "entries looked at": rows["table_entries"] / ((rows["max_degree"] + 1) * rows["nodes"] * rows["topics"]),
        "degrees updated": rows["table_degree_updates"] / (2 * rows["nodes"] * rows["edges"]),
    }
    shown = ", ".join(f"{name} {share.max():.3f}" for name, share in parts.items())
    text = (
        f"The largest shares of the proof's bounds |V|²|T|/2, the start's count, D phases × |V||T|, 2|V||E|: {shown}."
    )
    held = all((share <= 1).all() for share in parts.values())
    yield Finding("the proof's parts", verdict_of(held), text, len(rows), scope=_scope(rows))
    yield _bounded(in_nodes, "Lemma 1's O(|V|⁴|T|)", "|V|⁴|T|", "work", lambda r: r["nodes"] ** 4.0 * r["topics"])
    exponents = [
        mean_of(f"exponent of the work in |V|, {law}", slopes(some, "p_nodes", "work"), 4.0, together=3)
        for law, some in in_nodes.groupby("workload")
    ]
    verdict = all_of(at_least(one, 3.5) for one in exponents)
    text = "The work grows with the power of |V| in the intervals; at least 3.5 counts as the fourth."
    scope = scope_of(in_nodes, reading="“up to the fourth degree” as growth, not as a bound", symbols=_SYMBOLS)
    subject = "proportional to |V|⁴"
    yield Finding(subject, verdict, text, len(in_nodes), scope=scope, intervals=tuple(exponents))


def _square(rows: pd.DataFrame) -> pd.Series:
    return rows["nodes"] ** 2.0 * rows["topics"]


def _conquer_time(bench: Bench) -> Iterable[Finding]:
    rows = counted(bench.rows)
    rows = rows[rows["method"] == "dcb-m"]
    light, topics, p = rows["lightweight"].astype(float), rows["topics"], rows["p"]
    yield _bounded(rows, "O(|L|⁴|T|/p³)", "|L|⁴|T|/p³", "inner_table_work", lambda _: light**4 * topics / p**3)
    yield _bounded(rows, "by Lemma 7: O(|L|²|T|/p)", "|L|²|T|/p", "inner_table_work", lambda _: light**2 * topics / p)
    largest = rows[rows["nodes"] == rows["nodes"].max()]
    exponents = [
        mean_of(f"exponent in p, {law}", slopes(some, "p", "inner_table_work"), -3.0, together=3)
        for law, some in largest.groupby("workload")
    ]
    verdict = all_of(at_most(one, -2.5) for one in exponents)
    text = "The work of the conquer phase falls with the power of p in the intervals; at most −2.5 counts as the cube."
    scope = scope_of(largest, reading="p³ as the speed-up, not as a bound", symbols=_SYMBOLS)
    yield Finding("it falls as p³", verdict, text, len(largest), scope=scope, intervals=tuple(exponents))


def _combined_time(bench: Bench) -> Iterable[Finding]:
    rows = counted(bench.rows)
    rows = rows[rows["method"] == "dcb-m"]
    nodes, bulk, light = (rows[name].astype(float) for name in ("nodes", "bulk", "lightweight"))
    pairs = bulk * nodes + light**2
    formula = "|T|(|B||V| + |L|²)"
    yield _bounded(rows, f"O({formula}²)", f"{formula}²", "work", lambda r: r["topics"] * pairs**2)
    yield _bounded(rows, f"by Lemma 7: O({formula})", formula, "work", lambda r: r["topics"] * pairs)


def _representative_time(bench: Bench) -> Iterable[Finding]:
    every = counted(bench.rows)
    rows = every[every["method"] == "dcbr-m"]
    light, p = rows["lightweight"].astype(float), rows["p"]
    core = rows["bulk"].astype(float) + rows["representatives"]
    bound = core**4 + light**4 / p**3
    yield _bounded(
        rows, "O(|T|((|B| + |R|)⁴ + |L|⁴/p³))", "|T|((|B| + |R|)⁴ + |L|⁴/p³)", "work", lambda r: r["topics"] * bound
    )
    by_seven = core**2 + light**2 / p
    yield _bounded(
        rows, "by Lemma 7: O(|T|((|B| + |R|)² + |L|²/p))", "its bound", "work", lambda r: r["topics"] * by_seven
    )
    table = per_instance(every[every["nodes"] == every["nodes"].max()], "work", "p", "method")
    ratio = (table["dcbr-m"] / table["dcb-m"]).rename("ratio").reset_index()
    intervals = [
        mean_of(f"work of DCBR-M ÷ DCB-M, p = {p}", some["ratio"], together=len(_PARTS))
        for p, some in ratio.groupby("p")
    ]
    best = min(intervals, key=lambda one: one.mean)
    text = (
        f"At the largest |V|, DCBR-M does {best.mean:.1%} of DCB-M's work at the best p; at most half is significant."
    )
    scope = scope_of(
        every, reading="a significant speed-up: at most half of the work, at the best of the p run", symbols=_SYMBOLS
    )
    subject = "significant speed-up over DCB-M"
    yield Finding(subject, at_most(best, 0.5), text, len(every), scope=scope, intervals=tuple(intervals))


CLAIMS_P3_WORK: tuple[Claim, ...] = (
    Claim("P3.L7", "GM-M takes O(|V|²|T|) time", "P3 Lemmas 1 and 7", _greedy_time, _greedy),
    Claim("P3.L10", "the conquer phase takes O(|L|⁴|T|/p³) time", "P3 Lemma 10", _conquer_time, _divided),
    Claim("P3.L13", "DCB-M takes O(|T|(|B||V| + |L|²)²) time", "P3 Lemma 13", _combined_time, _divided),
    Claim("P3.L16", "DCBR-M takes O(|T|((|B| + |R|)⁴ + |L|⁴/p³)) time", "P3 Lemma 16", _representative_time, _divided),
)
