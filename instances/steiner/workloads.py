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
)
