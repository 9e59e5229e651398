"""The atlas on record: what was found on all instances of a size, committed as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from ...instances.contract.files import atomic_write
from .cells import AtlasCell
from .surveys import RANDOM

FILE = Path(__file__).with_suffix(".json")


@dataclass(frozen=True)
class Found:
    """What a cell has under a rule for ties."""

    not_optimal: int
    value: int
    optimum: int
    cases: int
    mean_ratio: float
    topics: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class AtlasEntry:
    """A cell on record: a method as :class:`.Term` labels it, on a problem."""

    method: str
    problem: str
    nodes: int
    topics: int
    instances: int
    found: Mapping[str, Found]
    random: float  # the mean ratio under random ties; 0 where it is not known


def entry_of(method: str, problem: str, cell: AtlasCell) -> AtlasEntry:
    """The entry of a cell."""
    found = {}
    for ties in cell.rules:
        worst = cell.worst(ties)
        mean = round(cell.mean_ratio(ties), 9)
        numbers = cell.not_optimal(ties), worst.value, worst.optimum, worst.cases
        found[ties] = Found(*numbers, mean, cell.example(worst))
    random = round(cell.mean_ratio(RANDOM), 9) if cell.of(RANDOM) else 0.0
    return AtlasEntry(method, problem, cell.nodes, cell.topics, cell.instances, found, random)


@cache
def record(file: Path = FILE) -> dict[tuple[str, str], dict[tuple[int, int], AtlasEntry]]:
    """The entries on record by method and problem, and then by nodes and topics."""
    entries: dict[tuple[str, str], dict[tuple[int, int], AtlasEntry]] = {}
    for line in json.loads(file.read_text(encoding="utf-8")) if file.exists() else ():
        found = {
            ties: Found(**{**each, "topics": tuple(map(tuple, each["topics"]))}) for ties, each in line["found"].items()
        }
        entry = AtlasEntry(**{**line, "found": found})
        entries.setdefault((entry.method, entry.problem), {})[entry.nodes, entry.topics] = entry
    return entries


def keep(new: Iterable[AtlasEntry], file: Path = FILE) -> None:
    """Add entries to the record in place of those of the same method, problem and size."""
    known = {key: dict(cells) for key, cells in record(file).items()}
    for entry in new:
        known.setdefault((entry.method, entry.problem), {})[entry.nodes, entry.topics] = entry
    kept = [entry for _, cells in sorted(known.items()) for _, entry in sorted(cells.items())]
    lines = ",\n".join(json.dumps(asdict(entry), separators=(",", ":")) for entry in kept)
    atomic_write(file, f"[\n{lines}\n]\n")
    record.cache_clear()
