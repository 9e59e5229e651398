"""The page docs/claims.md: every claim with its verdicts, the evidence, and the command that repeats it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from textwrap import fill

from ...instances.files import atomic_write
from .claim import Verdict
from .register import CLAIMS, ClaimOutcome

_WIDTH = 120
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


def write_page(outcomes: Sequence[ClaimOutcome], page: Path) -> None:
    """Write the page, and the figures of the constructions into the folder ``constructions`` beside it."""
    from ..figures.constructions import DRAWN, construction_drawing  # matplotlib

    figures = page.parent / "constructions"
    figures.mkdir(parents=True, exist_ok=True)
    drawings = [construction_drawing(name) for name in DRAWN]
    for drawn in drawings:
        atomic_write(figures / f"{drawn.name}.svg", drawn.svg_file)
    text = page_text(outcomes, [(drawn.name, drawn.caption) for drawn in drawings])
    atomic_write(page, text)


def page_text(outcomes: Sequence[ClaimOutcome], figures: Sequence[tuple[str, str]] = ()) -> str:
    """The page in Markdown, with the outcome of each claim's full version if there is one, otherwise the quick one's.

    Parameters
    ----------
    figures : sequence of (str, str)
        Name and caption of each construction.
    """
    by_id = {outcome.id: outcome for outcome in sorted(outcomes, key=lambda outcome: not outcome.quick)}
    lines = [*_introduction(by_id), *_claims(by_id), *_figures(figures)]
    return "\n".join(lines) + "\n"


def _introduction(outcomes: Mapping[str, ClaimOutcome]) -> Iterator[str]:
    counts = Counter(finding.verdict for outcome in outcomes.values() for finding in outcome.findings)
    verdicts = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
    quick = sum(outcome.quick for outcome in outcomes.values())
    summary = _wrapped(
        f"{len(outcomes)} claims have {sum(counts.values())} verdicts: {verdicts}. {quick} claims are judged by their "
        f"quick version and {len(outcomes) - quick} by the full one. Durations include other work on the machine."
    )
    yield f"""# The papers' claims and what we measured

<!-- written by `overlaybench claims --record FILE --page FILE`: change the checks, not this page -->

Each claim of the five papers P1 to P5 (authors and years below) is a program: it generates the instances that the claim
is about, runs the algorithms that it names, and proves the optimum where the size allows. Verdicts:

* **holds**: in every run.
* **holds for some ties**: only under a tie-breaking rule that the claim leaves open.
* **order holds**: the growth or the ranking holds, the numbers do not.
* **refuted**: there is a counterexample.
* **open here**: the runs do not decide it, or there are fewer than the claim names.

A claim about several algorithms, or with several parts, has a verdict for each. Constants hidden in O are taken as 1.

{summary}

## How to repeat it

| command | what it does |
| --- | --- |
| `overlaybench list claims` | lists every claim with the duration of both versions |
| `overlaybench claims ID …` | runs claims (`P1`: all of P1; none: all) and keeps the evidence in `claims-full` |
| `overlaybench claims --quick ID …` | runs the quick version: fewer seeds and sizes, evidence in `claims-quick` |
| `overlaybench claims ID … --json` | prints one JSON list of claims with findings, evidence and tables |
| `overlaybench reproduce ID …` | draws a figure (`P1.F2`) or prints a table (`P3.T2`) beside the published numbers |
| `overlaybench generate NAME --PARAMETER … -o FILE` | writes a construction (below) of any size |
| `overlaybench solve FILE --problem P --method M --option ties=worst` | finds the worst tie-breaking choices |
| `overlaybench worst --method M --problem P` | searches for an instance far from the proven optimum |

The same seeds give the same runs on any machine. The exit status is 0 whatever the verdicts are.
"""


def _claims(outcomes: Mapping[str, ClaimOutcome]) -> Iterator[str]:
    for paper, group in groupby(CLAIMS.values(), lambda claim: claim.id[:2]):
        claims = list(group)
        yield from (*_heading(paper), "")
        yield "| claim | about | verdict | runs |"
        yield "| --- | --- | --- | --- |"
        for claim in claims:
            for finding in outcomes[claim.id].findings if claim.id in outcomes else ():
                yield f"| {claim.id} | {_cell(finding.subject)} | **{finding.verdict}** | {finding.runs} |"
        for claim in claims:
            yield from ("", f"### {claim.id}: {claim.statement}", "", f"{claim.source}.")
            yield from _evidence(outcomes[claim.id]) if claim.id in outcomes else ("", "Not run for this page.")
        yield ""


def _evidence(outcome: ClaimOutcome) -> Iterator[str]:
    for finding in outcome.findings:
        text = f"*{finding.subject}*: **{finding.verdict}** ({finding.runs} runs). {finding.evidence}"
        yield from ("", _wrapped(text))
    command = f"overlaybench claims {outcome.id}" + (" --quick" if outcome.quick else "")
    version = "quick" if outcome.quick else "full"
    seconds = outcome.seconds + outcome.grid_seconds
    yield from ("", f"Repeat: `{command}` ({version} version, {seconds:.0f} s of runs).")


def _figures(figures: Sequence[tuple[str, str]]) -> Iterator[str]:
    if figures:
        yield from ("## The constructions", "")
        yield "The left half of a topic construction's figure shows the subscriptions of each node in black."
    for name, caption in figures:
        yield from ("", f"![{name}](constructions/{name}.svg)", "", _wrapped(caption))


def _heading(paper: str) -> tuple[str, ...]:
    return (f"## {paper}", "", _wrapped(f"{PAPERS[paper]}.")) if paper in PAPERS else ("## Beyond the papers",)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _wrapped(text: str) -> str:
    """A paragraph in lines of at most 120 characters; none starts with a sign of a Markdown list."""
    kept = re.sub(r" (?=([-+*#>|]|\d+[.)])( |$))", "\0", text)
    return fill(kept, _WIDTH, break_long_words=False, break_on_hyphens=False).replace("\0", " ")
