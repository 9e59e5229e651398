"""Content traces answered by a proven optimum of every snapshot: no overlay costs less, even if it knows the future."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

import numpy as np

from ...heuristics.content.assignment import CapacityExceeded
from ...heuristics.content.migration import migrate
from ...heuristics.content.over_time import InfeasibleSnapshot, followed, placed, stay
from ...heuristics.content.routing import route
from ...instances.content.dynamic import ContentLog
from ...instances.content.instance import ContentInstance
from ...instances.content.problems import ContentOverlay, SteinerRouting
from ...instances.content.trace import ContentSnapshot, ContentTrace
from ...instances.contract.arrays import Ids
from ...instances.contract.method import Method, Proposal
from ...instances.contract.problem import Problem
from ...instances.contract.result import Status
from ...instances.contract.run import Clock, OutOfTime, Trajectory, interruptible, offer, on_trial, solving
from ..engine.exact_method import PROGRESS, snapshot_proposal, solve_exactly
from .assignment_search import cheapest_assignment
from .branch_and_cut import minimise
from .exact import CLOSED, access_bound, best_start, capacity_bound

_PROBLEM = SteinerRouting()


class ContentOptima:
    """An optimum of every snapshot of a trace, with its proof or, where the clock passes, its bound.

    :func:`.cheapest_assignment` solves a snapshot of few brokers, starting from the optimum before it, with as few
    moves as possible. Where it gives up, branch-and-cut starts from this, from what migration makes of it, and in the
    first snapshot from the best heuristic. A snapshot that occurred before is not solved again. Each has an equal share
    of the time that is left, and what earlier ones did not need.

    `log` has the overlays; `values` and `bounds` the cost of each snapshot with users and a proven lower bound on it.
    InfeasibleSnapshot if no assignment respects the capacities of one; OutOfTime if the clock passes without any.
    """

    def __init__(self, trace: ContentTrace, clock: Clock, *, seed: int = 0, progress: str = "off") -> None:
        self.values, self.bounds = list[float](), list[float]()
        self._known = dict[str, tuple[ContentOverlay, float]]()
        self._left, self._clock, self._seed, self._progress = trace.num_steps, clock, seed, progress
        self.log = followed(trace, self._optimum, Clock(None))

    def _optimum(self, snapshot: ContentSnapshot, before: Ids) -> ContentOverlay:
        instance = snapshot.instance
        if instance.digest not in self._known:
            clock, start = self._clock.share(1 / max(1, self._left)), None
            with solving(instance, _PROBLEM, Trajectory()):  # what is offered meanwhile is no answer to the trace
                with suppress(CapacityExceeded):
                    start = placed(instance, before)
                found = cheapest_assignment(instance, start, clock)
                if found is None or on_trial.get():  # so that the kernels of both are compiled before
                    found = self._by_branch_and_cut(instance, start, (before >= 0).any(), clock)
            self._known[instance.digest] = found
        overlay, bound = self._known[instance.digest]
        self.values.append(_PROBLEM.value(instance, overlay))
        self.bounds.append(min(self.values[-1], bound))
        self._left -= 1
        return overlay

    def _by_branch_and_cut(
        self, instance: ContentInstance, start: Ids | None, is_later: np.bool_, clock: Clock
    ) -> tuple[ContentOverlay, float]:
        """The answer and the bound, from an assignment, and without one from a time before from the best heuristic."""
        starts = list[ContentOverlay]()
        if start is not None:
            starts.append(route(instance, start, _PROBLEM.routing))
            starts.append(migrate(instance, start, _PROBLEM.routing, time_limit=clock.left).overlay)
        if not (starts and is_later):
            best = best_start(instance, _PROBLEM, seed=self._seed, clock=clock)
            starts += [] if best is None else [best]
        proposal = solve_exactly(
            partial(_PROBLEM.value, instance),
            partial(minimise, instance, _PROBLEM, progress=self._progress),
            clock,
            starts=starts,
            lower_bound=max(access_bound(instance), capacity_bound(instance)),
        )
        if proposal.status is Status.INFEASIBLE:
            raise InfeasibleSnapshot(f"no assignment of {instance.num_users} users respects the capacities")
        if proposal.answer is None:
            raise OutOfTime
        return proposal.answer, proposal.lower_bound or 0.0


def _solve(
    trace: ContentTrace,
    problem: Problem[ContentTrace, ContentLog],
    *,
    seed: int,
    time_limit: float | None,
    progress: str,
) -> Proposal[ContentLog]:
    with interruptible(time_limit) as clock:
        try:
            with suppress(CapacityExceeded):
                offer(stay(trace, Clock(None)))  # which is there within a second
            found = ContentOptima(trace, clock, seed=seed, progress=progress)
        except InfeasibleSnapshot as error:
            return Proposal(status=Status.INFEASIBLE, reason=str(error))
    pairs = zip(found.values, found.bounds, strict=True)
    proven = sum(bound >= value * (1 - CLOSED) for value, bound in pairs)
    bounds = iter(found.bounds)
    each = [next(bounds) if len(overlay.brokers) else 0.0 for overlay in found.log.overlays]
    costly = "moves cost something: the bound leaves them out" if getattr(problem, "change_cost", 0) else ""
    return snapshot_proposal(
        found.log, each, proven=proven, snapshots=len(found.values), left_out=costly, stopped_by=clock.stopped_by
    )


CONTENT_SNAPSHOT_OPTIMA: Method[ContentTrace, ContentLog] = Method(
    name="snapshot-optima",
    problems=("dynamic-content",),
    summary="content: a proven optimum of every snapshot, by search of assignments or branch-and-cut",
    source="P4 §IV.A; docs/traces.md",
    guarantee="the optimum with proof where moves cost nothing; otherwise a lower bound that leaves moves out",
    cost="exponential in the worst case",
    exact=True,
    solve=_solve,
    options=(PROGRESS,),
    compiled=True,
    colour="#CC6677",
    marker="8",
)
