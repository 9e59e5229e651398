"""Each rule of the presolve, and a rule that is false."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from overlaybench.heuristics.topics.ring_per_topic import ring_per_topic
from overlaybench.instances.contract.catalogue import PROBLEMS
from overlaybench.instances.contract.method import Method
from overlaybench.instances.contract.overlay import Overlay
from overlaybench.instances.contract.result import Status
from overlaybench.instances.topics.instance import TopicInstance
from overlaybench.models.topics.ilp_and_cp_sat import CP_SAT, ILP
from overlaybench.models.topics.relaxation.presolve import attach_leaves, drop_implied_topics, moved_to_neighbours
from tests.models.topics.small_instances import small_instance, tiers
from tests.topic_brute_force import all_graphs, members_of_topics, optimum
from tests.topic_strategies import topic_instances


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
        instance = TopicInstance.from_subscriptions(subscriptions)
        reduced = drop_implied_topics(instance).instance
        graphs = all_graphs(n)
        before, after = (
            np.all([graphs.connects(members) for members in members_of_topics(each)], axis=0)
            for each in (instance, reduced)
        )
        assert reduced.num_nodes == n
        assert np.array_equal(before, after), f"seed {seed}"


@pytest.mark.parametrize("seeds", tiers(40, 150))
def test_no_kept_topic_is_implied_by_the_others(seeds: range) -> None:
    """Some overlay that connects the other kept topics leaves it unconnected."""
    for seed in seeds:
        instance = small_instance(seed)
        kept = drop_implied_topics(instance).kept.tolist()
        members = members_of_topics(instance)
        graphs = all_graphs(instance.num_nodes)
        for t in kept:
            others = [graphs.connects(members[s]) for s in kept if s != t]
            valid = np.all(others, axis=0) if others else np.full(len(graphs.masks), True)
            assert (valid & ~graphs.connects(members[t])).any(), f"seed {seed}, topic {t}"


@pytest.mark.parametrize("seeds", tiers(40, 150))
def test_forced_edges_are_in_every_topic_connected_graph(seeds: range) -> None:
    for seed in seeds:
        instance = small_instance(seed)
        graphs = all_graphs(instance.num_nodes)
        valid = np.all([graphs.connects(members) for members in members_of_topics(instance)], axis=0)
        always = {pair for pair in graphs.pairs if graphs.has[pair][valid].all()}
        forced = {divmod(int(key), instance.num_nodes) for key in drop_implied_topics(instance).forced}
        assert forced == always, f"seed {seed}"


@pytest.mark.parametrize("seeds", tiers(60, 300))
def test_attached_leaves_keep_the_fewest_edges_and_only_valid_overlays(seeds: range) -> None:
    for seed in seeds:
        instance = small_instance(seed)
        reduced, leaves = attach_leaves(instance)
        graphs = all_graphs(instance.num_nodes)
        before, after = (
            np.all([graphs.connects(members) for members in members_of_topics(each)], axis=0)
            for each in (instance, reduced)
        )
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
        instance = TopicInstance.from_subscriptions(
            {f"n{v}": [f"t{t}" for t in np.flatnonzero(wanted[v])] for v in range(n)}
        )
        reduced, leaves = attach_leaves(instance)
        pairs = np.argwhere(np.triu(draw.random((n, n)) < 0.3, 1))
        for edges in (np.empty((0, 2), int), pairs):  # random edges give leaves more neighbours than they need
            valid = Overlay.from_edges(n, np.concatenate([ring_per_topic(instance).edges, edges]))
            moved = moved_to_neighbours(valid, instance, leaves)
            assert (moved.topic_components(reduced) <= 1).all(), f"seed {seed}"
            assert moved.num_edges <= valid.num_edges
            met += bool((valid.topic_components(reduced) > 1).any())
    assert met > len(seeds) // 4


def test_every_node_but_one_of_a_chain_of_subscriptions_is_a_leaf() -> None:
    instance = TopicInstance.from_subscriptions({f"n{v}": [f"t{t}" for t in range(v + 1)] for v in range(5)})
    leaves = attach_leaves(instance)[1]
    assert len(leaves) == 4


def test_one_of_two_equal_topics_stays() -> None:
    instance = TopicInstance.from_subscriptions({f"n{v}": ["a", "b", "c"] for v in range(4)})
    assert len(drop_implied_topics(instance).kept) == 1


def test_topics_that_overlap_in_a_cycle_do_not_imply_one_another() -> None:
    """Three topics of two in a triangle imply the topic of all three; none of the three goes with it."""
    instance = TopicInstance.from_subscriptions(
        {"x": ["p", "r", "all"], "y": ["p", "q", "all"], "z": ["q", "r", "all"]}
    )
    assert [instance.topic_label(int(t)) for t in drop_implied_topics(instance).kept] == ["p", "q", "r"]


def test_a_topic_is_not_implied_by_topics_that_leave_it() -> None:
    """V_s must lie inside V_t: a path that leaves V_t does not connect G_t."""
    instance = TopicInstance.from_subscriptions({"x": ["t", "s"], "y": ["s"], "z": ["t", "s"]})
    assert len(drop_implied_topics(instance).kept) == 2
    assert optimum(instance, "min-tco") == 2
    outside = Overlay.from_edges(3, [(0, 1), (1, 2)])
    assert outside.topic_components(drop_implied_topics(instance).instance).tolist() != [1, 1]


def with_twins(twins: list[str]) -> TopicInstance:
    """Five triangles x y z with forced edges, and ten topics that the twins share.

    Topic i → j, for j = i + 1 and i + 2 of 5, has the block x y of triangle i, and of triangle j the block x z or y z.
    """
    wanted: dict[str, list[str]] = {twin: [] for twin in twins}
    for i in range(5):
        wanted |= {f"x{i}": [f"xy{i}", f"xz{i}"], f"y{i}": [f"xy{i}", f"yz{i}"], f"z{i}": [f"xz{i}", f"yz{i}"]}
    for i in range(5):
        for step, end in ((1, "x"), (2, "y")):
            j = (i + step) % 5
            for v in (f"x{i}", f"y{i}", f"{end}{j}", f"z{j}", *twins):
                wanted[v].append(f"{i} to {j}")
    return TopicInstance.from_subscriptions(wanted)


@pytest.mark.parametrize("method", [ILP, CP_SAT], ids=lambda method: method.name)
def test_a_second_node_with_the_same_topics_may_cost_nothing(method: Method[Any, Any]) -> None:
    """So the rule "remove it, the optimum falls by one" is false."""
    results = [method.run(with_twins(twins), PROBLEMS["min-tco"]) for twins in (["w"], ["u", "u'"])]
    assert [(result.status, result.value) for result in results] == [(Status.OPTIMAL, 25)] * 2


@settings(max_examples=100, deadline=None)
@given(instance=topic_instances(max_nodes=5, max_topics=5))
def test_a_second_node_with_the_same_topics_costs_at_most_one_edge(instance: TopicInstance) -> None:
    wanted = {f"n{v}": [f"t{t}" for t in instance.topics_of(v)] for v in range(instance.num_nodes)}
    twice = TopicInstance.from_subscriptions(wanted | {"twin": wanted["n0"]})
    assert 0 <= optimum(twice, "min-tco") - optimum(instance, "min-tco") <= 1
