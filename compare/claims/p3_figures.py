"""What Chen et al. (P3) say of their tables and figures, as checks on the papers' grids."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd

from ..papers.bench import LAWS, Bench, Experiment, runs
from ..papers.grids_p3 import P3_WORKLOADS, p3_default
from ..papers.tables_p3 import METHODS, TABLES_P3
from .claim import Claim, Finding, Verdict, open_if_fewer, verdict_of
from .on_grids import figure_claim, mean_by, on_grid

_CLOSE = 0.1
_NAMED_RUNS = 50
_FITTED = " The paper does not specify the law; ours is the one that fits GM-M's table best."
_FITTING = ("maximum degrees", "average degrees")


def _table(bench: Bench, table: str) -> Iterable[Finding]:
    ours, published = TABLES_P3[table].means(bench.rows), TABLES_P3[table].published
    number = bench.rows["instance"].nunique()
    for subject, names in (
        ("maximum degrees", ("D_GMM", "D_DCB", "D_DCBR")),
        ("average degrees", ("d_GMM", "d_DCB", "d_DCBR")),
        ("time ratios", ("T_DCBR/T_GMM", "T_DCB/T_GMM")),
        ("|R|/|L|", ("|R|/|L|",)),
    ):
        known = [name for name in names if name in published]
        close = all(abs(ours[name] / published[name] - 1) <= _CLOSE for name in known)
        ranked = sorted(known, key=lambda name: ours[name]) == sorted(known, key=lambda name: published[name])
        shown = ", ".join(f"{name} {ours[name]:.3g} (published {published[name]:.3g})" for name in known)
        otherwise = Verdict.ORDER if ranked and len(known) > 1 else Verdict.REFUTED
        text = f"Means of {number} instances: {shown}. Within a tenth: {close}.{_FITTED if subject in _FITTING else ''}"
        yield open_if_fewer(verdict_of(close, otherwise), text, subject, number, _NAMED_RUNS)


def _parts(bench: Bench) -> Iterable[Finding]:
    rows = bench.rows
    rows["p"] = [int(json.loads(options).get("partitions", 0)) for options in rows["options"]]
    divided = rows[rows["method"] == "dcbr-m"].copy()
    divided["pn"] = [json.loads(text)["pn_ratio"] for text in divided["counters"]]
    by_p = divided.groupby("p")[["max_degree", "seconds", "pn"]].mean()
    baseline = rows[rows["method"] == "gm-m"][["max_degree", "seconds"]].mean()
    degree, seconds, pn = (by_p[name] for name in ("max_degree", "seconds", "pn"))
    peak = int(degree.to_numpy().argmax())
    shape = 0 < peak < len(degree) - 1 and degree.iloc[0] < degree.iloc[peak] > degree.iloc[-1]
    text = "D at p = " + ", ".join(f"{p}: {value:.1f}" for p, value in degree.items())
    text += f"; GM-M {baseline['max_degree']:.1f}."
    yield on_grid(bench, "P3.F4", "D_DCBR rises, then falls", verdict_of(shape), text)
    fastest = int(seconds.idxmin())
    near = verdict_of(5 <= fastest <= 20)
    shares = ", ".join(f"{p}: {value / baseline['seconds']:.0%}" for p, value in seconds.items())
    yield on_grid(
        bench, "P3.F4", "T_DCBR lowest near p = 10", near, f"Lowest at p = {fastest}; of GM-M's time {shares}."
    )
    rank = float(seconds.rank().corr(pn.rank()))
    text = f"Rank correlation of time and pn-ratio over p: {rank:.2f}."
    yield on_grid(bench, "P3.F4", "pn-ratio follows the time", verdict_of(rank > 0.7), text)


def _coverage(bench: Bench) -> Iterable[Finding]:
    rows = bench.rows[bench.rows["method"] == "dcbr-m"].copy()
    rows["coverage"] = [int(json.loads(options)["coverage"]) for options in rows["options"]]
    degree = rows.groupby("coverage")["max_degree"].mean()
    steps = [before - after for before, after in pairwise(degree.tolist())]
    text = "Mean D for λ = 1 … 4: " + ", ".join(f"{value:.2f}" for value in degree)
    text += "; published differences up to 3, about 0.71, at most 0.32."
    small = verdict_of(steps[2] <= 0.32)
    yield on_grid(bench, "P3.F5", "λ beyond 3 changes little", small, text)
    shrinking = all(after < before for before, after in pairwise(steps))
    verdict = verdict_of(shrinking and steps[1] >= 0, Verdict.ORDER if degree[1] > degree[4] else Verdict.REFUTED)
    yield on_grid(bench, "P3.F5", "D falls in λ, by less and less", verdict, text)


def _excess(rows: pd.DataFrame, column: str) -> float:
    """The mean over instances of DCBR-M's figure less GM-M's."""
    table = rows.pivot_table(index="instance", columns="method", values=column)
    return float((table["dcbr-m"] - table["gm-m"]).mean())


def _time_share(rows: pd.DataFrame, method: str = "dcbr-m") -> float:
    table = rows.pivot_table(index="instance", columns="method", values="seconds")
    return float((table[method] / table["gm-m"]).mean())


def _laws(bench: Bench) -> Iterable[Finding]:
    more, average = _excess(bench.rows, "max_degree"), _excess(bench.rows, "average_degree")
    text = f"D_DCBR − D_GMM {more:.2f} on average (published ≤ 2.0), d: {average:.2f} (≤ 0.70)."
    yield on_grid(bench, "P3.F6", "D_DCBR − D_GMM ≤ 2.0", verdict_of(more <= 2.0), text)
    text = f"d_DCBR − d_GMM {average:.2f} on average."
    yield on_grid(bench, "P3.F6", "d_DCBR − d_GMM ≤ 0.70", verdict_of(average <= 0.7), text)
    yield _time(bench, "P3.F6", "dcbr-m", 0.04)


def _time(bench: Bench, figure: str, method: str, published: float) -> Finding:
    share = _time_share(bench.rows, method)
    text = (
        f"Of GM-M's time {share:.1%} on average, published {published:.1%}. These are the times of our kernels: GM-M "
        "evaluates a pair only when needed, whereas Algorithms 3 to 6 update a table of all pairs."
    )
    verdict = verdict_of(share <= published, Verdict.ORDER if share < 1 else Verdict.REFUTED)
    return on_grid(bench, figure, f"T_{METHODS[method]} ≤ {published:.1%} of T_GMM", verdict, text)


def _nodes(bench: Bench) -> Iterable[Finding]:
    yield _time(bench, "P3.F7", "dcbr-m", 0.0479)
    yield _time(bench, "P3.F7", "dcb-m", 0.757)
    shares = {int(n): _time_share(rows) for n, rows in bench.rows.groupby("p_nodes")}
    text = "T_DCBR ÷ T_GMM " + ", ".join(f"{share:.1%} at |V| = {n}" for n, share in shares.items())
    falling = all(after < before for before, after in pairwise(shares.values()))
    yield on_grid(bench, "P3.F7", "the share falls with |V|", verdict_of(falling), f"{text}.")


def _topics(bench: Bench) -> Iterable[Finding]:
    published = {"uniform": 3.51, "zipf": 4.46, "exponential": 3.46}
    for law in LAWS:
        more = _excess(bench.rows[bench.rows["workload"] == P3_WORKLOADS[law]], "max_degree")
        text = f"D_DCBR − D_GMM {more:.2f} on average, published ≤ {published[law]}."
        yield on_grid(bench, "P3.F8", f"{law}: D_DCBR − D_GMM", verdict_of(more <= published[law]), text)
    yield _time(bench, "P3.F8", "dcbr-m", 0.038)


def _sizes(bench: Bench) -> Iterable[Finding]:
    degree = mean_by(bench, "max_degree", "method", "p_least")
    gap = degree["dcbr-m"] - degree["gm-m"]
    shown = "; ".join(
        f"mean {least + 40}: D_GMM {degree['gm-m'][least]:.1f}, D_DCBR {degree['dcbr-m'][least]:.1f}"
        for least in gap.index
    )
    falling = all(after <= before for m in ("gm-m", "dcbr-m") for before, after in pairwise(degree[m].tolist()))
    yield on_grid(bench, "P3.F9", "D falls with |T_v|", verdict_of(falling), f"{shown}.")
    shrinks = verdict_of(bool(gap.iloc[-1] < gap.iloc[0]))
    text = f"D_DCBR − D_GMM from {gap.iloc[0]:.2f} to {gap.iloc[-1]:.2f}."
    yield on_grid(bench, "P3.F9", "the difference shrinks", shrinks, text)


def _ring(bench: Bench) -> Iterable[Finding]:
    degree = mean_by(bench, "max_degree", "method", "p_nodes")
    ratio = degree["ring-per-topic"] / degree["dcbr-m"]
    text = "RingPT ÷ DCBR-M, published about 30: " + ", ".join(
        f"{value:.1f} at |V| = {n}" for n, value in ratio.items()
    )
    near = bool((ratio.sub(30).abs() <= 3).all())
    verdict = verdict_of(near, Verdict.ORDER if (ratio > 2).all() else Verdict.REFUTED)
    yield on_grid(bench, "P3.F10", "RingPT's maximum degree ÷ DCBR-M's", verdict, f"{text}.")


def _neighbour_grid(quick: bool) -> Experiment:
    recipes = tuple(
        recipe for law in LAWS for recipe in p3_default("P3.E12", law, 2 if quick else 10, nodes=400, topics=100)
    )
    methods = [("dcbr-m", {"partitions": p, "coverage": c}) for p in (2, 5, 10, 40) for c in (1, 3)]
    return Experiment(recipes, (runs("minmax-tco", *methods),))


def _neighbours(bench: Bench) -> Iterable[Finding]:
    counters = [json.loads(text) for text in bench.rows["counters"]]
    measured = np.array([one["pn_ratio"] for one in counters])
    formula = np.array([one["pn_ratio_formula"] for one in counters])
    equal = int(np.isclose(measured, formula, atol=1e-12).sum())
    text = (
        f"Equal in {equal} of {len(counters)} runs; the formula assumes parts of equal size with equally many "
        f"representatives. Measured less formula from {(measured - formula).min():+.4f} to "
        f"{(measured - formula).max():+.4f}."
    )
    close = np.allclose(measured, formula, atol=0.02)
    verdict = verdict_of(equal == len(counters), Verdict.ORDER if close else Verdict.REFUTED)
    yield Finding("pn-ratio", verdict, text, len(counters))


CLAIMS_P3_FIGURES: tuple[Claim, ...] = (
    *(
        figure_claim(f"P3.T{n}", f"Table {name}: {law}", partial(_table, table=f"P3.T{n}"), f"P3 Table {name}")
        for n, name, law in ((2, "II", "uniform"), (3, "III", "Zipf"), (4, "IV", "exponential"))
    ),
    figure_claim("P3.F4", "in p: D_DCBR rises then falls; T_DCBR lowest near p = 10; pn-ratio follows it", _parts),
    figure_claim("P3.F5", "λ beyond 3 changes little", _coverage),
    figure_claim("P3.F6", "D_DCBR − D_GMM ≤ 2.0 on average; T_DCBR ≤ 4% of T_GMM", _laws),
    figure_claim("P3.F7", "as |V| grows: T_DCBR 4.79% and T_DCB 75.7% of T_GMM", _nodes),
    figure_claim("P3.F8", "as |T| grows: D_DCBR − D_GMM ≤ 3.51, 4.46, 3.46; T_DCBR < 3.8% of T_GMM", _topics),
    figure_claim("P3.F9", "as |T_v| grows: D falls, and so does the difference", _sizes),
    figure_claim("P3.F10", "RingPT's maximum degree ≈ 30 × DCBR-M's", _ring),
    Claim("P3.E12", "pn-ratio formula equals the measured one", "P3 eq. 12", _neighbours, _neighbour_grid),
)
