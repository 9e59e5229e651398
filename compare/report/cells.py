"""The elements of the report's page: tables by columns, identifiers, and the format of numbers."""

from __future__ import annotations

import base64
import gzip
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

_LARGE = 1_000_000
_LONG, _CUT = 40, 12
_WITHOUT_LINK = ("", "–", "none")


class Cell(NamedTuple):
    """A table's cell: text, the identifier that it links to, a tooltip, and links to runs in front of the text."""

    text: str
    to: str = ""
    hover: str = ""
    runs: Sequence[tuple[str, str]] = ()


def number(value: float, pattern: str = ",.6g") -> str:
    """A number, or a dash for NaN."""
    return f"{value:{pattern}}" if np.isfinite(value) else "–"


def count(value: float) -> str:
    """A whole number, or a dash."""
    return number(value, ",.0f")


def ratio(value: float) -> str:
    """A ratio with three decimals, or more where it would look equal to 1."""
    text = number(value, ",.3f")
    return f"{value:.5f}" if text == "1.000" and abs(value - 1) > 5e-6 else text


def percentage(value: float) -> str:
    """A share in per cent, or a dash."""
    return number(100 * value, ".3g") + "%" if np.isfinite(value) else "–"


def seconds(value: float) -> str:
    """A time in ms, s, min or h."""
    if not np.isfinite(value):
        return "–"
    if value < 1:
        return f"{1000 * value:,.{2 if value < 0.001 else 1 if value < 0.01 else 0}f} ms"
    if value < 120:
        return f"{value:.{2 if value < 10 else 1}f} s"
    return f"{value / 60:.1f} min" if value < 7200 else f"{value / 3600:,.1f} h"


def memory(value: float) -> str:
    """A number of bytes in MiB, or a dash."""
    return f"{value / 2**20:,.0f} MiB" if np.isfinite(value) else "–"


class Column(NamedTuple):
    """A column of a table.

    Attributes
    ----------
    name : str
        Of the column of data.
    head : str
        By default the name with spaces.
    write : callable
        The text of an entry; numbers are aligned on the right.
    group : str
        Of columns with a common head.
    look : {"", "wide", "digest"}
        Long texts that wrap, or digests.
    """

    name: str
    head: str = ""
    write: Callable[[Any], str] = str
    group: str = ""
    look: str = ""

    @property
    def title(self) -> str:
        """The head."""
        return self.head or self.name.replace("_", " ")

    @property
    def css(self) -> str:
        """The class of its cells."""
        return self.look or ("" if self.write is str else "n")


class Table(NamedTuple):
    """A table of the page; `name` is the name of its CSV file, or ""; `exact` are the lines of exact methods."""

    name: str
    columns: Sequence[Column]
    lines: Sequence[Sequence[Cell]]
    anchors: Sequence[str] = ()
    exact: Sequence[bool] = ()

    @property
    def groups(self) -> list[tuple[str, int]]:
        """The groups of columns from left to right, with their widths; empty without groups."""
        found: list[tuple[str, int]] = []
        for column in self.columns:
            if found and found[-1][0] == column.group:
                found[-1] = (column.group, found[-1][1] + 1)
            else:
                found.append((column.group, 1))
        return found if any(group for group, _ in found) else []


def table(
    rows: pd.DataFrame,
    columns: Sequence[Column],
    name: str = "",
    *,
    link: Callable[[Any, str], str | tuple[str, str]] = lambda line, column: "",
    anchors: Sequence[str] = (),
) -> Table:
    """Rows of data as a table of the page.

    Parameters
    ----------
    rows : DataFrame
        With the names of the columns; an entry that is a `Cell` stays as it is. The column ``exact`` marks exact
        methods.
    name : str
        Of its CSV file.
    link : callable
        The identifier that the cell of a row (a mapping) and a column's name links to, or "", or that with a tooltip.
    anchors : sequence of str
        The identifiers of the rows.
    """
    lines = []
    for line in rows.to_dict("records"):
        cells = []
        for column in columns:
            entry = line[column.name]
            if not isinstance(entry, Cell):
                entry = Cell(column.write(entry))
                to = "" if entry.text in _WITHOUT_LINK else link(line, column.name)
                entry = entry._replace(to=to) if isinstance(to, str) else entry._replace(to=to[0], hover=to[1])
            cells.append(entry)
        lines.append(cells)
    return Table(name, columns, lines, anchors, rows["exact"].tolist() if "exact" in rows else ())


def plain_table(rows: pd.DataFrame, name: str, written: Mapping[str, Callable[[Any], str]]) -> Table:
    """All columns of the rows, each in the format that `written` has for it, or as text."""
    heads = {"variant": "method"}
    return table(rows, [Column(str(one), heads.get(str(one), ""), written.get(str(one), str)) for one in rows], name)


class File(NamedTuple):
    """A file inside the page, as a data address."""

    name: str
    address: str


def carried(name: str, content: bytes) -> File:
    """A CSV file as a data address, compressed (``.csv.gz``) beyond a megabyte."""
    kind = "text/csv;charset=utf-8"
    if len(content) > _LARGE:
        name, kind, content = f"{name}.gz", "application/gzip", gzip.compress(content, mtime=0)
    return File(name, f"data:{kind};base64,{base64.b64encode(content).decode()}")


class Anchors:
    """Unique, readable identifiers of the page."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, ...], str] = {}
        self._used: set[str] = set()

    def of(self, *parts: str) -> str:
        """The identifier of these parts; equal parts have the same one."""
        if parts not in self._names:
            words = (re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-") for part in parts)
            base = "-".join(word if len(word) <= _LONG else word[:_CUT] for word in words)
            name, number = base, 1
            while name in self._used:
                number += 1
                name = f"{base}-{number}"
            self._used.add(name)
            self._names[parts] = name
        return self._names[parts]


def links(anchors: Iterable[str]) -> list[tuple[str, str]]:
    """Runs as short links: (text, identifier)."""
    return [(anchor.removeprefix("run-"), anchor) for anchor in anchors]
