"""Random Steiner tree instances."""

from __future__ import annotations

import itertools

import numpy as np

from ..contract.errors import BadInput
from ..contract.option import Option
from ..contract.workload import Workload
from .instance import SteinerInstance


def _sparse(*, nodes: int, edges: int, terminals: int, dearest: int, seed: int) -> SteinerInstance:
    """A random recursive tree with random further edges; costs uniform on 1…dearest."""
    if not nodes - 1 <= edges <= nodes * (nodes - 1) // 2:
        raise BadInput(f"{edges} edges on {nodes} nodes: choose from {nodes - 1} to {nodes * (nodes - 1) // 2}")
    if terminals > nodes:
        raise BadInput(f"{terminals} terminals on {nodes} nodes: choose fewer")
    draw = np.random.default_rng(seed)
    pairs = {(int(draw.integers(v)), v) for v in range(1, nodes)}
    while len(pairs) < edges:
        u, v = (int(end) for end in draw.integers(nodes, size=2))
        if u != v:
            pairs.add((min(u, v), max(u, v)))
    costs = draw.integers(1, dearest, size=len(pairs), endpoint=True).tolist()
    listed = [(u, v, cost) for (u, v), cost in zip(sorted(pairs), costs, strict=True)]
    return SteinerInstance.from_edges(nodes, listed, draw.permutation(nodes)[:terminals].tolist())


def hypercube(*, dimension: int, costs: str, seed: int) -> SteinerInstance:
    """The hypercube: corners, edges between those that differ in one digit, and every other corner as terminal.

    Instances hc6u, hc6p, … of SteinLib (Rosseti, Poggi de Aragão, Ribeiro, Uchoa, Werneck 2001): costs 1, or uniform on
    100…110, which break symmetry. The terminals are the corners with an even number of digits 1.
    """
    draw = np.random.default_rng(seed)
    pairs = [(u, u | 1 << k) for u in range(2**dimension) for k in range(dimension) if not u >> k & 1]
    drawn = draw.integers(100, 110, size=len(pairs), endpoint=True).tolist()
    listed = [(u, v, 1 if costs == "unit" else cost) for (u, v), cost in zip(pairs, drawn, strict=True)]
    terminals = [u for u in range(2**dimension) if u.bit_count() % 2 == 0]
    return SteinerInstance.from_edges(2**dimension, listed, terminals)


def complete_subdivision(*, size: int, seed: int) -> SteinerInstance:
    """The complete graph on `size` nodes with a terminal on each edge, all costs 1.

    Instances csd02 to csd15 of the 11th DIMACS implementation challenge. A tree needs the nodes of a vertex cover of
    the complete graph, all but one, where the directed cut relaxation pays for about half of them. From size 3 on the
    optimum is size(size + 1)/2 − 2.
    """
    pairs = list(itertools.combinations(range(size), 2))
    edges = [(end, size + number, 1) for number, pair in enumerate(pairs) for end in pair]
    return SteinerInstance.from_edges(size + len(pairs), edges, range(size, size + len(pairs)))


def skutella(*, depth: int, seed: int) -> SteinerInstance:
    """Skutella's graph (depth 1) and its nesting, all costs 1; the optimum is (3·7^depth − 1)/2.

    Seven nodes are joined to the root, and each point of the Fano plane to the four of them whose line does not contain
    it; every two lines meet, so three nodes are needed for all points, where the directed cut relaxation pays for 7/4.
    From one depth to the next, each point is replaced by seven nodes with seven points of their own (Byrka, Grandoni,
    Rothvoß, Sanità 2013, https://doi.org/10.1145/2432622.2432628). Instances s1 to s5 of the 11th DIMACS implementation
    challenge. Points and lines are the nonzero vectors of three bits, incident if orthogonal.
    """
    incident = [(a - 1, b - 1) for a in range(1, 8) for b in range(1, 8) if (a & b).bit_count() % 2]
    edges, above, count = [], [[0]], 1
    for _ in range(depth):
        below = []
        for upper in above:
            nodes = range(count, count + 7)
            count += 7
            edges += [(u, v, 1) for u in upper for v in nodes]
            below += [[nodes[b] for a, b in incident if a == point] for point in range(7)]
        above = below
    edges += [(u, count + point, 1) for point, upper in enumerate(above) for u in upper]
    return SteinerInstance.from_edges(count + len(above), edges, [0, *range(count, count + len(above))])


STEINER_WORKLOADS: tuple[Workload[SteinerInstance], ...] = (
    Workload(
        "steiner-sparse",
        "a random tree and random edges, uniform costs, random terminals, as in SteinLib's sets B to E",
        "Beasley 1989",
        (
            Option("nodes", 500, "n", least=1, most=10**6),
            Option("edges", 1000, "m", least=0, most=10**7),
            Option("terminals", 83, "k", least=1, most=10**6),
            Option("dearest", 10, "the largest cost", least=1, most=10**6),
        ),
        _sparse,
        "steiner",
    ),
    Workload(
        "steiner-hypercube",
        "hypercubes with every other corner as terminal, hard for their symmetry",
        "SteinLib, set HC (Rosseti et al. 2001)",
        (
            Option("dimension", 4, "d, for 2^d nodes and d 2^(d−1) edges", least=1, most=16),
            Option("costs", "unit", "1, or uniform on 100…110", choices=("unit", "perturbed")),
        ),
        hypercube,
        "steiner",
    ),
    Workload(
        "steiner-subdivision",
        "complete graphs with a terminal on each edge: a gap of the directed cut relaxation, and symmetry",
        "11th DIMACS challenge 2014, csd",
        (Option("size", 11, "nodes of the complete graph", least=2, most=1000),),
        complete_subdivision,
        "steiner",
    ),
    Workload(
        "steiner-skutella",
        "Skutella's graph, nested: the directed cut relaxation has a gap of 8/7 and more",
        "Byrka et al. 2013",
        (Option("depth", 2, "for 7^depth + 1 terminals", least=1, most=6),),
        skutella,
        "steiner",
    ),
)
