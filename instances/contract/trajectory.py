"""Trajectories: the incumbent's value and the lower bound over the time of a run."""

from __future__ import annotations

import math
import time
from typing import NamedTuple

_CELL = math.log(1.05)
_ROUNDING = 1e-6


class Point(NamedTuple):
    """The state of a run `seconds` after its start; None without an answer or a bound so far."""

    seconds: float
    value: float | None = None
    lower_bound: float | None = None


class Trajectory:
    """Records when the incumbent or the lower bound of a run improved.

    :meth:`.Method.run` keeps one, of the values of valid answers and the proven bounds that the method offers
    (:func:`.offer`). Of the changes within 5% of the elapsed time only the last is kept, so that a run has a few
    hundred points at most.

    Examples
    --------
    >>> import overlaybench as ob
    >>> run = ob.solve(ob.read({"ann": ["news"], "bob": ["news"]}), "min-tco", "branch-and-cut")
    >>> run.points[-1].value, run.points[-1].lower_bound
    (1.0, 1.0)
    """

    def __init__(self) -> None:
        self._start = time.perf_counter()
        self._points: list[Point] = []

    @property
    def points(self) -> tuple[Point, ...]:
        """The points so far, each better than the one before."""
        return tuple(self._points)

    def report(self, value: float | None = None, lower_bound: float | None = None) -> None:
        """Record a value or a bound if it is better than those before; those that are not finite do not count."""
        last = self._points[-1] if self._points else Point(0.0)
        best = min(_known(last.value, value), default=None), max(_known(last.lower_bound, lower_bound), default=None)
        if best == last[1:]:
            return
        now = max(time.perf_counter() - self._start, last.seconds, 1e-6)
        if self._points and _cell(now) == _cell(last.seconds):
            self._points.pop()
        self._points.append(Point(now, *best))

    def completed(
        self, seconds: float, value: float | None, lower_bound: float | None, *, integral: bool
    ) -> tuple[Point, ...]:
        """The points, and a last one for the validated outcome of the run.

        No point has a better value or bound than the outcome, and bounds of integral problems are rounded up.
        """
        value = None if value is None else float(value)
        lower_bound = None if lower_bound is None else float(lower_bound)
        points: list[Point] = []
        for point in (*self._points, Point(seconds, value, lower_bound)):
            bound = point.lower_bound
            if bound is not None and integral and math.isfinite(bound):
                bound = float(math.ceil(bound - _ROUNDING))
            state = (
                None if point.value is None or value is None else max(point.value, value),
                None if bound is None or lower_bound is None else min(bound, lower_bound),
            )
            if state != (None, None) and (not points or state != points[-1][1:]):
                points.append(Point(min(point.seconds, seconds), *state))
        return tuple(points)


def _known(*numbers: float | None) -> list[float]:
    return [float(number) for number in numbers if number is not None and math.isfinite(number)]


def _cell(seconds: float) -> int:
    """The interval of a logarithmic scale that a time lies in."""
    return math.floor(math.log(seconds) / _CELL)
