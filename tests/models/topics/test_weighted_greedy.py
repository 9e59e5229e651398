"""Overlays built along weights: topics are connected, no edge is redundant, and searches only improve them."""

from __future__ import annotations

import numpy as np
import pytest

from overlaybench.instances.contract.catalogue import PROBLEMS
from overlaybench.instances.contract.overlay import Overlay
from overlaybench.instances.contract.run import Clock
from overlaybench.instances.topics.instance import TopicInstance
from overlaybench.models.topics.branch_and_cut import BRANCH_AND_CUT
from overlaybench.models.topics.lp_heuristics.lp_guided import Incumbent, weighted_greedy
from overlaybench.models.topics.relaxation.candidate_edges import CandidateEdges, all_pairs
from overlaybench.models.topics.relaxation.separation import Goal
from tests.models.topics.small_instances import small_instance, tiers, uniform_instance, value_of
from tests.topic_brute_force import optimum


def is_connected(instance: TopicInstance, overlay: Overlay | None) -> bool:
    return overlay is not None and bool((overlay.topic_components(instance) == 1).all())


def greedy(instance: TopicInstance, seed: int, cap: int = 100) -> Overlay:
    edges = CandidateEdges(instance, all_pairs(instance))
    weights = np.random.default_rng(seed).uniform(0.1, 1, len(edges))
    return weighted_greedy(edges, weights, cap=cap, overload=1.5, seed=seed)


@pytest.mark.parametrize("cap", [3, 100])
def test_topics_are_connected_and_nothing_redundant_is_left(cap: int) -> None:
    for seed in range(12):
        instance = uniform_instance(12, 9, 3, seed)
        overlay = greedy(instance, seed, cap)
        assert is_connected(instance, overlay)
        for edge in range(overlay.num_edges):
            assert not is_connected(instance, Overlay.from_edges(12, np.delete(overlay.edges, edge, axis=0)))


def test_of_edges_that_contribute_alike_the_heaviest_is_chosen() -> None:
    instance = uniform_instance(9, 1, 1)
    edges = CandidateEdges(instance, all_pairs(instance))
    weights = np.where(edges.u == 4, 1.0, np.where(edges.v == 4, 1.0, 0.5))
    overlay = weighted_greedy(edges, weights, cap=100, overload=0.0, seed=0)
    assert overlay.degrees.tolist() == [8 if v == 4 else 1 for v in range(9)]
    flat = weighted_greedy(edges, weights, cap=3, overload=5.0, seed=0)
    assert flat.max_degree == 3


@pytest.mark.parametrize("seeds", tiers(20, 60))
def test_an_incumbent_reaches_the_optimum_of_small_instances_and_stops_at_its_goal(seeds: range) -> None:
    for seed in seeds:
        instance = small_instance(seed)
        edges, best = CandidateEdges(instance, all_pairs(instance)), optimum(instance, "min-tco")
        incumbent = Incumbent(instance, Goal(), None, seed)
        incumbent.improve_along(edges, np.zeros(len(edges)), Clock(None), goal=0, steps=400)
        if len(edges):
            assert incumbent.value == best
            assert is_connected(instance, incumbent.overlay)
            calls = incumbent.calls
            incumbent.improve_along(edges, np.zeros(len(edges)), Clock(None), goal=best, steps=400)
            assert incumbent.calls == calls + 1


def test_an_incumbent_respects_a_cap_that_no_overlay_can_lower() -> None:
    for seed in range(8):
        instance = uniform_instance(15, 12, 4, seed)
        edges = CandidateEdges(instance, all_pairs(instance))
        cap = int(value_of(BRANCH_AND_CUT.run(instance, PROBLEMS["minmax-tco"])))
        capped = Incumbent(instance, Goal(cap=cap), None, seed)
        capped.improve_along(edges, np.zeros(len(edges)), Clock(None), goal=0, steps=1000)
        assert capped.overlay is not None
        assert capped.overlay.max_degree <= cap
        assert is_connected(instance, capped.overlay)
