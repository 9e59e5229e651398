"""The page of the library (docs/library.md): what is open, what is proven, and how methods score."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pandas as pd

from ...instances.contract.errors import BadInput
from ...instances.contract.files import atomic_write, read_text
from ...instances.contract.result import Status
from .scores import standings
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
    return re.sub(f"{_BEGIN}.*{_END}", lambda _: f"{_BEGIN}\n\n{body}\n\n{_END}", text, flags=re.DOTALL)


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
            if known.best is not None and known.bounded is not None:
                seconds = max(known.best.seconds, known.bounded.seconds)
            else:
                seconds = math.nan
            gap = known.gap if known.is_open else 0.0
            rows.append((entry.workload, float(given["nodes"]), float(given["subscriptions"]), gap, seconds))
    return pd.DataFrame(rows, columns=["law", "nodes", "subscriptions", "gap", "seconds"])


def _body(table: Table) -> Iterator[str]:
    known = [(entry, problem, table.known(entry.name, problem)) for entry, problem in table.pairs()]
    opened = [one for one in known if one[2].is_open]
    closed = [one for one in known if not one[2].is_open]
    tried = [one for one in opened if one[2].best is not None]
    yield f"{len(table.entries)} instances, {len(known)} with their problems: {len(closed)} are solved with a certified"
    yield f"proof, {len(tried)} are open with a known value, and {len(opened) - len(tried)} have no result yet."
    yield from _stopped(table.runs)
    yield ""
    yield from _pairs("Open", tried)
    yield from _pairs("Proven", closed)
    yield from _untried([(entry, problem) for entry, problem, one in opened if one.best is None])
    yield from _scores(table)
    yield from _needs(table.entries.values())


def _stopped(records: Iterable[Record]) -> Iterator[str]:
    """How many processor seconds the runs had that their limit ended, a line a limit."""
    spent: dict[float, list[float]] = {}
    for record in records:
        if record.status == Status.TIME_LIMIT and not math.isnan(record.seconds):
            spent.setdefault(record.time_limit, []).append(record.seconds)
    for limit, seconds in sorted(spent.items()):
        yield f"Runs that a limit of {limit:g} s ended had {min(seconds):.1f} to {max(seconds):.1f} processor seconds."


def _pairs(title: str, pairs: list[tuple[Entry, str, Known]]) -> Iterator[str]:
    yield f"## {title}: {len(pairs)}"
    yield ""
    if pairs:
        yield "| instance | sizes | problem | value | by | bound | by | gap | proof |"
        yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    for entry, problem, known in sorted(pairs, key=lambda one: one[0].group):
        gap = "–" if math.isnan(known.gap) else f"{known.gap:.2%}"
        proof = known.bounded.proof[:_PROOF_DIGITS] if known.bounded else ""
        yield (
            f"| {entry.name} | {_sizes(entry)} | {problem} | {_number(known.value)} | {_by(known.best)} "
            f"| {_number(known.bound)} | {_by(known.bounded)} | {gap} | {proof} |"
        )
    yield ""


def _untried(pairs: list[tuple[Entry, str]]) -> Iterator[str]:
    if not pairs:
        return
    yield f"## Without a result: {len(pairs)}"
    yield ""
    yield "| instance | sizes | problems |"
    yield "| --- | --- | --- |"
    for entry in dict.fromkeys(entry for entry, _ in pairs):
        problems = ", ".join(problem for each, problem in pairs if each is entry)
        yield f"| {entry.name} | {_sizes(entry)} | {problems} |"
    yield ""


def _scores(table: Table) -> Iterator[str]:
    yield "## Methods"
    yield ""
    yield "| problem | method | limit | instances | mean gap | proven | primal integral | rank |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    lines = standings(table).assign(few=lambda each: each.instances < _RANKED * each.of)
    for _, of_problem in lines.groupby("problem", sort=False):
        for line in of_problem.sort_values("few", kind="stable").itertuples():
            rank = "–" if line.few else f"{line.rank} of {line.compared}"
            yield (
                f"| {line.problem} | {line.method} | {line.time_limit:g} s | {line.instances} of {line.of} "
                f"| {line.mean_gap:.2%} | {line.proven:.0%} | {line.primal_integral:.2%} | {rank} |"
            )
    yield ""


def _needs(entries: Iterable[Entry]) -> Iterator[str]:
    yield "## Data of others"
    yield ""
    needs: dict[str, list[str]] = {}
    for entry in entries:
        if entry.needs:
            needs.setdefault(entry.needs, []).append(entry.name)
    for text, names in needs.items():
        yield f"* {len(names)} instances, from {names[0]} to {names[-1]}:"
        yield f"  {text}."


def _sizes(entry: Entry) -> str:
    return ", ".join(size.split("=")[1] for size in entry.sizes.split())


def _by(record: Record | None) -> str:
    if record is None:
        return ""
    seconds = "?" if math.isnan(record.seconds) else f"{record.seconds:.2g}"
    return f"{record.method}, {seconds} s of {record.time_limit:g} s"


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.10g}"
