"""The summary of a problem in sentences: what was proven, and how close the heuristics are."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..studies.bounds import TOLERANCE
from ..studies.proofs import LEVELS
from .tables import method_table


class Phrase(NamedTuple):
    """A part of a sentence, and the rows of the report that its number comes from.

    `rows` is ``instances`` for the problem's table of instances, a method's label for its runs, or "".
    """

    text: str
    rows: str = ""


INSTANCES = "instances"


def summary(runs: pd.DataFrame, pairs: pd.DataFrame, problem: str) -> list[Phrase]:
    """What was proven on a problem, what was not, and how close the heuristics are; upper limits are rounded up.

    `runs` and `pairs` are those of `judged_runs` and `proven`; the texts of the phrases joined are the sentences.
    """
    table = method_table(runs, problem)
    own = runs[runs["problem"] == problem]
    return [*_proven(pairs[pairs["problem"] == problem]), *_heuristics(own), *_failures(table)]


def _proven(pairs: pd.DataFrame) -> list[Phrase]:
    total, solved = len(pairs), int(pairs["optimum"].notna().sum())
    open_pairs = pairs[pairs["optimum"].isna()]
    if open_pairs.empty:
        every = "The only instance" if total == 1 else f"All {total} instances"
        return [Phrase(every, INSTANCES), Phrase(f" {_was(total)} solved to proven optimality{_levels(pairs)}.")]
    phrases = [
        Phrase(f"{solved} of {total}", INSTANCES),
        Phrase(f" {_plural(total, 'instance')} {_was(total)} solved to proven optimality{_levels(pairs)}."),
    ]
    bounded = open_pairs[(open_pairs["gap"] > 0) & (open_pairs["bound"] > 0)]
    absurd = int((open_pairs["best"] < open_pairs["bound"]).sum())
    unanswered = int(open_pairs["best"].isna().sum())
    unbounded = len(open_pairs) - len(bounded) - absurd - unanswered
    if len(bounded):
        phrases += [
            Phrase(" On " + ("the other " if solved and len(bounded) == len(open_pairs) else "")),
            Phrase(f"{len(bounded)}", INSTANCES),
            Phrase(" the best bound is within " if len(bounded) == 1 else " the best bounds are within "),
            Phrase(percent(bounded["gap"].max(), up=True), INSTANCES),
            Phrase(" of the best overlay" if len(bounded) == 1 else " of the best overlays (on average "),
        ]
        if len(bounded) > 1:
            phrases += [Phrase(percent(bounded["gap"].mean()), INSTANCES), Phrase(")")]
        phrases.append(Phrase("; the optimum in between is not known."))
    for count, text in (
        (unbounded, "no lower bound above 0, so nothing is proven."),
        (unanswered, "no overlay from any run."),
        (absurd, "an overlay below a proven bound, which is an error."),
    ):
        if count:
            has = f" {_plural(count, 'instance')} {'has' if count == 1 else 'have'} "
            phrases += [Phrase(" "), Phrase(str(count), INSTANCES), Phrase(has + text)]
    return phrases


def _levels(pairs: pd.DataFrame) -> str:
    """How many optima are proven how far: `` (24 certified, 2 claimed)``; "" without any."""
    counts = pairs.loc[pairs["optimum"].notna(), "proven"].value_counts()
    listed = ", ".join(f"{counts[level]} {level}" for level in LEVELS if level in counts)
    return f" ({listed})" if listed else ""


def _heuristics(runs: pd.DataFrame) -> list[Phrase]:
    """The closest and the farthest heuristic by one criterion: the mean ratio, over the instances that all answered.

    The ratio is that to the proven optimum or, where none is known, to the best bound. Heuristics that ran on fewer
    instances than others are left out: they may have run on easy ones only.
    """
    heuristics = runs[~runs["exact"].astype(bool)]
    if heuristics.empty:
        return []
    ran = heuristics.groupby("label")["instance"].nunique()
    widest = ran.index[ran == ran.max()]
    compared = heuristics[heuristics["label"].isin(widest) & heuristics["ratio"].notna()]
    known = _on_common_instances(compared[compared["optimum"].notna()])
    table, base = _mean_ratios(known), "the proven optimum"
    if table.empty:
        table, base = _mean_ratios(_on_common_instances(compared)), "the best bound (no optimum is proven)"
    if table.empty:
        return [Phrase(" No heuristic could be compared with a bound.")]
    count = int(table["instances"].iloc[0])
    over = f"{base} over {count} {_plural(count, 'instance')}"
    if len(table) == 1:
        phrases = [Phrase(f" Compared with {over}, the only heuristic, "), *_closeness(table.iloc[0])]
    else:
        phrases = [Phrase(f" By the mean ratio to {over}, the closest of {len(table)} heuristics, ")]
        phrases += [*_closeness(table.iloc[0]), Phrase("; the farthest, "), *_closeness(table.iloc[-1])]
    phrases.append(Phrase("."))
    for number, label in enumerate(ran.index.difference(widest)):
        phrases += [
            Phrase(", " if number else " Not compared, because they ran on fewer instances: "),
            Phrase(label, label),
        ]
    return [*phrases, Phrase("." if len(ran) > len(widest) else "")]


def _on_common_instances(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs on the instances on which every label of `runs` has a run."""
    labels = runs.groupby("instance")["label"].nunique()
    return runs[runs["instance"].isin(labels.index[labels == runs["label"].nunique()])]


def _mean_ratios(runs: pd.DataFrame) -> pd.DataFrame:
    """One row a label, closest first: label, mean (over instances of the mean over runs), worst, instances, runs."""
    each = runs.groupby(["label", "instance"])["ratio"].mean().groupby("label").mean().rename("mean")
    grouped = runs.groupby("label")
    table = pd.DataFrame(
        {
            "mean": each,
            "worst": grouped["ratio"].max(),
            "reached": grouped["reached"].sum(),
            "instances": grouped["instance"].nunique(),
            "runs": grouped.size(),
        }
    )
    return table.reset_index().sort_values(["mean", "worst", "label"], ignore_index=True)


def _closeness(line: pd.Series[Any]) -> list[Phrase]:
    label = str(line["label"])
    if line["worst"] <= 1 + TOLERANCE:
        return [Phrase(label, label), Phrase(", is optimal in "), Phrase(f"all {line['runs']} runs", label)]
    reached = f" it (optimal in {line['reached']} of {line['runs']} {_plural(line['runs'], 'run')})"
    if line["runs"] == 1:
        return [Phrase(label, label), Phrase(", is "), Phrase(above(line["worst"]), label), Phrase(" it")]
    return [
        Phrase(label, label),
        Phrase(", is on average "),
        Phrase(above(line["mean"], up=False), label),
        Phrase(" it and at most "),
        Phrase(above(line["worst"]), label),
        Phrase(reached),
    ]


def _failures(table: pd.DataFrame) -> list[Phrase]:
    failed = table[table["failed"] > 0]
    if failed.empty:
        return []
    phrases = [Phrase(" Failed runs: ")]
    for number, line in enumerate(failed.itertuples()):
        phrases += [Phrase(", " if number else ""), Phrase(f"{line.failed} of {line.method}", line.method)]
    return [*phrases, Phrase(".")]


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
