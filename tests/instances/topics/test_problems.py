"""The five judges, against a brute force that knows only the definitions and networkx."""

from __future__ import annotations

import re
from collections.abc import Callable

import networkx as nx
import numpy as np
import pytest

from overlaybench.instances.contract import problem as contract_problem
from overlaybench.instances.contract.catalogue import PROBLEMS
from overlaybench.instances.contract.overlay import Overlay
from overlaybench.instances.topics import problems as topic_problems
from overlaybench.instances.topics.instance import TopicInstance
from tests.instances.test_overlay import random_case, subgraphs


def connected(graph: nx.Graph[int]) -> bool:
    return nx.is_connected(graph)


def star(graph: nx.Graph[int]) -> bool:
    return any(all(w == v or graph.has_edge(v, w) for w in graph) for v in graph)


def within_two(graph: nx.Graph[int]) -> bool:
    return nx.is_connected(graph) and nx.diameter(graph) <= 2


def edges(overlay: Overlay) -> int:
    return overlay.to_networkx().number_of_edges()


def max_degree(overlay: Overlay) -> int:
    return max(degree for _, degree in overlay.to_networkx().degree)


def survives(graph: nx.Graph[int]) -> bool:
    """Connected, and so without any one of three or more nodes."""
    parts = [graph.subgraph(set(graph) - {left}) for left in graph] if len(graph) > 2 else [graph]
    return all(map(connected, parts))


HOLDS: dict[str, Callable[[nx.Graph[int]], bool]] = {
    "min-tco": connected,
    "minmax-tco": connected,
    "low-tco": connected,
    "weighted-tco": connected,
    "k-tco": survives,
    "2d-star": star,
    "2d-true": within_two,
}
VALUE: dict[str, Callable[[Overlay], int]] = {
    "min-tco": edges,
    "minmax-tco": max_degree,
    "low-tco": lambda overlay: edges(overlay) * max_degree(overlay),
    "weighted-tco": edges,  # without costs; tests/instances/topics/test_link_costs.py has those with costs
    "k-tco": edges,
    "2d-star": edges,
    "2d-true": edges,
}
NAMES = list(HOLDS)


def named_topics(violations: list[str]) -> list[str]:
    return [match[1] for line in violations if (match := re.match(r"topic '(.*?)' (has|is)", line))]


@pytest.mark.parametrize("cases", [40, pytest.param(150, marks=pytest.mark.slow)])
@pytest.mark.parametrize("pairs_at_once", [1, 7, 20_000_000])
def test_values_and_violations_are_those_of_the_definitions(
    pairs_at_once: int, cases: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(topic_problems, "_PAIRS_AT_ONCE", pairs_at_once)
    monkeypatch.setattr(contract_problem, "MOST_LISTED", 100)
    rng = np.random.default_rng(pairs_at_once)
    seen: dict[str, set[bool]] = {name: set() for name in NAMES}
    two_readings: set[bool] = set()
    for _ in range(cases):
        instance, overlay = random_case(rng)
        parts = subgraphs(instance, overlay)
        for name in NAMES:
            broken = [instance.topic_label(t) for t, graph in enumerate(parts) if not HOLDS[name](graph)]
            assert named_topics(PROBLEMS[name].violations(instance, overlay)) == broken
            assert PROBLEMS[name].value(instance, overlay) == VALUE[name](overlay)
            seen[name].add(not broken)
        two_readings.add(any(within_two(graph) and not star(graph) for graph in parts))
    assert all(outcomes == {True, False} for outcomes in (*seen.values(), two_readings))


@pytest.mark.parametrize("name", NAMES)
def test_an_overlay_on_other_nodes_is_invalid(name: str) -> None:
    instance = TopicInstance.from_subscriptions({"a": ["x"], "b": ["x"]})
    for nodes in (1, 3):
        assert PROBLEMS[name].violations(instance, Overlay.from_edges(nodes, [])) == [
            f"the overlay has {nodes} nodes, the instance 2"
        ]


@pytest.mark.parametrize("name", NAMES)
def test_only_the_first_violations_are_spelled_out(name: str) -> None:
    topics = [f"t{t}" for t in range(9)]
    instance = TopicInstance.from_subscriptions({"a": topics, "b": topics})
    violations = PROBLEMS[name].violations(instance, Overlay.from_edges(2, []))
    assert named_topics(violations) == topics[:5]
    assert violations[5:] == ["and 4 more topics"]


def test_measures_are_edges_and_degrees() -> None:
    instance = TopicInstance.from_subscriptions({v: ["x"] for v in "abcd"})
    overlay = Overlay.from_edges(4, [(0, 1), (0, 2), (0, 3)])
    for name in NAMES:
        measures = PROBLEMS[name].measures(instance, overlay)
        assert measures == {"edges": 3, "max_degree": 3, "average_degree": 1.5}
