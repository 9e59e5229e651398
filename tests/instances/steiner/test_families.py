"""Hypercubes, subdivided complete graphs and Skutella's graphs as Steiner instances."""

from __future__ import annotations

import itertools

import pytest

from overlaybench.instances.contract.catalogue import WORKLOADS
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


@pytest.mark.parametrize(("size", "nodes", "edges", "terminals"), [(2, 3, 2, 1), (11, 66, 110, 55), (13, 91, 156, 78)])
def test_subdivided_complete_graphs_have_the_published_sizes(size: int, nodes: int, edges: int, terminals: int) -> None:
    instance = WORKLOADS["steiner-subdivision"].generate(size=size)
    assert (instance.num_nodes, instance.num_edges, instance.num_terminals) == (nodes, edges, terminals)
    graph = instance.to_networkx()
    assert {graph.degree[t] for t in instance.terminals.tolist()} == {2}
    assert len({frozenset(graph[t]) for t in instance.terminals.tolist()}) == terminals


@pytest.mark.parametrize(
    ("depth", "nodes", "edges", "terminals"), [(1, 15, 35, 8), (2, 106, 399, 50), (3, 743, 2947, 344)]
)
def test_skutellas_graphs_have_the_published_sizes(depth: int, nodes: int, edges: int, terminals: int) -> None:
    instance = WORKLOADS["steiner-skutella"].generate(depth=depth)
    assert (instance.num_nodes, instance.num_edges, instance.num_terminals) == (nodes, edges, terminals)
    assert set(instance.costs.tolist()) == {1}
    graph = instance.to_networkx()
    assert all(len(graph[t]) == 4 for t in instance.terminals.tolist()[1:])


def test_two_of_skutellas_nodes_always_miss_a_point() -> None:
    graph = WORKLOADS["steiner-skutella"].generate(depth=1).to_networkx()
    sets = [set(graph[v]) - {0} for v in graph[0]]
    assert all(len(a | b) == 6 for a, b in itertools.combinations(sets, 2))
    assert any(len(a | b | c) == 7 for a, b, c in itertools.combinations(sets, 3))
