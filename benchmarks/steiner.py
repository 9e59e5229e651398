"""Steiner trees: branch-and-cut compared with the package steinerpy, heuristics with networkx's approximations.

    python -m benchmarks.steiner [--limit 60] [--only b0] [--out steiner.csv]

SteinLib's instances of set B are read from ../shared/data; without them only generated ones run. Times are processor
seconds of one run on one thread from the graph to the tree, with kernels compiled before. Every tree is checked by the
problem.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import logging
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path

import networkx as nx

from overlaybench.instances.catalogue import PROBLEMS, WORKLOADS, methods_of
from overlaybench.instances.overlay import Overlay
from overlaybench.instances.steiner.files import read_stp
from overlaybench.instances.steiner.instance import SteinerInstance

STEINER_HEURISTICS = methods_of("overlaybench.heuristics.steiner")
STEINER_MODELS = methods_of("overlaybench.models.steiner")

STEINLIB = Path(__file__).resolve().parents[2] / "shared" / "data" / "steinlib"
PROBLEM = PROBLEMS["steiner"]


@dataclass(frozen=True)
class Row:
    """The outcome of one solver on one instance; `bound` is None if nothing is proven."""

    instance: str
    nodes: int
    edges: int
    terminals: int
    solver: str
    value: float | None
    bound: float | None
    seconds: float
    cpu: float


Run = Callable[[SteinerInstance, float], tuple[Overlay | None, float | None]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=float, default=60, help="seconds a proof")
    parser.add_argument("--only", default="", help="instances whose name contains this text")
    parser.add_argument("--out", type=Path, help="also write the rows as CSV")
    chosen = parser.parse_args()
    os.environ |= {"STEINERPY_REDUCE_JOBS": "1", "STEINERPY_ASCENT_JOBS": "1"}
    for method in (*STEINER_MODELS, *STEINER_HEURISTICS):
        if method.warm_up is not None:
            method.warm_up()
    heuristic("mehlhorn")(hypercube(2), 0.0)  # loads the libraries of the problem's checks
    logging.disable(logging.WARNING)  # steinerpy logs its reductions and limits
    rows: list[Row] = []
    print(f"| instance | nodes, edges, terminals | {' | '.join(SOLVERS)} |")
    print("| --- " * (len(SOLVERS) + 2) + "|")
    for name, instance in instances():
        if chosen.only in name:
            rows += [measured(name, instance, solver, run, chosen.limit) for solver, run in SOLVERS.items()]
            print(line(rows[-len(SOLVERS) :]), flush=True)
    if chosen.out:
        with chosen.out.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([field.name for field in fields(Row)])
            writer.writerows([getattr(row, field.name) for field in fields(Row)] for row in rows)


def instances() -> Iterator[tuple[str, SteinerInstance]]:
    for path in sorted(STEINLIB.glob("*.stp")):
        yield path.stem, read_stp(path)
    for nodes, edges, terminals in ((100, 200, 17), (500, 625, 83), (500, 1000, 83), (500, 2500, 83)):
        given = {"nodes": nodes, "edges": edges, "terminals": terminals, "seed": 1}
        yield f"sparse {nodes} {edges} {terminals}", WORKLOADS["steiner-sparse"].generate(**given)
    for dimension in (4, 5, 6):
        yield f"hypercube {dimension}", hypercube(dimension)


def hypercube(dimension: int) -> SteinerInstance:
    """Equal costs, every second corner a terminal, as in SteinLib's set HC: nothing to reduce, and a gap in the LP."""
    corners = range(2**dimension)
    edges = [(v, v ^ 1 << k, 1) for v, k in itertools.product(corners, range(dimension)) if not v >> k & 1]
    return SteinerInstance.from_edges(2**dimension, edges, [v for v in corners if v.bit_count() % 2 == 0])


def branch_and_cut(instance: SteinerInstance, limit: float) -> tuple[Overlay | None, float | None]:
    (method,) = STEINER_MODELS
    result = method.run(instance, PROBLEM, time_limit=limit)
    return result.answer, result.lower_bound


def steinerpy(instance: SteinerInstance, limit: float) -> tuple[Overlay | None, float | None]:
    """The package's defaults: reductions, then directed cuts on HiGHS."""
    from steinerpy import SteinerProblem  # type: ignore[import-untyped]

    problem = SteinerProblem(instance.to_networkx(), [instance.terminals.tolist()])
    try:
        found = problem.get_solution(time_limit=limit, threads=1)
    except RuntimeError:  # stopped without a tree
        return None, None
    return Overlay.from_edges(instance.num_nodes, list(found.edges)), max(0.0, found.objective * (1 - found.gap))


def heuristic(name: str) -> Run:
    method = next(method for method in STEINER_HEURISTICS if method.name == name)
    return lambda instance, limit: (method.run(instance, PROBLEM).answer, None)


def networkx(algorithm: str) -> Run:
    def run(instance: SteinerInstance, limit: float) -> tuple[Overlay | None, float | None]:
        tree = nx.approximation.steiner_tree(instance.to_networkx(), instance.terminals.tolist(), method=algorithm)
        return Overlay.from_edges(instance.num_nodes, list(tree.edges)), None

    return run


SOLVERS: dict[str, Run] = {
    "branch-and-cut": branch_and_cut,
    "steinerpy": steinerpy,
    **{method.name: heuristic(method.name) for method in STEINER_HEURISTICS},
    "networkx mehlhorn": networkx("mehlhorn"),
    "networkx kou": networkx("kou"),
}


def measured(name: str, instance: SteinerInstance, solver: str, run: Run, limit: float) -> Row:
    start, start_cpu = time.perf_counter(), time.process_time()
    answer, bound = run(instance, limit)
    seconds, cpu = time.perf_counter() - start, time.process_time() - start_cpu
    value = None
    if answer is not None:
        violations = PROBLEM.violations(instance, answer)
        assert not violations, f"{solver} on {name}: {violations[0]}"
        value = PROBLEM.value(instance, answer)
    size = (instance.num_nodes, instance.num_edges, instance.num_terminals)
    return Row(name, *size, solver, value, bound, seconds, cpu)


def line(rows: list[Row]) -> str:
    """An instance: value, bound if it is not the value, and seconds of each solver."""
    first = rows[0]
    sizes = f"{first.nodes:,}, {first.edges:,}, {first.terminals:,}"
    return f"| {first.instance} | {sizes} | " + " | ".join(written(row) for row in rows) + " |"


def written(row: Row) -> str:
    value = "none" if row.value is None else f"{row.value:g}"
    if row.bound is not None and row.value is not None and row.bound < row.value - 1e-6 * row.value:
        value += f" ≥ {row.bound:.1f}"
    return f"{value} in {row.cpu:.3f} s"


if __name__ == "__main__":
    main()
