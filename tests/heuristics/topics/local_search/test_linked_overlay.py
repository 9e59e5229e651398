"""Links, degrees and bridges after any additions and removals of edges, against networkx; nearest neighbours."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
from hypothesis import strategies as st

from overlaybench.heuristics.topics.local_search.linked_overlay import (
    Links,
    Subscriptions,
    add_edge,
    edges_of,
    links_of,
    mark_all_bridges,
    next_redundant,
    remove_edge,
    subscriptions_of,
)
from overlaybench.heuristics.topics.local_search.overlay_search import nearest_pairs
from overlaybench.instances.contract.arrays import Ids
from overlaybench.instances.contract.overlay import Overlay
from overlaybench.instances.topics.instance import TopicInstance
from tests.properties import property_test
from tests.topic_strategies import instances_with_overlays, overlays, topic_instances


def topic_graphs(instance: TopicInstance, overlay: Overlay) -> Iterator[tuple[int, Any]]:
    """G_t for each topic t, from the sets of topics."""
    for t in range(instance.num_topics):
        graph: Any = nx.Graph()
        graph.add_nodes_from(instance.subscribers(t).tolist())
        graph.add_edges_from((u, v) for u, v in overlay.edges.tolist() if u in graph and v in graph)
        yield t, graph


def marks(links: Links, subscriptions: Subscriptions) -> dict[tuple[int, tuple[int, ...]], bool]:
    """The links of each topic by their ends, with whether they are marked as bridges."""
    found: dict[tuple[int, tuple[int, ...]], bool] = {}
    for slot in links.members[: links.counts[0]]:
        one = links.first[slot]
        while one >= 0:
            ends = tuple(sorted(int(subscriptions.topic_nodes[links.target[2 * one + i]]) for i in (0, 1)))
            assert ends == tuple(links.ends[slot])
            found[int(links.topic[one]), ends] = bool(links.bridge[one])
            one = links.following[one]
    return found


def connected(instance: TopicInstance, overlay: Overlay) -> Overlay:
    """The overlay with the path over each topic's subscribers added."""
    paths = [edge for t in range(instance.num_topics) for edge in pairwise(instance.subscribers(t).tolist())]
    return Overlay.from_edges(instance.num_nodes, [*overlay.edges.tolist(), *paths])


@property_test(100, instances_with_overlays(), st.data())
def test_links_stay_those_of_the_graph_through_any_changes(
    pair: tuple[TopicInstance, Overlay], data: st.DataObject
) -> None:
    instance, before = pair
    after = data.draw(overlays(instance.num_nodes))
    subscriptions = subscriptions_of(instance)
    links = links_of(before, subscriptions, spare_edges=40, spare_links=400)
    for slot in links.members[: links.counts[0]].tolist():
        if tuple(links.ends[slot]) not in set(map(tuple, after.edges.tolist())):
            remove_edge(slot, links)
    for u, v in after.edges.tolist():
        if (u, v) not in set(map(tuple, before.edges.tolist())):
            add_edge(u, v, subscriptions, links)
    n = instance.num_nodes
    assert edges_of(links).tolist() == [u * n + v for u, v in after.edges.tolist()]
    assert links.degrees.tolist() == after.degrees.tolist()
    wanted = {(t, tuple(sorted(e))) for t, graph in topic_graphs(instance, after) for e in graph.edges}
    assert set(marks(links, subscriptions)) == wanted
    chained = [
        int(links.target[half])
        for p in range(len(subscriptions.topic_nodes))
        for half in half_edges(links.head[p], links.after)
        if links.target[half ^ 1] == p
    ]
    assert len(chained) == 2 * len(wanted)


def half_edges(half: int, after: Ids) -> Iterator[int]:
    while half >= 0:
        yield half
        half = int(after[half])


@property_test(100, instances_with_overlays())
def test_bridges_and_redundant_edges_are_those_of_networkx(pair: tuple[TopicInstance, Overlay]) -> None:
    instance, overlay = pair
    overlay = connected(instance, overlay)
    subscriptions = subscriptions_of(instance)
    links = links_of(overlay, subscriptions, spare_edges=0, spare_links=0)
    most = int(np.diff(instance.topic_offsets).max())
    mark_all_bridges(subscriptions, links, np.zeros((5, most), np.int32))
    bridges = {(t, tuple(sorted(e))) for t, graph in topic_graphs(instance, overlay) for e in nx.bridges(graph)}
    found = marks(links, subscriptions)
    assert {key for key, bridge in found.items() if bridge} == bridges
    redundant: set[tuple[int, ...]] = set()
    while links.counts[2]:
        slot = next_redundant(0.5, links)
        if slot >= 0:
            redundant.add(tuple(links.ends[slot].tolist()))
    assert redundant == set(map(tuple, overlay.edges.tolist())) - {ends for _, ends in bridges}


@property_test(100, topic_instances(max_nodes=9), st.integers(1, 4))
def test_nearest_are_those_with_most_in_common_weighted_by_rarity(instance: TopicInstance, count: int) -> None:
    sizes = [len(instance.subscribers(t)) for t in range(instance.num_topics)]
    worth = [round(100 * float(np.log(2 * max(sizes) / size))) for size in sizes]
    topics = [set(instance.topics_of(v).tolist()) for v in range(instance.num_nodes)]
    expected: set[tuple[int, ...]] = set()
    for v in range(instance.num_nodes):
        scores = {u: sum(worth[t] for t in topics[u] & topics[v]) for u in range(instance.num_nodes) if u != v}
        reached = sorted((score for score in scores.values() if score), reverse=True)[:count]
        chosen = {tuple(sorted((u, v))) for u, score in scores.items() if reached and score > reached[-1]}
        expected |= chosen
        tied = [u for u, score in scores.items() if reached and score == reached[-1]]
        found = {key for key in nearest(instance, count) if v in key}
        assert chosen <= found
        assert len(found & {tuple(sorted((u, v))) for u in tied}) >= len(reached) - len(chosen)
    assert len(nearest(instance, count)) <= instance.num_nodes * count


def nearest(instance: TopicInstance, count: int) -> set[tuple[int, ...]]:
    return {divmod(key, instance.num_nodes) for key in nearest_pairs(instance, count).tolist()}
