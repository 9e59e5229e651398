"""Steiner trees: branch-and-cut compared with steinerpy, heuristics with networkx's approximations.

    python -m benchmarks.steiner [--limit 60] [--only b0] [--solvers branch-and-cut,steinerpy]
    python -m benchmarks.steiner --pace Track1 --peer steiner_tree/target/release/track1 [--limit 10]

SteinLib's instances of set B are read from ../shared/data; without them only generated ones run. Times are processor
seconds of one run on one thread from the graph to the tree, with kernels compiled before. Every tree is checked by the
problem.

With `--pace`, a folder of the PACE 2018 challenge (github.com/PACE-challenge/SteinerTree-PACE-2018-instances), its
odd-numbered instances go to branch-and-cut and in turn to a `--peer`, a program that reads an instance from its
standard input and prints `VALUE` with the cost, such as the winner (github.com/wata-orz/steiner_tree). Seconds are the
peer's processor seconds as a process, and ours of reading and of the run. The even-numbered ones are kept for reports.
"""

from __future__ import annotations

import argparse
import itertools
import logging
import math
import os
import re
import resource
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import networkx as nx
import numpy as np

from benchmarks._usage import timed
from overlaybench.instances.contract.catalogue import PROBLEMS, WORKLOADS, methods_of
from overlaybench.instances.contract.overlay import Overlay
from overlaybench.instances.contract.result import Status
from overlaybench.instances.steiner.files import STEINER
from overlaybench.instances.steiner.instance import SteinerInstance
from overlaybench.instances.steiner.workloads import complete_subdivision, hypercube, skutella

STEINER_HEURISTICS = methods_of("overlaybench.heuristics.steiner")
STEINER_MODELS = methods_of("overlaybench.models.steiner")

STEINLIB = Path(__file__).resolve().parents[2] / "shared" / "data" / "steinlib"
PROBLEM = PROBLEMS["steiner"]
WAITING = 2  # times the limit by the clock, for other work on the machine: the limit is of processor seconds
SETS = {100: (125, 200), 500: (625, 1000, 2500, 12500), 1000: (1250, 2000, 5000, 25000)}  # as SteinLib's B, C, D


Run = Callable[[SteinerInstance, float], tuple[Overlay | None, float | None]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=float, default=60, help="seconds a proof")
    parser.add_argument("--only", default="", help="instances whose name contains this text")
    parser.add_argument("--solvers", default=",".join(SOLVERS), help="some of the solvers, by name")
    parser.add_argument("--pace", type=Path, help="a folder of instances of the PACE 2018 challenge")
    parser.add_argument("--peer", type=Path, help="the program to compare with on them")
    chosen = parser.parse_args()
    if chosen.pace:
        compare_on_pace(chosen.pace, chosen.peer, chosen.limit)
        return
    os.environ |= {"STEINERPY_REDUCE_JOBS": "1", "STEINERPY_ASCENT_JOBS": "1"}
    heuristic("mehlhorn")(
        hypercube(dimension=2, costs="unit", seed=0), 0.0
    )  # loads the libraries of the problem's checks
    logging.disable(logging.WARNING)  # steinerpy logs its reductions and limits
    solvers = {name: SOLVERS[name] for name in chosen.solvers.split(",")}
    print(f"| instance | nodes, edges, terminals | {' | '.join(solvers)} |")
    print("| --- " * (len(solvers) + 2) + "|")
    for name, instance in instances():
        if chosen.only in name:
            sizes = f"{instance.num_nodes:,}, {instance.num_edges:,}, {instance.num_terminals:,}"
            cells = (measured(name, instance, solver, run, chosen.limit) for solver, run in solvers.items())
            print(f"| {name} | {sizes} | {' | '.join(cells)} |", flush=True)


def compare_on_pace(folder: Path, peer: Path, limit: float) -> None:
    """A line for each odd-numbered instance; then how many are proven, and the geometric mean of the ratios of seconds.

    What is not proven within the limit, in processor seconds, counts as the limit.
    """
    print("| instance | nodes, edges, terminals | peer | peer's s | ours | reading, s | run, s | pairs |")
    print("| --- " * 8 + "|")
    (method,), proven, ratios = STEINER_MODELS, [0, 0], list[float]()
    for path in sorted(folder.glob("*[13579].gr")):
        value, theirs = peer_run(peer, path, limit)
        loaded, reading = timed(STEINER.read, path, {})
        instance = loaded.instance
        if not ratios:  # compiles the kernels
            method.run(WORKLOADS["steiner-hypercube"].generate(dimension=5, costs="perturbed", seed=1), PROBLEM)
        result, spent = timed(partial(method.run, time_limit=WAITING * limit), instance, PROBLEM)
        is_proven = result.status is Status.OPTIMAL and reading.processor + spent.processor <= limit
        assert not (is_proven and value is not None) or result.value == value, f"{path.stem}: the two differ"
        proven = [proven[0] + (value is not None), proven[1] + is_proven]
        ours = reading.processor + spent.processor if is_proven else limit
        ratios.append(min(ours, limit) / (theirs if value is not None else limit))
        sizes = f"{instance.num_nodes:,}, {instance.num_edges:,}, {instance.num_terminals:,}"
        shown = f"{result.value:g}" if is_proven else f"{result.value:g} ≥ {result.lower_bound:g}"
        pairs = result.counters.get("pairs", "")
        print(
            f"| {path.stem} | {sizes} | {value or 'none'} | {theirs:.3f} | {shown} | {reading.processor:.3f} "
            f"| {spent.processor:.3f} | {pairs} |",
            flush=True,
        )
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"\nproven: peer {proven[0]}, ours {proven[1]} of {len(ratios)}; geometric mean of ours ÷ peer's: {mean:.2f}")


def peer_run(peer: Path, path: Path, limit: float) -> tuple[int | None, float]:
    """The value that a program prints, None beyond the limit, and its processor seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with path.open() as given:
        found = subprocess.run(
            ["prlimit", f"--cpu={math.ceil(limit)}", peer], stdin=given, capture_output=True, text=True, check=False
        )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    value = re.search(r"^VALUE (\d+)", found.stdout, re.MULTILINE)
    return (int(value[1]) if value and seconds <= limit else None), seconds


def instances() -> Iterator[tuple[str, SteinerInstance]]:
    for path in sorted(STEINLIB.glob("*.stp")):
        yield path.stem, STEINER.read(path, {}).instance
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


Random = np.random.Generator
Edges = list[tuple[int, int, int]]


def instance_of(edges: Edges, terminals: int, random: Random) -> SteinerInstance:
    """So many terminals at random in the largest component."""
    component = max(nx.connected_components(nx.Graph(edge[:2] for edge in edges)), key=len)
    chosen = random.choice(sorted(component), size=min(terminals, len(component)), replace=False)
    return SteinerInstance.from_edges(1 + max(max(edge[:2]) for edge in edges), edges, chosen.tolist())


def random_graph(random: Random, seed: int) -> SteinerInstance:
    nodes = int(random.choice([500, 1000, 2000]))
    edges, terminals = int(nodes * random.choice([1.25, 2, 5])), int(nodes / random.choice([4, 6, 20, 100]))
    given = {"nodes": nodes, "edges": edges, "terminals": terminals, "seed": seed}
    instance: SteinerInstance = WORKLOADS["steiner-sparse"].generate(**given)
    return instance


def geometric(random: Random, seed: int) -> SteinerInstance:
    """Points in the unit square, joined up to a distance within which most have a dozen neighbours."""
    at = random.random((int(random.integers(300, 801)), 2))
    apart = np.linalg.norm(at[:, None] - at, axis=2)
    near = np.argwhere(np.triu(apart < np.sqrt(4 / len(at)), k=1)).tolist()
    return instance_of([(u, v, 1 + int(1000 * apart[u, v])) for u, v in near], len(at) // 6, random)


def grid_with_holes(random: Random, seed: int) -> SteinerInstance:
    """Lines at random distances, without the crossings in some rectangles, as in the layout of circuits."""
    width, height = random.integers(25, 46, size=2).tolist()
    columns, rows = random.integers(1, 21, size=(2, 46)).tolist()
    is_open = np.ones((width, height), bool)
    for x, y, right, down in random.integers((0, 0, 3, 3), (width, height, 10, 10), size=(10, 4)).tolist():
        is_open[x : x + right, y : y + down] = False
    pairs = [(a, b) for a, b in nx.grid_2d_graph(width, height).edges if is_open[a] and is_open[b]]
    edges = [(x * height + y, a * height + b, columns[x] if a > x else rows[y]) for (x, y), (a, b) in pairs]
    return instance_of(edges, int(random.integers(30, 91)), random)


def perturbed_hypercube(random: Random, seed: int) -> SteinerInstance:
    return hypercube(dimension=int(random.choice([5, 6, 7])), costs="perturbed", seed=seed)


def set_cover(random: Random, seed: int) -> SteinerInstance:
    """Terminals, and five times as many other nodes, each joined to four terminals, as PUC's bip42."""
    k = int(random.integers(30, 121))
    pairs = [(t, v) for v in range(k, 6 * k) for t in random.choice(k, size=4, replace=False).tolist()]
    return SteinerInstance.from_edges(6 * k, [(*p, int(random.integers(100, 111))) for p in pairs], range(k))


def code_cover(random: Random, seed: int) -> SteinerInstance:
    """Words, joined if they differ in one letter; the terminals are within one letter of every word, as PUC's cc."""
    letters, length = random.choice([(2, 6), (2, 7), (2, 8), (3, 4), (3, 5), (4, 3), (4, 4)]).tolist()
    steps = itertools.product(range(letters**length), (letters**place for place in range(length)))
    pairs = [(w, w + more * step) for w, step in steps for more in range(1, letters - w // step % letters)]
    graph, code = nx.Graph(pairs), list[int]()
    uncovered, order = set(graph), random.permutation(letters**length).tolist()
    while uncovered:
        code.append(max(order, key=lambda word: len(uncovered & {word, *graph[word]})))
        uncovered -= {code[-1], *graph[code[-1]]}
    return SteinerInstance.from_edges(len(order), [(*p, int(random.integers(100, 111))) for p in pairs], code)


def nested_gadgets(random: Random, seed: int) -> SteinerInstance:
    """As Skutella's graph of depth 2, of gadgets of random sizes whose points are each joined to random nodes."""
    edges, above, n, dearest = Edges(), [[0]], 1, int(random.choice([1, 3]))
    for _ in range(2):
        below = []
        for upper in above:
            size, points = random.integers(5, 9, size=2).tolist()
            edges += [(u, n + v, int(random.integers(1, dearest + 1))) for u in upper for v in range(size)]
            below += [(n + random.choice(size, size // 2 + 1, replace=False)).tolist() for _ in range(points)]
            n += size
        above = below
    edges += [(u, n + point, 1) for point, upper in enumerate(above) for u in upper]
    return SteinerInstance.from_edges(n + len(above), edges, [0, *range(n, n + len(above))])


MAKERS = (random_graph, geometric, grid_with_holes, perturbed_hypercube, set_cover, code_cover, nested_gadgets)
"""Of the shapes of instances on which `benchmarks.searches` compares trees of this project."""


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


def measured(name: str, instance: SteinerInstance, solver: str, run: Run, limit: float) -> str:
    """Value, bound if it is not the value, and processor seconds."""
    (answer, bound), spent = timed(run, instance, limit)
    if answer is None:
        return f"none in {spent.processor:.3f} s"
    violations = PROBLEM.violations(instance, answer)
    assert not violations, f"{solver} on {name}: {violations[0]}"
    value = PROBLEM.value(instance, answer)
    proven = "" if bound is None or bound >= value - 1e-6 * value else f" ≥ {bound:.1f}"
    return f"{value:g}{proven} in {spent.processor:.3f} s"


if __name__ == "__main__":
    main()
