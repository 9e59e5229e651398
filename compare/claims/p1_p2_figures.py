"""The figures of P1 and P2 as checks: what is said of their curves, on the grids of :mod:`.grids`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from ..papers.bench import Bench
from ..papers.grids import GRIDS, LAWS
from ..studies.recipe import Recipe
from .claim import Claim, Finding, Verdict, unless_thin

_ABOUT = 0.1


def gathered(bench: Bench, y: str, by: Sequence[str]) -> pd.Series:
    """The mean of a column at each point of a grid; failed runs have no value and do not count."""
    return bench.rows[bench.rows["status"] != "failed"].groupby(list(by))[y].mean()


def verdict_of(held: bool, otherwise: Verdict = Verdict.REFUTED) -> Verdict:
    """holds, or what else."""
    return Verdict.HOLDS if held else otherwise


def on_grid(bench: Bench, figure: str, subject: str, verdict: Verdict, evidence: str) -> Finding:
    """A finding that rests on a whole grid: open where the quick version has thinned it."""
    done, whole = (len(GRIDS[figure](quick).recipes) for quick in (bench.quick, False))
    thinned = len(_points(bench, figure, bench.quick)) < len(_points(bench, figure, False))
    if bench.quick and thinned:
        return unless_thin(verdict, evidence, subject, done, whole)
    return Finding(subject, verdict, evidence, done)


def _points(bench: Bench, figure: str, quick: bool) -> set[object]:
    return {(recipe.workload, recipe.parameters) for recipe in GRIDS[figure](quick).recipes}


def _falls(series: pd.Series) -> bool:
    return all(after < before for before, after in pairwise(series.tolist()))


def _average_degree(bench: Bench) -> Iterable[Finding]:
    degree = gathered(bench, "average_degree", ["workload", "p_topics", "p_nodes"])
    nodes = sorted(degree.index.get_level_values("p_nodes").unique())
    shown = "; ".join(
        f"{law} |T|={t}: from {degree[law, t, nodes[0]]:.2f} to {degree[law, t, nodes[-1]]:.2f}"
        for law in LAWS
        for t in (100, 200)
    )
    falling = all(_falls(degree[law, t]) for law in LAWS for t in (100, 200))
    yield on_grid(
        bench,
        "P1.F2",
        "falls with |V|",
        verdict_of(falling),
        f"Average degree from |V| = {nodes[0]} to {nodes[-1]}, {shown}.",
    )
    rising = all((degree[law, 200] > degree[law, 100]).all() for law in LAWS)
    yield on_grid(bench, "P1.F2", "rises with |T|", verdict_of(rising), "From |T| = 100 to 200, at every |V| and law.")
    below = all((degree["exponential", t] < degree[law, t]).all() for law in ("uniform", "zipf") for t in (100, 200))
    text = f"At every |V| and |T| of the grid: {below}."
    yield on_grid(bench, "P1.F2", "exponential below Zipf and uniform", verdict_of(below), text)


def greedy_merge_steps(recipe: str) -> float:
    """How often P1's Algorithm 3 lowers the contribution of an edge (lines 6–11), whatever the ties.

    Joining two components of topic t lowers that of every pair between them but the edge taken, so |V_t| − 1 joins
    take (|V_t| − 1)(|V_t| − 2)/2 steps in all.
    """
    sizes = np.diff(Recipe.from_json(recipe).make().topic_offsets).astype(float)
    return float(((sizes - 1) * (sizes - 2) / 2).sum())


def _steps(bench: Bench) -> Iterable[Finding]:
    worst_case = bench.rows["p_nodes"].astype(float) ** 2 * bench.rows["p_topics"].astype(float)
    bench.rows["share"] = [greedy_merge_steps(recipe) for recipe in bench.rows["recipe"]] / worst_case
    share = gathered(bench, "share", ["workload", "p_topics", "p_nodes"])
    largest = share.groupby(["workload", "p_topics"]).mean()
    shown = "; ".join(f"{law} |T|={t}: {largest[law, t]:.1e}" for law in LAWS for t in (100, 200))
    near = bool(share.between(1e-4, 1e-2).all())
    text = f"Steps ÷ (|V|²|T|), means: {shown}; within a factor of ten of 10⁻³ at every point: {near}."
    yield on_grid(bench, "P1.F3", "about 10⁻³", verdict_of(near), text)
    exponents = [
        np.polyfit(np.log(one.index.to_numpy(float)), np.log(one.to_numpy() * one.index.to_numpy(float) ** 2), 1)[0]
        for law in LAWS
        for t in (100, 200)
        for one in [share[law, t]]
    ]
    fitted = f"Fitted exponents of |V|: {min(exponents):.3f} to {max(exponents):.3f}."
    square = all(abs(exponent - 2) < 0.05 for exponent in exponents)
    yield on_grid(bench, "P1.F3", "behaves like |V|²", verdict_of(square), fitted)
    falling = all((share[law, 200] < share[law, 100]).all() for law in LAWS)
    ratio = np.mean([(share[law, 100] / share[law, 200]).mean() for law in LAWS])
    yield on_grid(bench, "P1.F3", "falls with |T|", verdict_of(falling), f"|T| 100 ÷ |T| 200: {ratio:.2f} on average.")
    highest = all((share["exponential", t] > share[law, t]).all() for law in ("uniform", "zipf") for t in (100, 200))
    yield on_grid(bench, "P1.F3", "highest for exponential", verdict_of(highest), f"At every point: {highest}.")


def _ring(bench: Bench) -> Iterable[Finding]:
    degree = gathered(bench, "average_degree", ["method", "p_nodes"])
    ratio = degree["ring-per-topic"] / degree["gm"]
    about = bool((ratio.sub(3).abs() <= 3 * _ABOUT).all())
    verdict = verdict_of(about, Verdict.ORDER if (ratio > 1.5).all() else Verdict.REFUTED)
    text = "RingPT ÷ GM, published about 3: " + ", ".join(f"{value:.2f} at |V|={n}" for n, value in ratio.items())
    yield on_grid(bench, "P1.F4a", "RingPT ÷ GM", verdict, f"{text}.")


def _more_topics(bench: Bench) -> Iterable[Finding]:
    degree = gathered(bench, "average_degree", ["method", "p_subscriptions", "p_topics"])
    growth = {method: degree[method, 20] / degree[method, 10] for method in ("gm", "ring-per-topic")}
    gm, ring = (growth[method][growth[method].index <= 200] for method in ("gm", "ring-per-topic"))
    text = f"From 10 to 20 topics a node GM's average degree grows by {gm.min() - 1:.0%} to {gm.max() - 1:.0%}, "
    text += "published 25% at worst."
    yield on_grid(bench, "P1.F4b", "GM +25% at worst", verdict_of(bool((gm <= 1.25).all())), text)
    doubled = verdict_of(bool((ring.sub(2).abs() <= 2 * _ABOUT).all()))
    beyond = "; ".join(f"{value:.2f} at |T| = {t}" for t, value in growth["ring-per-topic"].items() if t > 200)
    text = (
        f"Times {ring.min():.2f} to {ring.max():.2f} for |T| = 100 to 200, where rings share edges. Beyond: {beyond}."
    )
    yield on_grid(bench, "P1.F4b", "RingPT doubles", doubled, text)


def _between(bench: Bench, figure: str, y: str, falling: str, rising: str) -> Iterable[Finding]:
    mean = gathered(bench, y, ["method", "p_nodes"])
    inside = (mean["low-oda"] >= mean[falling] - 1e-9) & (mean["low-oda"] <= mean[rising] + 1e-9)
    shown = "; ".join(
        f"|V|={n}: GM {mean['gm'][n]:.1f}, Low-ODA {mean['low-oda'][n]:.1f}, MinMax-ODA {mean['minmax-oda'][n]:.1f}"
        for n in mean["gm"].index
    )
    text = f"Means of the {y.replace('_', ' ')}, k = 3: {shown}."
    near = (mean["low-oda"] >= 0.95 * mean[falling]) & (mean["low-oda"] <= 1.05 * mean[rising])
    otherwise = Verdict.ORDER if near.all() else Verdict.REFUTED
    text += "" if inside.all() else " It lies outside, by at most 5%." if near.all() else " It lies outside."
    yield on_grid(bench, figure, "Low-ODA between GM and MinMax-ODA", verdict_of(bool(inside.all()), otherwise), text)


def _in_k(bench: Bench, figure: str, y: str, sign: int) -> Iterable[Finding]:
    mean = gathered(bench, y, ["variant"])
    series = [mean[_variant(k)] for k in range(1, 9)]
    steps = [sign * (after - before) for before, after in pairwise(series)]
    monotone, trend = all(step >= 0 for step in steps), sign * (series[-1] - series[0]) > 0
    word = "falls" if sign < 0 else "rises"
    text = f"Mean {y.replace('_', ' ')} for k = 1 … 8: {', '.join(f'{value:.2f}' for value in series)}."
    verdict = verdict_of(monotone, Verdict.ORDER if trend else Verdict.REFUTED)
    yield on_grid(bench, figure, f"{word} with k", verdict, text)
    for k, other in ((1, "gm"), (8, "minmax-oda")):
        ratio = series[k - 1] / mean[other]
        near = verdict_of(abs(ratio - 1) <= _ABOUT)
        yield on_grid(bench, figure, f"k = {k} ≈ {other}", near, f"Low-ODA ÷ {other}: {ratio:.3f} (within a tenth: ≈).")


def _variant(k: float) -> str:
    """How the run with that k is called: the default is not named, a float is written as one."""
    return "low-oda" if k == 3 else f"low-oda k={float(k)}"


_PUBLISHED = {
    "P2.F8": {"gm": 1.09, "cd-oda-2": 2.04, "cd-oda": 2.06, "cd-oda-1": 2.06},
    "P2.F9": {"gm": 1.07, "cd-oda-2": 1.96, "cd-oda": 2.0, "cd-oda-1": 2.0},
    "P2.F10": {"gm": 1.1, "cd-oda-2": 1.94, "cd-oda": 2.23, "cd-oda-1": 2.23},
}


def _factors(bench: Bench, figure: str) -> Iterable[Finding]:
    mean = gathered(bench, "average_degree", ["method", "p_nodes", "p_topics", "p_subscriptions"])
    published = _PUBLISHED[figure]
    to_gm = mean["2d-oda"] / mean["gm"]
    text = f"2D-ODA ÷ GM from {to_gm.min():.2f} to {to_gm.max():.2f}; published at most {published['gm']}."
    yield on_grid(bench, figure, "2D-ODA ÷ GM", verdict_of(bool(to_gm.max() <= published["gm"])), text)
    for method in ("cd-oda-2", "cd-oda", "cd-oda-1"):
        factor = float((mean[method] / mean["2d-oda"]).mean())
        near = abs(factor / published[method] - 1) <= _ABOUT
        text = f"{method} ÷ 2D-ODA {factor:.2f} on average; published {published[method]}."
        verdict = verdict_of(near, Verdict.ORDER if factor > 1.05 else Verdict.REFUTED)
        yield on_grid(bench, figure, f"{method} ÷ 2D-ODA", verdict, text)


def _claim(figure: str, statement: str, judge: Callable[[Bench], Iterable[Finding]]) -> Claim:
    number = figure.partition(".F")[2]
    return Claim(figure, statement, f"{figure[:2]} Figure {number}", judge, GRIDS[figure])


CLAIMS_FIGURES: tuple[Claim, ...] = (
    _claim(
        "P1.F2", "average degree falls with |V|, rises with |T|; exponential below Zipf and uniform", _average_degree
    ),
    _claim("P1.F3", "steps ÷ (|V|²|T|) about 10⁻³, like |V|², falls with |T|, highest for exponential", _steps),
    _claim("P1.F4a", "RingPT's average degree ≈ 3 × GM's", _ring),
    _claim("P1.F4b", "10 to 20 topics a node: GM +25% at worst, RingPT about doubles", _more_topics),
    _claim(
        "P2.F1",
        "maximum degree: Low-ODA between GM and MinMax-ODA",
        lambda bench: _between(bench, "P2.F1", "max_degree", "minmax-oda", "gm"),
    ),
    _claim(
        "P2.F2",
        "average degree: Low-ODA between GM and MinMax-ODA",
        lambda bench: _between(bench, "P2.F2", "average_degree", "gm", "minmax-oda"),
    ),
    _claim(
        "P2.F3",
        "the maximum degree falls in k; k = 1 ≈ GM, k = 8 ≈ MinMax-ODA",
        lambda bench: _in_k(bench, "P2.F3", "max_degree", -1),
    ),
    _claim(
        "P2.F4",
        "the average degree rises in k; k = 1 ≈ GM, k = 8 ≈ MinMax-ODA",
        lambda bench: _in_k(bench, "P2.F4", "average_degree", 1),
    ),
    _claim(
        "P2.F8",
        "2D-ODA ≤ 1.09 × GM; CD-ODA-II ÷ 2D-ODA ≈ 2.04, CD-ODA and -I ≈ 2.06",
        lambda bench: _factors(bench, "P2.F8"),
    ),
    _claim("P2.F9", "≤ 1.07; ≈ 1.96; ≈ 2", lambda bench: _factors(bench, "P2.F9")),
    _claim("P2.F10", "≤ 1.1; ≈ 1.94; ≈ 2.23", lambda bench: _factors(bench, "P2.F10")),
)
