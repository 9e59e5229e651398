"""The reference implementation of the benchmarks is Greedy Merge: it adds edges of maximum contribution only."""

from __future__ import annotations

import pytest

from benchmarks.link_contributions import greedy_merge_by_link_contributions
from overlaybench.instances.catalogue import PROBLEMS
from overlaybench.instances.overlay import Overlay
from overlaybench.instances.topics.instance import TopicInstance
from tests.heuristics.topics import twins
from tests.heuristics.topics.constructions import CONSTRUCTED
from tests.heuristics.topics.test_guarantees import middling
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
    interest, overlay = twins.interest_of(instance), set[twins.Edge]()
    for edge in greedy_merge_by_link_contributions(instance).tolist():
        weights = twins.contributions(interest, overlay)
        pair = divmod(edge, instance.num_nodes)
        assert weights[pair] == max(weights.values()) > 0
        overlay.add(pair)
    built = Overlay.from_edges(instance.num_nodes, sorted(overlay))
    assert PROBLEMS["min-tco"].violations(instance, built) == []
