"""Each rule of the presolve, and a rule that is false."""

import random

import numpy as np
import pytest

import overlaybench as ob
from overlaybench.heuristics.topics.ring_per_topic import ring_per_topic
from overlaybench.models.topics.relaxation.presolve import attach_leaves, drop_implied_topics, moved_to_neighbours
from tests.models.topics.small_instances import small_instance, tiers
from tests.topic_brute_force import all_graphs, connected, members_of_topics


@pytest.mark.parametrize("seeds", tiers(80, 300))
def test_the_same_graphs_connect_the_topics_before_and_after(seeds: range) -> None:
    """Every graph on at most 5 nodes, for instances with many nested topics."""
    for seed in seeds:
        draw = random.Random(seed)
        n = draw.randint(2, 5)
        sets = [draw.sample(range(n), draw.randint(1, n)) for _ in range(draw.randint(1, 9))]
        subscriptions = {
            f"n{v}": [f"t{t}" for t, members in enumerate(sets) if v in members] or [f"own{v}"] for v in range(n)
        }
        instance = ob.TopicInstance.from_subscriptions(subscriptions)
        reduced, _, _ = drop_implied_topics(instance)
        assert reduced.num_nodes == n
        assert np.array_equal(connected(instance), connected(reduced)), f"seed {seed}"


@pytest.mark.parametrize("seeds", tiers(40, 150))
def test_no_kept_topic_is_implied_by_the_others(seeds: range) -> None:
    """Some overlay that connects the other kept topics leaves it unconnected."""
    for seed in seeds:
        instance = small_instance(seed)
        kept = drop_implied_topics(instance)[2].tolist()
        members = members_of_topics(instance)
        graphs = all_graphs(instance.num_nodes)
        for t in kept:
            others = [graphs.connects(members[s]) for s in kept if s != t]
            valid = np.all(others, axis=0) if others else np.full(len(graphs.masks), True)
            assert (valid & ~graphs.connects(members[t])).any(), f"seed {seed}, topic {t}"


@pytest.mark.parametrize("seeds", tiers(60, 300))
def test_attached_leaves_keep_the_fewest_edges_and_only_valid_overlays(seeds: range) -> None:
    for seed in seeds:
        instance = small_instance(seed)
        reduced, leaves = attach_leaves(instance)
        graphs, before, after = all_graphs(instance.num_nodes), connected(instance), connected(reduced)
        assert not (after & ~before).any(), f"seed {seed}"
        assert graphs.edges[after].min() == graphs.edges[before].min(), f"seed {seed}"
        assert len(set(leaves[:, 0].tolist())) == len(leaves) == reduced.num_topics - instance.num_topics


@pytest.mark.parametrize("seeds", tiers(60, 300))
def test_overlays_moved_to_the_neighbours_of_leaves_stay_valid_and_grow_by_no_edge(seeds: range) -> None:
    met = 0
    for seed in seeds:
        draw = np.random.default_rng(seed)
        n, topics = int(draw.integers(4, 25)), int(draw.integers(2, 9))
        wanted = draw.random((n, topics)) < draw.choice([0.2, 0.4])
        wanted[np.arange(n), draw.integers(topics, size=n)] = True
        instance = ob.TopicInstance.from_subscriptions(
            {f"n{v}": [f"t{t}" for t in np.flatnonzero(wanted[v])] for v in range(n)}
        )
        reduced, leaves = attach_leaves(instance)
        pairs = np.argwhere(np.triu(draw.random((n, n)) < 0.3, 1))
        for edges in (np.empty((0, 2), int), pairs):  # random edges give leaves more neighbours than they need
            valid = ob.Overlay.from_edges(n, np.concatenate([ring_per_topic(instance).edges, edges]))
            moved = moved_to_neighbours(valid, instance, leaves)
            assert (moved.topic_components(reduced) <= 1).all(), f"seed {seed}"
            assert moved.num_edges <= valid.num_edges
            met += bool((valid.topic_components(reduced) > 1).any())
    assert met > len(seeds) // 4


def test_a_node_of_two_topics_hangs_on_another_node_that_has_both() -> None:
    wanted = {"a": "xy", "b": "xy", "c": "xz", "d": "yz", "e": "xw", "f": "yw", "g": "zw"}
    instance = ob.TopicInstance.from_subscriptions({v: list(topics) for v, topics in wanted.items()})
    reduced, leaves = attach_leaves(instance)
    assert [(v, a) for v, _, a in leaves.tolist()] == [(0, 1)]
    overlay = ob.Overlay.from_edges(7, [(0, 2), (0, 3), (1, 4), (1, 5), (2, 4), (3, 5), (2, 6), (3, 6), (4, 6), (5, 6)])
    moved = moved_to_neighbours(overlay, instance, leaves)
    assert (overlay.topic_components(instance) == 1).all()
    assert (moved.topic_components(reduced) <= 1).all()
    assert moved.num_edges <= overlay.num_edges
    assert moved.degrees[0] == 1
