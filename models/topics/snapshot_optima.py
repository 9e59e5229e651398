"""Traces answered by a proven optimum of every snapshot: no method has fewer links, even if it knows the future."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from ...heuristics.topics.greedy_merge import greedy_merge
from ...heuristics.topics.incremental_merge import incremental_merge
from ...instances.contract.method import Method, Proposal
from ...instances.contract.overlay import Overlay
from ...instances.contract.problem import Problem
from ...instances.contract.result import Status
from ...instances.contract.run import Clock, interruptible, offer
from ...instances.topics.dynamic_problems import DynamicTCO
from ...instances.topics.instance import TopicInstance
from ...instances.topics.link_log import LinkLog
from ...instances.topics.trace import TopicTrace
from ..engine.exact_method import PROGRESS
from .relaxation.cutting_planes import ALL_PAIRS
from .relaxation.dual_fitting import fitted_within
from .relaxation.presolve import presolved
from .relaxation.separation import Goal
from .relaxation.topic_rows import count_links
from .search.edge_minimisation import SearchSettings, minimise_edges

_FITTING_WORK = 20_000_000
_MOST_LISTED = 8_000  # bounds in a counter


class SnapshotOptimum(NamedTuple):
    """An overlay of a snapshot, and a proven lower bound on the links of every one; equal if it is optimal."""

    overlay: Overlay
    bound: int


def snapshot_optima(
    trace: TopicTrace, *, seed: int, clock: Clock, settings: SearchSettings
) -> Iterator[SnapshotOptimum]:
    """An optimum of every snapshot, with its proof or, where the clock passes, its bound.

    The search of a snapshot starts from the better of Greedy Merge's overlay and the optimum before it, repaired. A
    snapshot that occurred before is not solved again. Each has an equal share of the time that is left, and what
    earlier ones did not need.
    """
    known: dict[str, SnapshotOptimum] = {}
    before = Overlay.from_edges(trace.num_nodes, [])
    for step, instance in enumerate(trace.snapshots()):
        if instance is None:
            found = SnapshotOptimum(Overlay.from_edges(trace.num_nodes, []), 0)
        elif (again := known.get(instance.digest)) is not None and again.bound == again.overlay.num_edges:
            found = again
        else:
            part = clock.share(1 / (trace.num_steps - step))
            found = _optimum(instance, before, seed, part, settings)
            known[instance.digest] = found
        before = found.overlay
        yield found


def _optimum(
    instance: TopicInstance, before: Overlay, seed: int, clock: Clock, settings: SearchSettings
) -> SnapshotOptimum:
    start = greedy_merge(instance)
    carried = repaired(instance, before)
    if carried.num_edges < start.num_edges:
        start = carried
    least = math.ceil(fitted_within(clock, instance, work=_FITTING_WORK))
    if clock.passed or least >= start.num_edges:
        return SnapshotOptimum(start, least)
    reduced = presolved(instance, leaves=count_links(instance) <= ALL_PAIRS)
    outcome = minimise_edges(reduced.instance, Goal(), reduced.moved(start), clock, settings)
    best = start if outcome.answer is None or outcome.answer.num_edges > start.num_edges else outcome.answer
    return SnapshotOptimum(best, max(least, int(outcome.lower_bound)))


def repaired(instance: TopicInstance, before: Overlay) -> Overlay:
    """The overlay without links that join no component of a common topic, and with stars where topics are apart.

    Links are taken in their order while they contribute. Cost O(|E| Σ|T_v|) in the worst case.
    """
    root = {(v, t): (v, t) for v in range(instance.num_nodes) for t in instance.topics_of(v).tolist()}

    def find(vertex: tuple[int, int]) -> tuple[int, int]:
        while root[vertex] != vertex:
            root[vertex] = vertex = root[root[vertex]]
        return vertex

    topics = [set(instance.topics_of(v).tolist()) for v in range(instance.num_nodes)]
    kept = []

    def add(u: int, v: int) -> None:
        pairs = [(find((u, t)), find((v, t))) for t in sorted(topics[u] & topics[v])]
        if any(a != b for a, b in pairs):
            kept.append((u, v))
            root.update(pairs)

    for u, v in before.edges.tolist():
        add(u, v)
    for t in range(instance.num_topics):
        hub, *others = instance.subscribers(t).tolist()
        for v in others:
            if find((hub, t)) != find((v, t)):
                add(hub, v)
    return Overlay.from_edges(instance.num_nodes, kept)


def _solve(
    trace: TopicTrace, problem: Problem[TopicTrace, LinkLog], *, seed: int, time_limit: float | None, progress: str
) -> Proposal[LinkLog]:
    with interruptible(time_limit) as clock:
        offer(incremental_merge(trace))  # which is there within a second, where greedy overlays take minutes
        settings = SearchSettings(seed=seed, progress=progress)
        found = list(snapshot_optima(trace, seed=seed, clock=clock, settings=settings))
        passed, stopped_by = clock.passed, clock.stopped_by
    bounds = [each.bound for each in found]
    log = LinkLog.from_overlays(trace, (each.overlay for each in found))
    optimal = sum(each.bound == each.overlay.num_edges for each in found)
    counters: dict[str, float | str] = {"snapshots": len(found), "optimal_snapshots": optimal}
    if len(bounds) <= _MOST_LISTED:
        counters["snapshot_bounds"] = " ".join(map(str, bounds))
    complete = optimal == len(found) and not getattr(problem, "change_cost", 0)
    status = None if complete else Status.TIME_LIMIT
    reason = stopped_by or ("" if passed or complete else "changes cost something: the bound leaves them out")
    return Proposal(log, float(sum(bounds)), status, counters, reason)


def skip_delays(trace: TopicTrace, problem: Problem[TopicTrace, LinkLog]) -> str:
    """Why a proof for each snapshot does not apply: topics may be disconnected for a while."""
    late = isinstance(problem, DynamicTCO) and problem.delay > 0
    return "topics may be disconnected for a while: a snapshot's optimum is no bound then" if late else ""


SNAPSHOT_OPTIMA: Method[TopicTrace, LinkLog] = Method(
    name="snapshot-optima",
    problems=("dynamic-tco",),
    summary="a proven optimum of every snapshot, by branch-and-cut from the one before",
    source="P1 §4; docs/traces.md",
    guarantee="the optimum with proof where changes cost nothing; otherwise a lower bound that leaves changes out",
    cost="exponential in the worst case",
    exact=True,
    solve=_solve,
    options=(PROGRESS,),
    skip=skip_delays,
    compiled=True,
    colour="#CC6677",
    marker="8",
)
