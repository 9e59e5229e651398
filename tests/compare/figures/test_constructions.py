"""The figures of constructions: each shows a heuristic beside the optimum where they differ, the same each time."""

import numpy as np
import pytest

from overlaybench.compare.catalogue import problem_named
from overlaybench.docs.drawn_constructions import DEGREE_OF_V, DRAWN, construction_drawing, pair_of
from overlaybench.instances.content.workloads import CONTENT_CONSTRUCTIONS
from overlaybench.instances.topics.constructions import CONSTRUCTIONS, SET_COVER_CONSTRUCTIONS
from tests.compare.conftest import slow

OF_TOPICS = [name for name, chosen in DRAWN.items() if chosen.problem]


def test_every_construction_has_a_figure() -> None:
    topics = {workload.name for workload in (*CONSTRUCTIONS, *SET_COVER_CONSTRUCTIONS)}
    assert set(DRAWN) == topics | {workload.name for workload in CONTENT_CONSTRUCTIONS}


QUICK = ("weighted-nested-subscriptions", "set-cover-single-node", "binary-tree-of-topics")


@pytest.mark.parametrize("name", [name if name in QUICK else slow(name) for name in OF_TOPICS])
def test_the_heuristic_and_the_optimum_that_are_drawn_differ(name: str) -> None:
    pair, problem = pair_of(name), DRAWN[name].problem
    assert pair.values[0] > pair.values[1]
    for overlay, value in zip(pair.answers, pair.values, strict=True):
        judge = problem_named("min-tco" if problem == DEGREE_OF_V else problem)
        assert not judge.violations(pair.instance, overlay)
        found = overlay.degrees[-1] if problem == DEGREE_OF_V else judge.value(pair.instance, overlay)
        assert found == value


@pytest.mark.slow
def test_a_figure_is_drawn_the_same_twice_and_says_what_is_proven() -> None:
    first, second = construction_drawing("case-seven"), construction_drawing("case-seven")
    assert first.files["svg"] == second.files["svg"]
    assert "cd-oda-2 gives 7; the proven optimum is 6" in first.caption


@pytest.mark.slow
def test_a_content_construction_is_drawn_for_both_routings() -> None:
    star = construction_drawing("relay-star")
    assert star.files["svg"] == construction_drawing("relay-star").files["svg"]
    assert "rim = 5" in star.caption
    assert "without relays: 8 (optimal)" in star.svg


def test_the_worst_part_of_the_binary_tree_is_the_root_with_the_leaves() -> None:
    pair = pair_of("binary-tree-of-topics")
    root = np.flatnonzero(pair.answers[0].degrees == pair.values[0]).tolist()
    assert 0 in root
