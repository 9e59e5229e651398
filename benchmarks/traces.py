"""Events a second, links and changes of incremental repair, beside Greedy Merge from scratch, in processor time."""

from __future__ import annotations

import sys
import time
from itertools import islice

import overlaybench as ob
from overlaybench.heuristics.topics.greedy_merge import greedy_merge
from overlaybench.heuristics.topics.incremental_merge import repaired_over, started

SIZES = {
    "small": ((1_000, 100, 10, 2_000),),
    "": ((10_000, 200, 10, 10_000), (100_000, 1_000, 10, 10_000)),
}


def main() -> None:
    """Print a row for each size and mix of events; ``small`` takes seconds, without an argument minutes."""
    print("|V| |T| topics events interests | events/s | from scratch/s | links ÷ from scratch | changes an event")
    for nodes, topics, subscriptions, events in SIZES[" ".join(sys.argv[1:])]:
        for interests in (0.5, 1.0):
            given = {"nodes": nodes, "topics": topics, "subscriptions": subscriptions, "interests": interests}
            trace = ob.generate("churn", events=events, seed=1, **given)
            repaired_over(trace.trial(), started(trace.trial()))  # compiles
            living = started(trace)
            begin = time.process_time()
            rows = repaired_over(trace, living)
            seconds = time.process_time() - begin
            last = next(islice(trace.snapshots(), trace.num_steps - 1, None))
            begin = time.process_time()
            scratch = greedy_merge(last).num_edges
            again = time.process_time() - begin
            print(
                f"{nodes} {topics} {subscriptions} {events} {interests} | {events / seconds:.0f} | {1 / again:.1f} "
                f"| {int(living.numbers[0]) / scratch:.3f} | {len(rows) / events:.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
