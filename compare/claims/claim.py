"""Claims and what is said of them: verdicts, limits, judgements and the rows of the ledger."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any

from ..intervals import Interval, share_interval

if TYPE_CHECKING:
    from .bench import Bench
    from .statements import Statement


class Verdict(StrEnum):
    """The verdict on a claim, under its principal reading.

    ``confirmed in order``: the ranking or growth holds, the numbers do not. ``depends``: on a choice that the paper
    leaves open. ``contradicted``: by a counterexample, or all of the interval lies on the other side.
    """

    CONFIRMED = "confirmed"
    ORDER = "confirmed in order"
    DEPENDS = "depends"
    CONTRADICTED = "contradicted"
    NOT_DECIDED = "not decided"


_GRAVEST = (Verdict.CONTRADICTED, Verdict.DEPENDS, Verdict.NOT_DECIDED, Verdict.ORDER, Verdict.CONFIRMED)


def all_of(verdicts: Iterable[Verdict]) -> Verdict:
    """The gravest of some verdicts: contradicted, depends, not decided, confirmed in order, confirmed."""
    return min(verdicts, key=_GRAVEST.index)


@dataclass(frozen=True)
class Limit:
    """What a number must be: between `low` and `high`."""

    low: float = -math.inf
    high: float = math.inf

    def holds(self, number: Interval) -> bool | None:
        """Whether the whole interval lies between the limits; None where it reaches across one, or is none."""
        return True if number.inside(self.low, self.high) else False if number.outside(self.low, self.high) else None

    def __str__(self) -> str:
        if self in (RISES, FALLS):
            return "above 0" if self == RISES else "below 0"
        if self.low == self.high:
            return f"{self.low:.4g}"
        ends = [f"≥ {self.low:.4g}" * (self.low > -math.inf), f"≤ {self.high:.4g}" * (self.high < math.inf)]
        return " and ".join(filter(None, ends)) or "any number"


at_least, at_most = Limit, partial(Limit, -math.inf)
"""A number must be at least, or at most, this one."""


def about(published: float, factor: float = 1.1) -> Limit:
    """Within a factor of a positive published number."""
    return Limit(published / factor, published * factor)


RISES, FALLS = Limit(low=1e-12), Limit(high=-1e-12)


def exact(value: float, n: int = 1) -> Interval:
    """A number without variation: a count, a maximum, a proven value."""
    return Interval(value, value, value, n)


@dataclass(frozen=True)
class Line:
    """A line of a claim's sensitivity: what was varied, the number then, and the verdict that it would have."""

    varied: str
    number: Interval | None
    verdict: Verdict

    @classmethod
    def of(cls, varied: str, number: Interval, must: Limit | bool, nearly: Limit | None = None) -> Line:
        """A line whose number must be within a limit, or whose verdict is confirmed or contradicted."""
        if isinstance(must, bool):
            return cls(varied, number, Verdict.CONFIRMED if must else Verdict.CONTRADICTED)
        return cls(varied, number, verdict_of(number, must, nearly))


@dataclass(frozen=True)
class Judgement:
    """The outcome of a check.

    `because` is what decides, in a sentence: the counterexample, what it depends on, why it is not decided. `number` is
    the one number of the claim; `sensitivity` has other readings, laws and rules for ties, never counted, and `details`
    a few lines that the row shows below. `scale` is how the sizes fall short of the paper's ("" where they do not),
    `runs` the number of runs of methods behind it, 0 for those that the bench counted.
    """

    verdict: Verdict
    because: str = ""
    number: Interval | None = None
    sensitivity: Sequence[Line] = ()
    details: Sequence[str] = ()
    scale: str = ""
    runs: int = 0

    def line(self, varied: str) -> Line:
        """The judgement as a line of another one's sensitivity."""
        return Line(varied, self.number, self.verdict)


def over(choices: Sequence[str], judge: Callable[[str], Judgement], name: str = "{}") -> Judgement:
    """The judgement under the first of some choices (laws, readings), and a line for each other one."""
    first, *others = (judge(choice) for choice in choices)
    lines = [one.line(name.format(choice)) for choice, one in zip(choices[1:], others, strict=True)]
    return replace(first, sensitivity=(*first.sensitivity, *lines))


def under(
    choices: Sequence[str], name: str = "{}"
) -> Callable[[Callable[[Bench, str], Judgement]], Callable[[Bench], Judgement]]:
    """Make a function that judges under one of some choices into one that judges as :func:`over` does."""
    return lambda judge: lambda bench: over(choices, lambda choice: judge(bench, choice), name)


def judged(
    number: Interval, must: Limit, nearly: Limit | None = None, *, because: str = "", **others: Any
) -> Judgement:
    """The judgement of a number by what it must be, and by what suffices for ``confirmed in order``."""
    verdict = verdict_of(number, must, nearly)
    return Judgement(verdict, because or f"{number}, claimed {must}", number, **others)


def verdict_of(number: Interval, must: Limit, nearly: Limit | None = None) -> Verdict:
    """``confirmed`` inside the limit, otherwise ``confirmed in order`` inside `nearly`, otherwise by the interval."""
    held = must.holds(number)
    if held:
        return Verdict.CONFIRMED
    if nearly is not None and nearly.holds(number):
        return Verdict.ORDER
    return Verdict.NOT_DECIDED if held is None else Verdict.CONTRADICTED


@dataclass
class CaseTally:
    """Counts the cases of a universal claim and keeps the first that contradicts it."""

    n: int = 0
    failed: int = 0
    first: str = ""

    def add(self, holds: bool, case: str) -> bool:
        """Count a case; its text is kept where the claim does not hold. Returns `holds`."""
        self.n += 1
        self.failed += not holds
        self.first = self.first or ("" if holds else case)
        return holds

    @property
    def share(self) -> Interval | None:
        """The share of cases in which the claim holds; None without cases."""
        return share_interval(self.n - self.failed, self.n) if self.n else None

    def judgement(self, number: Interval | None = None, *, least: int = 1, **others: Any) -> Judgement:
        """``confirmed`` if all cases hold, ``contradicted`` by the first that does not, undecided below `least`."""
        if self.failed:
            text = f"not in {self.failed} of {self.n} cases, the first: {self.first}"
            return Judgement(Verdict.CONTRADICTED, text, number or exact(self.failed, self.n), **others)
        if self.n < least:
            text = f"no counterexample in {self.n} cases; the claim names {least}"
            return Judgement(Verdict.NOT_DECIDED, text, number or exact(0, self.n), **others)
        return Judgement(Verdict.CONFIRMED, f"in all {self.n} cases", number or exact(0, self.n), **others)


def depends_on(choice: str, sides: Mapping[str, Judgement]) -> Judgement:
    """One judgement from those under equally natural sides of an open choice; the first is the principal one.

    ``depends`` if one side is confirmed, also in order, and another contradicted; otherwise the first side's verdict.
    The other sides are lines of the sensitivity.
    """
    (_, principal), *rest = sides.items()
    lines = (*(Line(name, one.number, one.verdict) for name, one in rest), *principal.sensitivity)
    verdicts = {one.verdict for one in sides.values()}
    if Verdict.CONTRADICTED not in verdicts or not verdicts & {Verdict.CONFIRMED, Verdict.ORDER}:
        return replace(principal, sensitivity=lines)
    shown = "; ".join(f"{name}: {one.verdict}" for name, one in sides.items())
    return replace(principal, verdict=Verdict.DEPENDS, because=f"on {choice}: {shown}", sensitivity=lines)


@dataclass(frozen=True)
class Claim:
    """A claim with the check that judges it; what a paper claims stands in the file of its statements (``p3.toml``).

    `judge` maps a bench, which offers the runs and the algorithms, to a judgement; `grids` are the names of the grids
    whose runs it judges. `said` and `place` are statement and source of a claim that no file of statements has,
    `module` and `data` the module of the functions, and the text, of a claim that is defined as data.
    """

    id: str
    judge: Callable[[Bench], Judgement]
    grids: tuple[str, ...] = ()
    said: str = ""
    place: str = ""
    module: str = ""
    data: str = ""

    @property
    def name(self) -> str:
        """The id, by which the catalogue lists the claim."""
        return self.id

    @property
    def statement(self) -> Statement:
        """What is claimed, where, and how it is read."""
        from .statements import Statement, statements

        return statements().get(self.id) or Statement(self.id, self.place, "remark", self.said)


def claim(id_: str, *grids: str, said: str = "", place: str = "") -> Callable[[Callable[[Bench], Judgement]], Claim]:
    """Make a function that judges into a `Claim` on the runs of these grids."""
    return lambda judge: Claim(id_, judge, grids, said, place)


@dataclass(frozen=True)
class LedgerRow:
    """The row of a claim in the ledger: what someone cites.

    `quick` says whether the quick version ran; `seconds` are those of the judge, in one process, `grid_seconds` the sum
    of its runs on a grid; `version` is that of the code that ran and judged (`version_of_claim`), `earlier` the version
    of the ledger whose number the row carries over, "" for a row of this code.
    """

    id: str
    quick: bool
    judgement: Judgement
    seconds: float = 0.0
    grid_seconds: float = 0.0
    version: str = ""
    earlier: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of the record and of ``claims --json``."""
        flat = asdict(self)
        flat |= {"seconds": round(self.seconds, 1), "grid_seconds": round(self.grid_seconds, 1)}
        own = flat.pop("judgement")
        lines = [[line.varied, _numbers(line.number), line.verdict] for line in self.judgement.sensitivity]
        own |= {"number": _numbers(self.judgement.number), "sensitivity": lines, "details": list(own["details"])}
        return {"id": flat.pop("id"), "verdict": own.pop("verdict"), **own, **flat}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> LedgerRow:
        """The inverse of :meth:`to_dict`."""
        own = dict(data)
        judged_ = {name: own.pop(name) for name in Judgement.__dataclass_fields__}
        judged_["verdict"] = Verdict(judged_["verdict"])
        judged_["number"] = _interval(judged_["number"])
        judged_["sensitivity"] = tuple(Line(of, _interval(n), Verdict(v)) for of, n, v in judged_["sensitivity"])
        return cls(**own, judgement=Judgement(**judged_ | {"details": tuple(judged_["details"])}))


def _numbers(number: Interval | None) -> list[float | None] | None:
    if number is None:
        return None
    values = (number.mean, number.low, number.high)
    return [*(float(f"{v:.6g}") if math.isfinite(v) else None for v in values), number.n]


def _interval(numbers: Sequence[Any] | None) -> Interval | None:
    if numbers is None or numbers[0] is None:
        return None
    mean, *ends, n = numbers
    low, high = (math.nan if end is None else end for end in ends)
    return Interval(mean, low, high, n)
