"""``overlaybench results``."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...instances.contract.errors import BadInput
from ...instances.contract.result import Status
from .inputs import FILE, key_values

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

_SHOWN = ("key", "problem", "variant", "family", "status", "value", "ratio", "seconds")
_IF_WIDE = (
    "lower_bound",
    "primal_integral",
    "dual_integral",
    "proven",
    "bound",
    "optimum",
    "code_version",
    "current",
    "reason",
)
_MEANS = ("mean_ratio", "mean_value", "mean_seconds")
_MEANS_IF_WIDE = (
    "mean_lower_bound",
    "mean_primal_integral",
    "mean_dual_integral",
    "mean_cpu_seconds",
    "mean_peak_memory",
)
_LONG, _DIGITS = ("key", "instance"), 8
"""A terminal shows the first digits of these; `rerun` needs no more."""


@click.command("results")
@click.argument("folder", type=FILE)
@click.option("--where", multiple=True, metavar="COLUMN=VALUE", help="Only rows with this value; repeatable.")
@click.option("--by", multiple=True, metavar="COLUMN", help="A line a group: counts and means; repeatable.")
@click.option("--common", is_flag=True, help="With --by: means over the instances that all compared groups answered.")
@click.option("--all", "all_runs", is_flag=True, help="Also runs of what was removed since, and of old code.")
@click.option("-o", "--output", type=FILE, help="Write all columns to this file: .csv, .parquet or .tex.")
@click.option("--bold", is_flag=True, help="With -o FILE.tex and --by: the best mean of each column is bold.")
@click.option("--answers", type=FILE, help="Write the answers to this folder, a file a run.")
def command(folder: Path, where: tuple[str, ...], by: tuple[str, ...], output: Path | None, **others: object) -> None:
    """Show the results of the study in FOLDER as a table.

    Columns are those of docs/results.md, among them every workload parameter and every varied option under its name
    in the study file, and the ratio of each value to the best proven bound of its instance.
    """
    from ..studies.results import export, grouped, results, write_answers

    answers, common, all_runs = others["answers"], bool(others["common"]), bool(others["all_runs"])
    if common and not by:
        raise BadInput("--common: give --by as well, the columns whose groups are compared")
    rows = results(folder, key_values(where, "--where"), all_runs=all_runs)
    if isinstance(answers, Path):
        click.echo(f"{answers}: {write_answers(folder, rows, answers)} answers", err=True)
    if by:
        rows = grouped(rows, by, common=common)
    if output is not None:
        export(rows, output, by=by, bold=bool(others["bold"]))
        click.echo(f"{output}: {len(rows)} rows", err=True)
    elif answers is None:
        _show(rows, by, common=common, all_runs=all_runs)


def _show(rows: pd.DataFrame, by: tuple[str, ...], *, common: bool, all_runs: bool) -> None:
    from .outputs import show

    if not len(rows):
        click.echo("no instance that all groups answered" if common else "no such runs")
    elif by:
        show(_groups(rows))
        if (rows["instances"] < rows["of_instances"]).any():
            click.echo("Each mean is over the instances that its group answered; see --common.")
        if (rows["ratio_instances"] < rows["instances"]).any():
            click.echo("Mean ratios are over the instances with a proven bound (ratio instances).")
    else:
        failed = rows[rows["status"].isin([Status.FAILED, Status.SKIPPED])]
        show(_runs(rows, all_runs=all_runs), *([_failures(failed)] if len(failed) and sys.stdout.isatty() else []))


def _runs(rows: pd.DataFrame, *, all_runs: bool) -> Table:
    versions = [name for name in ("code_version", "current") if all_runs and rows[name].nunique() > 1]
    names = [*_SHOWN[:4], *versions, *_SHOWN[4:]]
    return _table(_counted(rows, "run"), rows, names, [name for name in _IF_WIDE if name not in versions])


def _groups(rows: pd.DataFrame) -> Table:
    answered = [f"{some} of {of}" for some, of in zip(rows["instances"], rows["of_instances"], strict=True)]
    empty = [name for name in ("failed", "optimal") if sys.stdout.isatty() and not rows[name].any()]
    bounded = ["ratio_instances"] if (rows["ratio_instances"] == rows["instances"]).all() else []
    left_out = ("of_instances", *bounded, *empty, *_MEANS, *_MEANS_IF_WIDE)
    names = [name for name in rows.columns if name not in left_out]
    return _table(_counted(rows, "group"), rows.assign(instances=answered), [*names, *_MEANS], _MEANS_IF_WIDE)


def _counted(rows: pd.DataFrame, noun: str) -> str:
    return f"{len(rows):,} {noun}" + ("s" if len(rows) != 1 else "")


def _failures(failed: pd.DataFrame) -> Table:
    return _table("Failed or skipped", failed, ["key", "variant", "reason"])


def _table(title: str, rows: pd.DataFrame, names: Sequence[str], if_wide: Sequence[str] = ()) -> Table:
    """A row a line; on a terminal, a problem or family that all rows have is in the title."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    from .outputs import add_row, table

    if sys.stdout.isatty() and len(rows) > 1:
        same = [name for name in ("problem", "family") if name in names and rows[name].nunique(dropna=False) == 1]
        title = ", ".join([title, *(f"{name} {rows[name].iloc[0]}" for name in same)])
        names = [name for name in names if name not in same]
    shown, between = [*names, *if_wide], "\n" if sys.stdout.isatty() else " "
    heads = [name.replace("_", between) for name in shown]
    made = table(title, *heads[: len(names)], if_wide=heads[len(names) :])
    made.pad_edge, made.collapse_padding = False, True
    for name, column in zip(shown, made.columns, strict=False):
        number = is_numeric_dtype(rows[name]) and not is_bool_dtype(rows[name])
        column.justify, column.no_wrap = ("right" if number else "left"), number or name in (*_LONG, "instances")
    for row in rows[shown].to_dict("records"):
        add_row(made, *(_cell(name, row) for name in shown))
    return made


def _cell(name: str, row: Mapping[Hashable, object]) -> str:
    value = row[name]
    if name in _LONG and sys.stdout.isatty():
        return str(value)[:_DIGITS]
    if value is None or value != value:
        return ""
    if isinstance(value, float) and name.endswith("seconds"):
        return f"{value:.3g}"
    if isinstance(value, float):
        plain = value.is_integer() or abs(value) >= 1e4
        return f"{value:.0f}" if plain and abs(value) < 1e15 else f"{value:.4g}"
    return str(value)
