"""Time and memory of content-based overlays at P4's largest case, with goals: ``python -m benchmarks.content``.

Each row runs in its own process: kernels are compiled (not counted), then the task runs once. The peak is the resident
set size of the process, with interpreter and instance. Seconds are by the clock and of the processor.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from benchmarks._usage import apart, timed
from benchmarks.heuristics import peak_mib
from overlaybench.instances.content.problems import ContentOverlay
from overlaybench.instances.contract.catalogue import PROBLEMS, WORKLOADS, methods_of

CONTENT_HEURISTICS = [each for each in methods_of("overlaybench.heuristics.content") if each.answers("content-mst")]

METHODS = {method.name: method for method in CONTENT_HEURISTICS}
HOLD, JUDGE = "hold the instance", "judge the random assignment"


@dataclass(frozen=True)
class Case:
    """One row: a method or a task on P4's workload, with goals in seconds and MiB (0: none)."""

    work: str
    problem: str = "content-mst"
    options: dict[str, Any] = field(default_factory=dict)
    users: int = 10_000
    brokers: int = 100
    channels: int = 100
    width: float = 1.0
    seconds: float = 0.0
    mib: float = 0.0

    @property
    def label(self) -> str:
        return " ".join([self.work, *(f"{name}={value}" for name, value in self.options.items())])

    @property
    def size(self) -> str:
        return f"{self.users:,} × {self.brokers} × {self.channels:,}, width {self.width:g}"


CASES = (
    Case(HOLD, channels=1000, mib=500),
    *(Case(JUDGE, width=width, seconds=5) for width in (1.0, 0.01)),
    *(Case(name, seconds=5) for name in ("random-assignment", "greedy-packing", "clustering")),
    *(Case("steiner-mixing", options={"trees": trees}, seconds=20, mib=4096) for trees in ("closure", "grown")),
    *(Case("migration", options={"start": start}, seconds=5) for start in ("greedy-packing", "random-assignment")),
    *(
        Case(name, problem, seconds=20 if name == "steiner-mixing" else 5)
        for problem in ("content-steiner", "content-shared-tree")
        for name in ("steiner-mixing", "migration")
    ),
)


def main() -> None:
    parser = argparse.ArgumentParser(description="Time and memory of content-based overlays, with goals.")
    parser.add_argument("--only", default="", help="rows whose label has this text")
    chosen = parser.parse_args()
    print(
        "| users × brokers × channels | problem | work | seconds, CPU | goal | peak MiB | goal | random's ÷ its cost |"
    )
    print("| --- " * 8 + "|")
    for case in (case for case in CASES if chosen.only in case.label):
        found = apart(measure, case)
        saved = f"{found['baseline'] / found['value']:.3f}" if found["value"] else ""
        print(
            f"| {case.size} | {case.problem} | {case.label} | {found['seconds']:.2f}, {found['cpu']:.2f} | "
            f"{goal(case.seconds)} | {found['peak']:.0f} | {goal(case.mib)} | {saved} |",
            flush=True,
        )


def goal(limit: float) -> str:
    return f"≤ {limit:g}" if limit else ""


def measure(case: Case) -> dict[str, float]:
    """Seconds, MiB at the peak, the cost (judging included), and that of random assignment."""
    problem, baseline = PROBLEMS[case.problem], METHODS["random-assignment"]
    parameters: dict[str, Any] = {
        "users": case.users,
        "brokers": case.brokers,
        "intervals": case.channels,
        "width": case.width,
    }
    if case.work == HOLD:
        return spent(lambda: 0.0 * len(WORKLOADS["content"].generate(**parameters).digest), 0.0)
    instance = WORKLOADS["content"].generate(**parameters)
    random = baseline.run(instance, problem)
    assert random.answer is not None
    assert random.value is not None
    if case.work == JUDGE:
        assigned = ContentOverlay(random.answer.brokers)
        return spent(lambda: problem.value(instance, assigned), random.value)
    method = METHODS[case.work]
    return spent(lambda: method.run(instance, problem, **case.options).value, random.value)


def spent(work: Callable[[], float | None], baseline: float) -> dict[str, float]:
    value, seconds = timed(work)
    assert value is not None, "no answer"
    return {
        "seconds": seconds.clock,
        "cpu": seconds.processor,
        "peak": peak_mib(),
        "value": value,
        "baseline": baseline,
    }


if __name__ == "__main__":
    main()
