"""Studies on a real Spark: what is stored, what a killed one resumes, what is refused."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from compare.catalogue import problem_named
from compare.store import Store
from compare.study import read_study
from instances import Overlay

pytestmark = pytest.mark.spark

SPEC = """
name = "trial"
seed = 3
time_limit = 20
memory_limit = 1500

[[instances]]
workload = "zipf"
nodes = [5, 7]
topics = 5
subscriptions = 2
seeds = {seeds}

[[runs]]
problems = ["min-tco"]
methods = [{{ method = "gm", ties = ["lowest", "random"] }}, "ring-per-topic", "cp-sat"]

[[runs]]
problems = ["2d-star", "2d-true"]
methods = ["2d-oda"]
"""
COUNTED = ["key", "instance", "problem", "variant", "seed", "status", "value", "lower_bound", "edges", "counters"]


@pytest.fixture
def spec(tmp_path):
    def write(seeds):
        file = tmp_path / "study.toml"
        file.write_text(SPEC.format(seeds=seeds))
        return file

    return write


def command(spec, out, master="local[2]"):
    return [sys.executable, "-m", "compare", "study", str(spec), "--out", str(out), "--master", master]


def finish(spec, out, master="local[2]"):
    return subprocess.run(command(spec, out, master), capture_output=True, text=True, check=True, timeout=280)


def table(out):
    rows = Store(out).rows(Store(out).plan().keys).sort_values("key", ignore_index=True)
    return rows[COUNTED]


def test_a_study_gives_the_same_rows_on_one_core_and_on_two(spec, tmp_path):
    file = spec(2)
    for name, master in (("one", "local[1]"), ("two", "local[2]")):
        said = finish(file, tmp_path / name, master)
        assert "24 runs" in said.stdout
        assert "failed" not in said.stdout
    one, two = table(tmp_path / "one"), table(tmp_path / "two")
    assert one.equals(two)
    assert set(one[one["variant"] == "cp-sat"]["status"]) == {"optimal"}
    best = one[one["variant"] == "cp-sat"].set_index("instance")["value"]
    greedy = one[(one["problem"] == "min-tco") & (one["variant"] != "cp-sat")]
    assert (greedy["value"].to_numpy() >= best[greedy["instance"]].to_numpy()).all()


def test_a_killed_study_loses_and_repeats_nothing(spec, tmp_path):
    file, out = spec(12), tmp_path / "out"
    for number in (signal.SIGKILL, signal.SIGINT):
        study = subprocess.Popen(
            command(file, out), stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )
        before = len(Store(out).done())
        deadline = time.monotonic() + 120
        while len(Store(out).done()) < before + 3 and study.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        os.kill(study.pid, number)
        study.wait(60)
        assert study.returncode in (-signal.SIGKILL, 130)
        assert len(Store(out).done()) >= before + 3
    stamps = {file.name: file.stat().st_mtime_ns for file in Store(out).runs.glob("*.parquet")}
    _wait_for_the_lock(out)
    said = finish(file, out)
    assert f"{len(stamps)} of 144 runs were done before" in said.stderr
    assert "144 runs" in said.stdout
    after = {file.name: file.stat().st_mtime_ns for file in Store(out).runs.glob("*.parquet")}
    assert len(after) == 144
    assert {name: after[name] for name in stamps} == stamps
    assert table(out)["key"].is_unique
    assert not [file for file in out.rglob(".*") if file.is_file() and file.name != ".lock"]


def _wait_for_the_lock(out):
    for _ in range(100):
        try:
            with Store(out).locked():
                return
        except ValueError:
            time.sleep(0.1)
    pytest.fail("the lock of a killed study was not released")


def test_a_finished_study_starts_no_spark(spec, tmp_path):
    file, out = spec(1), tmp_path / "out"
    finish(file, out)
    (out / "spark.log").unlink()
    assert "12 runs" in finish(file, out).stdout
    assert not (out / "spark.log").exists()


def test_a_study_in_the_folder_of_another_is_refused(spec, tmp_path):
    out = tmp_path / "out"
    finish(spec(1), out)
    again = subprocess.run(command(spec(2), out), capture_output=True, text=True, check=False)
    assert again.returncode == 2
    assert "holds another study" in again.stderr
    assert again.stderr.count("\n") == 1


def test_every_stored_answer_is_valid_and_worth_its_value(spec, tmp_path):
    file, out = spec(1), tmp_path / "out"
    finish(file, out)
    store = Store(out)
    for _, row in store.rows().iterrows():
        instance = store.instance(row["instance"])
        overlay = Overlay(instance.num_nodes, np.array(row["answer"], dtype=np.int32).reshape(-1, 2))
        problem = problem_named(row["problem"])
        assert problem.violations(instance, overlay) == []
        assert problem.value(instance, overlay) == row["value"]
    tasks = read_study(file).tasks(store.index())
    assert {task.key for task in tasks} == set(store.rows()["key"])
