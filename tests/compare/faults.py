"""Faults of processes, disks, files and clocks, injected while a study runs."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial
from itertools import pairwise
from pathlib import Path

import psutil
import pyarrow.parquet as pq

from overlaybench.compare.studies.row import from_line
from overlaybench.compare.studies.store import Store, read_log
from tests.compare.loopback_cluster import Cluster
from tests.compare.trial_study import BAD, WELL, Trial, table, wait_for, wait_for_more


def processes(study: subprocess.Popen[str], level: str) -> list[psutil.Process]:
    """The Java process of a local study, its Python workers, or their solvers."""
    found = [each for each in _children(psutil.Process(study.pid)) if each.name() == "java"]
    if level != "java":
        found = [each for java in found for each in _children(java) if "pyspark.daemon" in each.cmdline()]
        for _ in range(1 if level == "worker" else 2):
            found = [each for parent in found for each in _children(parent)]
    return found


def _any_process(study: subprocess.Popen[str], level: str) -> bool:
    return bool(processes(study, level))


def _children(process: psutil.Process) -> list[psutil.Process]:
    """The children that live; none of a process that has just ended."""
    try:
        return [each for each in process.children() if each.status() != psutil.STATUS_ZOMBIE]
    except psutil.Error:
        return []


def kill_some(trial: Trial, level: str, times: int) -> None:
    """Kill processes of a running study, one after some more runs are stored each time.

    While other workers store those, all faults can hit one run, which fails at the third.
    """
    kill_each(trial, [level] * times)


def kill_each(trial: Trial, levels: Sequence[str]) -> None:
    """Kill a process of each level in turn."""
    study = trial.begin(5)
    for level in levels:
        if not wait_for(study, partial(_any_process, study, level)):
            break
        for victim in processes(study, level)[:1]:
            trial.note_faults()
            with suppress(psutil.Error):
                victim.kill()
        wait_for_more(trial, study, 4)
    if trial.end(study) != 0:
        trial.finish()


def solver(trial: Trial) -> None:
    """kill -9 of a solver process."""
    kill_some(trial, "solver", 2)


def python_worker(trial: Trial) -> None:
    """kill -9 of a Python worker."""
    kill_some(trial, "worker", 2)


def solver_and_worker(trial: Trial) -> None:
    """kill -9 of a solver process and of a Python worker in one study."""
    kill_each(trial, ["solver", "worker"])


def driver_java(trial: Trial) -> None:
    """kill -9 of the driver's Java process (in local mode it is the executor too)."""
    kill_some(trial, "java", 1)
    assert any("Spark failed" in line for line in trial.damage.messages), trial.damage.messages


def driver(trial: Trial) -> None:
    """kill -9 of the driver, twice in one study."""
    for _ in range(2):
        study = trial.begin(len(trial.stored()) + 5)
        study.send_signal(signal.SIGKILL)
        study.wait()
        trial.note_faults()
    trial.finish()


def executor(trial: Trial, cluster: Cluster) -> None:
    """kill -9 of an executor's Java process on a cluster."""
    study = trial.begin(5)
    for _ in range(2):
        victims = [each for worker in cluster.workers for each in psutil.Process(worker.pid).children()]
        for victim in victims[:1]:
            trial.note_faults()
            victim.kill()
        wait_for_more(trial, study, 4)
    if trial.end(study) != 0:
        trial.finish()


def cluster_worker(trial: Trial, cluster: Cluster) -> None:
    """kill -9 of a worker of the cluster, with its executor."""
    study = trial.begin(5)
    trial.note_faults()
    psutil.Process(cluster.workers[-1].pid).kill()
    if trial.end(study) != 0:
        trial.finish()
    cluster.add_worker()


def misbehaving(trial: Trial, how: str) -> None:
    """Solvers that misbehave: each becomes a failed row with its reason."""
    trial.finish()
    rows = [row for row in table(trial.out) if how in str(row["variant"])]
    trial.damage.faults = len(rows)
    assert rows
    assert all(str(row["reason"]).startswith(REASONS[how]) for row in rows), rows


REASONS = {
    "spin": "time: killed",
    "deaf": "time: killed",
    "flood": "time: killed",
    "eat": "memory: ",
    "crash": "crash: killed by SIGSEGV",
    "exit": "crash: exit status 7",
    "child": "crash: exit status 7",
    "closed": "crash: ",
    "raise": "RuntimeError: no more",
    "wrong": "invalid answer: ",
    "boast": "lower bound 1e+06 lies above",
}
"""How the reason of a failed row begins, by what the solver does."""


def signalled(trial: Trial, number: signal.Signals) -> None:
    """A signal to the driver: it ends in order, with one line that has the command to go on."""
    study = trial.begin(5)
    study.send_signal(number)
    trial.note_faults()
    before = len(trial.damage.messages)
    assert trial.end(study) == 128 + number
    last = trial.damage.messages[-1]
    assert "stopped; finished runs are kept. To go on: overlaybench study " in last, trial.damage.messages
    assert not any("Traceback" in line for line in trial.damage.messages[before:]), trial.damage.messages
    trial.finish()


def everything(trial: Trial) -> None:
    """kill -9 of driver, Java, Python workers and solvers at once."""
    study = trial.begin(5)
    victims = [psutil.Process(study.pid), *psutil.Process(study.pid).children(recursive=True)]
    trial.note_faults(len(victims))
    for victim in victims:
        with suppress(psutil.Error):
            victim.kill()
    study.wait()
    trial.finish()


def python_daemon(trial: Trial) -> None:
    """kill -9 of the daemon that starts Python workers."""
    study = trial.begin(5)
    java = processes(study, "java")
    for victim in [each for each in _children(java[0]) if "pyspark.daemon" in each.cmdline()][:1]:
        trial.note_faults()
        victim.kill()
    if trial.end(study) != 0:
        trial.finish()


def gently(trial: Trial, level: str) -> None:
    """SIGTERM of a Python worker, a solver or Java."""
    study = trial.begin(5)
    for victim in processes(study, level)[:1]:
        trial.note_faults()
        with suppress(psutil.Error):
            victim.terminate()
    if trial.end(study) != 0:
        assert not any("Traceback" in line for line in trial.damage.messages), trial.damage.messages
        trial.finish()


def paused(trial: Trial, level: str) -> None:
    """A process is stopped for 3 s and goes on."""
    study = trial.begin(5)
    for victim in processes(study, level)[:1]:
        trial.note_faults()
        victim.suspend()
        time.sleep(3)
        with suppress(psutil.Error):
            victim.resume()
    if trial.end(study) != 0:
        trial.finish()


def damaged_files(trial: Trial) -> None:
    """A changed byte in merged runs, and a changed and an incomplete line in a log."""
    trial.end(_interrupted(trial.begin(20)))
    store = Store(trial.out)
    store.merge()
    study = trial.begin(30)
    study.send_signal(signal.SIGKILL)
    study.wait()
    time.sleep(1)  # its workers end, and no log grows any more
    log = max(store.logs(), key=lambda file: file.stat().st_size)
    part = next(iter(store.runs.glob("*.parquet")))
    lines = log.read_bytes().splitlines(keepends=True)
    hit = {from_line(line)["key"] for line in (lines[0], lines[-1])} | set(pq.read_table(part)["key"].to_pylist())
    trial.note_faults(3)
    trial.expect_repeated(hit)
    data = bytearray(part.read_bytes())
    data[len(data) // 2] ^= 1
    part.write_bytes(data)
    log.write_bytes(lines[0].replace(b'"min-tco"', b'"max-tco"') + b"".join(lines[1:-1]) + lines[-1][:-30])
    trial.finish()
    assert any("was damaged and is in damaged/ now" in line for line in trial.damage.messages)
    assert any("damaged lines are in damaged/ now" in line for line in trial.damage.messages)


def _interrupted(study: subprocess.Popen[str]) -> subprocess.Popen[str]:
    study.send_signal(signal.SIGINT)
    return study


def two_studies(trial: Trial) -> None:
    """A second study in the folder of one that runs: refused with one line."""
    study = trial.start()
    assert wait_for(study, lambda: trial.out.exists() and Store(trial.out).is_locked())
    trial.note_faults()
    assert trial.end(trial.start()) == 2
    assert "another study is running there" in trial.damage.messages[-1]
    assert trial.end(study) == 0


@contextmanager
def own_disk(trial: Trial, mount: Path) -> Iterator[Callable[[str], object]]:
    """Put the study's folder on a disk of 32 MiB in a namespace of its own; yields a function that remounts it.

    Raises
    ------
    PermissionError
        Where this system forbids mounts.
    """
    mount.mkdir()
    script = 'mount -t tmpfs -o size=32m tmpfs "$0" && echo mounted && exec sleep 3600'
    holder = subprocess.Popen(["unshare", "-rm", "sh", "-c", script, str(mount)], stdout=subprocess.PIPE, text=True)
    try:
        if holder.stdout is None or holder.stdout.readline() != "mounted\n":
            raise PermissionError("mounts are not allowed here")
        enter = ["nsenter", "-t", str(holder.pid), "-U", "-m", "--preserve-credentials", "--wd=" + os.getcwd()]
        trial.command = [*enter, *(word.replace(str(trial.out), str(mount / "out")) for word in trial.command)]
        trial.out = Path(f"/proc/{holder.pid}/root{mount}/out")
        yield lambda how: subprocess.run([*enter, "mount", "-o", f"remount,{how}", str(mount)], check=True)
        kept = mount.parent / "kept"
        shutil.copytree(trial.out, kept)
        trial.out = kept
    finally:
        holder.kill()
        holder.wait()


def full_disk(trial: Trial) -> None:
    """The disk of the results is full to its last byte while the study runs, and emptied later."""
    with own_disk(trial, trial.spec.parent / "disk"):
        study = trial.begin(5)
        filler = trial.out.parent / "filler"
        with filler.open("wb", buffering=0) as file:
            for size in (2**20, 2**12, 1):
                with suppress(OSError):
                    while file.write(bytes(size)) == size:
                        pass
        trial.note_faults()
        assert trial.end(study) == 2
        assert "free some space and resume" in trial.damage.messages[-1]
        filler.unlink()
        trial.finish()


def read_only_disk(trial: Trial) -> None:
    """The disk of a stopped study is read-only at its resumption, and writable later."""
    with own_disk(trial, trial.spec.parent / "disk") as remount:
        trial.end(_interrupted(trial.begin(5)))
        remount("ro")
        trial.note_faults()
        assert trial.end(trial.start()) == 2
        assert "cannot be written (Read-only file system)" in trial.damage.messages[-1]
        remount("rw")
        trial.finish()


CLOCK = r"""
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static long jump(void) {
  struct timespec now;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  return now.tv_sec / 3 % 2 ? 5000 : -5000;
}
int clock_gettime(clockid_t clock, struct timespec *now) {
  int status = syscall(SYS_clock_gettime, clock, now);
  if (!status && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += jump();
  return status;
}
int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  struct timespec exact;
  int status = clock_gettime(CLOCK_REALTIME, &exact);
  now->tv_sec = exact.tv_sec, now->tv_usec = exact.tv_nsec / 1000;
  return status;
}
time_t time(time_t *now) {
  struct timespec exact;
  clock_gettime(CLOCK_REALTIME, &exact);
  if (now) *now = exact.tv_sec;
  return exact.tv_sec;
}
"""


def jumping_clock(trial: Trial) -> None:
    """The clock of every process, Java included, jumps by ±10,000 s every three seconds."""
    library = trial.spec.with_name("clock.so")
    compiler = ["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(library)]
    subprocess.run(compiler, input=CLOCK, text=True, check=True)
    trial.environment["LD_PRELOAD"] = str(library)
    trial.finish()
    moments = sorted(datetime.fromisoformat(moment).timestamp() for moment in trial.stored().values())
    trial.note_faults(sum(later - earlier > 5000 for earlier, later in pairwise(moments)))


def _finished(trial: Trial) -> Store:
    trial.finish()
    trial.note_faults()
    return Store(trial.out)


def _refused_and_removed(trial: Trial, name: str) -> None:
    """A damaged file is refused in a line that names it; once it is removed, the study restores it."""
    store = _finished(trial)
    (store.folder / name).write_bytes(b"\x00" * 100)
    messages = len(trial.damage.messages)
    assert trial.end(trial.start()) == 2
    assert len(trial.damage.messages) == messages + 1
    assert f"{name}: is damaged: remove it and run the study again" in trial.damage.messages[-1]
    (store.folder / name).unlink()
    trial.finish()
    assert store.plan().keys


def damaged_plan(trial: Trial) -> None:
    """plan.json is all zeros."""
    _refused_and_removed(trial, "plan.json")


def damaged_index(trial: Trial) -> None:
    """The index of instances is all zeros."""
    _refused_and_removed(trial, "instances/index.json")


def damaged_labels(trial: Trial) -> None:
    """plan.parquet is all zeros; the next start writes it again."""
    store = _finished(trial)
    (store.folder / "plan.parquet").write_bytes(b"\x00" * 100)
    trial.finish()
    assert pq.read_table(store.folder / "plan.parquet").num_rows == len(store.plan().keys)


def empty_instances(trial: Trial) -> None:
    """Every instance file is empty, as after a power cut."""
    store = _finished(trial)
    for file in store.instances.glob("*.parquet"):
        file.write_bytes(b"")
    trial.finish()
    assert all(file.stat().st_size for file in store.instances.glob("*.parquet"))


def lost_instances(trial: Trial) -> None:
    """The folder of instances is gone."""
    shutil.rmtree(_finished(trial).instances)
    trial.finish()


def incomplete_merge(trial: Trial) -> None:
    """The logs of a killed study are merged, and there again: the merge was killed before it removed them."""
    study = trial.begin(20)
    study.kill()
    study.wait()
    trial.note_faults()
    store = Store(trial.out)
    kept = {log: log.read_bytes() for log in store.logs()}
    assert any(list(read_log(log)) for log in kept)
    store.merge()
    for log, data in kept.items():
        log.write_bytes(data)
    trial.finish()


def zeros_in_a_log(trial: Trial) -> None:
    """A log ends in zeros, as after a power cut."""
    study = trial.begin(10)
    study.kill()
    study.wait()
    store = Store(trial.out)
    trial.note_faults()
    for log in store.logs():
        log.write_bytes(log.read_bytes() + b"\x00" * 4096)
    trial.finish()
    assert any("damaged lines are in damaged/ now" in line for line in trial.damage.messages)


def temporary_files(trial: Trial) -> None:
    """Temporary files of killed writes are everywhere."""
    store = _finished(trial)
    for folder in (store.folder, store.runs, store.instances, store.history, store.proofs):
        (folder / ".left.parquet.77").write_bytes(b"half")
    trial.finish()
    assert not list(store.folder.rglob(".left*"))


def lost_part(trial: Trial) -> None:
    """A file of merged rows is gone: its runs are repeated."""
    store = _finished(trial)
    part = next(iter(store.runs.glob("*.parquet")))
    trial.expect_repeated(set(pq.read_table(part)["key"].to_pylist()))
    part.unlink()
    trial.finish()


def damaged_progress(trial: Trial) -> None:
    """progress.json, which only `status` reads, is all zeros."""
    store = _finished(trial)
    (store.folder / "progress.json").write_bytes(b"\x00" * 100)
    trial.finish()


FILE_FAULTS: dict[str, Callable[[Trial], None]] = {
    "plan damaged": damaged_plan,
    "index damaged": damaged_index,
    "labels damaged": damaged_labels,
    "instances empty": empty_instances,
    "instances lost": lost_instances,
    "incomplete merge": incomplete_merge,
    "zeros in a log": zeros_in_a_log,
    "temporary files": temporary_files,
    "part lost": lost_part,
    "progress damaged": damaged_progress,
}

TOGETHER = "solver and Python worker"
ON_ONE_MACHINE: dict[str, tuple[Callable[[Trial], None], str, str]] = {
    "solver": (solver, WELL, "-"),
    "python worker": (python_worker, WELL, "-"),
    TOGETHER: (solver_and_worker, WELL, "-"),
    "driver": (driver, WELL, "-"),
    "driver's Java": (driver_java, WELL, "-"),
    "solver: spin": (partial(misbehaving, how="spin"), BAD.format(how="spin", limit=1), "trial"),
    "solver: eat": (partial(misbehaving, how="eat"), BAD.format(how="eat", limit=60), "trial"),
    "solver: crash": (partial(misbehaving, how="crash"), BAD.format(how="crash", limit=60), "trial"),
    **{
        f"solver: {how}": (partial(misbehaving, how=how), BAD.format(how=how, limit=60), "trial")
        for how in ("exit", "raise", "wrong", "boast", "child", "closed")
    },
    **{
        f"solver: {how}": (partial(misbehaving, how=how), BAD.format(how=how, limit=1), "trial")
        for how in ("deaf", "flood")
    },
    "SIGTERM of the driver": (partial(signalled, number=signal.SIGTERM), WELL, "-"),
    "SIGHUP of the driver": (partial(signalled, number=signal.SIGHUP), WELL, "-"),
    "SIGINT of the driver": (partial(signalled, number=signal.SIGINT), WELL, "-"),
    "all at once": (everything, WELL, "-"),
    "Python daemon": (python_daemon, WELL, "-"),
    "SIGTERM of Java": (partial(gently, level="java"), WELL, "-"),
    "SIGTERM of a worker": (partial(gently, level="worker"), WELL, "-"),
    "a solver paused": (partial(paused, level="solver"), WELL, "-"),
    "a worker paused": (partial(paused, level="worker"), WELL, "-"),
    **{name: (fault, WELL, "-") for name, fault in FILE_FAULTS.items()},
    "full disk": (full_disk, WELL, "-"),
    "read-only disk": (read_only_disk, WELL, "-"),
    "damaged files": (damaged_files, WELL, "-"),
    "two studies": (two_studies, WELL, "-"),
    "jumping clock": (jumping_clock, WELL, "-"),
}
ON_A_CLUSTER = {"executor": executor, "cluster worker": cluster_worker}
