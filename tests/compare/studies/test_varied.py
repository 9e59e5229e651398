"""What a study varied: parameters in a problem, options in a method, and sizes under their names."""

from __future__ import annotations

import json
from typing import Any

import pytest

from overlaybench.compare.studies.columns import chosen_parameters, varied
from overlaybench.compare.studies.plot import Plot, plot_of
from overlaybench.instances.contract.errors import BadInput
from tests.compare.report_rows import frame, run


def generated(nodes: int, *, subscriptions: int = 5, workload: str = "zipf", **given: Any) -> dict[str, Any]:
    parameters = {"nodes": nodes, "subscriptions": subscriptions}
    recipe = {"family": workload, "seed": 1, "workload": workload, "parameters": parameters}
    sizes: dict[str, Any] = {"nodes": nodes, "subscriptions": nodes * subscriptions}
    return run(instance=f"{parameters}{workload}", recipe=json.dumps(recipe), value=3, **sizes, **given)


def sampled(nodes: int, **given: Any) -> dict[str, Any]:
    recipe = {"family": "file", "seed": nodes, "file": "a.csv", "file_kind": "topics", "columns": {}, "sample": nodes}
    return run(instance=f"file{nodes}", recipe=json.dumps(recipe), nodes=nodes, subscriptions=7, value=3, **given)


def test_a_parameter_that_is_the_size_has_one_column_for_files_too() -> None:
    runs = frame(generated(10), generated(20), sampled(15))
    columns = varied(runs)
    assert columns["nodes"].tolist() == [10, 20, 15]
    assert chosen_parameters(runs) == ["nodes"]


def test_a_parameter_that_is_called_like_another_size_keeps_the_name() -> None:
    columns = varied(frame(generated(10, subscriptions=2), generated(10, subscriptions=4)))
    assert columns["subscriptions"].tolist() == [2, 4]
    assert columns["total_subscriptions"].tolist() == [20, 40]
    assert "nodes" not in columns


def test_options_vary_within_a_method_and_are_chosen_where_no_parameter_varies() -> None:
    def optioned(**options: object) -> dict[str, Any]:
        return generated(10, options=json.dumps(options), variant=f"gm {options}")

    runs = frame(optioned(ties="lowest", steps=1), optioned(ties="random", steps=1))
    assert chosen_parameters(runs) == ["ties"]
    assert varied(runs)["ties"].tolist() == ["lowest", "random"]
    other = frame(optioned(steps=1), generated(10, method="cd-oda", options=json.dumps({"steps": 2})))
    assert varied(other).empty


def test_parameters_that_differ_between_workloads_only_were_not_chosen() -> None:
    runs = frame(generated(10), generated(10, subscriptions=6, workload="uniform"))
    assert chosen_parameters(runs) == []


def test_samples_of_a_file_vary_the_first_size() -> None:
    assert chosen_parameters(frame(sampled(10), sampled(20))) == ["nodes"]


def test_a_plots_files_are_named_by_its_axes() -> None:
    assert Plot("nodes").name == "ratio-against-nodes"
    assert Plot("top decile", "time", "family").name == "time-against-top-decile-by-family"


def test_a_plot_without_x_or_of_an_unknown_measure_is_bad_input() -> None:
    assert plot_of({"x": "nodes", "y": "time"}) == Plot("nodes", "time")
    with pytest.raises(BadInput, match="x at least"):
        plot_of({"y": "time"})
    with pytest.raises(BadInput, match="did you mean 'time'"):
        plot_of({"x": "nodes", "y": "tim"})
