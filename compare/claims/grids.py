"""Grids of runs as data: what the figures, the tables and the claims about them rest on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any

import pandas as pd

from .bench import Experiment, grid, runs, together

Method = str | tuple[str, Mapping[str, Any]]
_SYMBOLS = {
    "law": "law",
    "workload": "law",
    "p_nodes": "|V|",
    "p_topics": "|T|",
    "p_subscriptions": "|T_v|",
    "p_users": "|U|",
}


@dataclass(frozen=True)
class Sheet:
    """Methods on the instances of a workload, for all combinations of its parameters' values.

    Sheets of one workload and one shape share their first instances: one with fewer seeds adds runs on some of them.

    `shape` has a value, or a tuple of values, of each parameter, `quick` those of the quick version where they differ.
    `methods` are names, or names with options, whose values may be tuples too; each runs under the rules `ties`, if it
    has them, and with random choices `repeats` times on each instance. `seeds` are the instances at a point, in the
    quick and in the full version; no runs where it is 0. If `paired`, all shapes have the same seeds: their instances
    have the same column ``draw``.
    """

    workload: str | tuple[str, ...]
    shape: Mapping[str, Any]
    problem: str
    methods: Sequence[Method]
    seeds: tuple[int, int] = (2, 10)
    ties: Sequence[str] = ()
    quick: Mapping[str, Any] = field(default_factory=dict)
    repeats: int = 1
    time_limit: float = 1200.0
    paired: bool = False

    def experiment(self, family: str, quick: bool) -> Experiment:
        seeds = self.seeds[0 if quick else 1]
        shapes = list(_combined({**self.shape, **(self.quick if quick else {})}))
        workloads = (self.workload,) if isinstance(self.workload, str) else self.workload
        drawn = partial(grid, family, seeds=seeds, paired=self.paired)
        recipes = tuple(one for name in workloads for shape in shapes for one in drawn(name, **shape))
        named = tuple(one for method in self.methods for one in self._with_ties(method))
        random = tuple(one for one in named if one[1].get("ties") == "random")
        plain = tuple(one for one in named if one not in random)
        groups = [(plain, 1), (random, self.repeats)] if self.ties else [(plain, self.repeats)]
        every = (
            runs(self.problem, *some, families=[family], time_limit=self.time_limit, repeats=repeats)
            for some, repeats in groups
            if some
        )
        return Experiment(recipes, tuple(every))

    def _with_ties(self, method: Method) -> Iterator[tuple[str, Mapping[str, Any]]]:
        name, options = (method, {}) if isinstance(method, str) else method
        for given in _combined(options):
            for rule in self.ties or ("",):
                yield name, {**given, **({"ties": rule} if rule not in ("", "lowest") else {})}


@dataclass(frozen=True)
class Grid:
    """The runs behind some claims and figures.

    `paper` has the values that the paper names, by column (``p_nodes``, ``law``); ``samples`` is its instances a point.
    """

    name: str
    sheets: tuple[Sheet, ...]
    paper: Mapping[str, Any] = field(default_factory=dict)

    def experiment(self, quick: bool) -> Experiment:
        numbered = ((f"{self.name} {rank}", sheet) for rank, sheet in enumerate(self.sheets))
        return together([sheet.experiment(family, quick) for family, sheet in numbered if sheet.seeds[not quick]])


def scale_of(paper: Mapping[str, Any], rows: pd.DataFrame) -> str:
    """How the sizes of some rows fall short of the paper's: ``|V| up to 2000 of 10000``; "" if they do not."""
    short = []
    for column, values in paper.items():
        claimed = values if isinstance(values, tuple) else (values,)
        if column == "samples":
            sizes = [name for name in paper if name in rows]
            points = rows.groupby(sizes)["instance"].nunique() if sizes else pd.Series([rows["instance"].nunique()])
            short += [f"{points.min()} of {claimed[0]} samples a point"] if points.min() < claimed[0] else []
            continue
        own = set(rows[column].dropna())
        missing = [value for value in claimed if value not in own]
        numbers = own and missing and not any(isinstance(value, str) for value in claimed)
        symbol = _SYMBOLS.get(column, column[2:])
        if numbers and max(own) < max(claimed):
            short.append(f"{symbol} up to {max(own):g} of {max(claimed):g}")
        elif missing and not numbers:
            short.append(f"{len(claimed) - len(missing)} of {len(claimed)} values of {symbol}")
    return ", ".join(short)


def _combined(values: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Every combination of the values of a mapping; a value that is no tuple is one value."""
    each = [value if isinstance(value, tuple) else (value,) for value in values.values()]
    yield from (dict(zip(values, one, strict=True)) for one in product(*each))
