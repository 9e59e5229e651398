"""How commands print tables and texts."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from ..printable import cell

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

_NUMBER = re.compile(r"[-+−]?[\d,.]+(e[-+]?\d+)?( ?%| MiB)?|–|inf|nan|")
_IN_TITLE = ("problem", "family")


def table(title: str, rows: Iterable[Mapping[str, Any]], if_room: Sequence[str] = (), *, pipe: int = 100) -> Table:
    """A table that :func:`show` prints: a column a key, numbers to the right. A problem that all rows share is above.

    The keys `if_room` are left out, the last one first, where the terminal is too narrow for them; in a file or pipe
    the width is `pipe` characters.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    rows = list(rows)
    names = list(rows[0]) if rows else []
    for name in _IN_TITLE:
        if name in names[1:] and len(rows) > 1 and len({row[name] for row in rows}) == 1:
            title = f"{title}, {name} {rows[0][name]}" if title else f"{name} {rows[0][name]}"
            names.remove(name)
    terminal = sys.stdout.isatty()
    texts = {name: [cell(name, row[name]) for row in rows] for name in names}
    heads = {name: name.replace("_", "\n" if terminal else " ") for name in names}
    widths = {name: max(map(len, [*heads[name].split("\n"), *texts[name]])) for name in names}
    room = Console().width if terminal else pipe
    for name in reversed([name for name in if_room if name in widths]):
        if sum(width + 2 for width in widths.values()) > room:
            del widths[name]
    looks: dict[str, Any] = {"title_justify": "left", "title_style": "bold", "header_style": ""}
    made = Table(title=title, box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True, **looks)
    for name in widths:
        number = all(_NUMBER.fullmatch(each) for each in texts[name])
        fixed, least = number or name == names[0], widths[name] if number else None
        side: Literal["right", "left"] = "right" if number else "left"
        made.add_column(heads[name], justify=side, overflow="fold", no_wrap=fixed, min_width=least)
    for line in zip(*(texts[name] for name in widths), strict=True):
        made.add_row(*map(Text, line))
    return made


def show(*parts: RenderableType) -> None:
    """Print tables and texts within the terminal; in a file or pipe every row is one line, without rules."""
    from rich.console import Console
    from rich.table import Table

    if sys.stdout.isatty():
        for part in parts:
            whole = bool(getattr(part, "no_wrap", False))  # a command line is copied whole
            Console().print(part, highlight=False, soft_wrap=whole)
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
