"""Branch-and-cut and lp-bound against the compact ILP and CP-SAT models, by instance family (docs/exact.md).

    python -m benchmarks.exact [--seeds 5] [--full] [--rows 0,1] [--limit 20] [--compact-limit 20]

Without --full every run gets at most --limit seconds, with it the limit of its goal. One thread each; medians over
seeds. --list numbers the rows.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from overlaybench.instances.contract.catalogue import PROBLEMS, WORKLOADS, methods_of
from overlaybench.instances.contract.overlay import Overlay
from overlaybench.instances.contract.result import Result
from overlaybench.instances.topics.instance import TopicInstance

METHODS = {method.name: method for method in methods_of("overlaybench.models.topics")}
LASTFM = Path(__file__).resolve().parents[2] / "shared" / "data" / "lastfm" / "user_artists.dat"
QUICK = 20.0
COMPACT = ("ilp", "cp-sat")


@dataclass(frozen=True)
class Row:
    name: str
    problem: str
    method: str
    limit: float
    goal: str
    make: Callable[[int], TopicInstance]
    compact: tuple[str, ...] = ()


def workload(law: str, nodes: int, topics: int, size: int) -> Callable[[int], TopicInstance]:
    return lambda seed: WORKLOADS[law].generate(nodes=nodes, topics=topics, subscriptions=size, seed=seed)


def lastfm(size: int) -> Callable[[int], TopicInstance]:
    def make(seed: int) -> TopicInstance:
        lines = LASTFM.read_text().splitlines()[1:]
        pairs = [line.split("\t")[:2] for line in lines]
        everyone, _ = TopicInstance.from_pairs([user for user, _ in pairs], [artist for _, artist in pairs])
        return everyone.sample(size, seed)

    return make


def rows() -> list[Row]:
    table = []
    for law in ("uniform", "zipf"):
        make = workload(law, 100, 100, 10)
        name = f"{law} (100, 100, 10)"
        table += [
            Row(name, "min-tco", "branch-and-cut", 60, "optimal in 15 s", make, COMPACT),
            Row(name, "minmax-tco", "branch-and-cut", 600, "optimal or gap, 10 min", make, COMPACT),
            Row(name, "2d-star", "cp-sat", 600, "optimal or gap, 10 min", make, ("ilp",)),
            Row(name, "2d-true", "branch-and-cut", 600, "-", make, COMPACT),
        ]
        for topics, size in ((100, 20), (300, 20), (500, 20), (100, 30), (100, 50)):
            instance = workload(law, 100, topics, size)
            label = f"{law} (100, {topics}, {size})"
            table.append(Row(label, "min-tco", "branch-and-cut", 300, "optimal in 5 min", instance, COMPACT))
        for nodes in (200, 400):
            instance = workload(law, nodes, 100, 10)
            label = f"{law} ({nodes}, 100, 10)"
            table.append(Row(label, "min-tco", "branch-and-cut", 1800, "optimal or 0.5%, 30 min", instance))
        instance = workload(law, 1000, 100, 10)
        table.append(Row(f"{law} (1000, 100, 10)", "min-tco", "lp-bound", 600, "within 1%, 10 min", instance))
    if LASTFM.exists():
        table.append(Row("Last.fm, 200", "min-tco", "branch-and-cut", 1800, "optimal or 1%, 30 min", lastfm(200)))
    else:
        print(f"{LASTFM.name} is absent: its row is skipped")
    return table


def solve(method: str, row: Row, seed: int, limit: float) -> Result[Overlay]:
    return METHODS[method].run(row.make(seed), PROBLEMS[row.problem], seed=seed, time_limit=limit)


def measure(row: Row, seeds: int, limit: float, compact_limit: float) -> str:
    results = [solve(row.method, row, seed, limit) for seed in range(seeds)]
    seconds = statistics.median(result.seconds for result in results)
    gap = statistics.median(1.0 if result.gap is None else result.gap for result in results)
    optimal = sum(result.status == "optimal" for result in results)
    value = statistics.median(result.value or 0 for result in results)
    bound = statistics.median(result.lower_bound or 0 for result in results)
    values = f"{value:g} ≥ {bound:g}"
    notes = []
    if row.method == "lp-bound" and "limit_at_most" in results[0].counters:
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        notes.append(f"the LP's own value ≤ {results[0].counters['limit_at_most']}; at most {memory:.1f} GiB so far")
    for name in row.compact if compact_limit > 0 else ():
        r = solve(name, row, 0, compact_limit)
        times = f"{'' if r.status == 'optimal' else '> '}{r.seconds / max(seconds, 1e-3):.0f} ×"
        notes.append(f"{name}: {r.status} {r.value} ≥ {r.lower_bound} in {r.seconds:.0f} s, {times}")
    note = ", ".join(notes)
    return (
        f"| {row.name} | {row.problem} | {row.method} | {limit:g} s | {optimal} of {seeds} | {values} | {gap:.2%} | "
        f"{seconds:.1f} s | {row.goal} | {note} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--rows", default="", help="numbers from 0, with commas; all by default")
    parser.add_argument("--limit", type=float, default=QUICK, help="seconds a run without --full")
    parser.add_argument("--compact-limit", type=float, default=QUICK, help="seconds for a compact model; 0: none")
    parser.add_argument("--list", action="store_true", help="number the rows and end")
    parser.add_argument(
        "--clock",
        default="wall",
        choices=("wall", "processor"),
        help="the clock of limits and times; processor time for a busy machine",
    )
    asked = parser.parse_args()
    if asked.clock == "processor":
        # Branch-and-cut and lp-bound are one thread: on an idle machine both clocks agree.
        time.perf_counter = time.process_time
    if asked.list:
        for number, row in enumerate(rows()):
            print(number, row.name, row.problem, row.method)
        return
    start = time.perf_counter()
    print("| instances | problem | method | limit | optimal | value ≥ bound | gap | time | goal | note |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for number, row in enumerate(rows()):
        if not asked.rows or str(number) in asked.rows.split(","):
            limit = row.limit if asked.full else min(row.limit, asked.limit)
            print(measure(row, asked.seeds, limit, asked.compact_limit), flush=True)
    print(f"\n{time.perf_counter() - start:.0f} s in all")


if __name__ == "__main__":
    main()
