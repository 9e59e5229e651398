"""The sizes of a study's instances of any kind: their columns, and two numbers to sort by."""

from __future__ import annotations

from typing import Any

import pandas as pd

from ...instances.contract.catalogue import KINDS
from ...instances.contract.kind import Kind
from ...instances.topics.files import TOPICS


def sizes_of(rows: pd.DataFrame) -> tuple[str, ...]:
    """The names of the sizes of all kinds that occur in `rows`, and those of topic instances in any case."""
    return tuple(dict.fromkeys(name for kind in _kinds(rows) for name in kind.sizes))


def measures_of(rows: pd.DataFrame) -> tuple[str, ...]:
    """The names of the measures of all kinds that occur in `rows`, and those of topic instances in any case."""
    return tuple(dict.fromkeys(name for kind in _kinds(rows) for name in kind.measures))


def sized(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with a column for every size and measure there is, NaN where a row's kind has none, and two more.

    Returns
    -------
    DataFrame
        A copy. ``extent`` and ``volume`` are the first and the last size of the row's kind (for topics, the nodes and
        the subscriptions), so that instances of any kind can be sorted by size.
    """
    names = [*sizes_of(rows), *measures_of(rows)]
    rows = rows.reindex(columns=[*rows.columns, *(name for name in names if name not in rows)])
    rows[names] = rows[names].astype("float64")
    for column, index in (("extent", 0), ("volume", -1)):
        rows[column] = float("nan")
        for kind in _kinds(rows):
            of_kind = rows["kind"] == kind.name
            rows.loc[of_kind, column] = rows.loc[of_kind, kind.sizes[index]]
    return rows


def _kinds(rows: pd.DataFrame) -> list[Kind[Any, Any]]:
    present = set(rows["kind"])
    return [TOPICS, *(kind for kind in KINDS.values() if kind.name in present and kind is not TOPICS)]
