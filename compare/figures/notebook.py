"""Figures that show themselves in a notebook."""

from __future__ import annotations

from io import StringIO

import matplotlib as mpl
from matplotlib.figure import Figure

from .files import set_by_tex
from .style import styled


class NotebookFigure(Figure):
    """A figure that is displayed where it is the value of a notebook's cell, with or without pyplot.

    Its background is white, so that it is readable in a dark theme too.
    """

    def _repr_svg_(self) -> str:
        page = StringIO()
        paths = mpl.rc_context({"svg.fonttype": "path"})  # the reader's browser may lack the font
        with styled(), paths, set_by_tex(self, "figure", escape=False):
            self.savefig(page, format="svg", metadata={"Date": None}, facecolor="white")
        return page.getvalue()
