"""Hypercubes as Steiner instances."""

from __future__ import annotations

import pytest

from overlaybench.instances.catalogue import WORKLOADS
from overlaybench.instances.steiner.workloads import hypercube


@pytest.mark.parametrize("dimension", [1, 2, 3, 6])
def test_a_hypercube_has_a_terminal_at_every_other_corner(dimension: int) -> None:
    instance = hypercube(dimension=dimension, costs="unit", seed=0)
    assert instance.num_nodes == 2**dimension
    assert instance.num_edges == dimension * 2 ** (dimension - 1)
    terminals = set(instance.terminals.tolist())
    assert len(terminals) == instance.num_nodes // 2
    assert all((u in terminals) != (v in terminals) for u, v in instance.edges.tolist())
    assert set(instance.costs.tolist()) == {1}


def test_perturbed_costs_are_drawn_by_the_seed() -> None:
    cubes = [WORKLOADS["steiner-hypercube"].generate(dimension=4, costs="perturbed", seed=seed) for seed in (1, 1, 2)]
    assert cubes[0].digest == cubes[1].digest != cubes[2].digest
    assert all(100 <= cost <= 110 for cost in cubes[0].costs.tolist())
