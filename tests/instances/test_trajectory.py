"""Trajectories: improvements only, rounded, and never better than the validated outcome."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlaybench.compare.catalogue import METHODS
from overlaybench.instances.contract.catalogue import PROBLEMS, WORKLOADS
from overlaybench.instances.contract.method import Method, Proposal
from overlaybench.instances.contract.overlay import Overlay
from overlaybench.instances.contract.run import Point, Trajectory, _Pauses, offer, offer_value
from overlaybench.instances.topics.instance import TopicInstance

SQUARE = TopicInstance.from_subscriptions({"a": ["t"], "b": ["t"], "c": ["t"], "d": ["t"]})
NUMBERS = st.none() | st.floats(-50, 50) | st.sampled_from([math.nan, math.inf, -math.inf])


@settings(deadline=None)
@given(reports=st.lists(st.tuples(NUMBERS, NUMBERS), max_size=40), value=st.integers(0, 60), integral=st.booleans())
def test_points_improve_strictly_over_time_up_to_the_outcome(
    reports: list[tuple[float | None, float | None]], value: int, integral: bool
) -> None:
    trajectory = Trajectory()
    for one in reports:
        trajectory.report(*one)
    points = trajectory.completed(1e6, value, -1.0, integral=integral)
    assert points[-1][1:] == (value, -1)
    for before, after in itertools.pairwise(points):
        assert before.seconds <= after.seconds
        assert before.value is None or (after.value is not None and after.value <= before.value)
        assert before.lower_bound is None or (after.lower_bound is not None and after.lower_bound >= before.lower_bound)
        assert before[1:] != after[1:]
    for point in points:
        assert point.value is None or point.value >= value
        assert point.lower_bound is None or point.lower_bound <= -1
        assert not integral or point.lower_bound is None or float(point.lower_bound).is_integer()


def test_changes_within_a_twentieth_of_the_time_are_one_point(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("overlaybench.instances.contract.run.time.perf_counter", lambda: now)
    monkeypatch.setattr("overlaybench.instances.contract.run.PAUSES", _Pauses())  # without those of earlier tests
    trajectory = Trajectory()
    for step in range(10_000):
        now = 1.0 + step / 10_000
        trajectory.report(20_000 - step)
    assert 10 <= len(trajectory.points) <= 20
    assert trajectory.points[-1] == Point(now, 10_001.0)


def test_a_run_has_its_offers_and_its_outcome_as_points() -> None:
    star = Overlay.from_edges(4, [(0, 1), (0, 2), (0, 3)])

    def improving(instance: TopicInstance, problem: Any, **given: Any) -> Proposal[Overlay]:
        offer(Overlay.from_edges(4, [(0, 1), (0, 2), (0, 3), (1, 2)]), lower_bound=1.2)
        offer(Overlay.from_edges(4, [(0, 1), (2, 3)]))  # an invalid answer does not count
        return Proposal(star, lower_bound=3)

    def solving_elsewhere(instance: TopicInstance, problem: Any, **given: Any) -> Proposal[Overlay]:
        offer_value(2, 1.2)  # a value below that of the answer does not count
        ended = trial(improving).run(SQUARE, PROBLEMS["min-tco"])  # nor does what another method offers
        assert ended.points[-2][1:] == (4.0, 2.0)
        return Proposal(star, lower_bound=3)

    assert points(improving)[-2:] == [(4.0, 2.0), (3.0, 3.0)]
    assert points(solving_elsewhere) == [(3.0, 2.0), (3.0, 3.0)]
    assert METHODS["gm"].run(SQUARE, PROBLEMS["min-tco"]).points[0].value == 3.0


def test_runs_in_two_threads_have_their_own_points() -> None:
    star, both = Overlay.from_edges(4, [(0, 1), (0, 2), (0, 3)]), Barrier(2, timeout=20)

    def improving(instance: TopicInstance, problem: Any, *, seed: int, **given: Any) -> Proposal[Overlay]:
        both.wait()
        offer(lower_bound=float(seed))
        both.wait()
        return Proposal(star, lower_bound=3)

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(partial(points, improving), (1, 2))
    assert first == [(None, 1.0), (3.0, 3.0)]
    assert second == [(None, 2.0), (3.0, 3.0)]


def trial(solve: Callable[..., Proposal[Overlay]]) -> Method[TopicInstance, Overlay]:
    return Method(name="trial", problems=("min-tco",), summary="", source="", solve=solve)


def points(solve: Callable[..., Proposal[Overlay]], seed: int = 0) -> list[tuple[float | None, ...]]:
    """Values and bounds of the points of a run."""
    return [point[1:] for point in trial(solve).run(SQUARE, PROBLEMS["min-tco"], seed=seed).points]


@pytest.mark.slow
@pytest.mark.parametrize("problem", ["min-tco", "minmax-tco", "low-tco", "2d-star", "2d-true"])
@pytest.mark.parametrize("name", ["best", "branch-and-cut", "cp-sat", "ilp", "lp-bound", "polish"])
def test_methods_that_improve_report_on_the_way(name: str, problem: str) -> None:
    method = METHODS[name]
    if problem not in method.problems:
        pytest.skip("it does not answer the problem")
    instance = WORKLOADS["uniform"].generate(nodes=25, topics=25, subscriptions=5, seed=3)
    run = method.run(instance, PROBLEMS[problem], time_limit=5)
    at_once = (name == "best" and problem.startswith("2d")) or (name in ("cp-sat", "ilp") and problem == "low-tco")
    assert at_once or len(run.points) > 1 or run.points[0].seconds < run.seconds / 2
    assert run.points[-1].value == run.value
    assert run.points[-1].lower_bound == run.lower_bound
