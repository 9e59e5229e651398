"""Published numbers stand in the axes of the figures, beside our means with intervals."""

from __future__ import annotations

import pandas as pd
import pytest

from overlaybench.compare.papers.drawing import curve_of, draw
from overlaybench.compare.papers.figures import FIGURES
from overlaybench.compare.papers.published import PUBLISHED, PublishedCurve

METHODS = ("gm", "2d-oda", "cd-oda", "cd-oda-1", "cd-oda-2")
ROWS = pd.DataFrame(
    {"p_nodes": nodes, "method": method, "recipe": f"{nodes} {seed}", "average_degree": 2.0 + seed + nodes / 100}
    for nodes in (100, 200)
    for method in METHODS
    for seed in (0, 1)
)


def test_every_published_curve_is_of_a_panel_of_its_figure() -> None:
    for name, curves in PUBLISHED.items():
        assert {one.column for one in curves} <= {column for column, _ in FIGURES[name].panels}


def test_a_published_factor_multiplies_the_mean_of_its_base() -> None:
    figure = FIGURES["P2.F8"]
    curve = curve_of(PublishedCurve("three times GM", "average_degree", "gm", 3.0), figure, ROWS)
    assert curve is not None
    assert curve.to_dict() == pytest.approx({100: 3 * 3.5, 200: 3 * 4.5})
    level = curve_of(PublishedCurve("a level", "average_degree", plus=1e-3), figure, ROWS)
    assert level is not None
    assert level.to_dict() == {100: 1e-3, 200: 1e-3}
    assert curve_of(PublishedCurve("of a method without runs", "average_degree", "gm-m", 2.0), figure, ROWS) is None


def test_a_figure_names_the_published_curves() -> None:
    text = draw("P2.F8", ROWS).svg_file.decode()
    assert all(f"published: {one.label}" in text for one in PUBLISHED["P2.F8"])
