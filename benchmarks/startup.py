"""Seconds to start: first runs from an empty cache of kernels, and short commands with a full one.

python -m benchmarks.startup [--cold ROW...] [--long]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS = 5
COMMAND = ["-m", "overlaybench.compare"]
SUBSCRIPTIONS = {"n0": ["a", "b"], "n1": ["a", "b"], "n2": ["b"]}
STUDY = """
time_limit = 20
[[instances]]
workload = "zipf"
nodes = 10
topics = 5
subscriptions = 2
seeds = 3
[[runs]]
problems = ["min-tco"]
methods = ["gm", "low-oda"]
"""
FIRST_RUN = "default study, its first finished run"
TEST = "tests/heuristics/topics/test_guarantees.py"


def spent(arguments: list[str], cache: Path | None = None, first: Path | None = None) -> tuple[float, float]:
    """Processor seconds and seconds of the clock of a command, with an empty folder for its cache or the user's.

    A study is stopped once the folder `first` has the row of its first finished run.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {} if cache is None else {"XDG_CACHE_HOME": str(cache)}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    silent = subprocess.DEVNULL
    process = subprocess.Popen([sys.executable, *arguments], env=environment, stdout=silent, stderr=silent)
    if first is not None:
        while process.poll() is None and not any(file.stat().st_size for file in first.glob("*.log")):
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
    if process.wait() != (0 if first is None else 128 + signal.SIGTERM):
        raise subprocess.CalledProcessError(process.returncode, arguments)
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cold", type=int, nargs="*", help="only these rows of the first table, from 1")
    parser.add_argument("--long", action="store_true", help="with those that take minutes")
    given = parser.parse_args()
    rows = given.cold
    with tempfile.TemporaryDirectory() as folder:
        three, large, study = (Path(folder) / name for name in ("three.json", "large.json", "study.toml"))
        three.write_text(json.dumps({"format": "topics/1", "subscriptions": SUBSCRIPTIONS}))
        study.write_text(STUDY)
        sizes = ["--nodes", "100", "--topics", "100", "--subscriptions", "10"]
        spent([*COMMAND, "generate", "uniform", *sizes, "-o", str(large)])
        solve = [*COMMAND, "solve", str(three), "--problem", "min-tco"]
        first: dict[str, tuple[list[str], float]] = {
            "solve, 3 nodes, gm": ([*solve, "--method", "gm"], 3),
            "solve, 3 nodes, default method": (solve, 5),
            "solve, (100, 100, 10), default method": ([*COMMAND, "solve", str(large)], 35),
            "study of six short runs": ([*COMMAND, "study", str(study), "--out", f"{folder}/out"], 12),
            "one test": (["-m", "pytest", "-q", "-n", "0", TEST], 20),
            "one test, before it starts": (["-m", "pytest", "-q", "-n", "0", "--collect-only", TEST], 20),
        }
        default = Path(folder) / "default"
        if given.long:
            study_file = "compare/default_study.toml"
            first[FIRST_RUN] = ([*COMMAND, "study", study_file, "--out", str(default)], 15)
            first["mkdocs build"] = (["-m", "mkdocs", "build", "--strict", "--quiet", "-d", f"{folder}/site"], 120)
            first["make test"] = (["-m", "pytest", "-n", "2", "--dist", "loadfile"], 300)
        print(f"{'first run, empty cache':<40} {'processor':>9} {'clock':>6} {'goal':>6}")
        for number, (name, (arguments, goal)) in enumerate(first.items(), 1):
            if rows is None or number in rows:
                with tempfile.TemporaryDirectory() as cache:
                    processor, clock = spent(arguments, Path(cache), default / "runs" if name == FIRST_RUN else None)
                print(f"{name:<40} {processor:9.1f} {clock:6.1f} {goal:6.1f}", flush=True)
        later: dict[str, tuple[list[str], float | None]] = {
            "python -c pass": (["-c", "pass"], None),
            "import overlaybench": (["-c", "import overlaybench"], 0.2),
            "overlaybench --help": ([*COMMAND, "--help"], 0.25),
            "overlaybench list methods": ([*COMMAND, "list", "methods"], 0.5),
            "overlaybench solve, 3 nodes, gm": ([*solve, "--method", "gm"], 0.9),
        }
        print(f"\n{f'processor seconds, median of {RUNS}':<40} {'measured':>9} {'goal':>6}")
        for name, (arguments, limit) in later.items():
            spent(arguments)  # compiles modules
            seconds = statistics.median(spent(arguments)[0] for _ in range(RUNS))
            print(f"{name:<40} {seconds:9.2f} {'' if limit is None else f'{limit:6.2f}'}", flush=True)


if __name__ == "__main__":
    main()
