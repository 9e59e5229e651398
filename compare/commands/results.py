"""The commands on results: ``results`` and ``compare``, of two studies or, paired, of methods."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...instances.contract.errors import BadInput, check_ending
from ...instances.contract.result import Status
from ..studies.plot import MEASURES
from .options import AS_JSON, FILE, WHERE, figure_options, key_values, remark, show, table

if TYPE_CHECKING:
    import pandas as pd

    from ..figures.style import FigureOptions
    from ..python_api.studies import PairedTable
    from ..studies.comparison import StudyComparison
    from ..studies.paired import Paired

RENAME = click.option(
    "--rename", multiple=True, metavar="NAME=TEXT", help="What a name is called in a .tex file or a figure of -o."
)
_IGNORABLE = click.Choice(("options", "time_limit", "memory_limit"))
_OF_RUNS = ("problem", "variant", "family", "status", "value", "ratio", "seconds", "key")
_IN_A_PIPE = ("seconds", "family")  # in a terminal where there is room
_RUNS_IF_ROOM = (
    *("instance", "lower_bound", "proven", "bound", "optimum", "code_version", "current"),
    *("primal_integral", "dual_integral"),
)
_MEANS = ("mean_ratio", "mean_value")
_GROUPS_IF_ROOM = (
    *("mean_seconds", "mean_peak_memory", "ratio_instances", "mean_lower_bound", "mean_cpu_seconds"),
    *("mean_primal_integral", "mean_dual_integral", "reached", "max_ratio", "ratio_low", "ratio_high"),
)
_CHANGES_IF_ROOM = (
    *("value_ratio", "time_ratio", "only_a", "only_b", "bounds_up", "bounds_down"),
    *("time_low", "time_high"),
)
_NARROW = 80  # columns of the tables of changes in a pipe


@click.command("results")
@click.argument("folder", type=FILE)
@WHERE
@click.option("--by", multiple=True, metavar="COLUMN", help="A line a group: counts and means; repeatable.")
@click.option("--table", "layout", metavar="ROWS:COLUMN", help="As papers print it: `nodes:method`, `family,nodes:k`.")
@click.option("--cell", type=click.Choice(MEASURES), default="ratio", show_default=True, help="With --table.")
@click.option("--worst", is_flag=True, help="With --table: the worst run beside each mean, not its interval.")
@click.option("--common", is_flag=True, help="With --by: means over the instances that all compared groups answered.")
@click.option("--all", "all_runs", is_flag=True, help="Also runs of what was removed since, and of old code.")
@click.option(
    "-o",
    "--output",
    type=FILE,
    help="Write to this file: .csv, .json, .xlsx, .parquet, .tex; a --table also .md, .html.",
)
@RENAME
@click.option("--answers", type=FILE, help="Write the answers to this folder, a file a run.")
def results(folder: Path, where: tuple[str, ...], by: tuple[str, ...], output: Path | None, **others: Any) -> None:
    """Show the results of the study in FOLDER as a table.

    Columns are those of docs/results.md, among them every workload parameter and every varied option under its name
    in the study file, and the ratio of each value to the best proven bound of its instance.
    """
    from ..python_api.studies import StudyResults
    from ..studies.results import export, grouped, write_answers
    from ..studies.results import results as results_of

    answers, common, all_runs = others["answers"], bool(others["common"]), bool(others["all_runs"])
    if common and not by:
        raise BadInput("--common: give --by as well, the columns whose groups are compared")
    chosen = key_values(where, "--where")
    if by and not (answers or others["layout"]):
        rows = results_of(folder, chosen, all_runs=all_runs, columns=by)
    else:
        rows = StudyResults(folder).results(all_runs=all_runs, **chosen).rows
    if others["layout"] is not None:
        _table(folder, rows, output, by=by, **others)
        return
    runs, rows = rows, grouped(rows, by, common=common) if by else rows
    if "method" in by:
        each = runs.groupby(list(by), dropna=False)["variant"].unique()
        if merged := dict.fromkeys(", ".join(variants) for variants in each if len(variants) > 1):
            remark(f"--by method has one line for {'; '.join(merged)}: --by variant has a line each")
    if isinstance(answers, Path):
        click.echo(f"{answers}: {write_answers(folder, runs, answers)} answers", err=True)
    if output is not None:
        export(rows, output, by=by, names=_names(folder, others["rename"]))
        click.echo(f"{output}: {len(rows)} rows", err=True)
    elif answers is None and not len(rows):
        click.echo("no instance that all groups answered" if common else "no such runs")
    elif answers is None and by:
        _show_groups(rows)
    elif answers is None:
        first = _IN_A_PIPE if sys.stdout.isatty() else ()
        _show(f"{len(rows):,} runs", rows, _OF_RUNS, (*first, *_RUNS_IF_ROOM))
        failed = rows[rows["status"].isin([Status.FAILED, Status.SKIPPED])]
        if len(failed):
            _show("Failed or skipped", failed, ("key", "variant", "reason"))


def _table(folder: Path, rows: pd.DataFrame, output: Path | None, by: Sequence[str], **given: Any) -> None:
    """Write or show the runs with one column across and others down."""
    from rich.text import Text

    from ..studies.pivot import bold, pivot, renamed, write_pivot

    down, colon, across = given["layout"].rpartition(":")
    if not (down and colon and across):
        raise BadInput(f"--table {given['layout']}: write the columns down and the one across as `nodes:method`")
    if by or given["common"] or given["answers"]:
        raise BadInput("--table: give it without --by, --common and --answers")
    found = pivot(rows, down.split(","), across, given["cell"], "worst" if given["worst"] else "interval")
    found = renamed(found, _names(folder, given["rename"]))
    if output is None:
        show(table("", bold(found, "**", "**").to_dict("records")), Text(found.caption))
    else:
        write_pivot(found, output)
        click.echo(f"{output}: {len(found.table)} rows", err=True)


def _names(folder: Path, rename: tuple[str, ...]) -> dict[str, str]:
    from ..studies.plot import report_of
    from ..studies.store import Store

    return {**report_of(Store.existing(folder).plan().spec).names, **key_values(rename, "--rename")}


def _show_groups(rows: pd.DataFrame) -> None:
    some, bounded = rows["instances"] < rows["of_instances"], rows["ratio_instances"] < rows["instances"]
    left_out = {"of_instances", *(name for name in ("failed", "optimal") if not rows[name].any())}
    counts = [f"{few} of {of}" for few, of in rows[["instances", "of_instances"]].to_numpy()]
    names = [name for name in rows if name not in {*left_out, *_MEANS, *_GROUPS_IF_ROOM}]
    shown = rows.assign(instances=counts) if some.any() else rows
    _show("", shown if bounded.any() else shown.drop(columns="ratio_instances"), [*names, *_MEANS], _GROUPS_IF_ROOM)
    if some.any():
        click.echo("Each mean is over the instances that its group answered; see --common.")
    if bounded.any():
        click.echo("Mean ratios are over the instances with a proven bound (ratio instances).")


def _show(title: str, rows: pd.DataFrame, names: Sequence[str], if_room: Sequence[str] = ()) -> None:
    shown = rows[[name for name in dict.fromkeys((*names, *if_room)) if name in rows]]
    show(table(title, shown.to_dict("records"), if_room))


@click.command("compare")
@click.argument("folder", type=FILE)
@click.argument("others", nargs=-1, metavar="[OTHER | METHOD...]")
@click.option("--versions", nargs=2, metavar="V1 V2", help="Two code versions in FOLDER instead of two folders.")
@click.option("--paired", is_flag=True, help="Compare the METHODs in FOLDER on the instances that all of them have.")
@click.option("--ignore", multiple=True, type=_IGNORABLE, help="Match runs that differ in this; repeatable.")
@click.option("--noise", default=0.1, show_default=True, help="Seconds below which times are not compared.")
@click.option("--most", default=10, show_default=True, help="Show this many of the runs that changed most.")
@click.option("--check", is_flag=True, help="Exit status 1 if a value got worse or a status fell.")
@click.option("--problem", help="With --paired: this problem only.")
@click.option("--y", "measure", type=click.Choice(MEASURES), default="ratio", show_default=True, help="With --paired.")
@WHERE
@click.option(
    "-o",
    "--output",
    multiple=True,
    type=FILE,
    help="Write .csv, .json, .xlsx, .parquet, .tex or, with --paired, a .svg, .pdf, .png file a figure.",
)
@RENAME
@figure_options
@AS_JSON
def compare(folder: Path, others: tuple[str, ...], paired: bool, **given: Any) -> None:
    """Compare the studies in FOLDER and OTHER run by run; or, with --paired, two or more METHODs in FOLDER.

    Runs are matched by what they are (instance, problem, method, options, limits) and not by their seeds.
    docs/results.md explains the numbers.
    """
    (_compare_methods if paired else _compare_studies)(folder, others, **given)


def _compare_studies(folder: Path, others: Sequence[str], **given: Any) -> None:
    from ...instances.contract.files import atomic_write
    from ..python_api.studies import compare_studies
    from ..studies.comparison import most_changed, summary
    from ..studies.latex import latex_table
    from ..studies.results import FORMATS, export

    if given["problem"] or given["measure"] != "ratio":
        raise BadInput("--problem and --y are for --paired: use `--where problem=…` here")
    versions = given["versions"] or None
    if len(others) != (0 if versions else 1):
        raise BadInput("compare needs two folders, or one and `--versions V1 V2`, or `--paired METHOD METHOD`")
    sides = (folder, folder) if versions else (folder, Path(others[0]))
    first, second = (
        map("{0[0]}, code {0[1]}".format, zip(sides, versions, strict=True)) if versions else map(str, sides)
    )
    where = key_values(given["where"], "--where")
    comparison = compare_studies(*sides, ignore=given["ignore"], noise=given["noise"], versions=versions, **where)
    totals, changed = summary(comparison), most_changed(comparison, given["most"])
    for file in given["output"]:
        check_ending(file, FORMATS)
        rows = totals if file.suffix == ".tex" else comparison.pairs
        if file.suffix == ".tex":
            caption, names = "What changed from A to B, by problem and method.", key_values(given["rename"], "--rename")
            atomic_write(file, latex_table(totals, caption, "tab:comparison", names=names))
        else:
            export(rows, file)
        click.echo(f"{file}: {len(rows)} rows", err=True)
    if given["as_json"]:
        parts = {"summary": _records(totals), "most_changed": _records(changed), "notes": comparison.notes}
        click.echo(json.dumps({"a": first, "b": second, "worse": comparison.is_worse} | parts, ensure_ascii=False))
    elif not given["output"]:
        click.echo(f"A: {first}\nB: {second}")
        _show_changes(comparison, totals, changed)
    sys.exit(1 if given["check"] and comparison.is_worse else 0)


def _records(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows for JSON: NaN is null."""
    plain = rows.astype(object).where(rows.notna(), None)
    return [{str(name): entry for name, entry in row.items()} for row in plain.to_dict("records")]


_EXPLAINED = (
    "Better is a lower value; a bound or a status is up where it rose (failed, a limit, feasible, optimal). Value "
    "and time are geometric means of B÷A; times are those of runs above the noise, with a 95% bootstrap interval."
)


def _show_changes(comparison: StudyComparison, totals: pd.DataFrame, changed: pd.DataFrame) -> None:
    from rich.text import Text

    redrawn = totals["redrawn"].map({True: " (redrawn)", False: ""})
    shown = totals.assign(variant=totals["variant"] + redrawn).drop(columns=["redrawn", "timed"])
    counts = shown.columns[3:-4]
    shown = shown.drop(columns=[name for name in counts if not shown[name].fillna(0).any()])
    show(table("", _records(shown), _CHANGES_IF_ROOM, pipe=_NARROW))
    if len(changed):
        rows = [
            {
                "run in A": row["key_a"][:8],
                "method": f"{row['variant']}, {row['problem']}",
                **{name: _change(row[f"{name}_a"], row[f"{name}_b"]) for name in ("status", "value", "lower_bound")},
                "seconds": f"{row['seconds_a']:.3g} → {row['seconds_b']:.3g}",
            }
            for row in _records(changed)
        ]
        show(table("Changed most", rows, ("lower_bound", "seconds"), pipe=_NARROW))
    show(Text(_EXPLAINED), *(Text(f"* {note}.") for note in comparison.notes))


def _change(before: object, after: object) -> str:
    first, second = (f"{one:.6g}" if isinstance(one, float) else str(one).lower() for one in (before, after))
    return first if first == second else f"{first} → {second}"


def _compare_methods(folder: Path, methods: Sequence[str], **given: Any) -> None:
    """Compare methods on every problem that all of them answered, or on one; print it, or write it to files."""
    from ..figures.style import ENDINGS
    from ..python_api.studies import paired
    from ..studies.results import FORMATS

    if given["versions"] or given["ignore"]:
        raise BadInput("--versions and --ignore are for two studies: leave them out with --paired")
    if given["figure_options"].formats != ("svg", "pdf"):
        raise BadInput("--formats: here the ending of the file after -o chooses the format")
    for file in given["output"]:
        check_ending(file, (*FORMATS, *ENDINGS))
    where = key_values(given["where"], "--where")
    found = paired(folder, *methods, problem=given["problem"], measure=given["measure"], **where)
    for file in given["output"]:
        for written in _write_paired(file, found, given["figure_options"], key_values(given["rename"], "--rename")):
            click.echo(str(written), err=True)
    if given["as_json"]:
        click.echo(json.dumps([_json(one) for one in found.comparisons], ensure_ascii=False))
    elif not given["output"]:
        _show_paired(found)


def _show_paired(found: PairedTable) -> None:
    from rich.text import Text

    from ..studies.paired import HOW_TO_READ

    for one, note in zip(found.comparisons, found.notes, strict=True):
        best = one.values.le(one.values.min(axis="columns") + 1e-9, axis="index").sum()
        methods = [
            {"method": name, "mean": of.mean(), "median": of.median(), "best on": int(best[name])}
            | ({"mean rank": one.ranks[name]} if one.friedman else {})
            for name, of in one.values[one.ranks.sort_values(kind="stable").index].items()
        ]
        pairs = found.shown[found.rows["problem"] == one.problem].drop(columns="problem")
        title = f"{one.problem}: {one.measure}, {len(one.values)} instances"
        show(table(title, methods), table("", pairs.to_dict("records")), Text(f"{note}\n"))
    show(Text(HOW_TO_READ))


def _write_paired(file: Path, found: PairedTable, options: FigureOptions, names: Mapping[str, str]) -> list[Path]:
    """Write a table, or a figure a part of the comparison; return the files."""
    from ...instances.contract.files import atomic_write
    from ..figures.charts import PARTS
    from ..figures.style import ENDINGS, save, styled
    from ..studies.results import export

    if file.suffix == ".tex":
        atomic_write(file, found.to_latex("tab:paired", names))
    elif file.suffix not in ENDINGS:
        export(found.rows, file)
    else:
        with styled(replace(options, names={**found.names, **names})):
            figures = {file.with_stem(f"{file.stem}-{part}"): found.drawn((part,)) for part in PARTS}
        drawn = {path: figure for path, figure in figures.items() if figure}
        for path, figure in drawn.items():
            save(figure, path, options)
        return list(drawn)
    return [file]


def _json(one: Paired) -> dict[str, Any]:
    return {
        "problem": one.problem,
        "measure": one.measure,
        "instances": len(one.values),
        "left_out": one.left_out,
        "methods": [
            {"method": name, "mean": one.values[name].mean(), "median": one.values[name].median(), "mean_rank": rank}
            for name, rank in one.ranks.items()
        ],
        "pairs": _records(one.table),
        "friedman": one.friedman and one.friedman._asdict(),
        "critical_difference": one.friedman and one.critical_difference,
        "not_told_apart": one.cliques,
    }
