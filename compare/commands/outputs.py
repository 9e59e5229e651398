"""How commands print tables and measures."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def console(width: int = 160) -> Console:
    """A console as wide as the terminal, or of `width` columns where a file or pipe has no width."""
    from rich.console import Console

    return Console() if sys.stdout.isatty() else Console(width=width)


def in_parentheses(measures: Mapping[str, float]) -> str:
    """Measures as ``" (edges 3, max degree 2)"``; empty where there are none."""
    if not measures:
        return ""
    return " (" + ", ".join(f"{name.replace('_', ' ')} {value:g}" for name, value in measures.items()) + ")"
