"""A study that can be started, disturbed by faults and resumed, and the damage that they did."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow.parquet as pq

from overlaybench.compare.studies.row import MEASURED, SCHEMA
from overlaybench.compare.studies.store import Store

HERE = Path(__file__).parent
PATIENCE = 900
SPEC = """
name = "faults"
seed = 7
time_limit = 60
memory_limit = 1200

[[instances]]
workload = "zipf"
nodes = [6, 8]
topics = 5
subscriptions = 3
seeds = 5

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
        self.command = [sys.executable, "-m", "overlaybench.compare", *words]
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

    def begin(self, stored: int) -> subprocess.Popen[str]:
        """Start it and wait until so many runs are stored."""
        study = self.start()
        assert wait_for(study, lambda: len(self.stored()) >= stored), self.end(study)
        return study

    def stored(self) -> dict[str, str]:
        """When each stored run was started: a repeated run would have another time."""
        if not self.out.exists():
            return {}
        table = Store(self.out).table(columns=["key", "started"])
        return dict(zip(table["key"].to_pylist(), table["started"].to_pylist(), strict=True))

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


def table(out: Path) -> list[dict[str, object]]:
    """The final table of a study: its rows in the order of their keys, without times, memory, machine and counters."""
    columns = [name for name in SCHEMA.names if name not in MEASURED]
    rows: list[dict[str, object]] = Store(out).table(columns=columns).drop_columns("counters").to_pylist()
    return rows


def wait_for(study: subprocess.Popen[str], true: Callable[[], bool]) -> bool:
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
