"""Checks of the points of a stored row: its value and lower bound over the time of the run."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Any


def faults_of_points(row: Mapping[str, Any], *, may_lack: bool) -> Iterator[str]:
    """The faults of a row's points, a sentence each; `may_lack`: earlier versions stored none."""
    points = row["points"] or []
    if not points and not (may_lack and row["points"] is None) and (row["value"], row["lower_bound"]) != (None, None):
        yield "has no points"
    if any(point is None or point["seconds"] is None or not _is_finite(point) for point in points):
        yield "has a point without a time, or with a number that is not finite"
        return
    times = [0.0, *(point["seconds"] for point in points), row["seconds"]]
    if points and not all(before <= after for before, after in itertools.pairwise(times)):
        yield "its points are not in the order of time, or after its end"
    if points and (points[-1]["value"], points[-1]["lower_bound"]) != (row["value"], row["lower_bound"]):
        yield "its last point has not its value and lower bound"
    for name, sign in (("value", 1), ("lower_bound", -1)):
        known = [math.inf if point[name] is None else sign * point[name] for point in points]
        if not all(before >= after for before, after in itertools.pairwise(known)):
            yield f"its points get worse in {name}"


def _is_finite(point: Mapping[str, float | None]) -> bool:
    return all(number is None or math.isfinite(number) for number in point.values())
