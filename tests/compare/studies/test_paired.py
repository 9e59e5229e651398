"""Paired comparison against published numbers and an exhaustive permutation test."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlaybench.compare.intervals import bootstrap_interval
from overlaybench.compare.report.tables import judged_runs
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
from tests.compare.report_rows import frame, run

DEMSAR = np.array(
    [
        (4, 3, 2, 1),
        (1, 2, 3, 4),
        (4, 1, 2, 3),
        (4, 1, 3, 2),
        (4, 2, 3, 1),
        (1, 2.5, 4, 2.5),
        (3, 2, 4, 1),
        (2.5, 2.5, 4, 1),
        (4, 3, 2, 1),
        (2.5, 2.5, 2.5, 2.5),
        (4, 2.5, 1, 2.5),
        (3, 2, 4, 1),
        (4, 1, 2, 3),
        (3, 1, 4, 2),
    ]
)
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


def test_holm_corrects_as_in_his_paper_and_stays_monotone() -> None:
    corrected = holm(np.array([0.01, 0.04, 0.03, 0.005]))
    assert corrected.tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm(np.array([0.9, 0.8])).tolist() == [1.0, 1.0]


def test_the_interval_of_a_mean_is_close_to_students_and_repeatable() -> None:
    sample = np.random.default_rng(1).normal(3, 1, 200)
    low, high = bootstrap_interval(sample, np.mean)
    half = 1.972 * sample.std(ddof=1) / np.sqrt(200)
    assert (low, high) == pytest.approx((sample.mean() - half, sample.mean() + half), abs=0.03)
    assert bootstrap_interval(sample, np.mean) == (low, high)
    assert bootstrap_interval(np.full(5, 2.0), np.mean) == (2.0, 2.0)
    assert np.isnan(bootstrap_interval(np.ones(1), np.median)).all()


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
    rows: list[dict[str, Any]] = [run(instance=name, value=4.0) for name in "ab"]
    rows += [
        run(method="ilp", instance=name, value=value, seed=seed)
        for name in "ab"
        for seed, value in ((1, 2.0), (2, 6.0))
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
    assert result.friedman is not None
    assert result.friedman.p < 1e-4
