"""One instance on Spark from file to file: time, memory, shuffle, disk, edges and bound by size (docs/cluster.md).

``python -m benchmarks.one_instance 100000 1000000 --memory 4g`` measures two sizes on ``local[2]``. With ``--loopback``
it takes a standalone cluster of two workers, and ``--gm`` adds Greedy Merge on one machine.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path

import click

from benchmarks._usage import Usage, usage_of
from overlaybench.heuristics.topics.greedy_merge import greedy_merge
from overlaybench.instances.contract.catalogue import WORKLOADS

_PROGRAM = [sys.executable, "-m", "overlaybench.compare"]
_GIB = 2**30


@click.command()
@click.argument("sizes", nargs=-1, type=int)
@click.option("--loopback", is_flag=True, help="A standalone cluster of two workers on this machine.")
@click.option("--memory", default="2g", show_default=True, help="Of the driver; of each executor with --loopback.")
@click.option("--option", "options", multiple=True, help="NAME=VALUE of dc-gm.")
@click.option("--gm", is_flag=True, help="Also solve by gm on one machine.")
@click.option("--folder", type=click.Path(path_type=Path), default=tempfile.gettempdir(), show_default=True)
def main(sizes: tuple[int, ...], loopback: bool, memory: str, options: tuple[str, ...], gm: bool, folder: Path) -> None:
    """Measure instances of SIZES nodes (by default 20,000) with 10 of 10,000 topics each, by Zipf's law."""
    print(
        "nodes\tstage\twall s\tprocessor s\tload\tGiB of driver, Java, Python, all\tshuffle GiB\tdisk GiB\trows a task"
    )
    for nodes in sizes or (20_000,):
        with tempfile.TemporaryDirectory(dir=folder) as here:
            _measure(nodes, loopback, memory, options, Path(here))
        if gm:
            start = time.process_time()
            instance = WORKLOADS["zipf"].generate(seed=1, nodes=nodes, topics=10_000, subscriptions=10)
            print(
                f"{nodes}\tgm: {greedy_merge(instance).num_edges} edges, {time.process_time() - start:.1f} processor s"
            )


def _measure(nodes: int, loopback: bool, memory: str, options: tuple[str, ...], folder: Path) -> None:
    wanted, overlay = str(folder / "wanted.parquet"), str(folder / "overlay.parquet")
    zipf = ["generate", "zipf", "--nodes", str(nodes), "--topics", "10000", "--subscriptions", "10", "--seed", "1"]
    given = [word for option in options for word in ("--option", option)]
    solve = ["solve", wanted, "--problem", "min-tco", "--method", "dc-gm", *given, "-o", overlay, "--json"]
    check = ["check", wanted, overlay, "--problem", "min-tco"]
    for words in ([*zipf, "-o", wanted], solve, check):
        usage, shuffled, rows, disk, wall = _run(words, loopback, memory, folder)
        gib = [usage.largest["driver"], usage.largest["java"], usage.largest["python"], usage.together]
        print(
            f"{nodes}\t{words[0]}\t{wall:.0f}\t{usage.cpu_seconds[-1]:.0f}\t{os.getloadavg()[0]:.1f}\t"
            f"{', '.join(f'{each / _GIB:.2f}' for each in gib)}\t{shuffled / _GIB:.2f}\t{disk / _GIB:.2f}\t{rows}"
        )
        if words is solve:
            result = json.loads(usage.output)
            print(f"{nodes}\tedges {result['value']}, bound {result['lower_bound']}, {result['counters']}", flush=True)


def _run(words: list[str], loopback: bool, memory: str, folder: Path) -> tuple[Usage, int, int, int, float]:
    """Usage, bytes shuffled, rows of the largest task, the most bytes in `folder` and wall seconds of a command."""
    log = folder / f"log-{words[0]}"
    log.mkdir()
    conf = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": str(log),
        "spark.eventLog.compress": "false",
        "spark.local.dir": str(folder / "spark"),
        "spark.executor.memory": memory,
    }
    settings = " ".join(f"--conf {name}={value}" for name, value in conf.items())
    driver = "1g" if loopback else memory
    environment = os.environ | {"PYSPARK_SUBMIT_ARGS": f"--driver-memory {driver} {settings} pyspark-shell"}
    command = [*_PROGRAM, *words, "--master", "{master}" if loopback else "local[2]"]
    if loopback:
        command = [sys.executable, "-m", "tests.compare.loopback_cluster", "--memory", memory, *command]
    sizes = [0]

    def measure_disk() -> None:
        sizes.append(sum(_size(Path(root) / name) for root, _, names in os.walk(folder) for name in names))

    start = time.monotonic()
    usage = usage_of(command, environment=environment, pause=1, at_each=measure_disk)
    wall = time.monotonic() - start
    return usage, *_of_tasks(log), max(sizes), wall


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _of_tasks(log: Path) -> tuple[int, int]:
    """Bytes that tasks wrote for the shuffle, and the most rows that one read from it."""
    total, most = 0, 0
    for path in log.rglob("events_*"):
        for line in path.open(encoding="utf-8"):
            event = json.loads(line)
            if event["Event"] == "SparkListenerTaskEnd" and (metrics := event.get("Task Metrics")):
                total += metrics["Shuffle Write Metrics"]["Shuffle Bytes Written"]
                most = max(most, metrics["Shuffle Read Metrics"]["Total Records Read"])
    return total, most


if __name__ == "__main__":
    main()
