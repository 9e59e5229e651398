"""Studies on a real standalone cluster: the code travels, the rows are those of one machine."""

import os
import signal
import subprocess
import sys
import zipfile

import pytest

from overlaybench.compare.studies.code_archive import write_archive
from overlaybench.compare.studies.loopback_cluster import loopback_cluster
from overlaybench.compare.studies.row import MEASURED, SCHEMA
from overlaybench.compare.studies.store import Store

pytestmark = pytest.mark.spark

SPEC = """
name = "cluster"
seed = 5
time_limit = 60
memory_limit = 1500

[[instances]]
workload = "zipf"
nodes = [6, 8]
topics = 5
subscriptions = 3
seeds = 4

[[runs]]
problems = ["min-tco"]
methods = ["gm", { method = "low-oda", ties = "random" }, "cp-sat"]

[[runs]]
problems = ["2d-star"]
methods = ["2d-oda"]
"""


def study(folder, out, master, *more, **environment):
    spec = folder / "spec.toml"
    spec.write_text(SPEC)
    command = [
        sys.executable,
        "-m",
        "overlaybench.compare",
        "study",
        str(spec),
        "--out",
        str(out),
        "--master",
        master,
        *more,
    ]
    kept = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"} | environment
    return subprocess.Popen(command, env=kept, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended(process):
    """Its status and what it said last; it is not left behind."""
    try:
        _, err = process.communicate(timeout=240)
    finally:
        process.kill()
    return process.returncode, err.splitlines()[-1] if err else ""


def finished(process):
    assert ended(process)[0] == 0


def rows(out):
    columns = [name for name in SCHEMA.names if name not in MEASURED]
    return Store(out).table(columns=columns).drop_columns("counters").to_pylist()


@pytest.fixture(scope="module")
def cluster():
    with loopback_cluster(2) as running:
        yield running


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    finished(study(folder, folder / "out", "local[1]"))
    return rows(folder / "out")


def test_one_core_two_cores_and_a_cluster_give_the_same_rows(tmp_path, cluster, undisturbed):
    assert len(undisturbed) == 32
    assert {row["status"] for row in undisturbed} == {"feasible", "optimal"}
    finished(study(tmp_path, tmp_path / "two", "local[2]"))
    finished(study(tmp_path, tmp_path / "cluster", cluster.master))
    assert rows(tmp_path / "two") == undisturbed
    assert rows(tmp_path / "cluster") == undisturbed


def test_the_code_of_a_cluster_is_the_archive(tmp_path, cluster):
    code = write_archive(tmp_path / "code.zip")
    other = tmp_path / "other.zip"
    with zipfile.ZipFile(code) as source, zipfile.ZipFile(other, "w") as changed:
        for entry in source.infolist():
            more = b"\nANOTHER_VERSION = 1\n" if entry.filename == "overlaybench/models/__init__.py" else b""
            changed.writestr(entry, source.read(entry) + more)
    process = study(tmp_path, tmp_path / "out", cluster.master, "--archive", str(other), PYSPARK_PYTHON=sys.executable)
    status, said = ended(process)
    assert status == 2
    assert "code of version" in said
    assert Store(tmp_path / "out").done() == set()


@pytest.fixture
def bare(tmp_path):
    """A Python without any library."""
    file = tmp_path / "python3"
    file.write_text(f'#!/bin/sh\nexec "{os.path.realpath(sys.executable)}" -s "$@"\n')
    file.chmod(0o755)
    alone = subprocess.run(
        [str(file), "-c", "import numba"], env={"PATH": os.environ["PATH"]}, stderr=subprocess.DEVNULL, check=False
    )
    if alone.returncode == 0:
        pytest.skip("this machine's Python has the libraries of itself")
    return str(file)


@pytest.mark.slow
def test_workers_without_the_libraries_end_the_study_with_one_line(tmp_path, cluster, bare):
    status, said = ended(study(tmp_path, tmp_path / "out", cluster.master, PYSPARK_PYTHON=bare))
    assert status == 2
    assert "Spark failed (ModuleNotFoundError: No module named" in said


@pytest.mark.slow
def test_workers_need_nothing_but_python_java_and_an_archive_with_the_libraries(tmp_path, cluster, undisturbed, bare):
    archive = write_archive(tmp_path / "all.zip", libraries=True)
    finished(study(tmp_path, tmp_path / "out", cluster.master, "--archive", str(archive), PYSPARK_PYTHON=bare))
    assert rows(tmp_path / "out") == undisturbed


@pytest.mark.slow
def test_a_worker_of_the_cluster_may_be_killed(tmp_path, cluster, undisturbed):
    process = study(tmp_path, tmp_path / "out", cluster.master)
    runs = Store(tmp_path / "out")
    while len(runs.done()) < 4 and process.poll() is None:
        pass
    os.killpg(cluster.workers[0].pid, signal.SIGKILL)
    finished(process)
    assert rows(tmp_path / "out") == undisturbed
    cluster.add_worker()
