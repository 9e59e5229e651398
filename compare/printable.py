"""Values and texts as terminals, CSV and data frames show them."""

from __future__ import annotations

import re
import sys
import time
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

_DIGITS, _DIGEST = 8, re.compile("[0-9a-f]{32,}")
_AT_ONCE, _A_SECOND = 5.0, 4.0  # writes of a status line; with one that clears it, ten in any second
_RATIOS = ("ratio", "mean_ratio", "max_ratio", "ratio_low", "ratio_high")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """A text whose control characters are ``�``, except tabs and ends of lines."""
    return _CONTROL.sub("�", text)


def printable_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """A copy with all texts printable."""
    rows = rows.copy()
    for name in rows.select_dtypes("object"):
        rows[name] = rows[name].map(lambda entry: printable(entry) if isinstance(entry, str) else entry)
    return rows


def cell(name: str, value: object) -> str:
    """A value in a table, by the name of its column: the first digits of digests, memory in MiB, shares in per cent."""
    from ..instances.contract.shown import text

    if isinstance(value, str):
        return printable(value)[: _DIGITS if _DIGEST.fullmatch(value) else None]
    if isinstance(value, float) and value == value:
        if name.endswith("memory"):
            return f"{value / 2**20:,.{1 if value < 2**24 else 0}f} MiB"
        if name.endswith(("gap", "integral")):
            return f"{value:.2%}"
        if name in _RATIOS and 1 <= value < 1e6:
            return ratio(value)
        if name.endswith("seconds"):
            return f"{value:.3g}"
    return text(value)


def ratio(value: float) -> str:
    """A ratio with three decimals, or more where it would look equal to 1."""
    shown = f"{value:,.3f}"
    return f"{value:.5f}" if shown == "1.000" and abs(value - 1) > 5e-6 else shown


def plain(value: float, separator: str = "") -> str:
    """A number to six significant digits; a large one whole rather than as a power of ten."""
    return format(value, f"{separator}.0f" if abs(value) >= 1e6 else f"{separator}.6g")


def bar(share: float) -> str:
    """A bar of 20 characters, filled by a share from 0 to 1."""
    filled = int(20 * share)
    return "█" * filled + "░" * (20 - filled)


def in_notebook() -> bool:
    """Whether this process runs a notebook's cells."""
    shell = sys.modules.get("IPython")
    return shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"


class StatusLine:
    """A line on stderr that is written over, or in a notebook a bar with a text; nothing where stderr is no terminal.

    It is written at most ten times a second: further texts are left out. Five may follow each other at once, so that a
    long step after short ones is shown. rich, which draws the bars of studies, needs ipywidgets in a notebook.
    """

    def __init__(self, total: int = 1) -> None:
        self._stream, self._total, self._cell = sys.stderr, total, None
        self._writes, self._last, self._is_shown = _AT_ONCE, time.monotonic(), False
        if in_notebook():
            self._display: Any = import_module("IPython.display")
            self._cell = self._display.display(self._display.HTML(""), display_id=True)

    def show(self, done: int, text: str) -> None:
        """Show a text, and in a notebook how much is done."""
        now = time.monotonic()
        self._writes, self._last = min(_AT_ONCE, self._writes + _A_SECOND * (now - self._last)), now
        if self._writes >= 1:
            self._write(text[:79], f'<progress max="{self._total}" value="{done}"></progress> {escape(text)}')

    def clear(self) -> None:
        """Remove it."""
        if self._is_shown:
            self._write("", "")

    def _write(self, text: str, html: str) -> None:
        self._writes, self._is_shown = self._writes - 1, bool(text)
        if self._cell is not None:
            self._cell.update(self._display.HTML(html))
        elif self._stream.isatty():
            print(f"\r\x1b[K{text}", end="", file=self._stream, flush=True)
