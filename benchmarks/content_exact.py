"""Gaps, sizes and times of the exact methods for content-based overlays.

    python -m benchmarks.content_exact [--sizes 12x4x6,30x6x8] [--models branch-and-cut,…] [--seeds 3] [--limit 60]

P4's workload, by users × brokers × channels; one thread; kernels compiled and solvers loaded before. Goals: optimal
within 60 s at 12 × 4 × 6, a proven gap at 30 × 6 × 8. Seconds are by the clock and of the processor.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any, NamedTuple

from overlaybench.instances.content.problems import CONTENT_PROBLEMS, ContentProblem
from overlaybench.instances.contract.catalogue import WORKLOADS, methods_of
from overlaybench.instances.contract.result import Result
from overlaybench.models.content.model import FORMULATIONS

CONTENT_MODELS = [each for each in methods_of("overlaybench.models.content") if each.answers("content-mst")]

METHODS = {method.name: method for method in CONTENT_MODELS}
COMPACT = ("cp-sat", "ilp")
MODELS = ("branch-and-cut", *(f"{method} {formulation}" for method in COMPACT for formulation in FORMULATIONS))


class Run(NamedTuple):
    """A result and its processor seconds."""

    result: Result[Any]
    cpu: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="12x4x6", help="users x brokers x channels, comma-separated")
    parser.add_argument("--models", default=",".join(MODELS), help="comma-separated")
    parser.add_argument("--problems", default=",".join(problem.name for problem in CONTENT_PROBLEMS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=60, help="seconds a run")
    parser.add_argument("--clock", default="wall", choices=("wall", "processor"), help="of branch-and-cut's limit")
    chosen = parser.parse_args()
    if chosen.clock == "processor":
        # Branch-and-cut has one thread: on an idle machine both clocks agree.
        time.perf_counter = time.process_time
    print(
        "| users × brokers × channels | problem | model | variables, rows | optimal | gap: median, largest | seconds |"
    )
    print("| --- " * 7 + "|")
    for size in chosen.sizes.split(","):
        for problem in CONTENT_PROBLEMS:
            if problem.name in chosen.problems.split(","):
                for model in chosen.models.split(","):
                    print(line(size, problem, model, chosen.seeds, chosen.limit), flush=True)


def line(size: str, problem: ContentProblem, model: str, seeds: int, limit: float) -> str:
    """A model on a few instances of one size: medians, and the largest gap and seconds."""
    runs = [run(size, problem, model, seed, limit) for seed in range(seeds)]
    results = [each.result for each in runs]
    gaps = [100.0 if result.gap is None else 100 * result.gap for result in results]
    optimal = sum(result.status == "optimal" for result in results)
    columns, rows = (
        statistics.median(float(result.counters.get(name, 0)) for result in results)
        for name in (("columns", "cuts") if model == "branch-and-cut" else ("variables", "constraints"))
    )
    return (
        f"| {size.replace('x', ' × ')} | {problem.name} | {model} | {columns:g}, {rows:g} | {optimal} of {seeds} | "
        f"{statistics.median(gaps):.2f}%, {max(gaps):.2f}% | {spread([result.seconds for result in results])} | "
        f"{spread([each.cpu for each in runs])} |"
    )


def spread(values: list[float]) -> str:
    """Median and largest."""
    return f"{statistics.median(values):.1f}, {max(values):.1f}"


def run(size: str, problem: ContentProblem, model: str, seed: int, limit: float) -> Run:
    users, brokers, channels = map(int, size.split("x"))
    instance = WORKLOADS["content"].generate(users=users, brokers=brokers, intervals=channels, seed=seed)
    name, *formulation = model.split()
    method = METHODS[name]
    options = {"formulation": formulation[0]} if formulation else {}
    before = time.process_time()
    result = method.run(instance, problem, seed=seed, time_limit=limit, **options)
    return Run(result, time.process_time() - before)


if __name__ == "__main__":
    main()
