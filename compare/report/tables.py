"""The tables of a report, computed from the runs of a study."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ...instances.contract.catalogue import KINDS
from ...instances.contract.result import Status
from ..studies.bounds import measures_of, near, proven, relative_gaps, sized, sizes_of, sorted_by, with_bounds
from ..studies.columns import with_integrals
from ..studies.proofs import LEVELS

_SUMMARY = [
    *("problem", "instances", "solved", *LEVELS, "widest_gap", "mean_gap", "open_ended", "compared_with"),
    *(end + of for end in ("closest", "farthest") for of in ("", "_mean", "_worst")),
    "failed",
]
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


def summary_table(runs: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """What is proven on each problem, and the closest and the farthest heuristic: a row a problem, in usual order.

    `runs` and `pairs` are those of `judged_runs` and `proven`. problem, instances, solved (their optimum is proven), of
    these how many by each of `LEVELS`, widest_gap and mean_gap of the others ((value − bound) ÷ value, NaN without
    any), open_ended (no answer, or no bound above 0), compared_with (as text), then name, mean and worst ratio of the
    closest heuristic and of the farthest one ("" and NaN without any), failed (runs).

    Heuristics are compared by the mean over instances of the mean over runs, on the instances that all of them
    answered, with the proven optima or, where none is known, with the best bounds. Heuristics that ran on fewer
    instances than others are left out: they may have run on easy ones only.
    """
    lines = []
    for problem, own in pairs.groupby("problem", sort=False):
        here, still = runs[runs["problem"] == problem], own[own["optimum"].isna()]
        gaps = still.loc[(still["gap"] > 0) & (still["bound"] > 0), "gap"]
        line = {"problem": problem, "instances": len(own), "solved": len(own) - len(still)}
        line |= {level: int((own["optimum"].notna() & (own["proven"] == level)).sum()) for level in LEVELS}
        line |= {"widest_gap": gaps.max(), "mean_gap": gaps.mean(), "open_ended": len(still) - len(gaps)}
        ranked, line["compared_with"] = _heuristics(here)
        for name, rank in (("closest", 0), ("farthest", -1)):
            known = ranked.iloc[rank] if len(ranked) > (name == "farthest") else {}
            line |= {name: known.get("label", "")}
            line |= {f"{name}_{each}": known.get(each, np.nan) for each in ("mean", "worst")}
        lines.append({**line, "failed": int((here["status"] == Status.FAILED).sum())})
    return pd.DataFrame(lines, columns=_SUMMARY)


def _heuristics(runs: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """The heuristics that are compared, closest first: label, mean, worst; and what with, as text."""
    heuristics = runs[~runs["exact"].astype(bool)]
    ran = heuristics.groupby("label")["instance"].nunique()
    compared = heuristics[heuristics["label"].isin(ran.index[ran == ran.max()]) & heuristics["ratio"].notna()]
    solved = compared[compared["optimum"].notna()]
    for rows, nouns in ((solved, ("optimum", "optima")), (compared, ("bound", "bounds"))):
        labels = rows.groupby("instance")["label"].transform("nunique")
        shared = rows[labels == rows["label"].nunique()]
        if count := shared["instance"].nunique():
            each = shared.groupby(["label", "instance"])["ratio"].mean().groupby("label").mean().rename("mean")
            table = shared.groupby("label").agg(worst=("ratio", "max")).join(each).reset_index()
            return table.sort_values(["mean", "worst", "label"], ignore_index=True), f"{count} {nouns[count > 1]}"
    return pd.DataFrame(), ""
