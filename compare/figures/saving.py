"""Drawings as files: SVG, PDF, PNG or PGF."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from matplotlib.figure import Figure

from ...instances.contract.errors import BadInput
from ...instances.contract.files import atomic_write
from .draw_options import DEFAULT, DrawOptions
from .style import drawing, styled
from .tex import set_by_tex

_WRITTEN_BY_STYLE = (".svg", ".pdf", ".pgf")
FIGURE_ENDINGS = (*_WRITTEN_BY_STYLE, ".png")
_PIXELS_PER_INCH = 200


def save(figure: Figure, path: Path, *, options: DrawOptions = DEFAULT) -> None:
    """Write a drawing in the format that the ending determines; equal drawings are equal bytes.

    Parameters
    ----------
    figure : Figure
    path : Path
        Ends in .svg, .pdf, .png or .pgf.
    options : DrawOptions
        Of the drawing: its fonts.

    Raises
    ------
    BadInput
        If the ending is unknown, or the file cannot be written.
    """
    check_ending(path, FIGURE_ENDINGS)
    formats = (path.suffix[1:],) if path.suffix in _WRITTEN_BY_STYLE else ()
    with styled(replace(options.figure, formats=formats)):
        if path.suffix == ".png":
            saved = partial(figure.savefig, format="png", dpi=_PIXELS_PER_INCH, metadata={"Software": None})
            with set_by_tex(figure, path.stem, escape=options.figure.usetex):
                atomic_write(path, saved)
            return
        drawn = drawing(figure, "drawing", "")
    atomic_write(path, drawn.files[path.suffix[1:]])


def check_ending(path: Path, endings: tuple[str, ...]) -> None:
    """Raise BadInput if a file has none of these endings."""
    if path.suffix not in endings:
        raise BadInput(f"{path}: unknown ending '{path.suffix}': use {', '.join(endings)}")
