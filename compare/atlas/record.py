"""The atlas on record: what was found on all instances of a size, committed as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ...instances.contract.files import atomic_write
from .cells import AtlasCell
from .every_instance import number_of_instances
from .surveys import BEST, RANDOM, WORST

FILE = Path(__file__).with_suffix(".json")
_SHOWN = (WORST, BEST)
_DIGITS = 7


@dataclass(frozen=True)
class Found:
    """What a cell has under a rule for ties: the worst value and optimum, and how many instances have that ratio.

    `topics` are the subscribers of each topic of the first of them, on record for the worst and the best ties.
    """

    not_optimal: int
    value: int
    optimum: int
    cases: int
    mean_ratio: float
    topics: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True)
class AtlasEntry:
    """A cell on record: a method as :class:`.Term` labels it, on a problem."""

    method: str
    problem: str
    nodes: int
    topics: int
    found: Mapping[str, Found]
    random: float  # the mean ratio under random ties

    @property
    def instances(self) -> int:
        return number_of_instances(self.nodes, self.topics)


def entry_of(method: str, problem: str, cell: AtlasCell) -> AtlasEntry:
    """The entry of a cell."""
    found = {}
    for ties in cell.rules:
        worst, mean = cell.worst(ties), round(cell.mean_ratio(ties), _DIGITS)
        topics = cell.example(worst) if ties in _SHOWN else ()
        found[ties] = Found(cell.not_optimal(ties), worst.value, worst.optimum, worst.cases, mean, topics)
    return AtlasEntry(method, problem, cell.nodes, cell.topics, found, round(cell.mean_ratio(RANDOM), _DIGITS))


@cache
def entries_on_record(file: Path = FILE) -> dict[tuple[str, str], dict[tuple[int, int], AtlasEntry]]:
    """The entries on record by method and problem, and then by nodes and topics."""
    entries: dict[tuple[str, str], dict[tuple[int, int], AtlasEntry]] = {}
    for line in json.loads(file.read_text(encoding="utf-8")) if file.exists() else ():
        key = line["method"], line["problem"]
        for nodes, topics, random, rules in line["cells"]:
            found = {
                ties: Found(*[*each[:-1], tuple(tuple(map(int, topic)) for topic in each[-1].split())])
                for ties, each in rules.items()
            }
            entries.setdefault(key, {})[nodes, topics] = AtlasEntry(*key, nodes, topics, found, random)
    return entries


def keep(new: Iterable[AtlasEntry], file: Path = FILE) -> None:
    """Add entries to the record in place of those of the same method, problem and size."""
    known = {key: dict(cells) for key, cells in entries_on_record(file).items()}
    for entry in new:
        known.setdefault((entry.method, entry.problem), {})[entry.nodes, entry.topics] = entry
    lines = []
    for (method, problem), entries in sorted(known.items()):
        cells = [[n, t, entry.random, _rules(entry)] for (n, t), entry in sorted(entries.items())]
        lines.append(json.dumps({"method": method, "problem": problem, "cells": cells}, separators=(",", ":")))
    atomic_write(file, "[\n" + ",\n".join(lines) + "\n]\n")
    entries_on_record.cache_clear()


def _rules(entry: AtlasEntry) -> dict[str, list[object]]:
    return {
        ties: [
            *(each.not_optimal, each.value, each.optimum, each.cases, each.mean_ratio),
            " ".join("".join(map(str, members)) for members in each.topics),
        ]
        for ties, each in entry.found.items()
    }
