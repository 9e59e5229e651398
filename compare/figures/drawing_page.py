"""A drawing as a page of HTML that loads nothing: a panel beside the other, or one below the other on a phone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ...instances.contract.files import atomic_write
from .prepared import Cell, Panels, prepare
from .style import DEFAULT, DrawOptions, FigureOptions, drawing, styled

_TEMPLATE = Path(__file__).with_name("drawing.html")
_PANEL = 4.0  # inches
ON_PAGE = FigureOptions(font_size=10.6, formats=())
"""Texts of a panel are 11 pixels high where the page is 390 wide."""


def save_page(path: Path, title: str, instance: Any, *answers: Any, options: DrawOptions = DEFAULT) -> None:
    """Draw as :func:`.draw` does and write the page.

    Raises
    ------
    BadInput
        As :func:`.draw`, and if the file cannot be written.
    """
    with styled(ON_PAGE):
        prepared = prepare(instance, answers, replace(options, figure=ON_PAGE))
        shown = [_panel(prepared.panels, cell, f"drawing{index}") for index, cell in enumerate(prepared.cells, 1)]
    write_page(path, title, f'<div class="panels">{"".join(shown)}</div>{_legend(prepared.panels.legend())}')


def write_page(path: Path, title: str, body: str) -> None:
    """Write a self-contained page with this title and this content of its main part, which is HTML."""
    text = Template(_TEMPLATE.read_text(encoding="utf-8")).substitute(title=escape(title), body=body)
    atomic_write(path, text)


def embedded_json(data: Any) -> str:
    """Data as JSON within a script element; no text in it can end the element."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _panel(panels: Panels, cell: Cell, name: str) -> str:
    figure = Figure(figsize=(_PANEL, _PANEL * panels.shape), layout="constrained")
    panels.paint(figure.add_subplot(), cell.number, cell.part)
    svg = drawing(figure, name, "").svg
    facts = "".join(f"<br>{escape(line)}" for line in cell.facts.split("\n") if line)
    return (
        f"<figure><figcaption><strong>{escape(cell.title)}</strong>{facts}</figcaption>"
        f'<div class="paper" role="img" aria-label="{escape(cell.title)}">{svg}</div></figure>'
    )


def _legend(entries: Sequence[Line2D]) -> str:
    items = "".join(f"<li>{_swatch(entry)} {escape(str(entry.get_label()))}</li>" for entry in entries)
    return f'<ul class="legend" aria-label="Legend">{items}</ul>' if items else ""


def _swatch(entry: Line2D) -> str:
    """A line of the entry's colour, width and dashes, or its marker."""
    if entry.get_marker() in ("o", "s"):
        fill = entry.get_markerfacecolor()
        shape = (
            '<circle cx="14" cy="7" r="5"' if entry.get_marker() == "o" else '<rect x="9" y="2" width="10" height="10"'
        )
        mark = f'{shape} fill="{fill}" stroke="#222222"/>'
    else:
        dashes = ' stroke-dasharray="5 3"' if entry.get_linestyle() == "--" else ""
        width = max(1.5, entry.get_linewidth())
        mark = f'<path d="M0 7H28" stroke="{entry.get_color()}" stroke-width="{width:g}"{dashes}/>'
    return f'<svg width="28" height="14" aria-hidden="true">{mark}</svg>'
