"""Anytime figures of runs: gaps over time, and their integrals."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ...instances.contract.result import Status

Steps = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]
VALUE, BOUND = "value", "lower_bound"


def gap(number: float | None, best: float) -> float:
    """|number − best| ÷ max(|number|, |best|), from 0 to 1: 1 without a number, or if the signs differ."""
    if number is None or math.isnan(number) or math.isnan(best):
        return 1.0
    if number == best:
        return 0.0
    if math.isinf(number) or number * best < 0:
        return 1.0
    return abs(number - best) / max(abs(number), abs(best))


def gap_steps(points: Sequence[Mapping[str, Any]], best: float, of: str = VALUE) -> Steps:
    """The gap of a run as a step function of time: from each time on, the gap is this one; before the first it is 1.

    Parameters
    ----------
    points : sequence of mapping
        The column `points` of a row: seconds, value and lower_bound, in the order of time.
    best : float
        The best known value.
    of : {"value", "lower_bound"}
        The primal or the dual gap.
    """
    gaps = [(float(point["seconds"]), gap(point[of], best)) for point in points]
    return np.array([0.0, *(at for at, _ in gaps)]), np.array([1.0, *(each for _, each in gaps)])


def gap_integral(points: Sequence[Mapping[str, Any]], best: float, limit: float, of: str = VALUE) -> float:
    """The mean gap over the time from 0 to `limit`: the primal or dual integral (Berthold 2013) ÷ `limit`.

    0 is best: the best known value (or bound) from the start. 1 is no answer (or bound) in time. After the end of a
    run its last gap remains.
    """
    times, gaps = gap_steps(points, best, of)
    ends = np.append(times[1:], math.inf)
    held = np.clip(ends, 0, limit) - np.clip(times, 0, limit)
    return float(held @ gaps / limit)


def with_integrals(rows: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """The rows with primal_integral and dual_integral, against the best value known of their instance and problem.

    Parameters
    ----------
    rows : DataFrame
        One row a run.
    pairs : DataFrame
        The result of :func:`.proven` for them: instance, problem, best.

    Returns
    -------
    DataFrame
        Both columns are NaN for skipped runs, without a time limit, and where no value is known. A failed run has 1.
        Cost O(points).
    """
    best = dict(zip(zip(pairs["instance"], pairs["problem"], strict=True), pairs["best"], strict=True))
    found: list[tuple[float, float]] = []
    columns = (rows[name] for name in ("instance", "problem", "status", "time_limit", "points"))
    for instance, problem, status, limit, points in zip(*columns, strict=True):
        known = best.get((instance, problem), math.nan)
        if status == Status.SKIPPED or pd.isna(limit) or pd.isna(known):
            found.append((math.nan, math.nan))
        else:
            found.append((gap_integral(points, known, limit), gap_integral(points, known, limit, BOUND)))
    primal, dual = zip(*found, strict=True) if found else ((), ())
    return rows.assign(
        primal_integral=pd.Series(primal, rows.index, "float64"), dual_integral=pd.Series(dual, rows.index, "float64")
    )


def mean_steps(steps: Sequence[Steps]) -> Steps:
    """The mean of step functions, as one."""
    times = np.unique(np.fromiter(itertools.chain.from_iterable(each[0] for each in steps), np.float64))
    total = np.zeros(len(times))
    for at, gaps in steps:
        total += gaps[np.searchsorted(at, times, side="right") - 1]
    return times, total / len(steps)
