"""What the judges of P3's tables and figures share: rules for ties, time ratios and trends."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
from scipy import stats

from ..papers.grids_p3 import SIZES_P3, TIES
from ..papers.rows_p3 import OWN, chosen
from ..papers.tables_p3 import METHODS
from .claim import Finding, Interval, Verdict
from .evidence import SYMBOLS, all_of, at_least, at_most, mean_of, over_ties, per_instance, scope_of, within

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
    """A finding from these rows; its scope compares their sizes with those of the paper's figure or table."""
    symbols = {**_SYMBOLS, **({"p": "p"} if figure == "P3.F4" else {})}
    scope = scope_of(rows, SIZES_P3[figure], reading=reading, symbols=symbols)
    return Finding(subject, verdict, evidence, len(rows), scope=scope, intervals=tuple(intervals))


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
    return found(rows, figure, subject, verdict, text, intervals, reading=reading)


def ratios(rows: pd.DataFrame, measure: str, method: str) -> pd.Series:
    """A method's work or time ÷ GM-M's, an instance each, with ties lowest; empty where nothing was measured."""
    own = rows[(rows["ties"] == "lowest") & rows["method"].isin([method, "gm-m"]) & rows[measure].notna()]
    if own["method"].nunique() < 2:
        return pd.Series(dtype=float)
    table = per_instance(own, measure, "method")
    return table[method] / table["gm-m"]


def time_findings(
    rows: pd.DataFrame, figure: str, method: str, published: float, judge: Judge, subject: str
) -> Iterator[Finding]:
    """A claim on T ÷ T_GMM under each reading; ``order holds`` if only the saving is as claimed, not its size."""
    for reading, data, measure, aim in TIMINGS:
        if aim != OWN and method != "dcbr-m":
            continue
        own = chosen(rows, data, aim)
        sample = ratios(own, measure, method)
        if sample.empty:
            continue
        interval = mean_of(f"T_{METHODS[method]} ÷ T_GMM", sample, published)
        verdict = judge(interval)
        if verdict is Verdict.REFUTED and at_most(interval, 1) is Verdict.HOLDS:
            verdict = Verdict.ORDER
        text = f"{interval.mean:.1%} of GM-M's on average, {sample.min():.1%} to {sample.max():.1%}"
        text += f"; published {published:.1%}."
        used = own[
            own["instance"].isin(sample.index) & own["method"].isin([method, "gm-m"]) & (own["ties"] == "lowest")
        ]
        yield found(used, figure, f"{subject}: {reading}", verdict, text, [interval], reading=reading)


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
    return found(rows, figure, subject, all_of(verdicts), text, intervals, reading=reading)


def values(measure: str, method: str) -> Sample:
    """A method's measure, an instance each."""
    return lambda rows: rows[rows["method"] == method].groupby("instance")[measure].mean()


def similar_degrees(rows: pd.DataFrame, figure: str, over: str) -> Finding:
    """Whether DCB-M and DCBR-M have degrees within 1 of each other on average."""
    intervals = [
        mean_of(f"{letter}_DCBR − {letter}_DCB", difference(rows, measure, "dcbr-m", "dcb-m"), together=2)
        for letter, measure in (("D", "max_degree"), ("d", "average_degree"))
    ]
    verdict = all_of(within(one, -1, 1) for one in intervals)
    text = f"Mean differences over {over}: {intervals[0].mean:+.2f} in D, {intervals[1].mean:+.3f} in d."
    reading = "similar is within 1 on average"
    return found(rows, figure, "DCBR-M and DCB-M have similar degrees", verdict, text, intervals, reading=reading)


def falls(interval: Interval) -> Verdict:
    """Whether a slope or a change is negative; 0 is not."""
    return at_most(interval, -_ZERO)


def rises(interval: Interval) -> Verdict:
    """Whether a slope or a change is positive; 0 is not."""
    return at_least(interval, _ZERO)
