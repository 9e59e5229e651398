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

from ...instances.contract.errors import BadInput, missing_extra
from .options import AS_JSON

_GIB = 2**30
_LEAST_JAVA = 17
_VECTOR = "jdk.incubator.vector"
_GET_JAVA = "install default-jre-headless (Debian), or set JAVA_HOME to Java 17 or newer with all its modules"
_SET_UP = "run `make set-up` in the checkout"
_CGROUP = Path("/sys/fs/cgroup")
_TRIALS = ("zipf", "plane", "content", "brokers-sparse", "steiner-sparse", "churn")


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


def _check(name: str, found: str, fix: str = "", state: str = "problem") -> Check:
    """What was found: ok where it needs no fix."""
    return Check(name, state if fix else "ok", found, fix)


def python() -> Iterator[Check]:
    """Python, of which an older one installs no version of this package, and the operating system."""
    yield _check("Python", ".".join(map(str, sys.version_info[:3])))
    if sys.platform != "linux":
        yield _check("operating system", sys.platform, "use Linux: solvers are isolated by Linux's limits")


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
    version, wrong = modules.get("java.base", ""), ""
    if not version:
        wrong = f"{where} does not run or is older than 9; Spark needs it"
    elif int("".join(re.findall(r"^\d+", version)) or 0) < _LEAST_JAVA:
        wrong = f"{version} ({where}); Spark needs {_LEAST_JAVA} or newer"
    elif _VECTOR not in modules:
        wrong = f"{version} ({where}) lacks the module {_VECTOR}"
    yield _check("Java", wrong or f"{version} with {_VECTOR} ({where})", _GET_JAVA if wrong else "")


def environment() -> Iterator[Check]:
    """The variables of the environment that Spark reads."""
    from ..studies.spark_session import VARIABLES, environment_faults

    faults = list(environment_faults())
    for name, wrong, fix in faults:
        yield _check(name, wrong, fix)
    if not faults:
        given = [f"{name}={os.environ[name]}" for name in VARIABLES if name in os.environ]
        yield _check("variables of Spark", ", ".join(given) or "none set")


def memory() -> Iterator[Check]:
    """The memory that is free, within the limits of a container."""
    import psutil

    now = psutil.virtual_memory()
    limit = min([now.total, *_cgroup("memory.max")])
    free, fix = min(now.available, limit), ""
    if free < 2 * _GIB:
        fix = "close other programs, or give a study memory_limit (MiB a run) and fewer cores: --master 'local[1]'"
    found = f"{free / _GIB:.1f} GiB available of {limit / _GIB:.1f} GiB"
    yield _check("memory", found, fix, "problem" if free < _GIB / 2 else "warning")


def cores() -> Iterator[Check]:
    """The cores that this process may use, and a container's share of them."""
    allowed, limits = len(os.sched_getaffinity(0)), _cgroup("cpu.max")
    found, fix, share = f"{allowed} of {os.cpu_count()}", "", limits[0] / limits[1] if len(limits) == 2 else allowed
    if share < allowed:
        found += f", but the container may use {share:g}"
        fix = f"run studies with --master 'local[{max(1, int(share))}]'"
    yield _check("cores", found, fix, "warning")


def _cgroup(name: str) -> list[int]:
    """The numbers in a file of Linux's control groups; none where it has no limit."""
    words = (_CGROUP / name).read_text().split() if (_CGROUP / name).is_file() else []
    return [int(word) for word in words] if all(map(str.isdigit, words)) else []


def libraries() -> Iterator[Check]:
    """The installed versions against those that the package asks for, of extras as far as they are installed."""
    try:
        from packaging.requirements import Requirement
    except ModuleNotFoundError as error:
        yield _check("libraries", "versions are not compared", str(missing_extra(error)), "warning")
        return

    asked = [Requirement(line) for line in metadata.requires("overlaybench") or ()]
    wrong = []
    for each in asked:
        try:
            version = metadata.version(each.name)
        except metadata.PackageNotFoundError:
            if each.marker is None or each.marker.evaluate({"extra": ""}):
                wrong.append(f"{each.name} is missing")
            continue
        if not each.specifier.contains(version, prereleases=True):
            wrong.append(f"{each.name} {version} is not {each.specifier}")
    if wrong:
        yield _check("libraries", "; ".join(wrong), f"{_SET_UP}, or install overlaybench again with constraints.txt")
    else:
        named = ", ".join(f"{name} {metadata.version(name)}" for name in ("pyspark", "ortools", "highspy", "pulp"))
        yield _check("libraries", f"{len(asked)} at versions that fit ({named})")


def folders() -> Iterator[Check]:
    """Whether results, temporary files and compiled kernels can be written."""
    from ...instances.runtime.compiled import cache_folder

    here = Path.cwd()
    free, fix = f"{shutil.disk_usage(here).free / _GIB:.1f} GiB free", ""
    if not os.access(here, os.W_OK):
        fix = "give --out a folder of yours"
    yield _check("current folder", f"{here}, {free}", fix, "warning")
    try:
        temporary = Path(tempfile.gettempdir())
        left = shutil.disk_usage(temporary).free
    except OSError as error:
        yield _check("temporary folder", str(error), "set TMPDIR to a folder that can be written")
        return
    fix = "" if left >= _GIB else "make space, or set TMPDIR to a folder with more"
    yield _check("temporary folder", f"{temporary}, {left / _GIB:.1f} GiB free", fix, "warning")
    kernels = cache_folder()
    count, fix = sum(1 for _ in kernels.rglob("*.nbc")), ""
    if kernels.parent == temporary and "NUMBA_CACHE_DIR" not in os.environ:
        fix = "set NUMBA_CACHE_DIR to a folder that can be written: else every process compiles again"
    yield _check("compiled kernels", f"{count} kept in {kernels}", fix, "warning")


_CHECKS: tuple[Callable[[], Iterator[Check]], ...] = (python, java, environment, memory, cores, libraries, folders)


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
        fix = "" if right else f"{_SET_UP}: it installs the pinned versions"
        yield _check(f"solver {label}", seconds, fix)


def _spark() -> Iterator[Check]:
    from ..studies.spark_session import kept_log, spark

    start = time.perf_counter()
    try:
        with kept_log() as log, spark("local[2]", log) as context:
            right = context.parallelize(range(10), 2).sum() == 45
    except BadInput as error:
        yield _check("Spark", str(error), "see Java and its variables above")
        return
    found = f"two tasks in {time.perf_counter() - start:.1f} s with its start"
    yield _check("Spark", found, "" if right else "see Java above")


def _kernels() -> Iterator[Check]:
    """Compile what every method calls with its default options; a terminal shows how many are left."""
    from ...instances.contract.catalogue import PROBLEMS, WORKLOADS, kind_of
    from ...instances.runtime.compiled import compile_calls
    from ..catalogue import METHODS

    calls: dict[Any, tuple[Any, tuple[Any, ...]]] = {}
    for trial in (WORKLOADS[name].generate(seed=0).trial() for name in _TRIALS):
        for member in (one for method in METHODS.values() for one in method.members or (method,) if one.compiled):
            for problem in map(PROBLEMS.get, member.problems):  # a family without limits may be no problem
                if problem is not None and problem.kind == kind_of(trial).name:
                    calls |= member.calls(trial, problem, member.complete({}, problem.name))
    compile_calls(list(calls.values()))
    yield _check("kernels", f"{len(calls)} are compiled")


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
