"""Content traces: what they hold, how they are read and written, and what the judge says of overlays over time."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.heuristics.content.over_time import stay
from overlaybench.heuristics.content.routing import route
from overlaybench.instances.content.problems import ContentOverlay
from overlaybench.instances.content.trace_files import CONTENT_TRACES
from overlaybench.instances.contract.catalogue import kind_of, kind_of_file
from overlaybench.instances.contract.errors import BadInput
from overlaybench.instances.contract.run import Clock
from tests.content_trace_strategies import (
    Drawn,
    content_events,
    content_traces,
    instance_of,
    shuffled,
    states_over_time,
    trace_of,
)
from tests.properties import property_test

pytestmark = pytest.mark.interpreted

STATIC, PROBLEM = ob.PROBLEMS["content-steiner"], ob.PROBLEMS["dynamic-content@move-cost=2.5"]
HEAD: dict[str, Any] = {
    "format": "content-trace/1",
    "channels": ["c"],
    "brokers": {"b0": {"capacity": 40}, "b1": {"capacity": None}},
    "core": {"b0": {"b1": 3}},
    "users": {
        "ann": {"access": {"b0": 1, "b1": None}, "rates": {"c": 4}},
        "bob": {"access": {"b0": 1, "b1": 2}, "subscriptions": ["c"]},
    },
}


def test_no_change_of_rates_makes_a_broker_that_a_user_does_not_know_the_cheaper_one() -> None:
    """Ann's few messages fit on the one that she knows only if bob's many ones go to the dear one."""
    given = [[1, np.inf], [1, 1000]], [[0, 1], [1, 0]], [1e6, np.inf], [[1e-3], [1e-3]], [[False], [False]]
    rate = ob.ContentEvent(1, "rate", "u1", channel="c0", rate=1e6)
    *_, last = trace_of(instance_of(*given), [rate], []).snapshots()
    assert last is not None
    unknown, known = (STATIC.value(last.instance, ContentOverlay(np.array(at))) for at in ([1, 0], [0, 1]))
    assert unknown > known


@property_test(60, content_events(max_events=20))
def test_snapshots_hold_the_users_and_brokers_of_their_time(drawn: Drawn) -> None:
    trace = trace_of(*drawn)
    states = list(states_over_time(*drawn))
    assert trace.num_steps == len(states)
    for (users, up), snapshot in zip(states, trace.snapshots(), strict=True):
        if snapshot is None:
            assert not users
            continue
        instance = snapshot.instance
        assert [instance.user_label(u) for u in range(instance.num_users)] == sorted(users)
        assert [f"b{b}" for b in snapshot.brokers] == sorted(up)
        for u, label in enumerate(sorted(users)):
            assert instance.rates[u].tolist() == users[label][0]
            assert set(np.flatnonzero(instance.subscriptions[u]).tolist()) == users[label][1]
        prices = trace.instance.access[np.ix_(snapshot.users, snapshot.brokers)]
        assert np.array_equal(instance.access, prices)


@property_test(40, content_events(max_events=20), st.randoms(use_true_random=False))
def test_the_order_of_simultaneous_events_does_not_matter(drawn: Drawn, random: Random) -> None:
    instance, events, absent = drawn
    assert trace_of(instance, shuffled(events, random), absent).digest == trace_of(*drawn).digest


@property_test(40, trace=content_traces(max_events=10), seed=st.integers(0, 5))
def test_traces_and_answers_come_back_from_their_files(
    trace: ob.ContentTrace, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("trace")
    CONTENT_TRACES.write(trace, folder / "one.jsonl")
    again = CONTENT_TRACES.read(folder / "one.jsonl", {}).instance
    assert (folder / "one.jsonl").read_text().count('"rate":') == int((trace.kinds == 2).sum())
    assert again == trace == pickle.loads(pickle.dumps(trace))
    assert again.instance.user_labels == tuple(f"u{u}" for u in range(trace.instance.num_users))
    assert kind_of_file(folder / "one.jsonl") is kind_of(again) is CONTENT_TRACES
    log = drawn_log(trace, Random(seed))
    CONTENT_TRACES.write_answer(log, trace, folder / "answer.json")
    assert CONTENT_TRACES.read_answer(folder / "answer.json", trace) == log
    assert CONTENT_TRACES.unpack(CONTENT_TRACES.pack(log), trace) == log


def drawn_log(trace: ob.ContentTrace, random: Random) -> ob.ContentLog:
    """Users on random brokers after every event, and sometimes again half a second later."""
    found = dict[int, ContentOverlay]()
    for time, snapshot in zip(trace.step_times.tolist(), trace.snapshots(), strict=True):
        for when in [time, time + 500_000][: random.choice([1, 2])]:
            users, up = (0, 1) if snapshot is None else (len(snapshot.users), len(snapshot.brokers))
            brokers = np.array([random.randrange(up) for _ in range(users)], np.int32)
            found[when] = ContentOverlay(brokers) if snapshot is None else route(snapshot.instance, brokers, "steiner")
    return ob.ContentLog(np.array([*found]), [*found.values()])


@pytest.mark.parametrize(
    ("place", "event", "more"),
    [
        ("line 3", {"event": "leave", "user": "bob"}, {"time": 2, "event": "leave", "user": "bob"}),
        ("line 3", {"event": "leave", "user": "bob"}, {"time": 0.5, "event": "leave", "user": "ann"}),
        ("line 2", {"time": 0, "event": "leave", "user": "bob"}, None),
        ("line 2", {"time": -1, "event": "leave", "user": "bob"}, None),
        ("line 2", {"event": "join", "user": "bob"}, None),
        ("line 2", {"event": "join", "user": "cid"}, None),
        ("line 2", {"event": "join", "broker": "b0"}, None),
        ("line 2", {"event": "subscribe", "user": "bob", "channel": "c"}, None),
        ("line 2", {"event": "unsubscribe", "user": "ann", "channel": "c"}, None),
        ("line 2", {"event": "rate", "user": "ann", "channel": "c"}, None),
        ("line 2", {"event": "rate", "user": "ann", "channel": "c", "rate": -1}, None),
        ("line 2", {"event": "rate", "user": "cid", "channel": "c", "rate": 1}, None),
        ("line 2", {"event": "leave", "user": "bob", "channel": "c"}, None),
        ("line 2", {"event": "broker-up", "broker": "b0"}, None),
        ("line 2", {"event": "broker-down", "broker": "b2"}, None),
        ("line 3", {"event": "broker-down", "broker": "b0"}, {"time": 2, "event": "broker-down", "broker": "b1"}),
        ("line 2", {"event": "sleep", "user": "ann"}, None),
        ("line 2", {"time": 1e30, "event": "leave", "user": "bob"}, None),
        ("line 3", {"event": "broker-down", "broker": "b1"}, {"time": 1, "event": "broker-up", "broker": "b1"}),
        ("line", {"event": "leave", "user": "bob"}, {"time": 1, "event": "subscribe", "user": "bob", "channel": "c"}),
    ],
)
def test_a_damaged_trace_is_one_line_that_names_the_line(
    place: str, event: dict[str, Any], more: dict[str, Any] | None, tmp_path: Path
) -> None:
    file = tmp_path / "one.jsonl"
    rows = [HEAD, {"time": 1, **event}, *([] if more is None else [more])]
    file.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(BadInput) as error:
        CONTENT_TRACES.read(file, {})
    assert str(error.value).startswith(f"{file}: ")
    assert place in str(error.value)
    assert "\n" not in str(error.value)


@property_test(60, content_traces(max_events=10), st.integers(0, 99))
def test_the_judge_sums_the_static_one_over_snapshots_and_counts_moves(trace: ob.ContentTrace, seed: int) -> None:
    log, snapshots = drawn_log(trace, Random(seed)), dict(zip(trace.step_times, trace.snapshots(), strict=True))
    homes, total, snapshot, moves = [dict[str, str]()], 0.0, None, 0
    for at, (time, overlay) in enumerate(zip(log.times.tolist(), log.overlays, strict=True)):
        snapshot = snapshots.get(time, snapshot) if time in snapshots else snapshot
        homes.append({})
        if snapshot is None:
            continue
        instance = snapshot.instance
        homes[-1] = {instance.user_label(u): instance.broker_label(b) for u, b in enumerate(overlay.brokers.tolist())}
        moves += sum(homes[-2].get(user, broker) != broker for user, broker in homes[-1].items())
        is_last = at + 1 == len(log.times) or log.times[at + 1] in snapshots
        total += STATIC.value(instance, overlay) if is_last else 0
    assert PROBLEM.violations(trace, log) == []
    assert PROBLEM.value(trace, log) == pytest.approx(total + 2.5 * moves)
    measures = PROBLEM.measures(trace, log)
    assert set(measures) == set(CONTENT_TRACES.measures)
    assert measures["recourse"] == moves / max(1, trace.num_events)
    assert measures["cost"] * trace.num_steps == pytest.approx(total)


def example() -> tuple[ob.ContentTrace, ob.ContentLog]:
    """Two users on brokers of their own, of which one fails at 1 s and is back at 2 s; at 3 s the other one is full."""
    start = instance_of([[0, 9], [9, 0]], [[0, 1], [1, 0]], [5, 5], [[1], [1]], [[1], [1]])
    events = [ob.ContentEvent(1, "broker-down", broker="b1"), ob.ContentEvent(2, "broker-up", broker="b1")]
    events.append(ob.ContentEvent(3, "rate", user="u0", channel="c0", rate=3))
    trace = ob.ContentTrace.from_events(start, events)
    return trace, stay(trace, Clock(None))


def with_overlay(log: ob.ContentLog, at: int, brokers: list[int], trees: int = 9) -> ob.ContentLog:
    overlays = list(log.overlays)
    overlays[at] = ContentOverlay(np.array(brokers), overlays[at].trees[:trees])
    return ob.ContentLog(log.times, overlays)


@pytest.mark.parametrize(
    ("fault", "damage"),
    [
        ("no overlay at time 1", lambda log: ob.ContentLog(log.times[[0, 2, 3]], [log.overlays[k] for k in (0, 2, 3)])),
        ("before the start", lambda log: ob.ContentLog(log.times - 1, log.overlays)),
        ("which does not exist at time 1", lambda log: with_overlay(log, 1, [0, 1])),
        ("has 1 users, the instance 2 at time 0", lambda log: with_overlay(log, 0, [0])),
        ("broker 'b0' carries 8 of 5 at time 3", lambda log: with_overlay(log, 3, [0, 0], trees=0)),
        ("needs one at time 0", lambda log: with_overlay(log, 0, [0, 1], trees=0)),
    ],
)
def test_a_damaged_log_is_invalid(fault: str, damage: Any) -> None:
    trace, log = example()
    assert PROBLEM.violations(trace, log) == []
    assert PROBLEM.measures(trace, log)["recourse"] == 2 / 3
    assert any(fault in reason for reason in PROBLEM.violations(trace, damage(log)))


def test_the_cost_of_moves_is_read_from_the_name_of_the_problem() -> None:
    assert pickle.loads(pickle.dumps(PROBLEM)).name == PROBLEM.name == "dynamic-content@move-cost=2.5"
    for name in ("dynamic-content@move-cost=x", "dynamic-content@move-cost=-1", "dynamic-content@move-cost=inf"):
        assert name not in ob.PROBLEMS


def test_rates_follow_the_day_of_their_region() -> None:
    shape: dict[str, Any] = {"seed": 1, "users": 9, "brokers": 4, "intervals": 2}
    trace = ob.generate("content-diurnal", days=2, steps=4, day=8.0, swing=0.5, **shape)
    assert trace.step_times.tolist() == list(range(0, 16_000_001, 2_000_000))
    means = ob.generate("content-diurnal", swing=0.0, steps=1, **shape).instance.rates
    for hour, snapshot in enumerate(trace.snapshots()):
        for user, region in enumerate(trace.instance.access.argmin(axis=1)):
            share = (1.5, 1, 0.5, 1)[(hour - region) % 4]  # four regions, whose peaks are a quarter of a day apart
            assert snapshot.instance.rates[user] == pytest.approx(share * means[user], abs=1e-3)
