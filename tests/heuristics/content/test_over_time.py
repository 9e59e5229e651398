"""Methods on content traces: valid after every event, one answer for a seed, and moves only where they are meant."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.compare.catalogue import METHODS
from overlaybench.heuristics.content.over_time import PeriodicMigration
from overlaybench.instances.content.trace import ContentEvent
from overlaybench.instances.contract.result import Status
from overlaybench.instances.contract.run import Clock
from tests.content_trace_strategies import Drawn, content_events, content_traces, instance_of, shuffled, trace_of
from tests.properties import property_test

pytestmark = pytest.mark.interpreted

PROBLEM = ob.PROBLEMS["dynamic-content"]
VARIANTS: list[tuple[str, dict[str, float]]] = [
    ("stay", {}),
    ("mixing-recomputed", {}),
    ("migrating", {"period": 1.5}),
    ("migrating", {"period": 0.4, "knows": 1, "heaviest": 1}),
]


# A third of the slow cases has up to 200 events.
EVENTS = st.sampled_from([12, 12, 200]).flatmap(content_events)


@property_test(200, EVENTS, st.randoms(use_true_random=False), quick=1)
@pytest.mark.parametrize(("name", "options"), VARIANTS)
def test_overlays_are_valid_after_every_event(
    name: str, options: dict[str, float], drawn: Drawn, random: Random
) -> None:
    instance, events, absent = drawn
    trace, again = (trace_of(instance, each, absent) for each in (events, shuffled(events, random)))
    result = METHODS[name].run(trace, PROBLEM, seed=3, **options)
    assert result.answer is not None, result.reason
    assert METHODS[name].run(again, PROBLEM, seed=3, **options).answer == result.answer


@property_test(100, content_traces(max_events=12, tight=True), quick=2)
@pytest.mark.parametrize(("name", "options"), VARIANTS)
def test_capacities_hold_or_the_reason_names_the_user_or_the_time(
    name: str, options: dict[str, float], trace: ob.ContentTrace
) -> None:
    result = METHODS[name].run(trace, PROBLEM, seed=3, **options)
    fault = {Status.INFEASIBLE: "at ", Status.FAILED: "no broker can take user"}.get(result.status, "")
    assert result.reason.startswith(fault)
    assert (result.answer is None) == (fault != "")


def changed_rate() -> ob.ContentTrace:
    """A user whose traffic goes to the other broker from 5 s on; at 99 s nothing happens but the end."""
    access, rates, wanted = [[1, 1], [0, 99], [99, 0]], [[2, 0], [0, 0], [0, 0]], [[0, 0], [1, 0], [0, 1]]
    start = instance_of(access, [[0, 10], [10, 0]], [99, 99], rates, wanted)
    events = [ContentEvent(5, "rate", user="u0", channel=f"c{c}", rate=2 * c) for c in (0, 1)]
    return ob.ContentTrace.from_events(start, [*events, ContentEvent(99, "rate", user="u0", channel="c1", rate=2)])


def test_brokers_know_a_changed_rate_after_the_next_period() -> None:
    log = PeriodicMigration(changed_rate(), Clock(None), period=10).log()
    assert [time for time in log.times.tolist() if time % 10_000_000 == 0] == [0, 20_000_000]
    assert [overlay.brokers[0] for overlay in log.overlays] == [0, 0, 1, 1]


def test_nobody_moves_who_stays_or_knows_no_other_broker() -> None:
    trace = changed_rate()
    assert METHODS["stay"].run(trace, PROBLEM).measures["recourse"] == 0
    for seed in range(4):
        log = PeriodicMigration(trace, Clock(None), period=1, knows=1, seed=seed).log()
        assert len({overlay.brokers.tobytes() for overlay in log.overlays}) == 1


def test_as_few_users_as_possible_leave_a_broker_that_is_full() -> None:
    start = instance_of(np.tile([0.0, 1.0], (4, 1)), [[0, 1], [1, 0]], [10, 10], [[1], [2], [3], [4]], np.zeros((4, 1)))
    trace = ob.ContentTrace.from_events(start, [ContentEvent(1, "rate", user="u0", channel="c0", rate=3.5)])
    log: Any = METHODS["stay"].run(trace, PROBLEM).answer
    assert [overlay.brokers.tolist() for overlay in log.overlays] == [[0, 0, 0, 0], [0, 0, 1, 0]]


@pytest.mark.parametrize("name", ["stay", "migrating", "mixing-recomputed"])
def test_a_trace_that_takes_longer_than_its_limit_ends_at_it(name: str) -> None:
    trace = ob.generate("content-churn", users=20, brokers=3, intervals=3, events=50)
    result = METHODS[name].run(trace, PROBLEM, time_limit=1e-9)
    assert (result.status, result.answer) == (Status.TIME_LIMIT, None)
