"""``overlaybench compare``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...instances.contract.errors import BadInput
from ..studies.plot import MEASURES
from .figure_options import figure_options
from .inputs import AS_JSON, FILE, key_values

if TYPE_CHECKING:
    import pandas as pd

_IGNORABLE = ("options", "time_limit", "memory_limit")


@click.command("compare")
@click.argument("folder", type=FILE)
@click.argument("others", nargs=-1, metavar="[OTHER | METHOD...]")
@click.option("--versions", nargs=2, metavar="V1 V2", help="Two code versions in FOLDER instead of two folders.")
@click.option("--paired", is_flag=True, help="Compare the METHODs in FOLDER on the instances that all of them have.")
@click.option(
    "--ignore", multiple=True, type=click.Choice(_IGNORABLE), help="Match runs that differ in this; repeatable."
)
@click.option("--noise", default=0.1, show_default=True, help="Seconds below which times are not compared.")
@click.option("--most", default=10, show_default=True, help="Show this many of the runs that changed most.")
@click.option("--check", is_flag=True, help="Exit status 1 if a value got worse or a status fell.")
@click.option("--problem", help="With --paired: this problem only.")
@click.option("--y", "measure", type=click.Choice(MEASURES), default="ratio", show_default=True, help="With --paired.")
@click.option("--where", multiple=True, metavar="COLUMN=VALUE", help="Only rows with this value; repeatable.")
@click.option(
    "-o",
    "--output",
    multiple=True,
    type=FILE,
    help="Write .csv, .parquet, .tex or, with --paired, .svg, .pdf, .pgf, .png.",
)
@figure_options
@AS_JSON
def command(folder: Path, others: tuple[str, ...], paired: bool, **given: Any) -> None:
    """Compare the studies in FOLDER and OTHER run by run; or, with --paired, two or more METHODs in FOLDER.

    Runs are matched by what they are (instance, problem, method, options, limits) and not by their seeds.
    docs/comparing.md explains the numbers.
    """
    if paired:
        from .compare_methods import compare_methods

        compare_methods(folder, others, **given)
    else:
        _compare_studies(folder, others, **given)


def _compare_studies(folder: Path, others: Sequence[str], **given: Any) -> None:
    from ..studies.comparison import compared, most_changed, results_of_version, summary
    from ..studies.results import results

    if given["problem"] or given["measure"] != "ratio":
        raise BadInput("--problem and --y are for --paired: use `--where problem=…` here")
    where = key_values(given["where"], "--where")
    if given["versions"]:
        if others:
            raise BadInput(f"--versions compares two code versions in {folder}: leave '{others[0]}' out")
        names = [f"{folder}, code {version}" for version in given["versions"]]
        sides = [results_of_version(folder, version, where) for version in given["versions"]]
    elif len(others) == 1:
        names = [str(folder), others[0]]
        sides = [results(Path(name), where) for name in names]
    else:
        raise BadInput("compare needs two folders, or one and `--versions V1 V2`, or `--paired METHOD METHOD`")
    if not any(map(len, sides)):
        raise BadInput("there are no such runs: see `overlaybench results`")
    comparison = compared(*sides, ignore=given["ignore"], noise=given["noise"])
    table, changed = summary(comparison), most_changed(comparison, given["most"])
    for file in given["output"]:
        _write(file, comparison.pairs, table)
    if given["as_json"]:
        parts = {"summary": _records(table), "most_changed": _records(changed), "notes": comparison.notes}
        click.echo(json.dumps({"a": names[0], "b": names[1], "worse": comparison.is_worse} | parts, ensure_ascii=False))
    elif not given["output"]:
        click.echo(f"A: {names[0]}, {len(sides[0])} runs\nB: {names[1]}, {len(sides[1])} runs")
        _show(table, changed, comparison.notes)
    sys.exit(1 if given["check"] and comparison.is_worse else 0)


def _write(file: Path, pairs: pd.DataFrame, table: pd.DataFrame) -> None:
    from ...instances.contract.files import atomic_write
    from ..studies.latex import latex_table
    from ..studies.results import export

    if file.suffix == ".tex":
        text = latex_table(table, "What changed from A to B, by problem and method.", "tab:comparison")
        atomic_write(file, text)
    elif file.suffix in (".csv", ".parquet"):
        export(pairs, file)
    else:
        raise BadInput(f"{file}: unknown ending '{file.suffix}': use .csv, .parquet or .tex")
    click.echo(f"{file}: {len(table if file.suffix == '.tex' else pairs)} rows", err=True)


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows for JSON: NaN is null."""
    plain = table.astype(object).where(table.notna(), None)
    return [{str(name): entry for name, entry in row.items()} for row in plain.to_dict("records")]


_COLUMNS: Sequence[tuple[str, tuple[str, ...], Callable[[Any], str]]] = (
    ("runs", (), lambda row: f"{row.runs}"),
    ("only A", ("only_a",), lambda row: _count(row.only_a)),
    ("only B", ("only_b",), lambda row: _count(row.only_b)),
    ("better", ("better", "same", "worse"), lambda row: _count(row.better)),
    ("same", ("better", "same", "worse"), lambda row: _count(row.same)),
    ("worse", ("better", "same", "worse"), lambda row: _count(row.worse)),
    ("bound", ("bounds_up", "bounds_down"), lambda row: _both(row.bounds_up, row.bounds_down)),
    ("status", ("status_up", "status_down"), lambda row: _both(row.status_up, row.status_down)),
    ("value B÷A", ("redrawn",), lambda row: "–" if row.value_ratio is None else f"{row.value_ratio:.4g}"),
    ("time B÷A", ("timed",), lambda row: _times(row)),
)
"""Heads, the columns of `summary` of which one must not be zero for the column to be shown, and the cell."""


def _show(table: pd.DataFrame, changed: pd.DataFrame, notes: Sequence[str]) -> None:
    from rich.text import Text

    from . import outputs

    table = table.astype(object).where(table.notna(), None)
    columns = [each for each in _COLUMNS if not each[1] or bool(table[list(each[1])].map(bool).any(axis=None))]
    for problem, rows in table.groupby("problem", sort=False):
        shown = outputs.table(str(problem), "method", *(head for head, _, _ in columns))
        for column in shown.columns[1:]:
            column.justify, column.no_wrap = "right", True
        for row in rows.itertuples():
            name = f"{row.variant}{' (redrawn)' if row.redrawn else ''}"
            outputs.add_row(shown, name, *(cell(row) for _, _, cell in columns))
        outputs.show(shown)
    if len(changed):
        shown = outputs.table("Changed most", "run in A", "method", "status", "value", "bound", "seconds")
        for row in changed.itertuples():
            outputs.add_row(
                shown,
                row.key_a[:8],
                f"{row.variant}, {row.problem}",
                _change(row.status_a, row.status_b),
                _change(_number(row.value_a), _number(row.value_b)),
                _change(_number(row.lower_bound_a), _number(row.lower_bound_b)),
                f"{row.seconds_a:.3g} → {row.seconds_b:.3g}",
            )
        outputs.show(shown)
    outputs.show(Text(_EXPLAINED), *(Text(f"* {note}.") for note in notes))


_EXPLAINED = (
    "Better is a lower value. ↑ ↓ count the proven bounds and the statuses that rose and fell (failed, time-limit, "
    "feasible, optimal). Time is the geometric mean of the ratios of runs above the noise, with its 95% bootstrap "
    "interval."
)


def _count(number: int | None) -> str:
    return "–" if number is None else str(number or "·")


def _both(up: int | None, down: int | None) -> str:
    if up is None or down is None:
        return "–"
    return " ".join(f"{count}{arrow}" for count, arrow in ((up, "↑"), (down, "↓")) if count) or "·"


def _times(row: Any) -> str:
    if not row.timed:
        return "·"
    return f"{row.time_ratio:.2f}" + (f" [{row.time_low:.2f}, {row.time_high:.2f}]" if row.time_low is not None else "")


def _change(before: str, after: str) -> str:
    return before if before == after else f"{before} → {after}"


def _number(number: float) -> str:
    return f"{number:.6g}" if number == number else "none"
