"""Ten thousand short runs: the time beyond solving, and the memory of the driver.

``python -m benchmarks.throughput [RUNS [easy|hard]]`` measures one line of it. Overhead is the time from the start of
the first run to the end of the last over the solvers' seconds divided by the cores, less one: Spark's start is out.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

import psutil

from compare.store import Store

SPEC = """
name = "throughput"
seed = 1
time_limit = 10
[[instances]]
workload = "zipf"
nodes = 20
topics = 20
subscriptions = {subscriptions}
seeds = {seeds}
[[runs]]
problems = ["min-tco"]
methods = ["gm"]
repeats = 5
[[runs]]
problems = ["{problem}"]
methods = ["branch-and-cut"]
repeats = 5
"""
EXACT = {"easy": ("min-tco", 4), "hard": ("minmax-tco", 5)}
GOAL = 0.20


def main() -> None:
    lines = [(1000, "easy"), (10_000, "easy"), (10_000, "hard")]
    if len(sys.argv) > 1:
        lines = [(int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "easy")]
    cores = len(os.sched_getaffinity(0))
    print(
        f"{cores} cores; 20-node Zipf instances, half of the runs gm, half branch-and-cut (easy min-tco, hard minmax)"
    )
    print(
        "runs   exact  mean exact ms  largest s  solving s  elapsed s  overhead (goal 20%)  driver MiB  JVM MiB  read s"
    )
    for runs, exact in lines:
        with tempfile.TemporaryDirectory() as folder:
            print(_line(runs, exact, cores, Path(folder)), flush=True)


def _line(runs: int, exact: str, cores: int, folder: Path) -> str:
    spec, out = folder / "spec.toml", folder / "out"
    problem, subscriptions = EXACT[exact]
    spec.write_text(SPEC.format(seeds=runs // 10, problem=problem, subscriptions=subscriptions))
    command = [sys.executable, "-m", "compare", "study", str(spec), "--out", str(out), "--master", f"local[{cores}]"]
    driver, jvm = _watched([*command, "--quiet"])
    start = time.monotonic()
    table = Store(out).table().to_pandas()
    read = time.monotonic() - start
    assert len(table) == runs
    assert set(table["status"]) == {"feasible", "optimal"}
    begun = table["started"].map(lambda moment: datetime.fromisoformat(moment).timestamp())
    elapsed = (begun + table["seconds"]).max() - begun.min()
    solving = table["seconds"].sum()
    proofs = table.loc[table["exact"], "seconds"]
    overhead = elapsed / (solving / cores) - 1
    return (
        f"{runs:<6} {exact:5} {1000 * proofs.mean():14.1f} {proofs.max():10.2f} {solving:10.1f} {elapsed:10.1f} "
        f"{overhead:8.1%} ({'met' if overhead <= GOAL else 'missed'}) {driver:16.0f} {jvm:8.0f} {read:7.2f}"
    )


def _watched(command: list[str]) -> tuple[float, float]:
    """Run a study; the largest resident memory of its driver and of the driver's Java process, in MiB."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    watched, largest = psutil.Process(process.pid), [0.0, 0.0]
    while process.poll() is None:
        time.sleep(1)
        for place, each in [(0, watched), *((1, child) for child in _java(watched))]:
            try:
                largest[place] = max(largest[place], each.memory_info().rss / 2**20)
            except psutil.Error:  # it ended meanwhile
                continue
    if process.returncode:
        raise SystemExit(f"the study ended with {process.returncode}")
    return largest[0], largest[1]


def _java(process: psutil.Process) -> list[psutil.Process]:
    try:
        return [child for child in process.children() if child.name() == "java"]
    except psutil.Error:
        return []


if __name__ == "__main__":
    main()
