"""Local search on Steiner trees: its results are trees, and no single change of the named kinds makes them cheaper."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import strategies as st

from overlaybench.heuristics.graph import graph_of
from overlaybench.heuristics.steiner.local_search import improve_tree
from overlaybench.heuristics.steiner.shortest_paths import grown_nodes
from overlaybench.heuristics.steiner.spanning_trees import nearest_terminals, spanning_tree
from overlaybench.instances.contract.catalogue import PROBLEMS
from overlaybench.instances.contract.overlay import Overlay
from overlaybench.instances.runtime.run import Clock
from tests.properties import property_test
from tests.steiner_brute_force import least_cost, small_graph, weighted

pytestmark = pytest.mark.interpreted


@property_test(200, st.integers(0, 10**9))
def test_each_node_has_its_nearest_terminal_and_the_edge_towards_it(seed: int) -> None:
    instance = small_graph(seed, most_nodes=12)
    graph, costs = graph_of(instance.num_nodes, instance.edges), instance.costs.astype(np.float64)
    distance, base, via = nearest_terminals(graph, costs, instance.terminals)
    terminals = set(instance.terminals.tolist())
    lengths = nx.multi_source_dijkstra_path_length(weighted(instance), terminals)
    for v in range(instance.num_nodes):
        assert distance[v] == lengths.get(v, np.inf)
        if v in terminals or v not in lengths:
            assert via[v] == -1
            continue
        (nearer,) = set(instance.edges[via[v]].tolist()) - {v}
        assert (distance[v], base[v]) == (distance[nearer] + costs[via[v]], base[nearer])


@property_test(150, st.integers(0, 10**9), quick=25)
def test_neither_an_inserted_node_nor_an_exchange_makes_a_local_optimum_cheaper(seed: int) -> None:
    instance = small_graph(seed)
    graph, costs = graph_of(instance.num_nodes, instance.edges), instance.costs.astype(np.float64)
    terminals = instance.terminals
    inside = grown_nodes(graph, costs, terminals, int(terminals[0]))
    start, separate = spanning_tree(graph, np.argsort(-costs, kind="stable").astype(np.int32), inside, terminals)
    if separate:
        return
    kept = improve_tree(graph, costs, start, terminals, Clock(None))
    cost = costs[kept].sum()
    assert PROBLEMS["steiner"].violations(instance, Overlay.from_edges(instance.num_nodes, instance.edges[kept])) == []
    assert (least_cost(instance) or 0) <= cost <= costs[start].sum()
    given = weighted(instance)
    tree: nx.Graph[int] = nx.Graph(instance.edges[kept].tolist())
    for node in set(given) - set(tree):
        more = given.subgraph({*tree, node})
        if len(tree) and nx.is_connected(more):
            assert nx.minimum_spanning_tree(more).size("weight") >= cost - 1e-9
    ends = {v for v in tree if v in terminals or tree.degree(v) > 2}
    for first in ends:
        found = [path for path in nx.single_source_shortest_path(tree, first).values() if path[-1] in ends - {first}]
        paths = [path for path in found if ends.isdisjoint(path[1:-1])]
        for exchanged in [[path] for path in paths] + [paths] * (first not in terminals):
            pairs = [pair for path in exchanged for pair in nx.utils.pairwise(path)]
            rest = tree.copy()
            rest.remove_edges_from(pairs)
            joined = {path[-1] for path in exchanged} | ({first} if len(exchanged) == 1 else set())
            parts = [part for part in nx.connected_components(rest) if not joined.isdisjoint(part)]
            between: nx.Graph[int] = nx.Graph()
            for i, part in enumerate(parts):
                lengths = nx.multi_source_dijkstra_path_length(given, part)
                between.add_weighted_edges_from((i, j, min(lengths[v] for v in parts[j])) for j in range(i))
            replaced = sum(given[u][v]["weight"] for u, v in pairs)
            assert nx.minimum_spanning_tree(between).size("weight") >= replaced - 1e-9
