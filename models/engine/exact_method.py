"""The frame of every exact method: heuristic starts, one minimisation by a solver, and the proposal that follows."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic

from ...instances.contract.method import Method, Proposal
from ...instances.contract.option import Option
from ...instances.contract.problem import Answer
from ...instances.contract.result import Status, relative_gap
from ...instances.runtime.run import Clock, OutOfTime, offer

START = Option("start", "best", "initial incumbent: the best heuristic answer, or none", choices=("best", "none"))


def proving_method(**fields: Any) -> Method[Any, Any]:
    """A method that proves optimality given enough time, with what all of them share unless a field says otherwise."""
    return Method(
        **{
            "guarantee": "the optimum with proof; when stopped, the incumbent with a proven bound",
            "cost": "exponential in the worst case",
            **fields,
        },
        exact=True,
        compiled=True,
    )


@dataclass(frozen=True)
class SolverOutcome(Generic[Answer]):
    """The outcome of one minimisation."""

    answer: Answer | None = None  # the best one found
    lower_bound: float = -math.inf  # proven; −inf if nothing is, inf if the problem is infeasible
    stopped: bool = False  # whether the search ended before its proof was complete
    counters: Mapping[str, float | str] = field(default_factory=dict)  # as in Result
    reason: str = ""  # why it was stopped, except by the time limit: interrupted, out of memory


class ModelTooLarge(Exception):
    """The model would not fit in memory. The message gives its size and becomes the reason in the result."""


def check_size(variables: int, most: int) -> None:
    """Raise :class:`ModelTooLarge` if a model may have more than `most` variables."""
    if variables > most:
        raise ModelTooLarge(f"the model could have {variables:,} variables, more than the {most:,} that fit")


def solve_exactly(
    value: Callable[[Answer], float],
    minimise: Callable[[Answer | None, Clock], SolverOutcome[Answer]],
    clock: Clock,
    *,
    starts: Iterable[Answer] = (),
    lower_bound: float = -math.inf,
    counters: Mapping[str, float | str] | None = None,
    infeasible: str = "",
    keep_start: bool = True,
) -> Proposal[Answer]:
    """Minimise `value` from the best of the valid `starts`; incumbent and bound remain if the solver is stopped.

    `minimise` goes from the best start (None without one) and the clock to a :class:`SolverOutcome`. It may raise
    :class:`.OutOfTime` or :class:`ModelTooLarge`; then the best start is the answer. `lower_bound` is known before. The
    `counters` are reported beside those of the outcome and ``start``, the value of the best start. Of a start and a
    solver's answer of equal value the start is returned if `keep_start`.

    The status is ``time-limit`` if the search was stopped, ``memory-limit`` if its model does not fit (the judge turns
    them into ``optimal`` where the bound meets the value), ``infeasible`` with this reason if that is proven, and none
    otherwise.
    """
    start = min(starts, key=value, default=None)
    offer(start, lower_bound if math.isfinite(lower_bound) else None)
    known = dict(counters or {}) | ({} if start is None else {"start": value(start)})
    outcome, reason = SolverOutcome[Answer](), ""
    try:
        outcome = minimise(start, clock)
    except OutOfTime:
        outcome = SolverOutcome(stopped=True)
    except ModelTooLarge as error:
        reason = str(error)
    known |= outcome.counters
    if outcome.lower_bound == math.inf and start is None:
        return Proposal(status=Status.INFEASIBLE, counters=known, reason=infeasible)
    answers = (start, outcome.answer) if keep_start else (outcome.answer, start)
    best = min((answer for answer in answers if answer is not None), key=value, default=None)
    bound = max(lower_bound, outcome.lower_bound)
    status = Status.TIME_LIMIT if outcome.stopped else Status.MEMORY_LIMIT if reason and best is not None else None
    return Proposal(best, bound, status, known, clock.stopped_by or reason)


PROGRESS = Option(
    "progress", "auto", "log on stderr: if it is a terminal, always, or never", choices=("auto", "on", "off")
)
_EVERY = 1.0  # seconds
_HEADER = f"{'seconds':>8} {'nodes':>7} {'open':>6} {'cuts':>7} {'edges':>8} {'incumbent':>10} {'bound':>10} {'gap':>7}"


class SearchLog:
    """A table to which at most one line is added every second.

    `mode` is "auto" (print after the first second, if stderr is a terminal), "on" or "off". `on_bound` is given the
    bound of each line, also of those that are not printed. The numbers of lines are `scale` times those that are shown
    and given.
    """

    def __init__(
        self, mode: str = "auto", on_bound: Callable[[float], object] | None = None, scale: float = 1.0
    ) -> None:
        self._on_bound, self._scale = on_bound, scale
        self._shown = mode == "on" or (mode == "auto" and sys.stderr.isatty())
        self._start = time.monotonic()
        self._last, self._columns = -_EVERY, ""
        self._quiet = _EVERY if mode == "auto" else 0.0

    def line(
        self,
        *,
        incumbent: float,
        bound: float,
        cuts: int = 0,
        edges: int = 0,
        nodes: int = 0,
        open_nodes: int = 0,
        force: bool = False,
    ) -> None:
        """Pass on the bound, and print the state unless a line was printed less than a second ago.

        `incumbent` is infinite without an answer.
        """
        incumbent, bound = incumbent / self._scale, bound / self._scale
        if self._on_bound is not None:
            self._on_bound(bound)
        now = time.monotonic() - self._start
        if not self._shown or now < self._quiet or (not force and now - self._last < _EVERY):
            return
        gap = relative_gap(incumbent, bound) if math.isfinite(incumbent) else None
        columns = f"{nodes:7d} {open_nodes:6d} {cuts:7d} {edges:8d} {_number(incumbent):>10} {_number(bound):>10}"
        if columns == self._columns and now - self._last < _EVERY:
            return
        if not self._columns:
            print(_HEADER, file=sys.stderr)
        self._columns, self._last = columns, now
        print(f"{now:8.1f} {columns} {'-' if gap is None else f'{gap:.2%}':>7}", file=sys.stderr, flush=True)


def _number(value: float) -> str:
    return "-" if math.isinf(value) else f"{value:.10g}" if float(value).is_integer() else f"{value:.2f}"
