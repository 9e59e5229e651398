"""The decentralised scheme on a trace: its overlays are those of DCBR-M, and only what changed is sent."""

from __future__ import annotations

import numpy as np
import pytest

import overlaybench as ob
from overlaybench.heuristics.topics.decentralised import decentralised, drawn_parts
from overlaybench.heuristics.topics.decentralised_over_time import decentralised_over_time
from overlaybench.heuristics.topics.divide_and_conquer import Partition
from overlaybench.heuristics.topics.gm_m import extend_gm_m
from overlaybench.heuristics.topics.kernels.ties import tie_order
from tests.properties import property_test
from tests.trace_strategies import traces

pytestmark = pytest.mark.interpreted


@property_test(100, traces(max_nodes=9, max_topics=5, max_events=20))
def test_no_step_sends_more_than_the_static_scheme_and_topics_are_connected(trace: ob.TopicTrace) -> None:
    log, rounds = decentralised_over_time(trace, 3, 2)
    assert ob.PROBLEMS["dynamic-tco"].violations(trace, log) == []
    some = [each for each in trace.snapshots() if each is not None]
    sizes = np.diff(some[0].node_offsets)
    eta = np.sort(sizes)[::-1][len(sizes) // 5]
    parts = drawn_parts(trace.num_nodes, 3, 0)
    for snapshot, sent in zip(some, rounds, strict=True):
        part_of = np.where(np.diff(snapshot.node_offsets) > eta, -1, parts).astype(np.int32)
        static = decentralised(snapshot, Partition(part_of, 3), 2, extend_gm_m, tie_order("lowest", 0), heard={})
        most = {one.what: one.messages for one in static.rounds}
        assert all(one.messages <= most[one.what] for one in sent)
        if snapshot is some[0]:
            assert [*static.rounds] == sent


def test_a_step_that_changes_nothing_for_others_costs_messages_in_one_part_only() -> None:
    start = {f"n{v}": ["x"] for v in range(6)} | {"far": ["y"]}
    trace = ob.TopicTrace.from_events(start, [ob.Event(1, "join", "z", []), ob.Event(2, "leave", "far")])
    _, rounds = decentralised_over_time(trace, 1, 1)
    sent = [{one.what: one.messages for one in each} for each in rounds]
    assert sent[0]["send interests within parts"] == 7 * 6
    assert sent[1] == {}  # the node has no topics
    # Six nodes learn that one has gone.
    assert sent[2]["learn of their part"] == 6
    assert "send interests within parts" not in sent[2]


def test_a_node_that_comes_back_is_told_everything_again() -> None:
    start = {f"n{v}": ["x"] for v in range(4)}
    trace = ob.TopicTrace.from_events(start, [ob.Event(1, "crash", "n0"), ob.Event(2, "join", "n0", ["x"])])
    _, rounds = decentralised_over_time(trace, 1, 1)
    back = {one.what: one.messages for one in rounds[2]}
    assert back["register with their part"] == 1
    assert back["send interests within parts"] == 2 * 3
