"""The pages on the claims: docs/claims.md, a page of evidence for each paper, and their figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ...instances.contract.files import atomic_write
from .markdown import wrapped
from .page_paper import page_of, paper_of, paper_text
from .page_summary import summary_text
from .register import CLAIMS, ClaimOutcome


def write_page(outcomes: Sequence[ClaimOutcome], page: Path) -> None:
    """Write the page, the pages of evidence into the folder of its name (``claims/p1.md``) and all figures.

    Figures of claims are in ``claims/figures``, those of constructions in ``constructions`` beside the page.
    """
    from ..figures.constructions import DRAWN, construction_drawing  # matplotlib
    from .comparison import comparison_drawings

    folder = page.with_suffix("")
    constructions = [construction_drawing(name) for name in DRAWN]
    latest = _latest(outcomes).values()
    comparisons = [drawn for one in latest for drawn in comparison_drawings(one.id, one.findings)]
    files = {page.parent / "constructions" / f"{drawn.name}.svg": drawn.svg_file for drawn in constructions}
    files |= {folder / "figures" / f"{drawn.name}.svg": drawn.svg_file for drawn in comparisons}
    texts = page_texts(outcomes, [(drawn.name, drawn.caption) for drawn in constructions], page.stem)
    for file, content in (files | {page.parent / name: text for name, text in texts.items()}).items():
        file.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(file, content)


def page_texts(
    outcomes: Sequence[ClaimOutcome], constructions: Sequence[tuple[str, str]] = (), stem: str = "claims"
) -> dict[str, str]:
    """The pages in Markdown by their path, with the outcome of each claim's full version if there is one.

    Parameters
    ----------
    constructions : sequence of (str, str)
        Name and caption of the figure of each construction.
    stem : str
        The name of the first page, and of the folder of the others.
    """
    latest = _latest(outcomes)
    texts = {f"{stem}.md": summary_text(latest, stem)}
    for paper in dict.fromkeys(map(paper_of, CLAIMS)):
        texts[f"{stem}/{page_of(paper)}"] = paper_text(paper, latest, stem)
    texts[f"{stem}/constructions.md"] = "\n".join(_constructions(constructions)) + "\n"
    return texts


def _latest(outcomes: Sequence[ClaimOutcome]) -> Mapping[str, ClaimOutcome]:
    return {outcome.id: outcome for outcome in sorted(outcomes, key=lambda outcome: not outcome.quick)}


def _constructions(figures: Sequence[tuple[str, str]]) -> Iterator[str]:
    yield from ("# The constructions", "")
    yield wrapped(
        "The instances on which the papers' proofs rest, drawn from the code. The left half of a topic "
        "construction's figure shows the subscriptions of each node in black."
    )
    for name, caption in figures:
        yield from ("", f"## {name}", "", f"![{name}](../constructions/{name}.svg)", "", wrapped(caption), "")
        yield from ("```", f"overlaybench generate {name} -o {name}.json", "```")
