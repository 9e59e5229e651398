"""What Onus and Richa (P2) say of their figures, as checks on the papers' grids."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import pairwise

from ..papers.bench import Bench
from .claim import Claim, Finding, Verdict, verdict_of
from .on_grids import figure_claim, mean_by, on_grid

_ABOUT = 0.1


def _between(bench: Bench, figure: str, measure: str, low: str, high: str) -> Iterable[Finding]:
    mean = mean_by(bench, measure, "method", "p_nodes")
    inside = (mean["low-oda"] >= mean[low] - 1e-9) & (mean["low-oda"] <= mean[high] + 1e-9)
    shown = "; ".join(
        f"|V|={n}: GM {mean['gm'][n]:.1f}, Low-ODA {mean['low-oda'][n]:.1f}, MinMax-ODA {mean['minmax-oda'][n]:.1f}"
        for n in mean["gm"].index
    )
    text = f"Means of the {measure.replace('_', ' ')}, k = 3: {shown}."
    near = (mean["low-oda"] >= 0.95 * mean[low]) & (mean["low-oda"] <= 1.05 * mean[high])
    otherwise = Verdict.ORDER if near.all() else Verdict.REFUTED
    text += "" if inside.all() else " It lies outside, by at most 5%." if near.all() else " It lies outside."
    yield on_grid(bench, figure, "Low-ODA between GM and MinMax-ODA", verdict_of(bool(inside.all()), otherwise), text)


def _in_k(bench: Bench, figure: str, measure: str, sign: int) -> Iterable[Finding]:
    mean = mean_by(bench, measure, "variant")
    series = [mean[_variant(k)] for k in range(1, 9)]
    steps = [sign * (after - before) for before, after in pairwise(series)]
    monotone, trend = all(step >= 0 for step in steps), sign * (series[-1] - series[0]) > 0
    word = "falls" if sign < 0 else "rises"
    text = f"Mean {measure.replace('_', ' ')} for k = 1 … 8: {', '.join(f'{value:.2f}' for value in series)}."
    verdict = verdict_of(monotone, Verdict.ORDER if trend else Verdict.REFUTED)
    yield on_grid(bench, figure, f"{word} with k", verdict, text)
    for k, other in ((1, "gm"), (8, "minmax-oda")):
        ratio = series[k - 1] / mean[other]
        near = verdict_of(abs(ratio - 1) <= _ABOUT)
        yield on_grid(bench, figure, f"k = {k} ≈ {other}", near, f"Low-ODA ÷ {other}: {ratio:.3f} (within a tenth: ≈).")


def _variant(k: float) -> str:
    """The variant's name for k: the default is left out, other values are written as floats."""
    return "low-oda" if k == 3 else f"low-oda k={float(k)}"


_PUBLISHED = {
    "P2.F8": {"gm": 1.09, "cd-oda-2": 2.04, "cd-oda": 2.06, "cd-oda-1": 2.06},
    "P2.F9": {"gm": 1.07, "cd-oda-2": 1.96, "cd-oda": 2.0, "cd-oda-1": 2.0},
    "P2.F10": {"gm": 1.1, "cd-oda-2": 1.94, "cd-oda": 2.23, "cd-oda-1": 2.23},
}


def _factors(bench: Bench, figure: str) -> Iterable[Finding]:
    mean = mean_by(bench, "average_degree", "method", "p_nodes", "p_topics", "p_subscriptions")
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


CLAIMS_P2_FIGURES: tuple[Claim, ...] = (
    figure_claim(
        "P2.F1",
        "maximum degree: Low-ODA between GM and MinMax-ODA",
        partial(_between, figure="P2.F1", measure="max_degree", low="minmax-oda", high="gm"),
    ),
    figure_claim(
        "P2.F2",
        "average degree: Low-ODA between GM and MinMax-ODA",
        partial(_between, figure="P2.F2", measure="average_degree", low="gm", high="minmax-oda"),
    ),
    figure_claim(
        "P2.F3",
        "the maximum degree falls in k; k = 1 ≈ GM, k = 8 ≈ MinMax-ODA",
        partial(_in_k, figure="P2.F3", measure="max_degree", sign=-1),
    ),
    figure_claim(
        "P2.F4",
        "the average degree rises in k; k = 1 ≈ GM, k = 8 ≈ MinMax-ODA",
        partial(_in_k, figure="P2.F4", measure="average_degree", sign=1),
    ),
    *(
        figure_claim(
            figure,
            f"2D-ODA ≤ {published['gm']} × GM; CD-ODA-II ÷ 2D-ODA ≈ {published['cd-oda-2']}, "
            f"CD-ODA and -I ≈ {published['cd-oda']:g}",
            partial(_factors, figure=figure),
        )
        for figure, published in _PUBLISHED.items()
    ),
)
