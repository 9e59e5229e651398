"""Costs split by column generation: a bound among all pairs, from a split among few."""

from __future__ import annotations

from functools import partial
from itertools import combinations, pairwise

import networkx as nx
import numpy as np
import pytest

from overlaybench.heuristics.topics.greedy_merge import greedy_merge
from overlaybench.heuristics.topics.local_search.nearest import nearest_pairs
from overlaybench.instances.clock import Clock
from overlaybench.instances.topics.instance import TopicInstance
from overlaybench.models.engine.integer_bound import UNIT
from overlaybench.models.topics.bounds import priced_splitting
from overlaybench.models.topics.bounds.cost_splitting import Splitting, split_costs
from overlaybench.models.topics.bounds.priced_splitting import _heaviest_on_paths, split_by_pricing
from overlaybench.models.topics.cuts.cutting_planes import CuttingPlanes
from overlaybench.models.topics.rows.candidate_edges import CandidateEdges, all_pairs, keys_of
from overlaybench.models.topics.rows.goal import Goal
from tests.models.topics.small_instances import priced, small_instance, tiers, uniform_instance
from tests.topic_brute_force import optimum


@pytest.fixture
def _two_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that instances small enough to judge have pairs to price."""
    monkeypatch.setattr(priced_splitting, "nearest_pairs", partial(nearest_pairs, count=2))
    monkeypatch.setattr(priced_splitting, "_FEW", 1.0)


def _trees(splitting: Splitting, instance: TopicInstance) -> int:
    """The weight of minimum spanning trees under the shares, after a look at what they add up to."""
    edges, n = splitting.edges, instance.num_nodes
    links, shares = edges.links, splitting.shares.tolist()
    spent = np.zeros(len(edges), np.int64)
    np.add.at(spent, links.edge, splitting.shares)
    assert (splitting.shares >= 0).all()
    assert (spent <= UNIT * instance.edge_costs(edges.u, edges.v)).all()
    total = 0
    for t in range(instance.num_topics):
        graph: nx.Graph[int] = nx.Graph()
        for k in range(links.offsets[t], links.offsets[t + 1]):
            u, v = divmod(int(edges.keys[links.edge[k]]), n)
            graph.add_edge(u, v, weight=shares[k])
        assert graph.number_of_edges() == len(instance.subscribers(t)) * (len(instance.subscribers(t)) - 1) // 2
        total += sum(d["weight"] for *_, d in nx.minimum_spanning_edges(graph, data=True))
    return total


@pytest.mark.usefixtures("_two_nearest")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seeds", tiers(20, 200))
def test_shares_of_all_pairs_prove_the_bound(seeds: range, weighted: bool) -> None:
    for seed in seeds:
        instance = small_instance(seed)
        if weighted:
            instance = priced(instance, seed)
        splitting = split_by_pricing(instance, greedy_merge(instance), Clock(None), rounds=300, weighted=weighted)
        assert np.array_equal(splitting.edges.keys, all_pairs(instance))
        assert splitting.units == _trees(splitting, instance), f"seed {seed}"
        best = optimum(instance, "weighted-tco" if weighted else "min-tco")
        assert splitting.units <= best * UNIT, f"seed {seed}"


@pytest.mark.usefixtures("_two_nearest")
@pytest.mark.parametrize("seeds", tiers(3, 12))
def test_pricing_reaches_the_bound_of_the_cutting_planes(seeds: range) -> None:
    for seed in seeds:
        instance = uniform_instance(30, 30, 8, seed)
        start = greedy_merge(instance)
        planes = CuttingPlanes(instance, Goal(), start)
        planes.tighten(Clock(None))
        few = CandidateEdges(instance, np.union1d(nearest_pairs(instance, 2), keys_of(start)))
        alone = split_costs(instance, start.num_edges, Clock(None), rounds=3000, among=few)
        splitting = split_by_pricing(instance, start, Clock(None), rounds=3000)
        assert alone.units > 1.01 * planes.lp.value * UNIT, "the pairs of the start suffice"
        assert 0.98 * planes.best_units <= splitting.units <= planes.lp.value * UNIT * (1 + 1e-6)
        assert planes.lp.value - 1e-3 <= splitting.limit == pytest.approx(splitting.usage.sum())


@pytest.mark.usefixtures("_two_nearest")
def test_a_passed_clock_leaves_a_bound_of_nothing() -> None:
    instance = uniform_instance(30, 20, 4)
    splitting = split_by_pricing(instance, greedy_merge(instance), Clock(0.0))
    assert (splitting.units, splitting.rounds, splitting.converged) == (0, 0, False)


@pytest.mark.parametrize("seeds", tiers(10, 100))
def test_the_heaviest_edge_on_each_path_of_a_tree(seeds: range) -> None:
    for seed in seeds:
        draw = np.random.default_rng(seed)
        sizes = [*draw.integers(1, 12, 4).tolist(), 2]
        topic_offsets = np.concatenate([[0], np.cumsum(sizes)])
        pairs = [list(combinations(range(size), 2)) for size in sizes]
        link_offsets = np.concatenate([[0], np.cumsum([len(each) for each in pairs])])
        weight = draw.integers(0, 20, link_offsets[-1])  # with ties: the heaviest edge is the same on any of the trees
        found = _heaviest_on_paths(topic_offsets, link_offsets, weight).tolist()
        for t, each in enumerate(pairs):
            graph: nx.Graph[int] = nx.Graph()
            graph.add_nodes_from(range(sizes[t]))
            first = int(link_offsets[t])
            graph.add_weighted_edges_from((a, b, int(weight[first + k])) for k, (a, b) in enumerate(each))
            tree = nx.minimum_spanning_tree(graph)
            for k, (a, b) in enumerate(each):
                path = nx.shortest_path(tree, a, b)
                heaviest = max(tree.edges[edge]["weight"] for edge in pairwise(path))
                assert found[first + k] == heaviest, f"seed {seed}, topic {t}, {a} to {b}"
