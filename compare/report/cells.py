"""The elements of the report's page: columns by their names, tables, identifiers, and the format of numbers."""

from __future__ import annotations

import base64
import gzip
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import pandas as pd
from markupsafe import Markup, escape
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from ...instances.contract.numbers import number, percentage, ratio, seconds
from ...instances.contract.result import Status
from ..studies.proofs import LEVELS

_LARGE = 1_000_000
_LONG, _CUT = 40, 12
_WITHOUT_LINK = ("", "–", "none")


def linked(text: object, to: str = "", *, page: str = "") -> Markup:
    """A text as HTML, a link to an identifier of the page, or to another `page`, if there is one."""
    return Markup('<a href="{}">{}</a>').format(page or f"#{to}", text) if to or page else escape(text)


def run_links(anchors: Iterable[str]) -> Markup:
    """Links to runs, by their numbers."""
    return Markup(", ").join(linked(anchor.removeprefix("run-"), anchor) for anchor in anchors)


def listed_runs(anchors: Sequence[str]) -> Markup:
    """Links to runs after the word run or runs; nothing without a run."""
    return Markup("{} {}").format("runs" if len(anchors) > 1 else "run", run_links(anchors)) if anchors else Markup()


class ShownColumn(NamedTuple):
    """How a column is shown: by default under its name with spaces, numbers by `number` and all else as it is.

    `group` is of columns with a common head; `look` is the class of its cells ("n" for numbers, which are aligned on
    the right, "wide" for long texts, "digest", "code").
    """

    head: str = ""
    write: Callable[[Any], str] | None = None
    group: str = ""
    look: str = ""


_BOUND, _OPTIMUM, _INTERVAL = "ratio to the best bound", "ratio where the optimum is proven", "95% interval"
_SOLVED, _OPEN = "optimum proven", "optimum open"
COLUMNS: Mapping[str, ShownColumn] = {
    "compared_instances": ShownColumn("instances", group=_BOUND),
    "mean_ratio": ShownColumn("mean", ratio, _BOUND),
    "worst_ratio": ShownColumn("worst", ratio, _BOUND),
    "optimum_instances": ShownColumn("instances", group=_OPTIMUM),
    "versus_optimum": ShownColumn("runs", group=_OPTIMUM),
    "reached": ShownColumn("reached optimum"),
    "mean_over_optimum": ShownColumn("mean", ratio, _OPTIMUM),
    "worst_over_optimum": ShownColumn("worst", ratio, _OPTIMUM),
    "proved": ShownColumn("proved optimal"),
    "share": ShownColumn("share of runs", percentage),
    "mean_integral": ShownColumn("primal integral", percentage),
    "mean_seconds": ShownColumn("mean time", seconds),
    "seeds": ShownColumn("seeds of the runs", look="n"),
    "time_limits": ShownColumn("time limit", look="n"),
    "solved": ShownColumn("all", group=_SOLVED),
    **{level: ShownColumn(group=_SOLVED) for level in LEVELS},
    "widest_gap": ShownColumn("largest gap", percentage, _OPEN),
    "mean_gap": ShownColumn("mean gap", percentage, _OPEN),
    "open_ended": ShownColumn("without bound or answer", group=_OPEN),
    "compared_with": ShownColumn("heuristics compared with", look="n"),
    **{
        end + of: ShownColumn(head, write, f"{end} heuristic")
        for end in ("closest", "farthest")
        for of, head, write in (("", "method", str), ("_mean", "mean", ratio), ("_worst", "worst", ratio))
    },
    **{str(status): ShownColumn(group="runs that ended as") for status in Status},
    "longest": ShownColumn("longest run", seconds),
    "peak_memory": ShownColumn(write=lambda value: number(value / 2**20, ",.0f") + " MiB" if value == value else "–"),
    "reason": ShownColumn(look="wide"),
    "run": ShownColumn(look="wide"),
    "digest": ShownColumn("instance"),
    "bound": ShownColumn("best bound"),
    "best": ShownColumn("best answer"),
    "lower_bound": ShownColumn("own bound"),
    "gap": ShownColumn(write=percentage),
    "proof": ShownColumn("bound proven by", look="wide"),
    "number": ShownColumn("run", look="n"),
    "limit": ShownColumn(look="n"),
    "seed": ShownColumn(write=str),
    "ratio": ShownColumn(write=ratio),
    "seconds": ShownColumn("time", seconds),
    "key": ShownColumn(look="digest"),
    "instance": ShownColumn("digest", look="digest wide"),
    "recipe": ShownColumn(look="wide code"),
    "runs_listed": ShownColumn("runs", look="wide"),
    "variant": ShownColumn("method"),
    "access_to_core": ShownColumn("access ÷ core price"),
    "crr": ShownColumn("cost reduction", ratio),
    "low": ShownColumn("from", ratio, _INTERVAL),
    "high": ShownColumn("to", ratio, _INTERVAL),
    **dict.fromkeys(("hops", "delay ms"), ShownColumn(write=lambda value: number(value, ",.2f"))),
    **dict.fromkeys(
        ("messages", "soft_links", "bypassed", "lost"), ShownColumn(write=lambda value: number(value, ",.0f"))
    ),
    **dict.fromkeys(("core", "smallest", "largest", "total"), ShownColumn(write=ratio)),
    **dict.fromkeys(("mean", "worst", "forwarding", "gain", "both"), ShownColumn(write=ratio)),
    **dict.fromkeys(("saved", "yield", "late yield", "fewer forwarders"), ShownColumn(write=percentage)),
    **dict.fromkeys(("delivered", "control"), ShownColumn(write=percentage)),
    "links ÷ bound": ShownColumn(write=ratio),
    **dict.fromkeys(("mean links", "changes an event"), ShownColumn(write=lambda value: number(value, ",.2f"))),
}
"""The columns of all tables of the page that are not shown as their names and entries are."""


class PageTable(NamedTuple):
    """A table of the page, its cells as HTML; `name` is that of its CSV file, `exact` marks lines of exact methods."""

    name: str
    columns: Sequence[ShownColumn]
    lines: Sequence[Sequence[Markup]]
    anchors: Sequence[str] = ()
    exact: Sequence[bool] = ()

    @property
    def groups(self) -> list[tuple[str, int]]:
        """The groups of columns from left to right, with their widths; empty without groups."""
        found = [(name, len(list(own))) for name, own in groupby(column.group for column in self.columns)]
        return found if any(name for name, _ in found) else []


def table(
    rows: pd.DataFrame,
    names: Iterable[str],
    name: str = "",
    *,
    to: Sequence[str] = (),
    links: Mapping[str, Sequence[str]] | None = None,
    anchors: Sequence[str] = (),
    heads: Mapping[str, str] | None = None,
) -> PageTable:
    """Rows of data as a table of the page.

    `names` are the columns that are shown, as `COLUMNS` says but for `heads`; an entry that is `Markup` stays as it is,
    and the column ``exact`` marks exact methods. `name` is that of its CSV file. `to` are the identifiers that the
    cells of each row link to, `links` those of a column, by its name; `anchors` are the identifiers of the rows.
    """
    columns = {one: _column(one, rows[one], (heads or {}).get(one, "")) for one in names}
    cells = []
    for one, column in columns.items():
        assert column.write is not None
        targets = (links or {}).get(one, to) or [""] * len(rows)
        cells.append([_cell(entry, column.write, at) for entry, at in zip(rows[one].tolist(), targets, strict=True)])
    exact = rows["exact"].tolist() if "exact" in rows else ()
    return PageTable(name, list(columns.values()), list(zip(*cells, strict=True)), anchors, exact)


def _cell(entry: Any, write: Callable[[Any], str], to: str) -> Markup:
    if isinstance(entry, Markup):
        return entry
    text = write(entry)
    return linked(text, "" if text in _WITHOUT_LINK else to)


def _column(name: str, entries: pd.Series[Any], head: str) -> ShownColumn:
    known = COLUMNS.get(name, ShownColumn())
    numbers = is_numeric_dtype(entries) and not is_bool_dtype(entries)
    return ShownColumn(
        head or known.head or name.replace("_", " "),
        known.write or (number if numbers else str),
        "" if head else known.group,
        known.look or ("n" if numbers else ""),
    )


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
