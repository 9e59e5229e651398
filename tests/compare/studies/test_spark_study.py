"""Studies on Spark: what is stored, what a stopped one resumes, what is refused, and the same on a cluster."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyspark
import pytest

from overlaybench.compare.catalogue import version_of
from overlaybench.compare.studies import spark_session, spark_study
from overlaybench.compare.studies.isolation import session_members
from overlaybench.compare.studies.run_table import run_table
from overlaybench.compare.studies.spark_session import _is_of_spark, spark, write_archive
from overlaybench.compare.studies.spark_study import _check_code, run_study
from overlaybench.compare.studies.store import Store
from overlaybench.compare.studies.study import read_study
from overlaybench.instances.contract.errors import BadInput
from tests.compare.conftest import PROGRAM, run_apart
from tests.compare.faults import started_runs, table, wait_for
from tests.compare.loopback_cluster import Cluster, connect_server, loopback_cluster
from tests.interrupts import has_ended
from tests.outcomes import output_of

pytestmark = pytest.mark.spark
SPEC = """
name = "trial"
seed = 3
time_limit = 20
memory_limit = 1500
instances = [{{ workload = "zipf", nodes = [5, 7], topics = 5, subscriptions = 2, seeds = {seeds} }}]
runs = [
  {{ problems = ["min-tco"], methods = ["gm", {{ method = "gm", ties = "random" }}, "ring-per-topic", "cp-sat"] }},
  {{ problems = ["2d-star", "2d-true"], methods = ["2d-oda"] }},
]
"""


def command(spec: Path, out: Path, master: str) -> list[str]:
    return ["study", str(spec), "--out", str(out), "--master", master]


def finish(spec: Path, out: Path, master: str, *more: str) -> subprocess.CompletedProcess[str]:
    done = run_apart(*command(spec, out, master), *more, cwd=spec.parent)
    assert done.returncode == 0, done.stderr
    return done


def write(folder: Path, seeds: int) -> Path:
    file = folder / f"{seeds}.toml"
    file.write_text(SPEC.format(seeds=seeds))
    return file


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's folder with files that have names of ours and cannot be imported."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "instances").mkdir()
    for name in ("models.py", "compare.py", "heuristics.py", "instances/__init__.py"):
        (folder / name).write_text("raise RuntimeError('the wrong module')\nno syntax")
    return folder


@pytest.fixture(scope="module")
def finished(folder: Path) -> tuple[Path, Path, str]:
    """A study of 12 runs on one core, started in that folder: its file, its results and what it printed."""
    file = write(folder, 1)
    return file, folder / "out", finish(file, folder / "out", "local[1]").stdout


def test_a_study_beside_files_with_names_of_ours_does_all_its_runs(finished: tuple[Path, Path, str]) -> None:
    file, out, printed = finished
    assert "12 runs" in printed
    assert "failed" not in printed
    rows = Store(out).rows()
    assert set(run_table(read_study(file), Store(out).index()).keys.to_pylist()) == set(rows["key"])


def test_a_finished_study_starts_no_spark(finished: tuple[Path, Path, str]) -> None:
    file, out, _ = finished
    (out / "spark.log").unlink()
    assert "12 runs" in output_of("study", file, "--out", out)
    assert not (out / "spark.log").exists()


def test_java_writes_an_archive_of_its_classes_and_the_next_one_starts_from_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark_session, "cache_folder", lambda: tmp_path / "with a blank")
    java = ["java", "-Xshare:on", *shlex.split(spark_session._with_classes("-XX:+UseSerialGC")), "-version"]
    subprocess.run(java, capture_output=True, check=True)
    (archive,) = tmp_path.rglob("*.jsa")
    again = [*java[:2], *shlex.split(spark_session._with_classes("-XX:+UseSerialGC")), "-Xlog:cds=info", "-version"]
    output = subprocess.run(again, capture_output=True, text=True, check=True).stdout
    assert again[4] != java[4]
    assert str(archive) in output
    archive.chmod(0o600)
    archive.write_bytes(bytes(4) + archive.read_bytes()[4:])
    assert shlex.split(spark_session._with_classes("-XX:+UseSerialGC")) == java[2:-1]


def test_workers_have_what_their_tasks_import_when_they_begin(tmp_path: Path) -> None:
    def has_all(_: int) -> tuple[bool, str]:
        needed = {"pandas", "numba.np.linalg", "overlaybench.compare.studies.spark_study"}
        return needed <= sys.modules.keys(), pyspark.__file__

    with spark("local[2]", tmp_path / "spark.log") as context:
        assert context.parallelize([1, 2], 2).map(has_all).collect() == [(True, pyspark.__file__)] * 2


def test_what_comes_up_while_an_error_of_spark_is_handled_is_of_spark() -> None:
    error = FileNotFoundError()
    assert not _is_of_spark(error)
    error.__context__ = ConnectionRefusedError()
    assert _is_of_spark(error)


@pytest.mark.slow
def test_a_study_grows_by_what_is_new_and_keeps_the_rest(finished: tuple[Path, Path, str], tmp_path: Path) -> None:
    out = shutil.copytree(finished[1], tmp_path / "out")
    before = started_runs(out)
    file = write(tmp_path, 2)
    file.write_text(file.read_text().replace('"ring-per-topic", ', ""))
    grown = finish(file, out, "local[2]")
    assert "20 runs" in grown.stdout
    assert "2 stored runs of earlier studies or code versions are not among them" in grown.stderr
    after = started_runs(out)
    assert len(after) == 22
    assert {key: after[key] for key in before} == before
    unrelated = file.read_text().replace('"trial"', '"other"').replace("seed = 3", "seed = 4")
    file.write_text(unrelated)
    finish(file, out, "local[2]", "--grow")
    assert len(started_runs(out)) == 42


def test_a_study_stopped_while_java_starts_leaves_no_process(tmp_path: Path) -> None:
    study = subprocess.Popen(
        [*PROGRAM, *command(write(tmp_path, 1), tmp_path / "out", "local[2]")],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    wait_for(study, lambda: bool(session_members(study.pid)))
    study.send_signal(signal.SIGTERM)
    _, printed = study.communicate(timeout=120)  # a process that is left would hold the pipe
    assert study.returncode == 128 + signal.SIGTERM
    assert b"overlaybench: stopped" in printed  # after the last run, too, if Java was fast
    assert b"Traceback" not in printed
    deadline = time.monotonic() + 60
    while not all(map(has_ended, session_members(study.pid))) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert all(map(has_ended, session_members(study.pid)))


CLUSTER_SPEC = """
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
    spec.write_text(CLUSTER_SPEC)
    return spec


def study(folder: Path, master: str, *more: str, **environment: str) -> subprocess.Popen[str]:
    """A study that is started in another process, with its results in `folder`/out."""
    words = [*PROGRAM, *command(spec_in(folder), folder / "out", master), *more]
    kept = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"} | environment
    return subprocess.Popen(words, env=kept, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


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
    return table(folder / "out")


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
    assert table(tmp_path / "out") == undisturbed


@pytest.mark.slow
def test_a_server_of_spark_connect_gives_the_same_rows(tmp_path: Path, undisturbed: list[dict[str, Any]]) -> None:
    pytest.importorskip("grpc", reason="pip install 'overlaybench[connect]'")
    with connect_server(tmp_path) as address:
        *words, _, _ = command(spec_in(tmp_path), tmp_path / "out", "")  # without a master
        assert run_apart(*words, "--remote", address, cwd=tmp_path).returncode == 0
    assert table(tmp_path / "out") == undisturbed


def test_a_server_of_spark_connect_is_refused_where_a_spark_context_is_needed(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="Spark Connect runs studies alone"), spark("sc://127.0.0.1:1", tmp_path / "log"):
        pass


def test_a_worker_with_other_code_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    version = version_of("gm", "min-tco")
    _check_code("gm", "min-tco", version)
    _check_code.cache_clear()
    monkeypatch.setattr(spark_study, "version_of", lambda method, problem: "another")
    with pytest.raises(BadInput, match="a worker has code of version another for gm on min-tco, the study is for"):
        _check_code("gm", "min-tco", version)


@pytest.mark.slow
def test_the_code_of_a_cluster_is_the_archive(tmp_path: Path, cluster: Cluster) -> None:
    code = write_archive(tmp_path / "code.zip")
    other = tmp_path / "other.zip"
    with zipfile.ZipFile(code) as source, zipfile.ZipFile(other, "w") as changed:
        for entry in source.infolist():
            more = b"\nANOTHER_VERSION = 1\n" if entry.filename == "overlaybench/instances/contract/overlay.py" else b""
            changed.writestr(entry, source.read(entry) + more)
    status, last = ended(study(tmp_path, cluster.master, "--archive", str(other), PYSPARK_PYTHON=sys.executable))
    assert status == 2
    assert "code of version" in last
    assert len(Store(tmp_path / "out").done()) == 0


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
    assert table(tmp_path / "out") == undisturbed


SPEC_OF_A_FILE = """
name = "hidden"
seed = 5
time_limit = 60
memory_limit = 1500
instances = [
  { workload = "zipf", nodes = [6, 8], topics = 5, subscriptions = 3, seeds = 3 },
  { file = "own.csv", sample = [5, 0], seeds = 2 },
]
[[runs]]
problems = ["min-tco"]
methods = ["gm", "branch-and-cut"]
proof = true
"""


@pytest.mark.slow
@pytest.mark.usefixtures("mounts")
def test_workers_that_see_nothing_of_the_drivers_disk_do_all_runs_with_files_and_proofs(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    stores = []
    with loopback_cluster(2, hidden=tmp_path) as cluster:
        for folder, master in ((tmp_path, cluster.master), (tmp_path_factory.mktemp("seen"), "local[1]")):
            (folder / "spec.toml").write_text(SPEC_OF_A_FILE)
            rows = "".join(f"n{v},t{v * k % 5}\n" for v in range(9) for k in (1, 2))
            (folder / "own.csv").write_text(f"node,topic\n{rows}")
            stores.append(Store(folder / "out"))
            run_study(read_study(folder / "spec.toml"), stores[-1], master, quiet=True)
    hidden, seen = (
        store.table(columns=["instance", "method", "seed", "status", "value", "answer"]).to_pylist() for store in stores
    )
    assert len(hidden) == 2 * (6 + 3)
    assert sorted(hidden, key=str) == sorted(seen, key=str)
    assert len(list(stores[0].proofs.iterdir())) == 9
