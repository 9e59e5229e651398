"""Methods on traces: valid after every event, one answer for a seed, and a structure that equals one built anew."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.compare.catalogue import METHODS
from overlaybench.heuristics.topics.incremental_merge import repaired_over, started
from overlaybench.heuristics.topics.kernels.living_overlay import (
    add_link,
    bit_count,
    living_overlay,
    overlay_of,
    remove_link,
    with_room,
)
from overlaybench.instances.topics.link_log import LinkLog
from tests.properties import property_test
from tests.trace_strategies import traces

pytestmark = pytest.mark.interpreted

HEURISTICS = [name for name, method in METHODS.items() if method.answers("dynamic-tco") and not method.exact]
TRACES = traces(max_nodes=12, max_topics=6, max_events=200)
CHURN = {"nodes": 24, "topics": 8, "subscriptions": 3, "events": 60, "popularity": "zipf"}


@property_test(150, TRACES, quick=6)
@pytest.mark.parametrize("name", HEURISTICS)
def test_topics_are_connected_after_every_event(name: str, trace: ob.TopicTrace) -> None:
    problem = ob.PROBLEMS["dynamic-tco"]
    result = METHODS[name].run(trace, problem, seed=3)
    assert result.answer is not None, result.reason
    assert problem.violations(trace, result.answer) == []
    assert METHODS[name].run(trace, problem, seed=3).answer == result.answer


@pytest.mark.parametrize("workload", ["churn", "flash-crowd", "mass-departure", "diurnal", "ethereum-epochs"])
def test_workloads_are_answered_by_every_heuristic(workload: str) -> None:
    own = {option.name for option in ob.WORKLOADS[workload].parameters}
    trace = ob.generate(workload, seed=2, **{name: size for name, size in CHURN.items() if name in own})
    values = {name: METHODS[name].run(trace, ob.PROBLEMS["dynamic-tco"]).value for name in HEURISTICS}
    assert None not in values.values()
    assert values["gm-incremental"] <= 1.2 * values["gm-recomputed"]  # type: ignore[operator]


@property_test(150, TRACES, quick=6)
def test_any_number_of_candidates_keeps_topics_connected(trace: ob.TopicTrace) -> None:
    for moves in (0, 1, 30):
        result = METHODS["gm-incremental"].run(trace, ob.PROBLEMS["dynamic-tco"], moves=moves)
        assert result.answer is not None, result.reason


@pytest.mark.parametrize("name", ["gm-recomputed", "rings", "gossip-mesh", "dcbr-m-decentralised"])
def test_a_trace_that_takes_longer_than_its_limit_ends_at_it(name: str) -> None:
    trace = ob.generate("churn", seed=1, **CHURN)
    result = METHODS[name].run(trace, ob.PROBLEMS["dynamic-tco"], time_limit=1e-9)
    assert result.status is ob.Status.TIME_LIMIT
    assert result.answer is None
    assert result.reason


def test_more_candidates_save_links() -> None:
    trace = ob.generate("churn", seed=3, nodes=50, topics=20, subscriptions=5, events=150)
    values = [METHODS["gm-incremental"].run(trace, ob.PROBLEMS["dynamic-tco"], moves=k).value for k in (0, 16)]
    assert None not in values
    assert values[1] < values[0]  # type: ignore[operator]


@pytest.mark.parametrize("budget", [0, 1, 100])
def test_a_budget_of_changes_spares_some_only_where_it_is_exceeded(budget: int) -> None:
    trace = ob.generate("churn", seed=3, nodes=50, topics=20, subscriptions=5, events=150)
    rows, _ = repaired_over(trace, started(trace), budget=budget)
    free, _ = repaired_over(trace, started(trace), budget=1e9)
    assert len(rows) <= len(free)
    assert (len(rows) == len(free)) == (budget == 100)


@property_test(150, TRACES, quick=6)
def test_the_structure_after_all_events_is_that_of_the_last_snapshot(trace: ob.TopicTrace) -> None:
    living = started(trace)
    first = overlay_of(living)
    rows, living = repaired_over(trace, living)
    *_, last = trace.snapshots()
    slot_nodes = np.repeat(np.arange(trace.num_nodes), np.diff(trace.node_offsets))
    rows_of_slots = zip(slot_nodes.tolist(), living.node_topics.tolist(), living.active.tolist(), strict=True)
    active = {(v, t) for v, t, on in rows_of_slots if on}
    wanted = (
        set()
        if last is None
        else {
            (v, int(trace_topic(trace, last.topic_label(t))))
            for v in range(last.num_nodes)
            for t in last.topics_of(v).tolist()
        }
    )
    assert active == wanted
    for t in range(trace.num_topics):
        begin = living.topic_offsets[t]
        members = living.members[begin : begin + living.counts[t]]
        assert members.tolist() == sorted(v for v, topic in wanted if topic == t)
    for v in range(trace.num_nodes):
        block = slice(living.begin[v], living.begin[v] + living.degrees[v])
        for w, colours in zip(living.to[block].tolist(), living.colours[block].tolist(), strict=True):
            assert colours == sum({1 << t % 32 for t in range(trace.num_topics) if {(v, t), (w, t)} <= wanted})
    overlay = overlay_of(living)
    assert living.degrees.tolist() == overlay.degrees.tolist()
    links = {(u, v) for u, v in first.edges.tolist()}
    at = 0
    for step in range(1, trace.num_steps):
        gone = set(trace.nodes[(trace.step_of == step) & (trace.kinds >= 3)].tolist())
        links = {link for link in links if not gone & set(link)}
        while at < len(rows) and rows[at, 0] == step:
            link = min(rows[at, 1:3]), max(rows[at, 1:3])
            assert (link in links) == (rows[at, 3] < 0)
            links ^= {(int(link[0]), int(link[1]))}
            at += 1
    assert sorted(map(list, links)) == overlay.edges.tolist()
    assert at == len(rows)


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


def trace_topic(trace: ob.TopicTrace, label: str) -> int:
    """A topic's number in the trace."""
    return next(t for t in range(trace.num_topics) if trace.topic_label(t) == label)


def test_a_node_that_joins_gets_the_fewest_links() -> None:
    topics = [f"t{t}" for t in range(6)]
    start = {"a": topics[:3], "b": topics[3:], "c": topics[1:5], "d": topics[2:5]}
    trace = ob.TopicTrace.from_events(start, [ob.Event(1, "join", "e", topics)])
    log = METHODS["gm-incremental"].run(trace, ob.PROBLEMS["dynamic-tco"]).answer
    assert isinstance(log, LinkLog)
    assert int((log.added[log.times > 0]).sum()) == 2


def test_bits_are_counted_in_every_integer_whether_compiled_or_not() -> None:
    masks: Any = np.array([0, 1, 2**63 - 1, -(2**63), -1, -(2**63) + 5])  # as kernels have them: no Python integers
    for bits in masks:
        assert bit_count(bits) == (int(bits) % 2**64).bit_count()
