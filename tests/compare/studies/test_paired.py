"""Results beside each other: paired methods against published numbers, and two results by their runs."""

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlaybench.compare.intervals import bootstrap_interval
from overlaybench.compare.report.tables import judged_runs
from overlaybench.compare.studies.comparison import compared, most_changed, summary
from overlaybench.compare.studies.paired import (
    critical_difference,
    explained,
    friedman,
    holm,
    mean_ranks,
    paired,
    wilcoxon,
)
from overlaybench.instances.contract.errors import BadInput
from tests.compare.report_rows import frame, recipe, run
from tests.outcomes import known

TABLE = """4 3 2 1  1 2 3 4  4 1 2 3  4 1 3 2  4 2 3 1  1 2.5 4 2.5  3 2 4 1  2.5 2.5 4 1  4 3 2 1  2.5 2.5 2.5 2.5
4 2.5 1 2.5  3 2 4 1  4 1 2 3  3 1 4 2"""
DEMSAR = np.array(TABLE.split(), dtype=float).reshape(14, 4)
"""Demšar 2006, Table 6: the ranks of four classifiers on 14 data sets, which serve as values here."""


def test_ranks_and_critical_difference_are_those_of_demsars_example() -> None:
    ranks = mean_ranks(pd.DataFrame(DEMSAR))
    assert ranks.round(3).tolist() == [3.143, 2.0, 2.893, 1.964]
    n, k = DEMSAR.shape
    uncorrected = 12 * n / (k * (k + 1)) * ((ranks**2).sum() - k * (k + 1) ** 2 / 4)
    assert uncorrected == pytest.approx(9.28, abs=0.01)
    ties = sum(size**3 - size for row in DEMSAR for size in np.unique(row, return_counts=True)[1])
    assert friedman(DEMSAR).statistic == pytest.approx(uncorrected / (1 - ties / (n * k * (k * k - 1))))
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.005)


@pytest.mark.parametrize(("methods", "quantile"), [(2, 1.960), (3, 2.343), (5, 2.728), (8, 3.031), (10, 3.164)])
def test_the_quantiles_are_those_of_demsars_table_5(methods: int, quantile: float) -> None:
    factor = np.sqrt(methods * (methods + 1) / 60)
    assert critical_difference(methods, 10) / factor == pytest.approx(quantile, abs=1e-3)


def test_wilcoxons_test_is_that_of_darwins_maize() -> None:
    """The example of scipy: statistic 24, p 0.041."""
    heights = [6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75]
    test = wilcoxon(np.array(heights, dtype=float))
    assert (test.statistic, test.computed, test.zeros) == (24.0, "exact", 0)
    assert test.p == pytest.approx(0.04125976562)


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=7))
@settings(max_examples=25, deadline=None)
def test_wilcoxons_p_is_the_share_of_sign_permutations_that_are_as_extreme(differences: list[int]) -> None:
    test = wilcoxon(np.array(differences, dtype=float))
    other = [each for each in differences if each]
    ranks = pd.Series([abs(each) for each in other], dtype=float).rank().to_numpy()
    centre = ranks.sum() / 2
    seen = abs(sum(rank for rank, each in zip(ranks, other, strict=True) if each > 0) - centre)
    signs = itertools.product((0, 1), repeat=len(other))
    extreme = [abs(float(np.dot(ranks, sign)) - centre) >= seen - 1e-9 for sign in signs]
    assert test.p == pytest.approx(np.mean(extreme))
    assert test.zeros == differences.count(0)


def test_holms_correction_and_the_bootstrap_are_those_of_the_books() -> None:
    corrected = holm(np.array([0.01, 0.04, 0.03, 0.005]))
    assert corrected.tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm(np.array([0.9, 0.8])).tolist() == [1.0, 1.0]
    sample = np.random.default_rng(1).normal(3, 1, 200)
    low, high = bootstrap_interval(sample, np.mean)
    half = 1.972 * sample.std(ddof=1) / np.sqrt(200)
    assert (low, high) == pytest.approx((sample.mean() - half, sample.mean() + half), abs=0.03)
    assert bootstrap_interval(sample, np.mean) == (low, high)
    assert bootstrap_interval(np.full(5, 2.0), np.mean) == (2.0, 2.0)
    assert np.isnan(bootstrap_interval(np.ones(1), np.median)).all()
    skewed = np.append(np.ones(9), 10.0)
    percentiles = bootstrap_interval(skewed, lambda values, axis: values.mean(axis))
    assert bootstrap_interval(skewed, np.mean)[1] > percentiles[1], "corrected for bias"


def study(**values: list[float | None]) -> pd.DataFrame:
    """A run a method (``_`` for ``-``) and instance with these values, all with a bound of 10."""
    given = [
        run(method=name.replace("_", "-"), instance=f"i{number}", value=value, lower_bound=10.0)
        for name, column in values.items()
        for number, value in enumerate(column)
    ]
    return judged_runs(frame(*given))


def test_differences_wins_and_ranks_are_of_the_instances_that_all_methods_have() -> None:
    runs = study(gm=[10, 12, 14, 10, None], low_oda=[12, 12, 13, 15, 11], gm_m=[20, 20, 20, 20])
    result = paired(runs, ["gm", "low-oda", "gm-m"], "min-tco")
    first = result.table.iloc[0]
    assert first[["wins", "ties", "losses"]].tolist() == [2, 1, 1]
    assert first["mean"] == pytest.approx(np.mean([-0.2, 0, 0.1, -0.5]))
    assert first["median"] == pytest.approx(-0.1)
    assert result.ranks["gm-m"] == 3
    assert result.left_out == {"gm has a run without an answer": 1}
    assert "left out: 1 where gm has a run without an answer" in explained(result)
    assert "p cannot fall below 0.25" in explained(result)  # three of four pairs differ


def test_repeats_are_averaged_so_that_an_instance_counts_once() -> None:
    rows: list[dict[str, Any]] = [run(instance=name, value=0.15) for name in "ab"]
    rows += [
        run(method="ilp", instance=name, value=value, seed=seed)
        for name in "ab"
        for seed, value in ((1, 0.1), (2, 0.2))  # of which the mean is 0.15 but for rounding
    ]
    table = paired(judged_runs(frame(*rows)), ["gm", "ilp"], "min-tco", "value").table
    assert table[["instances", "mean", "ties"]].iloc[0].tolist() == [2, 0, 2]
    assert table["p"].iloc[0] == 1


def test_ratios_need_a_bound_and_values_do_not() -> None:
    runs = judged_runs(frame(run(value=4.0), run(method="gm-m", value=5.0)))
    with pytest.raises(BadInput, match=r"no instance has the measure 'ratio' .*no positive bound is known on 1"):
        paired(runs, ["gm", "gm-m"], "min-tco")
    assert paired(runs, ["gm", "gm-m"], "min-tco", "value").table["mean"].iloc[0] == -1


@pytest.mark.parametrize(
    ("methods", "message"),
    [(["gm", "gn-m"], "unknown method 'gn-m'"), (["gm"], "at least two"), (["gm", "low-oda"], "several variants")],
)
def test_methods_are_named_by_their_labels(methods: list[str], message: str) -> None:
    rows = [run(value=4.0), run(method="gm-m", value=4.0)]
    rows += [run(method="low-oda", variant=f"low-oda k={k}", options=f'{{"k": {k}}}', value=4.0) for k in (2, 3)]
    runs = judged_runs(frame(*rows))
    with pytest.raises(BadInput, match=message):
        paired(runs, methods, "min-tco", "value")
    assert len(paired(runs, ["gm", "low-oda k=2"], "min-tco", "value").table) == 1


def test_methods_whose_ranks_are_close_share_a_clique() -> None:
    runs = study(gm=[10, 11] * 5, gm_m=[11, 10] * 5, low_oda=[30] * 10, ring_per_topic=[40] * 10)
    result = paired(runs, ["gm", "gm-m", "low-oda", "ring-per-topic"], "min-tco")
    assert result.cliques == [["gm", "gm-m"], ["low-oda", "ring-per-topic"]]
    assert known(result.friedman).p < 1e-4


def a_run(*about: str, **given: Any) -> dict[str, Any]:
    return run(*about, **{"machine": "m", **given})


def test_runs_are_matched_by_what_they_are_and_repeats_by_seeds_first() -> None:
    a = frame(a_run(instance="x", value=5.0, seed=1), a_run(instance="y", value=7.0, seed=2))
    b = frame(a_run(instance="y", value=7.0, seed=9), a_run(instance="x", value=4.0, seed=8))
    pairs = compared(a, b).pairs.sort_values("instance")
    assert pairs["value"].tolist() == ["better", "same"]
    assert pairs["change"].tolist() == pytest.approx([-0.2, 0.0])
    assert not pairs["redrawn"].any()
    a = frame(*(a_run(value=float(seed), seed=seed) for seed in (1, 2, 3)))
    b = frame(*(a_run(value=float(seed), seed=seed) for seed in (7, 3, 5)))
    pairs = compared(a, b).pairs
    assert sorted(zip(pairs["seed_a"], pairs["seed_b"], strict=True)) == [(1, 5), (2, 7), (3, 3)]


def test_runs_with_other_options_limits_or_methods_have_no_partner() -> None:
    a = frame(a_run(value=1.0), a_run(method="ilp", value=1.0, time_limit=4.0))
    b = frame(
        a_run(value=1.0, options='{"k": 2}'),
        a_run(method="ilp", value=1.0, time_limit=60.0),
        a_run(instance="z", recipe=recipe()),
    )
    comparison = compared(a, b)
    assert (len(comparison.pairs), len(comparison.only_a), len(comparison.only_b)) == (0, 2, 3)
    assert any("--ignore time_limit" in note for note in comparison.notes)
    assert any("--ignore options" in note for note in comparison.notes)
    assert any("3 runs only in B" in note and "1 of them on instances" in note for note in comparison.notes)
    assert len(compared(a, b, ignore=["time_limit"]).pairs) == 1
    assert len(compared(a, b, ignore=["time_limit", "options"]).pairs) == 2


def test_other_draws_of_a_recipe_are_matched_in_order_and_not_called_better_or_worse() -> None:
    a = frame(*(a_run(instance=f"a{n}", recipe=recipe(seed=n), value=5.0) for n in (1, 2)))
    b = frame(*(a_run(instance=f"b{n}", recipe=recipe(seed=n + 50), value=6.0) for n in (1, 2)))
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
        a_run(instance="5", value=9.0),
        a_run(instance="6", value=9.0, lower_bound=4.0),
    ]
    after = [
        a_run(instance="1", value=11.0, status="time-limit", lower_bound=8.0),
        a_run(instance="2", value=10.0, status="optimal"),
        a_run(instance="3"),
        a_run(instance="4", value=3.0),
        a_run(instance="5", value=9.0, lower_bound=0.0),
        a_run(instance="6", value=9.0),
    ]
    comparison = compared(frame(*before), frame(*after))
    pairs = comparison.pairs.sort_values("instance")
    assert pairs["value"].tolist() == ["worse", "same", "worse", "better", "same", "same"]
    assert pairs["bound"].tolist() == ["worse", "better", "same", "same", "better", "worse"]
    assert pairs["status"].tolist() == ["worse", "better", "worse", "better", "same", "same"]
    line = summary(comparison).iloc[0]
    counts = ["runs", "better", "same", "worse", "bounds_up", "bounds_down", "status_up", "status_down"]
    assert line[counts].tolist() == [6, 1, 3, 2, 2, 2, 2, 2]
    assert comparison.is_worse


def test_equal_results_are_the_same_everywhere_and_not_worse() -> None:
    rows = frame(a_run(instance="1", value=10.0), a_run(instance="2"), a_run("low-tco", value=0.0))
    comparison = compared(rows, rows.assign(value=rows["value"] * (1 + 1e-9)))
    assert (comparison.pairs[["value", "bound", "status"]] == "same").all(axis=None)
    assert (comparison.is_worse, comparison.notes) == (False, ())
    assert most_changed(comparison, 9).empty


def test_times_count_above_the_noise_and_their_mean_is_geometric_with_an_interval() -> None:
    ratios = [2.0, 2.0, 0.5, 4.0, 1.0]
    both = [a_run("k-tco", value=1.0, seconds=seconds) for seconds in (0.05, 0.2)]
    a = frame(
        *(a_run(instance=str(n), value=1.0, seconds=1.0) for n in range(5)), a_run("low-tco", seconds=1e-3), both[0]
    )
    b = frame(
        both[1],
        *(a_run(instance=str(n), value=1.0, seconds=ratio) for n, ratio in enumerate(ratios)),
        a_run("low-tco", seconds=2e-3),
    )
    table = summary(compared(a, b)).set_index("problem")
    assert table.loc["min-tco", "time_ratio"] == pytest.approx(np.exp(np.log(ratios).mean()))
    low, high = table.loc["min-tco", ["time_low", "time_high"]]
    assert 0.5 < low < table.loc["min-tco", "time_ratio"] < high < 4
    assert table["timed"].to_dict() == {"min-tco": 5, "k-tco": 1, "low-tco": 0}


def test_contradicting_proofs_are_noted() -> None:
    comparison = compared(frame(a_run(value=3.0, status="optimal")), frame(a_run(value=4.0, status="optimal")))
    assert "prove different optima" in comparison.notes[0]


def test_a_status_that_fell_is_worse_at_an_equal_value() -> None:
    sides = (frame(a_run(value=3.0, lower_bound=3.0, status=status)) for status in ("optimal", "time-limit"))
    assert compared(*sides).is_worse


def test_what_changed_most_comes_first_and_statuses_before_values() -> None:
    a = frame(*(a_run(instance=name, value=10.0, status="optimal") for name in "abc"))
    b = frame(
        a_run(instance="a", value=11.0, status="optimal"),
        a_run(instance="b", value=10.0, status="time-limit", lower_bound=9.0),
        a_run(instance="c", value=20.0, status="optimal"),
    )
    assert most_changed(compared(a, b), 9)["instance"].tolist() == ["b", "c", "a"]
    assert most_changed(compared(a, b), 1)["instance"].tolist() == ["b"]
