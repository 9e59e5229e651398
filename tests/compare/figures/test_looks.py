"""Looks of methods: each has its own in every figure, and those of one problem can be told apart by everyone."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.markers import MarkerStyle

from overlaybench.compare.catalogue import METHODS
from overlaybench.compare.figures.style import dashes, look, method_styles
from overlaybench.instances.contract.catalogue import PROBLEMS

CLOSE = 20.0  # in CIELAB; colours of lines and dots that differ less are easily confused
# Machado, Oliveira and Fernandes (2009), severity 1, of linear RGB.
VISIONS: dict[str, npt.NDArray[np.float64]] = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = np.array([0.9505, 1.0, 1.089])


def lab(colour: str, vision: str) -> npt.NDArray[np.float64]:
    """A colour as a reader of that vision sees it, in CIELAB."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = TO_XYZ @ np.clip(VISIONS[vision] @ linear, 0, 1) / WHITE
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def least_distance(a: str, b: str) -> float:
    return min(float(np.linalg.norm(lab(a, vision) - lab(b, vision))) for vision in VISIONS)


def runs_of(*labels: str) -> pd.DataFrame:
    return pd.DataFrame([(label.split()[0], label, False) for label in labels], columns=["method", "label", "exact"])


def test_no_two_methods_have_one_look() -> None:
    assert len({look(name) for name in METHODS}) == len(METHODS)
    assert all(METHODS[name].colour and METHODS[name].marker for name in METHODS)


@pytest.mark.parametrize("problem", list(PROBLEMS))
def test_methods_of_a_problem_that_look_alike_in_colour_differ_in_marker_and_dashes(problem: str) -> None:
    looks = {name: look(name) for name, method in METHODS.items() if problem in method.problems}
    for (one, first), (other, second) in combinations(looks.items(), 2):
        if least_distance(first.colour, second.colour) < CLOSE:
            assert first.marker != second.marker, (one, other)
            assert dashes(first.marker) != dashes(second.marker), (one, other)


def test_the_distance_of_colours_finds_what_the_colour_blind_confuse() -> None:
    assert least_distance("#000000", "#FFFFFF") == pytest.approx(100, abs=0.5)
    assert np.linalg.norm(lab("#FF0000", "normal") - lab("#00AA00", "normal")) > 100
    red_green = np.linalg.norm(lab("#B00000", "deuteranopia") - lab("#605000", "deuteranopia"))
    assert red_green < 0.5 * np.linalg.norm(lab("#B00000", "normal") - lab("#605000", "normal"))


def test_a_methods_style_does_not_depend_on_the_study() -> None:
    alone, among = method_styles(runs_of("polish")), method_styles(runs_of("best", "dc-gm", "polish", "mine:own"))
    assert alone["polish"] == among["polish"]
    assert method_styles(runs_of("gm"))["gm"] == method_styles(runs_of("gm", "gm ties=random"))["gm"]


def test_variants_of_a_method_share_its_marker_and_differ_in_shade_and_dashes() -> None:
    first, second = method_styles(runs_of("gm", "gm ties=random")).values()
    assert first.marker == second.marker
    assert first.colour != second.colour
    assert first.dashes != second.dashes


def test_a_method_without_a_look_has_the_same_one_everywhere_and_none_of_ours() -> None:
    own = {look(name) for name in METHODS}
    foreign = [look(f"package.module:METHOD_{number}") for number in range(30)]
    assert not own & set(foreign)
    assert look("package.module:METHOD_3") == foreign[3]
    assert len(set(foreign)) > 20
    assert all(MarkerStyle(marker).is_filled() for _, marker in foreign)  # hollow dots have a meaning
