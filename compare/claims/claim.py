"""Claims, findings and verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..papers.bench import Bench, Experiment


class Verdict(StrEnum):
    """The verdict on a claim.

    ``holds``: in every run. ``holds for some ties``: only under a tie-breaking rule that the claim leaves open. ``order
    holds``: the growth or the ranking holds, the numbers do not. ``refuted``: there is a counterexample. ``open here``:
    the runs do not decide it.
    """

    HOLDS = "holds"
    SOME_TIES = "holds for some ties"
    ORDER = "order holds"
    REFUTED = "refuted"
    OPEN = "open here"


@dataclass(frozen=True)
class Interval:
    """A mean or a share with its 95% confidence interval, beside the published number if there is one.

    `low` and `high` are equal to `mean` where nothing varies, and None for a single sample.
    """

    of: str
    mean: float
    low: float | None
    high: float | None
    samples: int
    claimed: float | None = None

    def __str__(self) -> str:
        shown = f"{self.of} {self.mean:.4g}"
        if self.low is not None and self.high is not None:
            shown += f" [{self.low:.4g}, {self.high:.4g}]"
        return shown if self.claimed is None else f"{shown}, published {self.claimed:.4g}"


@dataclass(frozen=True)
class Scope:
    """What a finding rests on.

    Attributes
    ----------
    sizes : mapping
        The values that were run of each size, law or option, by its symbol: ``{"|V|": (1000, 2000)}``.
    claimed : mapping
        The values that the paper names, by the same symbols; ``"samples"`` is its number of instances a point. Empty
        where the paper names none.
    samples : int
        The fewest instances at a point.
    points : int
        The number of combinations of sizes.
    ties : tuple of str
        The tie-breaking rules; empty where no choice is open.
    seeds : int
        The runs of a method with random choices on each instance.
    reading : str
        How the claim was read, where the paper can be read in more than one way.
    """

    sizes: Mapping[str, tuple[float | str, ...]] = field(default_factory=dict)
    claimed: Mapping[str, tuple[float | str, ...]] = field(default_factory=dict)
    samples: int = 0
    points: int = 1
    ties: tuple[str, ...] = ()
    seeds: int = 1
    reading: str = ""

    @property
    def scale(self) -> str:
        """How the sizes that were run fall short of the paper's: ``at |V| up to 2000 of 10000``; "" if they do not."""
        short = []
        for symbol, values in self.claimed.items():
            own = (self.samples,) if symbol == "samples" else self.sizes.get(symbol, ())
            if symbol == "samples" and self.samples < max(map(float, values)):
                short.append(f"{self.samples:g} of {max(map(float, values)):g} samples")
            elif symbol != "samples" and (missing := [value for value in values if value not in own]):
                numbers = [float(value) for value in own if not isinstance(value, str)]
                greatest = [float(value) for value in values if not isinstance(value, str)]
                if numbers and greatest and max(numbers) < max(greatest):
                    short.append(f"{symbol} up to {max(numbers):g} of {max(greatest):g}")
                else:
                    short.append(f"{len(values) - len(missing)} of {len(values)} values of {symbol}")
        return f"at {', '.join(short)}" if short else ""


@dataclass(frozen=True)
class Finding:
    """A verdict on one algorithm or one part of a claim.

    Attributes
    ----------
    subject : str
        The algorithm or the part of the claim.
    verdict : Verdict
    evidence : str
        The numbers behind the verdict, as text; a counterexample names its instance. Sizes, rules for ties and
        intervals are not repeated here: :attr:`scope` and :attr:`intervals` have them.
    runs : int
        The number of runs or instances behind it.
    table : sequence of mappings
        The evidence as rows.
    scope : Scope
        Sizes, instances, ties and seeds behind it.
    intervals : sequence of Interval
        Every mean that the verdict compares.
    """

    subject: str
    verdict: Verdict
    evidence: str
    runs: int
    table: Sequence[Mapping[str, Any]] = field(default_factory=tuple)
    scope: Scope = field(default_factory=Scope)
    intervals: Sequence[Interval] = ()

    @property
    def line(self) -> str:
        """The verdict with the sizes it is limited to: ``holds at |V| up to 2000 of 10000``."""
        return f"{self.verdict} {self.scope.scale}".rstrip()


@dataclass(frozen=True)
class Claim:
    """A claim of a paper with the check that judges it.

    Attributes
    ----------
    id, statement, source
        As in ``overlaybench list claims``; `source` names paper and lemma, figure or table.
    judge : callable
        Maps a bench, which offers the runs and the algorithms, to findings.
    experiment : callable
        Maps "quick version?" to the runs that are made as a study; None by default.
    seconds : (float, float), optional
        The measured duration of the quick and of the full version on two idle cores.
    """

    id: str
    statement: str
    source: str
    judge: Callable[[Bench], Iterable[Finding]]
    experiment: Callable[[bool], Experiment | None] = lambda quick: None
    seconds: tuple[float, float] | None = None

    @property
    def name(self) -> str:
        """The id, by which the catalogue lists the claim."""
        return self.id


@dataclass(frozen=True)
class NotRun:
    """A sentence of a paper that states something checkable and that no run here can check, with the reason."""

    id: str
    statement: str
    source: str
    reason: str


def verdict_of(held: bool, otherwise: Verdict = Verdict.REFUTED) -> Verdict:
    """``holds`` if `held`, otherwise the other verdict."""
    return Verdict.HOLDS if held else otherwise


def open_if_fewer(verdict: Verdict, evidence: str, subject: str, runs: int, named: int) -> Finding:
    """The finding; ``open here`` if there are fewer runs than the claim names."""
    if runs >= named:
        return Finding(subject, verdict, evidence, runs)
    so_far = f"{runs} of {named} runs, so far: {verdict}. {evidence}"
    return Finding(subject, Verdict.OPEN, so_far, runs)
