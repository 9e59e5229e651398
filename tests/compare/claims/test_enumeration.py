"""SN-TCO and minimum set covers against other enumerations."""

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.compare.claims.enumeration import minimum_set_cover, smallest_degree_of
from overlaybench.instances.topics.constructions import random_set_cover
from tests.topic_strategies import topic_instances


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 9), st.integers(1, 7), st.floats(0, 0.8), st.integers(0, 10**6))
def test_a_minimum_set_cover_covers_and_no_fewer_sets_do(elements: int, sets: int, share: float, seed: int) -> None:
    cover = random_set_cover(elements, sets, share, seed)
    found = minimum_set_cover(cover)
    assert cover.covered_by(found)
    fewer = combinations(range(sets), len(found) - 1)
    assert not any(cover.covered_by(chosen) for chosen in fewer)


@settings(max_examples=20, deadline=None)
@given(topic_instances(max_nodes=5), st.data())
def test_the_smallest_degree_of_a_node_is_that_of_some_overlay(instance: ob.TopicInstance, data: st.DataObject) -> None:
    node = data.draw(st.integers(0, instance.num_nodes - 1))
    degree, overlay = smallest_degree_of(instance, node)
    assert overlay.degrees[node] == degree
    others = [v for v in range(instance.num_nodes) if v != node]
    # A node's neighbours must, for each of its topics that others want, hold a subscriber.
    wanted = [set(instance.subscribers(t).tolist()) - {node} for t in instance.topics_of(node)]
    wanted = [subscribers for subscribers in wanted if subscribers]
    hitting = [
        n for n in range(len(others) + 1) if any(all(set(c) & w for w in wanted) for c in combinations(others, n))
    ]
    assert degree == hitting[0]
