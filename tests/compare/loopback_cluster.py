"""A Spark standalone cluster on the loopback interface: a master, and workers that start executors.

``python -m tests.compare.loopback_cluster [--workers N] [--memory SIZE] COMMAND…`` runs a command with
``{master}`` replaced by the master's address, and kills every process of the cluster when the command has ended.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

import click
import pyspark

from overlaybench.instances.runtime.run import die_with_parent

_HOST = "127.0.0.1"
_MOST_SECONDS = 90.0


@dataclass
class Cluster:
    """A running cluster: the master's address, its processes, and the folder of their logs and work.

    Workers and their executors see an empty folder in place of the `hidden` one, in mount namespaces of their own.
    """

    folder: Path
    memory: str = "2g"
    hidden: Path | None = None
    master: str = ""
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def add_worker(self) -> subprocess.Popen[bytes]:
        """Start a worker with one core and wait until it is registered."""
        number = len(self.workers)
        folder = self.folder / f"worker-{number}"
        folder.mkdir()
        arguments = ["--cores", "1", "--memory", self.memory, "--work-dir", str(folder), self.master]
        worker = _start("worker.Worker", arguments, folder / "log", self.hidden)
        self.workers.append(worker)
        _awaited(folder / "log", r"Successfully registered with master", worker)
        return worker


@contextmanager
def loopback_cluster(workers: int = 2, memory: str = Cluster.memory, hidden: Path | None = None) -> Iterator[Cluster]:
    """A cluster on free ports of 127.0.0.1 that is killed at the end of the context.

    `memory` is what each worker offers to executors; Spark waits as long as an executor asks for more. Where a master
    or worker does not start within 90 s, RuntimeError has the last lines of its log.
    """
    with tempfile.TemporaryDirectory(prefix="overlaybench-cluster-", ignore_cleanup_errors=True) as folder:
        cluster = Cluster(Path(folder), memory, hidden)
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


@contextmanager
def connect_server(folder: Path) -> Iterator[str]:
    """The address of a server of Spark Connect on a free port of 127.0.0.1, which does the work on two cores."""
    log, server = folder / "connect.log", "org.apache.spark.sql.connect.service.SparkConnectServer"
    words = ["--master", "local[2]", "--class", server, "--conf", f"spark.connect.grpc.binding.address={_HOST}"]
    words += ["--conf", "spark.connect.grpc.binding.port=0", "spark-internal"]
    process = _process("spark-submit", words, log, {"PYSPARK_PYTHON": sys.executable})
    try:
        yield f"sc://{_HOST}:{_awaited(log, r'Spark Connect server started at: .*:([0-9]+)', process)}"
    finally:
        _end(process)


_DAEMON = {"SPARK_DAEMON_MEMORY": "256m", "SPARK_DAEMON_JAVA_OPTS": "-Dspark.decommission.enabled=true"}
_HIDING = 'mount -t tmpfs tmpfs "$0" && exec "$@"'


def _start(name: str, arguments: list[str], log: Path, hidden: Path | None = None) -> subprocess.Popen[bytes]:
    hiding = ["unshare", "-rm", "sh", "-c", _HIDING, str(hidden)] if hidden is not None else []
    ports = ["--host", _HOST, "--port", "0", "--webui-port", "0"]
    words = [f"org.apache.spark.deploy.{name}", *ports, *arguments]
    return _process("spark-class", words, log, _DAEMON, hiding)


def _process(
    program: str, arguments: list[str], log: Path, variables: dict[str, str], before: Sequence[str] = ()
) -> subprocess.Popen[bytes]:
    home = Path(pyspark.__file__).parent
    with log.open("wb") as out:
        return subprocess.Popen(
            [*before, str(home / "bin" / program), *arguments],
            env=os.environ | {"SPARK_LOCAL_IP": _HOST, "SPARK_HOME": str(home)} | variables,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
            preexec_fn=die_with_parent,
        )


def _awaited(log: Path, pattern: str, process: subprocess.Popen[bytes]) -> str:
    """The last group of a pattern, as soon as it occurs in a log."""
    end = time.monotonic() + _MOST_SECONDS
    while time.monotonic() < end and process.poll() is None:
        if found := re.search(pattern, log.read_text(encoding="utf-8", errors="replace")):
            return found[found.lastindex or 0]
        time.sleep(0.1)
    tail = log.read_text(encoding="utf-8", errors="replace").splitlines()[-5:]
    raise RuntimeError(f"{log.name}: no '{pattern}' in it: " + " / ".join(tail))


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@click.command(context_settings={"ignore_unknown_options": True})
@click.option("--workers", default=2, show_default=True, help="Each has one core.")
@click.option("--memory", default=Cluster.memory, show_default=True, help="That each offers to executors.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def main(workers: int, memory: str, command: tuple[str, ...]) -> NoReturn:
    """Run COMMAND beside a cluster; {master} in it is replaced by the master's address."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with loopback_cluster(workers, memory) as cluster:
        words = [word.replace("{master}", cluster.master) for word in command]
        status = subprocess.run(words, env=os.environ | {"SPARK_LOCAL_IP": _HOST}, check=False).returncode
    sys.exit(status)


if __name__ == "__main__":
    main()
