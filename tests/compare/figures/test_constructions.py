"""The figures of constructions: every construction has one, and it is drawn the same twice."""

from __future__ import annotations

import pytest

from overlaybench.compare.figures.constructions import DRAWN, construction_drawing
from overlaybench.instances.content.constructions import CONTENT_CONSTRUCTIONS
from overlaybench.instances.errors import BadInput
from overlaybench.instances.topics.constructions import CONSTRUCTIONS
from overlaybench.instances.topics.set_cover import SET_COVER_CONSTRUCTIONS


def test_every_construction_has_a_figure() -> None:
    topics = {workload.name for workload in (*CONSTRUCTIONS, *SET_COVER_CONSTRUCTIONS)}
    assert set(DRAWN) == topics | {workload.name for workload in CONTENT_CONSTRUCTIONS}


def test_a_figure_is_drawn_the_same_twice_and_says_what_is_proven() -> None:
    first, second = construction_drawing("case-seven"), construction_drawing("case-seven")
    assert first.svg_file == second.svg_file
    assert "an overlay of value 8 for 2d-true (optimal)" in first.caption
    star = construction_drawing("relay-star")
    assert star.svg_file == construction_drawing("relay-star").svg_file
    assert "rim = 5" in star.caption


def test_no_figure_of_that_name_is_bad_input() -> None:
    with pytest.raises(BadInput, match="no figure of 'gm'"):
        construction_drawing("gm")
