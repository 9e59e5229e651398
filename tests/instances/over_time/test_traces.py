"""Traces: what they hold, how they are read and written, and what the judge says of a log of links."""

import json
import pickle
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.instances.contract.catalogue import kind_of, kind_of_file
from overlaybench.instances.over_time.trace_files import TRACES, read_trace, write_trace
from tests.instances.topics.test_bad_files import refused
from tests.instances.topics.test_files import mapping
from tests.properties import property_test
from tests.trace_strategies import event_lists, held_over_time, links_over_time, parts, traces

pytestmark = pytest.mark.interpreted

START = {"ann": ["news"], "bob": ["news", "chess"]}
HEAD = json.dumps({"format": "trace/1", "subscriptions": START})


@property_test(60, event_lists(max_events=20))
def test_snapshots_are_the_subscriptions_that_hold(drawn: tuple[dict[str, list[str]], list[ob.Event]]) -> None:
    trace = ob.TopicTrace.from_events(*drawn)
    wanted = list(held_over_time(*drawn))
    assert trace.num_steps == len(wanted)
    for (time, held), instance in zip(wanted, trace.snapshots(), strict=True):
        again = trace.snapshot(time)
        if instance is None or again is None:
            assert instance is again is None
            assert not any(held.values())
            continue
        assert {v: own for v, own in mapping(instance).items() if own} == {v: own for v, own in held.items() if own}
        assert again == instance


@property_test(40, event_lists(max_events=20), st.randoms(use_true_random=False))
def test_simultaneous_events_have_no_order(drawn: tuple[dict[str, list[str]], list[ob.Event]], random: Random) -> None:
    start, events = drawn
    shuffled = list(events)
    random.shuffle(shuffled)
    shuffled.sort(key=lambda event: event.time)
    assert ob.TopicTrace.from_events(start, shuffled).digest == ob.TopicTrace.from_events(start, events).digest


@property_test(40, trace=traces(max_events=15))
@pytest.mark.parametrize("ending", [".jsonl", ".trace.parquet"])
def test_a_trace_is_read_back(trace: ob.TopicTrace, ending: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("trace") / f"one{ending}"
    write_trace(trace, file)
    again = read_trace(file)
    assert again == trace
    assert (again.node_labels, again.topic_labels) == (trace.node_labels, trace.topic_labels)
    assert kind_of_file(file) is kind_of(again) is TRACES
    assert pickle.loads(pickle.dumps(trace)) == trace


LEAVE = '{"time": 1, "event": "leave", "node": "ann"}'


@pytest.mark.parametrize(
    ("lines", "place"),
    [
        ([], "empty"),
        ([HEAD.replace("trace/1", "trace/2")], "line 1"),
        ([HEAD, LEAVE, LEAVE.replace("1", "2")], "line 3"),
        ([HEAD, LEAVE.replace("1", "2"), LEAVE.replace("ann", "bob")], "line 3"),
        ([HEAD, LEAVE.replace("1", "0")], "line 2"),
        ([HEAD, '{"time": 1, "event": "join", "node": "ann", "topics": ["a"]}'], "line 2"),
        ([HEAD, '{"time": 1, "event": "join", "node": "cid", "topics": ["a", "a"]}'], "line 2"),
        ([HEAD, '{"time": 1, "event": "subscribe", "node": "ann", "topics": ["news"]}'], "line 2"),
        ([HEAD, '{"time": 1, "event": "unsubscribe", "node": "ann", "topics": ["chess"]}'], "line 2"),
        ([HEAD, '{"time": 1, "event": "subscribe", "node": "ann"}'], "line 2"),
        ([HEAD, '{"time": 1, "event": "crash", "node": "ann", "topics": ["news"]}'], "line 2"),
        ([HEAD, LEAVE.replace("leave", "sleep")], "line 2"),
        ([HEAD, LEAVE.replace("1", "1e30")], "line 2"),
        ([HEAD, "", LEAVE[:-1]], "line 3"),
        ([HEAD, '{"time": 1, "event": "leave", "node": "ann", "time": 2}'], "line 2"),
        ([HEAD, '{"time": 1, "event": "join", "node": "\\ud800", "topics": ["a"]}'], "line 2"),
        ([HEAD, '{"time": 1, "event": "subscribe", "node": "ann", "topics": ["chess"]}', LEAVE], "line 3"),
    ],
)
def test_a_damaged_trace_is_one_line_that_names_the_line(lines: list[str], place: str, tmp_path: Path) -> None:
    file = tmp_path / "one.jsonl"
    file.write_text("\n".join(lines))
    with refused(file, place):
        read_trace(file)


def test_topics_of_events_that_do_not_begin_with_the_first_are_refused() -> None:
    ids = np.zeros(1, np.int32)
    with pytest.raises(ob.BadInput, match="do not fit each other"):
        ob.TopicTrace(1, 1, 0, ids, np.array([0, 1]), ids, np.array([1]), ids, ids, np.array([1, 1]), ids)


def test_rows_of_subscriptions_are_a_trace(tmp_path: Path) -> None:
    file = tmp_path / "one.trace.csv"
    file.write_text(
        "at,node,topic,subscribe\n0,a,x,1\n0,b,x,true\n"
        "1.5,c,x,1\n15e-1,c,y,1\n2,a,y,1\n2,b,x,0\n3,a,x,0\n3,a,z,0\n4,a,y,1\n"
    )
    trace = read_trace(file, {"time": "at"})
    wanted = [
        ob.Event(1.5, "join", "c", ["x", "y"]),
        ob.Event(2, "subscribe", "a", ["y"]),
        ob.Event(2, "leave", "b"),
        ob.Event(3, "unsubscribe", "a", ["x"]),
    ]
    assert trace == ob.TopicTrace.from_events({"a": ["x"], "b": ["x"]}, wanted)
    for text, fault in (
        ("time,node,topic,subscribe\n1,a,x,1\n0,a,x,0\n", "line 3"),
        ("time,node,topic,subscribe\nsoon,a,x,1\n", "line 2"),
        ("time,node,topic,subscribe\n1,a,x,maybe\n", "line 2"),
        ("time,node,topic\n1,a,x\n", "subscribe"),
    ):
        file.write_text(text)
        with pytest.raises(ob.BadInput, match=fault):
            read_trace(file)


def test_dates_are_times_in_utc(tmp_path: Path) -> None:
    file = tmp_path / "one.trace.tsv"
    file.write_text(
        "time\tnode\ttopic\tsubscribe\n2026-01-01T00:00:00Z\ta\tx\t1\n2026-01-01 00:00:01.25\tb\tx\t1\n", "utf-8"
    )
    trace = read_trace(file)
    assert np.diff(trace.step_times).tolist() == [1_250_000]


@st.composite
def logs(draw: st.DrawFn, trace: ob.TopicTrace) -> ob.LinkLog:
    """Any changes that are possible; topics may be disconnected."""
    present, links, changes = {*trace.start_nodes.tolist()}, set[tuple[int, int]](), []
    for time in trace.step_times.tolist():
        for at, kind, v in zip(trace.times.tolist(), trace.kinds.tolist(), trace.nodes.tolist(), strict=True):
            if at == time:
                present = present | {v} if kind == 0 else present - {v} if kind >= 3 else present
                links = {link for link in links if kind < 3 or v not in link}
        for pair in [(u, v) for u in sorted(present) for v in sorted(present) if u < v]:
            if draw(st.booleans()):
                links ^= {pair}
                changes.append((time, *pair, pair in links))
    return ob.LinkLog.of(trace.num_nodes, changes)


@property_test(80, event_lists(max_nodes=5, max_topics=3, max_events=6), st.data())
def test_the_judge_counts_components(drawn: tuple[dict[str, list[str]], list[ob.Event]], data: st.DataObject) -> None:
    trace = ob.TopicTrace.from_events(*drawn)
    log = data.draw(logs(trace))
    states = list(held_over_time(*drawn))
    every = list(links_over_time(trace, log, [time for time, _ in states]))
    seen = ob.PROBLEMS["dynamic-tco"].timeline(trace, log)  # type: ignore[attr-defined]
    topics = {topic for _, held in states for own in held.values() for topic in own}
    is_valid = True
    for step, ((_, held), links) in enumerate(zip(states, every, strict=True)):
        apart = {topic: parts(held, links, topic) for topic in topics}
        outside = sum(sum(map(len, each)) - max(map(len, each), default=0) for each in apart.values())
        assert seen.disconnected[step] == outside
        assert seen.links[step] == len(links)
        degrees = [sum(v in link for link in links) for v in held]
        assert seen.max_degrees[step] == max(degrees, default=0)
        idle = [link for link in links if not held[link[0]] & held[link[1]]]
        is_valid &= not idle and all(len(each) < 2 for each in apart.values())
    problem = ob.PROBLEMS["dynamic-tco@change-cost=3"]
    assert (problem.violations(trace, log) == []) == is_valid
    after = int((log.times > trace.start).sum())
    assert problem.value(trace, log) == sum(map(len, every)) + 3 * after
    measures = problem.measures(trace, log)
    assert set(measures) == set(TRACES.measures)
    if np.unique(log.times).size:
        last = trace.step_times[-1]
        edges = {(trace.node_label(u), trace.node_label(v)) for u, v in log.at(last, trace.departures()).edges.tolist()}
        assert edges == every[-1]
    assert TRACES.unpack(TRACES.pack(log), trace) == log


def test_a_delay_forgives_what_is_repaired_in_time() -> None:
    start = {"a": ["x"], "b": ["x"], "c": ["x"]}
    trace = ob.TopicTrace.from_events(start, [ob.Event(10, "crash", "b")])
    first = [(0, 0, 1, True), (0, 1, 2, True)]
    late = ob.LinkLog.of(3, [*first, (12_000_000, 0, 2, True)])
    assert ob.PROBLEMS["dynamic-tco"].violations(trace, late) == ["topic 'x' has 2 components at time 10"]
    assert ob.PROBLEMS["dynamic-tco@delay=1.9"].violations(trace, late) != []
    patient = ob.PROBLEMS["dynamic-tco@delay=2"]
    assert patient.violations(trace, late) == []
    assert patient.measures(trace, late)["disconnected_seconds"] == 2
    assert patient.value(trace, late) == 2 + 1
    assert patient.violations(trace, ob.LinkLog.of(3, first)) != []
    gone = ob.LinkLog.of(3, [*first, (5_000_000, 0, 1, False), (6_000_000, 0, 1, True), (10_000_000, 0, 2, True)])
    assert any("time 5" in reason for reason in patient.violations(trace, gone))


def test_impossible_changes_are_violations() -> None:
    trace = ob.TopicTrace.from_events({"a": ["x"], "b": ["x"], "c": ["y"]}, [ob.Event(1, "leave", "c")])
    problem = ob.PROBLEMS["dynamic-tco"]
    linked = (0, 0, 1, True)
    for more, fault in (
        ((1_000_000, 0, 1, True), "is there already"),
        ((1_000_000, 1, 2, True), "not present"),
        ((1_000_000, 1, 2, False), "is not there"),
        ((0, 1, 2, True), "without a common topic"),
        ((-1, 1, 2, True), "before the start"),
    ):
        assert any(fault in reason for reason in problem.violations(trace, ob.LinkLog.of(3, [linked, more])))
    assert problem.violations(trace, ob.LinkLog.of(3, [linked])) == []
    assert problem.violations(trace, ob.LinkLog.of(2, [linked])) != []


def test_limits_of_the_problem_are_read_from_its_name() -> None:
    problem = ob.PROBLEMS["dynamic-tco@change-cost=2@delay=0.5"]
    assert (problem.change_cost, problem.delay) == (2, 0.5)  # type: ignore[attr-defined]
    assert pickle.loads(pickle.dumps(problem)).name == problem.name
    for name in ("dynamic-tco@delay=x", "dynamic-tco@speed=1", "dynamic-tco@delay=1@delay=2", "dynamic-tco=4"):
        assert name not in ob.PROBLEMS
