"""Method `best` is never worse than a heuristic, and is guided by a good LP solution."""

from __future__ import annotations

import numpy as np
import pytest

from overlaybench.heuristics.topics.greedy_merge import greedy_merge
from overlaybench.instances.contract.catalogue import PROBLEMS, methods_of
from overlaybench.instances.contract.result import Status
from overlaybench.instances.contract.run import Clock
from overlaybench.models.topics.best import BEST, _in_order
from overlaybench.models.topics.lp_bound import lower_bound
from overlaybench.models.topics.relaxation.candidate_edges import CandidateEdges, all_pairs
from overlaybench.models.topics.relaxation.cost_splitting import split_costs
from tests.models.topics.small_instances import small_instance, tiers, uniform_instance, value_of
from tests.topic_brute_force import optimum

HEURISTICS = tuple(method for method in methods_of("overlaybench.heuristics.topics") if not method.anytime)

TOPIC_PROBLEMS = ("min-tco", "minmax-tco", "low-tco", "2d-star", "2d-true")


@pytest.mark.parametrize("seeds", tiers(1, 2))
@pytest.mark.parametrize("problem", TOPIC_PROBLEMS)
def test_no_heuristic_beats_it(problem: str, seeds: range) -> None:
    for seed in seeds:
        instance = uniform_instance(40, 30, 5, seed)
        result = BEST.run(instance, PROBLEMS[problem], seed=seed, steps=2000)
        assert result.status is Status.FEASIBLE
        value = value_of(result)
        for method in HEURISTICS:
            if problem in method.problems:
                assert value <= value_of(method.run(instance, PROBLEMS[problem]))
                assert f"{method.name} " in str(result.counters["heuristics"])


def test_it_is_within_two_per_cent_of_the_bound() -> None:
    instance = uniform_instance(60, 60, 8)
    result = BEST.run(instance, PROBLEMS["min-tco"], steps=20_000)
    assert value_of(result) <= 1.02 * lower_bound(instance, Clock(None)).value


@pytest.mark.parametrize("seeds", tiers(6, 15))
def test_it_finds_the_optimum_of_small_instances(seeds: range) -> None:
    for seed in seeds:
        small = small_instance(seed)
        assert BEST.run(small, PROBLEMS["min-tco"], steps=2000).value == optimum(small, "min-tco")


@pytest.mark.parametrize("problem", TOPIC_PROBLEMS)
def test_hardly_any_time_is_enough_for_an_answer(problem: str) -> None:
    result = BEST.run(uniform_instance(60, 40, 6), PROBLEMS[problem], time_limit=1e-6)
    assert result.status is Status.FEASIBLE


def test_those_that_do_best_on_a_problem_run_before_faster_ones_and_none_is_left_out() -> None:
    first = {
        problem: [method.name for method in _in_order(PROBLEMS[problem])][1:4]
        for problem in ("min-tco", "minmax-tco", "low-tco")
    }
    assert {problem: set(names) for problem, names in first.items()} == {
        "min-tco": {"gm", "dc-gm", "low-oda"},
        "minmax-tco": {"gm-m", "low-oda", "dcbr-m"},
        "low-tco": {"low-oda", "gm-m", "gm"},
    }
    for problem in TOPIC_PROBLEMS:
        names = [method.name for method in _in_order(PROBLEMS[problem])]
        assert sorted(names) == sorted(method.name for method in HEURISTICS if problem in method.problems)


def test_one_seed_gives_one_answer() -> None:
    instance = uniform_instance(40, 30, 5)
    one, again = (BEST.run(instance, PROBLEMS["low-tco"], seed=3, steps=3000).answer for _ in range(2))
    assert one == again


def test_splitting_among_all_pairs_given_as_a_list_is_splitting_among_all_pairs() -> None:
    instance = uniform_instance(30, 20, 4)
    start = float(greedy_merge(instance).num_edges)
    dense, sparse = (
        split_costs(instance, start, Clock(None), rounds=400, among=among)
        for among in (None, CandidateEdges(instance, all_pairs(instance)))
    )
    assert np.array_equal(dense.edges.keys, sparse.edges.keys)
    assert dense.units == pytest.approx(sparse.units, rel=0.01)
    # Trees of equal weight may differ, so the rounds do; the limit of both is the value of one LP.
    assert sparse.units <= dense.limit * 2**32 * (1 + 1e-9)
    assert dense.units <= sparse.limit * 2**32 * (1 + 1e-9)
