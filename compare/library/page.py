"""The page of the library (docs/library.md): what is open, what is proven, and how methods score and rank."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from msgspec import structs

from ...instances.contract.catalogue import PROBLEMS
from ...instances.contract.errors import BadInput
from ...instances.contract.files import atomic_write, read_text
from ...instances.contract.problem import family_of
from ...instances.contract.result import Status
from ..studies.columns import gap
from .table import Entry, Known, LibraryTable, Record

_BEGIN, _END = "<!-- the table -->", "<!-- end of the table -->"
_PROOF_DIGITS = 12
_RANKED = 0.1
_ENOUGH = 0.5
_TOLERANCE = 1e-6
_METHOD = ["problem", "method", "time_limit"]
_COLUMNS = (
    *("problem", "method", "time_limit", "instances", "answered", "of", "mean_gap", "improved", "proven"),
    *("primal_integral", "rank", "compared"),
)


def page_text(file: Path) -> str:
    """The text of a page for the table; BadInput if it lacks the two marks."""
    text = read_text(file)
    if _BEGIN not in text or _END not in text:
        raise BadInput(f"{file}: has no lines '{_BEGIN}' and '{_END}': add them where the table belongs")
    return text


def with_table(text: str, table: LibraryTable) -> str:
    """A page's text with the table between its two marks."""
    body = "\n".join(_body(table))
    return re.sub(f"{_BEGIN}.*{_END}", lambda _: f"{_BEGIN}\n\n{body}\n{_END}", text, flags=re.DOTALL)


def write_page(table: LibraryTable, file: Path) -> None:
    """Replace what is between the two marks of the page by the table; BadInput if the page lacks them."""
    atomic_write(file, with_table(page_text(file), table))


def law_points(table: LibraryTable, problem: str = "min-tco") -> pd.DataFrame:
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
            left = known.gap if known.is_open else 0.0
            rows.append(
                (entry.workload, float(given["nodes"]), float(given["subscriptions"]), left, float(np.max(seconds)))
            )
    return pd.DataFrame(rows, columns=["law", "nodes", "subscriptions", "gap", "seconds"])


def _body(table: LibraryTable) -> Iterator[str]:
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


def _scores(table: LibraryTable) -> Iterator[dict[str, str]]:
    lines = scored(table).assign(few=lambda each: each["instances"] < _RANKED * each["of"])
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


def scored(table: LibraryTable, records: Iterable[Record] | None = None) -> pd.DataFrame:
    """The score of each method of some runs, by problem and time limit; without runs, of those in the table.

    Returns
    -------
    DataFrame
        problem, method, time_limit; instances (run), answered, of (that the library has for the problem); mean_gap:
        the mean of |value − best| ÷ value, 1 without an answer, where best is the best value known, or that of these
        runs if it is lower; improved: answers below the best value known; proven: the share of the instances on which
        the run proved its own answer optimal; primal_integral: its mean, in shares of the time limit; rank and
        compared: the rank by mean gap among `compared` methods, which are these and those of the table, each compared
        on the instances that both ran on, if these are at least half.
    """
    own = {_key(each): each for each in (table.records.values() if records is None else records)}
    runs = [structs.asdict(each) for each in ({_key(each): each for each in table.records.values()} | own).values()]
    every = pd.DataFrame(runs, columns=list(Record.__struct_fields__))
    pairs = list(zip(every["instance"], every["problem"], strict=True))
    record = [table.known(instance, problem).value for instance, problem in pairs]
    best = every.assign(known=record)[["known", "value"]].min(axis=1).groupby([every["instance"], every["problem"]])
    every = every.assign(known=record, best=best.transform("min"))
    every["gap"] = [gap(value, least) for value, least in zip(every["value"], every["best"], strict=True)]
    sizes = pd.Series([problem for _, problem in table.pairs()], dtype=object).value_counts()
    gaps = {
        problem: rows.pivot(index="instance", columns=_METHOD, values="gap")
        for problem, rows in every.groupby("problem")
    }
    lines, ran = [], {key[:3] for key in own}
    for key, rows in every.groupby(_METHOD, sort=False):
        if key in ran:
            places = _beaten_by(gaps[key[0]], key)
            numbers = {
                "instances": len(rows),
                "answered": int(rows["value"].notna().sum()),
                "of": int(sizes.get(key[0], 0)),
                "mean_gap": rows["gap"].mean(),
                "improved": int((rows["value"] < rows["known"] * (1 - _TOLERANCE)).sum()),
                "proven": (rows["status"] == Status.OPTIMAL).mean(),
                "primal_integral": rows["integral"].mean(),
                "rank": 1 + sum(places),
                "compared": 1 + len(places),
            }
            lines.append(dict(zip(_METHOD, key, strict=True)) | numbers)
    order = {name: number for number, name in enumerate(PROBLEMS)}
    by = ("problem", "mean_gap", "method")
    lines.sort(key=lambda line: (order.get(family_of(line["problem"]), len(order)), *map(line.get, by)))
    return pd.DataFrame(lines, columns=list(_COLUMNS))


def score_row(line: Any) -> dict[str, str]:
    """A score as texts of a table."""
    return {
        "problem": line.problem,
        "method": line.method,
        "limit": f"{line.time_limit:g} s",
        "instances": f"{line.instances} of {line.of}",
        "mean gap": f"{line.mean_gap:.2%}",
        "proven": f"{line.proven:.0%}",
        "primal integral": f"{line.primal_integral:.2%}",
        "rank": f"{line.rank} of {line.compared}",
    }


def _key(record: Record) -> tuple[str, str, float, str]:
    return record.problem, record.method, record.time_limit, record.instance


def _beaten_by(gaps: pd.DataFrame, method: tuple[str, str, float]) -> list[bool]:
    """Whether it has the lower mean gap, for each other method that ran on half of a method's instances."""
    here = gaps[method].dropna()
    rivals = gaps.loc[here.index].drop(columns=[method])
    enough = rivals.notna().sum() >= _ENOUGH * len(here)
    better = rivals.mean() < rivals.notna().mul(here, axis=0).sum() / rivals.notna().sum() - _TOLERANCE
    return [bool(one) for one in better[enough]]
