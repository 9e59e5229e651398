"""The elements of the report's page: cells, tables, identifiers, and the format of numbers."""

from __future__ import annotations

import base64
import gzip
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..studies.latex import csv_text

_LARGE = 1_000_000
_LONG, _CUT = 40, 12


class Cell(NamedTuple):
    """A table's cell: text, the identifier that it links to, a tooltip, and links to runs in front of the text."""

    text: str
    to: str = ""
    hover: str = ""
    runs: Sequence[tuple[str, str]] = ()


class Column(NamedTuple):
    """A table's column: its head, whether its cells are numbers, and its group of columns."""

    head: str
    number: bool = True
    group: str = ""


class Table(NamedTuple):
    """A table of the page; `name` is the name of its CSV file, or ""."""

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


class File(NamedTuple):
    """A file inside the page, as a data address."""

    name: str
    address: str


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


def csv_bytes(table: pd.DataFrame) -> bytes:
    """A table as CSV in UTF-8; see :func:`.csv_text`."""
    return csv_text(table).encode()


def carried(name: str, content: bytes) -> File:
    """A CSV file as a data address, compressed (``.csv.gz``) beyond a megabyte."""
    kind = "text/csv;charset=utf-8"
    if len(content) > _LARGE:
        name, kind, content = f"{name}.gz", "application/gzip", gzip.compress(content, mtime=0)
    return File(name, f"data:{kind};base64,{base64.b64encode(content).decode()}")


def number(value: float, pattern: str = ",.6g") -> str:
    """A number, or a dash for NaN."""
    return f"{value:{pattern}}" if np.isfinite(value) else "–"


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


def links(anchors: Iterable[str]) -> list[tuple[str, str]]:
    """Runs as short links: (text, identifier)."""
    return [(anchor.removeprefix("run-"), anchor) for anchor in anchors]
