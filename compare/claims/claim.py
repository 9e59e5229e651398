"""What a claim of a paper is, and what may be said of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..papers.bench import Bench, Experiment


class Verdict(StrEnum):
    """What running a claim comes to, and nothing else.

    ``holds``: in every run. ``holds for some ties``: only under a tie-break that the claim leaves open. ``order
    holds``: the growth or the ranking, not the figure. ``refuted``: there is a counterexample. ``open here``: these
    runs do not decide it.
    """

    HOLDS = "holds"
    SOME_TIES = "holds for some ties"
    ORDER = "order holds"
    REFUTED = "refuted"
    OPEN = "open here"


@dataclass(frozen=True)
class Finding:
    """A verdict on one algorithm or one half of a claim.

    Attributes
    ----------
    subject : str
        What it is about: an algorithm, a reading.
    verdict : Verdict
    evidence : str
        The figures that carry the verdict, for a person; counterexamples name their instance.
    runs : int
        How many runs or instances it rests on.
    table : sequence of mappings
        The same in rows, for a machine.
    """

    subject: str
    verdict: Verdict
    evidence: str
    runs: int
    table: Sequence[Mapping[str, Any]] = field(default_factory=tuple)


@dataclass(frozen=True)
class Claim:
    """A claim as a check.

    Attributes
    ----------
    id, statement, source
        As in ``overlaybench list claims``; `source` names paper and lemma, figure or table.
    judge : callable
        From a bench, which has the runs and the algorithms by name, to findings.
    experiment : callable
        From "is it the quick version" to the runs that go through the study machinery; none by default.
    seconds : (float, float), optional
        What the quick and the full version took on two cores that did nothing else, where that was measured.
    """

    id: str
    statement: str
    source: str
    judge: Callable[[Bench], Iterable[Finding]]
    experiment: Callable[[bool], Experiment | None] = lambda quick: None
    seconds: tuple[float, float] | None = None


def unless_thin(verdict: Verdict, evidence: str, subject: str, runs: int, named: int, **more: Any) -> Finding:
    """The finding, or ``open here`` with what the runs say so far where they are fewer than the claim names."""
    if runs >= named:
        return Finding(subject, verdict, evidence, runs, **more)
    so_far = f"{runs} of {named} runs, so far: {verdict}. {evidence}"
    return Finding(subject, Verdict.OPEN, so_far, runs, **more)
