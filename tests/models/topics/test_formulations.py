"""Foundations of the compact models: reductions, valid inequalities, LP bounds, bounds without a solver."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from overlaybench.instances.contract.catalogue import methods_of
from overlaybench.instances.contract.method import Method
from overlaybench.instances.contract.result import Status
from overlaybench.instances.contract.run import Clock
from overlaybench.instances.topics.problems import TOPIC_PROBLEMS
from overlaybench.models.topics.compact import overlay_model
from overlaybench.models.topics.compact.overlay_model import (
    FORMULATED,
    requirements_of,
    simple_bounds,
)
from overlaybench.models.topics.ilp_and_cp_sat import relaxation_bound
from overlaybench.models.topics.lp_heuristics.lp_guided import any_overlay, heuristic_overlays, stars
from tests.models.topics.small_instances import bounded, small_instance, tiers, uniform_instance
from tests.topic_brute_force import all_graphs, optimum

MODELS = methods_of("overlaybench.models.topics")
COMPACT = [each for each in MODELS if each.name in ("ilp", "cp-sat") and each.answers("min-tco")]

PROBLEMS = {problem.name: problem for problem in TOPIC_PROBLEMS}

FOREVER = Clock(None)


@pytest.mark.parametrize("problem", ["min-tco", "minmax-tco"])
def test_many_flows_bound_at_least_as_well_as_one_and_better_on_some(problem: str) -> None:
    better = 0
    for seed in range(6):
        instance = uniform_instance(14, 10, 3, seed)
        one = relaxation_bound(instance, problem, formulation="single")
        many = relaxation_bound(instance, problem, formulation="multi")
        assert one <= many + 1e-6
        better += many > one + 1e-6
    assert better > 0


@pytest.mark.parametrize("seeds", tiers(15, 60))
@pytest.mark.parametrize("formulation", ["single", "multi"])
@pytest.mark.parametrize("problem", ["min-tco", "minmax-tco", "2d-star", "2d-true"])
def test_relaxations_are_bounds(problem: str, formulation: str, seeds: range) -> None:
    for seed in seeds:
        instance = small_instance(seed)
        assert relaxation_bound(instance, problem, formulation=formulation) <= optimum(instance, problem) + 1e-6


@pytest.mark.parametrize("size", [3, 4, 5, 6])
def test_diameter_two_without_a_centre_takes_two_neighbours_each_and_2n_minus_5_edges(size: int) -> None:
    graphs = all_graphs(size)
    members = tuple(range(size))
    centreless = graphs.brings_within_two(members) & ~graphs.has_star_on(members)
    assert centreless.any() == (size > 3)
    if size == 3:
        return
    assert graphs.edges[centreless].min() >= max(size, 2 * size - 5)
    least_degree = np.min([np.sum([graphs.has[v, w] for w in members if w != v], axis=0) for v in members], axis=0)
    assert least_degree[centreless].min() >= 2


def test_simple_bounds_are_bounds() -> None:
    tight = 0
    for seed in range(300):
        instance = small_instance(seed)
        bounds = simple_bounds(requirements_of(instance, FOREVER), FOREVER)
        for problem in PROBLEMS:
            best = optimum(instance, problem)
            bound = FORMULATED[problem].value(*bounds)
            assert bound <= best, f"{problem}, seed {seed}"
            tight += bound == best
    assert tight > 300


@pytest.mark.parametrize("method", COMPACT)
def test_a_model_beyond_memory_leaves_the_heuristics_overlay_and_its_size(
    method: Method[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overlay_model, "MOST_VARIABLES", dict.fromkeys(overlay_model.MOST_VARIABLES, 100))
    result = method.run(uniform_instance(30, 5, 2), PROBLEMS["min-tco"])
    assert result.status is Status.TIME_LIMIT
    assert "variables" in result.reason
    _, value, bound = bounded(result)
    assert bound <= value


@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_first_heuristic_overlay_is_the_best(problem: str) -> None:
    instance = uniform_instance(15, 10, 3)
    overlays = heuristic_overlays(instance, PROBLEMS[problem], seed=0, clock=FOREVER)
    values = [PROBLEMS[problem].value(instance, overlay) for overlay in overlays]
    assert values == sorted(values)
    assert len(values) == (2 if problem in ("weighted-tco", "k-tco") else 4)
    assert all(not PROBLEMS[problem].violations(instance, overlay) for overlay in overlays)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_without_time_the_start_is_valid_and_no_worse_than_stars(problem: str) -> None:
    instance, found = uniform_instance(40, 20, 5), PROBLEMS[problem]
    (alone,), centred = heuristic_overlays(instance, found, seed=0, clock=Clock(0)), stars(instance)
    assert alone == any_overlay(instance, found)
    assert not found.violations(instance, alone)
    assert found.violations(instance, centred) or found.value(instance, alone) <= found.value(instance, centred)
