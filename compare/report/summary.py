"""The summary of a problem in sentences: what was proven, and how close the heuristics are."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from ..studies.bounds import TOLERANCE
from ..studies.proofs import LEVELS
from .cells import linked
from .tables import method_table

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
        return " No heuristic could be compared with a bound."
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
