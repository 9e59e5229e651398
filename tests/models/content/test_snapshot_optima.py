"""Optima of the snapshots of content traces: the sum of what a brute force finds, and bounds for every method."""

from __future__ import annotations

import math

import pytest
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.compare.catalogue import METHODS
from overlaybench.instances.contract.result import Status
from tests.content_brute_force import optimum
from tests.content_trace_strategies import content_traces
from tests.properties import property_test

pytestmark = pytest.mark.interpreted

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


def test_a_search_that_is_stopped_has_an_answer_and_a_bound() -> None:
    trace = ob.generate("content-churn", users=12, brokers=3, intervals=3, events=5, width=0.1, access_to_core=0.1)
    result = OPTIMA.run(trace, FREE, time_limit=0.01)
    assert result.status is Status.TIME_LIMIT
    assert result.answer is not None
    assert result.lower_bound is not None
    assert 0 < result.lower_bound <= (result.value or 0)
