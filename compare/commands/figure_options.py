"""Options of commands that draw figures for a paper."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from ...instances.contract.errors import BadInput

_INCHES = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72.27}


def figure_options(command: Callable[..., None], *, formats: bool = True) -> Callable[..., None]:
    """Give a command ``--width``, ``--font``, ``--font-size``, ``--usetex`` and ``--formats``, as `figure_options`.

    Without `formats` the last is left out: for a command whose output names its format.
    """

    @wraps(command)
    def with_options(
        width: str | None, font: str, font_size: float | None, usetex: bool, formats: str | None = None, **others: Any
    ) -> None:
        from ..figures.style import DEFAULT_OPTIONS, FigureOptions

        given = FigureOptions(
            width=inches(width) if width else DEFAULT_OPTIONS.width,
            font=font,
            font_size=font_size or DEFAULT_OPTIONS.font_size,
            usetex=usetex,
            formats=tuple(dict.fromkeys(formats.split(","))) if formats else DEFAULT_OPTIONS.formats,
        )
        given.settings()  # before anything long begins
        command(figure_options=given, **others)

    several = click.option("--formats", metavar="LIST", help="Of svg, pdf, pgf, with commas.  [default: svg,pdf]")
    for option in (
        *((several,) if formats else ()),
        click.option("--usetex", is_flag=True, help="Set the texts of figures by LaTeX."),
        click.option("--font-size", type=float, metavar="POINTS", help="Of labels in figures.  [default: 7]"),
        click.option("--font", default="", metavar="NAME", help="Of figures: serif, or one that is installed."),
        click.option("--width", metavar="LENGTH", help="Of figures: 3.4in, 84mm, 252pt (as TeX shows \\columnwidth)."),
    ):
        with_options = option(with_options)
    return with_options


def inches(length: str) -> float:
    """A length such as ``3.4in``, ``84mm``, ``8.4cm`` or ``252pt`` (TeX's points) in inches."""
    if match := re.fullmatch(rf"\s*(\d+\.?\d*|\.\d+)\s*({'|'.join(_INCHES)})\s*", length):
        return float(match[1]) * _INCHES[match[2]]
    raise BadInput(f"--width {length}: write a number and its unit, one of {', '.join(_INCHES)}, such as 3.4in")
