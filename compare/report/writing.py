"""The report of a study, one self-contained page whose numbers link to the rows behind them; an index of several."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np
import numpy.typing as npt
import pandas as pd
from markupsafe import Markup

from ...instances.contract.catalogue import KINDS, PROBLEMS
from ...instances.contract.errors import BadInput
from ...instances.contract.files import atomic_write, make_folder
from ...instances.contract.numbers import number, ratio, seconds
from ...instances.contract.result import Status
from ...instances.topics.files import TOPICS
from ...instances.topics.instance import TopicInstance
from ..catalogue import named_part
from ..figures.against import default_plots, plot_drawing, plot_table
from ..figures.charts import TOPIC_CHARTS, anytime_chart, overview_chart
from ..figures.draw import overlay_drawing
from ..figures.style import DEFAULT_OPTIONS, Drawing, FigureOptions, styled
from ..printable import printable, printable_rows, template
from ..studies.bounds import disagreements, implications, problem_order, proven
from ..studies.latex import called, csv_text, latex_table
from ..studies.plot import MEASURES, Plot, report_of
from ..studies.progress import Bar
from ..studies.proofs import LEVELS
from ..studies.store import Store
from .cells import Anchors, File, PageTable, carried, linked, listed_runs, run_links, table
from .domains import Section
from .page_data import overlay_data, plot_data, plot_library
from .tables import (
    effort_table,
    failure_table,
    family_ratios,
    family_table,
    judged_runs,
    method_table,
    run_columns,
    summary_table,
)

MOST_SHOWN, _SAMPLED = 20_000, 2_000
"""Runs up to which the page lists and draws every one, and about how many it samples beyond."""

PACKED_FROM = 3000  # runs, from which on the page carries their rows compressed, for its script to show on demand
_NARROW = 2.9  # inches, of the overview on a telephone
_LIVE = 60_000  # characters of a chart's specification, beyond which the page shows the picture alone
_ROWS_IN_LATEX = 40
_IN_PAPERS = (
    *("method", "compared_instances", "mean_ratio", "worst_ratio", "optimum_instances", "mean_over_optimum"),
    *("worst_over_optimum", "proved", "failed", "mean_seconds"),
)
_RUN_IN_PAPERS = ("problem", "variant", "instance", "status", "value", "ratio", "seconds")
_LINKS = ["worst_run", "first_run", "bound_keys", "best_key", "keys"]
_OVER_BOUND = ("mean_ratio", "worst_ratio", "compared_instances")
_OVER_OPTIMUM = ("mean_over_optimum", "worst_over_optimum", "versus_optimum", "optimum_instances")
_OUTCOMES = ("instances", "runs", "answered", "reached", "share", "proved", "failed", "mean_integral", "mean_seconds")
_INPUTS = ("family", "size", "instances", "problems", "runs", "seeds", "seconds")
_EFFORTS = ("method", "problems", "time_limits", "runs", *map(str, Status), "seconds", "longest", "peak_memory")


def report_study(
    folder: Path,
    *,
    all_runs: bool = False,
    plots: Sequence[Plot] = (),
    figure_options: FigureOptions = DEFAULT_OPTIONS,
    into: Path | None = None,
    quiet: bool = True,
) -> Path:
    """Write the report of a study into its folder as :func:`write_report` does, and return the path of the page.

    `all_runs` includes the stored runs that are no longer in the study; `plots` are by default those of its [report]
    table, as far as the runs have points for them; `into` is a folder in place of the study's. Bad input if the study's
    folder holds no results.
    """
    store = Store.existing(folder)
    plan, keys = store.plan(), store.keys()
    rows = store.rows(None if all_runs else keys)
    recipes = dict(zip(rows["instance"], rows["recipe"], strict=True))
    notes, report = list(plan.notes), report_of(plan.spec)

    def load(digest: str) -> Any:
        with suppress(BadInput):  # of a plug-in that is gone, or that makes others by now
            return store.instance(recipes[digest], digest)
        return None

    if missing := len(keys) - int(rows["key"].isin(keys.to_pylist()).sum()):
        notes.append(f"{missing} of {len(keys)} runs are missing: the same study command resumes.")
    with Bar(0, "figures drawn", quiet=quiet) as bar:
        return write_report(
            into or folder,
            rows,
            load,
            title=plan.name,
            spec=plan.spec,
            notes=notes,
            plots=plots or tuple(dict.fromkeys(report.plots)),
            strict=bool(plots),
            names=report.names,
            figure_options=figure_options,
            bar=bar,
        )


def write_report(
    folder: Path,
    rows: pd.DataFrame,
    load_instance: Callable[[str], Any],
    *,
    title: str,
    spec: str,
    notes: Sequence[str] = (),
    plots: Sequence[Plot] = (),
    strict: bool = True,
    names: Mapping[str, str] | None = None,
    figure_options: FigureOptions = DEFAULT_OPTIONS,
    bar: Bar | None = None,
) -> Path:
    """Write report.html, tables/*.csv, tables/*.tex and figures/*.* into a folder, each file atomically.

    `rows` are one a run, with the columns of the store; `load_instance` maps a digest to its instance, for overlays and
    traces that are drawn, or to None; `spec` is the study's file (TOML); `plots` are by default `default_plots`;
    without `strict` a plot that has no points is a note on the page. `names` are what methods and others are called in
    the files of figures and LaTeX, and `figure_options` are those of the files: the figures on the page have the
    default ones. `bar` shows how many figures are drawn. Beyond `MOST_SHOWN` runs the page lists and draws a sample
    (:func:`sampled_runs`), and links to tables/runs.csv; its tables and plots of means are over all runs.

    Returns the page, which loads nothing: figures, tables (as data addresses), scripts and styles are inside. The same
    rows give the same bytes. It has about 1.6 kilobytes a run shown, and a megabyte of scripts. Cost O(R log R) for R
    runs. Bad input if a file cannot be written, a plot is of something that does not vary, or the options of figures
    are not possible here.
    """
    rows, title = printable_rows(rows), printable(title)
    study = StudyPage(rows, names or {})
    figure_options = replace(figure_options, names=names or {})
    plotted, missing = [], []
    for plot in plots or default_plots(study.runs):
        try:
            points = plot_table(study.runs, plot)
        except BadInput as error:
            if strict and plots:
                raise
            missing += [f"No figure {plot.name} yet: {error}."] if plots else []
        else:
            plotted.append((plot, points))
            study.keep(plot.name, points, f"{MEASURES[plot.y].title} against {plot.x}.", x=plot.x)
    sections = (named_part(kind.section) for kind in KINDS.values() if kind.section)
    parts = [study.part(one, load_instance) for one in sections if (study.runs["kind"] == one.kind).any()]
    on_page = replace(DEFAULT_OPTIONS, formats=figure_options.formats)
    apart = figure_options != on_page
    drawn = partial(_drawn, study.shown, parts, load_instance, plotted, bar or Bar(0, "", quiet=True))
    figures = drawn(replace(on_page, formats=()) if apart else on_page)
    if len(study.shown) < len(study.runs):
        notes = [*notes, _SAMPLE_NOTE.format(len(study.shown), len(study.runs))]
    content = study.content([printable(note) for note in (*notes, *missing)])
    html = template("report/report.html").render(
        **content,
        library=plot_library() if len(study.shown) else "",
        plot_data=plot_data(study.shown, [plot for plot, _ in plotted]) if len(study.shown) else None,
        overlay_data=overlay_data(study.shown, load_instance),
        title=title,
        spec=spec,
        narrow=_narrow_overview(study.shown),
        live=_LIVE,
        overview=[one for one in figures[0] if one.name == "overview"],
        figures=[one for one in figures[0] if one.name != "overview"],
        parts=list(zip(parts, figures[1:], strict=True)),
        endings=figure_options.formats,
        packed=len(study.shown) > PACKED_FROM,
    )
    files = {f"tables/{name}.csv": text for name, text in study.csv.items()}
    files |= {f"tables/{name}.tex": text.encode() for name, text in study.tex.items()}
    for drawings in drawn(figure_options) if apart else figures:
        files |= {f"figures/{one.name}.{ending}": data for one in drawings for ending, data in one.files.items()}
    for name in ("tables", "figures"):
        make_folder(folder / name)
    for name, data in {**files, "report.html": html.encode()}.items():
        atomic_write(folder / name, data)
    return folder / "report.html"


def summary_columns(rows: pd.DataFrame) -> list[str]:
    """The columns of `summary_table` that a page shows: those that say something of any problem."""
    told = [level for level in LEVELS if rows[level].any()]
    others = [name for name in ("widest_gap", "open_ended") if rows[name].fillna(0).any()]
    ends = [end + of for end in ("closest", "farthest") for of in ("", "_mean", "_worst")]
    return ["problem", "instances", *ends, "compared_with", "solved", *told, *others, "failed"]


def _drawn(
    runs: pd.DataFrame,
    parts: Sequence[PagePart],
    load_instance: Callable[[str], TopicInstance],
    plotted: Sequence[tuple[Plot, pd.DataFrame]],
    bar: Bar,
    options: FigureOptions,
) -> list[list[Drawing]]:
    """The figures of the page, and those of each part."""
    topics = runs[runs["kind"] == TOPICS.name]
    wanted: list[Callable[[], Drawing | None]] = [partial(plot_drawing, runs, *one) for one in plotted]
    wanted += [partial(chart, topics) for chart in TOPIC_CHARTS if len(topics)]
    wanted += [partial(overlay_drawing, topics, load_instance), partial(anytime_chart, runs)]
    wanted += [partial(overview_chart, runs)]
    drawings, bar.total = [], len(wanted)
    with styled(options):
        for done, make in enumerate(wanted):
            bar.show(done)
            drawings.append(make())
        bar.show(len(wanted))
        of_parts = (part.domain.charts(part.runs, part.series) for part in parts)
        return [[one for one in each if one is not None] for each in (drawings, *of_parts)]


def _narrow_overview(runs: pd.DataFrame) -> str:
    """The picture of the overview for a page 390 pixels wide."""
    with styled(FigureOptions(width=_NARROW, formats=())):
        drawn = overview_chart(runs, "overview-narrow")
        return "" if drawn is None else drawn.svg


_SAMPLE_NOTE = (
    "The page lists and draws a sample: the {:,} runs on some instances, of {:,}. Tables of results, and plots of "
    "means with intervals, are over all runs. Every run is a row of tables/runs.csv."
)


def sampled_runs(runs: pd.DataFrame, named: Iterable[str] = ()) -> npt.NDArray[np.bool_]:
    """Which runs (`judged_runs`) a page shows: beyond `MOST_SHOWN` all those on some instances, about `_SAMPLED` runs.

    The instances are drawn by their digests, which are random; among them are those of the worst run and of a run that
    failed for each reason, of each method on a problem; one of each family and size; and those of the `named` keys.
    """
    if len(runs) <= MOST_SHOWN:
        return np.ones(len(runs), np.bool_)
    worst = runs.sort_values("ratio", ascending=False, kind="stable")
    failed = runs[runs["status"] == Status.FAILED]
    needed = [runs[runs["key"].isin(list(named))], worst.drop_duplicates(["problem", "label"])]
    needed += [
        failed.drop_duplicates(["problem", "label", "reason"]),
        runs.drop_duplicates(["kind", "family", "extent"]),
    ]
    counts = runs["instance"].value_counts().sort_index()
    drawn = counts.index[counts.cumsum() <= _SAMPLED]
    return np.isin(runs["instance"].to_numpy(), [*drawn, *pd.concat(needed)["instance"]])


class StudyPage:
    """The runs of a study and those shown, what is proven of their instances, and the page's tables and identifiers."""

    def __init__(self, rows: pd.DataFrame, names: Mapping[str, str]) -> None:
        self.names, self.pairs = names, proven(rows)
        self.contradictions, self.runs = disagreements(rows, self.pairs), judged_runs(rows, self.pairs)
        named = [key for keys in self.contradictions["keys"][:_SAMPLED] for key in keys]
        sample = sampled_runs(self.runs, named)
        if not sample.all():
            self.runs["anchor"] = [f"run-{n}" if own else "" for n, own in zip(np.cumsum(sample), sample, strict=True)]
        self.shown = self.runs[sample]
        self.anchors = Anchors()
        self.csv: dict[str, bytes] = {}
        self.tex: dict[str, str] = {}
        self._anchor_of: Mapping[str, str] = dict(zip(self.runs["key"], self.runs["anchor"], strict=True))

    def rows_of(self, problem: str, label: str) -> str:
        """The identifier of a method's runs on a problem."""
        return self.anchors.of("rows", problem, label)

    def keep(self, name: str, rows: pd.DataFrame, caption: str = "", columns: Sequence[str] = (), x: str = "x") -> str:
        """Add a table as a CSV file and, if it is short enough for a paper, these columns as LaTeX, x called `x`.

        Returns the name of its files, which is no path: the name of a problem, which may be a plug-in's, is part of it.
        """
        name = re.sub(r"[^\w-]+", "-", name).strip("-")
        self.csv[name] = csv_text(rows).encode()
        if 0 < len(rows) <= _ROWS_IN_LATEX:
            shown = rows[list(columns)] if columns else rows.drop(columns=_LINKS, errors="ignore")
            if "instance" in shown:
                shown = shown.assign(instance=shown["instance"].str[:8])  # as on the page
            names = {"x": x.replace("_", " "), **self.names}
            self.tex[name] = latex_table(shown, called(caption or name, self.names), f"tab:{name}", names=names)
        return name

    def content(self, notes: Sequence[str]) -> dict[str, Any]:
        """The variables of the page's template that are not about figures."""
        runs = self.runs
        self.keep("runs", runs[run_columns(runs)], "The runs of the study.", _RUN_IN_PAPERS)
        several = runs.groupby(["method", "problem"], sort=False)["code_version"].unique()
        updated = [
            f"The runs of {method} on {problem} are of {len(own)} versions of the code: {', '.join(sorted(own))}."
            for (method, problem), own in several[several.map(len) > 1].items()
        ]
        apart = len(self.shown) < len(runs)
        return {
            "notes": [*notes, *updated],
            "facts": self._facts(),
            "versions": sorted(runs["code_version"].unique()),
            "contradictions": list(self._contradictions()),
            "failures": self._failures(),
            "summary": self._summary(),
            "problems": [self._problem(name) for name in problem_order(runs)],
            "inputs": self._inputs(),
            "efforts": self._efforts(),
            "origins": list(self._origins()),
            "run_lists": list(self._run_lists()),
            "implications": [(" × ".join(one.premises), target, one.proof) for target, one in implications()],
            "files": {  # the tables that all of these keep
                name: File(f"{name}.csv", f"tables/{name}.csv") if apart else carried(f"{name}.csv", text)
                for name, text in self.csv.items()
            },
        }

    def _facts(self) -> list[tuple[Markup, str]]:
        """The size of the study: a number that links to what it counts, and its name."""
        runs = self.runs
        counted = (
            (len(runs), "run", "all-runs"),
            (runs["variant"].nunique(), "method", "what-was-run"),
            (runs["instance"].nunique(), "instance", "all-instances"),
            (runs["problem"].nunique(), "problem", "in-short"),
        )
        facts = [(linked(f"{count:,}", to), noun if count == 1 else noun + "s") for count, noun, to in counted]
        return [*facts, (linked(seconds(runs["seconds"].sum()), "what-was-run"), "of solving in total")]

    def _summary(self) -> PageTable:
        """A row a problem: what is proven, and the closest and the farthest heuristic."""
        rows = summary_table(self.runs, self.pairs)
        names = summary_columns(rows)
        kept = self.keep(
            "summary", rows, "Each problem: what is proven, the closest and the farthest heuristic.", names
        )
        instances = [self.anchors.of("instances", name) for name in rows["problem"]]
        of_method = {
            column: [self.rows_of(*pair) if pair[1] else "" for pair in zip(rows["problem"], rows[end], strict=True)]
            for end in ("closest", "farthest")
            for column in (end, f"{end}_mean", f"{end}_worst")
        }
        failed = ["failed" if count else "" for count in rows["failed"]]
        to_problem = [self.anchors.of("problem", name) for name in rows["problem"]]
        links = {**of_method, "problem": to_problem, "failed": failed}
        return table(rows, names, kept, to=instances, links=links, heads={"failed": "failed runs"})

    def _problem(self, name: str) -> dict[str, Any]:
        instances, results = self.anchors.of("instances", name), method_table(self.runs, name)
        return {
            "name": name,
            "summary": PROBLEMS[name].summary if name in PROBLEMS else "",
            "anchor": self.anchors.of("problem", name),
            "methods": self._methods(name, results),
            "families": self._families(name, results),
            "proofs": self._proofs(name),
            "proofs_anchor": instances,
        }

    def _methods(self, problem: str, rows: pd.DataFrame) -> PageTable:
        """The problem's main table: the results of each method. Optima that are the bounds are left out."""
        told_apart = rows["versus_optimum"].any() and (rows["compared"] != rows["versus_optimum"]).any()
        in_papers = [name for name in _IN_PAPERS if told_apart or name not in _OVER_OPTIMUM]
        kept = self.keep(problem, rows, f"{problem}: results of each method.", in_papers)
        reached = rows["reached"].where(rows["versus_optimum"] > 0)
        shown = rows.assign(reached=reached, share=reached / rows["runs"])
        outcomes = _OUTCOMES[int(rows["instances"].equals(rows["compared_instances"])) :]
        names = ("method", *_OVER_BOUND, *(_OVER_OPTIMUM if told_apart else ()), *outcomes)
        to = [self.rows_of(problem, method) for method in rows["method"]]
        links, heads = {"worst_ratio": rows["worst_run"].tolist()}, {"failed": "failed"}
        return table(shown, names, kept, to=to, links=links, heads=heads)

    def _families(self, problem: str, results: pd.DataFrame) -> PageTable | None:
        """The mean ratio by family; None with a single family."""
        means, counts = family_ratios(self.runs, problem)
        if len(means.columns) < 2:
            return None
        caption = f"{problem}: mean ratio to the best bound, by family."
        name = self.keep(f"{problem}-by-family", means.reset_index(), caption)
        shown = pd.DataFrame({"method": means.index, "exact": results["exact"].to_numpy()})
        for family in means:
            shown[family] = [
                linked(f"{ratio(mean)} ({count})", self.rows_of(problem, label)) if count else linked("–")
                for label, mean, count in zip(means.index, means[family], counts[family], strict=True)
            ]
        heads = {"method": "mean ratio to the best bound (instances)", **{str(family): str(family) for family in means}}
        return table(shown, ["method", *means.columns], name, heads=heads)

    def _proofs(self, problem: str) -> PageTable:
        """The bounds and optima of each instance of a problem."""
        pairs = self.pairs[self.pairs["problem"] == problem]
        sizes = KINDS[pairs["kind"].iloc[0]].sizes
        measured = ("runs", "bound", "best", "gap", "optimum")
        caption = f"{problem}: the best bound and the best value of each instance."
        kept = self.keep(f"{problem}-instances", pairs, caption, ("instance", "family", *sizes, *measured))
        pairs = pairs[pairs["instance"].isin(self.shown["instance"])]
        runs_of = [[self._anchor_of[key] for key in keys] for keys in pairs["bound_keys"]]
        proofs = [
            listed_runs(own) + (f": {proof}" if proof else "" if own else "–")
            for own, proof in zip(runs_of, pairs["bound_proof"], strict=True)
        ]
        optimum = pairs["proven"].where(np.isfinite(pairs["optimum"]), "open")
        shown = pairs.assign(digest=pairs["instance"].str[:8], optimum=optimum, proof=proofs)
        inputs = [self.anchors.of("input", digest) for digest in pairs["instance"]]
        links = {
            **dict.fromkeys(("digest", "runs"), inputs),
            "bound": [own[0] if own else "" for own in runs_of],
            "best": [self._anchor_of[key] if key else "" for key in pairs["best_key"]],
        }
        anchors = [self.anchors.of("instance", problem, digest) for digest in pairs["instance"]]
        names = ("digest", "family", *sizes, *measured, "proof")
        return table(shown, names, kept, links=links, anchors=anchors)

    def _inputs(self) -> PageTable:
        """The instances of the study by family and size."""
        rows = family_table(self.runs)
        parts = zip(rows["kind"], rows["family"], rows["extent"].map(str), strict=True)
        to, links = [self.anchors.of("inputs", *each) for each in parts], {"family": [""] * len(rows)}
        kept = self.keep("inputs", rows, "The instances of the study.")
        return table(rows, _INPUTS, kept, to=to, links=links, heads={"seconds": "total time"})

    def _efforts(self) -> PageTable:
        """The methods with their limits and the outcomes of their runs."""
        rows = effort_table(self.runs)
        to = [self.anchors.of("method", method) for method in rows["method"]]
        kept = self.keep("methods", rows, "The runs of each method.")
        return table(rows, _EFFORTS, kept, to=to, heads={"seconds": "total time"})

    def _failures(self) -> PageTable | None:
        """Failed runs by problem, method and reason, with links; None without any."""
        rows, failed = failure_table(self.runs), self.runs[self.runs["status"] == Status.FAILED]
        if rows.empty:
            return None
        anchors = failed.groupby(["problem", "label", "reason"], sort=False)["anchor"].agg(list)
        shown = rows.assign(run=[listed_runs([one for one in each if one]) for each in anchors])
        kept = self.keep("failures", rows, "The runs that failed.")
        return table(shown, ("problem", "method", "runs", "reason", "run"), kept)

    def _contradictions(self) -> Iterator[dict[str, Any]]:
        """Contradictions between results, with links to their runs."""
        if len(self.contradictions):
            self.keep("contradictions", self.contradictions, "Runs that contradict each other.")
        for found in self.contradictions.itertuples(index=False):
            yield {
                "problem": found.problem,
                "instance": linked(found.instance[:8], self.anchors.of("instance", found.problem, found.instance)),
                "sentence": found.sentence,
                "runs": run_links(filter(None, (self._anchor_of[key] for key in found.keys))),
            }

    def _origins(self) -> Iterator[dict[str, Any]]:
        """The instances by family and size, each with its recipe and its runs."""
        names = self.shown.groupby("instance")["anchor"].agg(list).map(listed_runs)
        for (kind, family, extent), group in self.shown.groupby(["kind", "family", "extent"]):
            first, *others = KINDS[kind].sizes
            made = group.drop_duplicates("instance").drop(columns="exact")
            rows = made.assign(runs_listed=made["instance"].map(names))
            anchors = [self.anchors.of("input", digest) for digest in made["instance"]]
            yield {
                "title": f"{family}, {extent:,.0f} {first}",
                "anchor": self.anchors.of("inputs", kind, family, str(extent)),
                "table": table(rows, ("instance", *others, "recipe", "runs_listed"), anchors=anchors),
            }

    def _run_lists(self) -> Iterator[dict[str, Any]]:
        """All runs by variant, problem and label."""
        by_variant = self.shown.groupby("variant")
        for variant, of_variant in sorted(by_variant, key=lambda each: (each[1]["exact"].min(), each[0])):
            lists = []
            for (problem, label), group in of_variant.groupby(["problem", "label"], sort=False):
                title = f"{problem}: {len(group):,} {'run' if len(group) == 1 else 'runs'} of {label}"
                shown = {"anchor": self.rows_of(problem, label), "title": title}
                lists.append({**shown, "table": self._run_table(group)})
            yield {"variant": variant, "anchor": self.anchors.of("method", variant), "lists": lists}

    def _run_table(self, group: pd.DataFrame) -> PageTable:
        names = (
            *("number", "digest", "family", *KINDS[group["kind"].iloc[0]].sizes[:2], "seed", "limit", "status"),
            *("value", "lower_bound", "proven", "gap", "bound", "ratio", "seconds", "key"),
            *(["reason"] if group["reason"].any() else []),
        )
        limits = [number(limit, "g") + (" s" if np.isfinite(limit) else "") for limit in group["time_limit"]]
        rows = group.drop(columns="exact").assign(
            number=group["anchor"].str.removeprefix("run-"), digest=group["instance"].str[:8], limit=limits
        )
        proofs = [self.anchors.of("instance", *of) for of in zip(group["problem"], group["instance"], strict=True)]
        return table(rows, names, links=dict.fromkeys(("digest", "bound"), proofs), anchors=group["anchor"].tolist())

    def part(self, domain: Section, load: Callable[[str], Any]) -> PagePart:
        """The section about a domain; `load` maps a digest to its instance."""
        runs = domain.runs(self.runs[self.runs["kind"] == domain.kind])
        built = [(name, title, sentence, build(runs)) for name, title, sentence, build in domain.tables]
        tables = [
            (title, sentence, table(rows, rows.columns, self.keep(f"{domain.kind}-{name}", rows, f"{title}.")))
            for name, title, sentence, rows in built
            if len(rows)
        ]
        if len(self.shown) < len(self.runs):
            runs = domain.runs(self.shown[self.shown["kind"] == domain.kind])
        series = domain.series(runs, load)
        if len(series):
            self.keep(f"{domain.kind}-over-time", series)
        return PagePart(domain, runs, tables, series)


class PagePart(NamedTuple):
    """The section of the page about one kind of instances: its runs, tables with titles and sentences, and series."""

    domain: Section
    runs: pd.DataFrame
    tables: list[tuple[str, str, PageTable]]
    series: pd.DataFrame


_TOTALS = ("study", "problems", "methods", "instances", "runs", "failed", "seconds")


def write_index(pages: Mapping[Path, str]) -> Path:
    """Write ``reports.html`` into the folder that the folders of all pages have in common, and return its path.

    `pages` are those of :func:`.report_study` with the names of their studies; the numbers are those of the tables
    beside them. The page links the reports by relative addresses and loads nothing. Bad input if it cannot be written.
    """
    into = Path(os.path.commonpath([page.parent.absolute() for page in pages]))
    totals, summaries = [], []
    for page, name in pages.items():
        methods, inputs, summary = (_kept_table(page, of) for of in ("methods", "inputs", "summary"))
        address = quote(Path(os.path.relpath(page.absolute(), into)).as_posix())
        study = {"study": linked(printable(name), page=address)}
        counts = {"problems": len(summary), "methods": len(methods), "instances": int(inputs["instances"].sum())}
        totals.append({**study, **counts, **methods[["runs", "failed", "seconds"]].sum().to_dict()})
        summaries.append(summary.assign(**study))
    studies, problems = pd.DataFrame(totals), pd.concat(summaries, ignore_index=True)
    heads = {"failed": "failed runs", "seconds": "total time"}
    html = template("report/index.html").render(
        title="Reports of studies",
        studies=table(studies, _TOTALS, heads=heads),
        problems=table(problems, ("study", *summary_columns(problems)), heads=heads),
    )
    atomic_write(into / "reports.html", html)
    return into / "reports.html"


def _kept_table(page: Path, name: str) -> pd.DataFrame:
    rows = pd.read_csv(page.parent / "tables" / f"{name}.csv")
    return rows.fillna(dict.fromkeys(rows.select_dtypes("object"), ""))
