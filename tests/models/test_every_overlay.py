"""The table of all overlays against the exact methods."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from instances import PROBLEMS, TopicInstance
from instances.constructions import case_seven
from models.cp_sat import CP_SAT
from models.every_overlay import smallest_value
from tests.strategies import topic_instances


@pytest.mark.parametrize("problem", ["min-tco", "minmax-tco", "low-tco", "2d-star", "2d-true"])
@settings(max_examples=12, deadline=None)
@given(instance=topic_instances(max_nodes=5))
def test_the_smallest_of_all_overlays_is_the_optimum_of_an_exact_method(problem: str, instance: TopicInstance) -> None:
    assert smallest_value(instance, problem) == CP_SAT.run(instance, PROBLEMS[problem]).value


def test_case_seven_on_six_nodes_needs_six_edges() -> None:
    assert smallest_value(case_seven(n=6), "2d-true") == smallest_value(case_seven(n=6), "2d-star") == 6


def test_more_than_six_nodes_are_refused() -> None:
    with pytest.raises(ValueError, match="7 nodes"):
        smallest_value(case_seven(n=7), "2d-true")
