"""Method.run: whatever a method returns or offers on the way, the result says no more than the judge does."""

import itertools
import math
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.instances.contract.result import Result, Status, _listed, relative_gap
from overlaybench.instances.runtime.run import Point, Trajectory, _Pauses, offer, offer_value
from tests.properties import property_test

INSTANCE = ob.TopicInstance.from_subscriptions({v: ["x"] for v in "abcd"})
PATH = ob.Overlay.from_edges(4, [(0, 1), (1, 2), (2, 3)])
BROKEN = ob.Overlay.from_edges(4, [(0, 1)])
MIN_TCO = ob.PROBLEMS["min-tco"]


class AverageDegree(ob.Problem[ob.TopicInstance, ob.Overlay]):
    """A problem whose values are no integers."""

    name, summary, source, integral = "average-degree", "2|E| ÷ |V|", "P1 §4", False

    def value(self, instance: ob.TopicInstance, answer: ob.Overlay) -> float:
        return answer.average_degree

    def violations(self, instance: ob.TopicInstance, answer: ob.Overlay) -> list[str]:
        return MIN_TCO.violations(instance, answer)


def method(
    solve: Callable[..., ob.Proposal[ob.Overlay]], *, exact: bool = False, **others: Any
) -> ob.Method[ob.TopicInstance, ob.Overlay]:
    return ob.Method(
        name="trial",
        problems=("min-tco", "average-degree"),
        summary="for tests",
        source="none",
        exact=exact,
        solve=solve,
        **others,
    )


def result_of(
    found: ob.Proposal[ob.Overlay], problem: ob.Problem[ob.TopicInstance, ob.Overlay] = MIN_TCO
) -> Result[ob.Overlay]:
    return method(lambda *_, **__: found).run(INSTANCE, problem)


@pytest.mark.parametrize("said", [None, Status.FEASIBLE, Status.TIME_LIMIT])
def test_a_valid_answer_without_a_bound_is_kept_as_said(said: Status | None) -> None:
    result = result_of(ob.Proposal(PATH, status=said, counters={"merges": 3}, reason="a remark"))
    assert result.status is (said or Status.FEASIBLE)
    assert (result.value, result.lower_bound, result.gap, result.answer) == (3, None, None, PATH)
    assert result.measures == {"edges": 3, "max_degree": 2, "average_degree": 1.5}
    assert (result.counters, result.reason) == ({"merges": 3}, "a remark")
    assert (result.problem, result.method) == ("min-tco", "trial")
    assert result.seconds >= 0


@pytest.mark.parametrize("said", [None, Status.FEASIBLE, Status.TIME_LIMIT])
@pytest.mark.parametrize(
    ("bound", "kept"),
    [
        *((bound, 3) for bound in (3, 3.0, 2.5, 2.0001, 3.0000001, 2.9999999)),
        *((bound, 2) for bound in (2, 1.2, 2.0000001)),
        *[(0, 0), (-5, -5), (-math.inf, None)],
    ],
)
def test_a_bound_is_rounded_up_and_proves_an_equal_value(said: Status | None, bound: float, kept: float | None) -> None:
    result = result_of(ob.Proposal(PATH, lower_bound=bound, status=Status.OPTIMAL if kept == 3 and not said else said))
    status = Status.OPTIMAL if kept == 3 else said or Status.FEASIBLE
    assert (result.status, result.value, result.lower_bound) == (status, 3, kept)
    assert result.gap == (None if kept is None else pytest.approx((3 - kept) / 3))


@pytest.mark.parametrize(
    ("found", "fragment"),
    [
        (ob.Proposal(BROKEN), "invalid answer: topic 'x' has 3 components"),
        (ob.Proposal(BROKEN, lower_bound=1, status=Status.OPTIMAL), "invalid answer"),
        (ob.Proposal(BROKEN, status=Status.TIME_LIMIT), "invalid answer"),
        (ob.Proposal(BROKEN, status=Status.INFEASIBLE), "invalid answer"),
        (ob.Proposal(ob.Overlay.from_edges(3, [])), "has 3 nodes, the instance 4"),
        (ob.Proposal(PATH, lower_bound=3.1), "lower bound 4 lies above the answer's value 3"),
        (ob.Proposal(PATH, lower_bound=math.inf), "lower bound inf lies above the answer's value 3"),
        (ob.Proposal(PATH, lower_bound=math.nan), "lower bound is not a number"),
        (ob.Proposal(PATH, lower_bound=4, status=Status.TIME_LIMIT), "lower bound 4"),
        (ob.Proposal(PATH, status=Status.OPTIMAL), "status optimal with value 3 and lower bound None"),
        (ob.Proposal(PATH, lower_bound=2, status=Status.OPTIMAL), "status optimal with value 3 and lower bound 2"),
        (ob.Proposal(PATH, status=Status.INFEASIBLE), "status infeasible with a valid answer"),
        (ob.Proposal(PATH, status=Status.FAILED), "the method reported a failure"),
        (ob.Proposal(PATH, status=Status.FAILED, reason="no memory"), "no memory"),
        (ob.Proposal(None), "no answer and no reason"),
        (ob.Proposal(None, status=Status.FAILED, reason="no memory"), "no memory"),
        (ob.Proposal(None, reason="no memory"), "no memory"),
        (ob.Proposal(None, status=Status.OPTIMAL, lower_bound=3), "status optimal without an answer"),
        (ob.Proposal(None, status=Status.FEASIBLE), "status feasible without an answer"),
        (ob.Proposal(None, status=Status.TIME_LIMIT, lower_bound=math.nan), "lower bound is not a number"),
    ],
)
def test_what_the_judge_cannot_confirm_fails_with_its_reason(found: ob.Proposal[ob.Overlay], fragment: str) -> None:
    result = result_of(found)
    assert result.status is Status.FAILED
    assert fragment in result.reason
    assert (result.value, result.answer) == (None, None)


@pytest.mark.parametrize(
    ("given", "fragment"),
    [
        *(({"counters": {"n": each}}, "counters of a proposal are numbers or texts") for each in (math.nan, [1], True)),
        ({"reason": 5}, "reason of a proposal is a text, not 5"),
        ({"status": "great"}, "'great' is not a valid Status"),
    ],
)
def test_a_proposal_that_no_study_can_store_is_refused(given: dict[str, Any], fragment: str) -> None:
    with pytest.raises((TypeError, ValueError), match=fragment):
        ob.Proposal(PATH, **given)


def test_a_proposal_may_have_numbers_of_numpy_and_the_name_of_a_status() -> None:
    given: Any = {"status": "feasible", "counters": {"merges": np.int64(3)}}
    found = result_of(ob.Proposal(PATH, **given))
    assert (found.status, type(found.counters["merges"])) == (Status.FEASIBLE, int)


@pytest.mark.parametrize(
    ("found", "limit", "status"),
    [
        (ob.Proposal(PATH), None, Status.FAILED),
        (ob.Proposal(PATH, lower_bound=2), 9.0, Status.FAILED),
        (ob.Proposal(PATH, lower_bound=2, reason="why no more is proven"), 9.0, Status.FEASIBLE),
        (ob.Proposal(PATH, lower_bound=2, status=Status.TIME_LIMIT), None, Status.FAILED),
        (ob.Proposal(PATH, lower_bound=2, status=Status.TIME_LIMIT), 9.0, Status.TIME_LIMIT),
        (ob.Proposal(PATH, lower_bound=2, status=Status.TIME_LIMIT, reason="interrupted"), None, Status.TIME_LIMIT),
        (ob.Proposal(PATH, lower_bound=3), None, Status.OPTIMAL),
        (ob.Proposal(None, status=Status.INFEASIBLE), None, Status.INFEASIBLE),
    ],
)
def test_an_exact_method_proves_or_has_a_limit(
    found: ob.Proposal[ob.Overlay], limit: float | None, status: Status
) -> None:
    result = method(lambda *_, **__: found, exact=True).run(INSTANCE, MIN_TCO, time_limit=limit)
    assert result.status is status
    assert (result.answer is None) == (status in (Status.FAILED, Status.INFEASIBLE))
    assert found.reason in result.reason
    assert status is not Status.FAILED or "lower bound" in result.reason


@pytest.mark.parametrize("said", [Status.INFEASIBLE, Status.TIME_LIMIT])
def test_a_run_without_an_answer_keeps_its_bound(said: Status) -> None:
    result = result_of(ob.Proposal(None, lower_bound=1.5, status=said))
    assert (result.status, result.value, result.lower_bound, result.gap) == (said, None, 2, None)
    assert result.reason == ""


@pytest.mark.parametrize(
    ("bound", "status", "kept"),
    [
        (1.4, Status.FEASIBLE, 1.4),
        (1.5, Status.OPTIMAL, 1.5),
        (1.5 + 1e-9, Status.OPTIMAL, 1.5),
        (1.5 - 1e-9, Status.OPTIMAL, 1.5),
        (1.51, Status.FAILED, None),
    ],
)
def test_bounds_of_values_that_are_fractions_stay(bound: float, status: Status, kept: float | None) -> None:
    result = result_of(ob.Proposal(PATH, lower_bound=bound), AverageDegree())
    assert (result.status, result.lower_bound) == (status, kept)


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_what_is_near_enough_does_not_depend_on_the_unit(unit: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AverageDegree, "value", lambda *_: 1.5 * unit)
    for bound, status in ((1.4, Status.FEASIBLE), (1.5 - 1e-9, Status.OPTIMAL), (1.6, Status.FAILED)):
        assert result_of(ob.Proposal(PATH, lower_bound=bound * unit), AverageDegree()).status is status


@property_test(100, st.floats(-10, 10), st.sampled_from([None, *Status]), st.sampled_from([None, PATH, BROKEN]))
def test_optimal_is_never_said_without_equality(bound: float, said: Status | None, answer: ob.Overlay | None) -> None:
    result = result_of(ob.Proposal(answer, lower_bound=bound, status=said))
    assert (result.status is Status.OPTIMAL) == (result.value is not None and result.value == result.lower_bound)
    assert result.lower_bound is None or result.value is None or result.lower_bound <= result.value
    assert (result.answer is PATH) == (result.value is not None)
    assert result.reason or result.status is not Status.FAILED


def test_a_bug_in_a_method_is_not_hidden() -> None:
    def solve(*_: object, **__: object) -> ob.Proposal[ob.Overlay]:
        raise ZeroDivisionError("a bug")

    with pytest.raises(ZeroDivisionError, match="a bug"):
        method(solve).run(INSTANCE, MIN_TCO)


def test_a_method_is_given_its_options_seed_and_limit() -> None:
    calls: list[Any] = []

    def solve(instance: ob.TopicInstance, problem: Any, **given_options: object) -> ob.Proposal[ob.Overlay]:
        calls.append((instance, problem, given_options))
        return ob.Proposal(PATH)

    tried = method(solve, options=(ob.Option("k", 3, "", least=1),))
    tried.run(INSTANCE, MIN_TCO, seed=7, time_limit=2.5, k="4")
    tried.run(INSTANCE, MIN_TCO)
    assert calls == [
        (INSTANCE, MIN_TCO, {"seed": 7, "time_limit": 2.5, "k": 4}),
        (INSTANCE, MIN_TCO, {"seed": 0, "time_limit": None, "k": 3}),
    ]


def test_an_unknown_option_is_refused_with_the_nearest_name() -> None:
    tried = method(lambda *_, **__: ob.Proposal(PATH), options=(ob.Option("ties", "lowest", "", choices=("lowest",)),))
    with pytest.raises(ob.BadInput, match="unknown option 'tie' of method 'trial': did you mean 'ties'"):
        tried.run(INSTANCE, MIN_TCO, tie="lowest")
    with pytest.raises(ob.BadInput, match="unknown option 'qqq' of method 'trial': known: ties"):
        tried.run(INSTANCE, MIN_TCO, qqq=1)
    with pytest.raises(ob.BadInput, match="known: none"):
        method(lambda *_, **__: ob.Proposal(PATH)).run(INSTANCE, MIN_TCO, qqq=1)


@pytest.mark.parametrize(
    ("option", "given_value", "parsed"),
    [
        (ob.Option("o", 3, ""), "5", 5),
        (ob.Option("o", 3, "", least=1, most=2**31 - 1), 2**31 - 1, 2**31 - 1),
        (ob.Option("o", 0.5, ""), "1e-3", 0.001),
        (ob.Option("o", 0.5, "", least=0, most=1), "1", 1.0),
        (ob.Option("o", False, ""), "False", False),
        (ob.Option("o", False, ""), True, True),
        (ob.Option("o", "lowest", "", choices=("lowest", "random")), "random", "random"),
    ],
)
def test_an_option_is_read_in_the_type_of_its_default(option: ob.Option, given_value: object, parsed: object) -> None:
    value = option.parse(given_value)
    assert value == parsed
    assert type(value) is type(option.default)


@pytest.mark.parametrize(
    ("option", "given_value", "message"),
    [
        (ob.Option("o", 3, ""), "5.0", "option 'o' takes a whole number, not '5.0'"),
        (ob.Option("o", 3, "", least=1, most=9), 0, "option 'o' must lie from 1 to 9, not 0"),
        (ob.Option("o", 3, "", least=1), 0, "option 'o' must be at least 1, not 0"),
        (ob.Option("o", 0.5, "", least=0, most=0.999), "1", "option 'o' must lie from 0 to 0.999, not 1.0"),
        (ob.Option("o", 0.5, ""), "nan", "option 'o' must be a number, not nan"),
        (ob.Option("o", False, ""), "yes", "option 'o' takes true or false, not 'yes'"),
        (ob.Option("o", "a", "", choices=("a", "random")), "randon", "'randon' of option 'o': did you mean 'random'?"),
    ],
)
def test_an_option_of_another_type_or_range_is_refused(option: ob.Option, given_value: object, message: str) -> None:
    with pytest.raises(ob.BadInput, match=re.escape(message)):
        option.parse(given_value)


def test_a_result_cannot_claim_more_than_it_has() -> None:
    with pytest.raises(ValueError, match="optimal with value 3 and lower bound 2"):
        Result(problem="min-tco", method="trial", status=Status.OPTIMAL, value=3, lower_bound=2)
    with pytest.raises(ValueError, match="optimal with value None"):
        Result(problem="min-tco", method="trial", status=Status.OPTIMAL)
    with pytest.raises(ValueError, match="needs its reason"):
        Result(problem="min-tco", method="trial", status=Status.FAILED)


@pytest.mark.parametrize(
    ("value", "bound", "gap"),
    [(10, 8, 0.2), (10, 10, 0), (0, 0, 0), (0, -1, math.inf), (-2, -3, 0.5), (None, 1, None), (1, None, None)],
)
def test_the_gap_is_relative_to_the_value(value: float | None, bound: float | None, gap: float | None) -> None:
    assert relative_gap(value, bound) == (gap if gap is None else pytest.approx(gap))


@property_test(100, st.text())
def test_the_message_of_bad_input_is_one_line_that_any_terminal_can_print(text: str) -> None:
    message = str(ob.BadInput(f"{text}\ud800: mend it"))
    assert len(message.splitlines()) == 1
    assert message.encode("utf-8").decode() == message
    assert message.endswith(r"\ud800: mend it")


def test_as_many_topics_of_a_step_are_listed_as_fit() -> None:
    listed = [_listed([f"t{t}" for t in range(10)], width) for width in (29, 28, 9, 8)]
    assert listed == ["t0 t1 t2 t3 t4 t5 t6 t7 t8 t9", "t0 t1 t2 t3 t4 t5 t6 … (10)", "t0 … (10)", "10 topics"]


NUMBERS = st.none() | st.floats(-50, 50) | st.sampled_from([math.nan, math.inf, -math.inf])


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
    monkeypatch.setattr("overlaybench.instances.runtime.run.time.perf_counter", lambda: now)
    monkeypatch.setattr("overlaybench.instances.runtime.run.PAUSES", _Pauses())  # without those of earlier tests
    trajectory = Trajectory()
    for step in range(10_000):
        now = 1.0 + step / 10_000
        trajectory.report(20_000 - step)
    assert 10 <= len(trajectory.points) <= 20
    assert trajectory.points[-1] == Point(now, 10_001.0)


def test_a_pause_within_another_counts_once_and_a_lone_end_never(monkeypatch: pytest.MonkeyPatch) -> None:
    now, pauses = 1.0, _Pauses()
    monkeypatch.setattr("overlaybench.instances.runtime.run.time.perf_counter", lambda: now)
    pauses.end()
    for paused in (pauses.begin, pauses.begin, pauses.end, pauses.end):
        paused()
        now += 1
    assert pauses.seconds == 3


def test_a_run_has_its_offers_and_its_outcome_as_points() -> None:
    star = ob.Overlay.from_edges(4, [(0, 1), (0, 2), (0, 3)])

    def improving(instance: ob.TopicInstance, problem: Any, **given: Any) -> ob.Proposal[ob.Overlay]:
        offer(ob.Overlay.from_edges(4, [(0, 1), (0, 2), (0, 3), (1, 2)]), lower_bound=1.2)
        offer(ob.Overlay.from_edges(4, [(0, 1), (2, 3)]))  # an invalid answer does not count
        return ob.Proposal(star, lower_bound=3)

    def solving_elsewhere(instance: ob.TopicInstance, problem: Any, **given: Any) -> ob.Proposal[ob.Overlay]:
        offer_value(2, 1.2)  # a value below that of the answer does not count
        ended = method(improving).run(INSTANCE, MIN_TCO)  # nor does what another method offers
        assert ended.points[-2][1:] == (4.0, 2.0)
        return ob.Proposal(star, lower_bound=3)

    assert points(improving)[-2:] == [(4.0, 2.0), (3.0, 3.0)]
    assert points(solving_elsewhere) == [(3.0, 2.0), (3.0, 3.0)]
    assert ob.METHODS["gm"].run(INSTANCE, MIN_TCO).points[0].value == 3.0


def test_runs_in_two_threads_have_their_own_points() -> None:
    star, both = ob.Overlay.from_edges(4, [(0, 1), (0, 2), (0, 3)]), Barrier(2, timeout=20)

    def improving(instance: ob.TopicInstance, problem: Any, *, seed: int, **given: Any) -> ob.Proposal[ob.Overlay]:
        both.wait()
        offer(lower_bound=float(seed))
        both.wait()
        return ob.Proposal(star, lower_bound=3)

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(partial(points, improving), (1, 2))
    assert first == [(None, 1.0), (3.0, 3.0)]
    assert second == [(None, 2.0), (3.0, 3.0)]


def points(solve: Callable[..., ob.Proposal[ob.Overlay]], seed: int = 0) -> list[tuple[float | None, ...]]:
    """Values and bounds of the points of a run."""
    return [point[1:] for point in method(solve).run(INSTANCE, MIN_TCO, seed=seed).points]


@pytest.mark.slow
@pytest.mark.parametrize("problem", ["min-tco", "minmax-tco", "low-tco", "2d-star", "2d-true"])
@pytest.mark.parametrize("name", ["best", "branch-and-cut", "cp-sat", "ilp", "lp-bound", "polish"])
def test_methods_that_improve_report_on_the_way(name: str, problem: str) -> None:
    improving = ob.METHODS[name]
    if problem not in improving.problems:
        pytest.skip("it does not answer the problem")
    instance = ob.WORKLOADS["uniform"].generate(nodes=25, topics=25, subscriptions=5, seed=3)
    run = improving.run(instance, ob.PROBLEMS[problem], time_limit=5)
    at_once = (name == "best" and problem.startswith("2d")) or (name in ("cp-sat", "ilp") and problem == "low-tco")
    assert at_once or len(run.points) > 1 or run.points[0].seconds < run.seconds / 2
    assert run.points[-1].value == run.value
    assert run.points[-1].lower_bound == run.lower_bound
