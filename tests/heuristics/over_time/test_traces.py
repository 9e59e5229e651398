"""Methods on traces: valid after every event, within their limits, and structures that equal ones built anew."""

from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.heuristics.graph import bit_count
from overlaybench.heuristics.over_time.gossip_mesh import MeshDegrees, gossip_mesh
from overlaybench.heuristics.over_time.incremental_merge import repaired_over, started
from overlaybench.heuristics.over_time.kernels.living_overlay import (
    add_link,
    living_overlay,
    overlay_of,
    remove_link,
    with_room,
)
from overlaybench.instances.runtime.run import Clock, OutOfTime
from tests.outcomes import answer_of
from tests.properties import property_test
from tests.trace_strategies import event_lists, held_over_time, links_over_time, parts, traces

pytestmark = pytest.mark.interpreted
HEURISTICS = [name for name, method in ob.METHODS.items() if method.answers("dynamic-tco") and not method.exact]
TRACES = traces(max_nodes=12, max_topics=6, max_events=200)
CHURN = {"nodes": 16, "topics": 6, "subscriptions": 3, "events": 30, "popularity": "zipf"}


MOVES = [("gm-incremental", {"moves": moves}) for moves in (0, 1, 30)]


@property_test(150, TRACES, quick=3)
@pytest.mark.parametrize(("name", "options"), [*((name, {}) for name in HEURISTICS), *MOVES])
def test_topics_are_connected_after_every_event(name: str, options: dict[str, Any], trace: ob.TopicTrace) -> None:
    problem = ob.PROBLEMS["dynamic-tco"]
    result = ob.METHODS[name].run(trace, problem, seed=3, **options)
    assert result.answer is not None, result.reason
    assert problem.violations(trace, result.answer) == []
    assert ob.METHODS[name].run(trace, problem, seed=3, **options).answer == result.answer


@property_test(150, TRACES, quick=3)
@pytest.mark.parametrize("order", ["number", "random", "random-per-topic"])
def test_a_subscription_changes_at_most_three_links_of_rings(order: str, trace: ob.TopicTrace) -> None:
    log = answer_of(ob.METHODS["rings"].run(trace, ob.PROBLEMS["dynamic-tco"], order=order, seed=2))
    toggles = np.diff(trace.toggle_offsets)
    for step, time in enumerate(trace.step_times[1:].tolist(), start=1):
        assert (log.times == time).sum() <= 3 * toggles[step]


def test_the_ring_of_a_topic_stays_where_another_topic_vanishes() -> None:
    events = [ob.Event(1, "unsubscribe", "n0", ["a"])]
    trace = ob.TopicTrace.from_events({"n0": ["a", "b"], **{f"n{v}": ["b"] for v in range(1, 9)}}, events)
    log = answer_of(ob.METHODS["rings"].run(trace, ob.PROBLEMS["dynamic-tco"], order="random-per-topic"))
    assert {*log.times.tolist()} == {0}


@property_test(300, TRACES, quick=3)
@pytest.mark.parametrize(("name", "options"), [("shadow-repair", {}), ("gm-incremental", {"tests": 0})])
def test_a_removed_link_had_lost_its_last_topic(name: str, options: dict[str, Any], trace: ob.TopicTrace) -> None:
    log = answer_of(ob.METHODS[name].run(trace, ob.PROBLEMS["dynamic-tco"], **options))
    after = dict(zip(trace.step_times.tolist(), trace.snapshots(), strict=True))
    for time, (u, v), added in zip(log.times.tolist(), log.links.tolist(), log.added.tolist(), strict=True):
        if not added and (instance := after[time]) is not None:
            assert not {*instance.topics_of(u).tolist()} & {*instance.topics_of(v).tolist()}


def test_a_link_is_kept_whose_ends_change_to_another_topic_at_one_time() -> None:
    events = [
        ob.Event(1, what, node, [topic]) for node in "uv" for what, topic in (("unsubscribe", "a"), ("subscribe", "b"))
    ]
    trace = ob.TopicTrace.from_events({"u": ["a", "c"], "v": ["a", "d"], "w": ["b"], "x": ["c"], "y": ["d"]}, events)
    for name in ("shadow-repair", "gm-incremental"):
        log = answer_of(ob.METHODS[name].run(trace, ob.PROBLEMS["dynamic-tco"]))
        assert log.added.tolist() == [1, 1, 1, 1]  # three of the start, and one to w


@pytest.mark.parametrize("workload", ["churn", "flash-crowd", "mass-departure", "diurnal", "ethereum-epochs"])
def test_workloads_are_answered_by_every_heuristic(workload: str) -> None:
    own = {option.name for option in ob.WORKLOADS[workload].parameters}
    trace = ob.generate(workload, seed=2, **{name: size for name, size in CHURN.items() if name in own})
    values = {name: ob.METHODS[name].run(trace, ob.PROBLEMS["dynamic-tco"]).value for name in HEURISTICS}
    assert None not in values.values()
    assert values["gm-incremental"] <= 1.2 * values["gm-recomputed"]  # type: ignore[operator]


@pytest.mark.parametrize("name", ["gm-recomputed", "rings", "gossip-mesh"])
def test_a_trace_that_takes_longer_than_its_limit_ends_at_it(name: str) -> None:
    trace = ob.generate("churn", seed=1, **CHURN)
    result = ob.METHODS[name].run(trace, ob.PROBLEMS["dynamic-tco"], time_limit=1e-9)
    assert result.status is ob.Status.TIME_LIMIT
    assert result.answer is None
    assert result.reason


def test_more_candidates_save_links() -> None:
    trace = ob.generate("churn", seed=3, nodes=30, topics=15, subscriptions=5, events=60)
    values = [ob.METHODS["gm-incremental"].run(trace, ob.PROBLEMS["dynamic-tco"], moves=k).value for k in (0, 16)]
    assert None not in values
    assert values[1] < values[0]  # type: ignore[operator]


def test_a_budget_of_changes_spares_some_only_where_it_is_exceeded() -> None:
    trace = ob.generate("churn", seed=3, nodes=30, topics=15, subscriptions=5, events=60)
    none, one, free = (len(repaired_over(trace, started(trace), budget=budget)[0]) for budget in (0, 1, 1e9))
    assert none <= one < free == len(repaired_over(trace, started(trace), budget=100)[0])


@property_test(100, st.integers(2, 14), st.lists(st.integers(0, 10_000), max_size=300), quick=10)
def test_blocks_keep_the_links_of_any_changes(n: int, choices: list[int]) -> None:
    nodes = {f"n{v}": ["t"] for v in range(n)}
    living, links = living_overlay(ob.TopicTrace.from_events(nodes, [])), set[tuple[int, int]]()
    for choice in choices:
        u, v = sorted((choice % n, choice // n % n))
        if (u, v) in links:
            remove_link(u, v, living)
        elif u != v:
            living = with_room(1, living)
            add_link(v, u, living)
        links ^= {(u, v)} - {(u, u)}
    assert overlay_of(living).edges.tolist() == sorted(map(list, links))


def test_a_node_that_joins_gets_the_fewest_links() -> None:
    topics = [f"t{t}" for t in range(6)]
    start = {"a": topics[:3], "b": topics[3:], "c": topics[1:5], "d": topics[2:5]}
    trace = ob.TopicTrace.from_events(start, [ob.Event(1, "join", "e", topics)])
    log = ob.METHODS["gm-incremental"].run(trace, ob.PROBLEMS["dynamic-tco"]).answer
    assert isinstance(log, ob.LinkLog)
    assert int((log.added[log.times > 0]).sum()) == 2
    assert len(repaired_over(trace, started(trace), tests=0)[0]) == 2, "also where none is dropped afterwards"


def test_bits_are_counted_in_every_integer_whether_compiled_or_not() -> None:
    masks: Any = np.array([0, 1, 2**63 - 1, -(2**63), -1, -(2**63) + 5])  # as kernels have them: no Python integers
    for bits in masks:
        assert bit_count(bits) == (int(bits) % 2**64).bit_count()


DEGREES = st.tuples(*[st.integers(1, 4)] * 3).map(lambda drawn: MeshDegrees(*(sorted(drawn)[k] for k in (1, 0, 2))))


Drawn = tuple[dict[str, list[str]], list[ob.Event]]


def neighbours(links: set[tuple[str, str]], node: str, topic: str, held: dict[str, set[str]]) -> int:
    return sum(node in link and all(topic in held[v] for v in link) for link in links)


@property_test(300, event_lists(max_nodes=9, max_topics=3, max_events=20), DEGREES, st.integers(0, 9))
def test_topics_are_connected_and_nodes_have_enough_neighbours(drawn: Drawn, degrees: MeshDegrees, seed: int) -> None:
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
def test_degrees_in_a_topic_exceed_d_high_by_joining_links(drawn: Drawn, degrees: MeshDegrees, seed: int) -> None:
    trace = ob.TopicTrace.from_events(*drawn)
    log, counters = gossip_mesh(trace, degrees, seed=seed)
    most = ob.PROBLEMS["dynamic-tco"].measures(trace, log)["max_degree"]
    assert most <= degrees.high + counters["joining_grafts"]


def test_meshes_are_joined_and_near_half_the_target_a_node() -> None:
    trace = ob.TopicTrace.from_events({f"n{v}": ["x"] for v in range(8)}, [])
    log, counters = gossip_mesh(trace, MeshDegrees(1, 1, 1))
    assert ob.PROBLEMS["dynamic-tco"].violations(trace, log) == []
    assert counters["grafts"] - counters["prunes"] + counters["joining_grafts"] == log.num_changes
    assert counters["joining_grafts"] >= 3
    trace = ob.TopicTrace.from_events({f"n{v}": ["x"] for v in range(400)}, [])
    log, _ = gossip_mesh(trace, MeshDegrees(6, 4, 12), seed=1)
    assert 400 * 4 / 2 <= log.num_changes <= 400 * 6


def test_limits_in_the_wrong_order_are_refused_and_time_is_kept() -> None:
    trace = ob.TopicTrace.from_events({"a": ["x"], "b": ["x"]}, [])
    with pytest.raises(ob.BadInput, match="low ≤ degree ≤ high"):
        gossip_mesh(trace, MeshDegrees(3, 4, 12))
    with pytest.raises(OutOfTime):
        gossip_mesh(trace, MeshDegrees(), clock=Clock(0))
