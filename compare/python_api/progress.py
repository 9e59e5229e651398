"""A progress bar for a loop: on a terminal, and in the output of a notebook's cell."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TypeVar

from ..studies.notebook import NotebookBar, in_notebook

Item = TypeVar("Item")


def tracked(items: Sequence[Item], names: Sequence[str]) -> Iterator[Item]:
    """Yield the items; a bar names the one at work, and goes when all are done. Elsewhere nothing is shown."""
    if in_notebook():
        yield from _in_notebook(items, names)
    elif sys.stderr.isatty():
        yield from _on_terminal(items, names)
    else:
        yield from items


def _in_notebook(items: Sequence[Item], names: Sequence[str]) -> Iterator[Item]:
    bar = NotebookBar(len(items))
    try:
        for done, (item, name) in enumerate(zip(items, names, strict=True)):
            bar.show(done, f"{name}, {done + 1} of {len(items)}")
            yield item
    finally:
        bar.clear()


def _on_terminal(items: Sequence[Item], names: Sequence[str]) -> Iterator[Item]:
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=len(items))
        for item, name in zip(items, names, strict=True):
            bar.update(task, description=name)
            yield item
            bar.advance(task)
