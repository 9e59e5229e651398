"""The heuristics of weighted-tco: validity, a twin in plain Python, guarantees, and unit costs."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

from overlaybench.heuristics.topics.mst_per_topic import mst_per_topic
from overlaybench.heuristics.topics.polish import polish
from overlaybench.heuristics.topics.weighted_gm import weighted_greedy_merge
from overlaybench.instances.contract.catalogue import WORKLOADS, methods_of
from overlaybench.instances.contract.errors import BadInput
from overlaybench.instances.contract.method import Method
from overlaybench.instances.contract.overlay import Overlay
from overlaybench.instances.topics.instance import TopicInstance
from overlaybench.instances.topics.problems import WeightedTCO
from tests.models.topics.small_instances import priced, small_instance, tiers, uniform_instance
from tests.topic_brute_force import cost_between, optimum

PROBLEM = WeightedTCO()
METHODS = [m for m in methods_of("overlaybench.heuristics.topics") if "weighted-tco" in m.problems]


def cost(instance: TopicInstance, overlay: Overlay) -> int:
    assert PROBLEM.violations(instance, overlay) == []
    return int(PROBLEM.value(instance, overlay))


def greedy_twin(instance: TopicInstance, *, highest: bool = False) -> list[tuple[int, int]]:
    """Greedy Merge by costs, every contribution counted anew for every edge."""
    component = [{v: v for v in instance.subscribers(t).tolist()} for t in range(instance.num_topics)]
    pairs = list(combinations(range(instance.num_nodes), 2))
    edges: list[tuple[int, int]] = []
    while True:
        gains = {
            (u, v): sum(u in of and v in of and of[u] != of[v] for of in component) / cost_between(instance, u, v)
            for u, v in pairs
        }
        if not gains or max(gains.values()) == 0:
            return sorted(edges)
        u, v = (max if highest else min)(pair for pair in pairs if gains[pair] == max(gains.values()))
        edges.append((u, v))
        for of in component:
            if u in of and v in of:
                of.update({w: of[u] for w, label in of.items() if label == of[v]})


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
def test_every_answer_is_topic_connected_and_one_seed_gives_one(method: Method[TopicInstance, Overlay]) -> None:
    for seed in range(3):
        for name in ("plane", "transit-stub"):
            instance = WORKLOADS[name].generate(seed=seed, nodes=60, topics=12, subscriptions=4)
            options: dict[str, Any] = {"steps": 200} if any(option.name == "steps" for option in method.options) else {}
            runs = [method.run(instance, PROBLEM, seed=seed, **options) for _ in range(2)]
            assert runs[0].status == "feasible", runs[0].reason
            assert runs[0].answer == runs[1].answer


def test_one_topic_takes_a_minimum_spanning_tree() -> None:
    import networkx as nx

    instance = TopicInstance.from_subscriptions({f"n{v}": ["a"] for v in range(12)})
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


def test_polish_by_cost_takes_out_what_is_dear_and_redundant() -> None:
    instance = priced(TopicInstance.from_subscriptions({"a": ["t"], "b": ["t"], "c": ["t"]}), 0)
    polished = polish(instance, Overlay.from_edges(3, [(0, 1), (0, 2), (1, 2)]), first="cost", steps=200)
    assert cost(instance, polished) == optimum(instance, "weighted-tco")


def test_nodes_with_the_same_topics_take_a_minimum_spanning_tree() -> None:
    instance = TopicInstance.from_subscriptions({f"n{v}": ["a", "b", "c"] for v in range(9)})
    for seed in range(6):
        paid = priced(instance, seed)
        assert cost(paid, weighted_greedy_merge(paid)) == cost(paid, mst_per_topic(paid))


def test_an_unknown_rule_for_ties_is_bad_input() -> None:
    for heuristic in (weighted_greedy_merge, mst_per_topic):
        with pytest.raises(BadInput, match="ties"):
            heuristic(small_instance(1), ties="any")
