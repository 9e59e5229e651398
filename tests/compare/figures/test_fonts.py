"""Fonts of drawings: every letter of a label has a font, or its lack is bad input."""

import subprocess
import sys
from pathlib import Path

import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib import font_manager

import overlaybench as ob
from overlaybench.compare.figures import fonts
from overlaybench.compare.figures.files import figure_with_printable_texts
from overlaybench.compare.figures.style import FigureOptions, save, styled
from tests.outcomes import output_of

LABELS = {"气": ["x"], "风": ["x"], "प": ["x"], "é": ["x"]}


def font_with(letters: str, family: str, folder: Path) -> Path:
    """A font whose glyphs are squares."""
    pen = TTGlyphPen(None)
    for number, corner in enumerate([(0, 0), (0, 500), (500, 500), (500, 0)]):
        (pen.lineTo if number else pen.moveTo)(corner)
    pen.closePath()
    square, names = pen.glyph(), [".notdef", *(f"uni{ord(letter):04X}" for letter in letters)]
    font = FontBuilder(1000, isTTF=True)
    font.setupGlyphOrder(names)
    font.setupCharacterMap(dict(zip(map(ord, letters), names[1:], strict=True)))
    font.setupGlyf(dict.fromkeys(names, square))
    font.setupHorizontalMetrics(dict.fromkeys(names, (600, 0)))
    font.setupHorizontalHeader(ascent=800, descent=-200)
    font.setupNameTable({"familyName": family, "styleName": "Regular", "psName": family})
    font.setupOS2(usWeightClass=400)
    font.setupPost()
    path = folder / f"{family}.ttf"
    font.save(path)
    return path


@pytest.fixture
def only_matplotlibs_fonts(monkeypatch: pytest.MonkeyPatch) -> None:
    own = [entry for entry in font_manager.fontManager.ttflist if "mpl-data" in entry.fname]
    monkeypatch.setattr(font_manager.fontManager, "ttflist", own)
    monkeypatch.setattr(font_manager, "findSystemFonts", list)


@pytest.mark.usefixtures("only_matplotlibs_fonts")
def test_installed_fonts_give_the_letters_that_the_usual_one_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [str(font_with("气风", "TwoSans", tmp_path)), str(font_with("气", "OneSans", tmp_path))]
    figure = ob.draw(ob.read(LABELS))
    with pytest.raises(ob.BadInput, match=r"no installed font has 'प' and 2 more letters of labels: .* --font FILE"):
        save(figure, tmp_path / "none.png")
    assert not (tmp_path / "none.png").exists()
    monkeypatch.setattr(font_manager, "findSystemFonts", lambda: [*files, str(font_with("प", "Third", tmp_path))])
    assert fonts.families_with(LABELS, ["DejaVu Sans"]) == (["DejaVu Sans", "TwoSans", "Third"], [])
    with styled():
        figure_with_printable_texts(figure, all_letters=True)
    labels = {text.get_text(): text.get_fontfamily() for text in figure.axes[0].get_yticklabels()}
    assert labels == {key: ["DejaVu Sans", "TwoSans", "Third"] for key in LABELS}


@pytest.mark.usefixtures("only_matplotlibs_fonts")
def test_fonts_are_named_by_their_files(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    instance, picture = tmp_path / "labels.json", tmp_path / "labels.pdf"
    ob.write_topics(ob.read(LABELS), instance)
    named = [word for file in ("气风", "प") for word in ("--font", font_with(file, f"N{ord(file[0])}", tmp_path))]
    output_of("draw", instance, "-o", picture, *named)
    assert all(name in picture.read_bytes() for name in (b"N27668", b"N2346", b"DejaVuSans"))
    output_of("draw", instance, "-o", tmp_path / "boxes.svg")
    assert "气" in (tmp_path / "boxes.svg").read_text()
    assert not recwarn.list
    with pytest.raises(ob.BadInput, match=r"labels.ttf: cannot be read as a font: give a file .ttf"):
        FigureOptions(font=str(instance.rename(tmp_path / "labels.ttf"))).settings()


def test_charts_take_letters_from_the_named_file_before_boxes(tmp_path: Path) -> None:
    letter = "\U0010f123"  # of private use: no font of the system has it
    file, picture = font_with(letter, "Named", tmp_path), tmp_path / "chart.pdf"
    code = f"""if True:  # in a process of its own, which has drawn no chart
        from pathlib import Path
        from overlaybench.compare.figures.style import FigureOptions, save
        options = FigureOptions(font="DejaVu Sans,{file}")
        options.settings()
        x = {{"field": "{letter}", "type": "nominal"}}
        chart = {{"data": {{"values": [{{"{letter}": "{letter}"}}]}}, "mark": "bar", "encoding": {{"x": x}}}}
        save(chart, Path("{picture}"), options)"""
    subprocess.run([sys.executable, "-c", code], check=True)
    assert b"Named" in picture.read_bytes()
    assert b"LastResort" not in picture.read_bytes()
