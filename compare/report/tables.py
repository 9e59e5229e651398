"""The tables of a report, computed from the runs of a study, and the summary of a problem in sentences."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from ...instances.contract.catalogue import KINDS
from ...instances.contract.result import Status
from ..studies.bounds import (
    measures_of,
    near,
    proven,
    relative_gaps,
    sized,
    sizes_of,
    sorted_by,
    with_bounds,
)
from ..studies.columns import with_integrals
from ..studies.proofs import LEVELS, TOLERANCE
from .cells import linked

_NUMBERS = ("time_limit", "value", "lower_bound", "seconds", "peak_memory")


def run_columns(runs: pd.DataFrame) -> list[str]:
    """The columns of the table of all runs, with the sizes and measures of the kinds of instances that occur."""
    before = ("key", "problem", "method", "variant", "options", "exact", "instance", "recipe", "family", "kind")
    outcome = ("seed", "time_limit", "status", "reason", "value", "lower_bound", "gap", "proven")
    after = ("seconds", "counters", "peak_memory", "code_version")
    between = (*outcome, "bound", "ratio", "optimum", "primal_integral", "dual_integral")
    names = (*before, *sizes_of(runs), *between, *measures_of(runs), *after)
    return [name for name in dict.fromkeys(names) if runs[name].notna().any() or name in (*before, *between, *after)]


def judged_runs(rows: pd.DataFrame, pairs: pd.DataFrame | None = None) -> pd.DataFrame:
    """Every run with what is proven of its instance; `rows` are those of the store, `pairs` the result of `proven`.

    The rows are sorted by problem, method and instance, with the columns of `sized` and: label (the variant, with the
    time limit if there are several), bound and optimum of the instance (NaN if unknown), ratio = value ÷ bound (1 if
    both are 0, NaN without a positive bound), gap = (value − the run's own lower bound) ÷ value, proven (the level of
    the run's own bound), primal_integral and dual_integral (:func:`.with_integrals`), reached (the value is the proven
    optimum), anchor (its identifier on the page). Cost O(R log R) for R rows.
    """
    runs = sized(rows)
    for name in _NUMBERS:
        runs[name] = pd.to_numeric(runs[name]).astype(np.float64)
    pairs = proven(runs) if pairs is None else pairs
    runs.loc[runs["status"] == Status.FAILED, ["value", "lower_bound"]] = np.nan
    runs.loc[runs["status"] == Status.SKIPPED, "seconds"] = np.nan
    limits = runs.groupby(["problem", "variant"])["time_limit"].transform(lambda column: column.nunique(dropna=False))
    shown = runs["time_limit"].map(lambda limit: "no limit" if np.isnan(limit) else f"{limit:g} s")
    runs["label"] = runs["variant"].where(limits <= 1, runs["variant"] + ", " + shown)
    runs = with_integrals(with_bounds(runs, pairs), pairs)
    runs["gap"] = relative_gaps(runs["value"], runs["lower_bound"])
    runs["reached"] = near(runs["value"], runs["optimum"], runs["problem"])
    runs = sorted_by(runs, "problem", "exact", "label", "family", "extent", "volume", "instance", "seed", "key")
    runs["anchor"] = [f"run-{number}" for number in range(1, len(runs) + 1)]
    return runs


def method_table(runs: pd.DataFrame, problem: str) -> pd.DataFrame:
    """The results of each method on a problem (`judged_runs`): heuristics, then exact methods, each by mean ratio.

    method (a label), exact, instances, runs, answered, mean_ratio and worst_ratio to the best bound (over the
    `compared` runs, those with a ratio, on compared_instances), worst_run (an anchor), then of the runs whose instance
    has a proven optimum: versus_optimum (how many gave an answer), optimum_instances (theirs), mean_over_optimum and
    worst_over_optimum (ratios), reached; proved (runs that proved their own answer optimal), failed, mean_integral (of
    the primal integrals), mean_seconds (over all runs but skipped ones).
    """
    own = runs[runs["problem"] == problem]
    known = own["optimum"].notna() & own["value"].notna()
    own = own.assign(
        bounded=own["instance"].where(own["ratio"].notna()),
        solved=own["instance"].where(known),
        known=known,
        over=own["ratio"].where(known),
        reached=own["reached"] & known,
        proved=own["status"] == Status.OPTIMAL,
        failed=own["status"] == Status.FAILED,
    )
    table = own.groupby("label").agg(
        exact=("exact", "any"),
        instances=("instance", "nunique"),
        runs=("key", "size"),
        answered=("value", "count"),
        compared=("ratio", "count"),
        compared_instances=("bounded", "nunique"),
        mean_ratio=("ratio", "mean"),
        worst_ratio=("ratio", "max"),
        versus_optimum=("known", "sum"),
        optimum_instances=("solved", "nunique"),
        mean_over_optimum=("over", "mean"),
        worst_over_optimum=("over", "max"),
        reached=("reached", "sum"),
        proved=("proved", "sum"),
        failed=("failed", "sum"),
        mean_integral=("primal_integral", "mean"),
        mean_seconds=("seconds", "mean"),
    )
    ranked = own[own["ratio"].notna()].sort_values("ratio", ascending=False, kind="stable").drop_duplicates("label")
    table.insert(8, "worst_run", ranked.set_index("label")["anchor"].reindex(table.index).fillna(""))
    table = table.rename_axis("method").reset_index()
    return table.sort_values(["exact", "mean_ratio", "method"], ignore_index=True)


def family_ratios(runs: pd.DataFrame, problem: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The mean ratio to the best bound, and the number of instances behind it.

    Both have a row for each method, as in `method_table`, and a column for each family with runs of the problem; the
    ratio is NaN without any.
    """
    chosen = runs[runs["problem"] == problem]
    methods, families = method_table(runs, problem)["method"], sorted(chosen["family"].unique())
    by = chosen[chosen["ratio"].notna()].groupby(["label", "family"])
    means, counts = (
        each.unstack().reindex(methods, columns=families) for each in (by["ratio"].mean(), by["instance"].nunique())
    )
    return means, counts.fillna(0).astype(int)


def family_table(runs: pd.DataFrame) -> pd.DataFrame:
    """The instances: a row for each kind, family and extent.

    Then size (all sizes of the kind, as text, ranges where they differ), instances, problems, seeds (of the runs, as
    text), runs, seconds (of all runs together).
    """
    grouped = runs.groupby(["kind", "family", "extent"])
    table = grouped.agg(
        instances=("instance", "nunique"),
        problems=("problem", "nunique"),
        seeds=("seed", listed),
        runs=("key", "size"),
        seconds=("seconds", "sum"),
    ).reset_index()
    sizes = [", ".join(f"{span(group[size])} {size}" for size in KINDS[kind].sizes) for (kind, *_), group in grouped]
    table.insert(3, "size", pd.Series(sizes, dtype=object))
    return table


def effort_table(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs: a row for each variant of a method.

    method, exact, problems (count), time_limits (as text, seconds), runs, one column a status with its count, seconds
    (of all runs together), longest (seconds), peak_memory (bytes, NaN where it was not measured).
    """
    ended = runs.assign(**{str(status): runs["status"] == status for status in Status})
    table = ended.groupby(["exact", "variant"]).agg(
        problems=("problem", "nunique"),
        time_limits=("time_limit", lambda limits: listed(limits, unit=" s") or "none"),
        runs=("key", "size"),
        **{str(status): (str(status), "sum") for status in Status},
        seconds=("seconds", "sum"),
        longest=("seconds", "max"),
        peak_memory=("peak_memory", "max"),
    )
    table = table.reset_index().rename(columns={"variant": "method"})
    return table[["method", "exact", *table.columns[2:]]]


def failure_table(runs: pd.DataFrame) -> pd.DataFrame:
    """Failed runs by problem, method and reason: problem, method, reason, runs, first_run (an anchor)."""
    failed = runs[runs["status"] == Status.FAILED]
    grouped = failed.groupby(["problem", "label", "reason"], sort=False)
    table = grouped.agg(runs=("key", "size"), first_run=("anchor", "first")).reset_index()
    return table.rename(columns={"label": "method"})


def span(numbers: pd.Series[float]) -> str:
    """The range of integers, as text."""
    low, high = int(numbers.min()), int(numbers.max())
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


def listed(numbers: pd.Series[float], *, unit: str = "", most: int = 6) -> str:
    """The distinct numbers, as text; a long list is shortened in the middle. NaN is written ``none``."""
    texts = [f"{number:.12g}" for number in sorted(set(numbers.dropna().tolist()))]
    if not texts:
        return ""
    shown = texts if len(texts) <= most else [*texts[:2], "…", texts[-1]]
    return ", ".join(shown) + unit + (", none" if numbers.isna().any() else "")


INSTANCES = "instances"
Link = Callable[..., Markup]
"""Gives a text as a link to a method's runs, by its label, or to the problem's instances."""


def summary(runs: pd.DataFrame, pairs: pd.DataFrame, problem: str, to: Callable[[str], str]) -> Markup:
    """What was proven on a problem, what was not, and how close the heuristics are; upper limits are rounded up.

    `runs` and `pairs` are those of `judged_runs` and `proven`. `to` gives the identifier of the rows that a number
    comes from: of a method's runs by its label, and of the problem's instances by `INSTANCES`.
    """

    def link(text: object, rows: str = INSTANCES) -> Markup:
        return linked(text, to(rows))

    own, table = runs[runs["problem"] == problem], method_table(runs, problem)
    # Every text of a study is in a link, which escapes it.
    return Markup(_proven(pairs[pairs["problem"] == problem], link) + _heuristics(own, link) + _failures(table, link))


def _proven(pairs: pd.DataFrame, link: Link) -> str:
    total, solved = len(pairs), int(pairs["optimum"].notna().sum())
    unsolved = pairs[pairs["optimum"].isna()]
    if unsolved.empty:
        every = "The only instance" if total == 1 else f"All {total} instances"
        return f"{link(every)} {_was(total)} solved to proven optimality{_levels(pairs)}."
    text = f"{link(f'{solved} of {total}')} {_plural(total, 'instance')} {_was(total)} solved to proven optimality"
    text += f"{_levels(pairs)}."
    bounded = unsolved[(unsolved["gap"] > 0) & (unsolved["bound"] > 0)]
    absurd, unanswered = int((unsolved["best"] < unsolved["bound"]).sum()), int(unsolved["best"].isna().sum())
    if count := len(bounded):
        most, mean = link(percent(bounded["gap"].max(), up=True)), link(percent(bounded["gap"].mean()))
        text += f" On {'the other ' if solved and count == len(unsolved) else ''}{link(count)} the best "
        one, several = f"bound is within {most} of the best overlay", f"bounds are within {most} of the best overlays"
        text += f"{one if count == 1 else f'{several} (on average {mean})'}; the optimum in between is not known."
    for count, what in (
        (len(unsolved) - len(bounded) - absurd - unanswered, "no lower bound above 0, so nothing is proven."),
        (unanswered, "no overlay from any run."),
        (absurd, "an overlay below a proven bound, which is an error."),
    ):
        if count:
            text += f" {link(count)} {_plural(count, 'instance')} {'has' if count == 1 else 'have'} {what}"
    return text


def _levels(pairs: pd.DataFrame) -> str:
    """How many optima are proven how far: `` (24 certified, 2 claimed)``; "" without any."""
    counts = pairs.loc[pairs["optimum"].notna(), "proven"].value_counts()
    listed = ", ".join(f"{counts[level]} {level}" for level in LEVELS if level in counts)
    return f" ({listed})" if listed else ""


def _heuristics(runs: pd.DataFrame, link: Link) -> str:
    """The closest and the farthest heuristic by one criterion: the mean ratio, over the instances that all answered.

    The ratio is that to the proven optimum or, where none is known, to the best bound. Heuristics that ran on fewer
    instances than others are left out: they may have run on easy ones only.
    """
    heuristics = runs[~runs["exact"].astype(bool)]
    if heuristics.empty:
        return ""
    ran = heuristics.groupby("label")["instance"].nunique()
    widest = ran.index[ran == ran.max()]
    compared = heuristics[heuristics["label"].isin(widest) & heuristics["ratio"].notna()]
    table, base = _mean_ratios(compared[compared["optimum"].notna()]), "the proven optimum"
    if table.empty:
        table, base = _mean_ratios(compared), "the best bound (no optimum is proven)"
    if table.empty:
        return " No heuristic could be compared with a bound: add an exact method to the study."
    count = int(table["instances"].iloc[0])
    over = f"{base} over {count} {_plural(count, 'instance')}"
    if len(table) == 1:
        text = f" Compared with {over}, the only heuristic, {_closeness(table.iloc[0], link)}."
    else:
        text = (
            f" By the mean ratio to {over}, the closest of {len(table)} heuristics, {_closeness(table.iloc[0], link)}; "
        )
        text += f"the farthest, {_closeness(table.iloc[-1], link)}."
    left_out = [link(label, label) for label in ran.index.difference(widest)]
    return text + (f" Not compared, because they ran on fewer instances: {', '.join(left_out)}." if left_out else "")


def _mean_ratios(runs: pd.DataFrame) -> pd.DataFrame:
    """One row a label, closest first: label, mean (over instances of the mean over runs), worst, instances, runs.

    Of runs on the instances that all labels have.
    """
    labels = runs.groupby("instance")["label"].transform("nunique")
    runs = runs[labels == runs["label"].nunique()]
    each = runs.groupby(["label", "instance"])["ratio"].mean().groupby("label").mean().rename("mean")
    grouped = runs.groupby("label")
    table = grouped.agg(
        worst=("ratio", "max"), reached=("reached", "sum"), instances=("instance", "nunique"), runs=("ratio", "size")
    ).join(each)
    return table.reset_index().sort_values(["mean", "worst", "label"], ignore_index=True)


def _closeness(line: pd.Series[Any], link: Link) -> str:
    label, name = str(line["label"]), link(line["label"], str(line["label"]))
    worst = link(above(line["worst"]), label)
    if line["worst"] <= 1 + TOLERANCE:
        every = link(f"all {line['runs']} runs", label)
        return f"{name}, is optimal in {every}"
    if line["runs"] == 1:
        return f"{name}, is {worst} it"
    mean = link(above(line["mean"], up=False), label)
    reached = f"(optimal in {line['reached']} of {line['runs']} {_plural(line['runs'], 'run')})"
    return f"{name}, is on average {mean} it and at most {worst} it {reached}"


def _failures(table: pd.DataFrame, link: Link) -> str:
    failed = table[table["failed"] > 0]
    listed = ", ".join(link(f"{line.failed} of {line.method}", line.method) for line in failed.itertuples())
    return f" Failed runs: {listed}." if listed else ""


def above(ratio: float, *, up: bool = True) -> str:
    """A ratio as a percentage above 1, or as a multiple from 2 on; rounded up, or to the nearest."""
    if ratio < 2:
        return f"{percent(ratio - 1, up=up)} above"
    return f"{(math.ceil(10 * ratio - 1e-9) if up else round(10 * ratio)) / 10:,.4g} times"


def percent(share: float, *, up: bool = False) -> str:
    """A share in per cent with two digits (no fraction from 100% on); `up` rounds it up."""
    if not np.isfinite(share):
        return "∞"
    if share <= 0:
        return "0%"
    step = 10.0 ** min(math.floor(math.log10(100 * share)) - 1, 0)
    steps = 100 * share / step
    return f"{step * (math.ceil(steps - 1e-9) if up else round(steps)):,.6g}%"


def _plural(count: int, noun: str) -> str:
    return noun if count == 1 else noun + "s"


def _was(count: int) -> str:
    return "was" if count == 1 else "were"
