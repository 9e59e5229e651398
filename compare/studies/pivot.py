"""Runs as papers print them: one column across, others down, and a mean with its interval or worst run in each cell."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from ...instances.contract.errors import BadInput, unknown, unknown_ending
from ...instances.contract.files import atomic_write
from ...instances.contract.result import Status
from ..intervals import mean_interval
from .bounds import near, relative_gaps, sorted_by
from .latex import called, csv_text, head, latex_table, workbook
from .plot import MEASURES

FORMS = {"interval": "± half of its 95% interval by Student's t", "worst": "(worst run)"}
FORMATS = (".csv", ".html", ".md", ".tex", ".xlsx")
_DIGITS, _DECIMALS = 3, 3
_OPTIMAL, _FEWER = "†", "*"
_MERGED, _MOST_NAMES = {"variant": "%s", "time_limit": "runs with time limits of %s s"}, 8


class Pivot(NamedTuple):
    """A table of texts, which of its cells are best (a mask of the same columns), and what they mean."""

    table: pd.DataFrame
    best: pd.DataFrame
    caption: str


def pivot(runs: pd.DataFrame, rows: Sequence[str], across: str, cell: str = "ratio", form: str = "interval") -> Pivot:
    """The mean of a measure of the runs (:func:`.results`) for each value of the columns `rows` and `across`.

    Repeated runs on an instance are averaged first. Means are compared over the keys in which the runs on one instance
    differ, such as the method; one over fewer instances than the others has an asterisk and is not compared. A dagger
    marks that every value is the proven optimum. With runs of several problems, the problem is the first of the rows.

    Parameters
    ----------
    runs : DataFrame
    rows, across : columns of `runs`
    cell : name in `MEASURES`
    form : {"interval", "worst"}

    Raises
    ------
    BadInput
        If a column, the measure or the form is unknown, or no run has the measure.
    """
    keys = list(dict.fromkeys([*rows, across]))
    if missing := [name for name in ("instance", "problem", "status", "value", *keys) if name not in runs]:
        raise unknown("column", missing[0], runs.columns)
    if cell not in MEASURES:
        raise unknown("measure", cell, MEASURES)
    if form not in FORMS:
        raise unknown("form", form, FORMS)
    if across in rows or not rows:
        raise BadInput("a table has one column across and at least one other column down")
    if "problem" not in keys and runs["problem"].nunique() > 1:
        keys = ["problem", *keys]
    measured = _measured(runs, keys, cell)
    outer = [name for name in keys if measured.groupby("case")[name].nunique().max() == 1]
    groups = measured.groupby(keys, observed=True)
    each = measured.groupby([*keys, "case"], observed=True)["measure"].mean().groupby(keys, observed=True)
    found = pd.DataFrame(
        [(*at, *_texts(own, groups["measure"].max()[at], MEASURES[cell].least, form)) for at, own in each],
        columns=[*keys, "mean", "text"],
    )
    found = found.assign(**{name: found[name].astype(measured[name].dtype) for name in keys}).set_index(keys)
    of = [found.index.get_level_values(name) for name in outer] or [np.zeros(len(found))]
    whole = groups["case"].nunique() == _total(measured, outer, found)
    compared = found["mean"].where(whole)
    lowest = compared.groupby(of, observed=True).transform("min") if len(outer) < len(keys) else compared * np.nan
    rivals = found["mean"].groupby(of, observed=True).transform("size") > 1
    best = whole & rivals & (found["mean"].map(_number) == lowest.map(_number, na_action="ignore"))
    optimal = groups["optimal"].all()
    marks = np.where(optimal, _OPTIMAL, "") + np.where(whole, "", _FEWER).astype(object)
    shown = pd.DataFrame({"text": found["text"] + marks, "best": best}).unstack(across)
    table, bold = shown["text"].astype(object).fillna("–"), shown["best"].eq(True)
    heads = [value if isinstance(value, str) else f"{head(across)} = {value:g}" for value in table.columns]
    down = table.index.to_frame(index=False).astype(object).infer_objects().convert_dtypes(convert_string=False)
    caption = _caption(measured, keys, across, form)
    said = {
        "Bold: the lowest mean of those compared, to the digits shown": best.any(),
        f"{_OPTIMAL} every value is the proven optimum": optimal.any(),
        f"{_FEWER} over fewer instances, not compared": not whole.all(),
    }
    caption = ". ".join([caption, *(text for text, is_so in said.items() if is_so)])
    texts = pd.concat([down, table.set_axis(heads, axis="columns").reset_index(drop=True)], axis="columns")
    return Pivot(texts, bold.set_axis(heads, axis="columns").reset_index(drop=True), f"{caption}.")


def _measured(runs: pd.DataFrame, keys: Sequence[str], cell: str) -> pd.DataFrame:
    """The runs that have the measure, with it, their instance and problem as a case, and the keys in order."""
    of = MEASURES[cell]
    by = [name for name in ("problem", "exact", "variant", "family") if name in runs]
    runs = sorted_by(runs, *by)
    numbers = relative_gaps(runs["value"], runs["lower_bound"]) if cell == "gap" else runs[of.column]
    left_out = [Status.SKIPPED] if cell in ("time", "memory") else [Status.SKIPPED, Status.FAILED]
    measured = runs.assign(
        measure=numbers.astype(np.float64).replace([np.inf, -np.inf], np.nan).where(~runs["status"].isin(left_out))
        / of.unit,
        case=runs["instance"] + " " + runs["problem"],
        optimal=near(runs["value"], runs["optimum"], runs["problem"]) & (runs["status"] != Status.FAILED),
    ).dropna(subset="measure")
    if measured.empty:
        hint = ": add an exact method to the study" if cell == "ratio" else ""
        raise BadInput(f"no run has a {cell}{hint}")
    measured.attrs["title"] = of.title[:1].upper() + of.title[1:]
    if cell == "time" and measured.groupby(list(keys))["measure"].mean().max() < 1:
        measured["measure"] *= 1000
        measured.attrs["title"] = "Time (ms)"
    for name in keys:
        column = measured[name]
        if is_numeric_dtype(column) and not is_bool_dtype(column):
            order = sorted(column.dropna().unique())
        else:
            column = column.map(lambda value: "–" if value is None or value != value else str(value))
            order = list(column.unique())
        measured[name] = pd.Categorical(column, categories=order, ordered=True)
    kept = measured.dropna(subset=list(keys))
    kept.attrs = measured.attrs
    return kept


def _total(measured: pd.DataFrame, outer: Sequence[str], found: pd.DataFrame) -> Any:
    """How many cases the groups compared with each row of `found` have together."""
    if not outer:
        return measured["case"].nunique()
    totals = measured.groupby(list(outer), observed=True)["case"].nunique()
    at = found.index.to_frame(index=False)[list(outer)]
    return totals.reindex(pd.MultiIndex.from_frame(at) if len(outer) > 1 else at[outer[0]]).to_numpy()


def _texts(values: pd.Series[float], worst: float, least: float, form: str) -> tuple[float, str]:
    """A mean and its text."""
    found = mean_interval(values, least=least)
    if form == "worst":
        return found.mean, f"{_number(found.mean)} ({_number(worst)})"
    half = found.high - found.mean
    interval = "" if math.isnan(half) else f" ± {half:,.{min(_decimals(found.mean), _decimals(half))}f}"
    return found.mean, _number(found.mean) + interval


def _decimals(number: float) -> int:
    """Those of three significant digits, at most three; a number of no digits has two."""
    size = math.floor(math.log10(abs(number))) if number else 0
    return min(_DECIMALS, max(0, _DIGITS - 1 - size))


def _number(number: float) -> str:
    """A number to three significant digits, at most three of them decimals, and all digits before the point."""
    if 0 < abs(number) < 0.5 * 10**-_DECIMALS:
        return f"<{10**-_DECIMALS:g}"
    return f"{number:,.{_decimals(number)}f}"


def _caption(measured: pd.DataFrame, keys: Sequence[str], across: str, form: str) -> str:
    problems, down = measured["problem"].unique(), ", ".join(head(name) for name in keys if name != across)
    of = f" on {problems[0]}" if len(problems) == 1 and "problem" not in keys else ""
    groups = measured.groupby(list(keys), observed=True)
    merged = []
    for name, words in _MERGED.items():
        each = [] if name in keys else [values for values in groups[name].unique() if len(values) > 1]
        names = list(dict.fromkeys(str(value) for values in each for value in values))
        more = [f"{len(names) - _MOST_NAMES} more"] if len(names) > _MOST_NAMES else []
        merged += [words % ", ".join(names[:_MOST_NAMES] + more)] if names else []
    text = f"{measured.attrs['title']}{of} by {down} and {head(across)}: mean over instances {FORMS[form]}"
    return f"{text}. Cells combine {' and '.join(merged)}" if merged else text


def renamed(found: Pivot, names: Mapping[str, str]) -> Pivot:
    """With what methods, problems and columns are called in the paper."""
    heads = {name: names.get(name) or called(head(name), names) for name in map(str, found.table)}
    table = found.table.map(lambda entry: called(entry, names) if isinstance(entry, str) else entry)
    return Pivot(table.rename(columns=heads), found.best.rename(columns=heads), called(found.caption, names))


def html(found: Pivot) -> str:
    """The table in HTML, the best cells bold."""
    texts = bold(found, "<b>", "</b>", escape).rename(columns=escape)
    table: str = texts.to_html(index=False, escape=False, border=0)
    head, body = table.split("\n", 1)
    return f"{head}\n<caption>{escape(found.caption)}</caption>\n{body}\n"


def write_pivot(found: Pivot, file: Path) -> None:
    """Write the table atomically in the format of the ending, one of `FORMATS`; bold as far as the format has it."""
    match file.suffix:
        case ".csv":
            atomic_write(file, csv_text(found.table))
        case ".html":
            atomic_write(file, f'<!doctype html>\n<meta charset="utf-8">\n{html(found)}')
        case ".md":
            texts = bold(found, "**", "**")
            numbers = {*found.best, *found.table.select_dtypes("number")}
            sides = ["---:" if name in numbers else ":---" for name in texts]
            lines = [list(texts), sides, *texts.to_numpy().tolist()]
            cells = [[text.replace("|", "\\|") for text in line] for line in lines]
            rows = "".join(f"| {' | '.join(line)} |\n" for line in cells)
            atomic_write(file, f"{rows}\n{found.caption}\n")
        case ".tex":
            atomic_write(file, latex_table(found.table, found.caption, "tab:results", bold=found.best))
        case ".xlsx":
            atomic_write(file, workbook(found.table))
        case _:
            raise unknown_ending(file, FORMATS)


def bold(found: Pivot, start: str, end: str, escaped: Callable[[str], str] = str) -> pd.DataFrame:
    """The cells as texts, with marks around the best."""
    texts = found.table.astype(str).map(escaped)
    marked = {name: texts[name].where(~best, start + texts[name] + end) for name, best in found.best.items()}
    return texts.assign(**marked)
