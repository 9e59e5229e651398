"""From Parquet to Parquet on Spark: the judge of one machine finds the same, whatever the cluster does."""

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import overlaybench as ob
from overlaybench.compare.spark_solver import judge as judging
from overlaybench.compare.spark_solver.bound import lower_bound
from overlaybench.compare.spark_solver.conquer import LOCALITIES, in_parts
from overlaybench.compare.spark_solver.judge import edges_by_number
from overlaybench.compare.spark_solver.numbering import numbered, read_rows
from overlaybench.compare.spark_solver.solving import Source, check, generate, session_on, solve
from overlaybench.compare.spark_solver.tables import SparkTables
from overlaybench.heuristics.topics.greedy_merge import greedy_merge
from overlaybench.instances.topics.problems import MinTCO
from overlaybench.models.topics.relaxation.dual_fitting import dual_fitting_bound
from tests.compare.conftest import PROGRAM, run_apart
from tests.compare.loopback_cluster import loopback_cluster
from tests.outcomes import bound_of

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(1200)]

Given = tuple[str, ob.TopicInstance]
ZIPF = {"nodes": 600, "topics": 60, "subscriptions": 4}
SMALL = {"part_rows": 300, "core_rows": 900}
OPTIONS = ("--option", "part_rows=300", "--option", "core_rows=900")


@pytest.fixture(scope="module")
def session() -> Iterator[SparkSession]:
    with session_on("local[2]") as running:
        running.conf.set("spark.sql.shuffle.partitions", "3")
        yield running


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Given:
    found = ob.WORKLOADS["zipf"].generate(seed=1, **ZIPF)
    path = tmp_path_factory.mktemp("instance") / "wanted.parquet"
    pq.write_table(found.to_arrow(), path)
    return str(path), found


def edges_in(path: str) -> list[tuple[str, str]]:
    table = pq.read_table(path)
    return list(zip(table["u"].to_pylist(), table["v"].to_pylist(), strict=True))


def test_rows_are_generated_as_on_one_machine(session: SparkSession, tmp_path: Path) -> None:
    given: dict[str, Any] = {"nodes": 50, "topics": 400, "least": 2, "most": 9}
    generate(session, ob.WORKLOADS["zipf-varying"], f"{tmp_path}/z.parquet", seed=4, **given)
    assert read_rows_of(f"{tmp_path}/z.parquet") == ob.WORKLOADS["zipf-varying"].generate(seed=4, **given)


def read_rows_of(folder: str) -> ob.TopicInstance:
    table = pq.read_table(folder)
    return ob.TopicInstance.from_pairs(table["node"].to_pylist(), table["topic"].to_pylist())[0]


@pytest.mark.parametrize("locality", LOCALITIES)
def test_overlays_are_valid_and_near_greedy_merge(
    session: SparkSession, instance: Given, tmp_path: Path, locality: str
) -> None:
    path, given = instance
    result = solve(session, Source(path, {}), f"{tmp_path}/o.parquet", seed=2, options={**SMALL, "locality": locality})
    overlay = ob.Overlay.from_labels(edges_in(f"{tmp_path}/o.parquet"), given)
    assert MinTCO().violations(given, overlay) == []
    assert (result.value, result.measures["max_degree"]) == (overlay.num_edges, overlay.max_degree)
    assert result.counters["levels"] == 4
    assert bound_of(result) <= greedy_merge(given).num_edges <= overlay.num_edges * 1.02
    assert os.listdir(tmp_path) == ["o.parquet"]


def test_one_part_is_greedy_merge(session: SparkSession, instance: Given, tmp_path: Path) -> None:
    solve(session, Source(instance[0], {}), f"{tmp_path}/o.parquet", seed=2, options={"bound_steps": 0})
    assert ob.Overlay.from_labels(edges_in(f"{tmp_path}/o.parquet"), instance[1]) == greedy_merge(instance[1])


def test_split_costs_improve_the_overlay_and_its_bound(session: SparkSession, instance: Given, tmp_path: Path) -> None:
    path, given = instance
    options = {"split_seconds": 3}
    result = solve(session, Source(path, {}), f"{tmp_path}/o.parquet", seed=2, options=options)
    overlay = ob.Overlay.from_labels(edges_in(f"{tmp_path}/o.parquet"), given)
    assert MinTCO().violations(given, overlay) == []
    assert result.counters["bound"] == "costs split among topics"
    counted = dual_fitting_bound(given)
    assert counted < bound_of(result) <= overlay.num_edges < greedy_merge(given).num_edges


def test_labels_are_numbered_in_natural_order(session: SparkSession, tmp_path: Path) -> None:
    labels = ["n10", "n2", "n02", "", "a\0b", "ä", "😀", "7", "x1y"]
    rows = {"who": [label or "z" for label in labels for _ in range(2)], "what": ["t10", "t9"] * len(labels)}
    pq.write_table(pa.table(rows), tmp_path / "rows.parquet")
    rows_on_spark = read_rows(session, f"{tmp_path}/rows.parquet", {"node": "who", "topic": "what"}, ("node", "topic"))
    found = numbered(SparkTables(session, f"{tmp_path}/numbered"), rows_on_spark, 0)
    one = ob.read_topics(tmp_path / "rows.parquet", node_column="who", topic_column="what").instance
    assert [row["label"] for row in found.nodes.orderBy("id").collect()] == list(one.node_labels or ())
    assert [row["label"] for row in found.topics.orderBy("topic").collect()] == ["t9", "t10"]


@pytest.mark.parametrize("own", ["", "own"])
@pytest.mark.parametrize("heavy", [1, 1000])
def test_the_judge_finds_what_one_machine_finds(
    session: SparkSession, instance: Given, tmp_path: Path, heavy: int, own: str
) -> None:
    (path, given), tables = instance, SparkTables(session, f"{tmp_path}/tables", own)
    some = greedy_merge(given).edges[::2]
    overlay = ob.Overlay.from_edges(given.num_nodes, some)
    labels = [given.node_label(v) for v in range(given.num_nodes)]
    table = pa.table({"u": [labels[v] for v in some[:, 1]], "v": [labels[u] for u in some[:, 0]]})
    pq.write_table(table, tmp_path / "half.parquet")
    rows = read_rows(session, path, {}, ("node", "topic"))
    found = numbered(tables, rows, 0)
    rows = read_rows(session, f"{tmp_path}/half.parquet", {}, ("u", "v"))
    verdict = judging.judge(tables, found, edges_by_number(tables, found, rows, "half"), heavy)
    assert verdict.violations == MinTCO().violations(given, overlay)
    assert (verdict.edges, verdict.max_degree) == (overlay.num_edges, overlay.max_degree)


def test_the_bound_is_that_of_counting_on_one_machine(session: SparkSession, instance: Given, tmp_path: Path) -> None:
    (path, given), tables = instance, SparkTables(session, str(tmp_path))
    found = numbered(tables, read_rows(session, path, {}, ("node", "topic")), 0)
    best = greedy_merge(given).num_edges
    bound, _ = lower_bound(tables, found, best)
    easy, _ = lower_bound(tables, found, best, steps=0)
    assert easy <= bound <= best
    assert easy == max(given.num_nodes - 1, -(-(given.num_subscriptions - given.num_topics) // 4))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"node": ["a", ""], "topic": ["t", "t"]}, "has an empty node"),
        ({"node": ["a", None], "topic": ["t", "t"]}, "has an empty node"),
        ({"node": ["a"], "subject": ["t"]}, "no column 'topic'"),
        ({"node": pa.array([], pa.string()), "topic": pa.array([], pa.string())}, "has no rows"),
    ],
)
def test_bad_rows_leave_nothing(session: SparkSession, tmp_path: Path, rows: dict[str, Any], message: str) -> None:
    pq.write_table(pa.table(rows), tmp_path / "rows.parquet")
    with pytest.raises(ob.BadInput, match=message) as raised:
        solve(session, Source(f"{tmp_path}/rows.parquet", {}), f"{tmp_path}/o.parquet", seed=0, options={})
    assert "rows.parquet" in str(raised.value)
    assert os.listdir(tmp_path) == ["rows.parquet"]


def test_what_is_no_parquet_or_unknown_is_one_line(session: SparkSession, instance: Given, tmp_path: Path) -> None:
    (tmp_path / "text.parquet").write_text("node,topic\n")
    for name in ("text.parquet", "none.parquet"):
        with pytest.raises(ob.BadInput, match=f"{name}: cannot be read as Parquet"):
            check(session, Source(f"{tmp_path}/{name}", {}), f"{tmp_path}/o.parquet")
    pq.write_table(pa.table({"u": ["n0"], "v": ["stranger"]}), tmp_path / "o.parquet")
    with pytest.raises(ob.BadInput, match="unknown node 'stranger'"):
        check(session, Source(instance[0], {}), f"{tmp_path}/o.parquet")
    with pytest.raises(ob.BadInput, match="exists: remove it"):
        solve(session, Source(instance[0], {}), f"{tmp_path}/o.parquet", seed=0, options={})
    assert sorted(os.listdir(tmp_path)) == ["o.parquet", "text.parquet"]


def test_a_killed_executor_in_each_level_changes_nothing(
    session: SparkSession, instance: Given, tmp_path: Path
) -> None:
    """On a cluster with another number of partitions; the executors' processes die as each level's folder appears."""
    solve(session, Source(instance[0], {}), f"{tmp_path}/here.parquet", seed=2, options=SMALL)
    with loopback_cluster(2) as cluster:
        words = ["solve", instance[0], "--method", "dc-gm", "--seed", "2", *OPTIONS, "--master", cluster.master]
        command = [*PROGRAM, *words, "-o", f"{tmp_path}/there.parquet"]
        partitions = {"PYSPARK_SUBMIT_ARGS": "--conf spark.sql.shuffle.partitions=7 pyspark-shell"}
        process = subprocess.Popen(command, env=os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"} | partitions)
        killed: set[str] = set()

        def kill_at_levels() -> None:
            while process.poll() is None:
                for level in tmp_path.glob(".there.parquet.*/edges/*"):
                    if level.name not in killed and executors(cluster.workers[0].pid):
                        os.kill(executors(cluster.workers[0].pid)[0], signal.SIGKILL)
                        killed.add(level.name)
                time.sleep(0.05)

        watch = threading.Thread(target=kill_at_levels)
        watch.start()
        assert process.wait(timeout=1000) == 0
        watch.join()
    assert len(killed) == 4
    assert edges_in(f"{tmp_path}/there.parquet") == edges_in(f"{tmp_path}/here.parquet")


def executors(worker: int) -> list[int]:
    """The Java processes that a worker has started."""
    listed = subprocess.run(["pgrep", "-P", str(worker)], capture_output=True, text=True, check=False).stdout.split()
    return [int(pid) for pid in listed]


@pytest.mark.parametrize("locality", LOCALITIES)
def test_no_part_gets_a_topic_of_two_fifths_of_all_nodes(session: SparkSession, tmp_path: Path, locality: str) -> None:
    """A part has the subscriptions of its share of the nodes, whatever they subscribe to."""
    random, nodes, parts = Random(5), 4000, 10
    rows = [
        (f"n{v}", f"t{t}") for v in range(nodes) for t in {0} | set(random.sample(range(1, 300), 3)) if t or v % 5 < 2
    ]
    pq.write_table(pa.table({"node": [v for v, _ in rows], "topic": [t for _, t in rows]}), tmp_path / "rows.parquet")
    rows_on_spark = read_rows(session, f"{tmp_path}/rows.parquet", {}, ("node", "topic"))
    found = numbered(SparkTables(session, f"{tmp_path}/n"), rows_on_spark, 0)
    members, number = in_parts(found.nodes, found, parts, locality, 3)
    sizes = members.groupBy("part").agg(F.sum(F.size("topics")).alias("rows")).collect()
    assert len(sizes) <= number <= 3 * parts + 1
    assert max(row["rows"] for row in sizes) <= 1.3 * len(rows) / parts


def test_the_driver_gets_no_list_of_nodes_or_edges(tmp_path: Path) -> None:
    """With the smallest heap that Spark takes; no job may return more than 200 kB, and a list of numbers has 320 kB."""
    path, output = tmp_path / "wanted.parquet", tmp_path / "o.parquet"
    pq.write_table(ob.WORKLOADS["zipf"].generate(seed=1, nodes=40_000, topics=100, subscriptions=4).to_arrow(), path)
    limits = {
        "spark.driver.maxResultSize": "200k",
        "spark.sql.autoBroadcastJoinThreshold": "-1",
        "spark.sql.shuffle.partitions": "3",
        "spark.executor.memory": "1g",
    }
    confs = " ".join(f"--conf {name}={value}" for name, value in limits.items())
    given = ("--option", "part_rows=40000", "--option", "core_rows=40000", "--option", "bound_steps=1000000")
    words = ("solve", path, "--problem", "min-tco", "--method", "dc-gm", *given, "-o", output, "--json", "--master")
    with loopback_cluster(2) as cluster:
        submitted = f"--driver-memory 460m {confs} pyspark-shell"
        done = run_apart(*words, cluster.master, PYSPARK_SUBMIT_ARGS=submitted)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(edges_in(str(output))) == json.loads(done.stdout)["value"]


def test_a_table_is_stored_whole_or_refused_also_an_empty_one(
    session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("overlaybench.compare.spark_solver.tables._UNCOUNTED_SECONDS", 1.0)
    rows, tables = session.range(10).join(session.range(5), "id"), SparkTables(session, str(tmp_path))
    assert tables.stored(rows, "some").count() == 5
    assert tables.stored(rows.where("id > 7").join(session.range(9), "id"), "none").count() == 0
    session.range(0).write.parquet(f"{tmp_path}/empty")
    lost = f"{tmp_path}/empty"
    monkeypatch.setattr(type(session.read), "parquet", lambda reader, path: reader.format("parquet").load(lost))
    with pytest.raises(ob.BadInput, match="5 rows were written, and are not there"):
        tables.stored(rows, "lost")


@pytest.mark.parametrize("rows", [0, 70])
def test_what_spark_keeps_is_fetched_whole(session: SparkSession, tmp_path: Path, rows: int) -> None:
    tables = SparkTables(session, "", str(tmp_path))
    kept = tables.stored(session.range(0, rows, 1, 5).selectExpr("'é' as word", "id"), "rows")
    tables.move(kept, "rows", f"{tmp_path}/out.parquet")
    assert sorted(pq.read_table(tmp_path / "out.parquet")["id"].to_pylist()) == list(range(rows))
    found = [pq.read_table(path) for path in tables.files(kept, "rows").here()]
    assert sum(table.num_rows for table in found) == rows
    with pytest.raises(ob.BadInput, match="cannot be written"):
        tables.move(kept, "rows", f"{tmp_path}/out.parquet/{'x' * 300}/o.parquet")


@pytest.mark.usefixtures("mounts")
def test_workers_that_see_nothing_of_the_drivers_disk_solve_check_and_generate(
    instance: Given, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Or through a folder of tables that they see; the edges are those of one machine."""
    scratch = tmp_path_factory.mktemp("scratch")
    few = "--conf spark.sql.shuffle.partitions=3 pyspark-shell"
    (tmp_path / "parts").mkdir()
    rows_of_all = instance[1].to_arrow()
    for number, rows in enumerate([rows_of_all.slice(0, 1000), rows_of_all.slice(1000)]):
        pq.write_table(rows, tmp_path / "parts" / f"{number}.parquet")
    wanted = f"{tmp_path}/parts/*.parquet"
    with loopback_cluster(2, hidden=tmp_path) as cluster:

        def command(*words: str) -> subprocess.CompletedProcess[str]:
            return run_apart(*words, "--master", cluster.master, PYSPARK_SUBMIT_ARGS=few)

        solving = ["solve", wanted, "--method", "dc-gm", "--seed", "2", *OPTIONS]
        done = command(*solving, "-o", f"{tmp_path}/o.parquet", "--json")
        assert done.returncode == 0, done.stderr
        assert "workers do not see it: Spark keeps the tables" in done.stderr
        again = command(*solving, "-o", f"{tmp_path}/o.parquet")
        assert again.stderr.splitlines()[-1].endswith("o.parquet: exists: remove it or choose another path")
        pq.write_table(rows_of_all, tmp_path / "wanted.parquet")
        checked = command("check", f"{tmp_path}/wanted.parquet", f"{tmp_path}/o.parquet")
        assert checked.returncode == 0, checked.stderr
        refused = command(*solving, "-o", f"{tmp_path}/p.parquet", "--scratch", str(tmp_path))
        assert (refused.returncode, "a worker does not see this folder" in refused.stderr) == (2, True)
        through = command(*solving, "-o", f"{tmp_path}/p.parquet", "--scratch", str(scratch))
        assert through.returncode == 0, through.stderr
        made = command("generate", "zipf", "--nodes", "2000", "-o", str(tmp_path / "z.parquet"))
        assert (made.returncode, made.stderr.count("\n")) == (0, 2), made.stderr
    with session_on("local[2]") as session:
        solve(session, Source(instance[0], {}), f"{scratch}/here.parquet", seed=2, options=SMALL)
    here = edges_in(f"{scratch}/here.parquet")
    assert [edges_in(f"{tmp_path}/{name}.parquet") for name in ("o", "p")] == [here, here]
    assert len(here) == json.loads(done.stdout)["value"]
    assert sorted(os.listdir(tmp_path)) == ["o.parquet", "p.parquet", "parts", "wanted.parquet", "z.parquet"]
    assert os.listdir(scratch) == ["here.parquet"]
    assert read_rows_of(f"{tmp_path}/z.parquet").num_nodes == 2000
