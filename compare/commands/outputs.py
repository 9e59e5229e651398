"""How commands print tables and measures."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

_WIDE = 120


def console(width: int = 160) -> Console:
    """A console as wide as the terminal, or of `width` columns where a file or pipe has no width."""
    from rich.console import Console

    return Console() if sys.stdout.isatty() else Console(width=width)


def table(title: str, *columns: str, if_wide: Sequence[str] = ()) -> Table:
    """An empty table that :func:`show` prints; columns `if_wide` need 120 columns, or a pipe, and come last.

    Add rows by :func:`add_row`.
    """
    from rich import box
    from rich.table import Table

    wide = not sys.stdout.isatty() or console().width >= _WIDE
    looks: dict[str, Any] = {"title_justify": "left", "title_style": "bold", "header_style": "", "box": box.SIMPLE_HEAD}
    made = Table(title=title, **looks)
    for number, column in enumerate((*columns, *(if_wide if wide else ()))):
        made.add_column(column, overflow="fold", no_wrap=number == 0)
    return made


def add_row(rows: Table, *cells: str) -> None:
    """Add a row; cells of columns that the table leaves out are dropped. Cells are plain text."""
    from rich.text import Text

    from ..printable import printable

    rows.add_row(*(Text(printable(cell)) for cell in cells[: len(rows.columns)]))


def show(*parts: RenderableType) -> None:
    """Print tables and texts within the terminal; in a file or pipe every row is one line, without rules."""
    from rich.console import Console
    from rich.table import Table

    if sys.stdout.isatty():
        for part in parts:
            whole = bool(getattr(part, "no_wrap", False))  # a command line is copied whole
            console().print(part, highlight=False, soft_wrap=whole)
        return
    wide = Console(width=100_000, highlight=False)
    for part in parts:
        if isinstance(part, Table):
            part.box = None
    with wide.capture() as printed:
        for part in parts:
            wide.print(part)
    sys.stdout.write("\n".join(line.rstrip() for line in printed.get().splitlines()) + "\n")


def in_parentheses(measures: Mapping[str, float]) -> str:
    """Measures as ``" (edges 3, max degree 2)"``; empty where there are none."""
    if not measures:
        return ""
    return " (" + ", ".join(f"{name.replace('_', ' ')} {value:g}" for name, value in measures.items()) + ")"
