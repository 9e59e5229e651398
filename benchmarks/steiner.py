"""Steiner trees: branch-and-cut compared with steinerpy and SCIP, heuristics with networkx's approximations.

    python -m benchmarks.steiner [--limit 60] [--only b0] [--solvers branch-and-cut,scip] [--out steiner.csv]

SCIP gets the directed cut model, whose cuts are separated by our minimum cuts (package pyscipopt). SteinLib's instances
of set B are read from ../shared/data; without them only generated ones run. Times are processor seconds of one run on
one thread from the graph to the tree, with kernels compiled before. Every tree is checked by the problem.
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
from importlib import import_module
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt

from overlaybench.instances.contract.catalogue import PROBLEMS, WORKLOADS, methods_of
from overlaybench.instances.contract.overlay import Overlay
from overlaybench.instances.steiner.files import read_stp
from overlaybench.instances.steiner.instance import SteinerInstance
from overlaybench.instances.steiner.workloads import complete_subdivision, hypercube, skutella
from overlaybench.models.engine.minimum_cuts import minimum_cut, network_of

STEINER_HEURISTICS = methods_of("overlaybench.heuristics.steiner")
STEINER_MODELS = methods_of("overlaybench.models.steiner")

STEINLIB = Path(__file__).resolve().parents[2] / "shared" / "data" / "steinlib"
PROBLEM = PROBLEMS["steiner"]
SETS = {100: (125, 200), 500: (625, 1000, 2500, 12500), 1000: (1250, 2000, 5000, 25000)}  # as SteinLib's B, C, D


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
    parser.add_argument("--solvers", default=",".join(SOLVERS), help="some of the solvers, by name")
    parser.add_argument("--out", type=Path, help="also write the rows as CSV")
    chosen = parser.parse_args()
    os.environ |= {"STEINERPY_REDUCE_JOBS": "1", "STEINERPY_ASCENT_JOBS": "1"}
    heuristic("mehlhorn")(
        hypercube(dimension=2, costs="unit", seed=0), 0.0
    )  # loads the libraries of the problem's checks
    logging.disable(logging.WARNING)  # steinerpy logs its reductions and limits
    rows: list[Row] = []
    solvers = {name: SOLVERS[name] for name in chosen.solvers.split(",")}
    print(f"| instance | nodes, edges, terminals | {' | '.join(solvers)} |")
    print("| --- " * (len(solvers) + 2) + "|")
    for name, instance in instances():
        if chosen.only in name:
            rows += [measured(name, instance, solver, run, chosen.limit) for solver, run in solvers.items()]
            print(line(rows[-len(solvers) :]), flush=True)
    if chosen.out:
        with chosen.out.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([field.name for field in fields(Row)])
            writer.writerows([getattr(row, field.name) for field in fields(Row)] for row in rows)


def instances() -> Iterator[tuple[str, SteinerInstance]]:
    for path in sorted(STEINLIB.glob("*.stp")):
        yield path.stem, read_stp(path)
    for nodes, densities in SETS.items():
        for edges, terminals in itertools.product(densities, (5, 10, nodes // 6, nodes // 4, nodes // 2)):
            given = {"nodes": nodes, "edges": edges, "terminals": terminals, "seed": 1}
            yield f"sparse {nodes} {edges} {terminals}", WORKLOADS["steiner-sparse"].generate(**given)
    for dimension, costs in itertools.product((4, 5, 6), ("unit", "perturbed")):
        yield f"hypercube {dimension} {costs}", hypercube(dimension=dimension, costs=costs, seed=1)
    for size in (11, 12, 13):
        yield f"csd{size}", complete_subdivision(size=size, seed=0)
    for depth in (1, 2):
        yield f"skutella {depth}", skutella(depth=depth, seed=0)


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


def scip(instance: SteinerInstance, limit: float) -> tuple[Overlay | None, float | None]:
    """SCIP's defaults on the directed cut model, on one thread."""
    pyscipopt: Any = import_module("pyscipopt")  # a yardstick, installed by hand

    model = pyscipopt.Model()
    model.hideOutput()
    model.setParam("limits/time", limit)
    model.setParam("misc/usesymmetry", 0)  # the constraint handler does not tell SCIP about symmetry
    model.setObjIntegral()
    ends = instance.edges.astype(np.int64)
    tails, heads = np.concatenate([ends, ends[:, ::-1]]).T
    arcs = [model.addVar(vtype="B", obj=int(cost)) for cost in np.tile(instance.costs, 2)]
    root, *targets = instance.terminals.tolist()
    for v in range(instance.num_nodes):
        into = pyscipopt.quicksum(arcs[a] for a in np.flatnonzero(heads == v))
        out = pyscipopt.quicksum(arcs[a] for a in np.flatnonzero(tails == v))
        model.addCons(into <= int(v != root))
        if v not in instance.terminals:
            model.addCons(out - into >= 0)
    network = network_of(instance.num_nodes, tails, heads)

    class Cuts(pyscipopt.Conshdlr):  # type: ignore[misc]
        def cuts(self, solution: object) -> Iterator[npt.NDArray[np.int64]]:
            x = np.clip([model.getSolVal(solution, arc) for arc in arcs], 0.0, 1.0)
            for target in targets:
                for side in minimum_cut(network, x, root, target, 1 - 1e-6) or ():
                    crossing = np.flatnonzero(side[tails] & ~side[heads])
                    x[crossing] = 1.0
                    yield crossing

        def added(self, otherwise: int) -> dict[str, int]:
            found = list(self.cuts(None))
            for crossing in found:
                model.addCons(pyscipopt.quicksum(arcs[a] for a in crossing) >= 1, initial=False)
            return {"result": pyscipopt.SCIP_RESULT.CONSADDED if found else otherwise}

        def conscheck(self, constraints: object, solution: object, *_flags: object, **_more: object) -> dict[str, int]:
            bad = next(self.cuts(solution), None) is not None
            return {"result": pyscipopt.SCIP_RESULT.INFEASIBLE if bad else pyscipopt.SCIP_RESULT.FEASIBLE}

        def consenfolp(self, *_: object) -> dict[str, int]:
            return self.added(pyscipopt.SCIP_RESULT.FEASIBLE)

        def conssepalp(self, *_: object) -> dict[str, int]:
            return self.added(pyscipopt.SCIP_RESULT.DIDNOTFIND)

        def conslock(self, constraint: object, kind: object, positive: int, negative: int) -> None:
            for arc in arcs:
                model.addVarLocksType(arc, kind, positive, negative)

    model.includeConshdlr(
        Cuts(), "cuts", "directed cuts", sepapriority=0, enfopriority=-1, chckpriority=-1, sepafreq=1, needscons=False
    )
    model.optimize()
    bound = float(model.getDualbound())
    if not model.getNSols():
        return None, bound
    used = [a for a in range(len(arcs)) if model.getVal(arcs[a]) > 0.5]
    graph = nx.Graph([(int(tails[a]), int(heads[a])) for a in used])
    return Overlay.from_edges(instance.num_nodes, list(nx.bfs_edges(graph, root))), bound


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
    "scip": scip,
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
