"""Enumeration of all overlays against an exact method."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from overlaybench.instances.contract.catalogue import PROBLEMS
from overlaybench.instances.topics.constructions import case_seven
from overlaybench.instances.topics.instance import TopicInstance
from overlaybench.models.topics.enumeration import smallest_value
from overlaybench.models.topics.ilp_and_cp_sat import CP_SAT
from tests.topic_strategies import topic_instances

every_problem = pytest.mark.parametrize("problem", ["min-tco", "minmax-tco", "low-tco", "2d-star", "2d-true"])


@every_problem
@settings(max_examples=4, deadline=None)
@given(instance=topic_instances(max_nodes=5))
def test_the_smallest_of_all_overlays_is_the_optimum_of_an_exact_method(problem: str, instance: TopicInstance) -> None:
    agrees_with_cp_sat(problem, instance)


@pytest.mark.slow
@every_problem
@settings(max_examples=12, deadline=None)
@given(instance=topic_instances(max_nodes=5))
def test_more_optima_are_those_of_an_exact_method(problem: str, instance: TopicInstance) -> None:
    agrees_with_cp_sat(problem, instance)


def agrees_with_cp_sat(problem: str, instance: TopicInstance) -> None:
    assert smallest_value(instance, problem) == CP_SAT.run(instance, PROBLEMS[problem]).value


def test_case_seven_on_six_nodes_needs_six_edges() -> None:
    assert smallest_value(case_seven(n=6), "2d-true") == smallest_value(case_seven(n=6), "2d-star") == 6


def test_more_than_six_nodes_are_refused() -> None:
    with pytest.raises(ValueError, match="7 nodes"):
        smallest_value(case_seven(n=7), "2d-true")
