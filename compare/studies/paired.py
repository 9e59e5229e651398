"""Methods compared on the same instances: paired differences, tests, ranks and the critical difference."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...instances.contract.errors import BadInput, unknown
from ...instances.contract.result import Status
from ..intervals import bootstrap_interval
from .plot import MEASURES
from .proofs import TOLERANCE

Floats = npt.NDArray[np.float64]
LEVEL = 0.05
_EXACT_MOST, _PERMUTED_MOST = 50, 13
HOW_TO_READ = (
    "Lower is better: a negative difference is in favour of the first method. Win/tie/loss: its wins, ties and losses. "
    "Intervals: 95%, bootstrap over instances. p: Wilcoxon signed-rank test, two-sided. A small p says that the "
    "difference is not chance on instances like these; it does not say that it is large, nor that it holds for other "
    "workloads. A large p does not prove that methods are equal."
)
"""For the readers of the tables."""


class Wilcoxon(NamedTuple):
    """The signed-rank test: the smaller rank sum, the two-sided p, how p was computed, and the zeros left out."""

    statistic: float
    p: float
    computed: str
    zeros: int


class Friedman(NamedTuple):
    """The test that all methods rank equally: χ² with correction for ties, and its p."""

    statistic: float
    p: float


@dataclass(frozen=True)
class Paired:
    """Methods on the instances of one problem that all of them have.

    `values` of the measure (one of `MEASURES`, lower is better) has shape (instances, methods), means over repeats;
    `left_out` the reasons with the number of instances that each leaves out; `table` a row a pair of methods: first,
    second, instances, mean (of first − second) with mean_low and mean_high, median with median_low and median_high (95%
    bootstrap intervals), wins, ties, losses (of the first), zeros, statistic, p (Wilcoxon), computed (how p was),
    p_holm (corrected for the number of pairs); `ranks` the mean rank of each method, 1 for the best. From three methods
    and two instances on there are Friedman's test and Nemenyi's critical difference at level 0.05: mean ranks that
    differ by less are not told apart (NaN for two methods).
    """

    problem: str
    measure: str
    values: pd.DataFrame
    left_out: dict[str, int]
    table: pd.DataFrame
    ranks: pd.Series[float]
    friedman: Friedman | None
    critical_difference: float

    @property
    def cliques(self) -> list[list[str]]:
        """The largest groups of two or more methods whose mean ranks differ by at most the critical difference."""
        ranks = self.ranks.sort_values(kind="stable")
        groups: list[list[str]] = []
        for start in range(len(ranks)):
            within = ranks.iloc[start:]
            group = within[within <= within.iloc[0] + self.critical_difference].index.tolist()
            if len(group) > 1 and not (groups and set(group) <= set(groups[-1])):
                groups.append(group)
        return groups


def paired(runs: pd.DataFrame, methods: Sequence[str], problem: str, measure: str = "ratio") -> Paired:
    """Compare methods on the instances of a problem on which every run of every one of them has the measure.

    `runs` have their bounds (`judged_runs`); `methods` are labels of them, or methods and variants that have one label.
    Fewer than two, an unknown one, and no instance that remains are bad input. Repeats are averaged first, so that an
    instance counts once. Equal runs give equal intervals. Cost O(P·B·I) for P pairs, B resamples and I instances.

    References
    ----------
    Demšar 2006, Statistical Comparisons of Classifiers over Multiple Data Sets, JMLR 7. Holm 1979, A Simple
    Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 6.
    """
    here = runs[runs["problem"] == problem]
    labels = [_label(here, name) for name in methods]
    if len(set(labels)) < 2:
        raise BadInput("a paired comparison needs at least two different methods")
    values, left_out = _values(here[here["label"].isin(labels)], labels, measure)
    if values.empty:
        reasons = "; ".join(f"{reason} on {count}" for reason, count in left_out.items())
        raise BadInput(f"{problem}: no instance has the measure '{measure}' for every method ({reasons})")
    table = pd.DataFrame([_pair(values, first, second) for first, second in itertools.combinations(labels, 2)])
    table["p_holm"] = holm(table["p"].to_numpy())
    three = len(labels) > 2
    test = friedman(values.to_numpy()) if three and len(values) > 1 else None
    apart = critical_difference(len(labels), len(values)) if three else np.nan
    return Paired(problem, measure, values, left_out, table, mean_ranks(values), test, apart)


def _label(runs: pd.DataFrame, name: str) -> str:
    for column in ("label", "variant", "method"):
        labels = sorted(set(runs.loc[runs[column] == name, "label"]))
        if len(labels) == 1:
            return str(labels[0])
        if labels:
            quoted = ", ".join(f"'{label}'" for label in labels)
            raise BadInput(f"method '{name}' has several variants or limits: name one of {quoted}")
    raise unknown("method", name, sorted(set(runs["label"])))


def _values(runs: pd.DataFrame, labels: Sequence[str], measure: str) -> tuple[pd.DataFrame, dict[str, int]]:
    """The measure by instance and method, and why instances are left out: an instance counts for its first reason."""
    column, _, unit, _ = MEASURES[measure]
    present = runs.assign(measured=runs[column].mask(runs["status"].isin([Status.FAILED, Status.SKIPPED])) / unit)
    cells = present.groupby(["instance", "label"])
    count = cells["measured"].agg(["size", "count", "mean"]).unstack("label").reindex(columns=labels, level="label")
    answered = cells["value"].agg(lambda values: values.notna().all()).unstack("label").reindex(columns=labels)
    reasons: dict[str, str] = {}
    for label in labels:
        absent = count["size"][label].isna() | (count["size"][label] == 0)
        unanswered = ~absent & ~answered[label].eq(True)
        unmeasured = count["count"][label] != count["size"][label]
        for where, reason in (
            (absent, f"{label} did not run"),
            (unanswered, f"{label} has a run without an answer"),
            (unmeasured, "no positive bound is known" if measure == "ratio" else f"{label} has no {measure}"),
        ):
            for instance in count.index[where]:
                reasons.setdefault(instance, reason)
    kept = count.index.difference(list(reasons))
    return count["mean"].loc[kept].astype("float64"), dict(Counter(reasons.values()))


def _pair(values: pd.DataFrame, first: str, second: str) -> dict[str, object]:
    x, y = values[first].to_numpy(), values[second].to_numpy()
    equal_but_for_rounding = np.abs(x - y) <= TOLERANCE * np.maximum(1e-3, np.abs(y))
    difference = np.where(equal_but_for_rounding, 0.0, x - y)
    mean, median = bootstrap_interval(difference, np.mean), bootstrap_interval(difference, np.median)
    test = wilcoxon(difference)
    named = {"first": first, "second": second, "instances": len(difference)}
    means = {"mean": float(difference.mean()), "mean_low": mean[0], "mean_high": mean[1]}
    medians = {"median": float(np.median(difference)), "median_low": median[0], "median_high": median[1]}
    signs = {"wins": difference < 0, "ties": difference == 0, "losses": difference > 0}
    counts = {name: int(where.sum()) for name, where in signs.items()}
    return {**named, **means, **medians, **counts, **test._asdict()}


def wilcoxon(difference: Floats) -> Wilcoxon:
    """Wilcoxon's signed-rank test of differences, two-sided; zeros are left out, as Wilcoxon did.

    p is exact for up to 50 differences without ties, of all sign permutations for up to 13 with ties, and otherwise of
    the normal approximation with correction for ties. Without any difference p is 1.
    """
    other = difference[difference != 0]
    zeros = len(difference) - len(other)
    if not len(other):
        return Wilcoxon(0.0, 1.0, "no differences", zeros)
    from scipy.stats import PermutationMethod
    from scipy.stats import wilcoxon as signed_ranks

    tied = len(np.unique(np.abs(other))) < len(other)
    if not tied and len(other) <= _EXACT_MOST:
        method, computed = "exact", "exact"
    elif len(other) <= _PERMUTED_MOST:
        method, computed = PermutationMethod(n_resamples=2**_PERMUTED_MOST), "of all sign permutations"
    else:
        method, computed = "asymptotic", "of the normal approximation"
    statistic, p = signed_ranks(other, method=method)
    return Wilcoxon(float(statistic), float(p), computed, zeros)


def holm(p: Floats) -> Floats:
    """Holm's step-down correction of p-values."""
    order = np.argsort(p, kind="stable")
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return corrected


def mean_ranks(values: pd.DataFrame) -> pd.Series[float]:
    """The mean rank of each column over the rows: 1 is the lowest value, and ties share their mean rank."""
    return values.round(9).rank(axis="columns").mean()


def friedman(values: Floats) -> Friedman:
    """Friedman's test on values of shape (instances, methods); p is 1 where all are equal."""
    if np.all(values == values[:, :1]):
        return Friedman(0.0, 1.0)
    from scipy.stats import friedmanchisquare

    statistic, p = friedmanchisquare(*np.round(values, 9).T)
    return Friedman(float(statistic), float(p))


def critical_difference(methods: int, instances: int) -> float:
    """Nemenyi's critical difference of mean ranks: q √(k(k + 1) ÷ 6N), with q of the studentized range ÷ √2."""
    from scipy.stats import studentized_range

    quantile = studentized_range.ppf(1 - LEVEL, methods, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(methods * (methods + 1) / (6 * instances)))


def explained(one: Paired) -> str:
    """The instances, what was left out, how the tests were computed, and the test of three or more methods."""
    left_out = ", ".join(f"{count} where {reason}" for reason, count in one.left_out.items())
    fewest = int((one.table["instances"] - one.table["zeros"]).min())
    least = 0.5 ** max(fewest - 1, 0)
    sentences = [
        f"{len(one.values)} instances that all methods have, repeats averaged first"
        + (f"; left out: {left_out}." if left_out else "; none was left out."),
        f"p is {' or '.join(dict.fromkeys(one.table['computed']))}"
        + (f"; up to {one.table['zeros'].max()} equal pairs are not in it." if one.table["zeros"].any() else "."),
    ]
    if len(one.table) > 1:
        sentences.append(f"Holm's p is corrected for {len(one.table)} pairs.")
    if one.friedman is not None:
        groups = "; ".join(" and ".join(group) for group in one.cliques) or "none"
        sentences.append(
            f"Friedman's test that all rank equally: χ² = {one.friedman.statistic:.3g}, p = {one.friedman.p:.2g}. "
            f"Nemenyi's critical difference of mean ranks at level {LEVEL:g} is {one.critical_difference:.2f}; "
            f"not told apart: {groups}."
        )
    if least > LEVEL:
        sentences.append(f"With {fewest} pairs that differ p cannot fall below {least:.2g}.")
    return " ".join(sentences)
