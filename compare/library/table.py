"""The library: its instances, the best runs of each method on them, scores of methods, and docs/library.md."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from msgspec import Struct, structs

from ...instances.contract.catalogue import PROBLEMS
from ...instances.contract.errors import BadInput, unknown
from ...instances.contract.files import atomic_write, read_text
from ...instances.contract.numbers import exact
from ...instances.contract.problem import family_of
from ...instances.contract.result import Status, relative_gap
from ..printable import markdown_table
from ..studies.columns import gap
from ..studies.library_entries import INSTANCES, TABLE, Entry, read_entries, rows_of, typed
from ..studies.proofs import TOLERANCE

_RECORDS = "records.csv"
_BEGIN, _END = "<!-- the table -->", "<!-- end of the table -->"
_DIGITS, _PROOF_DIGITS = 10, 8
_RANKED, _ENOUGH = 0.1, 0.5
_METHOD = ["problem", "method", "time_limit"]
_COLUMNS = [
    *(*_METHOD, "instances", "answered", "of", "mean_gap", "improved", "proven", "primal_integral", "rank", "compared")
]

_EMPTY = dict.fromkeys(("value", "bound", "seconds", "integral", "time_limit"), math.nan)

Key = tuple[str, str, str, float]


class Record(Struct, frozen=True):
    """A run of a method (with its options but defaults) on an instance and a problem under a time limit (seconds).

    `value` is that of the answer, which the problem has validated, `bound` is certified by the checker, both NaN
    without one; `seconds` are processor seconds, NaN where they are unknown; `integral` is the primal integral ÷ time
    limit against the best value known when the run was taken in; `proof` is the SHA-256 of the proof file, "" without a
    certified bound, and `version` that of the code. `date` is the day of the run (ISO), "" where it is unknown.
    """

    instance: str
    problem: str
    method: str
    time_limit: float
    status: Status
    value: float
    bound: float
    seconds: float
    integral: float
    proof: str
    version: str
    date: str = ""

    @property
    def key(self) -> Key:
        return self.instance, self.problem, self.method, self.time_limit


@dataclass(frozen=True)
class Known:
    """What is known of an instance and a problem: the records of the lowest value and of the highest bound."""

    best: Record | None = None
    bounded: Record | None = None

    @property
    def value(self) -> float:
        """The best value; NaN without one."""
        return math.nan if self.best is None else self.best.value

    @property
    def bound(self) -> float:
        """The best certified bound; NaN without one."""
        return math.nan if self.bounded is None else self.bounded.bound

    @property
    def gap(self) -> float:
        """(value − bound) ÷ value, at least 0 though rounding may raise the bound; NaN where either is missing."""
        found = None if self.best is None or self.bounded is None else relative_gap(self.value, self.bound)
        return math.nan if found is None else max(found, 0.0)

    @property
    def is_open(self) -> bool:
        """Whether the optimum is not proven."""
        return not self.gap <= TOLERANCE


@dataclass(frozen=True)
class LibraryTable:
    """The library: its entries by name, and by instance, problem, method and limit two of the runs.

    `records` has the run of lowest value (then of highest bound, then the fastest), `bounds` that of highest bound
    where it is another one.
    """

    entries: Mapping[str, Entry]
    records: Mapping[Key, Record] = field(default_factory=dict)
    bounds: Mapping[Key, Record] = field(default_factory=dict)

    @property
    def runs(self) -> Iterator[Record]:
        """All records: one or two for each instance, problem, method and limit."""
        yield from self.records.values()
        yield from self.bounds.values()

    @cached_property
    def by_digest(self) -> dict[str, Entry]:
        return {entry.digest: entry for entry in self.entries.values() if entry.digest}

    @cached_property
    def _by_pair(self) -> dict[tuple[str, str], list[Record]]:
        pairs: dict[tuple[str, str], list[Record]] = {}
        for record in self.runs:
            pairs.setdefault((record.instance, record.problem), []).append(record)
        return pairs

    def of_pair(self, instance: str, problem: str) -> list[Record]:
        return self._by_pair.get((instance, problem), [])

    def entry(self, name: str) -> Entry:
        """The entry of that name; an unknown one is bad input."""
        if name not in self.entries:
            raise unknown("instance of the library", name, self.entries, nearest=3)
        return self.entries[name]

    def pairs(self) -> Iterator[tuple[Entry, str]]:
        for entry in self.entries.values():
            for problem in entry.problems:
                yield entry, problem

    def known(self, instance: str, problem: str) -> Known:
        """What is known of an instance and a problem: of equal records the fastest."""
        records = self.of_pair(instance, problem)
        valued = [one for one in records if not math.isnan(one.value)]
        bounded = [one for one in records if not math.isnan(one.bound)]
        return Known(
            min(valued, key=lambda one: (one.value, _high(one.seconds)), default=None),
            min(bounded, key=lambda one: (-one.bound, _high(one.seconds)), default=None),
        )

    def with_records(self, records: Iterable[Record]) -> LibraryTable:
        """The table with further runs; of those with the same key only the best one and that of highest bound stay."""
        runs: dict[Key, list[Record]] = {}
        for record in (*self.runs, *records):
            runs.setdefault(record.key, []).append(record)
        best, bounds = {}, {}
        for key, ones in runs.items():
            best[key] = min(ones, key=lambda one: (_high(one.value), -_low(one.bound), _high(one.seconds)))
            bounded = min(ones, key=lambda one: (-_low(one.bound), _high(one.value), _high(one.seconds)))
            if _low(bounded.bound) > _low(best[key].bound):
                bounds[key] = bounded
        return replace(self, records=best, bounds=bounds)


def _high(number: float) -> float:
    return math.inf if math.isnan(number) else number


def _low(number: float) -> float:
    return -math.inf if math.isnan(number) else number


def read_table(folder: Path = TABLE) -> LibraryTable:
    """Read instances.csv and, if it is there, records.csv."""
    entries = read_entries(folder)
    records = []
    for where, row in rows_of(folder / _RECORDS, Record) if (folder / _RECORDS).is_file() else ():
        record = typed(where, {column: text or _EMPTY.get(column, "") for column, text in row.items()}, Record)
        if record.instance not in entries or record.problem not in entries[record.instance].problems:
            raise BadInput(f"{where}: {INSTANCES} has no '{record.instance}' with '{record.problem}': remove the line")
        records.append(record)
    return LibraryTable(entries).with_records(records)


def write_table(table: LibraryTable, folder: Path) -> None:
    """Write both files, each atomically, a line an instance or a record, in a fixed order."""
    order = {name: number for number, name in enumerate(table.entries)}
    records = sorted(table.runs, key=lambda one: (order[one.instance], *one.key[1:]))
    for name, kind, items in ((INSTANCES, Entry, table.entries.values()), (_RECORDS, Record, records)):
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(kind.__struct_fields__)
        writer.writerows(map(line_of, items))
        atomic_write(folder / name, text.getvalue())


def line_of(item: Struct) -> tuple[str, ...]:
    """An entry or a record as the texts of a line."""
    return tuple(_text(getattr(item, field)) for field in item.__struct_fields__)


def number_text(value: float) -> str:
    """A number as the files have it; "" for NaN."""
    return "" if math.isnan(value) else exact(value, _DIGITS)


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join("=".join(one) if isinstance(one, tuple) else one for one in value)
    if isinstance(value, float):
        return number_text(value)
    return str(value)


def score_methods(table: LibraryTable, records: Iterable[Record] | None = None) -> pd.DataFrame:
    """The score of each method of some runs, by problem and time limit; without runs, of those in the table.

    The columns are problem, method, time_limit; instances (run), answered, of (that the library has for the problem);
    mean_gap: the mean of |value − best| ÷ value, 1 without an answer, where best is the best value known, or that of
    these runs if it is lower; improved: answers below the best value known; proven: the share of the instances on which
    the run proved its own answer optimal; primal_integral: its mean, in shares of the time limit; rank and compared:
    the rank by mean gap among `compared` methods, which are these and those of the table, each compared on the
    instances that both ran on, if these are at least half.
    """
    known = {_key(each): each for each in table.records.values()}
    own = known if records is None else {_key(each): each for each in records}
    every = pd.DataFrame(map(structs.asdict, (known | own).values()), columns=list(Record.__struct_fields__))
    every = every.astype({"value": float, "integral": float})
    pairs = [every["instance"], every["problem"]]
    every["known"] = [table.known(*pair).value for pair in zip(*pairs, strict=True)]
    best = every[["known", "value"]].min(axis=1).astype(float).groupby(pairs).transform("min")
    every["gap"] = gap(every["value"], best)
    every["improved"] = every["value"] < every["known"] * (1 - TOLERANCE)
    every["proved"] = every["status"] == Status.OPTIMAL
    lines = every.groupby(_METHOD, sort=False, as_index=False).agg(
        instances=("instance", "size"),
        answered=("value", "count"),
        mean_gap=("gap", "mean"),
        improved=("improved", "sum"),
        proven=("proved", "mean"),
        primal_integral=("integral", "mean"),
    )
    ran = {key[:3] for key in own}
    lines = lines[[key in ran for key in lines[_METHOD].itertuples(index=False, name=None)]]
    of_problem = every.groupby("problem")
    gaps = {name: rows.pivot(index="instance", columns=_METHOD, values="gap") for name, rows in of_problem}
    rivals = [_beaten_by(gaps[key[0]], key) for key in lines[_METHOD].itertuples(index=False, name=None)]
    sizes = pd.Series([problem for _, problem in table.pairs()], dtype=object).value_counts()
    order = {name: rank for rank, name in enumerate(PROBLEMS)}
    lines = lines.assign(
        of=[int(sizes.get(problem, 0)) for problem in lines["problem"]],
        rank=[1 + sum(each) for each in rivals],
        compared=[1 + len(each) for each in rivals],
        order=[order.get(family_of(problem), len(order)) for problem in lines["problem"]],
    )
    return lines.sort_values(["order", "problem", "mean_gap", "method"], ignore_index=True)[_COLUMNS]


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
    better = rivals.mean() < rivals.notna().mul(here, axis=0).sum() / rivals.notna().sum() - TOLERANCE
    return [bool(one) for one in better[enough]]


def page_text(file: Path) -> str:
    """The text of a page for the table; BadInput if it lacks the two marks."""
    text = read_text(file)
    if _BEGIN not in text or _END not in text:
        raise BadInput(f"{file}: has no lines '{_BEGIN}' and '{_END}': add them where the table belongs")
    return text


def with_table(text: str, table: LibraryTable, *, listed: bool = True) -> str:
    """A page's text with the table between its two marks, with its instances or with what is said of all of them."""
    body = "\n".join(_body(table, listed))
    return re.sub(f"{_BEGIN}.*{_END}", lambda _: f"{_BEGIN}\n\n{body}\n{_END}", text, flags=re.DOTALL)


def write_page(table: LibraryTable, file: Path) -> None:
    """Replace what is between the two marks of the page by the table; BadInput if the page lacks them."""
    atomic_write(file, with_table(page_text(file), table))


def law_points(table: LibraryTable, problem: str = "min-tco") -> pd.DataFrame:
    """The points of the map: one for each instance with a popularity law, on which the problem is posed.

    The columns law, nodes, subscriptions, gap and seconds are those of :func:`.proof_map`.
    """
    rows = []
    for entry, posed in table.pairs():
        given = entry.complete
        if posed == problem and "subscriptions" in given and entry.kind == "topics":
            known = table.known(entry.name, problem)
            seconds = [math.nan if record is None else record.seconds for record in (known.best, known.bounded)]
            sizes = float(given["nodes"]), float(given["subscriptions"])
            rows.append((entry.workload, *sizes, known.gap if known.is_open else 0.0, float(np.max(seconds))))
    return pd.DataFrame(rows, columns=["law", "nodes", "subscriptions", "gap", "seconds"])


def _body(table: LibraryTable, listed: bool) -> Iterator[str]:
    known = [(entry, problem, table.known(entry.name, problem)) for entry, problem in table.pairs()]
    closed = [one for one in known if not one[2].is_open]
    tried = [one for one in known if one[2].is_open and one[2].best is not None]
    untried = [one for one in known if one[2].is_open and one[2].best is None]
    yield f"{len(table.entries)} instances, {len(known)} with their problems: {len(closed)} are solved with a certified"
    yield f"proof, {len(tried)} are open with a known value, and {len(untried)} have no result yet."
    stopped = sorted(_stopped(table.runs).items())
    if spent := ", ".join(f"{min(own):.1f} to {max(own):.1f} of {limit:g} s" for limit, own in stopped):
        yield f"Processor seconds of the runs that their limit ended: {spent}."
    if listed:
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
        yield from markdown_table(rows[0], (row.values() for row in rows))


def known_row(entry: Entry, problem: str, known: Known) -> dict[str, str]:
    """What is known of an instance and a problem, as texts of a table."""
    return {
        "instance": entry.name,
        "sizes": _sizes(entry),
        "problem": problem,
        "value": number_text(known.value) or "–",
        "by": by_text(known.best),
        "bound": number_text(known.bound) or "–",
        "by ": by_text(known.bounded),
        "gap": "–" if math.isnan(known.gap) else f"{known.gap:.2%}",
        "proof": known.bounded.proof[:_PROOF_DIGITS] if known.bounded else "",
    }


def _scores(table: LibraryTable) -> Iterator[dict[str, str]]:
    lines = score_methods(table)
    lines["few"] = lines["instances"] < _RANKED * lines["of"]
    for _, of_problem in lines.groupby("problem", sort=False):
        for line in of_problem.sort_values("few", kind="stable").itertuples():
            yield score_row(line) | ({"rank": "–"} if line.few else {})


def _sizes(entry: Entry) -> str:
    return ", ".join(size.split("=")[1] for size in entry.sizes.split())


def by_text(record: Record | None) -> str:
    """What found it: a method with its seconds and its limit; "" for none."""
    if record is None:
        return ""
    digits = ".0f" if record.seconds > 99 else ".2g"
    seconds = "?" if math.isnan(record.seconds) else f"{record.seconds:{digits}}"
    return f"{record.method}, {seconds} s of {record.time_limit:g} s"
