"""The parts of the report on soft links and on content-based overlays, from runs made here."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp

import overlaybench as ob
from overlaybench.compare.claims.bench import Experiment, rows_here, runs, together
from overlaybench.compare.figures.charts import broker_charts
from overlaybench.compare.report.domains import (
    broker_runs,
    content_runs,
    loss_table,
    optimum_table,
    queue_table,
    reduction_table,
    routing_table,
    strategy_table,
    system_series,
    system_table,
)
from overlaybench.compare.report.writing import write_report
from overlaybench.compare.studies.isolation import IsolatedRun
from overlaybench.compare.studies.row import row, spread, table_of
from overlaybench.compare.studies.task import Recipe, Task, freeze
from overlaybench.instances.content.problems import CONTENT_PROBLEMS

LEAST = [("least-messages", {"strategy": s}) for s in ("s1", "s2")]


def experiment(family: str, seeds: int, *methods: object, **parameters: object) -> Experiment:
    shape = ob.WORKLOADS["brokers-sparse"].complete({"tree": "random", "subscriptions": 40, "spread": 30, **parameters})
    recipes = [Recipe(family, s, workload="brokers-sparse", parameters=freeze(shape)) for s in range(seeds)]
    return Experiment(tuple(recipes), (runs("soft-links", *methods),))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    """Small networks of two sizes with the optimum, larger ones of two fanouts, and one with queues."""
    small = [
        experiment("small", 2, "s0", "s1", "s2", "sh", *LEAST, "ilp", brokers=n, publications=8, fanout=4)
        for n in (6, 8)
    ]
    large = [experiment("large", 2, "s0", "s1", "s2", brokers=20, publications=40, fanout=f) for f in (4, 8)]
    timed = [(s, {"service": 3000}) for s in ("s0", "s2")]
    queued = experiment("queued", 2, *timed, brokers=20, publications=100, fanout=8, rate=36_000)
    return rows_here(together([*small, *large, queued]), ob.METHODS)


def test_ratios_are_to_the_highest_bound_of_any_run_on_the_instance(rows: pd.DataFrame) -> None:
    found = broker_runs(rows)
    for _, own in found[found["family"] == "small"].groupby("instance"):
        optimum = own[own["method"] == "ilp"]["value"].item()
        assert own["proven"].all()
        assert (own["ratio"] == own["value"] / optimum).all()
    for _, own in found[found["family"] == "large"].groupby("instance"):
        assert not own["bounded"].any()
        assert (own["ratio"] == own["value"] / own["deliveries"]).all()


def test_saved_is_of_what_the_tree_sends_above_the_bound(rows: pd.DataFrame) -> None:
    table = optimum_table(broker_runs(rows))
    assert set(table["variant"]) >= {"s0", "s1", "s2", "sh", "ilp"}
    exact = table[table["variant"] == "ilp"]
    assert (exact["reached"] == exact["instances"]).all()
    assert (exact["mean"] == 1).all()
    assert (exact["saved"].dropna() == 1).all()
    assert (table[table["variant"] == "s0"]["saved"].dropna() == 0).all()
    mine = rows[(rows["family"] == "small") & (rows["brokers"] == 8)].pivot(
        index="instance", columns="variant", values="value"
    )
    saved = ((mine["s0"] - mine["s2"]) / (mine["s0"] - mine["ilp"])).where(mine["s0"] > mine["ilp"]).mean()
    line = table[(table["brokers"] == 8) & (table["variant"] == "s2")]
    assert line["saved"].item() == pytest.approx(saved)
    assert line["worst"].item() == (mine["s2"] / mine["ilp"]).max()


def test_the_loss_by_forwarding_times_the_loss_by_links_is_the_distance_from_the_optimum(rows: pd.DataFrame) -> None:
    found = broker_runs(rows)
    table = loss_table(found).set_index("links of")
    assert {"s1", "s2"} <= set(table.index)
    assert (table[["forwarding", "gain"]] >= 1).all(axis=None)
    small = found[found["family"] == "small"].pivot(index="instance", columns="variant", values="value")
    fewest = small["least-messages"]
    assert table.loc["s2", "forwarding"] == pytest.approx((small["s2"] / fewest).mean())
    assert table.loc["s2", "gain"] == pytest.approx((fewest / small["ilp"]).mean())
    assert table.loc["s2", "both"] == pytest.approx((small["s2"] / small["ilp"]).mean())


def test_routes_over_other_links_are_not_compared(rows: pd.DataFrame) -> None:
    apart = broker_runs(rows[rows["variant"] != "least-messages strategy=s1"])
    compared = set(loss_table(apart)["links of"])
    links = {
        (own["instance"], own["variant"]): tuple(own["answer"][: 1 + 2 * int(own["answer"][0])])
        for own in apart[apart["bounded"]].to_dict("records")
    }
    alike = {v for (i, v), ends in links.items() if v in ("s1", "sh") and links[i, "least-messages"] == ends}
    assert compared == {"s2"} | alike


def test_forwarders_are_compared_with_those_of_the_tree(rows: pd.DataFrame) -> None:
    table = strategy_table(broker_runs(rows)).set_index(["family", "brokers", "fanout", "variant"])
    mine = rows[(rows["family"] == "large") & (rows["p_fanout"] == 8)].pivot(
        index="instance", columns="variant", values="pure_forwarders"
    )
    assert table.loc[("large", 20, 8.0, "s2"), "fewer forwarders"] == pytest.approx(
        (1 - mine["s2"] / mine["s0"]).mean()
    )
    assert table.loc[("large", 20, 8.0, "s0"), "fewer forwarders"] == 0


def test_queues_are_measured_by_the_share_that_arrived(rows: pd.DataFrame) -> None:
    table = queue_table(broker_runs(rows)).set_index("variant")
    own = rows[rows["variant"] == "s2 service=3000"]
    arrived = [json.loads(text)["queued_deliveries"] for text in own["counters"]]
    assert table.loc["s2 service=3000", "delivered"] == pytest.approx((arrived / own["deliveries"]).mean())
    assert table.loc["s0 service=3000", "delivered"] < table.loc["s2 service=3000", "delivered"] < 1
    assert set(table["rate"]) == {36_000.0}


@pytest.mark.usefixtures("figure_files")
def test_the_page_shows_the_part_with_its_tables_and_figures(rows: pd.DataFrame, tmp_path: Path) -> None:
    page = write_report(tmp_path, rows, pytest.fail, title="Soft links", spec="").read_text()
    assert re.search(r'<h2 id="brokers">Soft links over broker trees</h2>', page)
    for title in ("Distance from the optimum", "Causes of the distance", "Savings of each strategy", "With queues"):
        assert f"<h3>{title}</h3>" in page
    for name in ("runs", "soft-links", "brokers-optima", "brokers-losses", "brokers-strategies", "brokers-queues"):
        assert (tmp_path / "tables" / f"{name}.csv").stat().st_size > 0
    for name in ("soft-links-ratio-by-brokers", "soft-links-forwarders-by-fanout"):
        assert f'id="figure-{name}"' in page
        assert (tmp_path / "figures" / f"{name}.pdf").stat().st_size > 0
    assert "content-based overlays" not in page


def test_runs_of_the_system_have_a_table_and_figures_over_time() -> None:
    options = {"simulate": "system", "interval": 1.0}
    simulated = experiment("system", 2, ("s0", options), ("s2", options), brokers=12, publications=200, fanout=6)
    found = broker_runs(rows_here(simulated, ob.METHODS))
    table = system_table(found).set_index("variant")
    assert (table["instances"] == 2).all()
    far, tree = (table.loc[f"{s} interval=1 simulate=system"] for s in ("s2", "s0"))
    assert far["late yield"] > tree["late yield"]
    assert far["control"] > tree["control"]
    series = system_series(found.assign(label=found["variant"]))
    assert sorted(series["seconds"].unique()) == [1, 2, 3, 4]
    assert set(series["label"]) == set(found["variant"])
    assert "system-yield-over-time" in [one.name for one in broker_charts(found, series) if one]


NAMES = ("random-assignment", "greedy-packing", "clustering")


@pytest.fixture(scope="module")
def content_rows() -> pd.DataFrame:
    """Three heuristics on four instances of each of two sizes and two prices of the core, under every routing."""
    found = []
    for users, ratio in ((12, 1.0), (24, 1.0), (24, 4.0)):
        for seed in range(4):
            given = {"users": users, "brokers": 4, "intervals": 5, "width": 0.3, "access_to_core": ratio}
            instance = ob.WORKLOADS["content"].generate(seed=seed, **given)
            recipe = Recipe("P4", seed, workload="content", parameters=freeze(given)).to_json()
            for problem in CONTENT_PROBLEMS:
                for name in NAMES:
                    options = "{}" if name != "greedy-packing" else json.dumps({"order": "given"})
                    run = {"instance": instance.digest, "recipe": recipe, "family": "P4", "seed": seed}
                    task = Task(problem.name, name, options, 9.0, 9, "abc", **run)
                    result = ob.METHODS[name].run(instance, problem, seed=seed)
                    found.append(row(task, instance, IsolatedRun(result, 1.0)))
    return spread(table_of(found))


@pytest.mark.interpreted
def test_the_cost_reduction_is_the_mean_over_instances_with_its_interval(content_rows: pd.DataFrame) -> None:
    table = reduction_table(content_runs(content_rows))
    assert set(table["variant"]) == {"greedy-packing", "clustering"}
    line = table[(table["problem"] == "content-mst") & (table["variant"] == "clustering") & (table["users"] == 12)]
    values = content_rows[(content_rows["problem"] == "content-mst") & (content_rows["users"] == 12)].set_index(
        ["method", "instance"]
    )["value"]
    ratios = (values["random-assignment"] / values["clustering"]).to_numpy()
    assert line["crr"].item() == pytest.approx(ratios.mean())
    low, high = ttest_1samp(ratios, 0).confidence_interval(0.95)
    assert (line["low"].item(), line["high"].item()) == pytest.approx((low, high))
    assert line["instances"].item() == 4


def test_routings_are_compared_on_equal_assignments_only(content_rows: pd.DataFrame) -> None:
    table = routing_table(content_runs(content_rows)).set_index(["problem", "variant"])
    assert (table.loc["content-steiner"]["core"] <= 1).all()
    assert (table["assignments"] == 12).all()
    apart = content_rows.copy()
    other = apart["problem"] == "content-mst"
    apart.loc[other, "answer"] = apart.loc[other, "answer"].map(lambda answer: np.append(answer[:1], 3 - answer[1:]))
    assert routing_table(content_runs(apart)).empty


@pytest.mark.usefixtures("no_charts")
def test_the_page_shows_both_figures_and_every_table(content_rows: pd.DataFrame, tmp_path: Path) -> None:
    page = write_report(tmp_path, content_rows, pytest.fail, title="Content", spec="").read_text()
    for name in ("content-crr-by-users", "content-crr-by-core-price"):
        assert f'id="figure-{name}"' in page
        assert (tmp_path / "figures" / f"{name}.svg").is_file()
    for name in ("runs", "content-mst", "content-cost-reduction", "content-routings"):
        assert (tmp_path / "tables" / f"{name}.csv").is_file()
        assert f'download="{name}.csv' in page
    identifiers = set(re.findall(r'\bid="([^"]+)"', page))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= identifiers
    assert "nothing to report" not in page
