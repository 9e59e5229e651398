"""Quality of overlays for the time they take: ``python -m benchmarks.quality [--large] [--seeds N] [--processor]``.

``--huge`` polishes Greedy Merge's overlay of 100,000 nodes on two threads, by default for 120 s, without a bound.

For each workload the medians over the seeds: the value of each method, its distance from the lower bound of `lp-bound`,
and the method's seconds. `best` and `polish` have a time limit of 3 s at 100 nodes, 60 s at 1,000.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from typing import Any

from rich.console import Console
from rich.table import Table

from overlaybench.heuristics.topics.greedy_merge import greedy_merge
from overlaybench.heuristics.topics.polish import polish
from overlaybench.instances.contract.catalogue import PROBLEMS, WORKLOADS, methods_of
from overlaybench.instances.topics.instance import TopicInstance
from overlaybench.models.topics.best import BEST
from overlaybench.models.topics.lp_bound import LP_BOUND

SMALL = (("uniform", 100, 100), ("zipf", 100, 100), ("exponential", 100, 100))
LARGE = tuple((law, 1000, count) for count in (100, 200) for law in ("uniform", "zipf", "exponential"))
NAMED = ("gm", "gm-m", "low-oda", "minmax-oda", "ring-per-topic")
METHODS = {method.name: method for method in (*methods_of("overlaybench.heuristics.topics"), BEST)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0] if __doc__ else "")
    parser.add_argument("--large", action="store_true", help="1,000 nodes instead of 100")
    parser.add_argument("--huge", action="store_true", help="100,000 nodes in parts, on two threads")
    parser.add_argument("--seeds", type=int, default=5, help="instances of each workload")
    parser.add_argument("--workloads", nargs="+", help="only these laws")
    parser.add_argument("--topics", nargs="+", type=int, help="only these numbers of topics")
    parser.add_argument("--problems", nargs="+", default=["min-tco"], help="topic problems")
    parser.add_argument("--methods", nargs="+", default=[*NAMED, "polish", "best"], choices=METHODS, metavar="METHOD")
    parser.add_argument("--time-limit", type=float, help="seconds for best and polish")
    parser.add_argument("--bound-time", type=float, help="seconds for the bound, by default ten times the time limit")
    parser.add_argument("--processor", action="store_true", help="measure and limit CPU seconds")
    chosen = parser.parse_args()
    if chosen.huge:
        huge(chosen.time_limit or 120.0)
        return
    if chosen.processor:
        time.perf_counter = time.process_time  # wall seconds are not comparable on a busy machine
    limit = chosen.time_limit or (60.0 if chosen.large else 3.0)
    table = Table("instance", "problem", "bound", "method", title=f"medians of {chosen.seeds}, limit {limit:g} s")
    for heading in ("value", "above the bound", "seconds"):
        table.add_column(heading, justify="right")
    for law, nodes, count in LARGE if chosen.large else SMALL:
        if law not in (chosen.workloads or [law]) or count not in (chosen.topics or [count]):
            continue
        instances = [
            WORKLOADS[law].generate(seed=seed, nodes=nodes, topics=count, subscriptions=10)
            for seed in range(chosen.seeds)
        ]
        for problem in chosen.problems:
            bounds = [bound(instance, problem, chosen.bound_time or 10 * limit) for instance in instances]
            for name in chosen.methods:
                runs = [run(METHODS[name], instance, problem, limit) for instance in instances]
                gaps = [value / least - 1 for (value, _), least in zip(runs, bounds, strict=True)]
                table.add_row(
                    f"{law} ({nodes}, {count}, 10)",
                    problem,
                    f"{statistics.median(bounds):g}",
                    name,
                    f"{statistics.median(value for value, _ in runs):g}",
                    f"{statistics.median(gaps):.1%}",
                    f"{statistics.median(seconds for _, seconds in runs):.2f}",
                )
                print(f"{law} {nodes} {count} {problem} {name} {runs} {bounds}", file=sys.stderr, flush=True)
            table.add_section()
    Console(width=110).print(table)


def huge(limit: float) -> None:
    """Print what polishing 100,000 nodes for a time saves, in wall and in processor seconds."""
    for seed in range(2):
        instance = WORKLOADS["zipf"].generate(seed=seed, nodes=100_000, topics=1000, subscriptions=10)
        overlay = greedy_merge(instance, threads=2)
        start, cpu = time.perf_counter(), time.process_time()
        polished = polish(instance, overlay, seed=seed, time_limit=limit, threads=2)
        wall, cpu = time.perf_counter() - start, time.process_time() - cpu
        assert not PROBLEMS["min-tco"].violations(instance, polished)
        print(
            f"zipf (100000, 1000, 10) seed {seed}: gm {overlay.num_edges}, polish {polished.num_edges} "
            f"({polished.num_edges / overlay.num_edges - 1:+.1%}) in {wall:.0f} s, {cpu:.0f} s of processor time",
            flush=True,
        )


def bound(instance: TopicInstance, problem: str, seconds: float) -> float:
    """The lower bound of lp-bound."""
    proven = LP_BOUND.run(instance, PROBLEMS[problem], time_limit=seconds, progress="off").lower_bound
    assert proven is not None
    return proven


def run(method: Any, instance: TopicInstance, problem: str, limit: float) -> tuple[float, float]:
    result = method.run(instance, PROBLEMS[problem], seed=0, time_limit=limit)
    assert result.value is not None, result.reason
    return result.value, result.seconds


if __name__ == "__main__":
    main()
