"""How long the heuristics take, and how much memory: ``python -m benchmarks.heuristics [--methods …] [--large]``.

Each method on each instance is a process of its own on one core: compile (not counted), then solve a few times.
The peak is the operating system's count for the process, the instance and the interpreter among it; the column
before it says what these took before the method started.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from heuristics import HEURISTICS
from instances import PROBLEMS
from instances.workloads import TOPIC_WORKLOADS

METHODS = {method.name: method for method in HEURISTICS}
WORKLOADS = {workload.name: workload for workload in TOPIC_WORKLOADS}
Instance = tuple[str, dict[str, int]]
MODEST: tuple[Instance, ...] = (
    ("zipf", {"nodes": 1000, "topics": 100, "subscriptions": 10}),
    ("zipf", {"nodes": 5000, "topics": 200, "subscriptions": 10}),
    ("uniform-varying", {"nodes": 1000, "topics": 200, "least": 10, "most": 90}),
)
LARGE: tuple[Instance, ...] = (
    ("zipf", {"nodes": 10_000, "topics": 200, "subscriptions": 10}),
    ("zipf", {"nodes": 20_000, "topics": 400, "subscriptions": 10}),
    ("uniform-varying", {"nodes": 4000, "topics": 200, "least": 10, "most": 90}),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0] if __doc__ else "")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS), metavar="METHOD")
    parser.add_argument("--large", action="store_true", help="the larger instances instead; minutes")
    parser.add_argument("--repeats", type=int, default=3, help="runs to take the median of")
    parser.add_argument("--ties", default="lowest", help="the rule for ties, where a method has one")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.measure:
        print(json.dumps(measure(**json.loads(chosen.measure))))
        return
    table = Table("instance", "method", title=f"median of {chosen.repeats}, ties {chosen.ties}")
    for heading in ("seconds", "before MiB", "peak MiB", "edges", "max degree"):
        table.add_column(heading, justify="right")
    console = Console()
    with console.status("") as status:
        for workload, parameters in LARGE if chosen.large else MODEST:
            label = f"{workload} ({', '.join(map(str, parameters.values()))})"
            for name in chosen.methods:
                status.update(f"{label}: {name}")
                found = measured_apart(name, workload, parameters, chosen.repeats, chosen.ties)
                table.add_row(
                    label,
                    name,
                    f"{found['seconds']:.3f}",
                    f"{found['before']:.0f}",
                    f"{found['peak']:.0f}",
                    f"{found['edges']:.0f}",
                    f"{found['max_degree']:.0f}",
                )
            table.add_section()
    console.print(table)


def measured_apart(method: str, workload: str, parameters: dict[str, int], repeats: int, ties: str) -> dict[str, float]:
    """`measure` in a process of its own, so that its peak memory is its own."""
    task = {"method": method, "workload": workload, "parameters": parameters, "repeats": repeats, "ties": ties}
    command = [sys.executable, "-m", "benchmarks.heuristics", "--measure", json.dumps(task)]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return found


def measure(method: str, workload: str, parameters: dict[str, int], repeats: int, ties: str) -> dict[str, float]:
    """Median seconds, MiB before and at the peak, and what the overlay is worth."""
    heuristic = METHODS[method]
    options = {"ties": ties} if any(option.name == "ties" for option in heuristic.options) else {}
    instance = WORKLOADS[workload].generate(seed=0, **parameters)
    if heuristic.warm_up is not None:
        heuristic.warm_up()
    before, seconds = peak_mib(), []
    for _ in range(repeats):
        start = time.perf_counter()
        found = heuristic.solve(instance, PROBLEMS["min-tco"], seed=0, time_limit=None, **options)
        seconds.append(time.perf_counter() - start)
    assert found.answer is not None
    peak = peak_mib()
    return {
        "seconds": statistics.median(seconds),
        "before": before,
        "peak": peak,
        "edges": found.answer.num_edges,
        "max_degree": found.answer.max_degree,
    }


def peak_mib() -> float:
    """The most memory this process ever held."""
    status = Path("/proc/self/status")
    if status.exists():
        # A process starts with its parent's peak in ru_maxrss; this count is its own.
        return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024**2 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    main()
