"""Writing the report of a study: one self-contained page, and its tables and figures as files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from ...instances.brokers.files import BROKERS
from ...instances.content.files import CONTENT
from ...instances.contract.catalogue import PROBLEMS
from ...instances.contract.files import atomic_write
from ...instances.topics.files import TOPICS
from ...instances.topics.instance import TopicInstance
from ..catalogue import own_part
from ..figures.against import default_plots, plot_drawing, plot_table
from ..figures.charts import anytime_chart, topic_charts
from ..figures.draw import embedded_json
from ..figures.overlay import overlay_drawing
from ..figures.style import DEFAULT_OPTIONS, Drawing, FigureOptions, styled
from ..printable import printable, printable_rows
from ..studies.bounds import IMPLICATIONS, disagreements, proven
from ..studies.plot import Plot, plots_of
from ..studies.store import Store
from . import cells, page
from .broker_tables import broker_part
from .content_tables import content_part
from .page_data import interactive
from .tables import run_columns

_PARTS = ((CONTENT, content_part), (BROKERS, broker_part))
_LIVE = 60_000  # characters of a chart's specification, beyond which the page shows the picture alone


def report_study(
    folder: Path,
    *,
    all_runs: bool = False,
    plots: Sequence[Plot] = (),
    figure_options: FigureOptions = DEFAULT_OPTIONS,
) -> Path:
    """Write the report of a study into its folder, and return the path of the page.

    Parameters
    ----------
    all_runs : bool
        Also the stored runs that are no longer in the study.
    plots : sequence of Plot
        By default those of the study's [report] table.
    figure_options : FigureOptions
        Of the files of figures.

    Raises
    ------
    BadInput
        If the folder holds no results, and as :func:`write_report`.
    """
    store = Store.existing(folder)
    plan = store.plan()
    rows = store.rows(None if all_runs else plan.keys)
    notes = list(plan.notes)
    if missing := len(set(plan.keys) - set(rows["key"])):
        notes.append(f"{missing} of {len(plan.keys)} runs are missing: the same study command resumes.")
    return write_report(
        folder,
        rows,
        partial(store.instance, kind=TOPICS),
        title=plan.name,
        spec=plan.spec,
        notes=notes,
        plots=plots or plots_of(plan.spec),
        figure_options=figure_options,
    )


def write_report(
    folder: Path,
    rows: pd.DataFrame,
    load_instance: Callable[[str], TopicInstance],
    *,
    title: str,
    spec: str,
    notes: Sequence[str] = (),
    plots: Sequence[Plot] = (),
    figure_options: FigureOptions = DEFAULT_OPTIONS,
) -> Path:
    """Write report.html, tables/*.csv, tables/*.tex and figures/*.* into a folder, each file atomically.

    Parameters
    ----------
    folder : Path
        Created if it is missing.
    rows : DataFrame
        One row a run, with the columns of the store.
    load_instance : callable
        Maps a digest to its instance; called for the overlays that are drawn.
    title, spec : str
        The study's name and its file's text (TOML).
    notes : sequence of str
        Sentences at the top of the page.
    plots : sequence of Plot
        Measures against what was varied; by default the ratio, if one parameter varies (`default_plots`).
    figure_options : FigureOptions
        Of the files; the figures on the page have the default ones.

    Returns
    -------
    Path
        The page, which loads nothing: figures, tables (as data addresses), scripts and styles are inside. The same rows
        give the same bytes.

    Raises
    ------
    BadInput
        If a file cannot be written, an instance to draw cannot be read, a plot is of something that does not vary, or
        the options of figures are not possible here.

    Notes
    -----
    Cost O(R log R) for R runs. The page has about 1.6 kilobytes a run, and a megabyte of scripts. A plot of more than
    3,000 runs is drawn on a canvas instead of as SVG.
    """
    rows, title, notes = printable_rows(rows), printable(title), [printable(note) for note in notes]
    pairs = proven(rows)
    study = page.StudyPage(rows, pairs, disagreements(rows, pairs))
    plots = plots or default_plots(study.runs)
    plotted = [(plot, plot_table(study.runs, plot)) for plot in plots]
    for plot, table in plotted:
        study.keep(plot.name, table)
    drawings, parts = _drawn(study, load_instance, plotted, DEFAULT_OPTIONS)
    content = _content(study, title, spec, notes)
    shown = {"figures": _on_page(drawings), "parts": [(part, _on_page(part.drawings)) for part in parts]}
    scripted = interactive(study.runs, load_instance, plots)
    html = _template().render(**content, **shown, **scripted, endings=figure_options.formats)
    if figure_options != DEFAULT_OPTIONS:
        drawings, parts = _drawn(study, load_instance, plotted, figure_options)
    files = {f"tables/{name}.csv": text for name, text in study.csv.items()}
    files |= {f"tables/{name}.tex": text.encode() for name, text in study.tex.items()}
    for one in [*drawings, *(one for part in parts for one in part.drawings)]:
        files |= {f"figures/{one.name}.{ending}": data for ending, data in one.files.items()}
    for name in ("tables", "figures"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name, data in {**files, "report.html": html.encode()}.items():
        atomic_write(folder / name, data)
    return folder / "report.html"


def _drawn(
    study: page.StudyPage,
    load_instance: Callable[[str], TopicInstance],
    plotted: Sequence[tuple[Plot, pd.DataFrame]],
    options: FigureOptions,
) -> tuple[list[Drawing], list[page.Part]]:
    """The figures of the page, and the parts with theirs."""
    topics = study.runs[study.runs["kind"] == TOPICS.name]
    with styled(options):
        drawings = [plot_drawing(study.runs, plot, table) for plot, table in plotted]
        drawings += topic_charts(topics) if len(topics) else []
        others = (overlay_drawing(topics, load_instance), anytime_chart(study.runs))
        drawings += [one for one in others if one is not None]
        built = [part(study.runs[study.runs["kind"] == kind.name], study.keep) for kind, part in _PARTS]
        return drawings, [one for one in built if one is not None]


def _on_page(drawings: Sequence[Drawing]) -> list[tuple[Drawing, Markup, Markup]]:
    """Each figure with its picture, and its specification as JSON where the page shows it with tooltips, or ""."""
    specs = ["" if one.chart is None else embedded_json(one.chart) for one in drawings]
    shown = (Markup(spec if len(spec) < _LIVE else "") for spec in specs)
    return [(one, Markup(one.svg), spec) for one, spec in zip(drawings, shown, strict=True)]


def _content(study: page.StudyPage, title: str, spec: str, notes: Sequence[str]) -> dict[str, Any]:
    runs = study.runs
    study.keep("runs", runs[run_columns(runs)])
    versions = sorted(runs["code_version"].map(own_part).unique())
    if len(versions) > 1:
        notes = [*notes, f"The runs come from {len(versions)} versions of the code: {', '.join(versions)}."]
    content = {
        "title": title,
        "spec": spec,
        "notes": notes,
        "facts": _facts(study),
        "versions": versions,
        "contradictions": page.contradictions(study),
        "failures": page.failures(study),
        "problems": [
            {
                "name": name,
                "summary": PROBLEMS[name].summary if name in PROBLEMS else "",
                "anchor": study.anchors.of("problem", name),
                "verdict": page.sentences(study, name),
                "methods": page.methods(study, name),
                "families": page.families(study, name),
                "proofs": page.proofs(study, name),
                "proofs_anchor": study.anchors.of("instances", name),
            }
            for name in study.problems
        ],
        "inputs": page.inputs(study),
        "efforts": page.efforts(study),
        "origins": page.origins(study),
        "run_lists": page.run_lists(study),
        "implications": [
            (" × ".join(implication.premises), implication.target, implication.proof) for implication in IMPLICATIONS
        ],
    }
    return {**content, "files": {name: cells.carried(f"{name}.csv", text) for name, text in study.csv.items()}}


def _facts(study: page.StudyPage) -> list[tuple[str, str, str]]:
    """The size of the study: (number, what it counts, the identifier it links to)."""
    runs = study.runs
    counted = (
        (len(runs), "run", "all-runs"),
        (runs["variant"].nunique(), "method", "what-was-run"),
        (runs["instance"].nunique(), "instance", "all-instances"),
        (runs["problem"].nunique(), "problem", "in-short"),
    )
    facts = [(f"{count:,}", noun if count == 1 else noun + "s", to) for count, noun, to in counted]
    return [*facts, (cells.seconds(runs["seconds"].sum()), "of solving in total", "what-was-run")]


def _template() -> Any:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html")
