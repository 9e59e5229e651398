"""Costs split by column generation: a bound among all pairs, from a split among few."""

from __future__ import annotations

from itertools import combinations, pairwise

import networkx as nx
import numpy as np
import pytest

from overlaybench.heuristics.topics.greedy_merge import greedy_merge
from overlaybench.heuristics.topics.local_search.overlay_search import nearest_pairs
from overlaybench.heuristics.topics.minmax_oda import minmax_oda
from overlaybench.instances.contract.run import Clock
from overlaybench.models.engine.relaxation import UNIT
from overlaybench.models.topics import lp_bound
from overlaybench.models.topics.relaxation import cost_splitting
from overlaybench.models.topics.relaxation.cost_splitting import _rows_of_trees, spanning, split_by_pricing, split_costs
from overlaybench.models.topics.relaxation.cutting_planes import CuttingPlanes
from overlaybench.models.topics.relaxation.separation import Goal
from overlaybench.models.topics.relaxation.topic_rows import CandidateEdges, all_pairs, keys_of
from tests.models.topics.small_instances import priced, small_instance, tiers, uniform_instance
from tests.topic_brute_force import optimum


@pytest.fixture
def _two_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that instances small enough to judge have pairs to price."""
    monkeypatch.setattr(cost_splitting, "_NEAREST", 2)
    monkeypatch.setattr(cost_splitting, "_FEW", 1.0)


def _tree(edges: CandidateEdges, shares: list[int], topic: int) -> nx.Graph[int]:
    """A minimum spanning tree of a topic under the shares of the listed pairs."""
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(edges.instance.subscribers(topic).tolist())
    for k in range(edges.links.offsets[topic], edges.links.offsets[topic + 1]):
        u, v = divmod(int(edges.keys[edges.links.edge[k]]), edges.instance.num_nodes)
        graph.add_edge(u, v, weight=shares[k])
    return nx.minimum_spanning_tree(graph)


def _heaviest(tree: nx.Graph[int], u: int, v: int) -> int:
    return max(int(tree.edges[edge]["weight"]) for edge in pairwise(nx.shortest_path(tree, u, v)))


def _prices(edges: CandidateEdges, shares: list[int]) -> tuple[int, dict[tuple[int, int], int]]:
    """The weight of all trees, and the sum of each pair's shares: given, or the heaviest edges on tree paths."""
    instance, listed = edges.instance, dict[tuple[int, int, int], int]()
    topics = np.repeat(np.arange(instance.num_topics), np.diff(edges.links.offsets)).tolist()
    for edge, topic, share in zip(edges.links.edge.tolist(), topics, shares, strict=True):
        u, v = divmod(int(edges.keys[edge]), instance.num_nodes)
        listed[u, v, topic] = share
    total, spent = 0, dict.fromkeys(combinations(range(instance.num_nodes), 2), 0)
    for t in range(instance.num_topics):
        tree = _tree(edges, shares, t)
        assert nx.is_connected(tree)
        complete: nx.Graph[int] = nx.Graph()
        for u, v in combinations(instance.subscribers(t).tolist(), 2):
            weight = listed[u, v, t] if (u, v, t) in listed else _heaviest(tree, u, v)
            complete.add_edge(u, v, weight=weight)
            spent[u, v] += weight
        least = sum(d["weight"] for *_, d in nx.minimum_spanning_edges(complete, data=True))
        assert least == sum(d["weight"] for *_, d in tree.edges(data=True))
        total += least
    return total, spent


@pytest.mark.usefixtures("_two_nearest")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seeds", tiers(20, 200))
def test_shares_of_all_pairs_prove_the_bound(seeds: range, weighted: bool) -> None:
    priced_pairs = 0
    for seed in seeds:
        instance = small_instance(seed)
        if weighted:
            instance = priced(instance, seed)
        splitting = split_by_pricing(instance, greedy_merge(instance), Clock(None), rounds=300, weighted=weighted)
        total, spent = _prices(splitting.edges, splitting.shares.tolist())
        assert splitting.units == total, f"seed {seed}"
        assert (splitting.shares >= 0).all()
        pairs = np.array(list(spent), np.int32).reshape(-1, 2)
        costs = instance.edge_costs(pairs[:, 0], pairs[:, 1]).tolist()
        assert all(UNIT * cost >= sum_ for cost, sum_ in zip(costs, spent.values(), strict=True)), f"seed {seed}"
        best = optimum(instance, "weighted-tco" if weighted else "min-tco")
        assert splitting.units <= best * UNIT, f"seed {seed}"
        priced_pairs += len(all_pairs(instance)) - len(splitting.edges)
    assert priced_pairs


@pytest.mark.parametrize("seeds", tiers(10, 60))
def test_of_many_cheap_pairs_the_cheapest_are_listed(seeds: range) -> None:
    left_out = 0
    for seed in seeds:
        instance = uniform_instance(30, 5, 4, seed)
        few = CandidateEdges(instance, keys_of(greedy_merge(instance)))
        split = split_costs(instance, 30.0, Clock(None), rounds=30, among=few)
        edges, shares, most = cost_splitting._with_cheap(split, weighted=False)
        assert len(edges) <= 2 * len(few)  # the instances have no price at a threshold
        _, before = _prices(few, split.shares.tolist())
        cheap = {pair: price / UNIT for pair, price in before.items() if price > UNIT * (1 + 1e-8)}
        added = {divmod(key, instance.num_nodes) for key in np.setdiff1d(edges.keys, few.keys).tolist()}
        assert added == {pair for pair, price in cheap.items() if price > most}, f"seed {seed}"
        assert all(np.bincount(edges.links.edge, shares) <= 1 + 1e-12)
        left_out += len(cheap) - len(added)
    assert left_out


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


def test_lp_bound_proves_the_same_where_a_proof_would_be_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = uniform_instance(30, 9, 3)
    whole = lp_bound.lower_bound(instance, Clock(None), method="splitting")
    monkeypatch.setattr(lp_bound, "_PROVEN_LINKS", 10)
    bare = lp_bound.lower_bound(instance, Clock(None), method="splitting")
    assert whole.proven is not None
    assert bare.proven is None
    assert whole.value == bare.value >= 29


@pytest.mark.usefixtures("_two_nearest")
def test_a_passed_clock_leaves_a_bound_of_nothing() -> None:
    instance = uniform_instance(30, 20, 4)
    splitting = split_by_pricing(instance, greedy_merge(instance), Clock(0.0))
    assert (splitting.units, splitting.rounds, splitting.converged) == (0, 0, False)


@pytest.mark.parametrize("seeds", tiers(10, 100))
def test_the_widest_gap_in_a_row_is_the_heaviest_edge_on_the_path(seeds: range) -> None:
    for seed in seeds:
        instance = small_instance(seed)
        edges = CandidateEdges(instance, all_pairs(instance))
        weight = np.random.default_rng(seed).integers(0, 20, len(edges.links.edge))  # with ties
        _, in_tree = spanning(edges)(weight)
        links = edges.links
        row, place, gap = _rows_of_trees(edges.interest, links.offsets, links.a, links.b, weight, in_tree)
        for t in range(instance.num_topics):
            tree, first = _tree(edges, weight.tolist(), t), int(instance.topic_offsets[t])
            where = dict(zip(instance.subscribers(t).tolist(), place[first:].tolist(), strict=False))
            assert all(row[where[v]] == v for v in where)
            for u, v in combinations(where, 2):
                begin, end = sorted((where[u], where[v]))
                assert gap[begin + 1 : end + 1].max() == _heaviest(tree, u, v), f"seed {seed}, topic {t}, {u} to {v}"


def test_an_overlay_of_other_edges_than_the_split_has_is_a_candidate_as_a_whole() -> None:
    instance = uniform_instance(30, 5, 4, 0)
    split = split_costs(instance, 30.0, Clock(0.0), among=CandidateEdges(instance, keys_of(greedy_merge(instance))))
    other = minmax_oda(instance)
    edges, _ = split.used_or_in(other)
    useful = [key for key in keys_of(other).tolist() if key in set(all_pairs(instance).tolist())]
    assert set(useful) - set(split.columns.tolist())
    assert set(useful) <= set(edges.keys.tolist()) <= set(all_pairs(instance).tolist())
