"""The outcome of a run of a method."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic

from .problem import Answer
from .shown import facts, text
from .trace import Trace
from .trajectory import Point


class Status(StrEnum):
    """The status of a run.

    ``optimal``: proven, so that the lower bound equals the value. ``feasible``: an answer without a proof of
    optimality. ``infeasible``: proven to have no answer. ``time-limit``: stopped by a limit (of time, or of memory with
    a reason that says so), with or without an answer. ``failed``: no valid answer, for the reason given. ``skipped``:
    the method does not apply to the instance, for the reason given.

    Examples
    --------
    >>> import overlaybench as ob
    >>> ob.Status.OPTIMAL == "optimal"
    True
    """

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    TIME_LIMIT = "time-limit"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, kw_only=True)
class Result(Generic[Answer]):
    """A validated outcome: its answer, if any, has no violations, and the problem has computed `value`.

    Attributes
    ----------
    value, lower_bound : float or None
        None without an answer or a bound.
    seconds : float
        Wall-clock time of the method, without the compilation of kernels and the validation.
    measures : mapping
        Further figures of the answer (edges, maximum degree).
    counters : mapping
        Figures of the run (nodes of the search tree, merges).
    reason : str
        The cause of a failure, or a remark.
    trace : Trace or None
        The choices of a greedy method in order, where ``trace=True`` asked for them.
    points : tuple of Point
        The value and the lower bound over time, in the order of time; the last point is the outcome. Methods that do
        not report have this one only.

    Examples
    --------
    >>> import overlaybench as ob
    >>> result = ob.solve(ob.read({"ann": ["news"], "bob": ["news"]}), "min-tco", "branch-and-cut")
    >>> str(result.status), result.value, result.lower_bound, result.gap, result.answer
    ('optimal', 1, 1, 0.0, Overlay(2 nodes, 1 edges, maximum degree 1))
    """

    problem: str
    method: str
    status: Status
    value: float | None = None
    lower_bound: float | None = None
    answer: Answer | None = None
    seconds: float = 0.0
    measures: Mapping[str, float] = field(default_factory=dict)
    counters: Mapping[str, float | str] = field(default_factory=dict)
    reason: str = ""
    trace: Trace | None = None
    points: tuple[Point, ...] = ()

    def __post_init__(self) -> None:
        if self.status is Status.OPTIMAL and (self.value is None or self.value != self.lower_bound):
            raise ValueError(f"optimal with value {self.value} and lower bound {self.lower_bound}")
        if self.status in (Status.FAILED, Status.SKIPPED) and not self.reason:
            raise ValueError(f"a {self.status} run needs its reason")

    def __repr__(self) -> str:
        shown = ", ".join(f"{name} {text(value)}" for name, value in self._summary().items() if value is not None)
        return f"Result({self.problem} by {self.method}: {self.status}, {shown})"

    def _repr_html_(self) -> str:
        rows: dict[str, object] = {"problem": self.problem, "method": self.method, "status": str(self.status)}
        rows |= self._summary() | {name.replace("_", " "): value for name, value in self.measures.items()}
        show = getattr(self.answer, "_repr_html_", None)
        return facts("Result", rows) + (show() if show else "")

    def _summary(self) -> dict[str, object]:
        return {
            "value": self.value,
            "lower bound": self.lower_bound,
            "gap": None if self.gap is None else f"{self.gap:.2%}",
            "seconds": self.seconds,
            "reason": self.reason or None,
        }

    @property
    def gap(self) -> float | None:
        """(value − lower bound) ÷ value; None if either is missing."""
        return relative_gap(self.value, self.lower_bound)


def relative_gap(value: float | None, lower_bound: float | None) -> float | None:
    """(value − lower bound) ÷ |value|, 0 if they are equal; None if either is missing."""
    if value is None or lower_bound is None:
        return None
    if value == lower_bound:
        return 0.0
    return (value - lower_bound) / abs(value) if value else math.inf
