"""The judges of topics, against brute forces that know only the definitions and networkx."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.instances.contract import problem as contract_problem
from overlaybench.instances.contract.problem import family_of
from overlaybench.instances.limits import routing_costs as relays
from overlaybench.instances.limits.routing_costs import filtering_cost, topic_diameters
from overlaybench.instances.limits.soc import EDGES, FILTERING, MAX_DEGREE, SOC_PROBLEMS, RoutingCost
from overlaybench.instances.topics import problems as topic_problems
from tests.instances.test_overlay import random_case, subgraphs
from tests.properties import property_test
from tests.topic_brute_force import members_of_topics
from tests.topic_strategies import Case, instances_with_overlays


def connected(graph: nx.Graph[int]) -> bool:
    return nx.is_connected(graph)


def star(graph: nx.Graph[int]) -> bool:
    return any(all(w == v or graph.has_edge(v, w) for w in graph) for v in graph)


def within_two(graph: nx.Graph[int]) -> bool:
    return nx.is_connected(graph) and nx.diameter(graph) <= 2


def edges(overlay: ob.Overlay) -> int:
    return overlay.to_networkx().number_of_edges()


def max_degree(overlay: ob.Overlay) -> int:
    return max(degree for _, degree in overlay.to_networkx().degree)


def survives(graph: nx.Graph[int]) -> bool:
    """Connected, and so without any one of three or more nodes."""
    parts = [graph.subgraph(set(graph) - {left}) for left in graph] if len(graph) > 2 else [graph]
    return all(map(connected, parts))


NAMES = [problem.name for problem in topic_problems.TOPIC_PROBLEMS]
HOLDS = {"k-tco": survives, "2d-star": star, "2d-true": within_two}  # others: connected
VALUE: dict[str, Callable[[ob.Overlay], int]] = {  # others: edges
    "minmax-tco": max_degree,
    "low-tco": lambda overlay: edges(overlay) * max_degree(overlay),
}


def named_topics(violations: list[str]) -> list[str]:
    return [match[1] for line in violations if (match := re.match(r"topic '(.*?)' (has|is)", line))]


@pytest.mark.parametrize("cases", [40, pytest.param(150, marks=pytest.mark.slow)])
@pytest.mark.parametrize("pairs_at_once", [1, 7, 20_000_000])
def test_values_and_violations_are_right(pairs_at_once: int, cases: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topic_problems, "_PAIRS_AT_ONCE", pairs_at_once)
    monkeypatch.setattr(contract_problem, "MOST_LISTED", 100)
    rng = np.random.default_rng(pairs_at_once)
    seen: dict[str, set[bool]] = {name: set() for name in NAMES}
    two_readings: set[bool] = set()
    for _ in range(cases):
        instance, overlay = random_case(rng)
        parts = subgraphs(instance, overlay)
        for name in NAMES:
            broken = [instance.topic_label(t) for t, graph in enumerate(parts) if not HOLDS.get(name, connected)(graph)]
            assert named_topics(ob.PROBLEMS[name].violations(instance, overlay)) == broken
            assert ob.PROBLEMS[name].value(instance, overlay) == VALUE.get(name, edges)(overlay)
            seen[name].add(not broken)
        two_readings.add(any(within_two(graph) and not star(graph) for graph in parts))
    assert all(outcomes == {True, False} for outcomes in (*seen.values(), two_readings))


@pytest.mark.parametrize("name", [*NAMES, "filtering"])
def test_an_overlay_on_other_nodes_is_invalid(name: str) -> None:
    instance = ob.TopicInstance.from_subscriptions({"a": ["x"], "b": ["x"]})
    for nodes in (1, 3):
        assert ob.PROBLEMS[name].violations(instance, ob.Overlay.from_edges(nodes, [])) == [
            f"the overlay has {nodes} nodes, the instance 2"
        ]


@pytest.mark.parametrize("name", NAMES)
def test_only_the_first_violations_are_spelled_out(name: str) -> None:
    topics = [f"t{t}" for t in range(9)]
    instance = ob.TopicInstance.from_subscriptions({"a": topics, "b": topics})
    violations = ob.PROBLEMS[name].violations(instance, ob.Overlay.from_edges(2, []))
    assert named_topics(violations) == topics[:5]
    assert violations[5:] == ["and 4 more topics"]


def fewest_relays(graph: nx.Graph[Any], subscribers: set[int]) -> float:
    others = sorted(set(graph) - subscribers)
    for count in range(len(others) + 1):
        if any(nx.is_connected(graph.subgraph(subscribers | set(chosen))) for chosen in combinations(others, count)):
            return count
    return math.inf


def diameter(graph: nx.Graph[Any], subscribers: set[int]) -> float:
    lengths = dict(nx.all_pairs_shortest_path_length(graph))
    return max(float(lengths[u].get(v, math.inf)) for u in subscribers for v in subscribers)


def with_relays(seed: int) -> Case:
    """A sparse graph in which a topic of three to five of eleven nodes needs relays."""
    rng = np.random.default_rng(seed)
    chosen = rng.choice(11, rng.integers(3, 6), replace=False)
    graph = nx.gnm_random_graph(11, int(rng.integers(10, 18)), seed)
    instance = ob.TopicInstance.from_subscriptions({f"n{v}": ["t"] if v in chosen else [f"own{v}"] for v in range(11)})
    return instance, ob.Overlay.from_edges(11, graph.edges)


ROUTED = st.one_of(instances_with_overlays(max_nodes=9), st.builds(with_relays, st.integers(0, 10**9)))


@property_test(300, ROUTED, quick=40)
def test_the_routing_costs_are_those_of_the_definitions(case: Case) -> None:
    instance, overlay = case
    graph = overlay.to_networkx()
    found = filtering_cost(overlay, instance)
    assert found.proven
    assert list(found.relays) == [fewest_relays(graph, {*each}) for each in members_of_topics(instance)]
    assert topic_diameters(overlay, instance).tolist() == [
        diameter(graph, {*each}) for each in members_of_topics(instance)
    ]


@property_test(100, ROUTED, quick=15)
def test_without_the_programs_the_cost_stated_can_be_routed_and_is_not_called_proven(case: Case) -> None:
    instance, overlay = case
    exact = filtering_cost(overlay, instance)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(relays, "_MOST_RELAYS", 0)
        rough = filtering_cost.__wrapped__(overlay, instance)
    for fewest, stated in zip(exact.relays, rough.relays, strict=True):
        assert stated >= fewest
    assert rough.relays == exact.relays or not rough.proven


def test_violations_name_the_topic_or_the_limit() -> None:
    instance = ob.TopicInstance.from_subscriptions({"a": ["x"], "b": ["x", "y"], "c": ["y"]})
    path, empty = ob.Overlay.from_edges(3, [(0, 1), (1, 2)]), ob.Overlay.from_edges(3, [])
    assert ob.PROBLEMS["filtering"].violations(instance, empty) == [
        "topic 'x' has subscribers that no path connects",
        "topic 'y' has subscribers that no path connects",
    ]
    assert ob.PROBLEMS["filtering@max-degree=1"].violations(instance, path) == ["the max degree is 2, more than 1"]
    assert ob.PROBLEMS["filtering@max-degree=2"].violations(instance, path) == []


@pytest.mark.parametrize(
    ("name", "canonical"),
    [
        ("filtering@max-degree=4.0", "filtering@max-degree=4"),
        ("filtering=10@edges", "filtering=10@edges"),
        ("topic-diameter@max-degree", "topic-diameter@max-degree"),
        ("average-topic-diameter=1.50@average-degree", "average-topic-diameter=1.5@average-degree"),
    ],
)
def test_a_name_states_what_is_limited(name: str, canonical: str) -> None:
    problem = ob.PROBLEMS.named(name)
    assert problem.name == canonical
    assert ob.PROBLEMS[canonical] is problem
    assert name in ob.PROBLEMS
    assert canonical not in list(ob.PROBLEMS)
    assert family_of(canonical) in {each.name for each in SOC_PROBLEMS}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("filtering@max-degre=4", "did you mean 'max-degree'"),
        ("filtering=1@edges=2", "leave one out"),
        ("filtering@edges=many", "a limit must be a number .*'many'"),
        ("filtering@edges=-1", "at least 0"),
        ("filtering@edges=nan", "at least 0"),
        ("filtering=3", "write it as filtering@DEGREE=d"),
        ("low-tco@edges=3", "'low-tco' has no limits"),
        ("unheard@edges=3", "unknown problem 'unheard@edges=3'"),
    ],
)
def test_a_bad_name_is_one_line_with_its_fix(name: str, message: str) -> None:
    assert name not in ob.PROBLEMS
    with pytest.raises(ob.BadInput, match=message):
        ob.PROBLEMS.named(name)


def test_methods_answer_every_problem_of_a_family() -> None:
    method: ob.Method[ob.TopicInstance, ob.Overlay] = ob.METHODS["filtering-cp-sat"]
    assert method.answers("filtering=2@edges")
    assert not method.answers("topic-diameter")
    assert "edge-removal" in ob.methods("filtering@max-degree=3")
    assert "gm" not in ob.methods("filtering@max-degree=3")


def test_functions_of_ones_own_make_a_problem_of_the_family_soc() -> None:
    squares = RoutingCost("squares", "sum of squared degrees", lambda overlay, _: float((overlay.degrees**2).sum()))
    problem = ob.SOC(EDGES, squares, most_cost=6)
    assert (problem.name, family_of(problem.name)) == ("soc@squares=6@edges", "soc")
    assert problem.default_method == "edge-exchange"
    instance = ob.TopicInstance.from_subscriptions({"a": ["x"], "b": ["x"], "c": ["x"]})
    path = ob.Overlay.from_edges(3, [(0, 1), (1, 2)])
    assert (problem.value(instance, path), problem.violations(instance, path)) == (2, [])
    assert problem.measures(instance, path)["squares"] == 6


def test_two_limits_are_refused() -> None:
    with pytest.raises(ob.BadInput, match="limits of both max-degree and filtering"):
        ob.SOC(MAX_DEGREE, FILTERING, most_degree=3, most_cost=4)
