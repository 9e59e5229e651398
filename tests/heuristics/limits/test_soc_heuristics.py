"""The heuristics of the SOC problems (P1 §9): valid, never below the optimum, and the kernel against its twin."""

import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.heuristics.graph import graph_of
from overlaybench.heuristics.limits.edge_exchange import EDGE_EXCHANGE
from overlaybench.heuristics.limits.filtering import EDGE_INSERTION, EDGE_REMOVAL, relay_trees
from overlaybench.heuristics.limits.limits import limits_of
from overlaybench.heuristics.limits.topic_diameter import DEGREE_DIAMETER, LAYERED_ODA, layered_trees
from overlaybench.instances.limits.routing_costs import topic_diameters
from overlaybench.instances.limits.soc import EDGES, MAX_DEGREE, SOC, RoutingCost, as_soc
from tests.models.limits.test_soc_exact import limited
from tests.models.topics.small_instances import small_instance, tiers, uniform_instance
from tests.outcomes import answer_of, value_of
from tests.properties import property_test
from tests.soc_brute_force import optimum
from tests.topic_strategies import Case, TopicMethod, instances_with_overlays, topic_instances

pytestmark = pytest.mark.interpreted

CASES = [
    (method, routing)
    for method in (EDGE_REMOVAL, EDGE_INSERTION, LAYERED_ODA, DEGREE_DIAMETER, EDGE_EXCHANGE)
    for routing in ("filtering", "topic-diameter", "average-topic-diameter")
    if routing in method.problems
]


@pytest.mark.parametrize("seeds", tiers(10, 200))
@pytest.mark.parametrize(("method", "routing"), CASES, ids=lambda case: getattr(case, "name", case))
def test_no_heuristic_beats_the_brute_force(method: TopicMethod, routing: str, seeds: range) -> None:
    answered = 0
    for seed in seeds:
        instance = small_instance(seed)
        name, degree, most_degree, most_cost = limited(routing, seed)
        options = {"steps": 60} if method is EDGE_EXCHANGE else {}
        result = method.run(instance, ob.PROBLEMS[name], seed=seed, **options)
        best = optimum(instance, degree, routing, most_degree, most_cost)
        if result.status is ob.Status.FEASIBLE:
            assert value_of(result) >= best - 1e-9, f"{name}, seed {seed}"
            answered += 1
        else:
            assert result.status in (ob.Status.FAILED, ob.Status.INFEASIBLE)
            assert "invalid answer" not in result.reason, f"{name}, seed {seed}: {result.reason}"
            assert result.status is ob.Status.FAILED or math.isinf(best), f"{name}, seed {seed}"
    assert answered > len(seeds) / 3


def test_removal_and_insertion_meet_a_limit_on_edges_or_filtering_wherever_it_can_be_met() -> None:
    for instance in map(small_instance, range(12)):
        fewest = limits_of(as_soc(ob.PROBLEMS["filtering"]), instance).fewest_edges
        for name in (f"filtering@edges={fewest}", "filtering=0@edges"):
            for method in (EDGE_REMOVAL, EDGE_INSERTION):
                assert method.run(instance, ob.PROBLEMS[name]).status is ob.Status.FEASIBLE, f"{method.name} on {name}"


def test_fewer_edges_than_a_spanning_forest_are_proven_infeasible() -> None:
    result = EDGE_INSERTION.run(uniform_instance(8, 3, 2), ob.PROBLEMS["filtering@edges=6"])
    assert result.status is ob.Status.INFEASIBLE


@property_test(100, topic_instances(max_nodes=12, max_topics=5), st.integers(1, 4))
def test_no_topic_diameter_of_layered_trees_exceeds_twice_the_radius(instance: ob.TopicInstance, radius: int) -> None:
    assert topic_diameters(layered_trees(instance, radius), instance).max() <= 2 * radius


@pytest.mark.parametrize("hops", [2, 3, 4])
def test_known_graphs_keep_the_diameter_with_a_degree_near_the_root_of_the_nodes(hops: int) -> None:
    instance = uniform_instance(90, 6, 3)
    result = DEGREE_DIAMETER.run(instance, ob.PROBLEMS[f"topic-diameter={hops}@max-degree"])
    assert value_of(result) <= 2 * math.ceil(90 ** (1 / hops))


def test_edge_exchange_answers_functions_of_ones_own() -> None:
    def load(overlay: ob.Overlay, instance: ob.TopicInstance) -> float:
        """Σ over the nodes of degree times topics; infinite if a topic is not connected."""
        if (overlay.topic_components(instance) > 1).any():
            return math.inf
        return float((overlay.degrees * np.diff(instance.node_offsets)).sum())

    problem = SOC(MAX_DEGREE, RoutingCost("load", "degree times topics", load), most_degree=4)
    instance = uniform_instance(10, 4, 2, seed=3)
    result = EDGE_EXCHANGE.run(instance, problem, steps=300)
    assert problem.name == "soc@load@max-degree=4"
    assert result.status is ob.Status.FEASIBLE
    assert answer_of(result).max_degree <= 4
    assert result.value == load(answer_of(result), instance)


def test_edge_exchange_is_never_worse_than_its_start_and_one_seed_gives_one_answer() -> None:
    instance, problem = uniform_instance(12, 6, 2, seed=1), SOC(EDGES, as_soc(ob.PROBLEMS["filtering"]).routing)
    first, again = (EDGE_EXCHANGE.run(instance, problem, seed=5, steps=200) for _ in range(2))
    assert value_of(first) <= float(first.counters["start"])
    assert first.answer == again.answer


@property_test(150, instances_with_overlays(max_nodes=9, max_topics=4))
def test_the_kernel_of_relay_trees_equals_its_twin(case: Case) -> None:
    instance, overlay = case
    graph = graph_of(instance.num_nodes, overlay.edges)
    found = relay_trees(graph, instance.topic_offsets, instance.topic_nodes)
    topics = [instance.subscribers(t).tolist() for t in range(instance.num_topics)]
    expected = twin(instance.num_nodes, [tuple(edge) for edge in overlay.edges.tolist()], topics)
    assert [array.tolist() for array in found] == expected


def twin(n: int, edges: list[tuple[int, int]], topics: list[list[int]]) -> list[list[int]]:
    """Relays of each topic, uses and prices of each edge, by trying every replacement of every link."""
    relays, uses, prices = [0] * len(topics), [0] * len(edges), [0] * len(edges)
    beside = {x: [v for u, v in edges if u == x] + [u for u, v in edges if v == x] for x in range(n)}
    number = {frozenset(edge): index for index, edge in enumerate(edges)}
    for t, subscribers in enumerate(topics):
        way: dict[int, list[int]] = {v: [v] for v in subscribers}  # from each node to its nearest subscriber
        queue = list(subscribers)
        for v in queue:
            for w in beside[v]:
                if w not in way:
                    way[w] = [w, *way[v]]
                    queue.append(w)
        links = [(len(way[u]) + len(way[v]) - 2, i) for i, (u, v) in enumerate(edges) if u in way and v in way]
        ends = {i: (way[edges[i][0]][-1], way[edges[i][1]][-1]) for _, i in links}
        links = sorted(link for link in links if len(set(ends[link[1]])) == 2)
        tree: list[tuple[int, int]] = []
        for length, i in links:
            if not joined([ends[j] for _, j in tree], *ends[i]):
                tree.append((length, i))
        if len(tree) < len(subscribers) - 1:
            relays[t] = -1
            continue
        seen: set[int] = set()
        for length, i in tree:
            rest = [ends[j] for _, j in tree if j != i]
            others = [other - length for other, j in links if j != i and not joined(rest, *ends[j])]
            price = min(others, default=n)
            used = [
                i,
                *(number[frozenset(pair)] for end in edges[i] for pair in zip(way[end], way[end][1:], strict=False)),
            ]
            for edge in used:
                prices[edge] += price
            uses[i] += 1
            for end in edges[i]:
                for v, w in zip(way[end], way[end][1:], strict=False):
                    uses[number[frozenset((v, w))]] += v not in seen
                    relays[t] += v not in seen
                    seen.add(v)
    return [relays, uses, prices]


def joined(links: list[tuple[int, int]], a: int, b: int) -> bool:
    """Whether links connect two subscribers."""
    graph: nx.Graph[int] = nx.Graph([*links, (a, a), (b, b)])
    return nx.has_path(graph, a, b)
