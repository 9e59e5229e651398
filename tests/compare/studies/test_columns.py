"""Results have the columns by which a researcher asks: parameters, options, bounds and ratios."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from overlaybench.compare.catalogue import METHODS
from overlaybench.compare.studies.columns import parameters, researched, varied_options
from overlaybench.compare.studies.isolation import IsolatedRun
from overlaybench.compare.studies.latex import results_latex
from overlaybench.compare.studies.results import export, grouped
from overlaybench.compare.studies.row import row, spread, table_of
from overlaybench.compare.studies.task import Task
from overlaybench.instances.contract.catalogue import PROBLEMS, WORKLOADS
from tests.compare.report_rows import frame, run


def recipe(**given: Any) -> str:
    return json.dumps({"family": "f", "seed": 1, "workload": "w", "parameters": given})


FILE = json.dumps({"family": "f", "seed": 0, "file": "/a.csv", "file_kind": "topics", "columns": {}, "sample": 0})
SIZES = {"nodes": 10, "topics": 3, "subscriptions": 20}
ZIPF: dict[str, Any] = SIZES | {"recipe": recipe(nodes=10, topics=4, subscriptions=2)}


def test_a_parameter_has_its_name_and_a_size_of_that_name_is_a_total() -> None:
    rows = researched(frame(run(**ZIPF), run(instance="i2", recipe=FILE, nodes=7, topics=5, subscriptions=30)))
    assert rows["subscriptions"].fillna(-1).tolist() == [2, -1]
    assert rows["total_subscriptions"].tolist() == [20, 30]
    assert rows["topics"].fillna(-1).tolist() == [4, -1]
    assert rows["total_topics"].tolist() == [3, 5]


def test_a_size_that_agrees_with_its_parameter_has_no_gaps() -> None:
    rows = researched(frame(run(**ZIPF), run(instance="i2", recipe=FILE, nodes=7)))
    assert rows["nodes"].tolist() == [10, 7]
    assert rows["nodes"].dtype == np.int64


def test_without_parameters_sizes_keep_their_names() -> None:
    rows = researched(frame(run(recipe=FILE, nodes=7, topics=5, subscriptions=30)))
    assert rows[["nodes", "topics", "subscriptions"]].iloc[0].tolist() == [7, 5, 30]
    assert not [name for name in rows.columns if name.startswith("total_")]


def test_a_parameter_named_like_another_column_is_set_apart() -> None:
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
            run(method="gm", value=6.0),
            run(method="cp-sat", value=4.0, status="optimal"),
            run(method="gm", instance="i2", value=6.0),
            run(method="ilp", value=3.0, status="failed"),
        )
    )
    assert rows["ratio"].fillna(-1).tolist() == [1.5, 1.0, -1, -1]
    assert rows["bound"].fillna(-1).tolist() == [4, 4, -1, 4]
    assert rows["optimum"].fillna(-1).tolist() == [4, 4, -1, 4]


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


def test_a_mean_ratio_is_beside_the_number_of_instances_with_a_bound() -> None:
    rows = researched(
        frame(
            run(instance="a", value=4.0, lower_bound=2.0, cpu_seconds=0.5),
            run(instance="b", value=9.0, lower_bound=None, cpu_seconds=0.5),
        )
    )
    by = grouped(rows, ["variant"])
    assert by[["instances", "ratio_instances", "mean_ratio"]].iloc[0].tolist() == [2, 1, 2.0]
    assert "ratio instances" in results_latex(by, ["variant"])
    assert "ratio instances" not in results_latex(by.assign(instances=1), ["variant"])


def test_means_can_be_over_the_common_instances_only() -> None:
    by = grouped(ROWS, ["variant"], common=True).set_index("variant")
    assert by["instances"].tolist() == by["of_instances"].tolist() == [1, 1]
    assert by["mean_value"].tolist() == [4.0, 2.0]
    assert len(grouped(ROWS, ["variant", "instance"], common=True)) == 0  # no two instances are one


@pytest.mark.parametrize("name", ["runs", "value", "kind"])
def test_any_column_groups(name: str) -> None:
    by = grouped(ROWS.assign(runs=[1, 1, 2, 2]), [name])
    assert by["instances"].sum() >= 1


def test_rows_of_steiner_trees_have_sizes_and_measures() -> None:
    workload = WORKLOADS["steiner-sparse"]
    instance = workload.generate(seed=1)
    result = METHODS["mehlhorn"].run(instance, PROBLEMS["steiner"], seed=1)
    text = json.dumps({"workload": workload.name, "parameters": workload.complete({})})
    task = Task(instance.digest, text, "f", "steiner", "mehlhorn", "{}", 1, 1.0, 1, "x")
    rows = researched(spread(table_of([row(task, instance, IsolatedRun(result, 0.0))]).to_pandas()))
    assert rows["links"][0] == instance.num_edges
    assert rows["edges"][0] < rows["links"][0]
