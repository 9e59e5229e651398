""".ci/set-up.sh: what it does and says, with Python, Java and the package manager replaced by scripts."""

import os
import select
import shutil
import subprocess
from importlib.metadata import distributions
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[1]
PYTHON = """
case "$*" in
    "-m venv .venv") echo venv >>"$LOG"; mkdir -p .venv/bin; cp "$0" .venv/bin/python ;;
    *"pip install"*) echo packages >>"$LOG"; exit "${PIP_STATUS:-0}" ;;
esac
"""
FITTING_JAVA = "echo java.base@17.0.1; echo jdk.incubator.vector@17.0.1"


class SetUp(NamedTuple):
    """How a set-up ended: exit status and standard error."""

    status: int
    stderr: str


class Machine:
    """A checkout and the programs that .ci/set-up.sh finds on the PATH."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.log, self.programs = folder, folder / "log", folder / "programs"
        self.checkout = folder / "a checkout"
        self.programs.mkdir()
        (self.checkout / ".ci").mkdir(parents=True)
        for name in ("pyproject.toml", "constraints.txt", ".ci/set-up.sh"):
            shutil.copy(ROOT / name, self.checkout / name)
        self.has("python3", PYTHON)
        self.has("java", FITTING_JAVA)
        self.has("id", "echo 1000")
        self.has("sudo", "exit 1")
        self.has("apt-get", 'echo "apt-get $*" >>"$LOG"')

    def has(self, name: str, script: str) -> None:
        program = self.programs / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)

    def start(self, **environment: str) -> subprocess.Popen[str]:
        own = {"PATH": f"{self.programs}:{os.environ['PATH']}", "LOG": str(self.log)}
        script = self.checkout / ".ci/set-up.sh"
        return subprocess.Popen([script], env=own | environment, stderr=subprocess.PIPE, text=True)

    def set_up(self, **environment: str) -> SetUp:
        process = self.start(**environment)
        _, stderr = process.communicate()
        return SetUp(process.returncode, stderr)

    def done(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_second_call_does_nothing(machine: Machine) -> None:
    assert machine.set_up().status == 0
    assert machine.done() == ["venv", "packages"]
    again = machine.set_up()
    assert again == (0, "")
    assert machine.done() == ["venv", "packages"]


@pytest.mark.parametrize("name", ["pyproject.toml", "constraints.txt", ".ci/set-up.sh"])
def test_a_changed_file_installs_the_packages_again(machine: Machine, name: str) -> None:
    machine.set_up()
    with (machine.checkout / name).open("a") as file:
        file.write("# changed\n")
    assert machine.set_up().status == 0
    assert machine.done() == ["venv", "packages", "packages"]


def test_a_moved_checkout_is_set_up_anew(machine: Machine) -> None:
    machine.set_up()
    machine.checkout = machine.checkout.rename(machine.folder / "elsewhere")
    assert machine.set_up().status == 0
    assert machine.done() == ["venv", "packages"] * 2


@pytest.mark.parametrize("interrupted_before", ["venv", "update"])
def test_a_set_up_that_did_not_end_is_done_anew(machine: Machine, interrupted_before: str) -> None:
    if interrupted_before == "update":
        machine.set_up()
        (machine.checkout / "constraints.txt").write_text("changed")
    assert machine.set_up(PIP_STATUS="1").status == 1
    before = machine.done()
    assert machine.set_up().status == 0
    assert machine.done() == [*before, "venv", "packages"]


@pytest.mark.parametrize("java", ["exit 1", "echo jdk.incubator.vector@16.0.2", "echo java.base@21"])
def test_a_machine_without_fitting_java_is_told_what_root_must_install(machine: Machine, java: str) -> None:
    machine.has("java", java)
    outcome = machine.set_up()
    assert outcome.status == 1
    assert outcome.stderr.count("\n") == 1
    assert "apt-get install default-jre-headless" in outcome.stderr
    assert machine.done() == []


def test_root_gets_what_is_missing_from_debian_and_nothing_else(machine: Machine) -> None:
    machine.has("id", "echo 0")
    machine.has("java", 'grep -q default-jre-headless "$LOG" && ' + FITTING_JAVA.replace(";", " &&"))
    assert machine.set_up().status == 0
    installed = [line for line in machine.done() if line.startswith("apt-get install")]
    assert len(installed) == 1
    assert installed[0].endswith(" default-jre-headless")
    assert "python3-venv" not in installed[0]


def test_an_unfit_java_home_and_an_old_python_are_named(machine: Machine) -> None:
    outcome = machine.set_up(JAVA_HOME="no/java/here")
    assert (outcome.status, outcome.stderr.count("\n")) == (1, 1)
    assert outcome.stderr.startswith("set-up: JAVA_HOME is no/java/here")
    machine.has("python3", "exit 1")
    assert machine.set_up() == (1, "set-up: needs Python 3.11 or newer as python3\n")


def test_a_second_set_up_waits_for_the_first(machine: Machine) -> None:
    machine.has("java", f'while [ ! -e "$LOG.go" ]; do sleep 0.02; done; {FITTING_JAVA}')
    both = [machine.start() for _ in range(2)]
    streams = [each.stderr for each in both if each.stderr is not None]
    waiting, _, _ = select.select(streams, [], [])
    assert waiting[0].readline() == "set-up: waiting for another set-up\n"
    Path(f"{machine.log}.go").touch()
    for each in both:
        each.communicate()
    assert [each.returncode for each in both] == [0, 0]
    assert machine.done() == ["venv", "packages"]


def test_pinned_packages_run_on_the_oldest_python_that_the_project_allows() -> None:
    key = "Requires-Python"
    needed = {each.name: each.metadata[key] for each in distributions() if key in each.metadata}
    assert len(needed) > 50
    assert not {name: needs for name, needs in needed.items() if not SpecifierSet(needs).contains("3.11.0")}
