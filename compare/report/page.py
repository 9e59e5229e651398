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
from ..studies.bounds import problem_order
from ..studies.latex import latex_table
from . import cells
from .cells import Anchors, Cell, Column, Table
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

    def keep(self, name: str, table: pd.DataFrame, caption: str = "", columns: Sequence[str] = ()) -> str:
        """Add a table as a CSV file and, if it is short enough for a paper, these columns as LaTeX.

        Returns the name of its files, which is no path: the name of a problem, which may be a plug-in's, is part of it.
        """
        name = re.sub(r"[^\w-]+", "-", name).strip("-")
        self.csv[name] = cells.csv_bytes(table)
        if 0 < len(table) <= _ROWS_IN_LATEX:
            shown = table[list(columns)] if columns else table.drop(columns=_LINKS, errors="ignore")
            self.tex[name] = latex_table(shown, caption or name, f"tab:{name}")
        return name


def sentences(study: StudyPage, problem: str) -> list[tuple[str, str]]:
    """The summary of a problem as (text, identifier it links to)."""
    phrases = summary(study.runs, study.pairs, problem)
    return [(phrase.text, _target(study, problem, phrase)) for phrase in phrases]


def _target(study: StudyPage, problem: str, phrase: Phrase) -> str:
    if phrase.rows == INSTANCES:
        return study.anchors.of("instances", problem)
    return study.rows_of(problem, phrase.rows) if phrase.rows else ""


_WORST = 6


def methods(study: StudyPage, problem: str) -> Table:
    """The problem's main table: the results of each method."""
    table = method_table(study.runs, problem)
    bound, optimum = "ratio to the best bound", "ratio where the optimum is proven"
    columns = (
        *(Column("method", number=False), Column("instances"), Column("runs"), Column("answered")),
        *(Column("instances", group=bound), Column("mean", group=bound), Column("worst", group=bound)),
        *(Column("instances", group=optimum), Column("runs", group=optimum), Column("reached", group=optimum)),
        *(Column("mean", group=optimum), Column("worst", group=optimum)),
        *(Column("proved optimal"), Column("failed"), Column("primal integral"), Column("mean time")),
    )
    lines = []
    for line in table.itertuples():
        texts = (
            *(line.method, f"{line.instances:,}", f"{line.runs:,}", f"{line.answered:,}"),
            *(f"{line.compared_instances:,}", cells.ratio(line.mean_ratio), cells.ratio(line.worst_ratio)),
            *(f"{line.optimum_instances:,}", f"{line.versus_optimum:,}"),
            f"{line.reached:,}" if line.versus_optimum else "–",
            *(cells.ratio(line.mean_over_optimum), cells.ratio(line.worst_over_optimum)),
            *(f"{line.proved:,}", f"{line.failed:,}"),
            *(cells.percentage(line.mean_integral), cells.seconds(line.mean_seconds)),
        )
        to = study.rows_of(problem, line.method)
        linked = [Cell(text, to if text != "–" else "") for text in texts]
        if line.worst_run:
            linked[_WORST] = Cell(texts[_WORST], line.worst_run, "the run with the worst ratio")
        lines.append(linked)
    kept = study.keep(problem, table, f"{problem}: results of each method.", _IN_PAPERS)
    return Table(kept, columns, lines, exact=table["exact"].tolist())


def families(study: StudyPage, problem: str) -> Table | None:
    """The mean ratio by family; None with a single family."""
    means = family_ratios(study.runs, problem)
    if len(means.columns) < 2:
        return None
    counts = family_counts(study.runs, problem)
    lines = []
    for label, line in means.iterrows():
        to = study.rows_of(problem, str(label))
        found = [(mean, counts.get((label, family), 0)) for family, mean in line.items()]
        lines.append([Cell(str(label)), *(Cell(f"{cells.ratio(m)} ({n})", to) if n else Cell("–") for m, n in found)])
    head = Column("mean ratio to the best bound (instances)", number=False)
    columns = [head, *(Column(str(name)) for name in means.columns)]
    caption = f"{problem}: mean ratio to the best bound, by family."
    name = study.keep(f"{problem}-by-family", means.rename_axis("method").reset_index(), caption)
    exact = method_table(study.runs, problem)["exact"].tolist()
    return Table(name, columns, lines, exact=exact)


def inputs(study: StudyPage) -> Table:
    """The instances of the study by family and size."""
    table = family_table(study.runs)
    columns = (
        *(Column("family", number=False), Column("size", number=False), Column("instances"), Column("problems")),
        *(Column("runs"), Column("seeds of the runs"), Column("total time")),
    )
    lines = []
    for line in table.itertuples():
        to = study.anchors.of("inputs", line.kind, line.family, str(line.extent))
        texts = (
            *(line.family, line.size, f"{line.instances:,}"),
            *(f"{line.problems:,}", f"{line.runs:,}", line.seeds, cells.seconds(line.seconds)),
        )
        lines.append([Cell(text, to if number else "") for number, text in enumerate(texts)])
    return Table(study.keep("inputs", table), columns, lines)


def efforts(study: StudyPage) -> Table:
    """The methods with their limits and the outcomes of their runs."""
    table = effort_table(study.runs)
    ends = "runs that ended as"
    columns = (
        *(Column("method", number=False), Column("problems"), Column("time limit"), Column("runs")),
        *(Column(str(status), group=ends) for status in Status),
        *(Column("total time"), Column("longest run"), Column("peak memory")),
    )
    lines = []
    for line in table.to_dict("records"):
        to = study.anchors.of("method", line["method"])
        texts = (
            *(line["method"], f"{line['problems']:,}", line["time_limits"], f"{line['runs']:,}"),
            *(f"{line[str(status)]:,}" for status in Status),
            *(cells.seconds(line["seconds"]), cells.seconds(line["longest"]), cells.memory(line["peak_memory"])),
        )
        lines.append([Cell(text, to if text not in ("–", "none") else "") for text in texts])
    return Table(study.keep("methods", table), columns, lines, exact=table["exact"].tolist())


def failures(study: StudyPage) -> list[dict[str, Any]]:
    """Failed runs by problem, method and reason, with links."""
    failed = study.runs[study.runs["status"] == Status.FAILED]
    if failed.empty:
        return []
    study.keep("failures", failure_table(study.runs))
    return [
        {"problem": problem, "method": label, "reason": reason, "runs": cells.links(group["anchor"])}
        for (problem, label, reason), group in failed.groupby(["problem", "label", "reason"], sort=False)
    ]


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
            "runs": cells.links(study.run(key) for key in found.keys),
        }
        for found in study.contradictions.itertuples(index=False)
    ]


def proofs(study: StudyPage, problem: str) -> Table:
    """The bounds and optima of each instance of a problem."""
    pairs = study.pairs[study.pairs["problem"] == problem]
    sizes = KINDS[pairs["kind"].iloc[0]].sizes
    columns = (
        *(Column("instance", number=False), Column("family", number=False), *(Column(size) for size in sizes)),
        *(Column("runs"), Column("best bound"), Column("best answer")),
        *(Column("gap"), Column("optimum", number=False), Column("bound proven by", number=False)),
    )
    lines, anchors = [], []
    for pair in pairs.itertuples():
        names = [study.run(key) for key in pair.bound_keys]
        proof = f": {pair.bound_proof}" if pair.bound_proof else "" if names else "–"
        home = study.anchors.of("input", pair.instance)
        lines.append(
            [
                *(Cell(pair.instance[:8], home), Cell(pair.family)),
                *(Cell(cells.number(getattr(pair, size), ",.0f")) for size in sizes),
                Cell(f"{pair.runs:,}", home),
                Cell(cells.number(pair.bound), names[0] if names else ""),
                Cell(cells.number(pair.best), study.run(pair.best_key) if pair.best_key else ""),
                Cell(cells.percentage(pair.gap)),
                Cell(pair.proven if np.isfinite(pair.optimum) else "open"),
                Cell(proof, runs=cells.links(names)),
            ]
        )
        anchors.append(study.anchors.of("instance", problem, pair.instance))
    return Table(study.keep(f"{problem}-instances", pairs), columns, lines, anchors)


def origins(study: StudyPage) -> list[dict[str, Any]]:
    """The instances by family and size, each with its recipe and its runs."""
    runs = study.runs
    made = runs.drop_duplicates("instance").set_index("instance")
    names = runs.groupby("instance")["anchor"].agg(list)
    listed = []
    for (kind, family, extent), group in runs.groupby(["kind", "family", "extent"]):
        first, *others = KINDS[kind].sizes
        instances = [
            {
                "digest": digest,
                "anchor": study.anchors.of("input", digest),
                "recipe": made.at[digest, "recipe"],
                "sizes": [f"{made.at[digest, size]:,.0f}" for size in others],
                "runs": cells.links(names[digest]),
            }
            for digest in group["instance"].unique()
        ]
        anchor = study.anchors.of("inputs", kind, family, str(extent))
        title = f"{family}, {extent:,.0f} {first}"
        listed.append({"title": title, "sizes": others, "anchor": anchor, "instances": instances})
    return listed


def run_lists(study: StudyPage) -> list[dict[str, Any]]:
    """All runs by variant, problem and label."""
    found = []
    order = study.runs[["exact", "variant"]].drop_duplicates().sort_values(["exact", "variant"])
    by_variant = dict(list(study.runs.groupby("variant")))
    for variant in order["variant"].drop_duplicates():
        lists = []
        for (problem, label), group in by_variant[variant].groupby(["problem", "label"], sort=False):
            sizes = KINDS[group["kind"].iloc[0]].sizes[:2]
            columns = _run_columns(sizes)
            lines = [_run_line(study, run, sizes) for run in group.itertuples()]
            shown = len(columns) if group["reason"].any() else -1
            table = Table("", columns[:shown], [line[:shown] for line in lines], group["anchor"].tolist())
            title = f"{problem}: {len(group):,} {'run' if len(group) == 1 else 'runs'} of {label}"
            lists.append({"anchor": study.rows_of(problem, label), "title": title, "table": table})
        found.append({"variant": variant, "anchor": study.anchors.of("method", variant), "lists": lists})
    return found


def _run_columns(sizes: Sequence[str]) -> list[Column]:
    return [
        *(Column("run"), Column("instance", number=False), Column("family", number=False)),
        *(Column(size) for size in sizes),
        *(Column("seed"), Column("limit"), Column("status", number=False), Column("value")),
        *(Column("own bound"), Column("proven", number=False), Column("gap")),
        *(Column("best bound"), Column("ratio"), Column("time")),
        *(Column("key", number=False), Column("reason", number=False)),
    ]


def _run_line(study: StudyPage, run: Any, sizes: Sequence[str]) -> list[Cell]:
    proof = study.anchors.of("instance", run.problem, run.instance)
    return [
        *(Cell(run.anchor.removeprefix("run-")), Cell(run.instance[:8], proof), Cell(run.family)),
        *(Cell(f"{getattr(run, size):,.0f}") for size in sizes),
        *(Cell(str(run.seed)),),
        Cell(cells.number(run.time_limit, "g") + (" s" if np.isfinite(run.time_limit) else "")),
        *(Cell(run.status), Cell(cells.number(run.value)), Cell(cells.number(run.lower_bound)), Cell(run.proven)),
        *(Cell(cells.percentage(run.gap)), Cell(cells.number(run.bound), proof), Cell(cells.ratio(run.ratio))),
        *(Cell(cells.seconds(run.seconds)), Cell(run.key), Cell(run.reason)),
    ]
