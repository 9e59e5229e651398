"""The page docs/claims.md: all claims with their verdicts, and what a reader of two minutes should know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from .claim import Finding, Verdict
from .markdown import WIDTH, cell, row, shortened, wrapped
from .page_paper import anchor_of, not_run_lines, page_of, paper_of
from .register import CLAIMS, ClaimOutcome, not_run
from .what_matters import FOREMOST, MATTERS

_NAMED = 4


def summary_text(outcomes: Mapping[str, ClaimOutcome], stem: str = "claims") -> str:
    """The page in Markdown, from the outcome of each claim; `stem` is the folder of the pages of evidence."""
    parts = (_introduction(outcomes, stem), _foremost(outcomes), _refuted(outcomes), _all_claims(outcomes), _not_run())
    lines = [line for part in parts for line in (*part, "")]
    return "\n".join([*lines, _REPEAT, *_addresses(outcomes, stem)]) + "\n"


def _introduction(outcomes: Mapping[str, ClaimOutcome], stem: str) -> Iterator[str]:
    counts = Counter(finding.verdict for outcome in outcomes.values() for finding in outcome.findings)
    verdicts = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
    quick = sum(outcome.quick for outcome in outcomes.values())
    full = len(outcomes) - quick
    yield _TOP.replace("(claims/", f"({stem}/")
    yield wrapped(
        f"{len(outcomes)} claims have {sum(counts.values())} verdicts: {verdicts}. "
        + (f"{full} claims are judged by their full version" if full else "No claim is judged by its full version")
        + (f" and {quick} by the quick one." if quick else ", at the sizes that each verdict names.")
    )


def _foremost(outcomes: Mapping[str, ClaimOutcome]) -> Iterator[str]:
    yield from ("## The ten findings that matter most", "")
    for id_, subject, reason in FOREMOST:
        if finding := finding_on(outcomes, id_, subject):
            yield wrapped(f"[{id_}], {finding.subject}: **{finding.line}**. {reason}", "* ")


def finding_on(outcomes: Mapping[str, ClaimOutcome], id_: str, subject: str) -> Finding | None:
    """The finding of a claim about this subject; None if there is none."""
    findings = outcomes[id_].findings if id_ in outcomes else ()
    return next((finding for finding in findings if finding.subject == subject), None)


def _refuted(outcomes: Mapping[str, ClaimOutcome]) -> Iterator[str]:
    yield from ("## What was refuted, and why it matters", "")
    for outcome in outcomes.values():
        subjects = [one.subject for one in outcome.findings if one.verdict is Verdict.REFUTED]
        if subjects:
            more = [f"{len(subjects) - _NAMED} more"] if len(subjects) > _NAMED else []
            about = "; ".join([*subjects[:_NAMED], *more])
            yield wrapped(f"[{outcome.id}], {about}. {MATTERS.get(outcome.id, '')}".rstrip(), "* ")


def _all_claims(outcomes: Mapping[str, ClaimOutcome]) -> Iterator[str]:
    yield from ("## All claims", "")
    yield wrapped("A claim has a line; where its parts have different verdicts, each verdict has one below it.")
    for paper in dict.fromkeys(map(paper_of, CLAIMS)):
        yield from ("", f"### {paper}", "", "| claim | what it states, or the parts | verdict |", "| --- | --- | --- |")
        for claim in CLAIMS.values():
            if paper_of(claim.id) == paper:
                yield from _rows(claim.id, claim.statement, outcomes.get(claim.id))


def _rows(id_: str, statement: str, outcome: ClaimOutcome | None) -> Iterator[str]:
    by_line: dict[str, list[str]] = {}
    for finding in outcome.findings if outcome else ():
        by_line.setdefault(finding.line, []).append(finding.subject)
    lines = [f"**{line}**" for line in by_line]
    alone = lines[0] if len(lines) == 1 else "" if lines else "not run"
    yield _row(f"[{id_}]", statement, alone)
    if len(lines) > 1:
        for line, subjects in zip(lines, by_line.values(), strict=True):
            yield _row("", "; ".join(subjects), line)


def _row(first: str, second: str, third: str) -> str:
    """A row of at most 120 characters: its second cell is shortened where necessary."""
    return row([first, shortened(second, WIDTH - len(row([first, "", cell(third)]))), cell(third)])


def _not_run() -> Iterator[str]:
    yield from ("## Sentences that are not run", "")
    sentences = not_run()
    if not sentences:
        yield "None."
        return
    yield "They state something checkable which no run here can check."
    yield ""
    yield from not_run_lines(sentences)


def _addresses(outcomes: Mapping[str, ClaimOutcome], stem: str) -> Iterator[str]:
    """The addresses of the links, which keep the rows of the table short."""
    yield ""
    for id_ in CLAIMS:
        yield f"[{id_}]: {stem}/{page_of(paper_of(id_))}#{anchor_of(id_)}"


_TOP = """# The papers' claims and what we measured

<!-- written by `overlaybench claims --record FILE --page FILE`: change the checks, not this page -->

Each claim of the five papers P1 to P5 is a program: it generates the instances that the claim is about, runs the
algorithms that it names, and proves the optimum where the size allows. Verdicts:

* **holds**: in every run; where means are compared, all of the 95% interval is on the claim's side.
* **holds for some ties**: only under a tie-breaking rule that the claim leaves open.
* **order holds**: the growth or the ranking holds, the numbers do not.
* **refuted**: there is a counterexample, or all of the 95% interval is on the other side.
* **open here**: the runs do not decide it, or there are fewer than the claim names.

A verdict that rests on smaller sizes than the paper's names them. Constants hidden in O are taken as 1. The evidence
has a page for each paper; [the constructions](claims/constructions.md) of the proofs are drawn on one of their own.
"""
_REPEAT = """## How to repeat it

| command | what it does |
| --- | --- |
| `overlaybench list claims` | lists every claim with the duration of both versions |
| `overlaybench claims ID …` | runs claims (`P1`: all of P1; none: all) and keeps the evidence in `claims-full` |
| `overlaybench claims --quick ID …` | runs the quick version: fewer seeds and sizes, evidence in `claims-quick` |
| `overlaybench claims ID … --json` | prints one JSON list of claims with findings, sizes, intervals and readings |
| `overlaybench reproduce ID …` | draws a figure (`P1.F2`) or prints a table (`P3.T2`) beside the published numbers |
| `overlaybench generate NAME --PARAMETER … -o FILE` | writes a construction of any size |
| `overlaybench solve FILE --problem P --method M --option ties=worst` | finds the worst tie-breaking choices |
| `overlaybench worst --method M --problem P` | searches for an instance far from the proven optimum |

A run that was stopped goes on where it stood: runs and judges that are done are not repeated. The same seeds give the
same runs on any machine. The exit status is 0 whatever the verdicts are.
"""
