"""What the judges of P3's tables and figures share: rules for ties, time ratios and trends."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy import stats

from ..papers.grids_p3 import SIZES_P3, TIES
from ..papers.rows_p3 import OWN, chosen
from ..papers.tables_p3 import METHODS
from .claim import Finding, Interval, Verdict
from .evidence import SYMBOLS, all_of, at_least, at_most, finding_from, mean_of, over_ties, per_instance, within

Judge = Callable[[Interval], Verdict]
Sample = Callable[[pd.DataFrame], pd.Series]
_SYMBOLS = {**SYMBOLS, "law": "law", "mean_size": "mean |T_v|", "coverage": "λ"}
del _SYMBOLS["workload"]
TIMINGS = (
    ("Algorithms 3 to 6, counted work", "table", "work", OWN),
    ("Algorithms 3 to 6, processor time", "table", "cpu", OWN),
    ("Algorithms 3 to 6, processor time, p by Lemma 16", "table", "cpu", "lemma-16"),
    ("our kernels, processor time", "rows", "cpu", OWN),
)
"""The readings of "running time": name, data structures, what is counted, and the aim by which p is chosen."""
FITTED: Mapping[str, str] = {
    "zipf": "P3 states α = 2.0; ours has α = 3 and numbers of topics that peak at 50, fitted to GM-M's degrees",
    "exponential": "the rate is not stated; ours is p_i ∝ e^-0.1i with numbers of topics that peak at 50, fitted to "
    "GM-M's degrees",
}
"""How our laws differ from the stated ones."""
_LEVEL, _ZERO = 0.05, 1e-12


def found(
    rows: pd.DataFrame,
    figure: str,
    subject: str,
    verdict: Verdict,
    evidence: str,
    intervals: Iterable[Interval] = (),
    *,
    reading: str = "",
) -> Finding:
    """A finding from these rows; its scope compares their sizes with those of the paper's figure or table.

    A subject that begins with a law speaks of that law alone.
    """
    symbols, claimed = {**_SYMBOLS, **({"p": "p"} if figure == "P3.F4" else {})}, dict(SIZES_P3[figure])
    if (law := subject.partition(":")[0]) in claimed.get("law", ()):
        claimed["law"] = (law,)
    return finding_from(rows, claimed, subject, verdict, evidence, intervals, reading=reading, symbols=symbols)


def in_fitted_laws(finding: Finding) -> Finding:
    """The finding with the readings of its fitted laws, which decide only in favour of the paper's numbers."""
    laws = (str(law).removesuffix("-fitted") for law in finding.scope.sizes.get("law", ()))
    readings = [FITTED[law] for law in laws if law in FITTED]
    if not readings:
        return finding
    verdict = Verdict.OPEN if finding.verdict in (Verdict.REFUTED, Verdict.ORDER) else finding.verdict
    reading = "; ".join(filter(None, (finding.scope.reading, *readings)))
    return replace(finding, verdict=verdict, scope=replace(finding.scope, reading=reading))


def by_rule(
    rows: pd.DataFrame, sample: Callable[[pd.DataFrame, str], Interval], judge: Judge
) -> tuple[Verdict, str, list[Interval]]:
    """The verdict over the rules for ties, a sentence where they differ, and the interval under each rule."""
    rules = [rule for rule in TIES if (rows["ties"] == rule).any()]
    intervals = {rule: sample(rows[rows["ties"] == rule], f"ties {rule}") for rule in rules}
    return *over_ties({rule: judge(one) for rule, one in intervals.items()}), list(intervals.values())


def difference(rows: pd.DataFrame, measure: str, one: str, other: str) -> pd.Series:
    """One method's number less another's, an instance each."""
    table = per_instance(rows[rows["method"].isin([one, other])], measure, "method")
    return table[one] - table[other]


def difference_finding(
    rows: pd.DataFrame,
    figure: str,
    subject: str,
    measure: str,
    limit: float,
    *,
    methods: tuple[str, str] = ("dcbr-m", "gm-m"),
    reading: str = "",
) -> Finding:
    """Whether one method's mean is at most `limit` above another's, under every rule for ties."""
    letter = "D" if measure == "max_degree" else "d"
    of = f"{letter}_{METHODS[methods[0]]} − {letter}_{METHODS[methods[1]]}"

    def sample(own: pd.DataFrame, rule: str) -> Interval:
        return mean_of(f"{of}, {rule}", difference(own, measure, *methods), limit)

    verdict, differ, intervals = by_rule(rows, sample, lambda one: at_most(one, limit))
    means = ", ".join(f"{one.mean:.2f}" for one in intervals)
    text = f"{of} on average {means} under the rules for ties; published at most {limit:g}.{differ}"
    return in_fitted_laws(found(rows, figure, subject, verdict, text, intervals, reading=reading))


def ratios(rows: pd.DataFrame, measure: str, method: str) -> pd.Series:
    """A method's work or time ÷ GM-M's, an instance each, with ties lowest; empty where nothing was measured."""
    own = rows[(rows["ties"] == "lowest") & rows["method"].isin([method, "gm-m"]) & rows[measure].notna()]
    if own["method"].nunique() < 2:
        return pd.Series(dtype=float)
    table = per_instance(own, measure, "method")
    return table[method] / table["gm-m"]


def time_findings(
    rows: pd.DataFrame,
    figure: str,
    method: str,
    published: float,
    judge: Judge,
    subject: str,
    *,
    speed_up: bool = False,
) -> Iterator[Finding]:
    """A claim on T ÷ T_GMM, or on T_GMM ÷ T if `speed_up`, under each reading.

    DCBR-M's is ``order holds`` if only the saving is as claimed, not its size. Over a range of |V| the mean weights
    each size by its spacing; without runs at the largest size it decides only in favour.
    """
    for reading, data, measure, aim in TIMINGS:
        if aim != OWN and method != "dcbr-m":
            continue
        own = chosen(rows, data, aim)
        sample = ratios(own, measure, method)
        if sample.empty:
            continue
        name = METHODS[method]
        of, sample = (f"T_GMM ÷ T_{name}", 1 / sample) if speed_up else (f"T_{name} ÷ T_GMM", sample)
        used = own[
            own["instance"].isin(sample.index) & own["method"].isin([method, "gm-m"]) & (own["ties"] == "lowest")
        ]
        sizes, claimed = along(used, sample, "p_nodes"), SIZES_P3[figure].get("|V|", ())
        interval, words = mean_of(of, sample, published), reading
        ranged = len(claimed) > 1
        if ranged:
            interval = mean_of(of, spaced(sample, sizes), published)
            words += "; each |V| counts by its spacing"
        verdict, saves = judge(interval), (at_least if speed_up else at_most)(interval, 1)
        if verdict is Verdict.REFUTED and saves is Verdict.HOLDS and method == "dcbr-m":
            verdict = Verdict.ORDER
        if ranged and verdict is not Verdict.HOLDS and sizes.max() < max(map(float, claimed)):
            verdict = Verdict.OPEN
        shown = "{:.1f}" if speed_up else "{:.1%}"
        least, most, mean, printed = map(shown.format, (sample.min(), sample.max(), interval.mean, published))
        text = f"{of} is {mean} on average, {least} to {most}; published {printed}."
        yield in_fitted_laws(found(used, figure, f"{subject}: {reading}", verdict, text, [interval], reading=words))


def spaced(sample: pd.Series, sizes: pd.Series) -> pd.Series:
    """Numbers whose mean is the sample's over a range of sizes, each size weighted by its spacing (trapezoids).

    Their standard error is the linearised one of the weighted mean.
    """
    points = np.unique(sizes)
    if len(points) < 2:
        return sample
    gaps = np.diff(points)
    width = dict(zip(points, np.append(0, gaps) + np.append(gaps, 0), strict=True))
    weights = sizes.map(width) / sizes.map(sizes.value_counts())
    weights /= weights.sum()
    mean = float((weights * sample).sum())
    return mean + len(sample) * weights * (sample - mean)


def trend_of(
    of: str, at: Sequence[float] | pd.Series, values: Sequence[float] | pd.Series, *, together: int = 1
) -> Interval:
    """The slope of a line through a number of each instance, with its 95% interval; None without spread in x."""
    x, y = np.asarray(at, float), np.asarray(values, float)
    if len(x) < 3 or np.ptp(x) == 0:
        return Interval(of, math.nan, None, None, len(x))
    line = stats.linregress(x, y)
    half = float(stats.t.ppf(1 - _LEVEL / (2 * together), len(x) - 2)) * float(line.stderr)
    return Interval(of, float(line.slope), float(line.slope) - half, float(line.slope) + half, len(x))


def along(rows: pd.DataFrame, sample: pd.Series, column: str) -> pd.Series:
    """The size of each instance of a sample, in the sample's order."""
    return rows.drop_duplicates("instance").set_index("instance")[column].astype(float).loc[sample.index]


def trend_finding(
    rows: pd.DataFrame,
    figure: str,
    subject: str,
    column: str,
    named: Mapping[str, Sample],
    judge: Judge,
    *,
    log: bool = False,
    reading: str = "",
) -> Finding:
    """Whether numbers rise or fall with a size, under every rule for ties; `named` maps rows to a number an instance.

    The slope is a unit of the size, or a doubling of it if `log`.
    """
    intervals, verdicts, texts = [], [], []
    for of, sample in named.items():

        def slope(own: pd.DataFrame, rule: str, of: str = of, sample: Sample = sample) -> Interval:
            numbers = sample(own)
            at = along(own, numbers, column)
            return trend_of(f"slope of {of}, {rule}", np.log2(at) if log else at, numbers, together=len(named))

        verdict, differ, slopes = by_rule(rows, slope, judge)
        intervals += slopes
        verdicts.append(verdict)
        texts.append(f"{of} {', '.join(f'{one.mean:.3g}' for one in slopes)}{differ}")
    unit = "a doubling" if log else "a unit"
    text = f"Slopes ({unit} of {column.removeprefix('p_')}) under the rules for ties: {'; '.join(texts)}."
    return in_fitted_laws(found(rows, figure, subject, all_of(verdicts), text, intervals, reading=reading))


def values(measure: str, method: str) -> Sample:
    """A method's measure, an instance each."""
    return lambda rows: rows[rows["method"] == method].groupby("instance")[measure].mean()


def similar_degrees(rows: pd.DataFrame, figure: str, over: str, *, reading: str = "") -> Finding:
    """Whether DCB-M and DCBR-M have degrees within 1 of each other on average."""
    intervals = [
        mean_of(f"{letter}_DCBR − {letter}_DCB", difference(rows, measure, "dcbr-m", "dcb-m"), together=2)
        for letter, measure in (("D", "max_degree"), ("d", "average_degree"))
    ]
    verdict = all_of(within(one, -1, 1) for one in intervals)
    text = f"Mean differences over {over}: {intervals[0].mean:+.2f} in D, {intervals[1].mean:+.3f} in d."
    reading = "; ".join(filter(None, ("similar is within 1 on average", reading)))
    return found(rows, figure, "DCBR-M and DCB-M have similar degrees", verdict, text, intervals, reading=reading)


def falls(interval: Interval) -> Verdict:
    """Whether a slope or a change is negative; 0 is not."""
    return at_most(interval, -_ZERO)


def rises(interval: Interval) -> Verdict:
    """Whether a slope or a change is positive; 0 is not."""
    return at_least(interval, _ZERO)
