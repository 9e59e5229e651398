"""How long claims take: as recorded, and corrected by how long the first ones took."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from ...instances.contract.catalogue import KINDS
from ..papers.bench import Experiment
from ..studies.recipe import Recipe
from .claim import Claim
from .register import RECORD, ClaimOutcome, outcomes_in

_SPARK_STARTS = 15.0
_SLOWEST, _GROWTH = 20.0, 2.0


@dataclass(frozen=True)
class ExpectedTime:
    """The time of claims, in seconds.

    Attributes
    ----------
    judging : tuple of float
        Of each claim's judge, in one process.
    grids : float
        Of all runs of their grids, one after the other; a grid that several claims share counts once.
    is_lower : bool
        Whether full versions that were never recorded are estimated from quick ones with fewer or smaller parts.
    """

    judging: tuple[float, ...]
    grids: float
    is_lower: bool = False

    def seconds(self, cores: int) -> float:
        """The time on so many idle cores."""
        return sum(self.judging) + (self.grids / cores + _SPARK_STARTS if self.grids else 0.0)

    def text(self, cores: int) -> str:
        """The same as text: ``about 10 min``."""
        return f"{'at least about' if self.is_lower else 'about'} {duration(self.seconds(cores))}"


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0))


def expected_seconds(claims: Sequence[Claim], quick: bool) -> float:
    """An estimate of the duration of these claims on the idle cores of this machine."""
    return expected(claims, quick).seconds(cores())


def expected(claims: Sequence[Claim], quick: bool) -> ExpectedTime:
    """The time of claims: as a claim states or as the record has it.

    A version that is not on record counts as the other one, scaled by the number of its instances and, where their
    largest differ, by the squares of their first sizes: P4.F9 takes 0.2 s on 1000 users and 15 s on 10,000.
    """
    record = _recorded(RECORD)
    judging: list[float] = []
    grids: dict[object, float] = {}
    is_lower = False
    for claim in claims:
        own, grid, lower = _one(claim, quick, record)
        judging.append(own)
        if grid and (experiment := claim.experiment(quick)) is not None:
            runs = _runs(experiment)
            grids[runs] = max(grid, grids.get(runs, 0.0))
        is_lower |= lower
    return ExpectedTime(tuple(judging), sum(grids.values()), is_lower)


@cache
def _recorded(path: Path) -> Mapping[tuple[str, bool], ClaimOutcome]:
    return {(outcome.id, outcome.quick): outcome for outcome in outcomes_in(path)}


def _one(claim: Claim, quick: bool, record: Mapping[tuple[str, bool], ClaimOutcome]) -> tuple[float, float, bool]:
    """The seconds of the judge and of the grid's runs, and whether larger instances were never measured."""
    if claim.seconds is not None:
        return claim.seconds[0 if quick else 1], 0.0, False
    known = record.get((claim.id, quick))
    if known is not None:
        return known.seconds, known.grid_seconds, False
    known = record.get((claim.id, not quick))
    if known is None:
        return 0.0, 0.0, True
    wanted, measured = claim.experiment(quick), claim.experiment(not quick)
    if wanted is None or measured is None:
        return known.seconds, 0.0, not quick
    sizes = [[_size(recipe) for recipe in experiment.recipes] for experiment in (wanted, measured)]
    differ = max(sizes[0]) != max(sizes[1])
    work = [sum(size**_GROWTH for size in each) if differ else len(each) for each in sizes]
    return known.seconds, known.grid_seconds * work[0] / work[1], differ and not quick


def _runs(experiment: Experiment) -> object:
    """What two experiments have in common that make the same runs, whatever their families are called."""
    recipes = frozenset((recipe.workload, recipe.parameters, recipe.seed) for recipe in experiment.recipes)
    return recipes, frozenset(replace(one, families=()) for one in experiment.runs)


def _size(recipe: Recipe) -> float:
    """The first size of an instance, as far as its recipe has it: |V|, users, brokers."""
    given = dict(recipe.parameters)
    value = given.get(KINDS[recipe.kind].sizes[0], 1)
    return float(value) if isinstance(value, (int, float)) else 1.0


class TimeToGo:
    """The time that the judges of claims still take, by the pace of those that are done.

    Parameters
    ----------
    expected : ExpectedTime
        Of the claims, in their order.
    """

    def __init__(self, expected: ExpectedTime) -> None:
        self._expected = expected.judging
        self._measured: list[float] = []

    def add(self, seconds: float) -> None:
        """Take note that the next claim's judge took so long."""
        self._measured.append(seconds)

    @property
    def seconds(self) -> float:
        """As recorded, times the pace so far, to which a second as recorded is added: short judges say little."""
        done = len(self._measured)
        recorded, left = sum(self._expected[:done]), sum(self._expected[done:])
        pace = (sum(self._measured) + 1.0) / (recorded + 1.0)
        return left * min(max(pace, 1 / _SLOWEST), _SLOWEST)

    def __str__(self) -> str:
        return f"{len(self._measured) + 1} of {len(self._expected)}, about {duration(self.seconds)} to go"


def duration(seconds: float) -> str:
    """A duration for a reader: ``40 s``, ``6 min``, ``2.5 h``."""
    if seconds < 90:
        return f"{max(1.0, seconds):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"
