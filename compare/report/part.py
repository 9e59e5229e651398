"""The part of a report about one kind of instances: tables with a sentence each, and figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from ..figures.style import Drawing
from .cells import Cell, Column, Table

Keep = Callable[[str, pd.DataFrame], str]
"""Adds a table as a CSV file under a name and returns the name."""

_WORDS = ("problem", "family", "variant", "links of")


@dataclass(frozen=True)
class Part:
    """The section of the page about one kind.

    Attributes
    ----------
    kind, title : str
    tables : sequence of (title, sentence, table)
    drawings : sequence of Drawing
    """

    kind: str
    title: str
    tables: Sequence[tuple[str, str, Table]]
    drawings: Sequence[Drawing]


def plain_table(table: pd.DataFrame, name: str, written: Mapping[str, Callable[[float], str]]) -> Table:
    """A table with the number format of each column; `name` is the name of its CSV file."""
    columns = [
        Column({"variant": "method"}.get(str(head), str(head).replace("_", " ")), number=head not in _WORDS)
        for head in table.columns
    ]
    lines = [
        [Cell(written.get(str(head), str)(entry)) for head, entry in zip(table.columns, line, strict=True)]
        for line in table.itertuples(index=False)
    ]
    return Table(name, columns, lines)
