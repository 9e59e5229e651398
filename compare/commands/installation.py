"""The commands on this installation: ``doctor`` and ``completion``."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import click
from click.shell_completion import get_completion_class

from ...instances.contract.errors import BadInput
from .options import AS_JSON

_GIB = 2**30
_LEAST_PYTHON, _LEAST_JAVA = (3, 11), 17
_VECTOR = "jdk.incubator.vector"
_GET_JAVA = "install default-jre-headless (Debian), or set JAVA_HOME to Java 17 or newer with all its modules"
_CGROUP = Path("/sys/fs/cgroup")
_TRIALS = ("zipf", "plane", "content", "brokers-sparse", "steiner-sparse")


@dataclass(frozen=True)
class Check:
    """What was checked, its state (ok, warning or problem), what was found, and the fix."""

    name: str
    state: str
    found: str
    fix: str = ""


@click.command("doctor")
@click.option("--spark", is_flag=True, help="Start Spark, too (10 to 20 s).")
@click.option("--solvers", is_flag=True, help="Let every solver solve a small instance, too (some seconds).")
@click.option("--compile", "kernels", is_flag=True, help="Compile all kernels, too, once a machine (some minutes).")
@AS_JSON
def doctor(spark: bool, solvers: bool, kernels: bool, as_json: bool) -> None:
    """Check this installation: Java, memory, cores, versions, solvers. Exit status 1 if something is missing."""
    further = {_solvers: solvers, _spark: spark, _kernels: kernels}
    results = []
    for check in (*_CHECKS, *(check for check, asked in further.items() if asked)):
        for result in check():
            results.append(result)
            if not as_json:
                colour = {"ok": "green", "warning": "yellow", "problem": "red"}[result.state]
                click.echo(f"{click.style(f'{result.state:8}', fg=colour)} {result.name}: {result.found}")
                click.echo(f"         {result.fix}\n" if result.fix else "", nl=False)
    if as_json:
        click.echo(json.dumps([asdict(result) for result in results], ensure_ascii=False))
    sys.exit(1 if any(result.state == "problem" for result in results) else 0)


def python() -> Iterator[Check]:
    """Python and the operating system."""
    version = ".".join(map(str, sys.version_info[:3]))
    old = sys.version_info < _LEAST_PYTHON
    yield Check("Python", "problem" if old else "ok", version, "use Python 3.11 or newer" if old else "")
    if sys.platform != "linux":
        yield Check("operating system", "problem", sys.platform, "use Linux: solvers are isolated by Linux's limits")


def java() -> Iterator[Check]:
    """The Java that Spark would start."""
    home = os.environ.get("JAVA_HOME", "")
    program = str(Path(home) / "bin" / "java") if home else "java"
    where = f"JAVA_HOME={home}" if home else "java on the PATH"
    try:
        done = subprocess.run([program, "--list-modules"], capture_output=True, text=True, timeout=30)
        modules = dict(line.partition("@")[::2] for line in done.stdout.split())
    except (OSError, subprocess.TimeoutExpired):
        modules = {}
    version = modules.get("java.base", "")
    number = int("".join(re.findall(r"^\d+", version)) or 0)
    if not version:
        yield Check("Java", "problem", f"{where} does not run or is older than 9; Spark needs it", _GET_JAVA)
    elif number < _LEAST_JAVA:
        yield Check("Java", "problem", f"{version} ({where}); Spark needs 17 or newer", _GET_JAVA)
    elif _VECTOR not in modules:
        yield Check("Java", "problem", f"{version} ({where}) lacks the module {_VECTOR}", _GET_JAVA)
    else:
        yield Check("Java", "ok", f"{version} with {_VECTOR} ({where})")


def memory() -> Iterator[Check]:
    """The memory that is free, within the limits of a container."""
    import psutil

    now = psutil.virtual_memory()
    limit = min([now.total, *_cgroup("memory.max")])
    free, state, fix = min(now.available, limit), "ok", ""
    if free < 2 * _GIB:
        state = "problem" if free < _GIB / 2 else "warning"
        fix = "close other programs, or give a study memory_limit (MiB a run) and fewer cores: --master 'local[1]'"
    yield Check("memory", state, f"{free / _GIB:.1f} GiB available of {limit / _GIB:.1f} GiB", fix)


def cores() -> Iterator[Check]:
    """The cores that this process may use, and a container's share of them."""
    allowed, limits = len(os.sched_getaffinity(0)), _cgroup("cpu.max")
    found, share = f"{allowed} of {os.cpu_count()}", limits[0] / limits[1] if len(limits) == 2 else allowed
    if share < allowed:
        fix = f"run studies with --master 'local[{max(1, int(share))}]'"
        yield Check("cores", "warning", f"{found}, but the container may use {share:g}", fix)
    else:
        yield Check("cores", "ok", found)


def _cgroup(name: str) -> list[int]:
    """The numbers in a file of Linux's control groups; none where it has no limit."""
    words = (_CGROUP / name).read_text().split() if (_CGROUP / name).is_file() else []
    return [int(word) for word in words] if all(map(str.isdigit, words)) else []


def libraries() -> Iterator[Check]:
    """The installed versions against those that the package asks for."""
    from packaging.requirements import Requirement

    asked = [Requirement(line) for line in metadata.requires("overlaybench") or ()]
    asked = [each for each in asked if each.marker is None or each.marker.evaluate({"extra": ""})]
    wrong = []
    for each in asked:
        try:
            version = metadata.version(each.name)
        except metadata.PackageNotFoundError:
            wrong.append(f"{each.name} is missing")
            continue
        if not each.specifier.contains(version, prereleases=True):
            wrong.append(f"{each.name} {version} is not {each.specifier}")
    fix = "run `make set-up` in the checkout, or pip install overlaybench again with constraints.txt"
    if wrong:
        yield Check("libraries", "problem", "; ".join(wrong), fix)
    else:
        named = ", ".join(f"{name} {metadata.version(name)}" for name in ("pyspark", "ortools", "highspy", "pulp"))
        yield Check("libraries", "ok", f"{len(asked)} at versions that fit ({named})")


def folders() -> Iterator[Check]:
    """Whether results, temporary files and compiled kernels can be written."""
    from ...instances.contract.compiled import cache_folder

    here = Path.cwd()
    if os.access(here, os.W_OK):
        yield Check("current folder", "ok", f"writable, {shutil.disk_usage(here).free / _GIB:.1f} GiB free")
    else:
        yield Check("current folder", "warning", f"{here} is not writable", "give --out a folder of yours")
    try:
        temporary = Path(tempfile.gettempdir())
        free = shutil.disk_usage(temporary).free
        enough = free >= _GIB
        fix = "" if enough else "make space, or set TMPDIR to a folder with more"
        yield Check("temporary folder", "ok" if enough else "warning", f"{temporary}, {free / _GIB:.1f} GiB free", fix)
    except OSError as error:
        yield Check("temporary folder", "problem", str(error), "set TMPDIR to a folder that can be written")
        return
    kernels = cache_folder()
    if kernels.parent == temporary and "NUMBA_CACHE_DIR" not in os.environ:
        fix = "set NUMBA_CACHE_DIR to a folder that can be written: else every process compiles again"
        yield Check("compiled kernels", "warning", "no folder to keep them", fix)
    else:
        count = sum(1 for _ in kernels.rglob("*.nbc"))
        yield Check("compiled kernels", "ok", f"{count} kept" if count else "none yet: the first runs compile, once")


def programs() -> Iterator[Check]:
    """Programs that only some figures and tests need."""
    from ..figures.files import check_usetex, tex_system

    for name, check in (("TeX for PGF figures", tex_system), ("TeX for --usetex", check_usetex)):
        try:
            yield Check(name, "ok", check() or "complete")
        except BadInput as error:
            found, _, fix = str(error).partition(": ")
            yield Check(name, "warning", found, fix)
    browser = next((name for name in ("chromium", "chromium-browser", "google-chrome") if shutil.which(name)), "")
    fix = "" if browser else "only the tests of the report's page need it: install chromium (Debian)"
    yield Check("Chromium", "ok" if browser else "warning", browser or "not found", fix)


_CHECKS: tuple[Callable[[], Iterator[Check]], ...] = (python, java, memory, cores, libraries, folders, programs)


def _solvers() -> Iterator[Check]:
    from ...instances.contract.catalogue import PROBLEMS
    from ...instances.contract.result import Status
    from ...instances.topics.instance import TopicInstance
    from ..catalogue import METHODS

    triangle = TopicInstance.from_subscriptions({"a": ["x", "y"], "b": ["x", "z"], "c": ["y", "z"]})
    for label in ("ilp highs", "ilp cbc", "cp-sat", "branch-and-cut"):
        name, _, solver = label.partition(" ")
        options: dict[str, Any] = {"solver": solver} if solver else {}
        start = time.perf_counter()
        try:
            result = METHODS[name].run(triangle, PROBLEMS["min-tco"], time_limit=60, **options)
            right = (result.status, result.value) == (Status.OPTIMAL, 3)
            found = f"{result.status}, value {result.value:g}" if result.value is not None else str(result.status)
        except Exception as error:  # whatever a broken library raises
            right, found = False, f"{type(error).__name__}: {error}"
        seconds = f"{found}, {time.perf_counter() - start:.1f} s with its start"
        fix = "" if right else "run `make set-up` in the checkout: it installs the pinned versions"
        yield Check(f"solver {label}", "ok" if right else "problem", seconds, fix)


def _spark() -> Iterator[Check]:
    from ..studies.spark_session import spark

    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        try:
            with spark("local[2]", Path(folder) / "spark.log") as context:
                total = context.parallelize(range(10), 2).sum()
        except BadInput as error:
            yield Check("Spark", "problem", str(error), "see Java above")
            return
    right = total == 45
    yield Check(
        "Spark", "ok" if right else "problem", f"two tasks in {time.perf_counter() - start:.1f} s with its start"
    )


def _kernels() -> Iterator[Check]:
    """Compile what every method calls with its default options; a terminal shows how many are left."""
    from ...instances.contract.catalogue import PROBLEMS, WORKLOADS, kind_of
    from ...instances.contract.compiled import compile_calls
    from ..catalogue import METHODS

    calls: dict[Any, tuple[Any, tuple[Any, ...]]] = {}
    for trial in (WORKLOADS[name].generate(seed=0).trial() for name in _TRIALS):
        for member in (one for method in METHODS.values() for one in method.members or (method,) if one.compiled):
            for problem in map(PROBLEMS.get, member.problems):  # a family without limits may be no problem
                if problem is not None and problem.kind == kind_of(trial).name:
                    calls |= member.calls(trial, problem, member.complete({}, problem.name))
    compile_calls(list(calls.values()))
    yield Check("kernels", "ok", f"{len(calls)} are compiled")


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that completes commands and names in a SHELL.

    \b
    bash  overlaybench completion bash > ~/.local/share/bash-completion/completions/overlaybench
    zsh   overlaybench completion zsh > ~/.zfunc/_overlaybench
    fish  overlaybench completion fish > ~/.config/fish/completions/overlaybench.fish

    The folder of zsh must be in your fpath. The next shell completes commands, options, files, and the names of
    methods, problems, workloads and claims.
    """  # noqa: D301
    script = get_completion_class(shell)
    assert script is not None
    click.echo(script(context.find_root().command, {}, "overlaybench", "_OVERLAYBENCH_COMPLETE").source())
