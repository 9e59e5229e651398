"""The summary of a problem in sentences: what was proven, and how close the heuristics are."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..studies.bounds import TOLERANCE
from .tables import method_table


class Phrase(NamedTuple):
    """A part of a sentence, and the rows of the report that its number comes from.

    `rows` is ``instances`` for the problem's table of instances, a method's label for its runs, or "".
    """

    text: str
    rows: str = ""


INSTANCES = "instances"


def summary(runs: pd.DataFrame, pairs: pd.DataFrame, problem: str) -> list[Phrase]:
    """What was proven on a problem, what was not, and how close the heuristics are.

    Parameters
    ----------
    runs, pairs : DataFrame
        From `judged_runs` and `proven`.
    problem : str

    Returns
    -------
    list of Phrase
        Their texts joined are the sentences. Upper limits are rounded up.
    """
    table = method_table(runs, problem)
    return [*_proven(pairs[pairs["problem"] == problem]), *_heuristics(table), *_failures(table)]


def _proven(pairs: pd.DataFrame) -> list[Phrase]:
    total, solved = len(pairs), int(pairs["optimum"].notna().sum())
    open_pairs = pairs[pairs["optimum"].isna()]
    if open_pairs.empty:
        every = "The only instance" if total == 1 else f"All {total} instances"
        return [Phrase(every, INSTANCES), Phrase(f" {_was(total)} solved to proven optimality.")]
    phrases = [
        Phrase(f"{solved} of {total}", INSTANCES),
        Phrase(f" {_plural(total, 'instance')} {_was(total)} solved to proven optimality."),
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


def _heuristics(table: pd.DataFrame) -> list[Phrase]:
    """The closest and the farthest heuristic, by known optima or, without any, by bounds."""
    heuristics = table[~table["exact"].astype(bool)]
    if heuristics.empty:
        return []
    known = _widest(heuristics[heuristics["mean_over_optimum"].notna()])
    if known.empty:
        return _against_bounds(_widest(heuristics[heuristics["mean_ratio"].notna()]))
    best = known.sort_values(["mean_over_optimum", "worst_over_optimum", "method"]).iloc[0]
    phrases = [
        Phrase(" Where the optimum is known, the closest heuristic is "),
        Phrase(best["method"], best["method"]),
        Phrase(", which reaches it in "),
        Phrase(f"{best['reached']} of {best['versus_optimum']}", best["method"]),
        Phrase(f" {_plural(best['versus_optimum'], 'run')}"),
    ]
    if best["worst_over_optimum"] > 1 + TOLERANCE:
        phrases += [
            Phrase(" and is at most "),
            Phrase(above(best["worst_over_optimum"]), best["method"]),
            Phrase(" it"),
        ]
    worst = known.loc[known["worst_over_optimum"].idxmax()]
    if worst["method"] != best["method"] and worst["worst_over_optimum"] > best["worst_over_optimum"] + TOLERANCE:
        phrases += [
            Phrase("; the farthest is "),
            Phrase(worst["method"], worst["method"]),
            Phrase(", up to "),
            Phrase(above(worst["worst_over_optimum"]), worst["method"]),
            Phrase(" it"),
        ]
    return [*phrases, Phrase(".")]


def _widest(lines: pd.DataFrame) -> pd.DataFrame:
    """The methods that ran on the most instances; others may have run on easy ones only."""
    return lines[lines["instances"] == lines["instances"].max()]


def _against_bounds(compared: pd.DataFrame) -> list[Phrase]:
    if compared.empty:
        return [Phrase(" No heuristic could be compared with a bound.")]
    best = compared.sort_values(["mean_ratio", "worst_ratio", "method"]).iloc[0]
    return [
        Phrase(" No heuristic could be compared with a proven optimum; the closest to the bounds is "),
        Phrase(best["method"], best["method"]),
        Phrase(", at most "),
        Phrase(above(best["worst_ratio"]), best["method"]),
        Phrase(" them."),
    ]


def _failures(table: pd.DataFrame) -> list[Phrase]:
    failed = table[table["failed"] > 0]
    if failed.empty:
        return []
    phrases = [Phrase(" Failed runs: ")]
    for number, line in enumerate(failed.itertuples()):
        phrases += [Phrase(", " if number else ""), Phrase(f"{line.failed} of {line.method}", line.method)]
    return [*phrases, Phrase(".")]


def above(ratio: float) -> str:
    """A ratio as a percentage above 1, or as a multiple from 2 on; rounded up."""
    return f"{percent(ratio - 1, up=True)} above" if ratio < 2 else f"{math.ceil(10 * ratio - 1e-9) / 10:,.4g} times"


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
