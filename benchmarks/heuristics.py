"""Time and memory of the heuristics for topics, with their goals.

    python -m benchmarks.heuristics [--methods …] [--instances …] [--ties …] [--million]

Each row is a separate process on one core: kernels are compiled (not counted), then the method solves a few times.
The peak is that of the process, interpreter and instance included; the column "before" is its memory when the method
starts. CPU seconds are comparable on a busy machine, wall seconds are not.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks._usage import apart, timed
from overlaybench.compare.claims.link_contributions import merge_by_link_contributions
from overlaybench.instances.contract.catalogue import PROBLEMS, WORKLOADS, methods_of
from overlaybench.instances.topics.files import read_topics
from overlaybench.instances.topics.instance import TopicInstance

METHODS = {method.name: method for method in methods_of("overlaybench.heuristics.topics") if not method.anytime}
REFERENCE = "P1, Algorithms 1-3"
LASTFM = Path(__file__).resolve().parents[2] / "shared" / "data" / "lastfm" / "user_artists.dat"
LASTFM_GOAL = 10.0


@dataclass(frozen=True)
class Case:
    """One row: a method on a workload, with goals in seconds and GiB (0: none)."""

    method: str
    workload: str
    parameters: tuple[int, ...]
    seconds: float = 0.0
    gib: float = 0.0
    repeats: int = 3

    @property
    def label(self) -> str:
        return f"{self.workload} {self.parameters}" if self.parameters else self.workload


CASES = (
    Case("gm", "zipf", (10_000, 200, 10), seconds=1.5, gib=1),
    Case(REFERENCE, "zipf", (10_000, 200, 10), repeats=1),
    Case("gm", "zipf", (100_000, 1000, 10), seconds=30, gib=6),
    Case("gm-m", "uniform-varying", (8000, 1000, 10, 90), seconds=60, gib=4),
    Case("dcbr-m", "uniform-varying", (8000, 1000, 10, 90)),
    Case("gm-m", "uniform-varying", (4000, 200, 10, 90), seconds=10),
    Case("dcbr-m", "uniform-varying", (4000, 200, 10, 90)),
    Case("2d-oda", "zipf", (1000, 100, 10), seconds=0.2),
    Case("2d-oda", "zipf", (100_000, 1000, 10), seconds=60, repeats=1),
    *(Case(name, "lastfm", (), seconds=LASTFM_GOAL, repeats=1) for name in METHODS),
)
MILLION = (
    Case("gm", "uniform", (1_000_000, 10_000, 20), gib=20, repeats=1),
    Case("gm", "zipf", (1_000_000, 10_000, 20), gib=20, repeats=1),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(".")[0])
    parser.add_argument("--methods", nargs="+", choices=(*METHODS, REFERENCE), metavar="METHOD")
    parser.add_argument("--instances", nargs="+", metavar="WORKLOAD")
    parser.add_argument("--million", action="store_true", help="run the rows with a million nodes; minutes each")
    parser.add_argument("--ties", default="lowest", help="the rule for ties, where a method has one")
    chosen = parser.parse_args()
    console, table = Console(width=120), Table("instance", "method", title=f"medians, ties {chosen.ties}")
    for heading in ("seconds", "CPU seconds", "goal", "before MiB", "peak MiB", "goal MiB", "edges", "max degree"):
        table.add_column(heading, justify="right", no_wrap=True)
    with console.status("") as status:
        for case in MILLION if chosen.million else CASES:
            if chosen.methods and case.method not in chosen.methods:
                continue
            if (chosen.instances and case.workload not in chosen.instances) or not is_available(case):
                continue
            status.update(f"{case.label}: {case.method}")
            measured = apart(measure, case, chosen.ties)
            table.add_row(
                case.label,
                case.method,
                f"{measured['seconds']:.3f}",
                f"{measured['cpu']:.3f}",
                f"{case.seconds:g}" if case.seconds else "",
                f"{measured['before']:.0f}",
                f"{measured['peak']:.0f}",
                f"{case.gib * 1024:g}" if case.gib else "",
                f"{measured['edges']:.0f}",
                f"{measured['max_degree']:.0f}" if "max_degree" in measured else "",
            )
    console.print(table)


def is_available(case: Case) -> bool:
    return case.workload != "lastfm" or LASTFM.exists()


def measure(case: Case, ties: str) -> dict[str, float]:
    """Median seconds, MiB before and at the peak, edges and maximum degree."""
    instance = instance_of(case.workload, case.parameters)
    if case.method == REFERENCE:
        merge_by_link_contributions(WORKLOADS["zipf"].generate(nodes=50))
        return repeated(lambda: {"edges": len(merge_by_link_contributions(instance)[0])}, case.repeats)
    heuristic = METHODS[case.method]
    given = {"ties": ties} if any(option.name == "ties" for option in heuristic.options) else {}
    options = heuristic.complete(given, "min-tco")

    def solve() -> dict[str, float]:
        answer = heuristic.solve(instance, PROBLEMS["min-tco"], seed=0, time_limit=None, **options).answer
        assert answer is not None
        return {"edges": answer.num_edges, "max_degree": answer.max_degree}

    return repeated(solve, case.repeats)


def instance_of(workload: str, parameters: Sequence[int] = ()) -> TopicInstance:
    if workload == "lastfm":
        return read_topics(LASTFM, node_column="userID", topic_column="artistID").instance
    names = [option.name for option in WORKLOADS[workload].parameters]
    instance: TopicInstance = WORKLOADS[workload].generate(seed=0, **dict(zip(names, parameters, strict=False)))
    return instance


def repeated(solve: Callable[[], dict[str, float]], repeats: int) -> dict[str, float]:
    before = peak_mib()
    answers, spent = zip(*(timed(solve) for _ in range(repeats)), strict=True)
    seconds, cpu = (statistics.median(each) for each in zip(*spent, strict=True))
    return {"seconds": seconds, "cpu": cpu, "before": before, "peak": peak_mib(), **answers[-1]}


def peak_mib() -> float:
    """The peak memory of this process."""
    status = Path("/proc/self/status")
    if status.exists():
        # ru_maxrss starts at the peak of the parent process; VmHWM does not.
        return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024**2 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    main()
