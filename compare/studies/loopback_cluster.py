"""A real Spark standalone cluster on the loopback interface: a master, and workers that start executors.

``python -m overlaybench.compare.studies.loopback_cluster [--workers N] COMMAND…`` runs a command with
``{master}`` in its words replaced by the master's address, and ends every process of the cluster when the command has
ended, however it ended.
"""

from __future__ import annotations

import ctypes
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

import click
import pyspark

_HOST = "127.0.0.1"
_PR_SET_PDEATHSIG = 1
_PATIENCE = 90.0


@dataclass
class Cluster:
    """A running cluster: the master's address, its processes, and the folder of their logs and work."""

    folder: Path
    master: str = ""
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def add_worker(self) -> subprocess.Popen[bytes]:
        """Start a worker with one core and wait until the master has it."""
        number = len(self.workers)
        place = self.folder / f"worker-{number}"
        place.mkdir()
        arguments = ["--cores", "1", "--memory", "2g", "--work-dir", str(place), self.master]
        worker = _start("worker.Worker", arguments, place / "log")
        self.workers.append(worker)
        _awaited(place / "log", r"Successfully registered with master", worker)
        return worker


@contextmanager
def loopback_cluster(workers: int = 2) -> Iterator[Cluster]:
    """A cluster with free ports, bound to 127.0.0.1 only, killed at the end whatever happens.

    Raises
    ------
    RuntimeError
        If a master or worker ends, or is silent for 90 s; with the last lines of its log.
    """
    with tempfile.TemporaryDirectory(prefix="overlaybench-cluster-", ignore_cleanup_errors=True) as folder:
        cluster = Cluster(Path(folder))
        log = cluster.folder / "master.log"
        master = _start("master.Master", [], log)
        try:
            cluster.master = _awaited(log, r"Starting Spark master at (spark://\S+)", master)
            for _ in range(workers):
                cluster.add_worker()
            yield cluster
        finally:
            for process in (*cluster.workers, master):
                _end(process)


def _start(name: str, arguments: list[str], log: Path) -> subprocess.Popen[bytes]:
    home = Path(pyspark.__file__).parent
    ports = ["--host", _HOST, "--port", "0", "--webui-port", "0"]
    environment = os.environ | {"SPARK_LOCAL_IP": _HOST, "SPARK_HOME": str(home), "SPARK_DAEMON_MEMORY": "256m"}
    with log.open("wb") as out:
        return subprocess.Popen(
            [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *ports, *arguments],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
            preexec_fn=_die_with_parent,
        )


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _awaited(log: Path, pattern: str, process: subprocess.Popen[bytes]) -> str:
    """The last group of a pattern, once a log has it."""
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end and process.poll() is None:
        if found := re.search(pattern, log.read_text(encoding="utf-8", errors="replace")):
            return found[found.lastindex or 0]
        time.sleep(0.1)
    tail = log.read_text(encoding="utf-8", errors="replace").splitlines()[-5:]
    raise RuntimeError(f"{log.name}: no '{pattern}' came: " + " / ".join(tail))


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@click.command(context_settings={"ignore_unknown_options": True})
@click.option("--workers", default=2, show_default=True, help="Each has one core.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def main(workers: int, command: tuple[str, ...]) -> NoReturn:
    """Run COMMAND beside a cluster; {master} in it stands for the master's address."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with loopback_cluster(workers) as cluster:
        words = [word.replace("{master}", cluster.master) for word in command]
        status = subprocess.run(words, env=os.environ | {"SPARK_LOCAL_IP": _HOST}, check=False).returncode
    sys.exit(status)


if __name__ == "__main__":
    main()
