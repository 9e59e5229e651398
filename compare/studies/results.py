"""The results of a study as a table: filtered, grouped and exported; its answers as files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from json import JSONDecodeError
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ...instances.contract.catalogue import PROBLEMS
from ...instances.contract.errors import BadInput, unknown, unknown_ending
from ...instances.contract.files import atomic_write, make_folder
from ...instances.contract.numbers import exact
from ...instances.contract.result import Status
from ..catalogue import METHODS, kind_named
from ..intervals import mean_interval
from .bounds import near
from .columns import DERIVED, researched
from .latex import csv_text, results_latex, workbook
from .row import SCHEMA
from .store import Store
from .task import is_key

FORMATS = (".csv", ".json", ".parquet", ".tex", ".xlsx")
_COUNTS = {"runs", "failed", "optimal", "instances", "of_instances", "ratio_instances", "reached"}
_UNGROUPED = {"answer", "reason", "judge", "versions", "machine", "started", "code_version"}
_SPREAD = {"recipe", "options"}  # stored columns from which others are made
_OF_METHODS = {"method", "variant", "options", "exact"}
_MEANS = (
    *("ratio", "value", "lower_bound", "primal_integral", "dual_integral"),
    *("seconds", "cpu_seconds", "peak_memory"),
)


def results(
    folder: Path,
    where: Mapping[str, str] | None = None,
    *,
    all_runs: bool = False,
    columns: Iterable[str] | None = None,
) -> pd.DataFrame:
    """The finished runs of a study, a row a run, also while it is running, with the columns of docs/results.md.

    `where` keeps the rows whose columns have these values: ``{"problem": "min-tco", "nodes": "60"}``. With `all_runs`
    also the stored runs that are not part of the present study: of methods or instances that were removed from it, and
    of other versions of the code. Bounds are the best of all rows, before any is left out by `where`. With `columns`,
    stored ones are left out that neither these, nor those in `where`, nor :func:`grouped` need. A folder without
    results, damaged ones, or of another version, and an unknown column are bad input.
    """
    store = Store.existing(folder)
    keys = store.keys()
    left_out: set[str] = set()
    if columns is not None:
        named = {*columns, *(where or ())}
        left_out = (_UNGROUPED if named - {*SCHEMA.names, *DERIVED} else _UNGROUPED | _SPREAD) - named
    stored = [name for name in SCHEMA.names if name not in left_out]
    try:
        rows = researched(store.rows(None if all_runs else keys, stored))
    except (JSONDecodeError, TypeError) as error:
        raise BadInput(f"{folder}: a row holds no JSON ({error}): see `overlaybench verify`") from None
    rows["current"] = not all_runs or pc.is_in(pa.array(rows["key"], pa.string()), value_set=keys).to_numpy(
        zero_copy_only=False
    )
    for column, wanted in (where or {}).items():
        _check_column(column, rows)
        having = rows[column].map(lambda value, wanted=wanted: _is(value, wanted)).astype(bool)
        if not having.any() and wanted not in PROBLEMS and wanted not in METHODS:
            known = {value for value in rows[column] if isinstance(value, str)}
            if slips := get_close_matches(wanted, known, n=1, cutoff=0.8):
                raise BadInput(f"no run has the {column} '{wanted}': did you mean '{slips[0]}'?")
        rows = rows[having]
    return rows.reset_index(drop=True)


def grouped(rows: pd.DataFrame, by: Sequence[str], *, common: bool = False) -> pd.DataFrame:
    """One row a group of equal values in the columns `by`: counts, and means over its answered instances.

    Groups that differ only in the last column of runs (``method``) are compared with each other: a column is one of
    instances (``nodes``, ``problem``) if all runs on an instance agree in it. `common` keeps only the instances (with
    their problem) that every group compared has answered. After `by` come runs, failed, optimal; instances (with an
    answer, each counted once a problem), of_instances (those of all the groups compared) and ratio_instances (those
    with a ratio); reached (the runs whose value is the proven optimum), max_ratio, ratio_low and ratio_high (the 95%
    interval of the mean ratio over instances by Student's t); then the means ``mean_…`` of `_MEANS`. Failed runs count
    in the means of seconds and memory only, skipped ones in none.
    """
    by = list(dict.fromkeys(by))
    for column in by:
        _check_column(column, rows)
    rows = rows.rename(columns={name: f"by_{name}" for name in set(by) & _COUNTS})
    names = [f"by_{name}" if name in _COUNTS else name for name in by]
    failed, cases = rows["status"] == Status.FAILED, rows.groupby(["instance", "problem"], sort=False).ngroup()
    counted = rows.assign(
        runs=1,
        failed=failed.astype(int),
        optimal=(rows["status"] == Status.OPTIMAL).astype(int),
        reached=(near(rows["value"], rows["optimum"], rows["problem"]) & ~failed).astype(int),
        instances=cases.where(rows["value"].notna() & ~failed),
        ratio_instances=cases.where(rows["ratio"].notna()),
        value=rows["value"].where(~failed),
        lower_bound=rows["lower_bound"].where(~failed),
        seconds=rows["seconds"].where(rows["status"] != Status.SKIPPED),
    )
    of_runs = [name for name in names if (counted.groupby(cases)[name].nunique(dropna=False) > 1).any()]
    compared = (of_runs or [name for name in names if name in _OF_METHODS])[-1:]
    outer = [counted[name] for name in names if name not in compared] or [pd.Series(0, counted.index)]
    if common and compared:
        of_group, having = (
            counted.groupby(each, dropna=False)[compared[0]].transform(lambda column: column.nunique(dropna=False))
            for each in (outer, [*outer, counted["instances"]])
        )
        counted = counted[counted["instances"].notna() & (having == of_group)]
        outer = [column[counted.index] for column in outer]
    counted["of_instances"] = counted.groupby(outer, dropna=False)["instances"].transform("nunique")
    groups = counted.groupby(names, dropna=False)
    found = groups[["runs", "failed", "optimal"]].sum()
    found["instances"] = groups["instances"].nunique()
    found["of_instances"] = groups["of_instances"].first()
    found["ratio_instances"] = groups["ratio_instances"].nunique()
    found["reached"], found["max_ratio"] = groups["reached"].sum(), groups["ratio"].max()
    each = counted[counted["ratio"].notna()].groupby([*names, "ratio_instances"], dropna=False)["ratio"].mean()
    ratios = each.groupby(level=names if len(names) > 1 else names[0], dropna=False)
    found["ratio_low"] = ratios.agg(lambda own: mean_interval(own, least=1).low).astype(np.float64)
    found["ratio_high"] = ratios.agg(lambda own: mean_interval(own, least=1).high).astype(np.float64)
    return pd.concat([found, groups[list(_MEANS)].mean().add_prefix("mean_")], axis=1).reset_index()


def export(rows: pd.DataFrame, file: Path, *, by: Sequence[str] = (), names: Mapping[str, str] | None = None) -> None:
    """Write rows atomically in the format of the ending, one of `FORMATS`; answers and points only as Parquet.

    `by` and `names` are those of `results_latex`.
    """
    plain = rows.drop(columns=["answer", "points"], errors="ignore")
    match file.suffix:
        case ".csv":
            atomic_write(file, csv_text(plain))
        case ".json":
            text = plain.to_json(orient="records", force_ascii=False, double_precision=15, indent=1)
            atomic_write(file, text + "\n")
        case ".xlsx":
            atomic_write(file, workbook(plain))
        case ".parquet":
            # pandas cannot read nested types back that it has written as its own of Arrow
            kept = rows.assign(points=rows["points"].astype(object)) if "points" in rows else rows
            atomic_write(file, lambda path: kept.to_parquet(path, index=False, compression="zstd"))
        case ".tex":
            atomic_write(file, results_latex(rows, by, names=names))
        case _:
            raise unknown_ending(file, FORMATS)


def write_answers(folder: Path, rows: pd.DataFrame, out: Path) -> int:
    """Write each row's answer in the format of its kind to a file named by its key; return how many."""
    store, written = Store.existing(folder), 0
    make_folder(out)
    rows = rows.sort_values("instance")  # each is made once
    columns = (rows[name] for name in ("key", "instance", "recipe", "kind", "answer"))
    for key, digest, recipe, name, answer in zip(*columns, strict=True):
        if answer is not None:
            if not is_key(key):
                raise BadInput(f"{folder}: '{key}' is no key of a run: the folder was modified")
            kind = kind_named(name)
            instance = store.instance(recipe, digest)
            try:
                unpacked = kind.unpack(np.asarray(answer, dtype=np.int32), instance)
            except (ValueError, IndexError):
                raise BadInput(
                    f"{folder}: run {key} has no answer to its instance: see `overlaybench verify`"
                ) from None
            kind.write_answer(unpacked, instance, out / f"{key}.json")
            written += 1
    return written


def _is(value: object, wanted: str) -> bool:
    """Whether a value is meant by a text: numbers by their value or six digits of it, true and false in any case."""
    if isinstance(value, (bool, np.bool_)):
        return str(value).lower() == wanted.lower()
    if isinstance(value, float) and wanted in (f"{value:g}", exact(value)):
        return True
    if isinstance(value, (int, float, np.number)):
        try:
            return float(value) == float(wanted)
        except ValueError:
            return False
    return str(value) == wanted


def _check_column(column: str, rows: pd.DataFrame) -> None:
    if column not in rows.columns:
        raise unknown("column", column, dict.fromkeys([*rows.columns, *SCHEMA.names]))
