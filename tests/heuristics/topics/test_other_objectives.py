"""The heuristics of weighted-tco and k-tco: valid, never below the optimum."""

import random
from itertools import combinations
from typing import Any

import networkx as nx
import pytest

import overlaybench as ob
from overlaybench.heuristics.topics.greedy_merge import greedy_merge
from overlaybench.heuristics.topics.local_search.polish import fault_tolerant_polish, polish
from overlaybench.heuristics.topics.merge.gm2 import block_forest, blocks_between, gm2
from overlaybench.heuristics.topics.merge.weighted_gm import weighted_greedy_merge
from overlaybench.heuristics.topics.mst_per_topic import mst_per_topic
from overlaybench.heuristics.topics.ring_per_topic import HARARY_ORDERS, harary_per_topic
from overlaybench.instances.contract.catalogue import WORKLOADS, methods_of
from overlaybench.instances.topics.problems import FaultTolerantTCO, WeightedTCO
from tests.heuristics.topics import twins
from tests.instances.test_overlay import subgraphs
from tests.instances.topics.test_problems import survives
from tests.models.topics.small_instances import priced, small_instance, tiers, uniform_instance
from tests.topic_brute_force import cost_between, members_of_topics, optimum
from tests.topic_strategies import TopicMethod

PROBLEM = WeightedTCO()
METHODS = [m for m in methods_of("overlaybench.heuristics.topics") if "weighted-tco" in m.problems]


def cost(instance: ob.TopicInstance, overlay: ob.Overlay) -> int:
    assert PROBLEM.violations(instance, overlay) == []
    return int(PROBLEM.value(instance, overlay))


def greedy_twin(instance: ob.TopicInstance, *, highest: bool = False) -> list[tuple[int, int]]:
    """Greedy Merge by costs, every contribution counted anew for every edge."""
    interest, edges = twins.interest_of(instance), set[twins.Edge]()
    while any((weights := twins.contributions(interest, edges)).values()):
        gains = {pair: weight / cost_between(instance, *pair) for pair, weight in weights.items()}
        edges.add((max if highest else min)(pair for pair in gains if gains[pair] == max(gains.values())))
    return sorted(edges)


@pytest.mark.parametrize("seeds", tiers(12, 120))
def test_weighted_greedy_merge_is_its_twin(seeds: range) -> None:
    for seed in seeds:
        for instance in (small_instance(seed), uniform_instance(14, 6, 3, seed)):
            instance = priced(instance, seed)
            for ties in ("lowest", "highest"):
                edges = [tuple(edge) for edge in weighted_greedy_merge(instance, ties=ties).edges.tolist()]
                assert edges == greedy_twin(instance, highest=ties == "highest"), f"seed {seed}"


@pytest.mark.parametrize("seeds", tiers(20, 200))
def test_the_guarantees_hold(seeds: range) -> None:
    for seed in seeds:
        instance = priced(small_instance(seed), seed)
        least = optimum(instance, "weighted-tco")
        topics = [set(instance.topics_of(v).tolist()) for v in range(instance.num_nodes)]
        most = max((len(one & other) for one, other in combinations(topics, 2)), default=0)
        harmonic = sum(1 / i for i in range(1, most + 1))
        assert cost(instance, weighted_greedy_merge(instance, ties="random", seed=seed)) <= harmonic * least + 1e-9
        assert cost(instance, mst_per_topic(instance, ties="random", seed=seed)) <= instance.num_topics * least


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_every_answer_is_topic_connected_and_one_seed_gives_one(method: TopicMethod) -> None:
    for seed in range(3):
        for name in ("plane", "transit-stub"):
            instance = WORKLOADS[name].generate(seed=seed, nodes=60, topics=12, subscriptions=4)
            options: dict[str, Any] = {"steps": 200} if any(option.name == "steps" for option in method.options) else {}
            runs = [method.run(instance, PROBLEM, seed=seed, **options) for _ in range(2)]
            assert runs[0].status == "feasible", runs[0].reason
            assert runs[0].answer == runs[1].answer


def test_one_topic_takes_a_minimum_spanning_tree() -> None:
    instance = ob.TopicInstance.from_subscriptions({f"n{v}": ["a"] for v in range(12)})
    for seed in range(6):
        paid = priced(instance, seed)
        graph: nx.Graph[int] = nx.Graph()
        graph.add_weighted_edges_from((u, v, cost_between(paid, u, v)) for u, v in combinations(range(12), 2))
        least = nx.minimum_spanning_tree(graph).size(weight="weight")
        assert cost(paid, mst_per_topic(paid)) == cost(paid, weighted_greedy_merge(paid)) == least


@pytest.mark.parametrize("seeds", tiers(4, 30))
def test_polish_by_cost_is_never_worse_and_stays_valid(seeds: range) -> None:
    for seed in seeds:
        instance = priced(uniform_instance(25, 8, 3, seed), seed)
        start = mst_per_topic(instance)
        assert cost(instance, polish(instance, start, first="cost", seed=seed, steps=500)) <= cost(instance, start)


FAULT_TOLERANT = FaultTolerantTCO()
RULES = ("lowest", "highest", "random")


def test_the_judge_names_a_node_whose_leaving_disconnects() -> None:
    instance = ob.TopicInstance.from_subscriptions({name: ["t"] for name in "abcd"})
    path = ob.Overlay.from_edges(4, [(0, 1), (1, 2), (1, 3)])
    assert FAULT_TOLERANT.violations(instance, path) == ["topic 't' is not connected once 'b' has left"]
    assert FAULT_TOLERANT.violations(instance, ob.Overlay.from_edges(4, [])) == ["topic 't' is not connected"]


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
                assert all(survives(graph) for graph in subgraphs(instance, answer)), f"seed {seed}"
                assert answer.num_edges >= least
            assert answers[2].num_edges <= start.num_edges


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
            assert blocks_between(first + place[u], first + place[v], topic, forest, False) == apart
            assert forest.blocks[topic] == len(blocks)
            graph.add_edge(u, v)
            for t, others in enumerate(members_of_topics(instance)):
                if u in others and v in others:
                    at = int(instance.topic_offsets[t])
                    blocks_between(at + others.index(u), at + others.index(v), t, forest, True)


def test_polish_refuses_an_overlay_that_is_not_fault_tolerant() -> None:
    instance = ob.TopicInstance.from_subscriptions({f"n{v}": ["a"] for v in range(4)})
    with pytest.raises(ob.BadInput, match="valid for k-tco"):
        fault_tolerant_polish(instance, greedy_merge(instance))
    with pytest.raises(ob.BadInput, match="ties"):
        gm2(instance, ties="any")
    with pytest.raises(ob.BadInput, match="order"):
        harary_per_topic(instance, order="any")


def test_random_ties_of_gm2_reach_every_cycle_on_four_subscribers() -> None:
    instance = ob.TopicInstance.from_subscriptions({f"n{v}": ["a"] for v in range(4)})
    cycles = {gm2(instance, ties="random", seed=seed).edges.tobytes() for seed in range(40)}
    assert len(cycles) == 3
    assert {len(gm2(instance, ties="random", seed=seed).edges) for seed in range(40)} == {4}
