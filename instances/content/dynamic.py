"""The problem on content traces: cheap overlays while users and brokers come and go; its answers and its judge.

An answer has an overlay for each snapshot, with its trees, as an answer to ``content-steiner`` has: it is judged by the
rules that a static one is, and a judge that chose the cheapest trees would be a method.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ..contract.arrays import Offsets, frozen
from ..contract.errors import BadInput
from ..contract.problem import Problem, shortened, stated_limits
from ..contract.shown import Drawn
from ..contract.timed import SECOND, Series, last_moments
from .problems import ContentOverlay, SteinerRouting
from .trace import ContentTrace

_FAMILY = "dynamic-content"
_DEAREST = 1e100
_ROUTING = SteinerRouting()


@dataclass(frozen=True, eq=False)
class ContentLog(Drawn):
    """Overlays of the snapshots of a trace: at every step of it, and at other times at which users move.

    Raises BadInput if there is not one time for each overlay, or times do not increase.

    Parameters
    ----------
    times : int64 array, shape (k,)
        In microseconds, as in the trace, strictly increasing. What changes at the time of an event comes after it.
    overlays : sequence of ContentOverlay
        From each of these times on, an answer to ``content-steiner`` on the trace's snapshot then; one of no users
        where nobody is present.

    Examples
    --------
    >>> import overlaybench as ob
    >>> trace = ob.generate("content-churn", users=8, brokers=3, intervals=3, events=6, seed=1)
    >>> ob.solve(trace, "dynamic-content", "stay").answer
    ContentLog(7 overlays)
    """

    times: Offsets
    overlays: Sequence[ContentOverlay]

    def __post_init__(self) -> None:
        self._set(times=frozen(self.times, np.int64), overlays=tuple(self.overlays))
        if self.times.shape != (len(self.overlays),) or (np.diff(self.times) <= 0).any() or not len(self.times):
            raise BadInput("a log needs one time for each overlay, in increasing order: sort them")

    def __repr__(self) -> str:
        return f"ContentLog({len(self.overlays)} overlays)"


@dataclass(frozen=True)
class ContentTimeline(Series):
    """What each overlay of a log is worth; 0 for one that is not valid."""

    times: Offsets
    steps: Offsets
    access: npt.NDArray[np.float64]  # access cost
    core: npt.NDArray[np.float64]
    loads: npt.NDArray[np.float64]  # the largest load as a share of a capacity
    changed: Offsets  # the users whose broker is not the one before
    violations: tuple[str, ...]  # why the log is no valid answer, if it is not

    @property
    def levels(self) -> npt.NDArray[np.float64]:
        return self.access + self.core


@lru_cache(maxsize=4)
def content_timeline(trace: ContentTrace, log: ContentLog) -> ContentTimeline:
    """Judge every overlay of a log as an answer to ``content-steiner`` on its snapshot, and count who moves.

    Cost O(|U| (|B| + |C|) + |B|³) and the links of all trees for each overlay.
    """
    times, figures, changed = log.times, np.zeros((3, len(log.times))), np.zeros(len(log.times), np.int64)
    missing = np.setdiff1d(trace.step_times, times)
    reasons = [f"there is no overlay at time {time / SECOND:g}, when something happens" for time in missing.tolist()]
    if times[0] < trace.start:
        reasons.append(f"an overlay is at {times[0] / SECOND:g}, before the start of the trace")
    home = np.full(trace.instance.num_users, -1, np.int32)
    rows = zip(times.tolist(), log.overlays, trace.snapshots_at(times.tolist()), strict=True)
    for at, (time, overlay, snapshot) in enumerate(rows if not reasons else ()):
        if snapshot is None:
            faults = ["the overlay has users, and nobody is present"] if len(overlay.brokers) else []
            home[:] = -1
        elif not (faults := _ROUTING.violations(snapshot.instance, overlay)):
            measured = _ROUTING.measures(snapshot.instance, overlay)
            figures[:, at] = measured["access"], measured["core"], measured["largest_load"]
            before = home[snapshot.users]
            home[:] = -1
            home[snapshot.users] = snapshot.brokers[overlay.brokers]
            changed[at] = ((before >= 0) & (before != home[snapshot.users])).sum()
        reasons += [f"{fault} at time {time / SECOND:g}" for fault in faults]
    steps, (access, core, loads), why = last_moments(times, trace.step_times), figures, shortened(reasons, "faults")
    return ContentTimeline(times, steps, access, core, loads, changed, tuple(why))


class DynamicContent(Problem[ContentTrace, ContentLog]):
    """Keep a content-based overlay cheap while users join, leave and change, and brokers fail and come back.

    The value is the cost of ``content-steiner`` summed over the snapshots of the trace (the start, and each time of
    events, with the overlay just before the next one), plus `move_cost` for each user that changes its broker, also if
    it must because the broker failed. The first broker of a user that joins is free. Brokers that are down have no
    users and forward nothing. The cost of a move stands in the name: ``dynamic-content@move-cost=100``.
    """

    kind, integral, default_method = "content-trace", False, "snapshot-optima"
    source = "P4 §IV.C, §V; its terms: docs/traces.md"

    def __init__(self, move_cost: float = 0.0) -> None:
        self.change_cost = float(f"{move_cost:.12g}")
        self.name = f"{_FAMILY}@move-cost={self.change_cost:.12g}" if move_cost else _FAMILY
        self.summary = "cost of content-steiner over time" + (f" and {move_cost:g} a move" if move_cost else "")

    def variant(self, name: str) -> DynamicContent:
        form = f"{_FAMILY}@move-cost=NUMBER, a number from 0 to {_DEAREST:g}"
        limits = stated_limits(name, name.split("@")[1:], {"move-cost": _DEAREST}, form)
        return DynamicContent(limits.get("move-cost", 0.0))

    @property
    def free(self) -> DynamicContent:
        return DynamicContent()

    def timeline(self, instance: ContentTrace, answer: ContentLog) -> ContentTimeline:
        return content_timeline(instance, answer)

    def value(self, instance: ContentTrace, answer: ContentLog) -> float:
        """Cost summed over the snapshots, plus that of moves."""
        seen = self.timeline(instance, answer)
        return float(seen.levels[seen.steps].sum()) + self.change_cost * int(seen.changed.sum())

    def violations(self, instance: ContentTrace, answer: ContentLog) -> list[str]:
        return list(self.timeline(instance, answer).violations)

    def measures(self, instance: ContentTrace, answer: ContentLog) -> dict[str, float]:
        """Mean cost of a snapshot and its two parts, largest load ever, moves an event, and cost times seconds."""
        seen = self.timeline(instance, answer)
        return {
            "cost": float(seen.levels[seen.steps].mean()),
            "access": float(seen.access[seen.steps].mean()),
            "core": float(seen.core[seen.steps].mean()),
            "largest_load": float(seen.loads.max()),
            "recourse": int(seen.changed.sum()) / max(1, instance.num_events),
            "cost_seconds": seen.integral(seen.levels),
        }

    def __reduce__(self) -> tuple[Any, ...]:
        return DynamicContent, (self.change_cost,)


DYNAMIC_CONTENT_PROBLEMS: tuple[DynamicContent, ...] = (DynamicContent(),)
