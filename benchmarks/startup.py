"""Processor seconds to start: `python -c pass`, the import of the package, and short commands; with cached bytecode.

python -m benchmarks.startup
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

RUNS = 5
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
SUBSCRIPTIONS = {"n0": ["a", "b"], "n1": ["a", "b"], "n2": ["b"]}


def processor_seconds(arguments: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    silent = subprocess.DEVNULL
    subprocess.run([sys.executable, *arguments], env=ENVIRONMENT, check=True, stdout=silent, stderr=silent)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "topics.json"
        file.write_text(json.dumps({"format": "topics/1", "subscriptions": SUBSCRIPTIONS}))
        command = ["-m", "overlaybench.compare"]
        measured = {
            "python -c pass": (["-c", "pass"], None),
            "import overlaybench": (["-c", "import overlaybench"], 0.2),
            "overlaybench --help": ([*command, "--help"], 0.25),
            "overlaybench list methods": ([*command, "list", "methods"], 0.5),
            "overlaybench solve (3 nodes, gm)": (
                [*command, "solve", str(file), "--problem", "min-tco", "--method", "gm"],
                0.9,
            ),
        }
        print(f"{'processor seconds, median of ' + str(RUNS):<36} {'measured':>8} {'goal':>6}")
        for name, (arguments, goal) in measured.items():
            processor_seconds(arguments)  # compiles kernels and modules
            seconds = statistics.median(processor_seconds(arguments) for _ in range(RUNS))
            print(f"{name:<36} {seconds:8.2f} {'' if goal is None else f'{goal:6.2f}'}")


if __name__ == "__main__":
    main()
