"""Least costs of Steiner trees, written without the methods' code: every set of nodes with its spanning tree."""

import random
from functools import partial
from itertools import combinations

import networkx as nx
import numpy as np

from overlaybench.instances.steiner import workloads
from overlaybench.instances.steiner.instance import SteinerInstance


def least_cost(instance: SteinerInstance) -> int | None:
    """The cost of a cheapest tree, or None if the terminals are not connected. Exponential in the other nodes."""
    terminals, graph, costs = set(instance.terminals.tolist()), weighted(instance), []
    others = [v for v in range(instance.num_nodes) if v not in terminals]
    for size in range(len(others) + 1):
        for chosen in combinations(others, size):
            part = graph.subgraph(terminals | set(chosen))
            if nx.is_connected(part):
                costs.append(int(nx.minimum_spanning_tree(part).size("weight")))
    return min(costs, default=None)


def weighted(instance: SteinerInstance) -> "nx.Graph[int]":
    """The graph with the costs as weights."""
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(instance.num_nodes))
    graph.add_weighted_edges_from(np.column_stack([instance.edges, instance.costs]).tolist())
    return graph


def small_graph(seed: int, *, most_nodes: int = 9, dearest: int = 6) -> SteinerInstance:
    """A random graph, sparse or dense, not always connected, with ties and costs of 0."""
    draw = random.Random(seed)
    nodes = draw.randint(1, most_nodes)
    density = draw.choice([0.3, 0.5, 0.8])
    edges = [(u, v, draw.randint(0, dearest)) for u, v in combinations(range(nodes), 2) if draw.random() < density]
    return SteinerInstance.from_edges(nodes, edges, draw.sample(range(nodes), draw.randint(1, nodes)))


hypercube = partial(workloads.hypercube, costs="unit", seed=0)
"""Hard to prove: all edges cost 1, and the corners are alike."""


def least_cost_by_sets(instance: SteinerInstance) -> float:
    """The least cost by dynamic programming over sets of terminals (Dreyfus, Wagner 1971); infinite without a tree."""
    n, (last, *terminals) = instance.num_nodes, instance.terminals.tolist()
    apart = np.full((n, n), np.inf)
    apart[instance.edges[:, 0], instance.edges[:, 1]] = apart[instance.edges[:, 1], instance.edges[:, 0]] = (
        instance.costs
    )
    np.fill_diagonal(apart, 0)
    for v in range(n):
        apart = np.minimum(apart, apart[:, [v]] + apart[v])
    costs = {1 << i: apart[t] for i, t in enumerate(terminals)}
    for chosen in range(1, 1 << len(terminals)):
        parts = [(part, chosen ^ part) for part in range(1, chosen) if part & chosen == part]
        joined = [costs[part] + costs[rest] for part, rest in parts]
        if joined:
            costs[chosen] = (np.min(joined, axis=0) + apart).min(axis=1)
    return float(costs[(1 << len(terminals)) - 1][last]) if terminals else 0.0


def street_grid(seed: int) -> SteinerInstance:
    """A grid of few lengths, with many ties, without some of its links, and two to seven terminals."""
    draw = random.Random(seed)
    width, height = draw.randint(2, 6), draw.randint(2, 6)
    across, down = ([draw.randint(0 if draw.random() < 0.1 else 1, 3) for _ in range(6)] for _ in range(2))
    nodes = [(x, y) for x in range(width) for y in range(height)]
    pairs = [(v, w) for v, w in combinations(nodes, 2) if abs(v[0] - w[0]) + abs(v[1] - w[1]) == 1]
    kept = [pair for pair in pairs if draw.random() < 0.9]
    edges = [(nodes.index(v), nodes.index(w), across[v[0]] if v[0] != w[0] else down[v[1]]) for v, w in kept]
    return SteinerInstance.from_edges(
        len(nodes), edges, draw.sample(range(len(nodes)), min(len(nodes), draw.randint(2, 7)))
    )
