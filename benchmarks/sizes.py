"""What the default method has of files of 100 to 1,000,000 rows within a limit: ``python -m benchmarks.sizes``."""

from __future__ import annotations

import os

import click

import overlaybench as ob
from overlaybench.compare.studies.isolation import MIB, Job, Solver

PROBLEM = "min-tco"


@click.command()
@click.option("--rows", "sizes", multiple=True, type=int, default=(100, 1_000, 10_000, 100_000), show_default=True)
@click.option("--time-limit", default=20.0, show_default=True, help="Seconds for each size.")
def main(sizes: tuple[int, ...], time_limit: float) -> None:
    """Print a line for each size: Zipf subscriptions, ten a node, to a tenth as many topics as nodes."""
    print("| rows | method | seconds | MiB | value | lower bound | gap | value by | bound by | load |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for rows in sizes:
        nodes = rows // 10
        instance = ob.generate("zipf", nodes=nodes, topics=max(10, nodes // 10), subscriptions=10, seed=7)
        for name in ("gm", "auto"):
            job = Job(ob.METHODS[name], instance, ob.PROBLEMS[PROBLEM], 0, {}, time_limit, None)
            with Solver() as solver:
                run = solver.run(job)
            one, found = run.result, run.result.counters
            gap = "" if one.gap is None else f"{one.gap:.2%}"
            cells = (rows, name, f"{one.seconds:.1f}", round(run.peak / MIB), one.value, one.lower_bound or "–", gap)
            load = f"{os.getloadavg()[0]:.0f}"
            print("|", " | ".join(map(str, (*cells, found.get("value_by", ""), found.get("bound_by", ""), load))), "|")


if __name__ == "__main__":
    main()
