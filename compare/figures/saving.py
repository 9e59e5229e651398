"""Drawings as files: SVG, PDF, PNG, PGF, or a page of HTML that loads nothing."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from html import escape
from pathlib import Path
from string import Template

from matplotlib.figure import Figure

from ...instances.errors import BadInput
from ...instances.files import atomic_write
from .draw_options import DEFAULT, DrawOptions
from .style import drawing, styled

_WRITTEN_BY_STYLE = (".svg", ".pdf", ".pgf")
ENDINGS = (*_WRITTEN_BY_STYLE, ".png", ".html")
_PAGE = Path(__file__).with_name("drawing.html")
_PIXELS_PER_INCH = 200


def save(figure: Figure, path: Path, *, title: str = "", options: DrawOptions = DEFAULT) -> None:
    """Write a drawing in the format that the ending determines; equal drawings are equal bytes.

    Parameters
    ----------
    figure : Figure
    path : Path
        Ends in .svg, .pdf, .png, .pgf or .html.
    title : str
        Of the HTML page; by default the name of the file.
    options : DrawOptions
        Of the drawing: its fonts.

    Raises
    ------
    BadInput
        If the ending is unknown, or the file cannot be written.
    """
    check_ending(path, ENDINGS)
    formats = (path.suffix[1:],) if path.suffix in _WRITTEN_BY_STYLE else ()
    with styled(replace(options.figure, formats=formats)):
        if path.suffix == ".png":
            saved = partial(figure.savefig, format="png", dpi=_PIXELS_PER_INCH, metadata={"Software": None})
            atomic_write(path, saved)
            return
        drawn = drawing(figure, "drawing", "")
    if path.suffix == ".html":
        write_page(path, title or path.stem, f'<figure class="paper">{drawn.svg}</figure>')
    else:
        atomic_write(path, lambda file: file.write_bytes(drawn.files[path.suffix[1:]]))


def check_ending(path: Path, endings: tuple[str, ...]) -> None:
    """Raise BadInput if a file has none of these endings."""
    if path.suffix not in endings:
        raise BadInput(f"{path}: unknown ending '{path.suffix}': use {', '.join(endings)}")


def write_page(path: Path, title: str, body: str) -> None:
    """Write a self-contained page with this title and this content of its main part, which is HTML."""
    text = Template(_PAGE.read_text(encoding="utf-8")).substitute(title=escape(title), body=body)
    atomic_write(path, lambda file: file.write_text(text, encoding="utf-8"))
