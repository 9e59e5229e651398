"""Two results beside each other: runs are matched by what they are, and every change is counted once."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from overlaybench.compare.studies.comparison import compared, most_changed, summary
from tests.compare.report_rows import frame, run


def a_run(*about: str, **given: Any) -> dict[str, Any]:
    return run(*about, **{"machine": "m", **given})


def recipe(seed: int, nodes: int = 10) -> str:
    return json.dumps({"family": "f", "seed": seed, "workload": "zipf", "parameters": {"nodes": nodes}})


def test_runs_are_matched_by_instance_and_method_and_not_by_seed_or_key() -> None:
    a = frame(a_run(instance="x", value=5.0, seed=1), a_run(instance="y", value=7.0, seed=2))
    b = frame(a_run(instance="y", value=7.0, seed=9), a_run(instance="x", value=4.0, seed=8))
    pairs = compared(a, b).pairs.sort_values("instance")
    assert pairs["value"].tolist() == ["better", "same"]
    assert pairs["change"].tolist() == pytest.approx([-0.2, 0.0])
    assert not pairs["redrawn"].any()


def test_repeats_are_matched_by_equal_seeds_first_and_then_in_order() -> None:
    a = frame(*(a_run(value=float(seed), seed=seed) for seed in (1, 2, 3)))
    b = frame(*(a_run(value=float(seed), seed=seed) for seed in (7, 3, 5)))
    pairs = compared(a, b).pairs
    assert sorted(zip(pairs["seed_a"], pairs["seed_b"], strict=True)) == [(1, 5), (2, 7), (3, 3)]


def test_runs_with_other_options_limits_or_methods_have_no_partner() -> None:
    a = frame(a_run(value=1.0), a_run(method="ilp", value=1.0, time_limit=4.0))
    b = frame(
        a_run(value=1.0, options='{"k": 2}'),
        a_run(method="ilp", value=1.0, time_limit=60.0),
        a_run(instance="z", recipe=recipe(1)),
    )
    comparison = compared(a, b)
    assert (len(comparison.pairs), len(comparison.only_a), len(comparison.only_b)) == (0, 2, 3)
    assert any("--ignore time_limit" in note for note in comparison.notes)
    assert any("--ignore options" in note for note in comparison.notes)
    assert any("3 runs only in B" in note and "1 of them on instances" in note for note in comparison.notes)
    assert len(compared(a, b, ignore=["time_limit"]).pairs) == 1
    assert len(compared(a, b, ignore=["time_limit", "options"]).pairs) == 2


def test_other_draws_of_a_recipe_are_matched_in_order_and_not_called_better_or_worse() -> None:
    a = frame(*(a_run(instance=f"a{n}", recipe=recipe(n), value=5.0) for n in (1, 2)))
    b = frame(*(a_run(instance=f"b{n}", recipe=recipe(n + 50), value=6.0) for n in (1, 2)))
    comparison = compared(a, b)
    assert comparison.pairs["redrawn"].all()
    assert not comparison.is_worse
    line = summary(comparison).iloc[0]
    assert pd.isna(line["worse"])
    assert line["value_ratio"] == pytest.approx(1.2)
    assert most_changed(comparison, 5).empty
    assert "two draws of one recipe" in comparison.notes[0]


def test_runs_that_one_side_misses_on_a_shared_instance_are_not_matched_with_another_instance() -> None:
    both = [a_run(method="ilp", instance=name, value=1.0) for name in "xy"]
    comparison = compared(frame(*both, a_run(instance="x", value=1.0)), frame(*both, a_run(instance="y", value=1.0)))
    assert (len(comparison.pairs), len(comparison.only_a), len(comparison.only_b)) == (2, 1, 1)


def test_better_and_worse_are_of_values_bounds_and_statuses() -> None:
    before = [
        a_run(instance="1", value=10.0, status="optimal"),
        a_run(instance="2", value=10.0, status="time-limit", lower_bound=5.0),
        a_run(instance="3", value=10.0),
        a_run(instance="4"),
    ]
    after = [
        a_run(instance="1", value=11.0, status="time-limit", lower_bound=8.0),
        a_run(instance="2", value=10.0, status="optimal"),
        a_run(instance="3"),
        a_run(instance="4", value=3.0),
    ]
    comparison = compared(frame(*before), frame(*after))
    pairs = comparison.pairs.sort_values("instance")
    assert pairs["value"].tolist() == ["worse", "same", "worse", "better"]
    assert pairs["bound"].tolist() == ["worse", "better", "same", "same"]
    assert pairs["status"].tolist() == ["worse", "better", "worse", "better"]
    line = summary(comparison).iloc[0]
    counts = ["runs", "better", "same", "worse", "bounds_up", "bounds_down", "status_up", "status_down"]
    assert line[counts].tolist() == [4, 1, 1, 2, 1, 1, 2, 2]
    assert comparison.is_worse


def test_equal_results_are_the_same_everywhere_and_not_worse() -> None:
    rows = frame(a_run(instance="1", value=10.0), a_run(instance="2"), a_run("low-tco", value=0.0))
    comparison = compared(rows, rows)
    assert (comparison.pairs[["value", "bound", "status"]] == "same").all(axis=None)
    assert (comparison.is_worse, comparison.notes) == (False, ())
    assert most_changed(comparison, 9).empty


def test_times_count_above_the_noise_and_their_mean_is_geometric_with_an_interval() -> None:
    ratios = [2.0, 2.0, 0.5, 4.0, 1.0, 2.0]
    a = frame(*(a_run(instance=str(n), value=1.0, seconds=1.0) for n in range(6)), a_run("low-tco", seconds=1e-3))
    b = frame(
        *(a_run(instance=str(n), value=1.0, seconds=ratio) for n, ratio in enumerate(ratios)),
        a_run("low-tco", seconds=2e-3),
    )
    table = summary(compared(a, b)).set_index("problem")
    assert table.loc["min-tco", "time_ratio"] == pytest.approx(np.exp(np.log(ratios).mean()))
    low, high = table.loc["min-tco", ["time_low", "time_high"]]
    assert 0.5 < low < table.loc["min-tco", "time_ratio"] < high < 4
    assert table.loc["low-tco", "timed"] == 0


def test_contradicting_proofs_are_noted() -> None:
    comparison = compared(frame(a_run(value=3.0, status="optimal")), frame(a_run(value=4.0, status="optimal")))
    assert "prove different optima" in comparison.notes[0]


def test_what_changed_most_comes_first_and_statuses_before_values() -> None:
    a = frame(*(a_run(instance=name, value=10.0, status="optimal") for name in "abc"))
    b = frame(
        a_run(instance="a", value=11.0, status="optimal"),
        a_run(instance="b", value=10.0, status="time-limit", lower_bound=9.0),
        a_run(instance="c", value=20.0, status="optimal"),
    )
    assert most_changed(compared(a, b), 9)["instance"].tolist() == ["b", "c", "a"]
    assert most_changed(compared(a, b), 1)["instance"].tolist() == ["b"]
