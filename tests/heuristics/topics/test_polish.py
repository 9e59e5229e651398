"""Polishing: valid, never worse, free of redundant edges, and repeatable."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from overlaybench.heuristics.topics.local_search.linked_overlay import edges_of, subscriptions_of
from overlaybench.heuristics.topics.local_search.overlay_search import (
    OverlaySearch,
    candidate_lists,
    most_common_topics,
)
from overlaybench.heuristics.topics.local_search.ruin_and_recreate import SearchParameters
from overlaybench.heuristics.topics.polish import POLISH, polish
from overlaybench.instances.contract.catalogue import PROBLEMS, methods_of
from overlaybench.instances.contract.errors import BadInput
from overlaybench.instances.contract.overlay import Overlay
from overlaybench.instances.contract.run import Clock
from overlaybench.instances.topics.instance import TopicInstance
from tests.heuristics.topics.local_search.test_linked_overlay import connected, marks, topic_graphs
from tests.models.topics.small_instances import small_instance, uniform_instance
from tests.properties import property_test
from tests.topic_brute_force import optimum
from tests.topic_strategies import instances_with_overlays

HEURISTICS = tuple(
    method
    for method in methods_of("overlaybench.heuristics.topics")
    if not method.anytime and "min-tco" in method.problems
)
RANKS: dict[str, Callable[[Overlay], Any]] = {
    "edges": lambda overlay: (overlay.num_edges, overlay.max_degree),
    "degree": lambda overlay: (overlay.max_degree, overlay.num_edges),
    "product": lambda overlay: overlay.num_edges * overlay.max_degree,
}


def is_connected(instance: TopicInstance, overlay: Overlay) -> bool:
    return all(len(graph) == len(reached(graph)) for _, graph in topic_graphs(instance, overlay))


def reached(graph: Any) -> set[int]:
    seen: set[int] = set()
    waiting = list(graph)[:1]
    while waiting:
        v = waiting.pop()
        if v not in seen:
            seen.add(v)
            waiting.extend(graph[v])
    return seen


@property_test(100, instances_with_overlays(), st.sampled_from(list(RANKS)), st.integers(0, 3))
def test_any_overlay_becomes_no_worse_and_stays_valid(
    pair: tuple[TopicInstance, Overlay], first: str, seed: int
) -> None:
    instance, overlay = pair
    start = connected(instance, overlay)
    polished = polish(instance, start, first=first, seed=seed, steps=600)
    assert is_connected(instance, polished)
    assert RANKS[first](polished) <= RANKS[first](start)


@pytest.mark.parametrize("seeds", [range(12), pytest.param(range(60), marks=pytest.mark.slow)], ids=["quick", "all"])
@pytest.mark.parametrize("problem", ["min-tco", "minmax-tco"])
def test_the_optimum_of_small_instances_is_found_from_all_edges_at_once(problem: str, seeds: range) -> None:
    missed = 0
    for seed in seeds:
        instance = small_instance(seed)
        everything = [(u, v) for u in range(instance.num_nodes) for v in range(u)]
        start = Overlay.from_edges(instance.num_nodes, everything)
        first = "edges" if problem == "min-tco" else "degree"
        polished = polish(instance, start, first=first, seed=seed, steps=3000)
        assert PROBLEMS[problem].value(instance, polished) >= optimum(instance, problem)
        missed += PROBLEMS[problem].value(instance, polished) > optimum(instance, problem)
    assert missed == 0


def test_no_two_nodes_have_more_topics_in_common() -> None:
    instances = [small_instance(seed) for seed in range(60)]
    instances.append(TopicInstance.from_subscriptions({"a": [*"012"], "b": [*"0123"], "c": [*"34"], "d": [*"45"]}))
    for instance in instances:
        topics = [set(instance.topics_of(v).tolist()) for v in range(instance.num_nodes)]
        common = max((len(one & other) for one, other in combinations(topics, 2)), default=0)
        assert common <= most_common_topics(subscriptions_of(instance))


def test_a_node_with_many_leaf_nodes_takes_little_memory() -> None:
    leaves = {f"n{leaf}": [f"t{leaf}"] for leaf in range(3000)}
    topics = [topic for (topic,) in leaves.values()]
    star = TopicInstance.from_subscriptions(leaves | {"hub": topics, "another": topics[:50]})
    assert most_common_topics(subscriptions_of(star)) == 51  # 50 topics of three, and one of two


@pytest.mark.parametrize("cap", [4, 100])
@pytest.mark.parametrize("temperature", [0.05, 1.0])
def test_after_any_number_of_steps_marks_costs_and_overlays_are_right(cap: int, temperature: float) -> None:
    instance = uniform_instance(18, 12, 4)
    start = connected(instance, Overlay.from_edges(18, []))
    search = OverlaySearch(subscriptions_of(instance), start, candidate_lists(instance), 3)
    search.drop_redundant()
    penalty = 1.5 if cap < 18 else 0.0
    for steps in (1, 2, 3, 50, 200):
        cost = search.run(SearchParameters(cap, penalty, temperature), steps)
        overlay = search.overlay
        assert is_connected(instance, overlay)
        assert cost == overlay.num_edges + penalty * np.maximum(overlay.degrees - cap, 0).sum()
        links, subscriptions = search._links, search._subscriptions
        now = Overlay.from_edges(18, np.stack(np.divmod(edges_of(links), 18), axis=1))
        assert is_connected(instance, now)
        found = marks(links, subscriptions)
        for (t, (u, v)), bridge in found.items():
            graph = dict(topic_graphs(instance, now))[t]
            graph.remove_edge(u, v)
            assert bridge == (len(reached(graph)) < len(graph))
        assert {ends for (_, ends), bridge in found.items() if bridge} == set(map(tuple, now.edges.tolist()))


def test_it_begins_with_any_heuristic_and_improves_it() -> None:
    (start,) = (option for option in POLISH.options if option.name == "start")
    assert set(start.allowed) == {method.name for method in HEURISTICS}
    instance = uniform_instance(40, 30, 5)
    for method in HEURISTICS:
        value = method.run(instance, PROBLEMS["min-tco"]).value
        result = POLISH.run(instance, PROBLEMS["min-tco"], start=method.name, steps=2000)
        assert result.counters["start"] == value
        assert value is not None
        assert result.value is not None
        assert result.value < value


def test_it_begins_with_a_given_overlay() -> None:
    instance = uniform_instance(30, 20, 4)
    start = connected(instance, Overlay.from_edges(30, []))
    result = POLISH.run(instance, PROBLEMS["minmax-tco"], overlay=start, steps=2000)
    assert result.counters["start"] == start.max_degree
    assert result.value is not None
    assert result.value < start.max_degree


def test_what_comes_first_is_what_is_lowest() -> None:
    instance = uniform_instance(60, 40, 6)
    overlays = {}
    for first in RANKS:
        answer = POLISH.run(instance, PROBLEMS["low-tco"], first=first, steps=10_000).answer
        assert answer is not None
        overlays[first] = answer
    for first in ("edges", "degree"):
        assert min(overlays.values(), key=RANKS[first]) is overlays[first]


def test_one_seed_gives_one_answer() -> None:
    instance = uniform_instance(40, 30, 5)
    start = connected(instance, Overlay.from_edges(40, []))
    one, again = (polish(instance, start, seed=5, steps=3000) for _ in range(2))
    assert one == again
    assert any(polish(instance, start, seed=seed, steps=3000) != one for seed in range(4))


def test_a_passed_time_limit_leaves_the_start_valid() -> None:
    instance = uniform_instance(40, 30, 5)
    start = connected(instance, Overlay.from_edges(40, []))
    assert polish(instance, start, time_limit=1e-9) == start
    within = polish(instance, start, time_limit=0.3)
    assert is_connected(instance, within)
    assert within.num_edges < start.num_edges


def test_ctrl_c_or_an_interrupted_clock_ends_the_search_with_the_best_so_far() -> None:
    instance = uniform_instance(40, 30, 5)
    start = connected(instance, Overlay.from_edges(40, []))
    clock = Clock(None)
    clock.interrupt()
    assert polish(instance, start, steps=10**12, clock=clock) == start
    # A process started in the background ignores Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        polished = polish(instance, start, time_limit=60)
    finally:
        signal.signal(signal.SIGINT, before)
    assert is_connected(instance, polished)
    assert polished.num_edges < start.num_edges


@property_test(100, instances_with_overlays())
def test_an_overlay_that_leaves_a_topic_unconnected_is_refused(pair: tuple[TopicInstance, Overlay]) -> None:
    instance, overlay = pair
    if is_connected(instance, overlay):
        polish(instance, overlay, steps=0)
    else:
        with pytest.raises(BadInput, match="components: give an overlay that connects it"):
            polish(instance, overlay, steps=0)


def test_an_overlay_of_another_size_is_refused() -> None:
    with pytest.raises(BadInput, match="an overlay of 3 nodes for 40"):
        polish(uniform_instance(40, 30, 5), Overlay.from_edges(3, []))
