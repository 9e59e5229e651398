"""Every exact method for content-based overlays against all assignments, against each other, and on known optima."""

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume
from hypothesis import strategies as st

from overlaybench.instances.content.instance import ContentInstance, metric_closure
from overlaybench.instances.content.problems import CONTENT_PROBLEMS
from overlaybench.instances.content.workloads import (
    contained_cells,
    cut_quadratic_histogram,
    exact_cells,
    intersected_cells,
    relay_star,
)
from overlaybench.instances.contract.arrays import Flags, Reals
from overlaybench.instances.contract.catalogue import WORKLOADS, methods_of
from overlaybench.instances.contract.errors import BadInput
from overlaybench.instances.contract.result import Status
from overlaybench.instances.runtime.run import Clock, OutOfTime
from overlaybench.models.content.branch_and_cut import ContentCuts
from overlaybench.models.content.exact import best_start
from overlaybench.models.content.model import FORMULATIONS, ContentModel, compact_model
from tests.content_brute_force import optimum
from tests.content_strategies import content_instances
from tests.models.topics.small_instances import described
from tests.outcomes import bound_of, value_of
from tests.properties import property_test

pytestmark = pytest.mark.interpreted

CONTENT_MODELS = [each for each in methods_of("overlaybench.models.content") if each.answers("content-mst")]

METHODS = {method.name: method for method in CONTENT_MODELS}
EXACT = [method.name for method in CONTENT_MODELS if method.exact]
PROBLEMS = {problem.name: problem for problem in CONTENT_PROBLEMS}
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    *(("ilp", {"formulation": formulation}) for formulation in FORMULATIONS),
    *(("cp-sat", {"formulation": formulation}) for formulation in FORMULATIONS),
    ("branch-and-cut", {}),
]
ROUTINGS = [problem.name for problem in CONTENT_PROBLEMS]


def check(instance: ContentInstance, problem: str, name: str, options: dict[str, Any]) -> None:
    result = METHODS[name].run(instance, PROBLEMS[problem], **options)
    expected = optimum(instance, PROBLEMS[problem].routing)
    if math.isinf(expected):
        assert result.status is Status.INFEASIBLE
        assert result.reason
    else:
        assert result.status is Status.OPTIMAL, result.reason
        assert result.value == pytest.approx(expected, rel=1e-6)


FOUR_BROKERS = content_instances(max_users=4, max_brokers=4, max_channels=2)
SMALL = st.one_of(content_instances(), content_instances(tight=True), FOUR_BROKERS)
STARTS = st.sampled_from(["best", "none"])
GivenUsers = tuple[Reals, Reals, Reals, Reals, Reals, Reals]


@property_test(150, SMALL, STARTS, quick=4)
@pytest.mark.parametrize("problem", ROUTINGS)
@pytest.mark.parametrize(("name", "options"), VARIANTS, ids=described)
def test_the_optimum_is_that_of_all_assignments(
    name: str, options: dict[str, Any], problem: str, instance: ContentInstance, start: str
) -> None:
    check(instance, problem, name, {**options, "start": start})


@st.composite
def few_valued_instances(draw: st.DrawFn) -> ContentInstance:
    """Prices, rates and capacities of very few values, not integral and of different scales.

    Costs, prices times rates, are at most 10^6: docs/content.md says what happens beyond.
    """
    users, brokers, channels = draw(st.integers(1, 5)), draw(st.integers(1, 3)), draw(st.integers(1, 3))
    small = st.sampled_from([(0.0, 0.2), (0.0, 0.1, 1 / 3), (0.0, 1e-3, 1.0), (0.1,)])
    large = st.one_of(small, st.sampled_from([(0.0, 1.0, 1e6), (0.0, 1e4, 0.1)]))

    def numbers(rows: int, columns: int, values: st.SearchStrategy[tuple[float, ...]] = large) -> Reals:
        entries = st.lists(st.sampled_from(draw(values)), min_size=rows * columns, max_size=rows * columns)
        return np.array(draw(entries)).reshape(rows, columns)

    upper = np.triu(numbers(brokers, brokers), 1)
    access, rates, wanted = numbers(users, brokers), numbers(users, channels, small), numbers(users, channels) > 0
    core = metric_closure(upper + upper.T)
    demands = ContentInstance(access, core, np.full(brokers, np.inf), rates, wanted).demands
    limits = st.sampled_from([0.1, 0.2, 0.5, 1.0, 3.0, np.inf, float(demands.max()), float(demands.sum()) / 2])
    return ContentInstance(access, core, np.array([draw(limits) for _ in range(brokers)]), rates, wanted)


@property_test(2_000, few_valued_instances(), STARTS, quick=15)
@pytest.mark.parametrize("problem", ROUTINGS)
def test_few_values_of_different_scales_leave_no_gap(problem: str, instance: ContentInstance, start: str) -> None:
    costs = float(instance.demands @ instance.access.sum(axis=1) + instance.rates.sum() * instance.core.sum())
    assume(not 0 < optimum(instance, PROBLEMS[problem].routing) < 1e-10 * costs)  # numbers have 60 bits for all costs
    check(instance, problem, "branch-and-cut", {"start": start})


DELICATE: dict[str, tuple[Any, Any, Any, Any, Any]] = {
    # Demands become integers of about 2^20, and the bound must not lose 2^20 times the unit of multipliers.
    "rounded multipliers": ([[0, 0.2]] * 2, np.zeros((2, 2)), [0.5, np.inf], [[0.3], [0.5]], [[1], [0]]),
    # An optimal basis may have multipliers far above the costs: cut to 64 bits, they proved 0 for 2,000.
    "large multipliers of rows that cancel": (
        *(np.zeros((3, 3)), [[0, 0, 1e6], [0, 0, 1e6], [1e6, 1e6, 0]], [1.001, 1.001, 0.1]),
        *([[0, 0, 0], [1, 1e-3, 0], [0, 1e-3, 1]], [[0, 1, 0], [0, 0, 0], [0, 0, 0]]),
    ),
    # The optimum is 10^-7 of all costs, and multipliers in 64 bits left a gap of 10^-5 of it.
    "a small part of all costs": (
        *([[0, 0, 0], [0, 0, 0], [0, 0.1, 1e6]], np.zeros((3, 3)), [0.2, 0.1, 0.2]),
        *([[0.1, 0, 0.1], [0, 0, 0], [0, 0, 0]], [[0, 0, 0], [1, 0, 1], [0, 0, 1]]),
    ),
    # HiGHS once ended a node's LP as unknown, and the search with it.
    "an LP without a status": (
        *([[0, 0, 0], [1, 1e-3, 1e-3], [0, 1, 0], [1, 0, 1], [1e-3, 1e-3, 0]], 1e6 * (1 - np.eye(3)), [0.2, 1, 1]),
        *(np.full((5, 1), 0.1), [[1], [0], [1], [1], [0]]),
    ),
}


@pytest.mark.parametrize("name", DELICATE)
def test_numbers_that_once_misled_the_bound_or_the_lp_do_no_harm(name: str) -> None:
    access, core, capacities, rates, wanted = map(np.array, DELICATE[name])
    instance = ContentInstance(access, core, capacities, rates, wanted)
    for problem in ROUTINGS:
        check(instance, problem, "branch-and-cut", {})


@pytest.mark.parametrize("name", EXACT)
def test_small_rates_fill_a_capacity_as_large_ones_do(name: str) -> None:
    rates, none = np.full((5, 1), 5e-6), np.zeros((5, 1), np.bool_)
    access = np.tile([0.0, 1.0], (5, 1))
    check(ContentInstance(access, np.zeros((2, 2)), np.array([2.46e-5, np.inf]), rates, none), "content-mst", name, {})


@property_test(60, SMALL, quick=4)
@pytest.mark.parametrize("problem", ROUTINGS)
def test_rounding_the_relaxation_encloses_the_optimum(problem: str, instance: ContentInstance) -> None:
    result = METHODS["lp-rounding"].run(instance, PROBLEMS[problem])
    expected = optimum(instance, PROBLEMS[problem].routing)
    if math.isinf(expected):
        assert result.value is None
        return
    assert result.status in (Status.OPTIMAL, Status.FEASIBLE) or "without a broker" in result.reason
    assert bound_of(result) <= expected * (1 + 1e-6) + 1e-9
    assert result.value is None or result.value >= expected * (1 - 1e-6)


@pytest.mark.parametrize(
    ("problem", "seed"),
    [
        pytest.param(problem, seed, marks=[pytest.mark.slow] * (seed > 0 or i > 0))
        for i, problem in enumerate(ROUTINGS)
        for seed in range(3)
    ],
)
def test_the_methods_agree_beyond_all_assignments(problem: str, seed: int) -> None:
    instance = WORKLOADS["content"].generate(users=5, brokers=3, intervals=2, seed=seed)
    values = {
        f"{name} {options}": value_of(METHODS[name].run(instance, PROBLEMS[problem], **options))
        for name, options in VARIANTS
    }
    assert max(values.values()) <= min(values.values()) * (1 + 1e-6), values


@pytest.mark.parametrize("problem", ROUTINGS)
def test_prices_and_rates_that_are_no_whole_numbers_change_nothing_but_the_scale(problem: str) -> None:
    whole = WORKLOADS["content"].generate(users=6, brokers=3, intervals=3, seed=4)
    prices = {"access": whole.access * 3e-10, "core": whole.core * 3e-10}
    scaled = replace(whole, **prices, capacities=whole.capacities * 0.7, rates=whole.rates * 0.7)
    for name in EXACT:
        before, after = (METHODS[name].run(instance, PROBLEMS[problem]) for instance in (whole, scaled))
        assert before.status is after.status is Status.OPTIMAL
        assert after.value == pytest.approx(2.1e-10 * value_of(before), rel=1e-6, abs=0)


@pytest.mark.parametrize("power", [20, 50])
def test_costs_above_the_integers_of_floating_point_are_proven_too(power: int) -> None:
    """HiGHS fails on costs of 2^50 and more, so the prices of the model are smaller."""
    whole = WORKLOADS["content"].generate(users=5, brokers=3, intervals=3, seed=4)
    larger = replace(whole, rates=whole.rates * 2.0**power, capacities=whole.capacities * 2.0**power)
    run = METHODS["branch-and-cut"].run
    before, after = (run(instance, PROBLEMS["content-steiner"]) for instance in (whole, larger))
    assert after.status is Status.OPTIMAL
    assert after.value == pytest.approx(2.0**power * value_of(before), rel=1e-6)


def test_costs_beyond_the_units_of_a_proof_are_refused() -> None:
    whole = WORKLOADS["content"].generate(users=5, brokers=3, intervals=3, seed=4)
    huge = replace(whole, rates=whole.rates * 2.0**120, capacities=whole.capacities * 2.0**120)
    with pytest.raises(BadInput, match=r"above 2\^100: divide them by a common factor"):
        METHODS["branch-and-cut"].run(huge, PROBLEMS["content-steiner"])


@st.composite
def intervals_of_users(draw: st.DrawFn, grain: int) -> GivenUsers:
    """Quadratics, subscriptions with their ends on a grid, and all else that `on_cells` makes an instance of."""
    random = np.random.default_rng(draw(st.integers(0, 10**9)))
    users, brokers = draw(st.integers(2, 5)), draw(st.integers(2, 3))
    low, high = np.sort(random.integers(0, grain + 1, (2, users)) / grain, axis=0)
    coefficients = random.uniform(-1, 1, (users, 3)) @ [[4, -4, 1], [0, 2, -1], [0, 0, 1]]
    places = random.integers(0, 10, (users + brokers, 2))
    prices = np.abs(places[:, None] - places).sum(axis=2).astype(float)
    capacity = draw(st.sampled_from([np.inf, 4000.0]))
    return coefficients, low, high, prices[:users, users:], prices[users:, users:], np.full(brokers, capacity)


def on_cells(given: GivenUsers, ends: Reals, wanted: Flags) -> ContentInstance:
    coefficients, _, _, access, core, capacities = given
    return ContentInstance(access, core, capacities, cut_quadratic_histogram(coefficients, ends, 1000), wanted)


def least(instance: ContentInstance, problem: str, name: str, **options: Any) -> float:
    result = METHODS[name].run(instance, PROBLEMS[problem], **options)
    return math.inf if result.status is Status.INFEASIBLE else value_of(result)


@property_test(8, intervals_of_users(6), quick=2)
@pytest.mark.parametrize("problem", ROUTINGS)
def test_content_on_flows_costs_what_sub_channels_do_on_exact_histograms(problem: str, given: GivenUsers) -> None:
    _, low, high, *_ = given
    ends = exact_cells(low, high)
    exact = on_cells(given, ends, contained_cells(low, high, ends))
    grid = np.arange(1 + 6) / 6  # rounded as the ends are; linspace rounds 5/6 upwards
    channels = on_cells(given, grid, contained_cells(low, high, grid))
    expected = least(channels, problem, "branch-and-cut")
    assert least(exact, problem, "ilp", formulation="flows") == pytest.approx(expected, rel=1e-6)
    assert least(exact, problem, "cp-sat", formulation="flows") == pytest.approx(expected, rel=1e-6)
    assert least(channels, problem, "ilp") == pytest.approx(expected, rel=1e-6)


@property_test(10, intervals_of_users(1000), quick=2)
@pytest.mark.parametrize("problem", ROUTINGS)
def test_a_coarser_histogram_never_costs_less_than_the_content_itself(problem: str, given: GivenUsers) -> None:
    _, low, high, *_ = given
    ends = exact_cells(low, high)
    cells = [on_cells(given, ends, contained_cells(low, high, ends))]
    cells += [on_cells(given, np.linspace(0, 1, 1 + count), intersected_cells(low, high, count)) for count in (8, 4, 2)]
    costs = [least(instance, problem, "branch-and-cut") for instance in cells]
    for finer, coarser in itertools.pairwise(costs):
        assert finer <= coarser * (1 + 1e-6)


def test_a_relay_saves_a_quarter_where_three_brokers_surround_a_fourth() -> None:
    instance = relay_star(rim=3)  # for which P4 §III.A says that 4 is best
    for method in METHODS.values():
        assert method.run(instance, PROBLEMS["content-steiner"]).value == pytest.approx(3)
        assert method.run(instance, PROBLEMS["content-mst"]).value == pytest.approx(4)
        assert method.run(instance, PROBLEMS["content-shared-tree"]).value == pytest.approx(3)


@pytest.mark.parametrize("name", EXACT)
def test_capacities_without_any_assignment_are_said_with_the_numbers(name: str) -> None:
    # Four users who each need 2 of 3 on three brokers: 8 of 9 in all, but two of them fit on no broker.
    rates, wanted = np.full((4, 1), 2.0), np.zeros((4, 1), np.bool_)
    instance = ContentInstance(np.ones((4, 3)), np.zeros((3, 3)), np.full(3, 3.0), rates, wanted)
    result = METHODS[name].run(instance, PROBLEMS["content-steiner"])
    assert result.status is Status.INFEASIBLE
    assert "4 users" in result.reason
    # 5, 5, 4, 3, 3 on 7, 7, 7: no simple conflict, but only one 3 fits, beside the 4.
    rates = np.array([[5.0], [5], [4], [3], [3]])
    instance = ContentInstance(np.ones((5, 3)), np.zeros((3, 3)), np.full(3, 7.0), rates, np.zeros((5, 1), np.bool_))
    assert instance.capacity_conflict() == ""
    result = METHODS[name].run(instance, PROBLEMS["content-mst"])
    assert result.status is Status.INFEASIBLE
    assert "capacities" in result.reason


@pytest.mark.parametrize("problem", ROUTINGS)
def test_an_answer_and_its_columns_say_the_same(problem: str) -> None:
    instance = WORKLOADS["content"].generate(users=7, brokers=4, intervals=4, seed=2)
    judge = PROBLEMS[problem]
    answer = best_start(instance, judge, seed=0, clock=Clock(None))
    assert answer is not None
    for model in (
        ContentModel(instance, judge.routing),
        *(compact_model(instance, judge.routing, f) for f in FORMULATIONS),
    ):
        values = model.values(answer)
        back = model.answer(values.astype(np.float64))
        assert judge.violations(instance, back) == []
        assert np.array_equal(back.brokers, answer.brokers)
        assert judge.value(instance, back) <= judge.value(instance, answer) * (1 + 1e-12)
    planes = ContentCuts(ContentModel(instance, judge.routing))
    values = planes.model.values(answer)
    assert planes.satisfied(values.astype(np.float64))
    cost = float(np.dot(planes.model.costs, values))
    assert cost == pytest.approx(judge.value(instance, planes.model.answer(values.astype(np.float64))))


@pytest.mark.parametrize(("name", "problem"), [*zip(EXACT, ROUTINGS, strict=True)])
def test_a_time_limit_leaves_an_overlay_and_a_bound(name: str, problem: str) -> None:
    instance = WORKLOADS["content"].generate(users=100, brokers=10, intervals=15, seed=0)
    result = METHODS[name].run(instance, PROBLEMS[problem], time_limit=0.3)
    assert result.status is Status.TIME_LIMIT, result.reason
    assert 0 < bound_of(result) <= value_of(result)


@pytest.mark.parametrize("name", EXACT)
def test_a_model_beyond_memory_leaves_the_heuristics_overlay(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    instance = WORKLOADS["content"].generate(users=12, brokers=4, intervals=6, seed=0)
    monkeypatch.setattr("overlaybench.models.content.model._MOST_COLUMNS", 600)
    result = METHODS[name].run(instance, PROBLEMS["content-steiner"])
    assert (result.status, result.value) == (Status.MEMORY_LIMIT, result.counters["start"])
    assert result.reason == "the model could have 608 variables, more than the 600 that fit"
    assert result.lower_bound == pytest.approx((instance.demands * instance.access.min(axis=1)).sum())
    alone = METHODS[name].run(instance, PROBLEMS["content-steiner"], start="none")
    assert (alone.status, alone.reason) == (Status.FAILED, result.reason)


@pytest.mark.parametrize("problem", ROUTINGS)
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_building_a_model_ends_with_the_time(formulation: str, problem: str) -> None:
    instance = WORKLOADS["content"].generate(users=12, brokers=4, intervals=6, seed=0)
    with pytest.raises(OutOfTime):
        compact_model(instance, PROBLEMS[problem].routing, formulation, Clock(0.0))
