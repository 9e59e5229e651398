"""The page of the library (docs/library.md): what is open, what is proven, and how methods score."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from ...instances.contract.errors import BadInput
from ...instances.contract.files import atomic_write, read_text
from ...instances.contract.result import Status
from .scores import score_row, standings
from .table import Entry, Known, Record, Table

_BEGIN, _END = "<!-- the table -->", "<!-- end of the table -->"
_PROOF_DIGITS = 12
_RANKED = 0.1


def page_text(file: Path) -> str:
    """The text of a page for the table; BadInput if it lacks the two marks."""
    text = read_text(file)
    if _BEGIN not in text or _END not in text:
        raise BadInput(f"{file}: has no lines '{_BEGIN}' and '{_END}': add them where the table belongs")
    return text


def with_table(text: str, table: Table) -> str:
    """A page's text with the table between its two marks."""
    body = "\n".join(_body(table))
    return re.sub(f"{_BEGIN}.*{_END}", lambda _: f"{_BEGIN}\n\n{body}\n{_END}", text, flags=re.DOTALL)


def write_page(table: Table, file: Path) -> None:
    """Replace what is between the two marks of the page by the table; BadInput if the page lacks them."""
    atomic_write(file, with_table(page_text(file), table))


def law_points(table: Table, problem: str = "min-tco") -> pd.DataFrame:
    """The points of the map: one for each instance with a popularity law, on which the problem is posed.

    Returns
    -------
    DataFrame
        law, nodes, subscriptions, gap and seconds: see :func:`.proof_map`.
    """
    rows = []
    for entry, posed in table.pairs():
        given = entry.complete
        if posed == problem and "subscriptions" in given and entry.kind == "topics":
            known = table.known(entry.name, problem)
            seconds = [math.nan if record is None else record.seconds for record in (known.best, known.bounded)]
            gap = known.gap if known.is_open else 0.0
            rows.append(
                (entry.workload, float(given["nodes"]), float(given["subscriptions"]), gap, float(np.max(seconds)))
            )
    return pd.DataFrame(rows, columns=["law", "nodes", "subscriptions", "gap", "seconds"])


def _body(table: Table) -> Iterator[str]:
    known = [(entry, problem, table.known(entry.name, problem)) for entry, problem in table.pairs()]
    closed = [one for one in known if not one[2].is_open]
    tried = [one for one in known if one[2].is_open and one[2].best is not None]
    untried = [one for one in known if one[2].is_open and one[2].best is None]
    yield f"{len(table.entries)} instances, {len(known)} with their problems: {len(closed)} are solved with a certified"
    yield f"proof, {len(tried)} are open with a known value, and {len(untried)} have no result yet."
    for limit, seconds in sorted(_stopped(table.runs).items()):
        spent = f"{min(seconds):.1f} to {max(seconds):.1f}"
        yield f"Runs that a limit of {limit:g} s ended had {spent} processor seconds."
    yield from _section(f"Open: {len(tried)}", [known_row(*one) for one in tried])
    yield from _section(f"Proven: {len(closed)}", [known_row(*one) for one in closed])
    problems: dict[Entry, list[str]] = {}
    for entry, problem, _ in untried:
        problems.setdefault(entry, []).append(problem)
    lines = [{"instance": e.name, "sizes": _sizes(e), "problems": ", ".join(of)} for e, of in problems.items()]
    yield from _section(f"Without a result: {len(untried)}", lines) if lines else ()
    yield from _section("Methods", list(_scores(table)))
    yield "\n## Data of others\n"
    for needs in dict.fromkeys(entry.needs for entry in table.entries.values() if entry.needs):
        names = [entry.name for entry in table.entries.values() if entry.needs == needs]
        yield f"* {len(names)} instances, from {names[0]} to {names[-1]}:\n  {needs}."
    yield ""


def _stopped(records: Iterable[Record]) -> dict[float, list[float]]:
    """The processor seconds of the runs that their limit ended, by limit."""
    spent: dict[float, list[float]] = {}
    for record in records:
        if record.status == Status.TIME_LIMIT and not math.isnan(record.seconds):
            spent.setdefault(record.time_limit, []).append(record.seconds)
    return spent


def _section(title: str, rows: Sequence[Mapping[str, str]]) -> Iterator[str]:
    yield f"\n## {title}\n"
    if rows:
        yield f"| {' | '.join(name.rstrip() for name in rows[0])} |"
        yield f"|{' --- |' * len(rows[0])}"
    for row in rows:
        yield f"| {' | '.join(row.values())} |"


def known_row(entry: Entry, problem: str, known: Known) -> dict[str, str]:
    """What is known of an instance and a problem, as texts of a table."""
    return {
        "instance": entry.name,
        "sizes": _sizes(entry),
        "problem": problem,
        "value": _number(known.value),
        "by": _by(known.best),
        "bound": _number(known.bound),
        "by ": _by(known.bounded),
        "gap": "–" if math.isnan(known.gap) else f"{known.gap:.2%}",
        "proof": known.bounded.proof[:_PROOF_DIGITS] if known.bounded else "",
    }


def _scores(table: Table) -> Iterator[dict[str, str]]:
    lines = standings(table).assign(few=lambda each: each["instances"] < _RANKED * each["of"])
    for _, of_problem in lines.groupby("problem", sort=False):
        for line in of_problem.sort_values("few", kind="stable").itertuples():
            yield score_row(line) | ({"rank": "–"} if line.few else {})


def _sizes(entry: Entry) -> str:
    return ", ".join(size.split("=")[1] for size in entry.sizes.split())


def _by(record: Record | None) -> str:
    if record is None:
        return ""
    seconds = "?" if math.isnan(record.seconds) else f"{record.seconds:.2g}"
    return f"{record.method}, {seconds} s of {record.time_limit:g} s"


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.10g}"
