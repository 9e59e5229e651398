"""The results of a study as a table: filtered, grouped and exported; its answers as files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from ...instances.errors import BadInput, unknown
from ...instances.files import atomic_write
from ..catalogue import kind_named
from .store import Store
from .task import is_key

_SHOWN = ("key", "problem", "variant", "family", "status", "value", "lower_bound", "seconds")
_GROUPED = ("value", "lower_bound", "seconds", "cpu_seconds", "peak_memory")


def results(folder: Path, where: Mapping[str, str] | None = None) -> pd.DataFrame:
    """The finished runs of a study, a row a run, also while it is running.

    Parameters
    ----------
    where : mapping, optional
        Only the rows whose columns, as text, have these values: ``{"problem": "min-tco", "status": "failed"}``.

    Returns
    -------
    DataFrame
        The columns that docs/results.md explains, with a column for every size and measure.

    Raises
    ------
    BadInput
        If there are no results, or they are damaged or of another version, or a column is unknown.
    """
    store = Store.existing(folder)
    rows = store.rows(store.plan().keys)
    for column, wanted in (where or {}).items():
        if column not in rows.columns:
            raise unknown("column", column, rows.columns)
        rows = rows[rows[column].map(_as_text) == wanted]
    return rows.reset_index(drop=True)


def grouped(rows: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """One row a group: runs, failed, optimal, and the means of value, bound, seconds and memory."""
    for column in by:
        if column not in rows.columns:
            raise unknown("column", column, rows.columns)
    counted = rows.assign(
        runs=1, failed=(rows["status"] == "failed").astype(int), optimal=(rows["status"] == "optimal").astype(int)
    ).groupby(list(by), dropna=False)
    sums = counted[["runs", "failed", "optimal"]].sum()
    means = counted[list(_GROUPED)].mean().add_prefix("mean_")
    return pd.concat([sums, means], axis=1).reset_index()


def export(rows: pd.DataFrame, file: Path) -> None:
    """Write rows as .csv or .parquet, atomically; a CSV has no answers."""
    if file.suffix == ".csv":
        plain = rows.drop(columns="answer", errors="ignore")
        atomic_write(file, lambda path: plain.to_csv(path, index=False))
    elif file.suffix == ".parquet":
        table = pa.Table.from_pandas(rows, preserve_index=False)
        atomic_write(file, lambda path: pq.write_table(table, path, compression="zstd"))
    else:
        raise BadInput(f"{file}: unknown ending '{file.suffix}': use .csv or .parquet")


def write_answers(folder: Path, rows: pd.DataFrame, out: Path) -> int:
    """Write each row's answer in the format of its kind to a file named by its key; return how many."""
    store, written = Store.existing(folder), 0
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{out}: cannot be created ({error.strerror}): choose another folder") from None
    for key, digest, name, answer in zip(rows["key"], rows["instance"], rows["kind"], rows["answer"], strict=True):
        if answer is not None:
            if not is_key(key):
                raise BadInput(f"{folder}: '{key}' is no key of a run: the folder was modified")
            kind = kind_named(name)
            instance = store.instance(digest, kind)
            try:
                unpacked = kind.unpack(np.asarray(answer, dtype=np.int32), instance)
            except (ValueError, IndexError):
                raise BadInput(
                    f"{folder}: run {key} has no answer to its instance: see `overlaybench verify`"
                ) from None
            kind.write_answer(unpacked, instance, out / f"{key}.json")
            written += 1
    return written


def shown(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with the columns that fit a terminal."""
    return rows[[name for name in _SHOWN if name in rows.columns]]


def _as_text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
