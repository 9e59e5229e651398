"""The content heuristics against their twins, their own promises, and each other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume
from hypothesis import strategies as st

from overlaybench.heuristics.content.clustering import clustering
from overlaybench.heuristics.content.greedy_packing import greedy_packing
from overlaybench.heuristics.content.heuristic import CapacityExceeded
from overlaybench.heuristics.content.random_assignment import random_assignment
from overlaybench.heuristics.content.steiner_mixing import (
    brokers_between,
    steiner_mixing,
    traffic_on_closure_trees,
    traffic_on_grown_trees,
)
from overlaybench.instances.content.instance import ContentInstance, Floats
from overlaybench.instances.content.problems import CONTENT_PROBLEMS, ContentOverlay, ContentProblem
from overlaybench.instances.contract.catalogue import WORKLOADS, methods_of
from overlaybench.instances.contract.result import Status
from tests.content_brute_force import Network, cost, optimum
from tests.content_strategies import content_instances
from tests.heuristics.content import twins
from tests.heuristics.content.constructions import beside_a_far_broker
from tests.outcomes import answer_of, value_of
from tests.properties import property_test

CONTENT_HEURISTICS = methods_of("overlaybench.heuristics.content")

STEINER, MST, SHARED = CONTENT_PROBLEMS
METHODS = {method.name: method for method in CONTENT_HEURISTICS}


@property_test(80, content_instances(max_users=7, max_brokers=4, tight=True))
@pytest.mark.parametrize("name", ["greedy_packing", "clustering"])
def test_the_two_stage_heuristics_agree_with_their_twins(name: str, instance: ContentInstance) -> None:
    method, twin = {"greedy_packing": greedy_packing, "clustering": clustering}[name], getattr(twins, name)
    try:
        found = method(instance).tolist()
    except CapacityExceeded:
        with pytest.raises(ValueError, match="empty"):
            twin(instance)
    else:
        assert found == twin(instance)


@property_test(80, content_instances(max_users=7, max_brokers=4))
def test_grown_trees_agree_with_their_twin(instance: ContentInstance) -> None:
    assert traffic_on_grown_trees(instance).tolist() == twins.traffic_on_grown_trees(instance)


@property_test(80, st.integers(2, 7), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_closure_trees_use_the_brokers_of_a_minimum_spanning_tree_of_users(users: int, brokers: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    places, homes = random.random((users, 2)), random.random((brokers, 2))
    access = np.hypot(*(places[:, None] - homes).T).T + random.random((users, brokers))  # so that no two ways tie
    core = np.hypot(*(homes[:, None] - homes).T).T
    used, _ = twins.closure_tree_brokers(access.tolist(), core.tolist())
    assert set(np.flatnonzero(brokers_between(access, core)).tolist()) == used


@property_test(40, content_instances(max_users=7, max_brokers=4))
@pytest.mark.parametrize("trees", [traffic_on_closure_trees, traffic_on_grown_trees])
def test_every_message_with_another_subscriber_puts_its_rate_on_each_of_its_users(
    trees: Callable[[ContentInstance], Floats], instance: ContentInstance
) -> None:
    alone = instance.subscriptions.sum(axis=0) - instance.subscriptions == 0
    sent = np.where(alone, 0.0, instance.rates)
    received = np.where(instance.subscriptions, instance.rates.sum(axis=0) - instance.rates, 0.0)
    assert trees(instance).sum(axis=1).tolist() == (sent + received).sum(axis=1).tolist()


@property_test(40, content_instances(max_users=6, tight=True), st.integers(0, 3))
@pytest.mark.parametrize("problem", CONTENT_PROBLEMS, ids=lambda problem: problem.routing)
@pytest.mark.parametrize("name", METHODS)
def test_capacities_hold_or_the_method_says_what_stops_it(
    name: str, problem: ContentProblem, instance: ContentInstance, seed: int
) -> None:
    result = METHODS[name].run(instance, problem, seed=seed)
    if result.status is Status.FEASIBLE:
        network = Network(instance.core.tolist())
        best = cost(instance, network, answer_of(result).brokers.tolist(), problem.routing)
        assert value_of(result) >= best if problem is not MST else result.value == best
    elif result.status is Status.INFEASIBLE:
        assert instance.capacity_conflict() == result.reason
    else:
        assert result.reason.startswith("no broker can take user ")
    again = METHODS[name].run(instance, problem, seed=seed)
    assert (again.status, again.answer, again.counters) == (result.status, result.answer, result.counters)


@property_test(40, content_instances(max_users=4, tight=True))
@pytest.mark.parametrize("problem", CONTENT_PROBLEMS, ids=lambda problem: problem.routing)
def test_no_heuristic_beats_the_best_of_all_assignments(problem: ContentProblem, instance: ContentInstance) -> None:
    best = optimum(instance, problem.routing)
    for method in CONTENT_HEURISTICS:
        result = method.run(instance, problem)
        assert result.value is None or result.value >= best


@property_test(40, content_instances(max_users=6))
def test_greedy_packing_has_the_least_access_cost_where_capacities_do_not_bind(instance: ContentInstance) -> None:
    access = MST.measures(instance, ContentOverlay(greedy_packing(instance)))["access"]
    assert access == (instance.demands * instance.access.min(axis=1)).sum()


def test_one_user_too_many_is_named_with_the_numbers_and_the_heaviest_first_can_fit() -> None:
    demand, prices = np.array([[1.0], [1.0], [2.0], [2.0]]), np.array([[1.0, 2.0]] * 4)
    instance = ContentInstance(prices, np.zeros((2, 2)), np.full(2, 3.0), demand, np.zeros((4, 1), np.bool_))
    result = METHODS["greedy-packing"].run(instance, MST)
    assert result.status is Status.FAILED
    assert result.reason == (
        "no broker can take user 'u3' with demand 2: the largest residual capacity is 1, of broker 'b0'"
    )
    assert METHODS["greedy-packing"].run(instance, MST, order="heaviest").status is Status.FEASIBLE


def test_random_assignment_gives_every_broker_its_share() -> None:
    instance = WORKLOADS["content"].generate(users=4000, brokers=4, intervals=2)
    counts = np.bincount(random_assignment(instance, seed=1), minlength=4)
    assert abs(counts - 1000).max() < 5 * np.sqrt(750)
    assert (random_assignment(instance, seed=1) != random_assignment(instance, seed=2)).any()


def test_mixing_draws_in_proportion_to_the_traffic() -> None:
    instance = WORKLOADS["content"].generate(users=40, brokers=5, intervals=8, width=0.2, slack=100.0)
    traffic = traffic_on_closure_trees(instance)
    user = int(np.argmax((traffic > 0).sum(axis=1)))
    drawn = np.bincount([steiner_mixing(instance, seed=seed)[user] for seed in range(400)], minlength=5) / 400
    assert (traffic[user] > 0).sum() > 1
    assert abs(drawn - traffic[user] / traffic[user].sum()).max() < 0.12


def test_grown_trees_have_no_constant_ratio() -> None:
    for users in (4, 8, 16):
        instance = beside_a_far_broker(users)
        grown, closure = (
            (trees(instance) * instance.access).sum() for trees in (traffic_on_grown_trees, traffic_on_closure_trees)
        )
        assert grown >= users * 100
        assert closure <= 100 + 2 * users


@property_test(30, content_instances(max_users=6, max_brokers=4), st.data())
def test_twice_the_rates_change_no_assignment(instance: ContentInstance, data: st.DataObject) -> None:
    assume(instance.rates.any())
    busier = ContentInstance(
        instance.access, instance.core, instance.capacities, 2 * instance.rates, instance.subscriptions
    )
    for assign in (greedy_packing, clustering, steiner_mixing):
        assert assign(busier).tolist() == assign(instance).tolist()
