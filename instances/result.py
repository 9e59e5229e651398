"""What a run of a method came to."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic

from .problem import Answer


class Status(StrEnum):
    """How a run ended.

    ``optimal`` is said only with a proof, and then the lower bound equals the value. ``feasible``: an answer,
    not proven optimal. ``infeasible``: proven to have no answer. ``time-limit``: stopped by the limit, with or
    without an answer. ``failed``: nothing usable came back; the reason says why.
    """

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    TIME_LIMIT = "time-limit"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class Result(Generic[Answer]):
    """A judged outcome: its answer, if there is one, has no violations, and `value` is the problem's own.

    Attributes
    ----------
    value, lower_bound : float or None
        None where there is no answer, or no bound.
    seconds : float
        Wall-clock time inside the method; compiling kernels and judging are not counted.
    measures : mapping
        What the problem says of the answer beside its value (edges, maximum degree).
    counters : mapping
        What the method says of its run (nodes of the search tree, merges).
    reason : str
        Why a run failed, or a remark.
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

    def __post_init__(self) -> None:
        if self.status is Status.OPTIMAL and (self.value is None or self.value != self.lower_bound):
            raise ValueError(f"optimal with value {self.value} and lower bound {self.lower_bound}")
        if self.status is Status.FAILED and not self.reason:
            raise ValueError("a failed run needs its reason")

    @property
    def gap(self) -> float | None:
        """(value − lower bound) ÷ value; None where either is missing."""
        return relative_gap(self.value, self.lower_bound)


def relative_gap(value: float | None, lower_bound: float | None) -> float | None:
    """(value − lower bound) ÷ |value|, 0 where they are equal; None where either is missing."""
    if value is None or lower_bound is None:
        return None
    if value == lower_bound:
        return 0.0
    return (value - lower_bound) / abs(value) if value else math.inf
