"""Progress of long work: a line on a terminal that is written over, or a bar in a notebook."""

from __future__ import annotations

import sys
import time
from html import escape
from importlib import import_module
from typing import Any

_AT_ONCE, _A_SECOND = 5.0, 4.0  # writes of a status line; with one that clears it, ten in any second


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
