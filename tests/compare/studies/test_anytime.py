"""Gaps over time and their integrals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlaybench.compare.studies.columns import (
    BOUND,
    gap,
    gap_integral,
    gap_steps,
    mean_steps,
    with_integrals,
)

POINTS: list[dict[str, Any]] = [
    {"seconds": 2.0, "value": 20.0, "lower_bound": None},
    {"seconds": 5.0, "value": 10.0, "lower_bound": 5.0},
]


def test_integrals_are_mean_gaps_over_the_time_limit() -> None:
    assert gap_integral(POINTS, 10.0, 10.0) == pytest.approx((2 * 1 + 3 * 0.5 + 5 * 0) / 10)
    assert gap_integral(POINTS, 10.0, 10.0, BOUND) == pytest.approx((5 * 1 + 5 * 0.5) / 10)
    assert gap_integral(POINTS, 10.0, 4.0) == pytest.approx((2 * 1 + 2 * 0.5) / 4)
    assert gap_integral([], 10.0, 4.0) == 1.0


def test_gaps_lie_between_0_and_1() -> None:
    assert gap(None, 3) == gap(math.nan, 3) == gap(math.inf, 3) == gap(-3, 3) == gap(5, 0) == 1
    assert gap(0, 0) == gap(4, 4) == 0
    assert gap(4, 3) == gap(3, 4) == 0.25


times = st.lists(st.tuples(st.floats(0.001, 20), st.integers(1, 9)), min_size=1, max_size=6)


@settings(deadline=None)
@given(runs=st.lists(times, min_size=1, max_size=4), at=st.floats(0, 25))
def test_the_mean_of_step_functions_is_their_mean_at_every_time(runs: list[list[tuple[float, int]]], at: float) -> None:
    steps = []
    for run in runs:
        at_times = sorted({seconds for seconds, _ in run})
        points = [{"seconds": t, "value": 9.0 - i, "lower_bound": None} for i, t in enumerate(at_times)]
        steps.append(gap_steps(points, 3.0))
    mean = mean_steps(steps)

    def value_at(each: tuple[Any, Any]) -> float:
        return float([g for t, g in zip(*each, strict=True) if t <= at][-1])

    assert value_at(mean) == pytest.approx(np.mean([value_at(each) for each in steps]))


def test_integrals_of_rows_are_against_the_best_value_of_all_runs() -> None:
    rows = pd.DataFrame(
        {
            "instance": ["i", "i", "i", "j"],
            "problem": "min-tco",
            "status": ["feasible", "failed", "skipped", "feasible"],
            "seconds": [5.0, 1.0, math.nan, 1.0],
            "value": [10.0, math.nan, math.nan, 7.0],
            "lower_bound": math.nan,
            "time_limit": [10.0, 10.0, 10.0, math.nan],
            "points": [POINTS, [], [], []],
        }
    )
    pairs = pd.DataFrame({"instance": ["i", "j"], "problem": "min-tco", "best": [10.0, 7.0]})
    primal = with_integrals(rows, pairs)["primal_integral"]
    assert primal.iloc[:2].tolist() == [pytest.approx(0.35), 1.0]
    assert primal.iloc[2:].isna().all()
