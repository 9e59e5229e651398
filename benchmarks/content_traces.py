"""Cost ÷ proven optima of snapshots and moves a time of events, by how often brokers migrate and what users know."""

from __future__ import annotations

import sys
import time
from typing import Any

import overlaybench as ob
from overlaybench.compare.intervals import mean_interval

SHAPE = {"users": 10, "brokers": 4, "intervals": 3, "width": 0.3, "access_to_core": 0.25}
WORKLOADS: dict[str, dict[str, Any]] = {
    "content-churn": {"events": 16},
    "content-diurnal": {"day": 24.0},  # a second for an hour
    "broker-failures": {"count": 8, "every": 20.0, "repair": 20.0},
}
METHODS: list[tuple[str, dict[str, Any]]] = [
    *(("stay", {}), ("mixing-recomputed", {})),
    *(("migrating", {"period": period}) for period in (1, 5, 20)),
    *(("migrating", {"period": 5, "knows": knows}) for knows in (3, 2, 1)),
    ("migrating", {"period": 5, "heaviest": 1}),
]


def main() -> None:
    """Print a row for each workload and method: means over seeds (20 by default) with their 95% intervals."""
    problem = ob.PROBLEMS["dynamic-content"]
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    for workload, given in WORKLOADS.items():
        found = dict[str, list[tuple[float, float, float]]]()
        begin, snapshots, proven = time.process_time(), 0, 0
        for seed in range(seeds):
            trace = ob.generate(workload, seed=seed, **SHAPE, **given)
            optima = ob.METHODS["snapshot-optima"].run(trace, problem, progress="off")
            if optima.value is None:
                print(f"{workload} seed {seed}: {optima.status} {optima.reason}")
                continue
            snapshots += int(optima.counters["snapshots"])
            proven += int(optima.counters["optimal_snapshots"])
            for name, options in [("snapshot-optima", {}), *METHODS]:
                is_again = name == "snapshot-optima"
                run = optima if is_again else ob.METHODS[name].run(trace, problem, seed=seed, **options)
                label = " ".join([name, *(f"{key}={value}" for key, value in options.items())])
                if run.value is None or not optima.lower_bound:
                    print(f"{workload} seed {seed} {label}: {run.status} {run.reason}")
                    continue
                messages = float(run.counters.get("messages", 0)) / max(1, trace.num_events)
                moves = run.measures["recourse"] * trace.num_events / max(1, trace.num_steps - 1)
                found.setdefault(label, []).append((run.value / optima.lower_bound, moves, messages))
        seconds = time.process_time() - begin
        print(f"{workload}: {proven} of {snapshots} snapshots proven, {seconds:.0f} processor seconds in all")
        for label, rows in found.items():
            ratio, moves, messages = (mean_interval([row[k] for row in rows]) for k in range(3))
            print(
                f"{label} | {len(rows)} | {ratio.mean:.4f} [{ratio.low:.4f}, {ratio.high:.4f}] | {moves.mean:.3f} "
                f"[{moves.low:.3f}, {moves.high:.3f}] | {messages.mean:.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
