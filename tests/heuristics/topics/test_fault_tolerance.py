"""The judge and the heuristics of k-tco, against networkx and plain enumeration."""

from __future__ import annotations

import random
from itertools import combinations
from typing import Any

import networkx as nx
import pytest

from overlaybench.heuristics.topics.fault_tolerant_polish import fault_tolerant_polish
from overlaybench.heuristics.topics.gm2 import block_forest, blocks_between, gm2, unite_blocks
from overlaybench.heuristics.topics.greedy_merge import greedy_merge
from overlaybench.heuristics.topics.ring_per_topic import HARARY_ORDERS, harary_per_topic
from overlaybench.instances.contract.errors import BadInput
from overlaybench.instances.contract.overlay import Overlay
from overlaybench.instances.topics.instance import TopicInstance
from overlaybench.instances.topics.problems import FaultTolerantTCO
from tests.models.topics.small_instances import small_instance, tiers, uniform_instance
from tests.topic_brute_force import members_of_topics, optimum

PROBLEM = FaultTolerantTCO()
RULES = ("lowest", "highest", "random")


def survives(instance: TopicInstance, overlay: Overlay, topic: int) -> bool:
    """Whether the topic is connected, and stays so when any one of three or more subscribers leaves."""
    graph = overlay.to_networkx().subgraph(instance.subscribers(topic).tolist())
    parts = [graph] if len(graph) < 3 else [graph.subgraph(set(graph) - {left}) for left in graph]
    return all(nx.is_connected(part) for part in parts)


def random_overlay(nodes: int, seed: int) -> Overlay:
    draw = random.Random(seed)
    share = draw.choice([0.3, 0.6, 0.9])
    return Overlay.from_edges(nodes, [pair for pair in combinations(range(nodes), 2) if draw.random() < share])


@pytest.mark.parametrize("seeds", tiers(60, 600))
def test_the_judge_names_exactly_the_topics_that_do_not_survive(seeds: range) -> None:
    for seed in seeds:
        instance = uniform_instance(9, 4, 2, seed)
        overlay = random_overlay(9, seed)
        named = [reason.split("'")[1] for reason in PROBLEM.violations(instance, overlay)]
        fallen = [t for t in range(instance.num_topics) if not survives(instance, overlay, t)]
        assert named == [instance.topic_label(t) for t in fallen], f"seed {seed}"


def test_the_judge_names_a_node_whose_leaving_disconnects() -> None:
    instance = TopicInstance.from_subscriptions({name: ["t"] for name in "abcd"})
    path = Overlay.from_edges(4, [(0, 1), (1, 2), (1, 3)])
    assert PROBLEM.violations(instance, path) == ["topic 't' is not connected once 'b' has left"]
    assert PROBLEM.violations(instance, Overlay.from_edges(4, [])) == ["topic 't' is not connected"]


@pytest.mark.parametrize("seeds", tiers(15, 200))
def test_every_heuristic_is_fault_tolerant_and_no_better_than_the_optimum(seeds: range) -> None:
    for seed in seeds:
        for instance in (small_instance(seed), uniform_instance(16, 5, 3, seed)):
            rule = RULES[seed % 3]
            start = gm2(instance, ties=rule, seed=seed)
            answers = [
                start,
                harary_per_topic(instance, order=HARARY_ORDERS[seed % 3], seed=seed),
                fault_tolerant_polish(instance, start, seed=seed, steps=100),
            ]
            least = optimum(instance, "k-tco") if instance.num_nodes <= 6 else 0
            for answer in answers:
                assert all(survives(instance, answer, t) for t in range(instance.num_topics)), f"seed {seed}"
                assert answer.num_edges >= least
            assert answers[2].num_edges <= start.num_edges


def test_a_single_topic_is_polished_to_a_ring() -> None:
    instance = TopicInstance.from_subscriptions({f"n{v}": ["a"] for v in range(8)})
    polished = fault_tolerant_polish(instance, gm2(instance), steps=2000)
    assert polished.num_edges == 8
    assert polished.max_degree == 2


def test_rings_in_one_order_share_edges() -> None:
    instance = TopicInstance.from_subscriptions({f"n{v}": ["a", "b", "c"] for v in range(9)})
    for order in HARARY_ORDERS:
        assert harary_per_topic(instance, order=order, seed=1).num_edges == 9


def test_gm2_closes_a_path_to_a_ring() -> None:
    instance = TopicInstance.from_subscriptions({f"n{v}": ["a"] for v in range(12)})
    assert gm2(instance).num_edges == 12


@pytest.mark.parametrize("seeds", tiers(20, 200))
def test_blocks_are_those_of_networkx_after_every_edge(seeds: range) -> None:
    for seed in seeds:
        draw = random.Random(seed)
        instance = uniform_instance(14, 3, 2, seed)
        overlay = greedy_merge(instance, ties="random", seed=seed)
        forest, graph = block_forest(instance, overlay), overlay.to_networkx()
        for _ in range(8):
            members = draw.choice([m for m in members_of_topics(instance) if len(m) > 1])
            topic = members_of_topics(instance).index(members)
            first, place = int(instance.topic_offsets[topic]), {v: k for k, v in enumerate(members)}
            u, v = draw.sample(members, 2)
            blocks = list(nx.biconnected_components(graph.subgraph(members)))
            tree: nx.Graph[Any] = nx.Graph()
            tree.add_edges_from((w, f"block {k}") for k, block in enumerate(blocks) for w in block)
            apart = nx.shortest_path_length(tree, u, v) // 2
            assert blocks_between(first + place[u], first + place[v], forest) == apart
            assert forest.blocks[topic] == len(blocks)
            graph.add_edge(u, v)
            for t, others in enumerate(members_of_topics(instance)):
                if u in others and v in others:
                    at = int(instance.topic_offsets[t])
                    unite_blocks(at + others.index(u), at + others.index(v), t, forest)


def test_polish_refuses_an_overlay_that_is_not_fault_tolerant() -> None:
    instance = TopicInstance.from_subscriptions({f"n{v}": ["a"] for v in range(4)})
    with pytest.raises(BadInput, match="valid for k-tco"):
        fault_tolerant_polish(instance, greedy_merge(instance))
    with pytest.raises(BadInput, match="ties"):
        gm2(instance, ties="any")
    with pytest.raises(BadInput, match="order"):
        harary_per_topic(instance, order="any")


def test_random_ties_of_gm2_reach_every_cycle_on_four_subscribers() -> None:
    instance = TopicInstance.from_subscriptions({f"n{v}": ["a"] for v in range(4)})
    cycles = {gm2(instance, ties="random", seed=seed).edges.tobytes() for seed in range(40)}
    assert len(cycles) == 3
    assert {len(gm2(instance, ties="random", seed=seed).edges) for seed in range(40)} == {4}
