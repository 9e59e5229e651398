"""Plots against what was varied: means over the same instances, their intervals, and who has a point."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from overlaybench.compare.figures.against import default_plots, plot_drawing, plot_table
from overlaybench.compare.report.tables import judged_runs
from overlaybench.compare.studies.plot import Plot
from overlaybench.instances.contract.errors import BadInput
from tests.compare.report_rows import frame, run


def at(
    alpha: float, value: float | None, *, method: str = "gm", seed: int = 0, family: str = "f", **given: Any
) -> dict[str, Any]:
    """A run on an instance whose best bound is 10."""
    recipe = {"family": family, "seed": seed, "workload": "zipf", "parameters": {"alpha": alpha}}
    fields = {"instance": f"{family}{alpha}/{seed}", "recipe": json.dumps(recipe), "family": family}
    return run(method=method, value=value, seed=seed, **{"lower_bound": 10, **fields, **given})


def judged(*rows: dict[str, Any]) -> pd.DataFrame:
    return judged_runs(frame(*rows))


def points(runs: pd.DataFrame, plot: Plot) -> dict[tuple[str, object], tuple[float, int]]:
    """Mean and number of instances by curve and x."""
    table = plot_table(runs, plot)
    return {(line.curve, line.x): (round(line.mean, 6), line.instances) for line in table.itertuples()}


def test_a_point_is_the_mean_of_the_instances_with_its_interval_by_students_t() -> None:
    values = [11.0, 12.0, 16.0, 13.0]
    runs = judged(*(at(alpha, v + 10 * (alpha > 1), seed=s) for alpha in (1, 2) for s, v in enumerate(values)))
    line = plot_table(runs, Plot("alpha")).set_index("x").loc[1.0]
    ratios = np.array(values) / 10
    low, high = stats.t.interval(0.95, 3, ratios.mean(), stats.sem(ratios))
    assert (line["mean"], line["low"], line["high"]) == pytest.approx((ratios.mean(), low, high))
    assert (line["instances"], line["of_instances"]) == (4, 4)


def test_two_instances_have_no_interval() -> None:
    runs = judged(*(at(alpha, 11 + s, seed=s) for alpha in (1, 2) for s in (0, 1)))
    assert plot_table(runs, Plot("alpha"))[["low", "high"]].isna().all(axis=None)


def test_repeats_on_an_instance_count_once() -> None:
    repeats = [at(1, 12, options="{}", variant="gm", time_limit=10.0, key=f"{number:032x}") for number in range(5)]
    runs = judged(*repeats, at(1, 16, seed=1), at(2, 15))
    assert points(runs, Plot("alpha"))["gm", 1.0] == (1.4, 2)


def test_methods_are_compared_on_the_instances_that_all_answered() -> None:
    hard = [at(1, 30, seed=2), at(1, None, seed=2, method="ilp", lower_bound=None)]
    easy = [at(1, 12, seed=s, method=m) for s in (0, 1) for m in ("gm", "ilp")]
    found = points(judged(*hard, *easy, at(2, 14), at(2, 14, method="ilp")), Plot("alpha"))
    assert found["gm", 1.0] == found["ilp", 1.0] == (1.2, 2)


def test_a_method_with_few_answers_has_no_point_and_takes_none_from_others() -> None:
    rows = [at(1, 12, seed=s) for s in range(5)] + [at(1, 12, method="ilp"), at(2, 14), at(2, 14, method="ilp")]
    found = points(judged(*rows), Plot("alpha"))
    assert found["gm", 1.0] == (1.2, 5)
    assert ("ilp", 1.0) not in found
    assert ("ilp", 2.0) in found


def test_families_with_other_values_of_x_have_panels_of_their_own() -> None:
    rows = [at(a, 12, family=f) for f, values in (("a", (1, 2)), ("b", (1, 2)), ("c", (3, 4))) for a in values]
    assert plot_table(judged(*rows), Plot("alpha"))["panel"].unique().tolist() == ["a, b", "c"]


def test_means_of_times_are_geometric() -> None:
    rows = [at(alpha, 12, seed=s, seconds=10.0**s) for alpha in (1, 2) for s in (0, 1, 2)]
    assert points(judged(*rows), Plot("alpha", "time"))["gm", 1.0] == (10.0, 3)


def test_an_option_on_the_axis_leaves_the_name_of_the_curve() -> None:
    rows = [
        at(1, value, options=json.dumps({"ties": ties}), variant="gm" if ties == "lowest" else f"gm ties={ties}")
        for ties, value in (("lowest", 12), ("random", 13))
    ]
    runs = judged(*rows)
    assert points(runs, Plot("ties")) == {("gm", "lowest"): (1.2, 1), ("gm", "random"): (1.3, 1)}
    assert default_plots(runs) == (Plot("ties"),)


def test_a_group_that_splits_the_instances_has_the_mean_of_its_own() -> None:
    rows = [at(a, value, family=f) for f, value in (("a", 12), ("b", 18)) for a in (1, 2)]
    found = points(judged(*rows), Plot("alpha", group="family"))
    assert found["a", 1.0] == (1.2, 1)
    assert found["b", 1.0] == (1.8, 1)


def test_close_sizes_that_nobody_chose_are_taken_together() -> None:
    rows = [at(1, 12, seed=s, nodes=nodes) for s, nodes in enumerate((100, 101, 102, 300, 302))]
    assert plot_table(judged(*rows), Plot("nodes"))["x"].tolist() == [101.0, 301.0]


def test_the_report_plots_the_ratio_against_the_only_parameter_varied() -> None:
    assert default_plots(judged(at(1, 12), at(2, 12))) == (Plot("alpha"),)
    assert default_plots(judged(at(1, 12))) == ()


def test_methods_without_a_common_instance_have_no_points_and_the_report_no_plot() -> None:
    halves = [(0, "gm"), (1, "gm"), (2, "ilp"), (3, "ilp")]
    runs = judged(*(at(alpha, 12, seed=s, method=m) for alpha in (1, 2) for s, m in halves))
    assert default_plots(runs) == ()
    with pytest.raises(BadInput, match="at any alpha"):
        plot_table(runs, Plot("alpha"))


def test_what_does_not_vary_and_unknown_groups_are_bad_input() -> None:
    runs = judged(at(1, 12), at(2, 12))
    with pytest.raises(BadInput, match="topics does not vary in this study: alpha does"):
        plot_table(runs, Plot("topics"))
    with pytest.raises(BadInput, match="unknown group 'famly': did you mean 'family'"):
        plot_table(runs, Plot("alpha", group="famly"))
    with pytest.raises(BadInput, match="no run has the measure 'degree' where alpha varies"):
        plot_table(runs, Plot("alpha", "degree"))


@pytest.mark.filterwarnings("error::FutureWarning")
def test_a_curve_of_one_point_is_drawn() -> None:
    both = [at(alpha, 12, seed=s) for alpha in (1, 2) for s in range(3)]
    runs = judged(*both, *(at(1, 13 + s, method="gm-m", seed=s) for s in range(3)))
    plot = Plot("alpha", group="method")
    table = plot_table(runs, plot)
    assert len(table[table["curve"] == "gm-m"]) == 1
    assert plot_drawing(runs, plot, table).svg


def test_the_figure_is_the_same_twice_and_says_what_its_intervals_are() -> None:
    runs = judged(*(at(alpha, 11 + s, seed=s) for alpha in (1, 2) for s in range(3)))
    plot = Plot("alpha")
    first, second = (plot_drawing(runs, plot, plot_table(runs, plot)) for _ in range(2))
    assert first.svg == second.svg
    assert "95% interval by Student's t" in first.caption
    assert "tables/ratio-against-alpha.csv" in first.caption
