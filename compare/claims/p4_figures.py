"""What Zhao and Wu (P4) say of their figures and table, as checks on the papers' grids."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import pandas as pd

from ..papers.bench import Bench
from ..papers.figures_p4 import TABLES_P4
from ..papers.grids_p4 import CONTENT_METHODS, METRICS
from ..report.content_tables import BASELINE, content_runs
from .claim import Claim, Finding, Verdict, verdict_of
from .on_grids import figure_claim, on_grid

_PACKING, _CLUSTERING, _MIXING = CONTENT_METHODS[1:]
_HARDLY, _FAR = 0.1, 10.0


def reductions(bench: Bench, *by: str) -> pd.Series:
    """The mean cost reduction ratio by these columns and the method."""
    runs = content_runs(bench.rows)
    return runs[runs["method"] != BASELINE].groupby([*by, "method"])["crr"].mean()


def _sizes(bench: Bench) -> Iterable[Finding]:
    mean = reductions(bench, "p_metric", "p_users")
    count = int((bench.rows["method"] == BASELINE).sum())
    sizes = sorted(int(users) for users in bench.rows["p_users"].unique())
    samples = count // (len(sizes) * len(METRICS))
    where = f"|U| = {', '.join(map(str, sizes))}, |U|/|B| = 100, {samples} samples a point"

    def shown(metric: str, methods: Iterable[str]) -> str:
        curves = (f"{m} {' '.join(f'{mean[metric, n, m]:.2f}' for n in sizes)}" for m in methods)
        return f"prices `{metric}`: {', '.join(curves)}"

    for better, worse in ((_MIXING, _CLUSTERING), (_CLUSTERING, _PACKING), (_MIXING, _PACKING)):
        held = {metric: all(mean[metric, n, better] > mean[metric, n, worse] for n in sizes) for metric in METRICS}
        text = f"{where}; " + "; ".join(shown(metric, (better, worse)) for metric in METRICS)
        text += f". Under {', '.join(m for m, right in held.items() if right) or 'none of these prices'} at every size."
        yield Finding(f"{better} > {worse}", verdict_of(all(held.values())), text, count)
    above = mean[mean.index.get_level_values("method") != BASELINE]
    text = f"{where}; the least mean ratio is {above.min():.3f}."
    yield Finding("all > 1", verdict_of(bool((above > 1).all())), text, count)
    for method in (_PACKING, _CLUSTERING, _MIXING):
        growing = {
            metric: all(mean[metric, b, method] > mean[metric, a, method] for a, b in pairwise(sizes))
            for metric in METRICS
        }
        text = "; ".join(shown(metric, [method]) for metric in METRICS)
        yield Finding(f"{method} grows with size", verdict_of(all(growing.values())), f"{where}; {text}.", count)


def _core_prices(bench: Bench) -> Iterable[Finding]:
    mean = reductions(bench, "p_access_to_core")
    ratios = sorted(mean.index.get_level_values(0).unique())
    curves = {m: [float(mean[ratio, m]) for ratio in ratios] for m in (_PACKING, _CLUSTERING, _MIXING)}
    first, last = (
        max(curve[end] for curve in curves.values()) / min(curve[end] for curve in curves.values()) for end in (0, -1)
    )
    text = f"At access ÷ core price {', '.join(f'{ratio:g}' for ratio in ratios)}: "
    text += "; ".join(f"{m} {' '.join(f'{value:.2f}' for value in curve)}" for m, curve in curves.items())
    converge = f"{text}. The largest ÷ the smallest goes from {first:.2f} to {last:.2f}; published: they meet."
    met = Verdict.ORDER if last < first else Verdict.REFUTED
    yield on_grid(
        bench, "P4.F10", "the three converge", Verdict.HOLDS if last <= 1 + _HARDLY and last < first else met, converge
    )
    moved = max(curves[_MIXING]) / min(curves[_MIXING]) - 1
    hardly = f"From the smallest to the largest value {moved:.1%}; at most 10% counts as hardly."
    yield on_grid(bench, "P4.F10", "mixing hardly changes", verdict_of(moved <= _HARDLY), hardly)


def _times(bench: Bench) -> Iterable[Finding]:
    table = TABLES_P4["P4.TI"]
    ours = table.means(bench.rows)
    seconds = bench.rows.groupby("method")["seconds"].mean()
    shown = ", ".join(f"{m} {ours[m]:.4f} (published {table.published[m]:.4f})" for m in ours)
    text = f"Time ÷ mixing's, 10,000 users, 100 brokers: {shown}; mixing takes {seconds[_MIXING]:.2f} s here."
    runs = len(bench.rows)
    ordered = {
        f"{BASELINE} ≪ {_PACKING}": _FAR * ours[BASELINE] <= ours[_PACKING],
        f"{_PACKING} < {_CLUSTERING}": ours[_PACKING] < ours[_CLUSTERING],
        f"{_CLUSTERING} < {_MIXING}": ours[_CLUSTERING] < ours[_MIXING],
    }
    for subject, held in ordered.items():
        order = Verdict.ORDER if "≪" in subject and ours[BASELINE] < ours[_PACKING] else Verdict.REFUTED
        yield Finding(subject, verdict_of(held, order), text, runs)


CLAIMS_P4_FIGURES: tuple[Claim, ...] = (
    figure_claim("P4.F9", "CRR: mixing > clustering > greedy packing > 1, growing with size", _sizes),
    figure_claim("P4.F10", "as core links get cheap the three converge; mixing hardly changes", _core_prices),
    figure_claim("P4.TI", "time: random ≪ greedy packing < clustering < mixing", _times, "P4 Table I"),
)
