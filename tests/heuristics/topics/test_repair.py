"""Repair of an overlay of yesterday: connected today, few changes, no redundant edges."""

import pytest

import overlaybench as ob
from overlaybench.heuristics.topics.greedy_merge import greedy_merge
from overlaybench.heuristics.topics.local_search.repair import repaired
from tests.models.topics.small_instances import small_instance
from tests.properties import property_test
from tests.topic_strategies import instances_with_overlays

pytestmark = pytest.mark.interpreted


def links(overlay: ob.Overlay) -> set[tuple[int, int]]:
    return {(u, v) for u, v in overlay.edges.tolist()}


@property_test(60, given=instances_with_overlays())
def test_an_overlay_is_repaired_with_no_redundant_link(given: tuple[ob.TopicInstance, ob.Overlay]) -> None:
    instance, earlier = given
    overlay = repaired(instance, earlier)
    assert not ob.check(instance, overlay, "min-tco")
    for edge in links(overlay):
        fewer = ob.Overlay.from_edges(instance.num_nodes, [other for other in links(overlay) if other != edge])
        assert ob.check(instance, fewer, "min-tco"), "a redundant link"


@pytest.mark.parametrize("seed", range(20))
def test_a_minimal_overlay_keeps_its_links_where_nothing_has_changed(seed: int) -> None:
    instance = small_instance(seed)
    minimal = repaired(instance, greedy_merge(instance))
    assert repaired(instance, minimal).edges.tolist() == minimal.edges.tolist()
    most = instance.num_subscriptions - instance.num_topics
    for gone in links(minimal):
        left = ob.Overlay.from_edges(instance.num_nodes, [edge for edge in links(minimal) if edge != gone])
        assert len(links(repaired(instance, left)) - links(left)) <= most - left.num_edges
