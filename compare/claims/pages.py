"""Rows of the ledger as text: on a terminal, and as the pages of the documentation."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from html import escape
from pathlib import Path
from textwrap import shorten, wrap

from ...instances.contract.files import atomic_write, make_folder
from ..commands.listing import Explanation
from ..intervals import Interval
from ..printable import markdown_table, template
from .claim import Claim, Judgement, LedgerRow, Line, Verdict
from .register import CLAIMS, record
from .statements import Observation, Statement, papers

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
    ordered = sorted(papers().values(), key=lambda paper: (not paper.name.startswith("P"), paper.name))
    claims = [(row_of(rows, id_), one) for paper in ordered for id_, one in paper.claims.items() if id_ in CLAIMS]
    every = Counter(row.judgement.verdict for row, _ in claims)
    of_papers, made = list[tuple[str, ...]](), dict[str, str]()
    page = template("claims/paper_page.md")
    for paper in ordered:
        own = [(row, claimed) for row, claimed in claims if row.id in paper.claims]
        counts = Counter(row.judgement.verdict for row, _ in own)
        name, authors = f"{stem}/{paper.name.lower()}.md", paper.title.partition(":")[0]
        of_papers.append((f"[{paper.name}]({name}) {authors}", *(str(counts[verdict]) for verdict in Verdict)))
        verdicts = ", ".join(f"**{counts[verdict]} {verdict}**" for verdict in Verdict if counts[verdict])
        errata = ((one.place, one.printed, one.correct, one.shown_by.replace("_", "_<wbr>")) for one in paper.erratum)
        tables = {"verdicts": verdicts, "errata": _table(("place", "printed", "correct", "shown by"), errata)}
        made[name] = page.render(**_WORDS, paper=paper, claims=own, stem=stem, **tables)

    def link(id_: str) -> str:
        return f"[{id_}]({stem}/{id_.partition('.')[0].lower()}.md#{id_.lower().replace('.', '')})"

    first = template("claims/first_page.md").render(
        **_WORDS,
        verdicts=", ".join(f"**{every[verdict]} {verdict}**" for verdict in Verdict),
        papers=_table(("paper", *Verdict), of_papers),
        explained=f"{VERDICTS}\n{_NOT_COUNTED}",
        findings=[(one, ", ".join(map(link, _of(one.id)))) for paper in ordered for one in paper.finding],
        claims=[
            (link(row.id), claimed.statement, f"{row.judgement.verdict}{'*' if row.earlier else ''}")
            for row, claimed in claims
        ],
        earlier=any(row.earlier for row, _ in claims),
    )
    return {f"{stem}.md": first, **made}


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    return "\n".join(markdown_table(heads, rows))


def _of(finding: str) -> list[str]:
    return [id_ for paper in papers().values() for id_, one in paper.claims.items() if one.finding == finding]


def _facts(row: LedgerRow, claimed: Statement) -> str:
    found = row.judgement
    facts = [("number", _number(claimed, found.number)), ("why", found.because), ("reading", claimed.reading)]
    facts += [("sizes", _sizes(row)), ("runs", _runs(row)), ("advice", claimed.advice)]
    return "".join(f"<br>*{name}*: {_escaped(text)}" for name, text in facts if text)


def _observed(seen: Observation) -> str:
    observed = f"{seen.statement.rstrip('.')}: {seen.number}" if seen.number else seen.statement
    return f"* {_sentence(observed)} {_sentence(seen.advice)}".rstrip()


def _sensitivity(found: Judgement) -> str:
    return "<br>".join(escape(_line(one)) for one in found.sensitivity)


def _sentence(text: str) -> str:
    return _escaped(text.rstrip(".") + ".") if text else ""


def _escaped(text: str) -> str:
    return text.replace("<", "&lt;").replace("*", "\\*")


_WORDS: Mapping[str, Callable[..., object]] = {
    each.__name__.removeprefix("_"): each
    for each in (_table, _of, _facts, _observed, _sensitivity, _sentence, _escaped, _varied)
}
"""What the templates call."""
