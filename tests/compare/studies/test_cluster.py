"""Studies on a standalone cluster: its workers get the code, and the rows are those of one machine."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from overlaybench.compare.catalogue import code_version
from overlaybench.compare.studies import spark_study
from overlaybench.compare.studies.row import MEASURED, SCHEMA
from overlaybench.compare.studies.spark_session import write_archive
from overlaybench.compare.studies.spark_study import _check_code, run_study
from overlaybench.compare.studies.store import Store
from overlaybench.compare.studies.study import read_study
from overlaybench.compare.studies.task import Task
from overlaybench.instances.contract.errors import BadInput
from tests.compare.loopback_cluster import Cluster, loopback_cluster

pytestmark = pytest.mark.spark

SPEC = """
name = "cluster"
seed = 5
time_limit = 60
memory_limit = 1500
instances = [{ workload = "zipf", nodes = [6, 8], topics = 5, subscriptions = 3, seeds = 4 }]
runs = [
  { problems = ["min-tco"], methods = ["gm", { method = "low-oda", ties = "random" }, "cp-sat"] },
  { problems = ["2d-star"], methods = ["2d-oda"] },
]
"""


def spec_in(folder: Path) -> Path:
    spec = folder / "spec.toml"
    spec.write_text(SPEC)
    return spec


def study(folder: Path, master: str, *more: str, **environment: str) -> subprocess.Popen[str]:
    """A study that is started in another process, with its results in `folder`/out."""
    words = ["study", str(spec_in(folder)), "--out", str(folder / "out"), "--master", master, *more]
    command = [sys.executable, "-m", "overlaybench.compare", *words]
    kept = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"} | environment
    return subprocess.Popen(command, env=kept, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Its status and its last line on stderr; it is killed if it does not end."""
    try:
        _, err = process.communicate(timeout=240)
    finally:
        process.kill()
    return process.returncode, err.splitlines()[-1] if err else ""


def rows_on(master: str, folder: Path) -> list[dict[str, Any]]:
    """The rows of the study after it has run in this process."""
    run_study(read_study(spec_in(folder)), Store(folder / "out"), master, quiet=True)
    return rows(folder / "out")


def rows(out: Path) -> list[dict[str, Any]]:
    columns = [name for name in SCHEMA.names if name not in MEASURED]
    listed: list[dict[str, Any]] = Store(out).table(columns=columns).drop_columns("counters").to_pylist()
    return listed


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with loopback_cluster(2) as running:
        yield running


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    return rows_on("local[1]", tmp_path_factory.mktemp("undisturbed"))


@pytest.mark.slow
def test_one_core_two_cores_and_a_cluster_give_the_same_rows(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, cluster: Cluster, undisturbed: list[dict[str, Any]]
) -> None:
    assert len(undisturbed) == 32
    assert {row["status"] for row in undisturbed} == {"feasible", "optimal"}
    assert rows_on("local[2]", tmp_path_factory.mktemp("two")) == undisturbed
    assert ended(study(tmp_path, cluster.master))[0] == 0
    assert rows(tmp_path / "out") == undisturbed


def test_a_worker_with_other_code_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    task = Task("0", "{}", "f", "min-tco", "gm", "{}", 1, 1.0, 100, code_version())
    _check_code(task)
    monkeypatch.setattr(spark_study, "code_version", lambda: "another")
    with pytest.raises(BadInput, match="a worker has code of version another, the study is for"):
        _check_code(task)


@pytest.mark.slow
def test_the_code_of_a_cluster_is_the_archive(tmp_path: Path, cluster: Cluster) -> None:
    code = write_archive(tmp_path / "code.zip")
    other = tmp_path / "other.zip"
    with zipfile.ZipFile(code) as source, zipfile.ZipFile(other, "w") as changed:
        for entry in source.infolist():
            more = b"\nANOTHER_VERSION = 1\n" if entry.filename == "overlaybench/models/__init__.py" else b""
            changed.writestr(entry, source.read(entry) + more)
    status, last = ended(study(tmp_path, cluster.master, "--archive", str(other), PYSPARK_PYTHON=sys.executable))
    assert status == 2
    assert "code of version" in last
    assert Store(tmp_path / "out").done() == set()


@pytest.fixture
def bare(tmp_path: Path) -> str:
    """A Python without any library."""
    file = tmp_path / "python3"
    file.write_text(f'#!/bin/sh\nexec "{os.path.realpath(sys.executable)}" -s "$@"\n')
    file.chmod(0o755)
    alone = subprocess.run(
        [str(file), "-c", "import numba"], env={"PATH": os.environ["PATH"]}, stderr=subprocess.DEVNULL, check=False
    )
    if alone.returncode == 0:
        pytest.skip("this machine's Python has the libraries itself")
    return str(file)


@pytest.mark.slow
def test_workers_without_the_libraries_end_the_study_with_one_line(tmp_path: Path, cluster: Cluster, bare: str) -> None:
    status, last = ended(study(tmp_path, cluster.master, PYSPARK_PYTHON=bare))
    assert status == 2
    assert "Spark failed (ModuleNotFoundError: No module named" in last


@pytest.mark.slow
def test_workers_need_nothing_but_python_java_and_an_archive_with_the_libraries(
    tmp_path: Path, cluster: Cluster, undisturbed: list[dict[str, Any]], bare: str
) -> None:
    archive = write_archive(tmp_path / "all.zip", libraries=True)
    assert ended(study(tmp_path, cluster.master, "--archive", str(archive), PYSPARK_PYTHON=bare))[0] == 0
    assert rows(tmp_path / "out") == undisturbed
