"""Ten thousand short runs: the time beyond solving, and the driver's memory; give other numbers of runs as words."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

from compare.store import Store

SPEC = """
name = "throughput"
seed = 1
time_limit = 10
[[instances]]
workload = "zipf"
nodes = 20
topics = 20
subscriptions = 4
seeds = {seeds}
[[runs]]
problems = ["min-tco"]
methods = ["gm", "branch-and-cut"]
repeats = 5
"""


def main() -> None:
    wanted = [int(word) for word in sys.argv[1:]] or [1000, 10_000]
    cores = len(os.sched_getaffinity(0))
    print(f"{cores} cores; runs of gm and branch-and-cut on 20-node Zipf instances, one half each")
    print("  runs  solving s  ideal s  elapsed s  overhead  command s  driver MiB  seconds to read all")
    for runs in wanted:
        with tempfile.TemporaryDirectory() as folder:
            print(_line(runs, cores, Path(folder)), flush=True)


def _line(runs: int, cores: int, folder: Path) -> str:
    spec, out = folder / "spec.toml", folder / "out"
    spec.write_text(SPEC.format(seeds=runs // 10))
    start = time.monotonic()
    command = [sys.executable, "-m", "compare", "study", str(spec), "--out", str(out), "--master", f"local[{cores}]"]
    process = subprocess.Popen([*command, "--quiet"], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"the study ended with {status}")
    whole, start = time.monotonic() - start, time.monotonic()
    table = Store(out).table()
    read = time.monotonic() - start
    assert table.num_rows == runs
    begun = [datetime.fromisoformat(moment).timestamp() for moment in table["started"].to_pylist()]
    seconds = table["seconds"].to_pylist()
    elapsed = max(map(sum, zip(begun, seconds, strict=True))) - min(begun)
    ideal = sum(seconds) / cores
    return (
        f"{runs:6} {sum(seconds):10.1f} {ideal:8.1f} {elapsed:10.1f} {elapsed / ideal - 1:9.1%} {whole:10.1f} "
        f"{usage.ru_maxrss / 1024:11.0f} {read:20.2f}"
    )


if __name__ == "__main__":
    main()
