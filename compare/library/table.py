"""The table of the library: its instances, and the best runs of each method on each."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct, ValidationError, convert

from ...instances.contract.errors import BadInput, unknown
from ...instances.contract.files import atomic_write, read_text
from ...instances.contract.option import Value
from ...instances.contract.result import Status, relative_gap
from ..catalogue import problem_named, workload_named, workload_version
from ..studies.recipe import Recipe, freeze

TABLE = Path(__file__).parent
"""The folder of the project's own table: instances.csv and records.csv."""

_INSTANCES, _RECORDS = "instances.csv", "records.csv"
_DIGITS = 10

Item = TypeVar("Item", bound=Struct)
_EMPTY = dict.fromkeys(("value", "bound", "seconds", "integral", "time_limit"), math.nan)

Key = tuple[str, str, str, float]


class Entry(Struct, frozen=True):
    """An instance of the library, made by a workload with the parameters that are not defaults, and a seed.

    The instances of a group have the same problems. `digest` and `sizes` (``nodes=20 topics=10 subscriptions=40``) are
    "" where the instance was never made.
    """

    name: str
    group: str
    workload: str
    parameters: tuple[tuple[str, str], ...]
    seed: int
    digest: str
    sizes: str
    problems: tuple[str, ...]

    @property
    def kind(self) -> str:
        """The kind of the instance."""
        return workload_named(self.workload).kind

    @property
    def complete(self) -> dict[str, Value]:
        """All parameters of the workload."""
        return workload_named(self.workload).complete(dict(self.parameters))

    @property
    def recipe(self) -> Recipe:
        """How a study makes it; its family is the group."""
        name = workload_named(self.workload).name
        code = workload_version(name)
        return Recipe(self.group, self.seed, workload=name, parameters=freeze(self.complete), code=code)

    @property
    def needs(self) -> str:
        """What the instance needs of the machine; "" for nothing."""
        return workload_named(self.workload).needs

    def make(self) -> Any:
        """The instance; BadInput if this machine lacks its data, or has others than those of the table."""
        try:
            instance = self.recipe.make()
        except BadInput as error:
            raise BadInput(f"instance '{self.name}' is not here: {error}") from None
        if self.digest and instance.digest != self.digest:
            data = self.needs or "the code of its workload"
            raise BadInput(
                f"instance '{self.name}' is not here: it depends on {data}, of which this machine has another version "
                f"(digest {instance.digest[:12]}, not {self.digest[:12]})"
            )
        return instance


class Record(Struct, frozen=True):
    """A run of a method (with its options but defaults) on an instance and a problem under a time limit (seconds).

    Attributes
    ----------
    value, bound : float
        Of the answer, which the problem has validated, and certified by the checker; NaN without one.
    seconds : float
        Processor seconds; NaN where they are unknown.
    integral : float
        Primal integral ÷ time limit against the best value known when the run was taken in.
    proof, version : str
        The SHA-256 of the proof file, or "" without a certified bound; and the version of the code.
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

    @property
    def key(self) -> Key:
        """What runs are compared by."""
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
        """(value − bound) ÷ value; NaN where either is missing."""
        found = None if self.best is None or self.bounded is None else relative_gap(self.value, self.bound)
        return math.nan if found is None else found

    @property
    def is_open(self) -> bool:
        """Whether the optimum is not proven."""
        return not self.gap <= 1e-6


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
        """The entries by the digest of their instance."""
        return {entry.digest: entry for entry in self.entries.values() if entry.digest}

    @cached_property
    def _by_pair(self) -> dict[tuple[str, str], list[Record]]:
        pairs: dict[tuple[str, str], list[Record]] = {}
        for record in self.runs:
            pairs.setdefault((record.instance, record.problem), []).append(record)
        return pairs

    def entry(self, name: str) -> Entry:
        """The entry of that name; an unknown one is bad input."""
        if name not in self.entries:
            raise unknown("instance of the library", name, self.entries)
        return self.entries[name]

    def pairs(self) -> Iterator[tuple[Entry, str]]:
        """Every entry with each of its problems."""
        for entry in self.entries.values():
            for problem in entry.problems:
                yield entry, problem

    def known(self, instance: str, problem: str) -> Known:
        """What is known of an instance and a problem: of equal records the fastest."""
        records = self._by_pair.get((instance, problem), [])
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
    entries: dict[str, Entry] = {}
    groups: dict[str, tuple[str, ...]] = {}
    for where, row in _rows(folder / _INSTANCES, Entry):
        pairs = [word.split("=", 1) for word in row["parameters"].split()]
        entry = _typed(where, row | {"parameters": sorted(pairs), "problems": row["problems"].split()}, Entry)
        try:
            wrong = [name for name in entry.problems if problem_named(name).kind != entry.kind]
            entry.complete  # noqa: B018
        except BadInput as error:
            raise BadInput(f"{where}: {error}") from None
        if wrong or not entry.problems:
            raise BadInput(f"{where}: '{', '.join(wrong)}' are no problems of {entry.kind}: name one at least")
        if groups.setdefault(entry.group, entry.problems) != entry.problems:
            raise BadInput(f"{where}: instances of group '{entry.group}' have other problems: choose another group")
        if entries.setdefault(entry.name, entry) is not entry:
            raise BadInput(f"{where}: there is another instance '{entry.name}': rename one")
    records = []
    for where, row in _rows(folder / _RECORDS, Record) if (folder / _RECORDS).is_file() else ():
        record = _typed(where, {name: text or _EMPTY.get(name, "") for name, text in row.items()}, Record)
        if record.instance not in entries or record.problem not in entries[record.instance].problems:
            raise BadInput(f"{where}: {_INSTANCES} has no '{record.instance}' with '{record.problem}': remove the line")
        records.append(record)
    return LibraryTable(entries).with_records(records)


def write_table(table: LibraryTable, folder: Path) -> None:
    """Write both files, each atomically, a line an instance or a record, in a fixed order."""
    order = {name: number for number, name in enumerate(table.entries)}
    records = sorted(table.runs, key=lambda one: (order[one.instance], *one.key[1:]))
    for name, kind, items in ((_INSTANCES, Entry, table.entries.values()), (_RECORDS, Record, records)):
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(kind.__struct_fields__)
        writer.writerows([_text(getattr(item, field)) for field in kind.__struct_fields__] for item in items)
        atomic_write(folder / name, text.getvalue())


def _rows(file: Path, kind: type[Struct]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The lines of a file with their places; BadInput unless each has the fields of the type."""
    names = kind.__struct_fields__
    reader = csv.reader(io.StringIO(read_text(file)))
    if tuple(head := next(reader, [])) != names:
        raise BadInput(f"{file}: line 1: has the columns {', '.join(head)}: they must be {', '.join(names)}")
    for row in reader:
        where = f"{file}: line {reader.line_num}"
        if len(row) != len(names):
            raise BadInput(f"{where}: has {len(row)} fields, not {len(names)}: correct it")
        yield where, dict(zip(names, row, strict=True))


def _typed(where: str, row: dict[str, Any], kind: type[Item]) -> Item:
    try:
        return convert(row, kind, strict=False)
    except ValidationError as error:
        raise BadInput(f"{where}: {error}: correct it") from None


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join("=".join(one) if isinstance(one, tuple) else one for one in value)
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.{_DIGITS}g}"
    return str(value)
