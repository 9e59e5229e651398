"""Local search: topics stay connected, nothing redundant is left, and costs are what they are said to be."""

import numpy as np
import pytest

from instances import Overlay
from models.candidate_edges import CandidateEdges, all_pairs
from models.ruin_and_recreate import build, improve
from models.search_space import search_space
from tests.brute_force import optimum
from tests.models.small_instances import small_instance, uniform_instance


def overlay_of(instance, edges, chosen):
    return Overlay.from_edges(instance.num_nodes, np.stack([edges.u[chosen], edges.v[chosen]], axis=1))


def is_connected(instance, overlay):
    return (overlay.topic_components(instance) == 1).all()


@pytest.mark.parametrize("cap", [3, 100])
def test_searches_keep_topics_connected_and_count_their_cost_right(cap):
    for seed in range(12):
        instance = uniform_instance(15, 12, 4, seed)
        edges = CandidateEdges(instance, all_pairs(instance))
        space, weights = search_space(edges), np.ones(len(edges))
        overload = 1.5 if cap < 15 else 0.0
        chosen = build(space, weights, cap=cap, overload=overload, seed=seed)
        assert is_connected(instance, overlay_of(instance, edges, chosen))
        before = overlay_of(instance, edges, chosen)
        after, cost = improve(
            space, chosen, weights, cap=cap, overload=overload, steps=500, temperature=0.2, seed=seed, goal=0
        )
        overlay = overlay_of(instance, edges, after)
        assert is_connected(instance, overlay)
        assert cost == overlay.num_edges + overload * np.maximum(overlay.degrees - cap, 0).sum()
        assert cost <= before.num_edges + overload * np.maximum(before.degrees - cap, 0).sum()


def test_nothing_redundant_is_left():
    for seed in range(12):
        instance = uniform_instance(12, 9, 3, seed)
        edges = CandidateEdges(instance, all_pairs(instance))
        space, weights = search_space(edges), np.ones(len(edges))
        chosen = build(space, weights, cap=100, overload=0.0, seed=seed)
        chosen, _ = improve(
            space, chosen, weights, cap=100, overload=0.0, steps=200, temperature=0.1, seed=seed, goal=0
        )
        for e in np.flatnonzero(chosen):
            less = chosen.copy()
            less[e] = False
            assert not is_connected(instance, overlay_of(instance, edges, less))


def test_the_optimum_of_small_instances_is_found_from_every_edge_at_once():
    missed = 0
    for seed in range(60):
        instance = small_instance(seed)
        edges = CandidateEdges(instance, all_pairs(instance))
        if not len(edges):
            continue
        everything, weights = np.ones(len(edges), np.bool_), np.ones(len(edges))
        chosen, cost = improve(
            search_space(edges), everything, weights, cap=9, overload=0.0, steps=400, temperature=0.3, seed=1, goal=0
        )
        assert cost == chosen.sum() >= optimum(instance, "min-tco")
        missed += cost > optimum(instance, "min-tco")
    assert missed == 0


def test_one_seed_gives_one_answer():
    instance = uniform_instance(20, 15, 4)
    edges = CandidateEdges(instance, all_pairs(instance))
    space, weights = search_space(edges), np.ones(len(edges))
    start = build(space, weights, cap=99, overload=0.0, seed=5)
    answers = [
        improve(space, start, weights, cap=99, overload=0.0, steps=300, temperature=0.2, seed=7, goal=0)[0]
        for _ in range(2)
    ]
    assert np.array_equal(*answers)
