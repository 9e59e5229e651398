"""The instances of the library by name: the recipe, digest and problems of each, and ``@NAME`` in place of a file."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct, ValidationError, convert

from ...instances.contract.errors import BadInput, unknown
from ...instances.contract.files import read_text
from ...instances.contract.option import Value
from ..catalogue import problem_named, workload_named, workload_version
from .task import Recipe, freeze

TABLE = Path(__file__).parents[1] / "library"
"""The folder of the project's own table: instances.csv and records.csv."""

INSTANCES = "instances.csv"
_SIGN = "@"

Item = TypeVar("Item", bound=Struct)


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
        return workload_named(self.workload).kind

    @property
    def complete(self) -> dict[str, Value]:
        return workload_named(self.workload).complete(dict(self.parameters))

    @property
    def recipe(self) -> Recipe:
        """How a study makes it; its family is the group."""
        name, given = workload_named(self.workload).name, freeze(self.complete)
        return Recipe(self.group, self.seed, workload=name, parameters=given, code=workload_version(name))

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


def read_entries(folder: Path = TABLE) -> dict[str, Entry]:
    """Read instances.csv; bad input names the line."""
    entries: dict[str, Entry] = {}
    groups: dict[str, tuple[str, ...]] = {}
    for where, row in rows_of(folder / INSTANCES, Entry):
        pairs = [word.split("=", 1) for word in row["parameters"].split()]
        entry = typed(where, row | {"parameters": sorted(pairs), "problems": row["problems"].split()}, Entry)
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
    return entries


_own_entries = lru_cache(maxsize=1)(read_entries)


def library_entry(source: str | Path) -> Entry | None:
    """The entry that ``@NAME`` names; None for any other path, and where a file has that name.

    Bad input, with the three nearest names, if the library has no such instance.
    """
    name = str(source)
    if not name.startswith(_SIGN) or Path(source).exists():
        return None
    return entry_named(name.removeprefix(_SIGN))


def entry_named(name: str) -> Entry:
    """The entry of the project's own table with that name; an unknown one is bad input with the three nearest."""
    entries = _own_entries()
    if name not in entries:
        raise unknown("instance of the library", name, entries, nearest=3)
    return entries[name]


def rows_of(file: Path, kind: type[Struct]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The lines of a file with their places; BadInput unless each has the fields of the type."""
    reader, names = csv.reader(io.StringIO(read_text(file))), kind.__struct_fields__
    if (head := tuple(next(reader, []))) != names:
        raise BadInput(f"{file}: line 1: has the columns {', '.join(head)}: they must be {', '.join(names)}")
    for row in reader:
        where = f"{file}: line {reader.line_num}"
        if len(row) != len(names):
            raise BadInput(f"{where}: has {len(row)} fields, not {len(names)}: correct it")
        yield where, dict(zip(names, row, strict=True))


def typed(where: str, row: dict[str, Any], kind: type[Item]) -> Item:
    """A line as a type of msgspec; BadInput that names its place unless it fits."""
    try:
        return convert(row, kind, strict=False)
    except ValidationError as error:
        raise BadInput(f"{where}: {error}: correct it") from None
