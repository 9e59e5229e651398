"""The goals on proven optima and gaps of topic overlays, measured on instances of the library (docs/exact.md).

    python -m benchmarks.frontier [--only dense,200] [--seeds 2] [--limit 60]

Limits and times are processor seconds of one thread. With --limit 0 each run gets the limit of its goal, which takes
half a day. Instances whose data are not here are left out.
"""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import dataclass

from overlaybench.compare.library.table import read_table
from overlaybench.compare.studies.library_entries import Entry
from overlaybench.instances.contract.catalogue import PROBLEMS, methods_of
from overlaybench.instances.contract.errors import BadInput
from overlaybench.instances.contract.overlay import Overlay
from overlaybench.instances.contract.result import Result
from overlaybench.instances.topics.instance import TopicInstance

METHODS = {method.name: method for method in methods_of("overlaybench.models.topics")}
EXACT, LARGE = ("branch-and-cut",), ("lp-bound", "best")


@dataclass(frozen=True)
class Row:
    """A family of instances, by the beginning of their names, and the gap to be reached in `limit` seconds."""

    family: str
    limit: float
    gap: float
    problem: str = "min-tco"
    methods: tuple[str, ...] = EXACT
    seeds: int = 5


ROWS = (
    *(Row(f"dense-uniform-{n}-{n}-{n // 2}-", 60, 0) for n in (22, 26, 30)),
    *(Row(f"dense-uniform-{n}-{n}-{n // 2}-", 600, 0) for n in (34, 40)),
    Row("goals-30-30-9-", 20, 0),
    Row("goals-40-24-12-", 140, 0),
    *(Row(f"{law}-100-100-10-", 5, 0) for law in ("uniform", "zipf")),
    *(Row(f"{law}-200-100-10-", 1800, 0.002) for law in ("uniform", "zipf")),
    *(Row(f"{law}-400-100-10-", 1800, 0.003) for law in ("uniform", "zipf")),
    Row("goals-100-300-20-", 300, 0),
    Row("overlap-uniform-100-100-20-", 300, 0.03, seeds=1),
    Row("overlap-uniform-100-100-50-", 300, 0.1, seeds=1),
    Row("uniform-100-100-10-", 600, 0.01, "2d-star", seeds=1),
    Row("small-uniform-60-60-6-", 600, 0.05, "2d-true", seeds=1),
    Row("lastfm-whole", 600, 0.005, methods=LARGE),
    Row("debian-whole", 600, 0.02, methods=LARGE),
)


def solve(method: str, instance: TopicInstance, row: Row, limit: float) -> Result[Overlay]:
    result = METHODS[method].run(instance, PROBLEMS[row.problem], seed=0, time_limit=limit)
    counted = ("root_bound", "nodes", "cuts", "columns")
    counters = ", ".join(f"{name} {result.counters[name]}" for name in counted if name in result.counters)
    print(f"  {method}: {result.value} ≥ {result.lower_bound}, {result.seconds:.1f} s, {counters}", flush=True)
    return result


def measure(row: Row, entries: list[Entry], limit: float) -> str:
    values, bounds, gaps, seconds = [], [], [], []
    for entry in entries:
        try:
            instance = entry.make()
        except BadInput as error:
            print(f"  {error}")
            continue
        print(f"  {entry.name}, load {os.getloadavg()[0]:.1f}", flush=True)
        results = [solve(method, instance, row, limit) for method in row.methods]
        values.append(min(result.value for result in results if result.value is not None))
        bounds.append(max(result.lower_bound or 0 for result in results))
        gaps.append(1 - bounds[-1] / values[-1])
        seconds.append(max(result.seconds for result in results))
    met = sum(gap <= row.gap + 1e-9 for gap in gaps)
    cells = (
        row.family,
        row.problem,
        " and ".join(row.methods),
        f"{row.gap:.1%} in {row.limit:g} s",
        f"{limit:g} s",
        f"{met} of {len(gaps)}",
        ", ".join(f"{value:g} ≥ {bound:g}" for value, bound in zip(values, bounds, strict=True)),
        f"{max(gaps, default=1):.2%}",
        f"{max(seconds, default=0):.1f} s",
    )
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="parts of the families' names, with commas; all by default")
    parser.add_argument("--problem", default="", help="only the rows of this problem")
    parser.add_argument("--seeds", type=int, default=5, help="the most instances of a family")
    parser.add_argument("--limit", type=float, default=20.0, help="the most processor seconds a run; 0: the goal's")
    asked = parser.parse_args()
    time.perf_counter = time.process_time
    lines = []
    for row in ROWS:
        wanted = any(part in row.family for part in asked.only.split(","))
        if not wanted or asked.problem not in ("", row.problem):
            continue
        entries = [entry for entry in read_table().entries.values() if entry.name.startswith(row.family)]
        limit = min(row.limit, asked.limit) if asked.limit else row.limit
        lines.append(measure(row, entries[: min(row.seeds, asked.seeds)], limit))
        print(lines[-1], flush=True)
    print("\n| instances | problem | methods | goal | limit | met | value ≥ bound | largest gap | longest |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
