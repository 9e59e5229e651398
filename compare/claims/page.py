"""The page docs/claims.md: every claim, its verdict and evidence, and how to run it again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path

from ...instances.files import atomic_write
from ..figures.construction import PICTURED, construction_drawing
from ..figures.relays import PICTURED_CONTENT, relay_drawing
from .claim import Verdict
from .register import CLAIMS, Outcome

_PAPERS = {
    "P1": "Chockler, Melamed, Tock, Vitenberg: Constructing Scalable Overlays for Pub-Sub with Many Topics, PODC 2007",
    "P2": "Onus, Richa: low degree and diameter-2 topic-connected overlays, 2015",
    "P3": "Chen, Vitenberg, Jacobsen: Scaling Construction of Low Fan-out Overlays, 2010",
    "P4": "Zhao, Wu: minimum cost content-based publish/subscribe overlays",
    "P5": "Opportunistic multipath forwarding in content-based publish/subscribe overlays",
}


def write_page(outcomes: Sequence[Outcome], page: Path) -> None:
    """Write the page, and the pictures beside it in ``constructions/``."""
    pictures = page.parent / "constructions"
    pictures.mkdir(parents=True, exist_ok=True)
    drawings = [*map(construction_drawing, PICTURED), *map(relay_drawing, PICTURED_CONTENT)]
    for drawn in drawings:
        atomic_write(pictures / f"{drawn.name}.svg", partial(_write_bytes, drawn.svg_file))
    text = page_text(outcomes, [(drawn.name, drawn.caption) for drawn in drawings])
    atomic_write(page, lambda file: file.write_text(text, encoding="utf-8"))


def page_text(outcomes: Sequence[Outcome], pictures: Sequence[tuple[str, str]] = ()) -> str:
    """The page in Markdown: each claim's outcome, the full version's where there is one; names and captions below."""
    by_id = {outcome.id: outcome for outcome in sorted(outcomes, key=lambda outcome: not outcome.quick)}
    lines = [*_introduction(by_id), *_claims(by_id), *_pictures(pictures)]
    return "\n".join(lines) + "\n"


def _write_bytes(content: bytes, file: Path) -> None:
    file.write_bytes(content)


def _introduction(outcomes: Mapping[str, Outcome]) -> Iterator[str]:
    counts = Counter(finding.verdict for outcome in outcomes.values() for finding in outcome.findings)
    told = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
    quick = sum(outcome.quick for outcome in outcomes.values())
    yield f"""# What is true in the papers

<!-- written by `overlaybench claims --record FILE --page FILE`: change the checks, not this page -->

Every claim of the papers is a check that is run: what it speaks of is built, the algorithms that it names are run, the
optimum is proven where size allows. **holds**: in every run. **holds for some ties**: only under a tie-break that the
claim leaves open. **order holds**: the growth or the ranking, not the figure. **refuted**: there is a counterexample.
**open here**: the runs do not decide it, or are fewer than the claim names. Where a claim speaks of several algorithms
or makes several statements, each has its own verdict. Constants hidden in O are tested as 1.

Of {len(outcomes)} claims come {sum(counts.values())} verdicts: {told}. {quick} claims are judged by their
quick version, {len(outcomes) - quick} by the full one; each says which below. Seconds are of the machine that ran the
checks, which other work may have shared.

## How to run it again

| command | what it does |
| --- | --- |
| `overlaybench list claims` | every claim, with the seconds that both versions take |
| `overlaybench claims ID …` | runs claims (`P1` for all of P1, none for all), keeps the evidence in `claims-full` |
| `overlaybench claims --quick ID …` | the thin version: fewer seeds and sizes, evidence in `claims-quick` |
| `overlaybench claims ID … --json` | one JSON list of claims with findings, evidence and tables |
| `overlaybench reproduce ID …` | draws a figure (`P1.F2`) or prints a table (`P3.T2`) beside the published numbers |
| `overlaybench generate NAME --PARAMETER … -o FILE` | writes a construction (below) at any size |
| `overlaybench solve FILE --problem P --method M --option ties=worst` | the worst breaking of ties, with the choices |
| `overlaybench worst --method M --problem P` | hunts for an instance far from the proven optimum |

The same seeds give the same runs on any machine. A refuted claim is a finding and no error: the exit status is 0.
"""


def _claims(outcomes: Mapping[str, Outcome]) -> Iterator[str]:
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


def _evidence(outcome: Outcome) -> Iterator[str]:
    for finding in outcome.findings:
        yield from ("", f"*{finding.subject}*: **{finding.verdict}** ({finding.runs} runs). {finding.evidence}")
    again = f"overlaybench claims {outcome.id}" + (" --quick" if outcome.quick else "")
    seconds = outcome.seconds + outcome.grid_seconds
    yield from (
        "",
        f"Again: `{again}` ({'the quick version' if outcome.quick else 'in full'}, {seconds:.0f} s of runs).",
    )


def _pictures(pictures: Sequence[tuple[str, str]]) -> Iterator[str]:
    if pictures:
        yield "## The constructions"
        yield ""
        yield "Left, for those of topics: who wants what."
    for name, caption in pictures:
        yield from ("", f"![{name}](constructions/{name}.svg)", "", caption)


def _heading(paper: str) -> tuple[str, ...]:
    return (f"## {paper}", "", _PAPERS[paper]) if paper in _PAPERS else ("## Beyond the papers",)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
