"""The content of the report's page: tables whose numbers link to the rows behind them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from ...instances.contract.catalogue import KINDS
from ...instances.contract.result import Status
from ..figures.style import Drawing
from ..studies.bounds import problem_order
from ..studies.latex import csv_text, latex_table
from .cells import Anchors, Cell, Column, Table, count, links, memory, number, percentage, ratio, seconds, table
from .summary import INSTANCES, Phrase, summary
from .tables import (
    effort_table,
    failure_table,
    family_counts,
    family_ratios,
    family_table,
    judged_runs,
    method_table,
)

_ROWS_IN_LATEX = 100
_IN_PAPERS = (
    *("method", "compared_instances", "mean_ratio", "worst_ratio", "optimum_instances", "mean_over_optimum"),
    *("worst_over_optimum", "proved", "failed", "mean_seconds"),
)
_LINKS = ["worst_run", "first_run", "bound_keys", "best_key", "keys"]
_BOUND, _OPTIMUM = "ratio to the best bound", "ratio where the optimum is proven"
_METHODS = (
    Column("method"),
    *(Column(name, write=count) for name in ("instances", "runs", "answered")),
    Column("compared_instances", "instances", count, _BOUND),
    Column("mean_ratio", "mean", ratio, _BOUND),
    Column("worst_ratio", "worst", ratio, _BOUND),
    Column("optimum_instances", "instances", count, _OPTIMUM),
    Column("versus_optimum", "runs", count, _OPTIMUM),
    Column("reached", write=count, group=_OPTIMUM),
    Column("mean_over_optimum", "mean", ratio, _OPTIMUM),
    Column("worst_over_optimum", "worst", ratio, _OPTIMUM),
    Column("proved", "proved optimal", count),
    Column("failed", write=count),
    Column("mean_integral", "primal integral", percentage),
    Column("mean_seconds", "mean time", seconds),
)
_INPUTS = (
    *(Column("family"), Column("size"), Column("instances", write=count), Column("problems", write=count)),
    *(
        Column("runs", write=count),
        Column("seeds", "seeds of the runs", format),
        Column("seconds", "total time", seconds),
    ),
)
_EFFORTS = (
    *(Column("method"), Column("problems", write=count), Column("time_limits", "time limit", format)),
    Column("runs", write=count),
    *(Column(str(status), write=count, group="runs that ended as") for status in Status),
    *(Column("seconds", "total time", seconds), Column("longest", "longest run", seconds)),
    Column("peak_memory", write=memory),
)
_FAILURES = (
    *(Column("problem"), Column("method"), Column("runs", write=count), Column("reason", look="wide")),
    Column("run", look="wide"),
)


@dataclass(frozen=True)
class Part:
    """The section of the page about one kind of instances: tables, each with title and sentence, and figures."""

    kind: str
    title: str
    tables: Sequence[tuple[str, str, Table]]
    drawings: Sequence[Drawing]


@dataclass
class StudyPage:
    """The runs of a study, what is proven of their instances, and the identifiers of the page."""

    rows: pd.DataFrame
    pairs: pd.DataFrame
    contradictions: pd.DataFrame
    runs: pd.DataFrame = field(init=False)
    problems: list[str] = field(init=False)
    anchors: Anchors = field(default_factory=Anchors)
    csv: dict[str, bytes] = field(default_factory=dict)
    tex: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.runs = judged_runs(self.rows, self.pairs)
        self.problems = problem_order(self.runs)
        self._anchor_of: dict[str, str] = dict(zip(self.runs["key"], self.runs["anchor"], strict=True))

    def run(self, key: str) -> str:
        """The identifier of the run with this key."""
        return self._anchor_of[key]

    def rows_of(self, problem: str, label: str) -> str:
        """The identifier of a method's runs on a problem."""
        return self.anchors.of("rows", problem, label)

    def keep(self, name: str, rows: pd.DataFrame, caption: str = "", columns: Sequence[str] = ()) -> str:
        """Add a table as a CSV file and, if it is short enough for a paper, these columns as LaTeX.

        Returns the name of its files, which is no path: the name of a problem, which may be a plug-in's, is part of it.
        """
        name = re.sub(r"[^\w-]+", "-", name).strip("-")
        self.csv[name] = csv_text(rows).encode()
        if 0 < len(rows) <= _ROWS_IN_LATEX:
            shown = rows[list(columns)] if columns else rows.drop(columns=_LINKS, errors="ignore")
            self.tex[name] = latex_table(shown, caption or name, f"tab:{name}")
        return name


def sentences(study: StudyPage, problem: str) -> list[tuple[str, str]]:
    """The summary of a problem as (text, identifier it links to)."""

    def target(phrase: Phrase) -> str:
        if phrase.rows == INSTANCES:
            return study.anchors.of("instances", problem)
        return study.rows_of(problem, phrase.rows) if phrase.rows else ""

    return [(phrase.text, target(phrase)) for phrase in summary(study.runs, study.pairs, problem)]


def methods(study: StudyPage, problem: str) -> Table:
    """The problem's main table: the results of each method."""
    rows = method_table(study.runs, problem)

    def link(line: Any, column: str) -> str | tuple[str, str]:
        if column == "worst_ratio":
            return line["worst_run"], "the run with the worst ratio"
        return study.rows_of(problem, line["method"])

    kept = study.keep(problem, rows, f"{problem}: results of each method.", _IN_PAPERS)
    return table(rows.assign(reached=rows["reached"].where(rows["versus_optimum"] > 0)), _METHODS, kept, link=link)


def families(study: StudyPage, problem: str) -> Table | None:
    """The mean ratio by family; None with a single family."""
    means = family_ratios(study.runs, problem)
    if len(means.columns) < 2:
        return None
    counts = family_counts(study.runs, problem)
    caption = f"{problem}: mean ratio to the best bound, by family."
    name = study.keep(f"{problem}-by-family", means.rename_axis("method").reset_index(), caption)
    shown = means.astype(object)
    for label, family in ((label, family) for label in means.index for family in means):
        instances = counts.get((label, family), 0)
        shown.at[label, family] = f"{ratio(means.at[label, family])} ({instances})" if instances else "–"
    head = Column("method", "mean ratio to the best bound (instances)")
    columns = [head, *(Column(str(family), str(family), format) for family in means)]
    shown = shown.rename_axis("method").reset_index().assign(exact=method_table(study.runs, problem)["exact"])

    def link(line: Any, column: str) -> str:
        return study.rows_of(problem, line["method"]) if column != "method" else ""

    return table(shown, columns, name, link=link)


def inputs(study: StudyPage) -> Table:
    """The instances of the study by family and size."""
    rows = family_table(study.runs)

    def link(line: Any, column: str) -> str:
        named = study.anchors.of("inputs", line["kind"], line["family"], str(line["extent"]))
        return named if column != "family" else ""

    return table(rows, _INPUTS, study.keep("inputs", rows), link=link)


def efforts(study: StudyPage) -> Table:
    """The methods with their limits and the outcomes of their runs."""
    rows = effort_table(study.runs)
    kept = study.keep("methods", rows)
    return table(rows, _EFFORTS, kept, link=lambda line, column: study.anchors.of("method", line["method"]))


def failures(study: StudyPage) -> Table | None:
    """Failed runs by problem, method and reason, with links; None without any."""
    failed = study.runs[study.runs["status"] == Status.FAILED]
    if failed.empty:
        return None
    rows = failure_table(study.runs)
    kept = study.keep("failures", rows)
    anchors = failed.groupby(["problem", "label", "reason"], sort=False)["anchor"].agg(list)
    return table(rows.assign(run=[Cell("", runs=links(each)) for each in anchors]), _FAILURES, kept)


def contradictions(study: StudyPage) -> list[dict[str, Any]]:
    """Contradictions between results, with links to their runs."""
    if study.contradictions.empty:
        return []
    study.keep("contradictions", study.contradictions)
    return [
        {
            "problem": found.problem,
            "instance": found.instance[:8],
            "to": study.anchors.of("instance", found.problem, found.instance),
            "sentence": found.sentence,
            "runs": links(study.run(key) for key in found.keys),
        }
        for found in study.contradictions.itertuples(index=False)
    ]


def proofs(study: StudyPage, problem: str) -> Table:
    """The bounds and optima of each instance of a problem."""
    pairs = study.pairs[study.pairs["problem"] == problem]
    sizes = KINDS[pairs["kind"].iloc[0]].sizes
    columns = (
        *(Column("digest", "instance"), Column("family"), *(Column(size, write=count) for size in sizes)),
        *(Column("runs", write=count), Column("bound", "best bound", number), Column("best", "best answer", number)),
        *(Column("gap", write=percentage), Column("optimum"), Column("proof", "bound proven by", look="wide")),
    )

    def link(line: Any, column: str) -> str:
        if column in ("digest", "runs"):
            return study.anchors.of("input", line["instance"])
        if column == "bound":
            return study.run(line["bound_keys"][0]) if line["bound_keys"] else ""
        return study.run(line["best_key"]) if column == "best" and line["best_key"] else ""

    def proof(pair: Any) -> Cell:
        names = [study.run(key) for key in pair.bound_keys]
        return Cell(f": {pair.bound_proof}" if pair.bound_proof else "" if names else "–", runs=links(names))

    kept = study.keep(f"{problem}-instances", pairs)
    shown = pairs.assign(
        digest=pairs["instance"].str[:8],
        optimum=pairs["proven"].where(np.isfinite(pairs["optimum"]), "open"),
        proof=[proof(pair) for pair in pairs.itertuples()],
    )
    anchors = [study.anchors.of("instance", problem, digest) for digest in pairs["instance"]]
    return table(shown, columns, kept, link=link, anchors=anchors)


def origins(study: StudyPage) -> list[dict[str, Any]]:
    """The instances by family and size, each with its recipe and its runs."""
    names = study.runs.groupby("instance")["anchor"].agg(list)
    listed = []
    for (kind, family, extent), group in study.runs.groupby(["kind", "family", "extent"]):
        first, *others = KINDS[kind].sizes
        made = group.drop_duplicates("instance")
        rows = made.drop(columns="exact").assign(runs=[Cell("", runs=links(names[one])) for one in made["instance"]])
        columns = (
            *(Column("instance", "digest", look="digest wide"), *(Column(size, write=count) for size in others)),
            *(Column("recipe", look="wide code"), Column("runs", look="wide")),
        )
        anchors = [study.anchors.of("input", digest) for digest in made["instance"]]
        listed.append(
            {
                "title": f"{family}, {extent:,.0f} {first}",
                "anchor": study.anchors.of("inputs", kind, family, str(extent)),
                "table": table(rows, columns, anchors=anchors),
            }
        )
    return listed


def run_lists(study: StudyPage) -> list[dict[str, Any]]:
    """All runs by variant, problem and label."""
    found = []
    order = study.runs[["exact", "variant"]].drop_duplicates().sort_values(["exact", "variant"])
    by_variant = dict(list(study.runs.groupby("variant")))
    for variant in order["variant"].drop_duplicates():
        lists = []
        for (problem, label), group in by_variant[variant].groupby(["problem", "label"], sort=False):
            runs = f"{len(group):,} {'run' if len(group) == 1 else 'runs'}"
            shown = {"anchor": study.rows_of(problem, label), "title": f"{problem}: {runs} of {label}"}
            lists.append({**shown, "table": _run_table(study, group)})
        found.append({"variant": variant, "anchor": study.anchors.of("method", variant), "lists": lists})
    return found


def _run_table(study: StudyPage, group: pd.DataFrame) -> Table:
    columns = (
        *(Column("number", "run", format), Column("digest", "instance"), Column("family")),
        *(Column(size, write=count) for size in KINDS[group["kind"].iloc[0]].sizes[:2]),
        *(Column("seed", write=format), Column("limit", write=format), Column("status"), Column("value", write=number)),
        *(Column("lower_bound", "own bound", number), Column("proven"), Column("gap", write=percentage)),
        *(Column("bound", "best bound", number), Column("ratio", write=ratio), Column("seconds", "time", seconds)),
        *(Column("key", look="digest"), *([Column("reason", look="wide")] if group["reason"].any() else [])),
    )
    limits = [number(limit, "g") + (" s" if np.isfinite(limit) else "") for limit in group["time_limit"]]
    rows = group.drop(columns="exact").assign(
        number=group["anchor"].str.removeprefix("run-"), digest=group["instance"].str[:8], limit=limits
    )

    def link(line: Any, column: str) -> str:
        return study.anchors.of("instance", line["problem"], line["instance"]) if column in ("digest", "bound") else ""

    return table(rows, columns, link=link, anchors=group["anchor"].tolist())
