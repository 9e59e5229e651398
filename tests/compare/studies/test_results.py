"""Results as tables: read by other programs, filtered, grouped, verified, repeated and watched."""

import json
import re
import shutil
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

import overlaybench as ob
from overlaybench.compare.command_line import cli
from overlaybench.compare.commands.studies import status_of
from overlaybench.compare.studies.results import export, grouped, results, write_answers
from overlaybench.compare.studies.row import MEASURED, SCHEMA, table_of
from overlaybench.compare.studies.spark_session import spark
from overlaybench.compare.studies.store import Store, write_part
from overlaybench.compare.studies.verification import Rerun, faults_of_row, rerun
from tests.compare.studies.without_spark import study_done_in

SPEC = """
name = "data"
seed = 4
time_limit = 30
memory_limit = 1500
instances = [{ workload = "zipf", nodes = [5, 6], topics = 5, subscriptions = 2, seeds = 2 }]
runs = [{ problems = ["min-tco"], methods = ["gm", { method = "gm", ties = "random" }, "branch-and-cut"] }]
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return study_done_in(tmp_path_factory.mktemp("results"), SPEC)


@pytest.fixture
def own(store: Store, tmp_path: Path) -> Store:
    """A copy that a test may change."""
    return Store(shutil.copytree(store.folder, tmp_path / "out"))


def change(store: Store, number: int, **fields: Any) -> str:
    """Forge a field of a stored row, checksum and all."""
    rows = store.table().to_pylist()
    rows[number] |= fields
    for part in store.runs.glob("*.parquet"):
        part.unlink()
    write_part(table_of(rows), store.runs)
    key: str = rows[number]["key"]
    return key


def test_rows_filter_by_columns_and_group_into_counts_and_means(store: Store) -> None:
    rows = results(store.folder)
    assert len(rows) == 12
    assert list(rows["key"]) == sorted(rows["key"])
    some = results(store.folder, {"variant": "gm ties=random", "nodes": "5"})
    assert set(some["variant"]) == {"gm ties=random"}
    assert len(some) == 2
    assert len(results(store.folder, {"seconds": f"{rows['seconds'][0]:g}"})) >= 1, "six digits suffice"
    by = grouped(rows, ["variant"]).set_index("variant")
    assert by["runs"].tolist() == [4, 4, 4]
    assert by.loc["branch-and-cut", "optimal"] == 4
    assert by.loc["gm", "mean_value"] == rows[rows["variant"] == "gm"]["value"].mean()
    with pytest.raises(ob.BadInput, match="did you mean 'variant'"):
        results(store.folder, {"varient": "gm"})


def test_a_study_without_topics_is_a_table(tmp_path: Path) -> None:
    spec = """
name = "others"
time_limit = 9
instances = [
  { workload = "steiner-sparse", nodes = 6, edges = 8, terminals = 3 },
  { workload = "content", users = 4, brokers = 2, intervals = 3 },
]
[[runs]]
problems = ["steiner"]
methods = ["mehlhorn"]
[[runs]]
problems = ["content-mst"]
methods = ["random-assignment"]
"""
    table = ob.StudyResults(study_done_in(tmp_path, spec).folder).results()
    assert table.rows["nodes"].fillna(0).tolist() == [0, 6]
    assert table.rows["users"].fillna(0).tolist() == [4, 0]
    assert 0 < table.rows["edges"][1] < table.rows["links"][1]
    assert "nodes" in str(table)


def test_exports_hold_every_row(store: Store, tmp_path: Path) -> None:
    rows = results(store.folder)
    export(rows, tmp_path / "rows.csv")
    export(rows, tmp_path / "rows.parquet")
    export(rows, tmp_path / "rows.json")
    listed = pd.DataFrame(json.loads((tmp_path / "rows.json").read_text()))
    for back in (pd.read_csv(tmp_path / "rows.csv"), pd.read_parquet(tmp_path / "rows.parquet"), listed):
        assert back["key"].tolist() == rows["key"].tolist()
        assert back["value"].tolist() == rows["value"].tolist()
        assert {"alpha", "subscriptions", "total_subscriptions", "ties"} <= set(back.columns)
        assert (back["ratio"] == back["value"] / back["bound"]).all()
    export(rows, tmp_path / "rows.xlsx")
    with zipfile.ZipFile(tmp_path / "rows.xlsx") as book:
        sheet = ET.fromstring(book.read("sheet.xml"))
    cells = [
        [cell.findtext(".//{*}v") or cell.findtext(".//{*}t") for cell in row]
        for row in sheet.iter()
        if row.tag.endswith("}row")
    ]
    at = cells[0].index("value")
    assert [float(row[at] or "nan") for row in cells[1:]] == rows["value"].tolist()
    with pytest.raises(ob.BadInput, match=r"use \.csv, \.json"):
        export(rows, tmp_path / "rows.xls")


def test_answers_are_written_as_overlay_files(store: Store, tmp_path: Path) -> None:
    rows = results(store.folder)
    assert write_answers(store.folder, rows, tmp_path / "answers") == 12
    for row in rows.itertuples():
        instance = store.instance(row.recipe, row.instance)
        overlay = ob.read_overlay(tmp_path / "answers" / f"{row.key}.json", instance)
        assert ob.PROBLEMS["min-tco"].violations(instance, overlay) == []
        assert ob.PROBLEMS["min-tco"].value(instance, overlay) == row.value


def test_a_row_names_its_recipe_judge_code_and_machine(store: Store) -> None:
    row = store.table().to_pylist()[0]
    assert json.loads(row["recipe"])["workload"] == "zipf"
    assert json.loads(row["machine"]).keys() == {"processor", "cores", "memory", "system", "host"}
    assert {"python", "numpy", "highspy", "ortools", "pulp"} <= json.loads(row["versions"]).keys()
    assert row["judge"] == "overlaybench.instances.topics.problems.MinTCO"
    assert re.fullmatch(r"[0-9a-f]{12}", row["code_version"])
    assert row["cpu_seconds"] > 0
    assert row["peak_memory"] >= 0
    assert (row["time_limit"], row["memory_limit"]) == (30.0, 1500)


@pytest.mark.parametrize("variant", ["gm ties=random", "branch-and-cut"])
def test_a_run_repeated_from_its_row_gives_the_same_row(own: Store, variant: str) -> None:
    key = results(own.folder, {"variant": variant})["key"][0]
    again = rerun(own.folder, key[:12])
    assert again.differences == []
    assert set(again.before) - set(MEASURED) <= set(again.after)


def test_a_repeated_run_shows_what_differs(own: Store) -> None:
    key = change(own, 3, value=99.0)
    again = rerun(own.folder, key)
    assert again.differences == ["value"]
    before, now = again.values("value")
    assert before == "99"
    assert now != before
    ended = CliRunner().invoke(cli, ["rerun", str(own.folder), key])
    assert (ended.exit_code, "differs in value" in ended.output) == (1, True)
    with pytest.raises(ob.BadInput, match="0 runs have a key starting with 'zz'"):
        rerun(own.folder, "zz")


def test_an_amount_of_memory_is_no_difference() -> None:
    before = {"reason": "memory: 1,612 MiB held, 1500 MiB allowed", "counters": '{"nodes": 3}', "peak_memory": 5.0}
    after = before | {"reason": "memory: 1598 MiB held, 1500 MiB allowed", "peak_memory": 6.0}
    assert Rerun(before, after).differences == []
    assert Rerun(before, after | {"reason": "crash: 3 MiB"}).differences == ["reason"]


def test_of_long_values_only_what_differs_is_shown() -> None:
    counters = {"nodes": 3, "cuts": 5}
    before = {"counters": json.dumps(counters), "answer": [0, 1, 1, 2], "reason": "x" * 1000}
    after = {"counters": json.dumps(counters | {"cuts": 6}), "answer": [0, 1, 1, 3, 2, 3], "reason": ""}
    run = Rerun(before, after)
    assert run.differences == ["counters", "answer", "reason"]
    assert run.values("counters") == ("{'cuts': 5}", "{'cuts': 6}")
    assert run.values("answer") == ("4 numbers, from number 4: [2]", "6 numbers, from number 4: [3, 2, 3]")
    assert len(run.values("reason")[0]) == 200


@pytest.mark.parametrize(
    ("where", "runs"),
    [({"nodes": "5"}, 6), ({"nodes": "5.0"}, 6), ({"alpha": "0.5"}, 12), ({"exact": "true"}, 4), ({"nodes": "x"}, 0)],
)
def test_numbers_and_truths_are_found_however_they_are_written(store: Store, where: dict[str, str], runs: int) -> None:
    assert len(results(store.folder, where)) == runs


def test_status_shows_how_far_a_study_is(own: Store) -> None:
    assert "data: finished\n12 of 12 runs done, 0 left" in status_of(own.folder)
    with own.locked():
        assert "data: running" in status_of(own.folder)
    (part,) = own.runs.glob("*.parquet")
    table = pq.read_table(part)
    part.unlink()
    write_part(table.slice(0, 7), own.runs)
    assert "data: stopped: the same study command resumes it\n7 of 12 runs done, 5 left" in status_of(own.folder)


@pytest.mark.slow
@pytest.mark.spark
def test_spark_reads_the_folder(store: Store) -> None:
    with spark("local[1]", store.folder / "spark.log"):
        frame = SparkSession.builder.getOrCreate().read.parquet(str(store.runs))
        assert frame.count() == 12
        assert frame.columns == SCHEMA.names


@pytest.mark.parametrize("key", ["../../escaped", "/escaped", "", "k" * 32])
def test_a_forged_key_writes_nowhere(own: Store, tmp_path: Path, key: str) -> None:
    change(own, 0, key=key)
    plan = own.plan()
    own.write_plan(plan, [pa.table({"key": [key]})])
    with pytest.raises(ob.BadInput, match="is no key of a run: the folder was modified"):
        write_answers(own.folder, results(own.folder), tmp_path / "answers")
    assert not list(tmp_path.rglob("*escaped*"))
    assert list((tmp_path / "answers").iterdir()) == []


@pytest.mark.parametrize("answer", [[0, 99], [3, 3], []])
def test_a_forged_answer_is_found_wrong_and_not_written(own: Store, tmp_path: Path, answer: list[int]) -> None:
    key = change(own, 0, answer=answer)
    row = own.table([key]).to_pylist()[0]
    assert list(faults_of_row(row))
    if answer:
        with pytest.raises(ob.BadInput, match="has no answer to its instance"):
            write_answers(own.folder, results(own.folder, {"key": key}), tmp_path / "answers")


def test_python_gives_the_results_to_every_data_frame_library(store: Store) -> None:
    study = ob.StudyResults(str(store.folder))
    table = study.results(problem="min-tco", nodes=6, method="gm")
    assert len(table) == table.to_arrow().num_rows == table.to_polars().height == len(table.to_pandas()) == 4
    assert table.to_polars()["ratio"].is_not_null().all()
    digest = table.to_pandas()["instance"][0]
    assert study.instance(digest).digest == digest
    for shown in (repr(table), table._repr_html_(), study._repr_html_()):
        assert "runs" in shown
        assert "ratio" in shown
        assert "[" not in shown
    with pytest.raises(ob.BadInput, match="unknown column 'node'"):
        study.results(node=6)
