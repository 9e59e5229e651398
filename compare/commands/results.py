"""The commands on results: ``results`` and ``compare``, of two studies or, paired, of methods."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...instances.contract.errors import BadInput
from ...instances.contract.result import Status
from ..studies.plot import MEASURES
from .options import AS_JSON, FILE, WHERE, figure_options, key_values
from .outputs import add_row, show, table

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

    from ..figures.style import FigureOptions
    from ..studies.paired import Paired

_IGNORABLE = ("options", "time_limit", "memory_limit")
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
@WHERE
@click.option("--by", multiple=True, metavar="COLUMN", help="A line a group: counts and means; repeatable.")
@click.option("--common", is_flag=True, help="With --by: means over the instances that all compared groups answered.")
@click.option("--all", "all_runs", is_flag=True, help="Also runs of what was removed since, and of old code.")
@click.option("-o", "--output", type=FILE, help="Write all columns to this file: .csv, .parquet or .tex.")
@click.option("--bold", is_flag=True, help="With -o FILE.tex and --by: the best mean of each column is bold.")
@click.option("--answers", type=FILE, help="Write the answers to this folder, a file a run.")
def results(folder: Path, where: tuple[str, ...], by: tuple[str, ...], output: Path | None, **others: object) -> None:
    """Show the results of the study in FOLDER as a table.

    Columns are those of docs/results.md, among them every workload parameter and every varied option under its name
    in the study file, and the ratio of each value to the best proven bound of its instance.
    """
    from ..studies.results import export, grouped, write_answers
    from ..studies.results import results as results_of

    answers, common, all_runs = others["answers"], bool(others["common"]), bool(others["all_runs"])
    if common and not by:
        raise BadInput("--common: give --by as well, the columns whose groups are compared")
    rows = results_of(folder, key_values(where, "--where"), all_runs=all_runs)
    if isinstance(answers, Path):
        click.echo(f"{answers}: {write_answers(folder, rows, answers)} answers", err=True)
    if by:
        rows = grouped(rows, by, common=common)
    if output is not None:
        export(rows, output, by=by, bold=bool(others["bold"]))
        click.echo(f"{output}: {len(rows)} rows", err=True)
    elif answers is None:
        _show_runs(rows, by, common=common, all_runs=all_runs)


def _show_runs(rows: pd.DataFrame, by: tuple[str, ...], *, common: bool, all_runs: bool) -> None:
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


@click.command("compare")
@click.argument("folder", type=FILE)
@click.argument("others", nargs=-1, metavar="[OTHER | METHOD...]")
@click.option("--versions", nargs=2, metavar="V1 V2", help="Two code versions in FOLDER instead of two folders.")
@click.option("--paired", is_flag=True, help="Compare the METHODs in FOLDER on the instances that all of them have.")
@click.option(
    "--ignore",
    multiple=True,
    type=click.Choice(_IGNORABLE),
    help="Match runs that differ in this; repeatable.",
)
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
    help="Write .csv, .parquet, .tex or, with --paired, .svg, .pdf, .pgf, .png.",
)
@figure_options
@AS_JSON
def compare(folder: Path, others: tuple[str, ...], paired: bool, **given: Any) -> None:
    """Compare the studies in FOLDER and OTHER run by run; or, with --paired, two or more METHODs in FOLDER.

    Runs are matched by what they are (instance, problem, method, options, limits) and not by their seeds.
    docs/results.md explains the numbers.
    """
    if paired:
        _compare_methods(folder, others, **given)
    else:
        _compare_studies(folder, others, **given)


def _compare_studies(folder: Path, others: Sequence[str], **given: Any) -> None:
    from ...instances.contract.files import atomic_write
    from ..figures.style import check_ending
    from ..studies.comparison import compared, most_changed, results_of_version, summary
    from ..studies.latex import latex_table
    from ..studies.results import export
    from ..studies.results import results as results_of

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
        sides = [results_of(Path(name), where) for name in names]
    else:
        raise BadInput("compare needs two folders, or one and `--versions V1 V2`, or `--paired METHOD METHOD`")
    if not any(map(len, sides)):
        raise BadInput("there are no such runs: see `overlaybench results`")
    comparison = compared(*sides, ignore=given["ignore"], noise=given["noise"])
    totals, changed = summary(comparison), most_changed(comparison, given["most"])
    for file in given["output"]:
        check_ending(file, (".csv", ".parquet", ".tex"))
        if file.suffix == ".tex":
            atomic_write(
                file, latex_table(totals, "What changed from A to B, by problem and method.", "tab:comparison")
            )
        else:
            export(comparison.pairs, file)
        click.echo(f"{file}: {len(totals if file.suffix == '.tex' else comparison.pairs)} rows", err=True)
    if given["as_json"]:
        parts = {"summary": _records(totals), "most_changed": _records(changed), "notes": comparison.notes}
        click.echo(json.dumps({"a": names[0], "b": names[1], "worse": comparison.is_worse} | parts, ensure_ascii=False))
    elif not given["output"]:
        click.echo(f"A: {names[0]}, {len(sides[0])} runs\nB: {names[1]}, {len(sides[1])} runs")
        _show_changes(totals, changed, comparison.notes)
    sys.exit(1 if given["check"] and comparison.is_worse else 0)


def _records(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows for JSON: NaN is null."""
    plain = rows.astype(object).where(rows.notna(), None)
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


def _show_changes(totals: pd.DataFrame, changed: pd.DataFrame, notes: Sequence[str]) -> None:
    from rich.text import Text

    totals = totals.astype(object).where(totals.notna(), None)
    columns = [each for each in _COLUMNS if not each[1] or bool(totals[list(each[1])].map(bool).any(axis=None))]
    for problem, rows in totals.groupby("problem", sort=False):
        shown = table(str(problem), "method", *(head for head, _, _ in columns))
        for column in shown.columns[1:]:
            column.justify, column.no_wrap = "right", True
        for row in rows.itertuples():
            name = f"{row.variant}{' (redrawn)' if row.redrawn else ''}"
            add_row(shown, name, *(cell(row) for _, _, cell in columns))
        show(shown)
    if len(changed):
        shown = table("Changed most", "run in A", "method", "status", "value", "bound", "seconds")
        for row in changed.itertuples():
            add_row(
                shown,
                row.key_a[:8],
                f"{row.variant}, {row.problem}",
                _change(row.status_a, row.status_b),
                _change(_number(row.value_a), _number(row.value_b)),
                _change(_number(row.lower_bound_a), _number(row.lower_bound_b)),
                f"{row.seconds_a:.3g} → {row.seconds_b:.3g}",
            )
        show(shown)
    show(Text(_EXPLAINED), *(Text(f"* {note}.") for note in notes))


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


def _compare_methods(folder: Path, methods: Sequence[str], **given: Any) -> None:
    """Compare methods on every problem that all of them answered, or on one; print it, or write it to files."""
    from ..figures.style import ENDINGS, check_ending

    if given["versions"] or given["ignore"]:
        raise BadInput("--versions and --ignore are for two studies: leave them out with --paired")
    if given["figure_options"].formats != ("svg", "pdf"):
        raise BadInput("--formats: here the ending of the file after -o chooses the format")
    for file in given["output"]:
        check_ending(file, (".csv", ".parquet", ".tex", *ENDINGS))
    runs = _judged_runs(folder, key_values(given["where"], "--where"))
    comparisons = _comparisons(runs, [own_name(each) for each in methods], given["problem"], given["measure"])
    for file in given["output"]:
        _write_paired(file, comparisons, runs, given["figure_options"])
        click.echo(str(file), err=True)
    if given["as_json"]:
        click.echo(json.dumps([_json(one) for one in comparisons], ensure_ascii=False))
    elif not given["output"]:
        _show_paired(comparisons)


def own_name(variant: str) -> str:
    """A method as runs name it, with its options, where it is given as ``module:NAME``."""
    name, space, options = variant.partition(" ")
    if ":" not in name:
        return variant
    from ..catalogue import METHODS

    return f"{METHODS.named(name).name}{space}{options}"


def _judged_runs(folder: Path, where: Mapping[str, str]) -> pd.DataFrame:
    """The chosen runs of the study, with the bounds that all its runs prove."""
    from ..report.tables import judged_runs
    from ..studies.results import results as results_of
    from ..studies.store import Store

    store = Store.existing(folder)
    runs = judged_runs(store.rows(store.plan().keys))
    return runs[runs["key"].isin(set(results_of(folder, where)["key"]))] if where else runs


def _comparisons(runs: pd.DataFrame, methods: Sequence[str], problem: str | None, measure: str) -> list[Paired]:
    from ..catalogue import problem_named
    from ..studies.bounds import problem_order
    from ..studies.paired import paired

    if problem is not None:
        return [paired(runs, methods, problem_named(problem).name, measure)]
    found, errors = [], []
    for name in problem_order(runs):
        try:
            found.append(paired(runs, methods, name, measure))
        except BadInput as error:
            errors.append(error)
    if not found:
        raise errors[0] if errors else BadInput("there are no such runs: see `overlaybench results`")
    return found


def _show_paired(comparisons: Sequence[Paired]) -> None:
    from rich.text import Text

    from ..studies.paired import HOW_TO_READ, explained

    for one in comparisons:
        title = f"{one.problem}: {one.measure}, {len(one.values)} instances"
        methods = table(title, "method", "mean", "median", "best on", *(["mean rank"] if one.friedman else []))
        best = one.values.le(one.values.min(axis="columns") + 1e-9, axis="index").sum()
        for name in one.ranks.sort_values(kind="stable").index:
            column = one.values[name]
            cells = [str(name), f"{column.mean():.4g}", f"{column.median():.4g}", str(best[name])]
            add_row(methods, *cells, *([f"{one.ranks[name]:.2f}"] if one.friedman else []))
        several = len(one.table) > 1
        heads = ["first − second", "mean [95% interval]", "median [95% interval]", "w/t/l"]
        pairs = table("", *heads, "p, Holm" if several else "p", if_wide=["p, one pair"] if several else [])
        for pair in one.table.itertuples():
            mean = _estimate(pair.mean, pair.mean_low, pair.mean_high)
            median = _estimate(pair.median, pair.median_low, pair.median_high)
            counts = f"{pair.wins}/{pair.ties}/{pair.losses}"
            name = f"{pair.first} − {pair.second}"
            add_row(pairs, name, mean, median, counts, f"{pair.p_holm:.2g}", f"{pair.p:.2g}")
        show(methods, pairs, Text(f"{explained(one)}\n"))
    show(Text(HOW_TO_READ))


def _estimate(middle: float, low: float, high: float) -> str:
    text = f"{middle:.3g}" + (f" [{low:.3g}, {high:.3g}]" if low == low else "")
    return text.replace("-", "−")


def _write_paired(file: Path, comparisons: Sequence[Paired], runs: pd.DataFrame, options: FigureOptions) -> None:
    import pandas as pd

    from ...instances.contract.files import atomic_write
    from ..figures.paired import paired_chart
    from ..figures.style import ENDINGS, method_styles, save, styled
    from ..studies.results import export

    if file.suffix in ENDINGS:
        with styled(options):
            figure = paired_chart(comparisons, method_styles(runs))
        save(figure, file, options)
    elif file.suffix == ".tex":
        atomic_write(file, "\n".join(map(_latex, comparisons)))
    else:
        tables = [one.table.assign(problem=one.problem, measure=one.measure) for one in comparisons]
        export(pd.concat(tables, ignore_index=True), file)


def _latex(one: Paired) -> str:
    from ..studies.latex import latex_table
    from ..studies.paired import HOW_TO_READ, explained

    pairs = one.table
    shown = pairs[["first", "second"]].assign(
        mean=[_estimate(*row) for row in pairs[["mean", "mean_low", "mean_high"]].itertuples(index=False)],
        median=[_estimate(*row) for row in pairs[["median", "median_low", "median_high"]].itertuples(index=False)],
        **{"win/tie/loss": [f"{w}/{t}/{n}" for w, t, n in pairs[["wins", "ties", "losses"]].itertuples(index=False)]},
        p=[f"{p:.2g}" for p in pairs["p"]],
    )
    if len(pairs) > 1:
        shown["p (Holm)"] = [f"{p:.2g}" for p in pairs["p_holm"]]
    caption = f"Paired differences of the {one.measure} on {one.problem}. {explained(one)} {HOW_TO_READ}"
    return latex_table(shown, caption, f"tab:paired-{one.problem}")


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
        "friedman": None if one.friedman is None else one.friedman._asdict(),
        "critical_difference": None if one.friedman is None else one.critical_difference,
        "not_told_apart": one.cliques,
    }
