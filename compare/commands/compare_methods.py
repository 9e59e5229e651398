"""``overlaybench compare FOLDER --paired METHOD METHOD``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...instances.contract.errors import BadInput
from .inputs import key_values

if TYPE_CHECKING:
    import pandas as pd

    from ..figures.style import FigureOptions
    from ..studies.paired import Paired

_FIGURES = (".svg", ".pdf", ".pgf", ".png")


def compare_methods(folder: Path, methods: Sequence[str], **given: Any) -> None:
    """Compare methods on every problem that all of them answered, or on one; print it, or write it to files."""
    if given["versions"] or given["ignore"]:
        raise BadInput("--versions and --ignore are for two studies: leave them out with --paired")
    if given["figure_options"].formats != ("svg", "pdf"):
        raise BadInput("--formats: here the ending of the file after -o chooses the format")
    for file in given["output"]:
        if file.suffix not in (*_FIGURES, ".csv", ".parquet", ".tex"):
            raise BadInput(
                f"{file}: unknown ending '{file.suffix}': use .csv, .parquet, .tex, .svg, .pdf, .pgf or .png"
            )
    runs = _runs(folder, key_values(given["where"], "--where"))
    comparisons = _comparisons(runs, [own_name(each) for each in methods], given["problem"], given["measure"])
    for file in given["output"]:
        _write(file, comparisons, runs, given["figure_options"])
        click.echo(str(file), err=True)
    if given["as_json"]:
        click.echo(json.dumps([_json(one) for one in comparisons], ensure_ascii=False))
    elif not given["output"]:
        _show(comparisons)


def own_name(variant: str) -> str:
    """A method as runs name it, with its options, where it is given as ``module:NAME``."""
    name, space, options = variant.partition(" ")
    if ":" not in name:
        return variant
    from ..catalogue import METHODS

    return f"{METHODS.named(name).name}{space}{options}"


def _runs(folder: Path, where: Mapping[str, str]) -> pd.DataFrame:
    """The chosen runs of the study, with the bounds that all its runs prove."""
    from ..report.tables import judged_runs
    from ..studies.results import results
    from ..studies.store import Store

    store = Store.existing(folder)
    runs = judged_runs(store.rows(store.plan().keys))
    return runs[runs["key"].isin(set(results(folder, where)["key"]))] if where else runs


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


def _show(comparisons: Sequence[Paired]) -> None:
    from rich.text import Text

    from ..studies.paired import HOW_TO_READ, explained
    from .outputs import add_row, show, table

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


def _write(file: Path, comparisons: Sequence[Paired], runs: pd.DataFrame, options: FigureOptions) -> None:
    import pandas as pd

    from ...instances.contract.files import atomic_write
    from ..studies.results import export

    if file.suffix in _FIGURES:
        _draw(file, comparisons, runs, options)
    elif file.suffix == ".tex":
        text = "\n".join(_latex(one) for one in comparisons)
        atomic_write(file, text)
    else:
        tables = [one.table.assign(problem=one.problem, measure=one.measure) for one in comparisons]
        export(pd.concat(tables, ignore_index=True), file)


def _draw(file: Path, comparisons: Sequence[Paired], runs: pd.DataFrame, options: FigureOptions) -> None:
    from ..figures.draw_options import DrawOptions
    from ..figures.paired import paired_figure
    from ..figures.saving import save
    from ..figures.style import method_styles, styled

    with styled(options):
        figure = paired_figure(comparisons, method_styles(runs), options.width)
    save(figure, file, options=DrawOptions(figure=options))


def _latex(one: Paired) -> str:
    from ..studies.latex import latex_table
    from ..studies.paired import HOW_TO_READ, explained

    table = one.table
    shown = table[["first", "second"]].assign(
        mean=[_estimate(*row) for row in table[["mean", "mean_low", "mean_high"]].itertuples(index=False)],
        median=[_estimate(*row) for row in table[["median", "median_low", "median_high"]].itertuples(index=False)],
        **{"win/tie/loss": [f"{w}/{t}/{n}" for w, t, n in table[["wins", "ties", "losses"]].itertuples(index=False)]},
        p=[f"{p:.2g}" for p in table["p"]],
    )
    if len(table) > 1:
        shown["p (Holm)"] = [f"{p:.2g}" for p in table["p_holm"]]
    caption = f"Paired differences of the {one.measure} on {one.problem}. {explained(one)} {HOW_TO_READ}"
    return latex_table(shown, caption, f"tab:paired-{one.problem}")


def _json(one: Paired) -> dict[str, Any]:
    pairs = one.table.astype(object).where(one.table.notna(), None)
    return {
        "problem": one.problem,
        "measure": one.measure,
        "instances": len(one.values),
        "left_out": one.left_out,
        "methods": [
            {"method": name, "mean": one.values[name].mean(), "median": one.values[name].median(), "mean_rank": rank}
            for name, rank in one.ranks.items()
        ],
        "pairs": pairs.to_dict("records"),
        "friedman": None if one.friedman is None else one.friedman._asdict(),
        "critical_difference": None if one.friedman is None else one.critical_difference,
        "not_told_apart": one.cliques,
    }
