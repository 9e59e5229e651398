"""Ten thousand short runs: the time and processor time beyond solving, and the memory of the driver.

``python -m benchmarks.throughput [RUNS [EXACT]]`` measures one line. Overhead is the time from the start of the first
run to the end of the last, divided by the solvers' seconds per core, less one; the start of Spark is not counted. Work
is the same in processor seconds of the driver, Java, workers and solvers, which other load disturbs less.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

import numpy as np

from benchmarks._usage import usage_of
from overlaybench.compare.studies.store import Store

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
methods = ["{method}"]
repeats = 5
"""
EXACT = {
    "easy": ("branch-and-cut", "min-tco", 4),
    "hard": ("branch-and-cut", "minmax-tco", 5),
    "cp-sat": ("cp-sat", "min-tco", 4),
}
GOAL = 0.20


def main() -> None:
    lines = [(1000, "easy"), (10_000, "easy"), (10_000, "hard"), (10_000, "cp-sat")]
    if len(sys.argv) > 1:
        lines = [(int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "easy")]
    cores = len(os.sched_getaffinity(0))
    print(f"{cores} cores; 20-node Zipf instances, half of the runs gm, half exact")
    print("  runs exact  mean ms  largest s  solving s  elapsed s  overhead (goal 20%)  work  driver, Java MiB  read s")
    for runs, exact in lines:
        with tempfile.TemporaryDirectory() as folder:
            print(_line(runs, exact, cores, Path(folder)), flush=True)


def _line(runs: int, exact: str, cores: int, folder: Path) -> str:
    spec, out = folder / "spec.toml", folder / "out"
    method, problem, subscriptions = EXACT[exact]
    spec.write_text(SPEC.format(seeds=runs // 10, method=method, problem=problem, subscriptions=subscriptions))
    words = ["study", str(spec), "--out", str(out), "--master", f"local[{cores}]", "--quiet"]
    usage = usage_of([sys.executable, "-m", "overlaybench.compare", *words])
    before = time.monotonic()
    table = Store(out).table().to_pandas()
    read = time.monotonic() - before
    assert len(table) == runs
    assert set(table["status"]) == {"feasible", "optimal"}
    begun = table["started"].map(lambda moment: datetime.fromisoformat(moment).timestamp())
    start, end = begun.min(), (begun + table["seconds"]).max()
    solving, proofs = table["seconds"].sum(), table.loc[table["exact"], "seconds"]
    overhead = (end - start) / (solving / cores) - 1
    cpu = np.interp([start, end], usage.times, usage.cpu_seconds)
    work = (cpu[1] - cpu[0]) / table["cpu_seconds"].sum() - 1
    return (
        f"{runs:6} {exact:5} {1000 * proofs.mean():8.1f} {proofs.max():10.2f} {solving:10.1f} {end - start:10.1f} "
        f"{overhead:11.1%} ({'met' if overhead <= GOAL else 'missed'}) {work:5.0%} "
        f"{usage.largest['driver'] / 2**20:8.0f}, {usage.largest['java'] / 2**20:.0f} {read:9.2f}"
    )


if __name__ == "__main__":
    main()
