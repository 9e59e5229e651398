"""A progress bar for a loop: on a terminal, and in the output of a notebook's cell."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from html import escape
from importlib import import_module
from typing import Any, TypeVar

Item = TypeVar("Item")


def tracked(items: Sequence[Item], names: Sequence[str]) -> Iterator[Item]:
    """Yield the items; a bar names the one at work, and goes when all are done. Elsewhere nothing is shown."""
    if in_notebook():
        yield from _in_notebook(items, names)
    elif sys.stderr.isatty():
        yield from _on_terminal(items, names)
    else:
        yield from items


def in_notebook() -> bool:
    """Whether this process runs a notebook's cells."""
    shell = sys.modules.get("IPython")
    return shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"


def _in_notebook(items: Sequence[Item], names: Sequence[str]) -> Iterator[Item]:
    ipython: Any = import_module("IPython.display")
    show = ipython.HTML
    output = ipython.display(show(""), display_id=True)
    try:
        for done, (item, name) in enumerate(zip(items, names, strict=True)):
            label = f"{escape(name)}, {done + 1} of {len(items)}"
            output.update(show(f'<progress max="{len(items)}" value="{done}"></progress> {label}'))
            yield item
    finally:
        output.update(show(""))


def _on_terminal(items: Sequence[Item], names: Sequence[str]) -> Iterator[Item]:
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=len(items))
        for item, name in zip(items, names, strict=True):
            bar.update(task, description=name)
            yield item
            bar.advance(task)
