"""Method `best` is never worse than a heuristic, and is guided by a good LP solution."""

from pathlib import Path

import pytest

import overlaybench as ob
from overlaybench.instances.contract.catalogue import PROBLEMS
from overlaybench.instances.runtime.run import Clock
from overlaybench.models.topics.best import BEST
from overlaybench.models.topics.lp_bound import lower_bound
from tests.heuristics.topics.test_guarantees import HEURISTICS
from tests.models.checker.tiny import checker
from tests.models.topics.small_instances import small_instance, tiers, uniform_instance
from tests.outcomes import value_of
from tests.topic_brute_force import optimum

TOPIC_PROBLEMS = ("min-tco", "minmax-tco", "low-tco", "2d-star", "2d-true", "weighted-tco", "k-tco")


@pytest.mark.parametrize("seeds", tiers(1, 2))
@pytest.mark.parametrize("problem", TOPIC_PROBLEMS)
def test_no_heuristic_beats_it(problem: str, seeds: range) -> None:
    for seed in seeds:
        instance = uniform_instance(40, 30, 5, seed)
        result = BEST.run(instance, PROBLEMS[problem], seed=seed, steps=2000)
        assert result.status is ob.Status.FEASIBLE
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
    assert result.status is ob.Status.FEASIBLE


@pytest.mark.slow
def test_a_good_heuristic_that_fits_into_the_limit_is_everyones_floor() -> None:
    """On 20,000 nodes greedy merges take most of 3 s; a ring for each topic has degree 20."""
    instance, problem = uniform_instance(20_000, 100, 10), PROBLEMS["minmax-tco"]
    ob.METHODS["gm-m"].run(instance, problem)  # its kernels are loaded
    greedy = ob.METHODS["gm-m"].run(instance, problem)
    for name in ("best", "branch-and-cut"):
        limit = max(3.0, 2.5 * greedy.seconds)
        result = ob.METHODS[name].run(instance, problem, time_limit=limit)
        assert value_of(result) <= value_of(greedy), name


@pytest.mark.slow
def test_large_overlays_are_searched_along_the_bound_and_its_proof_is_checked(tmp_path: Path) -> None:
    """Of 10,000 nodes many are leaves, which the search and the proof leave out."""
    instance, problem = ob.WORKLOADS["exponential"].generate(seed=0, nodes=10_000, subscriptions=4), PROBLEMS["min-tco"]
    proof, file = tmp_path / "proof.gz", tmp_path / "instance.json"
    bounded = ob.METHODS["lp-bound"].run(instance, problem, time_limit=60, proof=proof)
    found = BEST.run(instance, problem, time_limit=60)
    assert value_of(found) < value_of(ob.METHODS["gm"].run(instance, problem))
    assert bounded.lower_bound is not None
    assert bounded.lower_bound <= min(value_of(found), value_of(bounded))
    ob.KINDS["topics"].write(instance, file)
    assert checker().check(str(file), str(proof))[2] == bounded.lower_bound
