"""``overlaybench doctor`` in faked environments: what is missing is named with its fix."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from overlaybench.compare.command_line import cli
from overlaybench.compare.commands import installation as doctor
from overlaybench.compare.commands.installation import Check
from overlaybench.compare.studies.spark_session import executors_on
from overlaybench.instances.contract.errors import BadInput

MODULES = "java.base@{0}\njdk.incubator.vector@{0}\n"


@pytest.fixture
def java_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Check]:
    """The check of a Java that lists these modules."""

    def check(modules: str) -> Check:
        program = tmp_path / "bin" / "java"
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\nprintf '%s' '{modules}'\n")
        program.chmod(0o755)
        monkeypatch.setenv("JAVA_HOME", str(tmp_path))
        return next(iter(doctor.java()))

    return check


def test_java_needs_a_version_and_a_module(java_home: Callable[[str], Check]) -> None:
    assert java_home(MODULES.format("21.0.2")).state == "ok"
    old = java_home(MODULES.format("11.0.1"))
    assert (old.state, "17 or newer" in old.found) == ("problem", True)
    slim = java_home("java.base@21.0.2\n")
    assert (slim.state, "jdk.incubator.vector" in slim.found) == ("problem", True)
    assert "default-jre-headless" in slim.fix


def test_without_java_the_status_is_1_and_the_fix_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    checks = json.loads(CliRunner().invoke(cli, ["doctor", "--json"]).output)
    assert {"Python", "Java", "memory", "cores", "libraries", "temporary folder"} <= {one["name"] for one in checks}
    assert all(one["state"] == "ok" or one["fix"] for one in checks)
    done = CliRunner().invoke(cli, ["doctor"])
    assert done.exit_code == 1
    assert "problem  Java: java on the PATH does not run" in done.output
    assert "default-jre-headless" in done.output


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SPARK_HOME", "none"),
        ("SPARK_HOME", "."),
        ("JAVA_HOME", "none"),
        ("SPARK_LOCAL_DIRS", "/proc/none"),
        ("PYSPARK_SUBMIT_ARGS", "--driver-memory 4g"),
    ],
)
def test_a_variable_with_which_spark_cannot_start_is_named_by_doctor_and_by_a_study(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(name, value)
    (check,) = [each for each in doctor.environment() if each.state == "problem"]
    assert (check.name, bool(check.fix)) == (f"{name}={value}", True)
    with pytest.raises(BadInput, match=f"^{name}={value}: .*: "), executors_on("local[1]", tmp_path / "log", None):
        raise AssertionError


def test_a_master_that_cannot_be_reached_is_one_line_at_once(tmp_path: Path) -> None:
    for master in ("spark://127.0.0.1:1", "spark://127.0.0.1:1,127.0.0.1:2", "sc://127.0.0.1:1", "sc://127.0.0.1"):
        refused = pytest.raises(BadInput, match=f"--master {master}: cannot be reached")
        with refused, executors_on(master, tmp_path / "log", None):
            raise AssertionError


@pytest.mark.parametrize(("gib", "state"), [(0.25, "problem"), (1.5, "warning"), (8, "ok")])
def test_little_memory_is_reported(gib: float, state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = SimpleNamespace(total=16 * 2**30, available=gib * 2**30)
    monkeypatch.setattr("psutil.virtual_memory", lambda: memory)
    (check,) = doctor.memory()
    assert (check.state, bool(check.fix)) == (state, state != "ok")


def test_a_container_limits_memory_and_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "memory.max").write_text(f"{2**29}\n")
    (tmp_path / "cpu.max").write_text("50000 100000\n")
    monkeypatch.setattr(doctor, "_CGROUP", tmp_path)
    assert "of 0.5 GiB" in next(iter(doctor.memory())).found
    (cores,) = doctor.cores()
    assert (cores.state, "0.5" in cores.found, "local[1]" in cores.fix) == ("warning", True, True)


def test_a_wrong_or_missing_library_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "importlib.metadata.requires", lambda name: ["click>=99", "no-such-library", "numpy; extra=='x'"]
    )
    (check,) = doctor.libraries()
    assert check.state == "problem"
    assert "is not >=99" in check.found
    assert "no-such-library is missing" in check.found
    assert "numpy" not in check.found


def test_kernels_that_cannot_be_kept_are_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("overlaybench.instances.runtime.compiled.cache_folder", lambda: tmp_path / "kernels")
    assert [(check.name, check.state) for check in doctor.folders()][-1] == ("compiled kernels", "warning")


@pytest.mark.slow
@pytest.mark.spark
def test_every_solver_and_spark_answer() -> None:
    checks = json.loads(CliRunner().invoke(cli, ["doctor", "--json", "--spark", "--solvers"]).stdout)
    wanted = {"Spark", "solver ilp highs", "solver ilp cbc", "solver cp-sat", "solver branch-and-cut"}
    assert {one["name"] for one in checks if one["state"] == "ok"} >= wanted
