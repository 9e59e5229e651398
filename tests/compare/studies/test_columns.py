"""Results have the columns by which a researcher asks: parameters, options, bounds and ratios."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.compare.figures.against import plot_table
from overlaybench.compare.report.tables import judged_runs
from overlaybench.compare.studies.columns import (
    BOUND,
    GapSteps,
    chosen_parameters,
    gap,
    parameters,
    researched,
    varied,
    varied_options,
    with_integrals,
)
from overlaybench.compare.studies.latex import results_latex
from overlaybench.compare.studies.plot import Plot, plot_of
from overlaybench.compare.studies.results import export, grouped
from tests.compare.report_rows import frame, recipe, run

FILE = json.dumps({"family": "f", "seed": 0, "file": "/a.csv", "file_kind": "topics", "columns": {}, "sample": 0})
SIZES = {"nodes": 10, "topics": 3, "subscriptions": 20}
ZIPF: dict[str, Any] = SIZES | {"recipe": recipe(nodes=10, topics=4, subscriptions=2)}


def test_parameters_have_their_names_and_sizes_of_these_names_are_totals() -> None:
    rows = researched(frame(run(**ZIPF), run(instance="i2", recipe=FILE, nodes=7, topics=5, subscriptions=30)))
    assert rows["subscriptions"].fillna(-1).tolist() == [2, -1]
    assert rows["total_subscriptions"].tolist() == [20, 30]
    assert rows["topics"].fillna(-1).tolist() == [4, -1]
    assert rows["total_topics"].tolist() == [3, 5]
    rows = researched(frame(run(**ZIPF), run(instance="i2", recipe=FILE, nodes=7)))
    assert rows["nodes"].tolist() == [10, 7]
    assert rows["nodes"].dtype == np.int64
    rows = researched(frame(run(recipe=recipe(edges=5, value=7, alpha=0.5), value=3.0, edges=9.0)))
    assert rows[["parameter_edges", "parameter_value", "alpha", "value", "edges"]].iloc[0].tolist() == [5, 7, 0.5, 3, 9]


def test_options_that_vary_within_a_method_are_columns() -> None:
    rows = frame(
        run(options='{"k": 2, "ties": "lowest"}'),
        run(options='{"k": 3, "ties": "lowest"}'),
        run(method="gm-m", options='{"ties": "random"}'),
    )
    options = varied_options(rows)
    assert options.columns.tolist() == ["k"]
    assert options["k"].fillna(-1).tolist() == [2, 3, -1]
    both = researched(rows.assign(recipe=recipe(k=9)))
    assert both["k"].tolist() == [9, 9, 9]
    assert both["option_k"].fillna(-1).tolist() == [2, 3, -1]


def test_a_parameter_of_several_types_is_text_and_can_be_exported(tmp_path: Path) -> None:
    rows = frame(run(recipe=recipe(shape="star")), run(recipe=recipe(shape=3)), run(recipe=recipe(other=True)))
    assert parameters(rows)["shape"].tolist() == ["star", "3", None]
    export(researched(rows), tmp_path / "rows.parquet")
    assert pd.read_parquet(tmp_path / "rows.parquet")["shape"].tolist() == ["star", "3", None]


def test_the_ratio_is_to_the_best_bound_of_the_instance() -> None:
    rows = researched(
        frame(
            run(method="gm", value=1.5),
            run(method="cp-sat", value=1.0, status="optimal"),
            run(method="gm", instance="i2", value=6.0),
            run(method="ilp", value=3.0, status="failed"),
        )
    )
    assert rows["ratio"].fillna(-1).tolist() == [1.5, 1, -1, -1]
    assert rows["bound"].fillna(-1).tolist() == rows["optimum"].fillna(-1).tolist() == [1, 1, -1, 1]


def test_a_table_without_rows_has_the_columns() -> None:
    none = researched(frame(run(cpu_seconds=0.5)).iloc[:0])
    assert {"bound", "optimum", "ratio", "nodes"} <= set(none.columns)
    assert len(grouped(none, ["variant"])) == 0


ROWS = researched(
    frame(
        run(instance="a", value=4.0, lower_bound=2.0, cpu_seconds=0.5),
        run(instance="b", value=9.0),
        run(method="ilp", instance="a", value=2.0),
        run(method="ilp", instance="b", status="failed", value=1.0),
    )
)


def test_a_mean_is_beside_the_number_of_its_instances() -> None:
    by = grouped(ROWS, ["problem", "variant"]).set_index("variant")
    assert by[["runs", "failed", "instances", "of_instances"]].loc["gm"].tolist() == [2, 0, 2, 2]
    assert by[["runs", "failed", "instances", "of_instances"]].loc["ilp"].tolist() == [2, 1, 1, 2]
    assert by["mean_value"].tolist() == [6.5, 2.0]
    assert by["mean_ratio"].tolist() == [2.0, 1.0]
    assert grouped(ROWS, ["variant", "variant"]).equals(grouped(ROWS, ["variant"]))


def test_the_interval_of_a_mean_ratio_is_of_instances_and_not_below_1() -> None:
    cases = [("a", 2.0, 1), ("b", 4.0, 1), ("b", 4.0, 2)]
    rows = researched(frame(*(run(instance=each, value=4.0, lower_bound=bound, seed=n) for each, bound, n in cases)))
    line = grouped(rows.assign(cpu_seconds=0.5), ["variant"]).iloc[0]
    assert line[["ratio_low", "ratio_high"]].tolist() == pytest.approx([1, 1.5 + 12.706 / 2], rel=1e-3)


def test_a_mean_ratio_is_beside_the_number_of_instances_with_a_bound() -> None:
    by = grouped(ROWS[ROWS["variant"] == "gm"], ["variant"])
    assert by[["instances", "ratio_instances", "mean_ratio"]].iloc[0].tolist() == [2, 1, 2.0]
    assert r"ratio \\ instances" in results_latex(by, ["variant"])
    assert "ratio instances" not in results_latex(by.assign(instances=1), ["variant"])


def test_means_can_be_over_the_common_instances_only() -> None:
    by = grouped(ROWS, ["variant"], common=True).set_index("variant")
    assert by["instances"].tolist() == by["of_instances"].tolist() == [1, 1]
    assert by["mean_value"].tolist() == [4.0, 2.0]
    each = grouped(ROWS, ["variant", "instance"], common=True)
    assert each[["variant", "instance"]].to_numpy().tolist() == [["gm", "a"], ["ilp", "a"]]
    assert grouped(ROWS, ["instance"], common=True)["instances"].tolist() == [1, 1]


def test_methods_are_compared_on_equal_instances_in_whatever_order_the_columns_are_named() -> None:
    small, large = recipe(nodes=5), recipe(nodes=9)
    rows = researched(
        frame(
            run(instance="a", recipe=small, value=4.0, cpu_seconds=0.5),
            run(method="ilp", instance="a", recipe=small, value=4.0),
            *(run(method=name, instance=of, recipe=large, value=4.0) for name in ("gm", "ilp") for of in "bc"),
        )
    )
    for by in (["method", "nodes"], ["nodes", "method"]):
        for common in (False, True):
            counts = grouped(rows, by, common=common).sort_values(["nodes", "method"])[["instances", "of_instances"]]
            assert counts.to_numpy().tolist() == [[1, 1], [1, 1], [2, 2], [2, 2]], (by, common)
    assert grouped(rows, ["nodes"])[["instances", "of_instances"]].to_numpy().tolist() == [[1, 1], [2, 2]]


def generated(nodes: int, *, subscriptions: int = 5, workload: str = "zipf", **given: Any) -> dict[str, Any]:
    made = recipe(workload, nodes=nodes, subscriptions=subscriptions)
    sizes: dict[str, Any] = {"nodes": nodes, "subscriptions": nodes * subscriptions}
    return run(instance=made, recipe=made, value=3, **sizes, **given)


def sampled(nodes: int, **given: Any) -> dict[str, Any]:
    recipe = {"family": "file", "seed": nodes, "file": "a.csv", "file_kind": "topics", "columns": {}, "sample": nodes}
    return run(instance=f"file{nodes}", recipe=json.dumps(recipe), nodes=nodes, subscriptions=7, value=3, **given)


def test_what_varies_is_a_column_and_what_was_not_chosen_is_not() -> None:
    runs = frame(generated(10), generated(20), sampled(15))
    columns = varied(runs)
    assert columns["nodes"].tolist() == [10, 20, 15]
    assert chosen_parameters(runs) == ["nodes"]
    columns = varied(frame(generated(10, subscriptions=2), generated(10, subscriptions=4)))
    assert columns["subscriptions"].tolist() == [2, 4]
    assert columns["total_subscriptions"].tolist() == [20, 40]
    assert "nodes" not in columns
    runs = frame(generated(10), generated(10, subscriptions=6, workload="uniform"))
    assert chosen_parameters(runs) == []
    assert chosen_parameters(frame(sampled(10), sampled(20))) == ["nodes"]


def test_options_vary_within_a_method_and_are_chosen_where_no_parameter_varies() -> None:
    def optioned(**options: object) -> dict[str, Any]:
        return generated(10, options=json.dumps(options), variant=f"gm {options}")

    runs = frame(optioned(ties="lowest", steps=1), optioned(ties="random", steps=1))
    assert chosen_parameters(runs) == ["ties"]
    assert varied(runs)["ties"].tolist() == ["lowest", "random"]
    other = frame(optioned(steps=1), generated(10, method="cd-oda", options=json.dumps({"steps": 2})))
    assert varied(other).empty


def test_limits_in_a_problems_name_are_columns_that_a_plot_may_have_along() -> None:
    runs = frame(*(run(f"filtering@max-degree={k}", value=10.0 - k, lower_bound=5.0, **ZIPF) for k in (3, 4)))
    assert varied(runs)["max-degree"].tolist() == researched(runs)["max-degree"].tolist() == [3.0, 4.0]
    table = plot_table(judged_runs(runs), Plot("max-degree", "value"))
    assert table[["problem", "x", "mean"]].to_numpy().tolist() == [
        ["filtering@max-degree", 3, 7],
        ["filtering@max-degree", 4, 6],
    ]


def test_a_plot_without_x_or_of_an_unknown_measure_is_bad_input() -> None:
    assert plot_of({"x": "nodes", "y": "time"}) == Plot("nodes", "time")
    with pytest.raises(ob.BadInput, match="x at least"):
        plot_of({"y": "time"})
    with pytest.raises(ob.BadInput, match="did you mean 'time'"):
        plot_of({"x": "nodes", "y": "tim"})


POINTS: list[dict[str, Any]] = [
    {"seconds": 2.0, "value": 20.0, "lower_bound": None},
    {"seconds": 5.0, "value": 10.0, "lower_bound": 5.0},
]


def test_integrals_are_mean_gaps_over_the_time_limit() -> None:
    steps = GapSteps.of([POINTS, [], POINTS], [10.0] * 3)
    assert steps.integrals([10.0, 4.0, 4.0]) == pytest.approx(
        [(2 * 1 + 3 * 0.5 + 5 * 0) / 10, 1, (2 * 1 + 2 * 0.5) / 4]
    )
    assert GapSteps.of([POINTS], [10.0], BOUND).integrals([10.0]) == pytest.approx((5 * 1 + 5 * 0.5) / 10)
    assert np.isnan(steps.integrals([math.nan] * 3)).all()
    assert gap([math.nan, math.inf, -3, 5, 3], [3, 3, 3, 0, math.nan]).tolist() == [1] * 5
    assert gap([0, 4, 4, 3], [0, 4, 3, 4]).tolist() == [0, 0, 0.25, 0.25]


times = st.lists(st.tuples(st.floats(0.001, 20), st.integers(1, 9)), min_size=1, max_size=6)


@settings(deadline=None)
@given(runs=st.lists(times, min_size=1, max_size=4), at=st.floats(0, 25))
def test_the_mean_of_step_functions_is_their_mean_at_every_time(runs: list[list[tuple[float, int]]], at: float) -> None:
    distinct = [sorted({seconds for seconds, _ in one}) for one in runs]
    points = [[{"seconds": t, "value": 9.0 - i, "lower_bound": None} for i, t in enumerate(one)] for one in distinct]

    def mean_at(chosen: list[Any]) -> float:
        steps = GapSteps.of(chosen, [3.0] * len(chosen)).mean()
        return float([g for t, g in zip(*steps, strict=True) if t <= at][-1])

    assert mean_at(points) == pytest.approx(np.mean([mean_at([one]) for one in points]))


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
