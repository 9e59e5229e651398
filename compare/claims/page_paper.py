"""The page of a paper, docs/claims/p1.md and so on: every claim with its evidence and what this rests on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from .claim import Claim, Finding, Interval, NotRun, Scope
from .markdown import WIDTH, cell, row, table, wrapped
from .register import CLAIMS, ClaimOutcome, not_run

_ROWS, _SHOWN = 60, 8
PAPERS = {
    "P1": "Chockler, Melamed, Tock and Vitenberg: Constructing Scalable Overlays for Pub-Sub with Many Topics, 2007",
    "P2": "Onus and Richa: Parameterized maximum and average degree approximation in topic-based publish-subscribe "
    "overlay network design, 2015",
    "P3": "Chen, Vitenberg and Jacobsen: Scaling Construction of Low Fan-out Overlays for Topic-based "
    "Publish/Subscribe Systems, 2011",
    "P4": "Zhao and Wu: On the Construction of the Minimum Cost Content-Based Publish/Subscribe Overlays, 2011",
    "P5": "Kazemzadeh and Jacobsen: Opportunistic Multipath Forwarding in Content-Based Publish/Subscribe Overlays, "
    "2012",
}

OTHERS = {"N": "the problems next door"}
BEYOND = "beyond the papers"


def paper_of(id_: str) -> str:
    """The paper of a claim: P1 of P1.L6.5."""
    return id_.partition(".")[0]


def page_of(paper: str) -> str:
    """The file of a paper's page."""
    return f"{paper.lower()}.md"


def anchor_of(id_: str) -> str:
    """The anchor of a claim on its paper's page, as GitHub and MkDocs make it of the heading."""
    return id_.lower().replace(".", "")


def figure_of(id_: str) -> str:
    """The name of a claim's figure of published numbers and ours."""
    return id_.lower().replace(".", "-")


def compared(findings: Iterable[Finding]) -> list[Finding]:
    """The findings that have a published number beside one of ours."""
    return [finding for finding in findings if any(one.claimed is not None for one in finding.intervals)]


def paper_text(paper: str, outcomes: Mapping[str, ClaimOutcome], stem: str = "claims") -> str:
    """The page of a paper in Markdown; claims without an outcome are named."""
    title = f"{paper}: the claims and their evidence" if paper in PAPERS else f"{paper}: {OTHERS.get(paper, BEYOND)}"
    lines = [
        f"# {title}",
        "",
        "<!-- written by `overlaybench claims --page FILE`: change the checks, not this page -->",
    ]
    if paper in PAPERS:
        lines += ["", wrapped(f"{PAPERS[paper]}.")]
    lines += ["", f"[All claims and verdicts](../{stem}.md#all-claims)"]
    for claim in CLAIMS.values():
        if paper_of(claim.id) == paper:
            lines += ["", *_claim(claim, outcomes.get(claim.id))]
    if left_out := [one for one in not_run() if paper_of(one.id) == paper]:
        lines += ["", "## Not run", "", "Sentences that state something checkable which no run here can check.", ""]
        lines += list(not_run_lines(left_out))
    return "\n".join(lines) + "\n"


def not_run_lines(sentences: Sequence[NotRun]) -> Iterator[str]:
    """An item of a list for each sentence that is not run."""
    for one in sentences:
        yield wrapped(f"**{one.id}** ({one.source}): {one.statement}. *Not run*: {one.reason.rstrip('.')}.", "* ")


def _claim(claim: Claim, outcome: ClaimOutcome | None) -> Iterator[str]:
    yield from (f"## {claim.id}", "", wrapped(f"**{claim.statement}** ({claim.source})"))
    if outcome is None:
        yield from ("", "Not run for this page.")
        return
    if compared(outcome.findings):
        name = figure_of(claim.id)
        yield from ("", f"![{claim.id}: published numbers and ours](figures/{name}.svg)")
    for finding in outcome.findings:
        yield from ("", *_finding(finding, claim.id))
    command = f"overlaybench claims {outcome.id}" + (" --quick" if outcome.quick else "")
    version = "quick" if outcome.quick else "full"
    seconds = outcome.seconds + outcome.grid_seconds
    yield from ("", f"Repeat: `{command}` ({version} version, {seconds:.0f} s of runs).")


def _finding(finding: Finding, id_: str) -> Iterator[str]:
    yield wrapped(f"**{finding.subject}: {finding.line}.** {finding.evidence}")
    yield ""
    for fact in _facts(finding, of_paper=paper_of(id_) in PAPERS):
        yield wrapped(fact, "* ")
    if finding.intervals:
        yield ""
        heads = ("mean or share of", "ours", "95% interval", "published", "instances")
        lines = list(table(heads, map(_interval, finding.intervals)))
        yield from lines if len(finding.intervals) <= _SHOWN else _folded(f"{len(finding.intervals)} intervals", lines)
    if finding.table:
        yield ""
        if len(finding.table) > _ROWS:
            yield f"Table of {len(finding.table)} rows: `overlaybench claims {id_} --json`."
        else:
            yield from _folded(f"table of evidence, rows: {len(finding.table)}", list(_rows(finding.table)))


def _facts(finding: Finding, *, of_paper: bool) -> Iterator[str]:
    scope = finding.scope
    if scope.reading:
        yield f"reading: {scope.reading}"
    if scope.sizes:
        yield f"sizes: {_sizes(scope.sizes)}{_claimed(scope) if of_paper else ''}"
    counts = []
    if scope.samples:
        counts.append(f"{scope.samples} {'instance' if scope.samples == 1 else 'instances'} a point")
        counts.append(f"{scope.points} {'point' if scope.points == 1 else 'points'}")
    if scope.ties:
        counts.append(f"ties {', '.join(scope.ties)}")
    if scope.seeds > 1:
        counts.append(f"{scope.seeds} seeds")
    yield "; ".join([*counts, f"{finding.runs} {'run' if finding.runs == 1 else 'runs'}"])


def _claimed(scope: Scope) -> str:
    if not scope.claimed:
        return "; the paper names none"
    return "; as in the paper" if not scope.scale else f"; in the paper {_sizes(scope.claimed)}"


def _sizes(sizes: Mapping[str, tuple[float | str, ...]]) -> str:
    return ", ".join(f"{symbol} {_values(values)}" for symbol, values in sizes.items())


def _values(values: Sequence[float | str]) -> str:
    shown = [value if isinstance(value, str) else f"{value:g}" for value in values]
    if len(shown) <= 4 or any(isinstance(value, str) for value in values):
        return "/".join(shown)
    return f"{shown[0]} … {shown[-1]} ({len(shown)} values)"


def _interval(one: Interval) -> tuple[str, ...]:
    ends = "" if one.low is None or one.high is None else f"{one.low:.4g} to {one.high:.4g}"
    return one.of, f"{one.mean:.4g}", ends, "" if one.claimed is None else f"{one.claimed:.4g}", str(one.samples)


def _folded(title: str, lines: Sequence[str]) -> Iterator[str]:
    """Lines that a reader unfolds."""
    yield from ('<details markdown="1">', f"<summary>{title}</summary>", "", *lines, "", "</details>")


def _rows(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Rows as a table, or as a list where a row would be longer than a line."""
    heads = list(dict.fromkeys(name for one in rows for name in one))
    lines = [row(map(cell, heads)), row("---" for _ in heads)]
    lines += [row(cell(_value(one.get(name, ""))) for name in heads) for one in rows]
    if max(map(len, lines)) <= WIDTH:
        yield from lines
        return
    for one in rows:
        yield wrapped("; ".join(f"{name}: {_value(value)}" for name, value in one.items()), "* ")


def _value(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
