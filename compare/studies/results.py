"""The results of a study as a table: filtered, grouped and exported; its answers as files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from ...instances.contract.errors import BadInput, unknown
from ...instances.contract.files import atomic_write
from ...instances.contract.result import Status
from ..catalogue import kind_named
from .columns import researched
from .latex import csv_text, results_latex
from .store import Store
from .task import is_key, plain_variant

_MEANS = (
    *("ratio", "value", "lower_bound", "primal_integral", "dual_integral"),
    *("seconds", "cpu_seconds", "peak_memory"),
)


def results(folder: Path, where: Mapping[str, str] | None = None, *, all_runs: bool = False) -> pd.DataFrame:
    """The finished runs of a study, a row a run, also while it is running.

    Parameters
    ----------
    where : mapping, optional
        Only the rows whose columns have these values: ``{"problem": "min-tco", "nodes": "60"}``.
    all_runs : bool
        Also the stored runs that are not part of the present study: of methods or instances that were removed from it,
        and of other versions of the code.

    Returns
    -------
    DataFrame
        The columns that docs/results.md explains: those of the store, a column for every size, measure, workload
        parameter and varied option, ``bound``, ``optimum`` and ``ratio``, and ``current`` (whether the run is part of
        the present study). Bounds are the best of all rows, before any is left out by `where`.

    Raises
    ------
    BadInput
        If there are no results, or they are damaged or of another version, or a column is unknown.
    """
    store = Store.existing(folder)
    keys = store.plan().keys
    rows = researched(store.rows(None if all_runs else keys))
    rows["current"] = rows["key"].isin(keys)
    for column, wanted in (where or {}).items():
        _check_column(column, rows)
        rows = rows[rows[column].map(lambda value, wanted=wanted: _is(value, wanted))]
    return rows.reset_index(drop=True)


def grouped(rows: pd.DataFrame, by: Sequence[str], *, common: bool = False) -> pd.DataFrame:
    """One row a group: counts, and means over its answered instances.

    Parameters
    ----------
    by : sequence of str
        Columns. The groups that agree in all of them but the last are compared with each other.
    common : bool
        Only the instances (with their problem) that every group compared has answered.

    Returns
    -------
    DataFrame
        The columns `by`; runs, failed, optimal; instances (with an answer, each counted once a problem),
        of_instances (those of all the groups compared) and ratio_instances (those with a ratio); mean_ratio,
        mean_value, mean_lower_bound, mean_primal_integral, mean_dual_integral, mean_seconds, mean_cpu_seconds,
        mean_peak_memory. Failed runs count in the means
        of seconds and memory only, skipped ones in none.
    """
    for column in by:
        _check_column(column, rows)
    failed, names = rows["status"] == Status.FAILED, list(by)
    if taken := {"runs", "failed", "optimal", "instances", "of_instances", "ratio_instances"} & set(names):
        rows = rows.rename(columns={name: f"by_{name}" for name in taken})
        names = [f"by_{name}" if name in taken else name for name in names]
    cases = rows["instance"] + " " + rows["problem"]
    counted = rows.assign(
        runs=1,
        failed=failed.astype(int),
        optimal=(rows["status"] == Status.OPTIMAL).astype(int),
        instances=cases.where(rows["value"].notna() & ~failed),
        ratio_instances=cases.where(rows["ratio"].notna()),
        value=rows["value"].where(~failed),
        lower_bound=rows["lower_bound"].where(~failed),
        seconds=rows["seconds"].where(rows["status"] != Status.SKIPPED),
    )
    outer = [counted[name] for name in names[:-1]] or [pd.Series(0, counted.index)]
    if common:
        last = counted[names[-1]]
        groups = last.groupby(outer, dropna=False).transform(lambda column: column.nunique(dropna=False))
        having = last.groupby([*outer, counted["instances"]], dropna=False).transform(
            lambda column: column.nunique(dropna=False)
        )
        counted = counted[counted["instances"].notna() & (having == groups)]
        outer = [column[counted.index] for column in outer]
    counted["of_instances"] = counted.groupby(outer, dropna=False)["instances"].transform("nunique")
    groups = counted.groupby(names, dropna=False)
    sums = groups[["runs", "failed", "optimal"]].sum()
    instances = groups.agg(instances=("instances", "nunique"), of_instances=("of_instances", "first"))
    instances["ratio_instances"] = groups["ratio_instances"].nunique()
    means = groups[list(_MEANS)].mean().add_prefix("mean_")
    return pd.concat([sums, instances, means], axis=1).reset_index()


def export(rows: pd.DataFrame, file: Path, *, by: Sequence[str] = (), bold: bool = False) -> None:
    """Write rows as .csv, .parquet or .tex, atomically; answers and points only as Parquet. See `results_latex`."""
    if file.suffix == ".csv":
        atomic_write(file, csv_text(rows.drop(columns=["answer", "points"], errors="ignore")))
    elif file.suffix == ".parquet":
        table = pa.Table.from_pandas(rows, preserve_index=False)
        atomic_write(file, lambda path: pq.write_table(table, path, compression="zstd"))
    elif file.suffix == ".tex":
        text = results_latex(rows, by, bold=bold)
        atomic_write(file, text)
    else:
        raise BadInput(f"{file}: unknown ending '{file.suffix}': use .csv, .parquet or .tex")


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


def as_text(value: object) -> str:
    """A value as ``--where`` takes it."""
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _is(value: object, wanted: str) -> bool:
    """Whether a value is meant by a text: numbers by their value or six digits of it, true and false in any case."""
    if isinstance(value, (bool, np.bool_)):
        return str(value).lower() == wanted.lower()
    if isinstance(value, float) and wanted in (f"{value:g}", as_text(value)):
        return True
    if isinstance(value, (int, float, np.number)):
        try:
            return float(value) == float(wanted)
        except ValueError:
            return False
    return str(value) == wanted or ("=" in wanted and plain_variant(str(value)) == plain_variant(wanted))


def _check_column(column: str, rows: pd.DataFrame) -> None:
    if column not in rows.columns:
        raise unknown("column", column, rows.columns)
