"""Row weighting: overlays are valid and ever smaller, counts are those of networkx, and small optima are found."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from overlaybench.compare.library.table import read_table
from overlaybench.heuristics.topics.greedy_merge import greedy_merge
from overlaybench.instances.contract.run import Clock
from overlaybench.instances.topics.instance import TopicInstance
from overlaybench.models.topics.lp_heuristics.row_weighting import GAIN, ITEM, LOSS, SIZE, SPLIT, WEIGHT, RowWeighting
from overlaybench.models.topics.relaxation.candidate_edges import CandidateEdges, all_pairs
from tests.models.topics.small_instances import small_instance, tiers, uniform_instance
from tests.topic_brute_force import optimum

WORK = 200_000


def search_of(instance: TopicInstance, seed: int, *, values: float = 0.0) -> RowWeighting:
    """A search among all pairs, from Greedy Merge's overlay; the LP values are random up to `values`."""
    edges = CandidateEdges(instance, all_pairs(instance))
    preferred = np.random.default_rng(seed).uniform(0, values, len(edges))
    return RowWeighting(edges, preferred, greedy_merge(instance), seed)


@pytest.mark.parametrize("seeds", tiers(40, 300))
def test_overlays_are_valid_and_smaller_and_the_last_is_optimal(seeds: range) -> None:
    for seed in seeds:
        instance = small_instance(seed)
        if not len(all_pairs(instance)):
            continue
        below = greedy_merge(instance).num_edges + 1
        for overlay in search_of(instance, seed, values=seed % 3).overlays(below, Clock(None), WORK):
            assert overlay.num_edges < below
            assert (overlay.topic_components(instance) <= 1).all()
            below = overlay.num_edges
        assert below == optimum(instance, "min-tco")


@pytest.mark.parametrize(("nodes", "topics", "size"), [(12, 8, 3), (16, 10, 6), (30, 4, 1)])
def test_gains_losses_and_components_are_those_of_networkx(nodes: int, topics: int, size: int) -> None:
    for seed in range(5):
        instance = uniform_instance(nodes, topics, size, seed)
        search = search_of(instance, seed, values=1.0)
        # Fewer than a tree of the largest topic needs: the search is stopped with topics disconnected.
        assert not list(
            search.overlays(int(np.diff(instance.topic_offsets).max()) - 1, Clock(None), 30_000 * (seed + 1))
        )
        space, edges = search._space, search._edges
        members = space.edges[: space.counts[SIZE], ITEM]
        gain, loss, split = np.zeros(len(edges), int), np.zeros(len(edges), int), set()
        chosen = nx.Graph(zip(edges.u[members].tolist(), edges.v[members].tolist(), strict=True))
        chosen.add_nodes_from(range(nodes))
        for t in range(topics):
            subscribers, weight = instance.subscribers(t).tolist(), space.topics[t, WEIGHT]
            graph = chosen.subgraph(subscribers)
            part = {v: i for i, nodes_of in enumerate(nx.connected_components(graph)) for v in nodes_of}
            bridges = {frozenset(bridge) for bridge in nx.bridges(graph)}
            if len(set(part.values())) > 1:
                split.add(t)
            for e, (u, v) in enumerate(zip(edges.u.tolist(), edges.v.tolist(), strict=True)):
                if u in part and v in part:
                    gain[e] += weight * (part[u] != part[v])
                    loss[e] += weight * (frozenset((u, v)) in bridges)
        assert space.edges[:-1, GAIN].tolist() == gain.tolist()
        assert space.edges[:-1, LOSS].tolist() == loss.tolist()
        assert set(space.topics[: space.counts[SPLIT], ITEM].tolist()) == split
        assert space.topics[:, WEIGHT].max() > 1


def test_a_search_that_found_nothing_begins_again_at_its_best_overlay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("overlaybench.models.topics.lp_heuristics.row_weighting._STEPS", 50)
    instance = uniform_instance(12, 8, 4)
    search = search_of(instance, 0)
    *_, best = search.overlays(100, Clock(None), 1_000_000)
    before = search._space
    assert not list(search.overlays(best.num_edges, Clock(None), 1_000_000))
    assert search._space is not before
    assert not list(search.overlays(100, Clock(0), 1_000_000))


def test_one_seed_gives_one_answer_and_seeds_differ() -> None:
    instance = uniform_instance(30, 20, 5)
    answers = [
        [overlay.edges.tolist() for overlay in search_of(instance, seed).overlays(1000, Clock(None), WORK)]
        for seed in (1, 1, 2)
    ]
    assert answers[0] == answers[1] != answers[2]


def test_dense_instances_reach_what_ruin_and_recreate_rarely_does() -> None:
    """Of 20 searches by ruin and recreate, one found 40."""
    instance = read_table().entries["dense-uniform-26-26-13-s2"].make()
    assert isinstance(instance, TopicInstance)
    for seed in range(3):
        found = search_of(instance, seed).overlays(1000, Clock(None), 1_000_000_000)
        assert any(overlay.num_edges == 40 for overlay in found)
