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
class Finding:
    """A verdict on one algorithm or one part of a claim.

    Attributes
    ----------
    subject : str
        The algorithm or the part of the claim.
    verdict : Verdict
    evidence : str
        The numbers behind the verdict, as text; a counterexample names its instance.
    runs : int
        The number of runs or instances behind it.
    table : sequence of mappings
        The evidence as rows.
    """

    subject: str
    verdict: Verdict
    evidence: str
    runs: int
    table: Sequence[Mapping[str, Any]] = field(default_factory=tuple)


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


def verdict_of(held: bool, otherwise: Verdict = Verdict.REFUTED) -> Verdict:
    """``holds`` if `held`, otherwise the other verdict."""
    return Verdict.HOLDS if held else otherwise


def open_if_fewer(verdict: Verdict, evidence: str, subject: str, runs: int, named: int) -> Finding:
    """The finding; ``open here`` if there are fewer runs than the claim names."""
    if runs >= named:
        return Finding(subject, verdict, evidence, runs)
    so_far = f"{runs} of {named} runs, so far: {verdict}. {evidence}"
    return Finding(subject, Verdict.OPEN, so_far, runs)
