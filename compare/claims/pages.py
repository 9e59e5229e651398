"""Rows of the ledger as text: on a terminal, and as the pages of the documentation."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from textwrap import shorten, wrap

from ...instances.contract.files import atomic_write, make_folder
from ..commands.listing import Explanation
from ..intervals import Interval
from ..printable import markdown_table
from .claim import Claim, Judgement, LedgerRow, Line, Verdict
from .register import CLAIMS, record
from .statements import Paper, Statement, papers

_WIDTH, _ALL = 80, 99  # columns, and lines of a text that is not cut
VERDICTS = (
    "Confirmed: as stated. Confirmed in order: the ranking or growth holds, the numbers do not. Depends: on a choice "
    "that the paper leaves open. Contradicted: by a counterexample or outside the 95% interval. Not decided: by the "
    "runs so far."
)
"""The five verdicts in one line."""
_NOT_COUNTED = "Readings, ties and laws that were varied stand under each claim and are not counted."
NOT_RUN = Judgement(Verdict.NOT_DECIDED, "not run in full yet: overlaybench claims ID --run")


def row_of(rows: Mapping[str, LedgerRow], id_: str) -> LedgerRow:
    """The row of a claim; ``not decided`` without one."""
    return rows.get(id_) or LedgerRow(id_, False, NOT_RUN)


def printed(row: LedgerRow, *, every: bool = False) -> str:
    """A row for a terminal, in 80 columns; the advice is whole, and `every` adds what was varied, and the details."""
    claimed, found = CLAIMS[row.id].statement, row.judgement
    head, place = f"{row.id}  {found.verdict}", f"{claimed.kind}, {claimed.place}"
    fits = len(head) + len(place) + 2 <= _WIDTH
    lines = [f"{head}{place:>{_WIDTH - len(head)}}"] if fits else [head, *wrap(place, _WIDTH)]
    varied = f"{_varied(found)} (--all shows them)"
    parts = [("", claimed.statement, 2), ("reading: ", claimed.reading, 2)]
    parts += [("number: ", _number(claimed, found.number), 2), ("why: ", found.because, 2), ("sizes: ", _sizes(row), 1)]
    parts += [("sensitivity, not counted: ", varied if found.sensitivity and not every else "", 1)]
    parts += [("advice: ", claimed.advice, _ALL), ("", _runs(row), 1)]
    lines += (line for label, text, most in parts for line in _block(label, text, _ALL if every else most))
    if every:
        for name, more in (("details", found.details), ("sensitivity", list(map(_line, found.sensitivity)))):
            lines += [f"{name}:", *(line for one in more for line in _block("  ", one, _ALL))] if more else []
    return "\n".join(lines)


def explained(claim: Claim) -> Explanation:
    """A claim in words, with its verdict on record."""
    rows = record()
    known = re.sub(r"\n +", " ", printed(row_of(rows, claim.id))) if claim.id in CLAIMS else ""
    facts = {
        "source": f"{claim.id.partition('.')[0]} {claim.statement.place}",
        "place": claim.statement.place,
        "verdict": str(row_of(rows, claim.id).judgement.verdict),
        "reading": claim.statement.reading,
        "on record": "\n".join(line for line in known.splitlines()[2:] if not line.startswith("reading: ")),
    }
    example = f"overlaybench claims {claim.id} --quick"
    return Explanation(claim.id, "claim", claim.statement.statement, facts, (), (example,))


def _varied(found: Judgement) -> str:
    other = sum(one.verdict is not found.verdict for one in found.sensitivity)
    return f"{len(found.sensitivity)} varied, {other} with another verdict"


def _block(label: str, text: str, most: int) -> list[str]:
    lines = wrap(label + text, _WIDTH, subsequent_indent="  ") if text else []
    return (
        lines
        if len(lines) <= most
        else [*lines[: most - 1], shorten(" ".join(lines[most - 1 :]), _WIDTH, placeholder=" …")]
    )


def _number(claimed: Statement, number: Interval | None) -> str:
    if number is None:
        return ""
    published = f", published {claimed.printed}" if claimed.printed else ""
    return f"{claimed.number or 'value'} {number}{published}, n = {number.n}"


def _sizes(row: LedgerRow) -> str:
    version = "quick version" if row.quick else ""
    earlier = f"of an earlier version ({row.earlier})" if row.earlier else ""
    return "; ".join(filter(None, (version, row.judgement.scale, earlier)))


def _runs(row: LedgerRow) -> str:
    seconds = row.seconds + row.grid_seconds
    return f"{row.judgement.runs} runs, {seconds:.0f} s" if row.judgement.runs else ""


def _line(one: Line) -> str:
    return f"{one.varied}: {'' if one.number is None else one.number}, {one.verdict}"


def listed(rows: Mapping[str, LedgerRow]) -> str:
    """All claims with their verdicts on record, a line of 80 columns each, and how many have which verdict."""
    lines = []
    for id_, claim in CLAIMS.items():
        head = f"{id_:10} {row_of(rows, id_).judgement.verdict:19}"
        lines.append(f"{head} {shorten(claim.statement.statement, _WIDTH - len(head) - 1, placeholder=' …')}")
    counts = Counter(row_of(rows, id_).judgement.verdict for id_ in CLAIMS)
    total = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
    return "\n".join([*lines, f"{len(CLAIMS)} claims: {total}.", *wrap(VERDICTS, _WIDTH)])


def write_pages(rows: Mapping[str, LedgerRow], page: Path) -> None:
    """Write the first page, and a page for each paper in a folder of its name beside it."""
    for name, text in pages(rows, page.stem).items():
        target = page.parent / name
        make_folder(target.parent)
        atomic_write(target, text)


def pages(rows: Mapping[str, LedgerRow], stem: str = "claims") -> dict[str, str]:
    """The Markdown pages by their paths: ``claims.md``, ``claims/p1.md``, …."""
    made = {f"{stem}.md": _first_page(rows, stem)}
    made |= {f"{stem}/{name.lower()}.md": _paper_page(paper, rows, stem) for name, paper in papers().items()}
    return {name: "\n".join(lines) + "\n" for name, lines in made.items()}


def _first_page(rows: Mapping[str, LedgerRow], stem: str) -> Iterator[str]:
    ordered = sorted(papers().values(), key=lambda paper: (not paper.name.startswith("P"), paper.name))
    ids = [id_ for paper in ordered for id_ in paper.claims if id_ in CLAIMS]
    counts = sum((_verdicts(paper, rows) for paper in ordered), Counter[Verdict]())
    yield "# The papers' claims and what we measured\n"
    yield f"{len(ids)} claims, one verdict each: {', '.join(f'**{counts[v]} {v}**' for v in Verdict)}.\n"
    yield from markdown_table(("paper", *Verdict), (_counts(paper, rows, stem) for paper in ordered))
    yield f"\n{VERDICTS}\n{_NOT_COUNTED}\n"
    findings = sum(len(paper.finding) for paper in ordered)
    yield f"## {findings} findings, and what to do with them\n"
    for paper in ordered:
        for finding in paper.finding:
            own = ", ".join(_link(id_, stem) for id_ in _of(finding.id))
            yield f"* **{finding.title}** ({own}): {_sentence(finding.advice or finding.text)}"
    yield "\n## All claims\n"
    body = []
    for id_ in ids:
        found, claimed = row_of(rows, id_), CLAIMS[id_].statement
        body.append((_link(id_, stem), claimed.statement, f"{found.judgement.verdict}{'*' if found.earlier else ''}"))
    yield from markdown_table(("claim", "what is claimed", "verdict"), body)
    if any(verdict.endswith("*") for *_, verdict in body):
        yield "\n\\* the number of an earlier version, on the same grid and reading."
    yield "\n`overlaybench claims ID --run` repeats a claim; `overlaybench reproduce ID` draws a figure."


def _link(id_: str, stem: str) -> str:
    return f"[{id_}]({stem}/{id_.partition('.')[0].lower()}.md#{_anchor(id_)})"


def _of(finding: str) -> list[str]:
    return [id_ for paper in papers().values() for id_, one in paper.claims.items() if one.finding == finding]


def _counts(paper: Paper, rows: Mapping[str, LedgerRow], stem: str) -> tuple[str, ...]:
    counts = _verdicts(paper, rows)
    authors = paper.title.partition(":")[0]
    return f"[{paper.name}]({stem}/{paper.name.lower()}.md) {authors}", *(str(counts[verdict]) for verdict in Verdict)


def _verdicts(paper: Paper, rows: Mapping[str, LedgerRow]) -> Counter[Verdict]:
    return Counter(row_of(rows, id_).judgement.verdict for id_ in paper.claims if id_ in CLAIMS)


def _paper_page(paper: Paper, rows: Mapping[str, LedgerRow], stem: str) -> Iterator[str]:
    yield f"# {paper.name}: {paper.title}\n"
    counts = _verdicts(paper, rows)
    verdicts = ", ".join(f"**{counts[verdict]} {verdict}**" for verdict in Verdict if counts[verdict])
    yield f"{counts.total()} claims: {verdicts} ([what this means, and all papers](../{stem}.md))."
    yield "Under each claim stand its verdict, the number with its 95% interval, and what was varied.\n"
    for id_, claimed in paper.claims.items():
        if id_ in CLAIMS:
            yield from _section(row_of(rows, id_), claimed)
    if paper.finding:
        yield "## Findings\n"
        for one in paper.finding:
            own = ", ".join(_of(one.id)) or "no claim"
            yield f"* **{one.title}** ({own}). {_sentence(one.text)} *{_sentence(one.advice)}*"
        yield ""
    if paper.erratum:
        yield "## Misprints and slips\n"
        rows_ = ((one.place, one.printed, one.correct, one.shown_by.replace("_", "_<wbr>")) for one in paper.erratum)
        yield from markdown_table(("place", "printed", "correct", "shown by"), rows_)
        yield ""
    if paper.not_run:
        yield "## Not run\n"
        yield from (
            f"* **{one.id}** ({one.place}): {_sentence(one.statement)} {_sentence(one.reason)}" for one in paper.not_run
        )
        yield ""
    if paper.observation:
        yield "## Our own observations\n"
        for seen in paper.observation:
            observed = f"{seen.statement.rstrip('.')}: {seen.number}" if seen.number else seen.statement
            yield f"* {_sentence(observed)} {_sentence(seen.advice)}".rstrip()


def _section(row: LedgerRow, claimed: Statement) -> Iterator[str]:
    """A claim in at most eight lines; what was varied unfolds by a click."""
    found = row.judgement
    yield f"## {row.id}\n"
    yield f"**{found.verdict}**: {_sentence(claimed.statement)} ({claimed.kind}, {claimed.place})"
    facts = [("number", _number(claimed, found.number)), ("why", found.because), ("reading", claimed.reading)]
    facts += [("sizes", _sizes(row)), ("runs", _runs(row)), ("advice", claimed.advice)]
    yield "".join(f"<br>*{name}*: {_escaped(text)}" for name, text in facts if text)
    if found.details:
        yield f"\nDetails: {_escaped('; '.join(found.details))}."
    if found.sensitivity:
        lines = "<br>".join(escape(_line(one)) for one in found.sensitivity)
        yield f"\n<details><summary>Sensitivity, not counted: {_varied(found)}</summary><p>{lines}</p></details>"
    yield ""


def _anchor(id_: str) -> str:
    return id_.lower().replace(".", "")


def _sentence(text: str) -> str:
    return _escaped(text.rstrip(".") + ".") if text else ""


def _escaped(text: str) -> str:
    return text.replace("<", "&lt;").replace("*", "\\*")
