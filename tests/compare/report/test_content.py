"""The part of the report on content-based overlays, from runs made here."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp

from overlaybench.compare.catalogue import METHODS
from overlaybench.compare.report.domains import content_runs, reduction_table, routing_table
from overlaybench.compare.report.writing import write_report
from overlaybench.compare.studies.isolation import IsolatedRun
from overlaybench.compare.studies.row import row, spread, table_of
from overlaybench.compare.studies.task import Recipe, Task, freeze
from overlaybench.instances.content.problems import CONTENT_PROBLEMS
from overlaybench.instances.contract.catalogue import WORKLOADS
from overlaybench.instances.topics.instance import TopicInstance


def _no_instance(digest: str) -> TopicInstance:
    pytest.fail("no instance is drawn")


NAMES = ("random-assignment", "greedy-packing", "clustering")


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    """Three heuristics on four instances of each of two sizes and two prices of the core, under every routing."""
    found = []
    for users, ratio in ((12, 1.0), (24, 1.0), (24, 4.0)):
        for seed in range(4):
            given = {"users": users, "brokers": 4, "intervals": 5, "width": 0.3, "access_to_core": ratio}
            instance = WORKLOADS["content"].generate(seed=seed, **given)
            recipe = Recipe("P4", seed, workload="content", parameters=freeze(given)).to_json()
            for problem in CONTENT_PROBLEMS:
                for name in NAMES:
                    task = Task(
                        instance.digest, recipe, "P4", problem.name, name, "{}" if name != "greedy-packing" else
                        json.dumps({"order": "given"}), seed, 9.0, 9, "abc",
                    )  # fmt: skip
                    result = METHODS[name].run(instance, problem, seed=seed)
                    found.append(row(task, instance, IsolatedRun(result, 1.0)))
    return spread(table_of(found).to_pandas())


@pytest.mark.interpreted
def test_the_cost_reduction_is_the_mean_over_instances_with_its_interval(rows: pd.DataFrame) -> None:
    table = reduction_table(content_runs(rows))
    assert set(table["variant"]) == {"greedy-packing", "clustering"}
    line = table[(table["problem"] == "content-mst") & (table["variant"] == "clustering") & (table["users"] == 12)]
    values = rows[(rows["problem"] == "content-mst") & (rows["users"] == 12)].set_index(["method", "instance"])["value"]
    ratios = (values["random-assignment"] / values["clustering"]).to_numpy()
    assert line["crr"].item() == pytest.approx(ratios.mean())
    low, high = ttest_1samp(ratios, 0).confidence_interval(0.95)
    assert (line["low"].item(), line["high"].item()) == pytest.approx((low, high))
    assert line["instances"].item() == 4


def test_routings_are_compared_on_equal_assignments_only(rows: pd.DataFrame) -> None:
    table = routing_table(content_runs(rows)).set_index(["problem", "variant"])
    assert (table.loc["content-steiner"]["core"] <= 1).all()
    assert (table["assignments"] == 12).all()
    apart = rows.copy()
    other = apart["problem"] == "content-mst"
    apart.loc[other, "answer"] = apart.loc[other, "answer"].map(lambda answer: np.append(answer[:1], 3 - answer[1:]))
    assert routing_table(content_runs(apart)).empty


@pytest.mark.usefixtures("figure_files")
def test_the_page_shows_both_figures_and_every_table(rows: pd.DataFrame, tmp_path: Path) -> None:
    page = write_report(tmp_path, rows, _no_instance, title="Content", spec="").read_text()
    for name in ("content-crr-by-users", "content-crr-by-core-price"):
        assert f'id="figure-{name}"' in page
        assert (tmp_path / "figures" / f"{name}.svg").is_file()
    for name in ("runs", "content-mst", "content-cost-reduction", "content-routings"):
        assert (tmp_path / "tables" / f"{name}.csv").is_file()
        assert f'download="{name}.csv' in page
    identifiers = set(re.findall(r'\bid="([^"]+)"', page))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= identifiers
    assert "nothing to report" not in page
