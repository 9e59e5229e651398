"""The search in parts: topic-connected after any number of steps, never worse, and the same on any threads."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import strategies as st

from overlaybench.heuristics.topics.greedy_merge import greedy_merge
from overlaybench.heuristics.topics.kernels.interest import singletons
from overlaybench.heuristics.topics.local_search.overlay_search import (
    PartitionedSearch,
    connect,
    contracted,
    copied,
    similar_order,
)
from overlaybench.heuristics.topics.polish import polish, searches_in_parts
from overlaybench.instances.contract.catalogue import PROBLEMS, WORKLOADS
from overlaybench.instances.contract.errors import BadInput
from overlaybench.instances.contract.overlay import Overlay
from overlaybench.instances.topics.instance import TopicInstance
from tests.heuristics.topics.local_search.test_linked_overlay import connected, topic_graphs
from tests.models.topics.small_instances import small_instance, uniform_instance
from tests.properties import property_test
from tests.topic_brute_force import optimum
from tests.topic_strategies import instances_with_overlays

MIN_TCO = PROBLEMS["min-tco"]


def searched(instance: TopicInstance, overlay: Overlay, steps: int, seed: int = 0, **sizes: int) -> Overlay:
    search = PartitionedSearch(instance, overlay, seed, **sizes)
    while search.steps < steps:
        search.run(lambda taken: taken >= steps)
    return search.overlay


@property_test(30, instances_with_overlays(max_nodes=9), st.integers(1, 4), st.integers(1, 9), st.integers(0, 3))
def test_any_overlay_becomes_no_worse_and_stays_valid(
    pair: tuple[TopicInstance, Overlay], part: int, group: int, seed: int
) -> None:
    instance, overlay = pair
    start = connected(instance, overlay)
    found = searched(instance, start, 100, seed, group=group, part=part)
    assert not MIN_TCO.violations(instance, found)
    assert found.num_edges <= start.num_edges


def test_parts_searched_at_once_leave_all_topics_connected() -> None:
    instance = uniform_instance(80, 12, 4)
    overlay = greedy_merge(instance)
    for seed in range(2):
        found = searched(instance, overlay, 2500, seed, group=40, part=8)
        assert not MIN_TCO.violations(instance, found)
        assert found.num_edges < overlay.num_edges


def test_the_optimum_of_small_instances_is_found() -> None:
    missed = 0
    for seed in range(5):
        instance = small_instance(seed)
        everything = [(u, v) for u in range(instance.num_nodes) for v in range(u)]
        start = Overlay.from_edges(instance.num_nodes, everything)
        found = searched(instance, start, 1500, part=instance.num_nodes)
        assert MIN_TCO.value(instance, found) >= optimum(instance, "min-tco")
        missed += MIN_TCO.value(instance, found) > optimum(instance, "min-tco")
    assert missed == 0


def test_threads_do_not_change_the_overlay() -> None:
    instance = uniform_instance(80, 12, 4)
    overlay = greedy_merge(instance)
    one, two, three = (searched(instance, overlay, 1500, threads=threads, group=40, part=8) for threads in (1, 2, 3))
    assert one == two == three
    assert one != searched(instance, overlay, 1500, seed=1, group=40, part=8)


@property_test(30, instances_with_overlays(), st.sets(st.integers(0, 6), min_size=1))
def test_a_part_has_to_connect_what_only_its_edges_connect(
    pair: tuple[TopicInstance, Overlay], chosen: set[int]
) -> None:
    instance, overlay = pair
    overlay = connected(instance, overlay)
    nodes = np.array(sorted(v for v in chosen if v < instance.num_nodes) or [0], np.int32)
    own = np.isin(overlay.edges, nodes).all(axis=1)
    fixed = singletons(instance)
    connect(overlay.edges[~own], fixed)
    united = copied(fixed)
    connect(overlay.edges[own], united)
    part = contracted(nodes, fixed, united)
    rest = Overlay.from_edges(instance.num_nodes, overlay.edges[~own])
    vertices = {}
    for t, graph in topic_graphs(instance, rest):
        pieces = (piece & set(nodes.tolist()) for piece in nx.connected_components(graph))
        if len(parted := sorted(sorted(piece) for piece in pieces if piece)) > 1:
            vertices[t] = parted
    found = [
        sorted(
            sorted(nodes[part.topic_nodes[part.vertex_offsets[p] : part.vertex_offsets[p + 1]]].tolist())
            for p in range(part.topic_offsets[t], part.topic_offsets[t + 1])
        )
        for t in range(len(part.topic_offsets) - 1)
    ]
    assert found == [vertices[t] for t in sorted(vertices)]


def test_equal_interests_are_close_in_the_order_of_nodes() -> None:
    instance = TopicInstance.from_subscriptions({f"n{v}": [f"t{v % 5}", f"u{v % 5}"] for v in range(50)})
    kinds = similar_order(instance, np.random.default_rng(0)) % 5
    assert np.count_nonzero(np.diff(kinds)) == 4


def test_large_overlays_are_polished_in_parts() -> None:
    assert searches_in_parts(10_000, "edges")
    assert not searches_in_parts(9_999, "edges")
    assert not searches_in_parts(10**6, "degree")
    instance = WORKLOADS["zipf"].generate(seed=0, nodes=10_000, topics=500, subscriptions=10)
    overlay = greedy_merge(instance)
    polished = polish(instance, overlay, steps=4000)
    assert not MIN_TCO.violations(instance, polished)
    assert polished.num_edges < overlay.num_edges
    assert polished == polish(instance, overlay, steps=4000, threads=2)
    with pytest.raises(BadInput, match="threads"):
        polish(instance, overlay, steps=10, threads=5)
