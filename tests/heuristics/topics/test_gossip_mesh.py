"""The gossip mesh keeps every topic connected, and its degrees within GossipSub's limits."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.heuristics.topics.gossip_mesh import MeshDegrees, gossip_mesh
from overlaybench.instances.contract.errors import BadInput
from overlaybench.instances.contract.run import Clock, OutOfTime
from tests.properties import property_test
from tests.trace_strategies import event_lists, held_over_time, links_over_time, parts

pytestmark = pytest.mark.interpreted

DEGREES = st.tuples(*[st.integers(1, 4)] * 3).map(lambda drawn: MeshDegrees(*(sorted(drawn)[k] for k in (1, 0, 2))))


def neighbours(links: set[tuple[str, str]], node: str, topic: str, held: dict[str, set[str]]) -> int:
    return sum(node in link and all(topic in held[v] for v in link) for link in links)


@property_test(300, event_lists(max_nodes=9, max_topics=3, max_events=20), DEGREES, st.integers(0, 9))
def test_topics_are_connected_after_every_event_and_nodes_have_enough_neighbours(
    drawn: tuple[dict[str, list[str]], list[ob.Event]], degrees: MeshDegrees, seed: int
) -> None:
    trace = ob.TopicTrace.from_events(*drawn)
    log, counters = gossip_mesh(trace, degrees, seed=seed)
    assert ob.PROBLEMS["dynamic-tco"].violations(trace, log) == []
    states = list(held_over_time(*drawn))
    for (_, held), links in zip(states, links_over_time(trace, log, [time for time, _ in states]), strict=True):
        for topic in {topic for own in held.values() for topic in own}:
            members = [v for v in held if topic in held[v]]
            assert len(parts(held, links, topic)) == 1
            least = min(degrees.low, len(members) - 1)
            if not counters["prunes"]:  # after a prune there may be nobody to graft
                assert all(neighbours(links, v, topic, held) >= least for v in members)


@property_test(60, event_lists(max_nodes=9, max_topics=1, max_events=20), DEGREES, st.integers(0, 9))
def test_in_a_single_topic_no_degree_exceeds_d_high_but_by_links_that_join_components(
    drawn: tuple[dict[str, list[str]], list[ob.Event]], degrees: MeshDegrees, seed: int
) -> None:
    trace = ob.TopicTrace.from_events(*drawn)
    log, counters = gossip_mesh(trace, degrees, seed=seed)
    most = ob.PROBLEMS["dynamic-tco"].measures(trace, log)["max_degree"]
    assert most <= degrees.high + counters["joining_grafts"]


def test_components_that_a_mesh_of_single_links_leaves_are_joined_and_counted() -> None:
    trace = ob.TopicTrace.from_events({f"n{v}": ["x"] for v in range(8)}, [])
    log, counters = gossip_mesh(trace, MeshDegrees(1, 1, 1))
    assert ob.PROBLEMS["dynamic-tco"].violations(trace, log) == []
    assert counters["grafts"] - counters["prunes"] + counters["joining_grafts"] == log.num_changes
    assert counters["joining_grafts"] >= 3


def test_the_links_of_a_large_topic_are_near_half_the_target_a_node() -> None:
    trace = ob.TopicTrace.from_events({f"n{v}": ["x"] for v in range(400)}, [])
    log, _ = gossip_mesh(trace, MeshDegrees(6, 4, 12), seed=1)
    assert 400 * 4 / 2 <= log.num_changes <= 400 * 6


def test_one_seed_gives_one_log_and_another_seed_another() -> None:
    trace = ob.generate("churn", seed=1, nodes=40, topics=6, subscriptions=3, events=60)
    first, again, other = (ob.solve(trace, "dynamic-tco", "gossip-mesh", seed=seed).answer for seed in (1, 1, 2))
    assert first == again != other


def test_limits_in_the_wrong_order_are_refused_and_time_is_kept() -> None:
    trace = ob.TopicTrace.from_events({"a": ["x"], "b": ["x"]}, [])
    with pytest.raises(BadInput, match="low ≤ degree ≤ high"):
        gossip_mesh(trace, MeshDegrees(3, 4, 12))
    with pytest.raises(OutOfTime):
        gossip_mesh(trace, MeshDegrees(), clock=Clock(0))
