"""Greedy Merge by P1's data structure adds edges of maximum contribution only, and counts each update once."""

from __future__ import annotations

import pytest

from overlaybench.compare.claims.link_contributions import merge_by_link_contributions
from overlaybench.instances.contract.catalogue import PROBLEMS, WORKLOADS
from overlaybench.instances.contract.overlay import Overlay
from overlaybench.instances.topics.instance import TopicInstance
from tests.heuristics.topics import twins
from tests.heuristics.topics.test_guarantees import middling
from tests.heuristics.topics.twins import CONSTRUCTED
from tests.properties import property_test
from tests.topic_strategies import topic_instances


@property_test(100, topic_instances())
def test_each_edge_contributes_most_when_it_is_added(instance: TopicInstance) -> None:
    check(instance)


@pytest.mark.parametrize(
    "instance",
    [
        *CONSTRUCTED.values(),
        middling(1, 18, 9, 5),
        middling(2, 12, 20, 10),
    ],
    ids=[*CONSTRUCTED, "random", "random, many topics"],
)
def test_each_edge_contributes_most_on_larger_instances(instance: TopicInstance) -> None:
    check(instance)


def check(instance: TopicInstance) -> None:
    interest = twins.interest_of(instance)
    for newest in (True, False):
        edges, work = merge_by_link_contributions(instance, newest=newest)
        overlay, updates = set[twins.Edge](), 0
        weights = twins.contributions(interest, overlay)
        for pair in map(tuple, edges.tolist()):
            assert weights[pair] == max(weights.values()) > 0
            overlay.add(pair)
            after = twins.contributions(interest, overlay)
            updates += sum(weights[other] - after[other] for other in after)
            weights = after
        assert (work.edges, work.updates) == (len(edges), updates)
        assert work.listed == sum(weight > 0 for weight in twins.contributions(interest, set()).values())
    built = Overlay.from_edges(instance.num_nodes, sorted(overlay))
    assert PROBLEMS["min-tco"].violations(instance, built) == []


def test_the_loop_as_printed_leaves_topics_apart() -> None:
    instance = WORKLOADS["exponential"].generate(nodes=60, topics=20, subscriptions=5, seed=0)
    overlays = [
        Overlay.from_edges(instance.num_nodes, merge_by_link_contributions(instance, as_printed=printed)[0])
        for printed in (False, True)
    ]
    assert [bool((overlay.topic_components(instance) == 1).all()) for overlay in overlays] == [True, False]
