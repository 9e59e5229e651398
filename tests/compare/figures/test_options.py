"""Options of figures: widths, fonts, formats, and LaTeX."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import overlaybench as ob
from overlaybench.compare.commands.options import inches
from overlaybench.compare.figures import files as tex
from overlaybench.compare.figures.stepping import SteppedOverlay, save_steps
from overlaybench.compare.figures.style import (
    Drawing,
    DrawOptions,
    FigureOptions,
    drawing,
    panel_title,
    panels,
    plain_ticks,
    save,
    styled,
)
from overlaybench.compare.studies.latex import escaped
from overlaybench.instances.contract.errors import BadInput

needs_tex = pytest.mark.skipif(
    not all(shutil.which(name) for name in ("pdflatex", "latex", "kpsewhich")), reason="LaTeX is not installed"
)


def drawn(options: FigureOptions, *, count: int = 3) -> Drawing:
    with styled(options):
        figure, grid = panels(count, [Line2D([], [], label="gm k_0=50%")])
        for axes in grid:
            axes.set(xlabel="a_b & c", ylabel="value ÷ bound")
            panel_title(axes, "min-tco", "Last.fm listeners")
            plain_ticks(axes.xaxis, [0, 1], ["top_1%", "$x^2$"])
        return drawing(figure, "options", "")


@pytest.mark.parametrize(("width", "length"), [(3.4, "3.4in"), (3.3071, "84mm"), (3.4869, "252pt"), (7.0, "17.78 cm")])
def test_a_figure_is_as_wide_as_asked(width: float, length: str) -> None:
    with styled(FigureOptions(width=inches(length))):
        figure, _ = panels(3, [])
    assert figure.get_size_inches()[0] == inches(length) == pytest.approx(width, abs=1e-4)


def test_only_the_files_asked_for_are_made() -> None:
    assert set(drawn(FigureOptions(formats=("svg",)), count=1).files) == {"svg"}


@pytest.mark.parametrize("length", ["3.4", "in", "3.4 ft", "-3in", ""])
def test_a_length_without_number_or_unit_is_bad_input(length: str) -> None:
    with pytest.raises(BadInput, match="write a number and its unit"):
        inches(length)


@pytest.mark.parametrize(("size", "columns"), [(6.0, 2), (8.0, 1)])
def test_a_narrow_figure_has_as_many_columns_as_its_font_leaves_room_for(size: float, columns: int) -> None:
    with styled(FigureOptions(width=3.4, font_size=size)):
        _, grid = panels(5, [])
    place = grid[0].get_subplotspec()
    assert place is not None
    assert place.get_gridspec().ncols == columns


def test_a_title_that_does_not_fit_has_two_lines_and_the_short_detail() -> None:
    with styled(FigureOptions(width=3.4)):
        _, grid = panels(4, [])
        panel_title(grid[0], "min-tco", "Zipf 0.5, exponential, uniform", "3 families")
        panel_title(grid[1], "min-tco", "Zipf")
    assert [axes.get_title(loc="left") for axes in grid[:2]] == ["min-tco\n3 families", "min-tco, Zipf"]


def test_options_hold_for_all_that_is_drawn_inside_and_end_with_the_context() -> None:
    before = mpl.rcParams["font.size"]
    with styled(FigureOptions(font_size=9, font="serif")):
        with styled():
            assert (mpl.rcParams["font.size"], mpl.rcParams["font.family"]) == (9.0, ["serif"])
        with pytest.raises(BadInput), styled(FigureOptions(font_size=90)):
            raise AssertionError
        assert mpl.rcParams["font.size"] == 9.0
    assert mpl.rcParams["font.size"] == before
    with styled():
        assert mpl.rcParams["font.size"] == 7.0


def test_no_text_is_smaller_than_six_points_by_default() -> None:
    settings = FigureOptions().settings()
    assert min(size for name, size in settings.items() if name.endswith("size") and "font" in name) >= 6
    assert settings["xtick.labelsize"] >= 6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (FigureOptions(formats=("gif",)), "unknown format of figures 'gif'"),
        (FigureOptions(font="DejaVu Sanz"), "did you mean 'DejaVu Sans'"),
        (FigureOptions(width=300), "300 inches wide"),
        (FigureOptions(font_size=1), "font size of 1 points"),
    ],
)
def test_options_that_are_not_possible_are_bad_input(options: FigureOptions, message: str) -> None:
    with pytest.raises(BadInput, match=message), styled(options):
        raise AssertionError


def test_without_latex_pgf_and_usetex_are_bad_input_that_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    tex.check_usetex.cache_clear()
    for options, missing in (
        (FigureOptions(formats=("pgf",)), "xelatex or"),
        (FigureOptions(usetex=True), "latex and"),
    ):
        with pytest.raises(BadInput, match=rf"{missing}.*apt-get install texlive"):
            options.settings()
    tex.check_usetex.cache_clear()


def test_special_characters_of_tex_are_escaped_once() -> None:
    assert escaped("a_b & 50% of {x} ÷ τ ~ \\") == (
        r"a\_b \& 50\% of \{x\} $\div$ $\tau$ \textasciitilde{} \textbackslash{}"
    )


def test_a_figure_has_its_texts_again_once_it_is_written() -> None:
    figure = Figure()
    axes = figure.add_subplot(title="a_b")
    plain_ticks(axes.xaxis, [0, 1], ["x_0", "50%"])
    for _ in range(2):
        with tex.set_by_tex(figure, "drawing"):
            assert (axes.get_title(), axes.xaxis.get_major_formatter()(1, 1)) == (r"a\_b", r"50\%")
    assert (axes.get_title(), axes.xaxis.get_major_formatter()(1, 1)) == ("a_b", "50%")


@needs_tex
@pytest.mark.slow
def test_a_pgf_figure_compiles_in_a_document(tmp_path: Path) -> None:
    figure = drawn(FigureOptions(width=3.4, formats=("pgf",)))
    assert set(figure.files) == {"pgf"}
    assert figure.files == drawn(FigureOptions(width=3.4, formats=("pgf",))).files
    (tmp_path / "figure.pgf").write_bytes(figure.files["pgf"])
    document = r"\documentclass{article}\usepackage{pgf}\begin{document}\input{figure.pgf}\end{document}"
    (tmp_path / "document.tex").write_text(document)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "document.tex"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout[-2000:]
    assert (tmp_path / "document.pdf").is_file()


@needs_tex
@pytest.mark.slow
def test_usetex_sets_all_texts_by_latex() -> None:
    figure = drawn(FigureOptions(usetex=True, formats=("pdf",)), count=1)
    assert b"DejaVu" not in figure.pdf_file
    assert b"CMR" in figure.pdf_file or b"SFRM" in figure.pdf_file or b"/Type1" in figure.pdf_file


@needs_tex
@pytest.mark.slow
def test_labels_with_special_characters_of_tex_are_set_in_every_drawing(tmp_path: Path) -> None:
    instance = ob.read({"b#1": ["x_2", "50%"], "a&b": ["x_2", "50%"], "~c": ["50%"]})
    options = DrawOptions(figure=FigureOptions(usetex=True))
    matrix = ob.draw(instance, options.figure)
    save(matrix, tmp_path / "subscriptions.png", options.figure)
    save(matrix, tmp_path / "subscriptions.pdf", options.figure)
    trace = ob.solve(instance, "min-tco", "gm", trace=True).trace
    assert trace is not None
    save_steps(SteppedOverlay(instance, trace, options), tmp_path / "steps.pdf", "")
    for name in ("subscriptions.pdf", "steps.pdf"):
        assert (tmp_path / name).read_bytes().startswith(b"%PDF"), name
