"""The outcome of a run of a method, and the choices of a greedy method in order."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Generic, overload

from ..runtime.run import Point
from .numbers import short
from .problem import Answer
from .shown import facts

if TYPE_CHECKING:
    import pandas as pd


class Status(StrEnum):
    """The status of a run.

    ``optimal``: proven, so that the lower bound equals the value. ``feasible``: an answer without a proof of
    optimality; of an exact method only for the reason given. ``infeasible``: proven to have no answer. ``time-limit``,
    ``memory-limit``: stopped by a limit of time or memory, with or without an answer. ``failed``: no valid answer, for
    the reason given. ``skipped``: the method does not apply to the instance, for the reason given.

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
    MEMORY_LIMIT = "memory-limit"
    FAILED = "failed"
    SKIPPED = "skipped"


OUT_OF_MEMORY = "out of memory"
"""The reason of a search that its memory ended."""


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
        shown = ", ".join(f"{name} {short(value)}" for name, value in self._summary().items() if value is not None)
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


_WIDTH, _WIDEST_CHOICE = 80, 24


@dataclass(frozen=True)
class Step:
    """One choice of a greedy method."""

    nodes: tuple[int, ...]  # the ends of the edge chosen, or the centre of the star
    edges: tuple[tuple[int, int], ...]  # those added, each u < v: one, or those of the star that are new
    gain: float  # what the method maximises, named by `Trace.measure`: for an edge its contribution
    ties: int  # the number of equally good choices, this one included
    degrees: tuple[int, ...]  # of `nodes`, after the choice
    topics: tuple[int, ...]  # those of which the edge unites two components, or whose star is complete now


@dataclass(frozen=True, repr=False)
class Trace(Sequence[Step]):
    """The steps of one run of a greedy method, and the labels of its instance."""

    measure: str  # what the method maximises: ``contribution``, ``neighbours``, ``connection density`` and so on
    steps: tuple[Step, ...]
    node_labels: tuple[str, ...]
    topic_labels: tuple[str, ...]

    @overload
    def __getitem__(self, index: int) -> Step: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Step, ...]: ...
    def __getitem__(self, index: int | slice) -> Step | tuple[Step, ...]:
        return self.steps[index]

    def __len__(self) -> int:
        return len(self.steps)

    def choice(self, step: Step) -> str:
        """The edge ``n0–n3``, or the centre ``n0``."""
        return "–".join(self.node_labels[v] for v in step.nodes)

    def records(self) -> list[dict[str, Any]]:
        """The steps in labels of the instance, as printed in JSON; they count from 1."""
        return [
            {
                "step": number,
                "nodes": [self.node_labels[v] for v in step.nodes],
                "edges": [[self.node_labels[u], self.node_labels[v]] for u, v in step.edges],
                self.measure: step.gain,
                "ties": step.ties,
                "degrees": list(step.degrees),
                "topics": [self.topic_labels[t] for t in step.topics],
            }
            for number, step in enumerate(self.steps, 1)
        ]

    def to_pandas(self) -> pd.DataFrame:
        """A row a step: step, choice, the measure, ties, edges added, degrees and topics; lists as text."""
        import pandas as pd

        rows = (
            {
                **record,
                "choice": "–".join(record["nodes"]),
                "edges": len(record["edges"]),
                "degrees": ", ".join(map(str, record["degrees"])),
                "topics": " ".join(record["topics"]),
            }
            for record in self.records()
        )
        return pd.DataFrame(list(rows), columns=["step", "choice", self.measure, "ties", "edges", "degrees", "topics"])

    def __repr__(self) -> str:
        """A table of at most 80 columns; long labels and lists of topics are cut."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        choice = min(max([6, *(len(self.choice(step)) for step in self.steps)]), _WIDEST_CHOICE)
        gain = max(len(self.measure), 6)
        yield f"{'step':>4}  {'choice':<{choice}}  {self.measure:>{gain}}  {'ties':>5}  {'degrees':>9}  topics"
        for number, step in enumerate(self.steps, 1):
            name, degrees = self.choice(step), ", ".join(map(str, step.degrees))
            name = name if len(name) <= choice else f"{name[: choice - 1]}…"
            start = f"{number:>4}  {name:<{choice}}  {step.gain:>{gain}.6g}  {step.ties:>5}  {degrees:>9}  "
            yield (start + _listed([self.topic_labels[t] for t in step.topics], _WIDTH - len(start))).rstrip()

    def _repr_html_(self) -> str:
        html: str = self.to_pandas().to_html(index=False, max_rows=60)
        return html


def _listed(words: Sequence[str], width: int) -> str:
    """As many words as fit, and how many there are where some do not."""
    if len(text := " ".join(words)) <= width:
        return text
    ending = f" … ({len(words)})"
    kept = text[: max(0, width - len(ending) + 1)].rpartition(" ")[0]
    return kept + ending if kept else f"{len(words)} topics"
