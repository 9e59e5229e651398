"""The page docs/claims.md: every claim, its verdict and evidence, and how to run it again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path

from compare.claims import CLAIMS, Outcome, stored_outcomes
from compare.figure_construction import PICTURED, construction_drawing
from compare.figure_relays import PICTURED_CONTENT, relay_drawing
from compare.figure_style import Drawing
from instances.files import write_whole

_PAPERS = {
    "P1": "Chockler, Melamed, Tock, Vitenberg: Constructing Scalable Overlays for Pub-Sub with Many Topics, PODC 2007",
    "P2": "Onus, Richa: low degree and diameter-2 topic-connected overlays, 2015",
    "P3": "Chen, Vitenberg, Jacobsen: Scaling Construction of Low Fan-out Overlays, 2010",
    "P4": "Zhao, Wu: minimum cost content-based publish/subscribe overlays",
    "P5": "Opportunistic multipath forwarding in content-based publish/subscribe overlays",
}


def write_page(folder: Path, page: Path) -> None:
    """Write the page from the outcomes in a folder of results, and the pictures beside it in ``constructions/``."""
    pictures = page.parent / "constructions"
    pictures.mkdir(exist_ok=True)
    drawings = [*map(construction_drawing, PICTURED), *map(relay_drawing, PICTURED_CONTENT)]
    for drawn in drawings:
        write_whole(pictures / f"{drawn.name}.svg", partial(_write_bytes, drawn.svg_file))
    text = page_text(stored_outcomes(folder), drawings)
    write_whole(page, lambda file: file.write_text(text, encoding="utf-8"))


def page_text(outcomes: Mapping[str, Outcome], drawings: Sequence[Drawing] = ()) -> str:
    """The page in Markdown; claims without an outcome are listed as not run."""
    return "\n".join([*_lines(outcomes), *_pictures(drawings)]) + "\n"


def _write_bytes(content: bytes, file: Path) -> None:
    file.write_bytes(content)


def _lines(outcomes: Mapping[str, Outcome]) -> Iterator[str]:
    yield "# What is true in the papers"
    yield ""
    yield "<!-- written by `overlaybench claims --page docs/claims.md`: change the checks, not this page -->"
    yield ""
    yield (
        "Every claim is a check that is run. **holds**: in every run. **holds for some ties**: only under a tie-break "
        "that the claim leaves open. **order holds**: the growth or the ranking, not the figure. **refuted**: there is "
        "a counterexample. **open here**: the runs do not decide it, or are fewer than the claim names. Where a claim "
        "speaks of several algorithms, each has its own verdict. Constants hidden in O are tested as 1."
    )
    yield ""
    yield "`overlaybench claims ID …` runs a check again, `--quick` a thin version; the same seeds give the same runs."
    for paper, group in groupby(CLAIMS.values(), lambda claim: claim.id[:2]):
        claims = list(group)
        yield from ("", *_heading(paper), "")
        yield "| claim | about | verdict | runs |"
        yield "| --- | --- | --- | --- |"
        for claim in claims:
            for finding in outcomes[claim.id].findings if claim.id in outcomes else ():
                yield f"| {claim.id} | {_cell(finding.subject)} | **{finding.verdict}** | {finding.runs} |"
        for claim in claims:
            yield from ("", f"### {claim.id}: {claim.statement}", "", f"{claim.source}.")
            if claim.id not in outcomes:
                yield from ("", "Not run for this page.")
                continue
            outcome = outcomes[claim.id]
            for finding in outcome.findings:
                yield from ("", f"*{finding.subject}*: **{finding.verdict}** ({finding.runs} runs). {finding.evidence}")
            again = f"overlaybench claims {claim.id}" + (" --quick" if outcome.quick else "")
            yield from ("", f"Again: `{again}` ({outcome.seconds:.0f} s of runs).")


def _pictures(drawings: Sequence[Drawing]) -> Iterator[str]:
    if drawings:
        yield from ("", "## The constructions", "")
        yield "`overlaybench generate NAME --PARAMETER … -o FILE` makes any of them at any size. Left: who wants what."
    for drawn in drawings:
        yield from ("", f"![{drawn.name}](constructions/{drawn.name}.svg)", "", drawn.caption)


def _heading(paper: str) -> tuple[str, ...]:
    return (f"## {paper}", "", _PAPERS[paper]) if paper in _PAPERS else ("## Beyond the papers",)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
