"""Figures for LaTeX: which programs they need, and their texts with TeX's special characters escaped."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import FixedFormatter

from ...instances.contract.errors import BadInput
from ..printable import printable
from ..studies.latex import escaped

_SYSTEMS = ("xelatex", "lualatex", "pdflatex")
_DEBIAN = "apt-get install texlive-latex-recommended texlive-fonts-recommended cm-super texlive-xetex"


def tex_system() -> str:
    """The LaTeX that measures the texts of PGF figures; bad input without one."""
    system = next((name for name in _SYSTEMS if shutil.which(name)), None)
    if system is None:
        raise BadInput(f"figures as PGF need {' or '.join(_SYSTEMS)}: install one ({_DEBIAN}) or leave out pgf")
    return system


@cache
def check_usetex() -> None:
    """Bad input unless LaTeX and the packages that matplotlib loads are installed."""
    missing = [name for name in ("latex", "kpsewhich") if not shutil.which(name)]
    missing += [style for style in ("type1ec.sty", "type1cm.sty", "geometry.sty") if not missing and not _known(style)]
    if missing:
        raise BadInput(f"--usetex needs {' and '.join(missing)}, not found: install LaTeX ({_DEBIAN}) or leave it out")


def _known(style: str) -> bool:
    return bool(subprocess.run(["kpsewhich", style], capture_output=True, check=False).stdout)


@contextmanager
def set_by_tex(figure: Figure, name: str, *, escape: bool = True) -> Iterator[None]:
    """A context in which the texts of a figure, ticks included, have no control characters, and are escaped for TeX.

    Without `escape` TeX's special characters stay as they are.

    Raises
    ------
    BadInput
        In one line, if LaTeX stops on a text of the figure `name`.
    """
    shown_as = escaped if escape else printable
    axes = [axis for each in figure.axes for axis in (each.xaxis, each.yaxis)]
    fixed = [each for axis in axes if isinstance(each := axis.get_major_formatter(), FixedFormatter)]
    ticks = [(each, list(each.seq)) for each in fixed]
    found = [each for each in figure.findobj(Text) if isinstance(each, Text)]
    texts = [(each, each.get_text()) for each in found]
    for formatter, plain in ticks:
        formatter.seq = [shown_as(text) for text in plain]
    for shown, text in texts:
        shown.set_text(shown_as(text))
    try:
        yield
    except (RuntimeError, ValueError) as error:  # matplotlib's LatexError is a ValueError
        lines = [line.strip() for line in str(error).splitlines() if line.startswith("!")]
        reason = lines[0].lstrip("! ") if lines else str(error).splitlines()[0]
        raise BadInput(f"figure '{name}': LaTeX cannot set it ({reason}): choose other labels or formats") from None
    finally:
        for formatter, plain in ticks:
            formatter.seq = plain
        for shown, text in texts:
            shown.set_text(text)
