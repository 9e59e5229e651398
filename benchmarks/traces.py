"""Events a processor second, links, changes and memory of incremental repair, beside Greedy Merge from scratch."""

from __future__ import annotations

import sys
from functools import partial

import numpy as np

import overlaybench as ob
from benchmarks._usage import timed
from overlaybench.heuristics.over_time.incremental_merge import log_of, repaired_over, started
from overlaybench.heuristics.over_time.kernels.living_overlay import LivingOverlay, overlay_of
from overlaybench.heuristics.topics.greedy_merge import greedy_merge

SIZES = {
    "small": ((1_000, 100, 10, 2_000),),
    "": ((10_000, 200, 10, 10_000), (100_000, 1_000, 10, 10_000)),
}


def main() -> None:
    """Print a row for each size, mix of events and number of candidates; ``small`` takes seconds, else minutes."""
    print(
        "|V| |T| topics events interests | candidates | events/s | from scratch/s | links ÷ from scratch "
        "| changes an event | bytes a subscription, of the instance"
    )
    for nodes, topics, subscriptions, events in SIZES[" ".join(sys.argv[1:])]:
        for interests in (0.5, 1.0):
            given = {"nodes": nodes, "topics": topics, "subscriptions": subscriptions, "interests": interests}
            trace = ob.generate("churn", events=events, seed=1, **given)
            last = next(trace.snapshots(trace.num_steps - 1))
            assert last is not None
            merged, again = timed(greedy_merge, last)
            first = started(trace)
            static = sum(array.nbytes for array in vars(last).values() if isinstance(array, np.ndarray))
            per = len(trace.node_topics)
            for moves in (0, 4, 8, 12, 16):
                repaired_over(trace.trial(), started(trace.trial()), moves=moves)  # compiles
                living = LivingOverlay._make(array.copy() if array.flags.writeable else array for array in first)
                (rows, living), spent = timed(partial(repaired_over, moves=moves), trace, living)
                memory = sum(array.nbytes for array in living) + 5 * trace.num_nodes  # and work space
                changes = log_of(trace, overlay_of(first).edges, rows).num_changes - int(first.numbers[0])
                print(
                    f"{nodes} {topics} {subscriptions} {events} {interests} | {moves} | {events / spent.processor:.0f} "
                    f"| {1 / again.processor:.1f} | {int(living.numbers[0]) / merged.num_edges:.3f} "
                    f"| {changes / events:.2f} | {memory / per:.0f}, {static / last.num_subscriptions:.0f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
