"""Faults of processes, disks, files and clocks, injected while a study runs, which is compared with an undisturbed one.

``python -m tests.compare.faults TIMES [NAME …]`` injects each fault so often and prints the table of docs/results.md.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import psutil
import pyarrow.parquet as pq

from overlaybench.compare.studies import executors
from overlaybench.compare.studies.row import MEASURED, SCHEMA
from overlaybench.compare.studies.store import Store, read_journal
from tests.compare.conftest import PROGRAM
from tests.compare.loopback_cluster import Cluster, loopback_cluster

HERE = Path(__file__).parent
PATIENCE = 900
SPEC = """
name = "faults"
seed = 7
time_limit = 60
memory_limit = 1200
instances = [{{ workload = "zipf", nodes = [6, 8], topics = 5, subscriptions = 3, seeds = 5 }}]

[[runs]]
problems = ["min-tco"]
methods = ["gm", {{ method = "low-oda", ties = "random" }}]
repeats = 2

[[runs]]
problems = ["min-tco"]
methods = ["branch-and-cut"]

[[runs]]
problems = ["min-tco"]
{slow}
"""
WELL = 'methods = [{ method = "trial", seconds = 0.4 }]'
BAD = 'methods = [{{ method = "trial", how = "{how}", seconds = 0.0 }}]\ntime_limit = {limit}\nnodes_at_most = 6'
WITHOUT_TRIAL = 'methods = ["cp-sat", "ilp"]'


@dataclass
class Damage:
    """What faults did to a study: their number, the rows stored before them, and the rows lost, doubled or changed."""

    faults: int = 0
    stored_before: int = 0
    lost: int = 0
    doubled: int = 0
    failed: int = 0
    unexplained: int = 0
    other: int = 0
    messages: list[str] = field(default_factory=list)

    @property
    def harmless(self) -> bool:
        """No row lost, doubled or other than undisturbed, and a reason in every failed row."""
        return self.faults > 0 and not (self.lost or self.doubled or self.unexplained or self.other)


class Trial:
    """One study in one folder."""

    def __init__(self, folder: Path, slow: str = WELL, master: str = "local[2]") -> None:
        self.out = folder / "out"
        self.spec = folder / "spec.toml"
        self.spec.write_text(SPEC.format(slow=slow))
        words = ["study", str(self.spec), "--out", str(self.out), "--master", master]
        self.command = [*PROGRAM, *words]
        self.damage = Damage()
        self.environment: dict[str, str] = {}
        self._kept: dict[str, str] = {}

    def start(self) -> subprocess.Popen[str]:
        paths = [str(HERE / "trial_solver"), str(HERE.parents[1]), os.environ.get("PYTHONPATH", "")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "SPARK_LOCAL_IP": "127.0.0.1"}
        return subprocess.Popen(
            self.command, env=environment | self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def end(self, study: subprocess.Popen[str]) -> int:
        """Wait for a study and keep its messages."""
        try:
            _, err = study.communicate(timeout=PATIENCE)
        finally:
            study.kill()
        self.damage.messages += err.splitlines()
        return study.returncode

    def finish(self) -> None:
        """Start it again until it is done."""
        status = self.end(self.start())
        assert status == 0, self.damage.messages

    def end_or_resume(self, study: subprocess.Popen[str]) -> None:
        """Wait for a study, and start it again where it failed."""
        if self.end(study) != 0:
            self.finish()

    def begin(self, stored: int) -> subprocess.Popen[str]:
        """Start it and wait until so many runs are stored."""
        study = self.start()
        assert wait_for(study, lambda: len(self.stored()) >= stored), self.end(study)
        return study

    def stored(self) -> dict[str, str]:
        """When each stored run was started."""
        return started_runs(self.out) if self.out.exists() else {}

    def note_faults(self, faults: int = 1) -> None:
        """Count faults that are injected now, and keep what was stored before."""
        self.damage.faults += faults
        self._kept |= self.stored()
        self.damage.stored_before = len(self._kept)

    def expect_repeated(self, keys: set[str]) -> None:
        """Do not count these runs as lost: the fault destroyed their rows."""
        self._kept = {key: begun for key, begun in self._kept.items() if key not in keys}

    def compared(self, undisturbed: list[dict[str, object]], *, may_fail: str = "-") -> Damage:
        """The damage, by comparison with an undisturbed study; runs of the variant `may_fail` may be failed rows."""
        now, damage = self.stored(), self.damage
        assert not [file for file in self.out.rglob(".*") if file.is_file() and file.name != ".lock"]
        damage.lost = sum(now.get(key) != begun for key, begun in self._kept.items())
        stored = [
            key for part in (self.out / "runs").glob("*.parquet") for key in pq.read_table(part)["key"].to_pylist()
        ]
        damage.doubled = len(stored) - len(set(stored))
        rows = table(self.out)
        failed = [row for row in rows if row["status"] == "failed"]
        damage.failed = len(failed)
        damage.messages += [f"{row['method']} {row['variant']} failed: {row['reason']}" for row in failed]
        damage.unexplained = sum(not row["reason"] or may_fail not in str(row["variant"]) for row in failed)
        wanted = {str(row["key"]): row for row in undisturbed if may_fail not in str(row["variant"])}
        found = {str(row["key"]): row for row in rows if may_fail not in str(row["variant"])}
        damage.other = sum(wanted.get(key) != found.get(key) for key in wanted.keys() | found.keys())
        return damage


def started_runs(out: Path) -> dict[str, str]:
    """When each stored run was started: a repeated run would have another time."""
    table = Store(out).table(columns=["key", "started"])
    return dict(zip(table["key"].to_pylist(), table["started"].to_pylist(), strict=True))


def table(out: Path) -> list[dict[str, object]]:
    """The final table of a study: its rows in the order of their keys, without times, memory, machine and counters."""
    columns = [name for name in SCHEMA.names if name not in MEASURED]
    rows: list[dict[str, object]] = Store(out).table(columns=columns).drop_columns("counters").to_pylist()
    return rows


def wait_for(study: subprocess.Popen[Any], true: Callable[[], bool]) -> bool:
    """Wait until something is true; False if the study ends first."""
    end = time.monotonic() + PATIENCE
    while not true():
        if study.poll() is not None or time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def wait_for_more(trial: Trial, study: subprocess.Popen[str], runs: int) -> None:
    """Wait until so many more runs are stored, or the study ends."""
    least = len(trial.stored()) + runs
    wait_for(study, lambda: len(trial.stored()) >= least)


def processes(study: subprocess.Popen[str], level: str) -> list[psutil.Process]:
    """Of a local study: the Java process, the daemon that starts Python workers, the workers, or their solvers."""
    found = [each for each in _children(psutil.Process(study.pid)) if each.name() == "java"]
    if level != "java":
        found = [each for java in found for each in _children(java) if executors.__name__ in each.cmdline()]
        for _ in range({"daemon": 0, "worker": 1, "solver": 2}[level]):
            found = [each for parent in found for each in _children(parent)]
    return found


def _children(process: psutil.Process) -> list[psutil.Process]:
    """The children that live; none of a process that has just ended."""
    try:
        return [each for each in process.children() if each.status() != psutil.STATUS_ZOMBIE]
    except psutil.Error:
        return []


def kill_each(trial: Trial, levels: Sequence[str]) -> None:
    """Kill a process of each level in turn, one after some more runs are stored each time.

    While other workers store those, all faults can hit one run, which fails at the third.
    """
    study = trial.begin(5)
    for level in levels:
        if not wait_for(study, lambda level=level: bool(processes(study, level))):  # type: ignore[misc]
            break
        _hit(trial, processes(study, level), psutil.Process.kill)
        wait_for_more(trial, study, 4)
    trial.end_or_resume(study)


def _hit(trial: Trial, victims: Sequence[psutil.Process], act: Callable[[psutil.Process], object]) -> None:
    """Do something to the first of some processes, which may have ended."""
    for victim in victims[:1]:
        trial.note_faults()
        with suppress(psutil.Error):
            act(victim)


def kill_java(trial: Trial) -> None:
    """kill -9 of the driver's Java process (in local mode it is the executor too)."""
    kill_each(trial, ["java"])
    assert any("Spark failed" in line for line in trial.damage.messages), trial.damage.messages


def driver(trial: Trial) -> None:
    """kill -9 of the driver, twice in one study."""
    for _ in range(2):
        _killed(trial, len(trial.stored()) + 5)
        trial.note_faults()
    trial.finish()


def _killed(trial: Trial, stored: int) -> Store:
    """The store of a study whose driver is killed when so many runs are stored."""
    study = trial.begin(stored)
    study.kill()
    study.wait()
    return Store(trial.out)


def executor(trial: Trial, cluster: Cluster) -> None:
    """kill -9 of an executor's Java process on a cluster."""
    study = trial.begin(5)
    for _ in range(2):
        executors = [each for worker in cluster.workers for each in psutil.Process(worker.pid).children()]
        _hit(trial, executors, psutil.Process.kill)
        wait_for_more(trial, study, 4)
    trial.end_or_resume(study)


def cluster_worker(trial: Trial, cluster: Cluster) -> None:
    """kill -9 of a worker of the cluster, with its executor."""
    study = trial.begin(5)
    _hit(trial, [psutil.Process(cluster.workers[-1].pid)], psutil.Process.kill)
    trial.end_or_resume(study)


def late_worker(trial: Trial, cluster: Cluster) -> None:
    """The only worker of a cluster is killed while a study runs, and another one joins."""
    for worker in cluster.workers[1:]:
        psutil.Process(worker.pid).kill()
    study = trial.begin(5)
    _hit(trial, [psutil.Process(cluster.workers[0].pid)], psutil.Process.kill)
    late = cluster.folder / f"worker-{len(cluster.workers)}"
    cluster.add_worker()
    trial.end_or_resume(study)
    assert list(late.glob("app-*/*/stderr")), "the late worker started no executor"


def decommissioned(trial: Trial, cluster: Cluster) -> None:
    """A worker of the cluster is decommissioned while a study runs: its executor ends its tasks and leaves."""
    trial.environment["PYSPARK_SUBMIT_ARGS"] = "--conf spark.decommission.enabled=true pyspark-shell"
    study = trial.begin(5)
    leaving = psutil.Process(cluster.workers[-1].pid)
    executors = leaving.children()
    _hit(trial, [leaving], lambda worker: worker.send_signal(signal.SIGPWR))
    trial.end_or_resume(study)
    assert executors
    assert "ecommission" in (cluster.folder / f"worker-{len(cluster.workers) - 1}" / "log").read_text()


def executors_taken_away(trial: Trial, cluster: Cluster) -> None:
    """Dynamic allocation takes an executor away as soon as it has been idle for a second, and gives it back."""
    names = {"enabled": "true", "shuffleTracking.enabled": "true", "executorIdleTimeout": "1s", "minExecutors": "1"}
    given = [f"--conf spark.dynamicAllocation.{name}={value}" for name, value in names.items()]
    trial.environment["PYSPARK_SUBMIT_ARGS"] = " ".join([*given, "pyspark-shell"])
    study, seen = trial.begin(5), set[psutil.Process]()

    def taken() -> bool:
        seen.update(each for worker in cluster.workers for each in psutil.Process(worker.pid).children())
        return any(not each.is_running() for each in seen)

    if wait_for(study, taken):
        trial.note_faults()
    trial.end_or_resume(study)


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
    assert any("runs were done before" in line for line in trial.damage.messages)


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


def hit_once(trial: Trial, level: str, act: Callable[[psutil.Process], object]) -> None:
    """Kill, stop for a while or terminate one process of a level."""
    study = trial.begin(5)
    _hit(trial, processes(study, level), act)
    if trial.end(study) != 0:
        assert act != psutil.Process.terminate or not any("Traceback" in line for line in trial.damage.messages)
        trial.finish()


def pause(process: psutil.Process) -> None:
    """Stop a process for 3 s."""
    process.suspend()
    time.sleep(3)
    process.resume()


def damaged_files(trial: Trial) -> None:
    """A changed byte in a part, and a changed and an incomplete batch in the journal."""
    trial.end(_interrupted(trial.begin(15)))
    store = _killed(trial, 30)
    part = store.parts()[0]
    batches = list(read_journal(store.journal))
    hit = {key for table in (batches[0], batches[-1], pq.read_table(part)) for key in table["key"].to_pylist()}
    trial.note_faults(3)
    trial.expect_repeated(hit)
    data = bytearray(part.read_bytes())
    data[len(data) // 2] ^= 1
    part.write_bytes(data)
    store.journal.write_bytes(store.journal.read_bytes().replace(b"min-tco", b"max-tco", 1)[:-30])
    trial.finish()
    assert any("was damaged and is in damaged/ now" in line for line in trial.damage.messages)
    assert any("damaged bytes are in damaged/ now" in line for line in trial.damage.messages)


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
        assert "free some space and " in trial.damage.messages[-1]
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


def of_files(trial: Trial, damage: Callable[[Store], object]) -> None:
    """Damage files of a finished study, whose next start restores them; keys that it returns are of lost rows."""
    trial.finish()
    trial.note_faults()
    store = Store(trial.out)
    lost = damage(store)
    trial.expect_repeated(lost if isinstance(lost, set) else set())
    trial.finish()
    assert store.index().table.num_rows == 10
    assert pq.read_table(store.folder / "plan.parquet").num_rows == len(trial.stored())


def refused_and_removed(trial: Trial, name: str) -> None:
    """A damaged file is refused in a line that names it; once it is removed, the study restores it."""

    def damage(store: Store) -> None:
        (store.folder / name).write_bytes(ZEROS)
        messages = len(trial.damage.messages)
        assert trial.end(trial.start()) == 2
        assert len(trial.damage.messages) == messages + 1
        assert f"{name}: is damaged: remove it and run the study again" in trial.damage.messages[-1]
        (store.folder / name).unlink()

    of_files(trial, damage)


def lose_a_part(store: Store) -> set[str]:
    """Remove a file of merged rows."""
    part = store.parts()[0]
    keys: set[str] = set(pq.read_table(part)["key"].to_pylist())
    part.unlink()
    return keys


def leave_temporary_files(store: Store) -> None:
    """Those of killed writes, in every folder."""
    for folder in (store.folder, store.runs, store.history):
        (folder / ".left.parquet.77").write_bytes(b"half")


def journal_left(trial: Trial) -> None:
    """The journal of a killed study became a part, and is there again: the kill came before its end."""
    store = _killed(trial, 20)
    trial.note_faults()
    data = store.journal.read_bytes()
    assert list(read_journal(store.journal))
    store.recover()
    store.journal.write_bytes(data)
    trial.finish()


def zeros_in_the_journal(trial: Trial) -> None:
    """The journal ends in zeros, as after a power cut."""
    store = _killed(trial, 10)
    trial.note_faults()
    store.journal.write_bytes(store.journal.read_bytes() + b"\x00" * 4096)
    trial.finish()
    assert any("damaged bytes are in damaged/ now" in line for line in trial.damage.messages)


ZEROS = b"\x00" * 100
FILE_FAULTS: dict[str, Callable[[Trial], None]] = {
    "plan damaged": partial(refused_and_removed, name="plan.parquet"),
    "index damaged": partial(refused_and_removed, name="instances.parquet"),
    "index lost": partial(of_files, damage=lambda store: (store.folder / "instances.parquet").unlink()),
    "journal left": journal_left,
    "zeros in the journal": zeros_in_the_journal,
    "temporary files": partial(of_files, damage=leave_temporary_files),
    "part lost": partial(of_files, damage=lose_a_part),
    "progress damaged": partial(of_files, damage=lambda store: (store.folder / "progress.json").write_bytes(ZEROS)),
}

TOGETHER = "solver and Python worker"
OF_ONE_STUDY: dict[str, Callable[[Trial], None]] = {
    "solver": partial(kill_each, levels=["solver"] * 2),
    "python worker": partial(kill_each, levels=["worker"] * 2),
    TOGETHER: partial(kill_each, levels=["solver", "worker"]),
    "driver": driver,
    "driver's Java": kill_java,
    "SIGTERM of the driver": partial(signalled, number=signal.SIGTERM),
    "SIGHUP of the driver": partial(signalled, number=signal.SIGHUP),
    "SIGINT of the driver": partial(signalled, number=signal.SIGINT),
    "all at once": everything,
    "Python daemon": partial(hit_once, level="daemon", act=psutil.Process.kill),
    "SIGTERM of Java": partial(hit_once, level="java", act=psutil.Process.terminate),
    "SIGTERM of a worker": partial(hit_once, level="worker", act=psutil.Process.terminate),
    "a solver paused": partial(hit_once, level="solver", act=pause),
    "a worker paused": partial(hit_once, level="worker", act=pause),
    **FILE_FAULTS,
    "full disk": full_disk,
    "read-only disk": read_only_disk,
    "damaged files": damaged_files,
    "two studies": two_studies,
    "jumping clock": jumping_clock,
}
ON_ONE_MACHINE: dict[str, tuple[Callable[[Trial], None], str, str]] = {
    **{name: (fault, WELL, "-") for name, fault in OF_ONE_STUDY.items()},
    **{
        f"solver: {how}": (partial(misbehaving, how=how), BAD.format(how=how, limit=limit), "trial")
        for how, limit in (dict.fromkeys(REASONS, 60) | dict.fromkeys(("spin", "deaf", "flood"), 1)).items()
    },
}
ON_A_CLUSTER = {
    "executor": executor,
    "cluster worker": cluster_worker,
    "late worker": late_worker,
    "worker decommissioned": decommissioned,
    "executors taken away": executors_taken_away,
}


COUNTS = ("faults", "stored_before", "lost", "doubled", "failed", "unexplained", "other")


class FaultHarness:
    """Injects faults, and compares with undisturbed studies, which are run once each."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._undisturbed: dict[str, list[dict[str, object]]] = {}

    def damage_by(self, name: str, cluster: Cluster | None = None) -> Damage:
        """The damage that a fault does to a study of its own."""
        if cluster is not None:
            trial = self._trial(WITHOUT_TRIAL, cluster.master)
            ON_A_CLUSTER[name](trial, cluster)
            return trial.compared(self._without(WITHOUT_TRIAL))
        fault, slow, may_fail = ON_ONE_MACHINE[name]
        trial = self._trial(slow)
        fault(trial)
        return trial.compared(self._without(WELL), may_fail=may_fail)

    def _without(self, slow: str) -> list[dict[str, object]]:
        if slow not in self._undisturbed:
            trial = self._trial(slow)
            trial.finish()
            self._undisturbed[slow] = table(trial.out)
        return self._undisturbed[slow]

    def _trial(self, slow: str, master: str = "local[2]") -> Trial:
        return Trial(Path(tempfile.mkdtemp(dir=self._folder)), slow, master)


def main() -> None:
    times, names = int(sys.argv[1]), sys.argv[2:] or [*ON_ONE_MACHINE, *ON_A_CLUSTER]
    print("| fault | studies | faults | stored before | lost | doubled | failed | unexplained | other rows |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        harness, damages = FaultHarness(Path(folder)), list[Damage]()
        for name in names:
            try:
                for _ in range(times):
                    with loopback_cluster(2) if name in ON_A_CLUSTER else nullcontext() as cluster:
                        damages.append(harness.damage_by(name, cluster))
            except (AssertionError, OSError, subprocess.SubprocessError) as error:
                print(f"| {name} | not done: {type(error).__name__}: {error} |", flush=True)
                continue
            sums, damages = [sum(getattr(each, count) for each in damages) for count in COUNTS], []
            print(f"| {name} | {times} | " + " | ".join(map(str, sums)) + " |", flush=True)


if __name__ == "__main__":
    main()
