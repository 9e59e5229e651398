"""Optima of the snapshots of content traces: the sum of what a brute force finds, and bounds for every method."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.compare.catalogue import METHODS
from overlaybench.instances.contract.result import Status
from overlaybench.instances.contract.run import Clock
from overlaybench.models.content import assignment_search
from overlaybench.models.content.assignment_search import cheapest_assignment
from tests.content_brute_force import assignments, optimum
from tests.content_strategies import content_instances
from tests.content_trace_strategies import content_traces
from tests.properties import property_test

pytestmark = pytest.mark.interpreted

STATIC = ob.PROBLEMS["content-steiner"]
FREE, COSTLY = ob.PROBLEMS["dynamic-content"], ob.PROBLEMS["dynamic-content@move-cost=7"]
OPTIMA = METHODS["snapshot-optima"]


SMALL = {"max_users": 3, "max_channels": 2, "max_events": 5}


@property_test(60, st.one_of(content_traces(**SMALL), content_traces(tight=True, **SMALL)), quick=1)
def test_the_optima_are_those_of_a_brute_force(trace: ob.ContentTrace) -> None:
    least = [0.0 if one is None else optimum(one.instance, "steiner") for one in trace.snapshots()]
    result = OPTIMA.run(trace, FREE)
    if math.isinf(sum(least)):
        assert result.status is Status.INFEASIBLE
        return
    assert result.status is Status.OPTIMAL, result.reason
    assert result.value == pytest.approx(sum(least))
    bounds = [float(each) for each in str(result.counters["snapshot_bounds"]).split()]
    assert bounds == pytest.approx(least)
    again = OPTIMA.run(trace, COSTLY)
    assert again.lower_bound == pytest.approx(sum(least))
    for name, method in METHODS.items():
        if method.answers("dynamic-content") and (value := method.run(trace, COSTLY).value) is not None:
            assert value >= sum(least) - 1e-6, name


@property_test(
    60, st.one_of(content_instances(max_users=5), content_instances(tight=True, max_users=5)), st.booleans(), quick=8
)
def test_the_cheapest_assignment_is_that_of_a_brute_force(instance: ob.ContentInstance, started: bool) -> None:
    least, start = optimum(instance, "steiner"), None
    if started and math.isfinite(least):
        start = np.array(max(assignments(instance)), np.int32)
    found = cheapest_assignment(instance, start, Clock(None))
    if found is None:
        assert math.isinf(least)
        return
    overlay, bound = found
    assert STATIC.violations(instance, overlay) == []
    assert STATIC.value(instance, overlay) == pytest.approx(least)
    assert least * (1 - 1e-6) <= bound <= least


@pytest.mark.slow
@pytest.mark.parametrize("limit", ["_MOST_BROKERS", "_MOST_CELLS"])
def test_where_the_search_of_assignments_gives_up_branch_and_cut_finds_the_same(
    limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = ob.generate("content-churn", users=5, brokers=3, intervals=2, events=4, seed=1)
    one = OPTIMA.run(trace, FREE)
    monkeypatch.setattr(assignment_search, limit, 2)
    assert all(cheapest_assignment(each.instance, None, Clock(None)) is None for each in trace.snapshots())
    other = OPTIMA.run(trace, FREE)
    assert (one.status, other.status) == (Status.OPTIMAL, Status.OPTIMAL)
    assert other.value == pytest.approx(one.value)


def test_a_search_that_is_stopped_has_an_answer_and_a_bound() -> None:
    trace = ob.generate("content-churn", users=12, brokers=9, intervals=3, events=5, width=0.1, access_to_core=0.1)
    result = OPTIMA.run(trace, FREE, time_limit=0.01)
    assert result.status is Status.TIME_LIMIT
    assert result.answer is not None
    assert result.lower_bound is not None
    assert 0 < result.lower_bound <= (result.value or 0)
