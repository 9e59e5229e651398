"""Claims that depend on ties: an algorithm under every tie-breaking rule, and the extremes over all choices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...instances.topics.instance import TopicInstance
from ..catalogue import problem_named
from ..papers.bench import Bench
from .claim import Finding, Verdict

SEEDS = 100
_SEARCH_SECONDS = 20.0
_NEAR = 0.1
_RULES = ("lowest", "highest", "random", "best", "worst")


@dataclass(frozen=True)
class Case:
    """An instance with its name and the claimed value."""

    name: str
    instance: TopicInstance
    claimed: float
    exhaustive: bool = True


@dataclass(frozen=True)
class Spread:
    """The values of an algorithm on one instance, by tie-breaking rule.

    Attributes
    ----------
    lowest, highest : float
    random : tuple of float
        The distinct values over `SEEDS` seeds, sorted.
    best, worst : float or None
        The extremes over all choices; None without a completed search.
    choices : str
        The choices that lead to the worst value.
    """

    lowest: float
    highest: float
    random: tuple[float, ...]
    best: float | None = None
    worst: float | None = None
    choices: str = ""
    runs: int = 0

    def by_rule(self) -> dict[str, tuple[float, ...]]:
        """The values under each rule that was run."""
        found = {"lowest": (self.lowest,), "highest": (self.highest,), "random": self.random}
        extremes = {"best": self.best, "worst": self.worst}
        return found | {rule: (value,) for rule, value in extremes.items() if value is not None}

    def row(self) -> Mapping[str, Any]:
        """The row for the table of a finding."""
        return {
            **{rule: values[0] if len(values) == 1 else list(values) for rule, values in self.by_rule().items()},
            **({"choices": self.choices} if self.choices else {}),
        }

    def __str__(self) -> str:
        every = sorted({value for values in self.by_rule().values() for value in values})
        if len(every) == 1:
            return f"{every[0]:g}"
        return ", ".join(f"{rule} {_range(values)}" for rule, values in self.by_rule().items())


def spread(
    bench: Bench, method: str, problem: str, instance: TopicInstance, *, exhaustive: bool = True, **options: Any
) -> Spread:
    """Run an algorithm with ties lowest, highest and 100 times random; `exhaustive` adds the extremes by search."""

    def value(ties: str, seed: int = 0) -> float:
        return bench.value(method, instance, problem, ties=ties, seed=seed, **options)

    before = bench.done
    lowest, highest = value("lowest"), value("highest")
    random = tuple(sorted({value("random", seed) for seed in range(SEEDS)}))
    best = worst = None
    choices = ""
    if exhaustive:
        bench.done += 2
        low, high = (
            bench.methods[method].run(
                instance, problem_named(problem), ties=extreme, time_limit=_SEARCH_SECONDS, **options
            )
            for extreme in ("best", "worst")
        )  # fmt: skip
        best, worst = low.value, high.value
        choices = str(high.counters.get("choices", ""))
    return Spread(lowest, highest, random, best, worst, choices, bench.done - before)


def count_finding(
    bench: Bench, subject: str, method: str, problem: str, cases: Iterable[Case], claim: str, **options: Any
) -> Finding:
    """Compare an algorithm's values with the claimed ones, for each case and rule.

    ``holds``: all values are equal to the claimed ones. ``holds for some ties``: so under at least one rule or extreme.
    ``order holds``: in the largest case every value is within a tenth of the claimed one. Otherwise ``refuted``.
    """
    spreads = [
        (case, spread(bench, method, problem, case.instance, exhaustive=case.exhaustive, **options)) for case in cases
    ]
    table = [{"case": case.name, "claimed": case.claimed, **found.row()} for case, found in spreads]
    shown = "; ".join(f"{case.name}: {found} (claimed {case.claimed:g})" for case, found in spreads)
    done = sum(found.runs for _, found in spreads)
    verdict, which = _verdict(spreads)
    return Finding(subject, verdict, f"{claim}. {which}{shown}", done, table)


def _verdict(spreads: Sequence[tuple[Case, Spread]]) -> tuple[Verdict, str]:
    def everywhere(right: Callable[[tuple[float, ...], float], bool], rule: str) -> bool:
        tested = [(found.by_rule()[rule], case.claimed) for case, found in spreads if rule in found.by_rule()]
        return bool(tested) and all(right(values, claimed) for values, claimed in tested)

    exact = [rule for rule in _RULES if everywhere(lambda values, claimed: set(values) == {claimed}, rule)]
    rules = {rule for _, found in spreads for rule in found.by_rule()}
    if set(exact) == rules:
        return Verdict.HOLDS, ""
    if exact:
        return Verdict.SOME_TIES, f"It holds only under {' and '.join(exact)}. "
    case, largest = spreads[-1]
    near = [
        abs(value - case.claimed) <= _NEAR * case.claimed for values in largest.by_rule().values() for value in values
    ]
    if all(near):
        return Verdict.ORDER, "The growth holds, but the count holds under no rule. "
    return Verdict.REFUTED, "No tie-breaking rule gives the count. "


def _range(values: tuple[float, ...]) -> str:
    return f"{values[0]:g}" if len(values) == 1 else f"{values[0]:g}–{values[-1]:g}"
