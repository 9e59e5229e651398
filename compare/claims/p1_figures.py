"""What Chockler et al. (P1) say of their figures, as checks on the papers' grids."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import pandas as pd

from ..papers.bench import LAWS, Bench
from ..papers.figures import with_steps
from .claim import Claim, Finding, Verdict, verdict_of
from .on_grids import figure_claim, mean_by, on_grid

_ABOUT = 0.1


def _falls(series: pd.Series) -> bool:
    return all(after < before for before, after in pairwise(series.tolist()))


def _average_degree(bench: Bench) -> Iterable[Finding]:
    degree = mean_by(bench, "average_degree", "workload", "p_topics", "p_nodes")
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


def _steps(bench: Bench) -> Iterable[Finding]:
    bench.rows = with_steps(bench.rows)
    share = mean_by(bench, "share", "workload", "p_topics", "p_nodes")
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
    degree = mean_by(bench, "average_degree", "method", "p_nodes")
    ratio = degree["ring-per-topic"] / degree["gm"]
    about = bool((ratio.sub(3).abs() <= 3 * _ABOUT).all())
    verdict = verdict_of(about, Verdict.ORDER if (ratio > 1.5).all() else Verdict.REFUTED)
    text = "RingPT ÷ GM, published about 3: " + ", ".join(f"{value:.2f} at |V|={n}" for n, value in ratio.items())
    yield on_grid(bench, "P1.F4a", "RingPT ÷ GM", verdict, f"{text}.")


def _more_topics(bench: Bench) -> Iterable[Finding]:
    degree = mean_by(bench, "average_degree", "method", "p_subscriptions", "p_topics")
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


CLAIMS_P1_FIGURES: tuple[Claim, ...] = (
    figure_claim(
        "P1.F2", "average degree falls with |V|, rises with |T|; exponential below Zipf and uniform", _average_degree
    ),
    figure_claim("P1.F3", "steps ÷ (|V|²|T|) about 10⁻³, like |V|², falls with |T|, highest for exponential", _steps),
    figure_claim("P1.F4a", "RingPT's average degree ≈ 3 × GM's", _ring),
    figure_claim("P1.F4b", "10 to 20 topics a node: GM +25% at worst, RingPT about doubles", _more_topics),
)
