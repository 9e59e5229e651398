"""A progress bar in the output of a notebook's cell; rich needs ipywidgets for that."""

from __future__ import annotations

import sys
from html import escape
from importlib import import_module
from typing import Any


def in_notebook() -> bool:
    """Whether this process runs a notebook's cells."""
    shell = sys.modules.get("IPython")
    return shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"


class NotebookBar:
    """A bar with a text beside it, updated in place, and removed when it is cleared."""

    def __init__(self, total: int) -> None:
        ipython: Any = import_module("IPython.display")
        self._total, self._html = total, ipython.HTML
        self._output = ipython.display(self._html(""), display_id=True)

    def show(self, done: int, text: str) -> None:
        """Show how much is done."""
        bar = f'<progress max="{self._total}" value="{done}"></progress>'
        self._output.update(self._html(f"{bar} {escape(text)}"))

    def clear(self) -> None:
        """Remove it."""
        self._output.update(self._html(""))
