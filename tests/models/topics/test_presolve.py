"""Each rule of the presolve, attacked."""

import random

import numpy as np
import pytest
from hypothesis import given, settings

from overlaybench.instances.catalogue import PROBLEMS
from overlaybench.instances.overlay import Overlay
from overlaybench.instances.result import Status
from overlaybench.instances.topics.instance import TopicInstance
from overlaybench.models.topics.cp_sat import CP_SAT
from overlaybench.models.topics.ilp import ILP
from overlaybench.models.topics.rows.presolve import presolve, without_implied
from tests.models.topics.small_instances import small_instance
from tests.topic_brute_force import all_graphs, members_of_topics, optimum
from tests.topic_strategies import topic_instances


def test_the_same_graphs_connect_the_topics_before_and_after():
    """Every graph on at most 5 nodes, for instances with many nested topics: nothing is lost and nothing added."""
    for seed in range(300):
        draw = random.Random(seed)
        n = draw.randint(2, 5)
        sets = [draw.sample(range(n), draw.randint(1, n)) for _ in range(draw.randint(1, 9))]
        subscriptions = {
            f"n{v}": [f"t{t}" for t, members in enumerate(sets) if v in members] or [f"own{v}"] for v in range(n)
        }
        instance = TopicInstance.from_subscriptions(subscriptions)
        reduced, _ = without_implied(instance, presolve(instance))
        graphs = all_graphs(n)
        before, after = (
            np.all([graphs.connects(members) for members in members_of_topics(each)], axis=0)
            for each in (instance, reduced)
        )
        assert reduced.num_nodes == n
        assert np.array_equal(before, after), f"seed {seed}"


def test_every_topic_kept_says_something_new():
    """Without any one of the topics kept, some overlay of the rest leaves it unconnected."""
    for seed in range(150):
        instance = small_instance(seed)
        kept = presolve(instance).kept.tolist()
        members = members_of_topics(instance)
        graphs = all_graphs(instance.num_nodes)
        for t in kept:
            others = [graphs.connects(members[s]) for s in kept if s != t]
            valid = np.all(others, axis=0) if others else np.full(len(graphs.masks), True)
            assert (valid & ~graphs.connects(members[t])).any(), f"seed {seed}, topic {t}"


def test_forced_edges_are_in_every_topic_connected_graph():
    for seed in range(150):
        instance = small_instance(seed)
        graphs = all_graphs(instance.num_nodes)
        valid = np.all([graphs.connects(members) for members in members_of_topics(instance)], axis=0)
        always = {pair for pair in graphs.pairs if graphs.has[pair][valid].all()}
        forced = {divmod(int(key), instance.num_nodes) for key in presolve(instance).forced}
        assert forced == always, f"seed {seed}"


def test_one_of_two_equal_topics_stays():
    instance = TopicInstance.from_subscriptions({f"n{v}": ["a", "b", "c"] for v in range(4)})
    assert len(presolve(instance).kept) == 1


def test_topics_that_overlap_in_a_cycle_do_not_imply_one_another():
    """Three topics of two in a triangle imply the topic of all three; none of the three goes with it."""
    instance = TopicInstance.from_subscriptions(
        {"x": ["p", "r", "all"], "y": ["p", "q", "all"], "z": ["q", "r", "all"]}
    )
    assert [instance.topic_label(int(t)) for t in presolve(instance).kept] == ["p", "q", "r"]


def test_a_topic_is_not_implied_by_topics_that_leave_it():
    """V_s must lie inside V_t: a path that leaves V_t does not connect G_t."""
    instance = TopicInstance.from_subscriptions({"x": ["t", "s"], "y": ["s"], "z": ["t", "s"]})
    assert len(presolve(instance).kept) == 2
    assert optimum(instance, "min-tco") == 2
    outside = Overlay.from_edges(3, [(0, 1), (1, 2)])
    assert outside.topic_components(without_implied(instance, presolve(instance))[0]).tolist() != [1, 1]


def with_twins(twins):
    """Five triangles x y z with forced edges, and ten topics that the twins share.

    Topic i → j, for j = i + 1 and i + 2 of 5, has the block x y of triangle i, and of triangle j the block x z or y z.
    """
    wanted = {twin: [] for twin in twins}
    for i in range(5):
        wanted |= {f"x{i}": [f"xy{i}", f"xz{i}"], f"y{i}": [f"xy{i}", f"yz{i}"], f"z{i}": [f"xz{i}", f"yz{i}"]}
    for i in range(5):
        for step, end in ((1, "x"), (2, "y")):
            j = (i + step) % 5
            for v in (f"x{i}", f"y{i}", f"{end}{j}", f"z{j}", *twins):
                wanted[v].append(f"{i} to {j}")
    return TopicInstance.from_subscriptions(wanted)


@pytest.mark.parametrize("method", [ILP, CP_SAT], ids=lambda method: method.name)
def test_a_second_node_with_the_same_topics_may_cost_nothing(method):
    """So the rule "remove it, the optimum falls by one" is false."""
    results = [method.run(with_twins(twins), PROBLEMS["min-tco"]) for twins in (["w"], ["u", "u'"])]
    assert [(result.status, result.value) for result in results] == [(Status.OPTIMAL, 25)] * 2


@settings(max_examples=100, clock=None)
@given(instance=topic_instances(max_nodes=5, max_topics=5))
def test_a_second_node_with_the_same_topics_costs_at_most_one_edge(instance):
    wanted = {f"n{v}": [f"t{t}" for t in instance.topics_of(v)] for v in range(instance.num_nodes)}
    twice = TopicInstance.from_subscriptions(wanted | {"twin": wanted["n0"]})
    assert 0 <= optimum(twice, "min-tco") - optimum(instance, "min-tco") <= 1
