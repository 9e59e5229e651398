"""Looks of methods, which everyone can tell apart, and the options of figures: widths, fonts, formats and LaTeX."""

from itertools import combinations

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.markers import MarkerStyle

import overlaybench as ob
from overlaybench.compare.commands.options import inches
from overlaybench.compare.figures import files
from overlaybench.compare.figures.curves import Axis, curves
from overlaybench.compare.figures.style import (
    _LOOKS,
    Drawing,
    FigureOptions,
    dashes,
    look,
    method_styles,
    styled,
)
from overlaybench.instances.contract.catalogue import home_of
from tests.outcomes import known

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
    assert len({look(name) for name in ob.METHODS}) == len(ob.METHODS)
    assert {
        name for name, method in ob.METHODS.items() if home_of(method.members[0] if method.members else method)
    } == {*_LOOKS}


def test_methods_of_a_problem_that_look_alike_in_colour_differ_in_marker_and_dashes() -> None:
    styles = method_styles(runs_of(*ob.METHODS))
    looks = {name: (styles[name].colour, look(name)[1]) for name in ob.METHODS}
    for (one, (colour, marker)), (other, (second, another)) in combinations(looks.items(), 2):
        together = {*ob.METHODS[one].problems} & {*ob.METHODS[other].problems}
        if together and least_distance(colour, second) < CLOSE:
            assert marker != another, (one, other)
            assert dashes(marker) != dashes(another), (one, other)


def test_a_methods_style_does_not_depend_on_the_study_and_its_variants_are_shades() -> None:
    alone, among = method_styles(runs_of("polish")), method_styles(runs_of("best", "dc-gm", "polish", "mine:own"))
    assert alone["polish"] == among["polish"]
    first, second = method_styles(runs_of("gm", "gm ties=random")).values()
    assert first == method_styles(runs_of("gm"))["gm"]
    assert first.marker != second.marker
    assert first.colour != second.colour
    assert first.dashes != second.dashes


@pytest.mark.parametrize("method", [*ob.METHODS, "package:OWN"])
def test_variants_differ_in_marker_and_dashes_and_stand_out_from_white(method: str) -> None:
    styles = method_styles(runs_of(*(f"{method} k={k}" for k in range(9)))).values()
    assert len({style.marker for style in styles}) == len(styles)
    first = list(styles)[:6]
    assert len({style.dashes for style in first}) == len(first)
    for style in styles:
        rgb = np.array(to_rgb(style.colour))
        light = TO_XYZ[1] @ np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        assert 1.05 / (light + 0.05) >= 3


def test_a_method_without_a_look_has_the_same_one_everywhere_and_none_of_ours() -> None:
    own = {look(name) for name in ob.METHODS}
    foreign = [look(f"package.module:METHOD_{number}") for number in range(30)]
    assert not own & set(foreign)
    assert look("package.module:METHOD_3") == foreign[3]
    assert len(set(foreign)) > 20
    assert all(MarkerStyle(marker).is_filled() for _, marker in foreign)  # hollow dots have a meaning


def drawn(options: FigureOptions, panels: int = 3) -> Drawing:
    """A chart with special characters of TeX in its texts."""
    rows = [(f"panel {p}", "gm k_0=50%", x, x + p) for p in range(panels) for x in (1, 2)]
    with styled(options):
        points = pd.DataFrame(rows, columns=["panel", "curve", "x", "y"])
        return curves(points, Axis("a_b & c"), Axis("value ÷ bound"), name="options")


def test_a_figure_is_as_wide_as_asked() -> None:
    lengths = [inches(length) for length in ("3.4in", "84mm", "252pt", "17.78 cm")]
    assert lengths == pytest.approx([3.4, 3.3071, 3.4869, 7.0], abs=1e-4)
    for width in lengths[1::2]:
        svg = drawn(FigureOptions(width=width, formats=("svg",))).files["svg"].decode()
        assert float(svg.split('width="')[1].split("pt")[0]) == pytest.approx(72 * width, abs=0.1)


@pytest.mark.parametrize("length", ["3.4", "in", "3.4 ft", "-3in", ""])
def test_a_length_without_number_or_unit_is_bad_input(length: str) -> None:
    with pytest.raises(ob.BadInput, match="write a number and its unit"):
        inches(length)


@pytest.mark.parametrize(("size", "columns"), [(6.0, 2), (8.0, 1)])
def test_a_narrow_figure_has_as_many_columns_as_its_font_leaves_room_for(size: float, columns: int) -> None:
    chart = drawn(FigureOptions(width=3.4, font_size=size, formats=()), panels=5).chart
    assert known(chart)["columns"] == columns
    assert columns * (known(chart)["spec"]["width"] + 40 * size / 7) == pytest.approx(72 * 3.4), "with the axes"


def test_options_hold_for_all_that_is_drawn_inside_and_end_with_the_context() -> None:
    before = mpl.rcParams["font.size"]
    with styled(FigureOptions(font_size=9, font="serif")):
        with styled():
            assert (mpl.rcParams["font.size"], mpl.rcParams["font.family"]) == (9.0, ["serif"])
        with pytest.raises(ob.BadInput), styled(FigureOptions(font_size=90)):
            raise AssertionError
        assert mpl.rcParams["font.size"] == 9.0
    assert mpl.rcParams["font.size"] == before
    with styled():
        assert mpl.rcParams["font.size"] == 7.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (FigureOptions(font="DejaVu Sanz"), "did you mean 'DejaVu Sans'"),
        (FigureOptions(width=300), "300 inches wide"),
        (FigureOptions(font_size=1), "font size of 1 points"),
    ],
)
def test_options_that_are_not_possible_are_bad_input(options: FigureOptions, message: str) -> None:
    with pytest.raises(ob.BadInput, match=message), styled(options):
        raise AssertionError


@pytest.mark.filterwarnings("error")
def test_a_tab_in_a_label_is_a_space_in_a_figure() -> None:
    figure = Figure()
    figure.add_subplot(title="a\tb")
    assert b"a b" in files.as_bytes(figure, "svg")
    assert files.as_bytes(figure, "png")
