"""Studies on a real Spark: what is stored, what a killed one resumes, what is refused."""

import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from overlaybench.compare.catalogue import problem_named
from overlaybench.compare.studies.store import Store
from overlaybench.compare.studies.study import read_study
from overlaybench.instances.overlay import Overlay
from overlaybench.instances.topics.kind import TOPICS

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


def command(spec, out, master):
    return [sys.executable, "-m", "overlaybench.compare", "study", str(spec), "--out", str(out), "--master", master]


def finish(spec, out, master="local[2]"):
    return subprocess.run(command(spec, out, master), capture_output=True, text=True, check=True, timeout=280)


def write(folder, seeds):
    file = folder / f"{seeds}.toml"
    file.write_text(SPEC.format(seeds=seeds))
    return file


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A study of 12 runs that was done on one core, and what it said."""
    folder = tmp_path_factory.mktemp("finished")
    return write(folder, 1), folder / "out", finish(write(folder, 1), folder / "out", "local[1]").stdout


def test_a_study_runs_everything_and_its_exact_runs_bound_the_others(finished):
    file, out, said = finished
    assert "12 runs" in said
    assert "failed" not in said
    rows = Store(out).rows()
    assert {task.key for task in read_study(file).tasks(Store(out).index())} == set(rows["key"])
    exact = rows[rows["exact"]]
    assert set(exact["status"]) == {"optimal"}
    best = exact.set_index("instance")["value"]
    greedy = rows[(rows["problem"] == "min-tco") & ~rows["exact"]]
    assert len(greedy) == 6
    assert (greedy["value"].to_numpy() >= best[greedy["instance"]].to_numpy()).all()


def test_every_stored_answer_is_valid_and_worth_its_value(finished):
    store = Store(finished[1])
    for _, row in store.rows().iterrows():
        instance = store.instance(row["instance"], TOPICS)
        overlay = Overlay(instance.num_nodes, np.array(row["answer"], dtype=np.int32).reshape(-1, 2))
        problem = problem_named(row["problem"])
        assert problem.violations(instance, overlay) == []
        assert problem.value(instance, overlay) == row["value"]


def test_two_cores_give_the_rows_of_one(finished, tmp_path):
    file, one, _ = finished
    finish(file, tmp_path / "two", "local[2]")
    assert table(tmp_path / "two").equals(table(one))


def test_a_finished_study_starts_no_spark(finished):
    file, out, _ = finished
    (out / "spark.log").unlink()
    assert "12 runs" in finish(file, out).stdout
    assert not (out / "spark.log").exists()


def test_a_study_in_the_folder_of_another_is_refused(finished, tmp_path):
    again = subprocess.run(
        command(write(tmp_path, 2), finished[1], "local[1]"), capture_output=True, text=True, check=False
    )
    assert again.returncode == 2
    assert "holds another study" in again.stderr
    assert again.stderr.count("\n") == 1


def test_a_killed_study_loses_and_repeats_nothing(tmp_path):
    file, out = write(tmp_path, 5), tmp_path / "out"
    for number, status in ((signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 130)):
        log = _size(out / "spark.log")
        study = subprocess.Popen(command(file, out, "local[2]"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # Runs are counted once Spark is up: an executor of the study killed before may finish one until then.
        _wait(study, lambda: _size(out / "spark.log"), log + 1)
        _wait(study, lambda: len(Store(out).done()), len(Store(out).done()) + 3)
        study.send_signal(number)
        assert study.wait(60) == status
    kept = _stored(out)
    assert 6 <= len(kept) < 60
    said = finish(file, out)
    before = re.search(r"(\d+) of 60 runs were done before", said.stderr)
    assert before is not None
    # An executor of a killed driver may still finish what it was doing; that counts too.
    assert len(kept) <= int(before[1]) <= len(kept) + 2
    assert "60 runs" in said.stdout
    after = _stored(out)
    assert len(after) == 60
    assert {key: after[key] for key in kept} == kept
    assert not [file for file in out.rglob(".*") if file.is_file() and file.name != ".lock"]


def _size(file):
    return file.stat().st_size if file.is_file() else 0


def _wait(study, count, least):
    deadline = time.monotonic() + 120
    while count() < least and study.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)


def table(out):
    return Store(out).rows().sort_values("key", ignore_index=True)[COUNTED]


def _stored(out):
    """When each stored run was started: done again, it would be another moment."""
    table = Store(out).table(columns=["key", "started"])
    return dict(zip(table["key"].to_pylist(), table["started"].to_pylist(), strict=True))
