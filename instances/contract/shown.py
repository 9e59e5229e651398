"""How objects show themselves in a notebook: tables of facts, and drawings of small ones.

The HTML takes its colours from the page around, and so is readable in a light and in a dark theme.
"""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .arrays import ReadOnly
from .numbers import short

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Figure

Labelled = tuple[int, Callable[[int], str]]
"""How many there are, and the label of each."""
_MOST_NODES, _LABELLED, _MOST_EDGES = 80, 40, 600
_MOST_ROWS, _MOST_COLUMNS = 40, 60
_CELL, _LABEL = 12, 70
_SIDE_BY_SIDE = "display:flex;flex-wrap:wrap;gap:1.5em;align-items:flex-start"


def plot(instance: object, *answers: object) -> Figure:
    """Draw an instance, or answers to it side by side: ``overlaybench.draw`` with its defaults."""
    from ... import draw

    return draw(instance, *answers)


class Drawn(ReadOnly):
    """An answer: equal to all others of its type whose fields are equal."""

    @property
    def _key(self) -> tuple[object, ...]:
        values = self.__getstate__().values()
        return tuple((value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value for value in values)

    def plot(self, instance: object) -> Figure:
        """Draw the answer to an instance; see :func:`overlaybench.draw`."""
        return plot(instance, self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


class Digested(ReadOnly, ABC):
    """An instance: equal to all others of its digest, which does not depend on labels."""

    @property
    @abstractmethod
    def is_tiny(self) -> bool:
        """Whether compiling a kernel takes far longer than interpreting it on this instance."""

    @abstractmethod
    def trial(self) -> Any:
        """A small instance that shows which kernels a method calls."""

    @property
    @abstractmethod
    def size(self) -> dict[str, int]:
        """The number of nodes, topics, … as :attr:`.Kind.sizes` names them."""

    @abstractmethod
    def _content(self) -> tuple[str, Iterable[npt.NDArray[Any]]]:
        """The format and the arrays that the digest is taken of."""

    def _shown(self) -> tuple[Mapping[str, object], str]:
        """Further facts for notebooks, and a drawing as SVG or ""."""
        return {}, ""

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hexadecimal) of the content: the same on every machine."""
        name, arrays = self._content()
        sha = hashlib.sha256(f"overlaybench {name}\n".encode())
        for array in arrays:
            sha.update(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(-1).data)
        return sha.hexdigest()

    def plot(self, *answers: object) -> Figure:
        """Draw the instance, or answers to it side by side; see :func:`overlaybench.draw`."""
        return plot(self, *answers)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        size = ", ".join(f"{count} {noun}" for noun, count in self.size.items())
        return f"{type(self).__name__}({size}, {self.digest[:12]})"

    def _repr_html_(self) -> str:
        rows, picture = self._shown()
        return facts(type(self).__name__, {**self.size, **rows, "digest": self.digest[:12]}, picture)


def spread_of(counts: npt.NDArray[np.integer]) -> str:
    """The range and the mean of counts: ``2 to 9, mean 5.2``."""
    low, high = int(counts.min()), int(counts.max())
    return str(low) if low == high else f"{low} to {high}, mean {counts.mean():.3g}"


def facts(title: str, rows: Mapping[str, object], picture: str = "") -> str:
    """A table of two columns under a title, beside it a drawing; values of None are left out."""
    body = "".join(
        f'<tr><th scope="row" style="text-align:left">{escape(name)}</th>'
        f'<td style="text-align:left">{escape(short(value))}</td></tr>'
        for name, value in rows.items()
        if value is not None
    )
    return f'<div style="{_SIDE_BY_SIDE}">{_table(title, "", body)}{picture}</div>'


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], texts: int) -> str:
    """A table under a title: the first `texts` columns to the left, the others, numbers, to the right."""
    sides = ["left" if column < texts else "right" for column in range(len(columns))]
    head = _row("th", columns, sides)
    return _table(title, f"<thead>{head}</thead>", "".join(_row("td", row, sides) for row in rows))


def circle(nodes: Labelled, edges: npt.NDArray[np.integer], marked: Collection[int] = ()) -> str:
    """A graph on a circle, as SVG; empty if it has more than 80 nodes or 600 edges.

    `nodes`: their number, and the label of each; written beside them up to 40, and shown under the pointer.
    `edges`, shape (m, 2). `marked`: nodes drawn filled and larger.
    """
    count, label_of = nodes
    if count > _MOST_NODES or len(edges) > _MOST_EDGES:
        return ""
    labels = [label_of(v) for v in range(count)]
    turn = 2 * math.pi / len(labels)
    at = [(110 * math.sin(v * turn), -110 * math.cos(v * turn)) for v in range(len(labels))]
    parts = [
        f'<line x1="{at[u][0]:.1f}" y1="{at[u][1]:.1f}" x2="{at[v][0]:.1f}" y2="{at[v][1]:.1f}"/>'
        for u, v in edges.tolist()
    ]
    for v, ((x, y), label) in enumerate(zip(at, labels, strict=True)):
        size, fill = (5, "currentColor") if v in marked else (3, "none" if marked else "currentColor")
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size}" fill="{fill}"><title>{escape(label)}</title></circle>'
        )
        if len(labels) <= _LABELLED:
            anchor = "middle" if abs(x) < 15 else "start" if x > 0 else "end"
            parts.append(_svg_text(x * 1.09, y * 1.09 + 3, label, f'text-anchor="{anchor}"'))
    return _svg((-180, -130, 360, 260), f"graph of {len(labels)} nodes and {len(edges)} edges", parts)


def matrix(rows: Labelled, columns: Labelled, of_row: Callable[[int], npt.NDArray[np.integer]]) -> str:
    """A relation of rows to columns, as SVG with a square for each pair; empty beyond 40 rows or 60 columns.

    `rows`, `columns`: their number, and the label of each. `of_row`: the columns related to a row.
    """
    if rows[0] > _MOST_ROWS or columns[0] > _MOST_COLUMNS:
        return ""
    row_labels, column_labels = ([label_of(i) for i in range(count)] for count, label_of in (rows, columns))
    parts = [_svg_text(-4, r * _CELL + 9, label, 'text-anchor="end"') for r, label in enumerate(row_labels)]
    parts += [
        _svg_text(0, 0, label, f'transform="translate({c * _CELL + 9} -4) rotate(-60)"')
        for c, label in enumerate(column_labels)
    ]
    for r, row in enumerate(row_labels):
        parts += [
            f'<rect x="{c * _CELL + 1}" y="{r * _CELL + 1}" width="10" height="10" fill="currentColor" stroke="none">'
            f"<title>{escape(row)}: {escape(column_labels[c])}</title></rect>"
            for c in of_row(r).tolist()
        ]
    box = (-_LABEL, -_LABEL, _LABEL * 2 + _CELL * columns[0], _LABEL + _CELL * rows[0] + 4)
    return _svg(box, f"relation of {rows[0]} rows to {columns[0]} columns", parts)


def _table(title: str, head: str, body: str) -> str:
    style = "text-align:left;font-weight:bold;caption-side:top"
    caption = f'<caption style="{style}">{escape(title)}</caption>' if title else ""
    return f"<table>{caption}{head}<tbody>{body}</tbody></table>"


def _row(tag: str, values: Sequence[object], sides: Sequence[str]) -> str:
    cells = (
        f'<{tag} style="text-align:{side}">{escape(short(value))}</{tag}>'
        for value, side in zip(values, sides, strict=True)
    )
    return f"<tr>{''.join(cells)}</tr>"


def _svg(box: tuple[int, int, int, int], description: str, parts: Iterable[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{" ".join(map(str, box))}" width="{box[2]}" '
        f'style="max-width:100%;height:auto" role="img" aria-label="{escape(description)}" '
        f'stroke="currentColor" stroke-width="1" fill="none">{"".join(parts)}</svg>'
    )


def _svg_text(x: float, y: float, label: str, attributes: str) -> str:
    shown = label if len(label) <= 12 else f"{label[:11]}…"
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" {attributes} font-size="10" fill="currentColor" stroke="none">'
        f"{escape(shown)}<title>{escape(label)}</title></text>"
    )
