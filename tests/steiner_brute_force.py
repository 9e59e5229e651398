"""Least costs of Steiner trees, written without the methods' code: every set of nodes with its spanning tree."""

import random
from itertools import combinations

import networkx as nx

from overlaybench.instances.steiner.instance import SteinerInstance


def least_cost(instance: SteinerInstance) -> int | None:
    """The cost of a cheapest tree, or None if the terminals are not connected. Exponential in the other nodes."""
    terminals = set(instance.terminals.tolist())
    others = [v for v in range(instance.num_nodes) if v not in terminals]
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(instance.num_nodes))
    for (u, v), cost in zip(instance.edges.tolist(), instance.costs.tolist(), strict=True):
        graph.add_edge(u, v, weight=cost)
    costs = []
    for size in range(len(others) + 1):
        for chosen in combinations(others, size):
            part = graph.subgraph(terminals | set(chosen))
            if nx.is_connected(part):
                costs.append(int(nx.minimum_spanning_tree(part).size("weight")))
    return min(costs, default=None)


def small_graph(seed: int, *, most_nodes: int = 9, dearest: int = 6) -> SteinerInstance:
    """A random graph, sparse or dense, not always connected, with ties and costs of 0."""
    draw = random.Random(seed)
    nodes = draw.randint(1, most_nodes)
    density = draw.choice([0.3, 0.5, 0.8])
    edges = [(u, v, draw.randint(0, dearest)) for u, v in combinations(range(nodes), 2) if draw.random() < density]
    return SteinerInstance.from_edges(nodes, edges, draw.sample(range(nodes), draw.randint(1, nodes)))


def hypercube(dimension: int) -> SteinerInstance:
    """SteinLib's hc: terminals are the corners with an even number of ones, all edges cost 1; hard to prove."""
    size = 2**dimension
    edges = [(v, v ^ (1 << bit), 1) for v in range(size) for bit in range(dimension) if v < v ^ (1 << bit)]
    return SteinerInstance.from_edges(size, edges, [v for v in range(size) if v.bit_count() % 2 == 0])
