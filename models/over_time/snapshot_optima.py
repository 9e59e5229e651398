"""Traces answered by a proven optimum of every snapshot: no method has fewer links, even if it knows the future."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...heuristics.over_time.incremental_merge import incremental_merge
from ...heuristics.topics.greedy_merge import greedy_merge
from ...heuristics.topics.kernels.interest import join, singletons
from ...instances.contract.method import Method, Proposal
from ...instances.contract.overlay import Overlay
from ...instances.contract.problem import Problem
from ...instances.contract.result import Status
from ...instances.over_time.link_log import LinkLog
from ...instances.over_time.timeline import DynamicTCO
from ...instances.over_time.trace import TopicTrace
from ...instances.runtime.run import Clock, interruptible, offer
from ...instances.topics.instance import TopicInstance
from ..engine.exact_method import PROGRESS, proving_method
from ..engine.proof import ProofFile
from ..engine.relaxation import UNIT
from ..topics.branch_and_cut import fitted_quickly, write_fitted
from ..topics.relaxation.cutting_planes import ALL_PAIRS, KeptRows
from ..topics.relaxation.presolve import presolved
from ..topics.relaxation.separation import Goal
from ..topics.relaxation.topic_rows import count_links
from ..topics.search.edge_minimisation import SearchSettings, minimise_edges

_MOST_LISTED = 8_000  # bounds in a counter


class SnapshotOptimum(NamedTuple):
    """An overlay of a snapshot, and a proven lower bound on the links of every one; equal if it is optimal."""

    overlay: Overlay
    bound: int

    @property
    def is_proven(self) -> bool:
        """Whether no overlay has fewer links."""
        return self.bound == self.overlay.num_edges


def snapshot_optima(trace: TopicTrace, *, clock: Clock, settings: SearchSettings) -> list[SnapshotOptimum]:
    """An optimum of every snapshot, with its proof or, where the clock passes, its bound.

    The search of a snapshot starts from the better of Greedy Merge's overlay and the optimum before it, repaired, and
    its LP from the rows of the one before. A snapshot that occurred before is not solved again. Each has an equal share
    of the time that is left, and what earlier ones did not need; what the last leaves goes to those that are not
    proven, from their overlays on. The proof in the settings, if any, gets a section each time that one is solved.
    """
    kept, known = KeptRows(), {"": SnapshotOptimum(Overlay.from_edges(trace.num_nodes, []), 0)}
    digests = list[str]()
    for step, instance in enumerate(trace.snapshots()):
        digest = "" if instance is None else instance.digest
        if instance is not None and digest not in known:
            before, part = known[digests[-1] if digests else ""].overlay, clock.share(1 / (trace.num_steps - step))
            known[digest] = _optimum(instance, step, before, part, settings, kept)
        digests.append(digest)
    left = {digest for digest, each in known.items() if not each.is_proven}
    for step, instance in enumerate(trace.snapshots() if left else ()):
        if instance is not None and instance.digest in left and not clock.passed:
            first, part = known[instance.digest], clock.share(1 / len(left))
            again = _optimum(instance, step, first.overlay, part, settings, kept)
            known[instance.digest] = again._replace(bound=max(first.bound, again.bound))
            left.remove(instance.digest)
    return [known[digest] for digest in digests]


def _optimum(
    instance: TopicInstance, step: int, before: Overlay, clock: Clock, settings: SearchSettings, kept: KeptRows
) -> SnapshotOptimum:
    start = greedy_merge(instance)
    carried = carried_over(instance, before)
    if carried.num_edges < start.num_edges:
        start = carried
    reduced, proof = presolved(instance, leaves=count_links(instance) <= ALL_PAIRS), settings.proof
    proof.snapshot(step, unit=UNIT, kept=reduced.topics.tolist())
    for leaf in reduced.leaves.tolist():
        proof.line("leaf", *leaf)
    fitted = fitted_quickly(clock, reduced.instance)
    best, least, bound = start, math.ceil(fitted), 0
    if not clock.passed and least < start.num_edges:
        kept.topics = list(map(instance.topic_label, reduced.topics.tolist()))
        outcome = minimise_edges(reduced.instance, Goal(), reduced.moved(start), clock, settings, kept=kept)
        bound = int(outcome.lower_bound)
        best = min(start, outcome.answer or start, key=lambda overlay: overlay.num_edges)
    if bound < least:
        write_fitted(proof, reduced.instance, fitted)
    return SnapshotOptimum(best, max(least, bound))


def carried_over(instance: TopicInstance, before: Overlay) -> Overlay:
    """The overlay without links that join no component of a common topic, and with stars where topics are apart.

    Links are taken in their order while they contribute. Cost O(Σ_links (|T_u| + |T_v|) + Σ|T_v| log |V|).
    """
    components = singletons(instance)
    kept = [(u, v) for u, v in before.edges.tolist() if join(u, v, components)]
    for first, last in pairwise(instance.topic_offsets.tolist()):
        for at in range(first + 1, last):
            if components.label[at] != components.label[first]:
                kept.append((int(instance.topic_nodes[first]), int(instance.topic_nodes[at])))
                join(*kept[-1], components)
    return Overlay.from_edges(instance.num_nodes, kept)


def _solve(
    trace: TopicTrace,
    problem: Problem[TopicTrace, LinkLog],
    *,
    seed: int,
    time_limit: float | None,
    progress: str,
    proof: str | Path | None = None,
) -> Proposal[LinkLog]:
    with interruptible(time_limit) as clock, ProofFile(proof) as file:
        offer(incremental_merge(trace))  # which is there within a second, where greedy overlays take minutes
        settings = SearchSettings(seed=seed, progress=progress, proof=file)
        if file.is_written:
            nodes = list(map(trace.node_label, range(trace.num_nodes)))
            topics = list(map(trace.topic_label, range(trace.num_topics)))
            file.head(problem=problem.name, instance=trace.digest, nodes=nodes, topics=topics)
        found = snapshot_optima(trace, clock=clock, settings=settings)
        log, least = LinkLog.from_overlays(trace, (each.overlay for each in found)), sum(each.bound for each in found)
        changes = np.column_stack([log.times, log.links, log.added]).tolist()
        file.claim(problem.value(trace, log), least, changes)
    costly = "changes cost something: the bound leaves them out" if getattr(problem, "change_cost", 0) else ""
    proven = sum(each.is_proven for each in found)
    counters: dict[str, float | str] = {"snapshots": len(found), "optimal_snapshots": proven}
    if len(found) <= _MOST_LISTED:
        counters["snapshot_bounds"] = " ".join(str(each.bound) for each in found)
    if proven < len(found):
        return Proposal(log, float(least), Status.TIME_LIMIT, counters, clock.stopped_by)
    return Proposal(log, float(least), None, counters, clock.stopped_by or costly)


def skip_delays(trace: TopicTrace, problem: Problem[TopicTrace, LinkLog]) -> str:
    """Why a proof for each snapshot does not apply: topics may be disconnected for a while."""
    late = isinstance(problem, DynamicTCO) and problem.delay > 0
    return "topics may be disconnected for a while: a snapshot's optimum is no bound then" if late else ""


SNAPSHOT_OPTIMA: Method[TopicTrace, LinkLog] = proving_method(
    name="snapshot-optima",
    problems=("dynamic-tco",),
    summary="a proven optimum of every snapshot, by branch-and-cut from the one before",
    source="P1 §4; docs/traces.md",
    guarantee="the optimum with proof where changes cost nothing; otherwise a lower bound that leaves changes out",
    solve=_solve,
    options=(PROGRESS,),
    inputs=("proof",),
    skip=skip_delays,
)
