"""Random Steiner tree instances."""

from __future__ import annotations

import numpy as np

from ..errors import BadInput
from ..option import Option
from ..workload import Workload
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
)
