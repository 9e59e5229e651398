"""Incremental Greedy Merge: after each step of a trace, repair by the links that join most components.

Examples
--------
>>> import overlaybench as ob
>>> trace = ob.generate("churn", nodes=6, topics=3, subscriptions=2, events=5, seed=1)
>>> ob.solve(trace, "dynamic-tco", "gm-incremental").value
43
>>> ob.solve(trace, "dynamic-tco", "shadow-repair").value
45
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...instances.contract.arrays import Ids, Offsets, offsets_of
from ...instances.contract.compiled import kernel
from ...instances.contract.method import Method, Proposal
from ...instances.contract.option import Option
from ...instances.contract.problem import Problem
from ...instances.topics.link_log import LinkLog
from ...instances.topics.trace import LEAVE, TopicTrace
from .greedy_merge import greedy_merge
from .kernels.living_overlay import (
    Broken,
    Changes,
    LivingOverlay,
    add_link,
    begin_step,
    common_topics,
    component,
    find_broken,
    is_preferred,
    is_redundant,
    living_overlay,
    nothing_broken,
    overlay_of,
    remove_link,
    root_of,
    seed_new,
    toggle,
    unite_broken,
)
from .kernels.star_cover import CoverSpace, attach, cover_space


class _Scores(NamedTuple):
    """Work space."""

    counts: Ids  # of each node, 0 between uses
    touched: Ids  # the nodes with other counts
    bounds: Ids  # of each node of a component that is not main, an upper bound on its contributions
    nodes: Ids  # these nodes
    allowed: npt.NDArray[np.bool_]  # of each node whether it may get a link to join parts


class Steps(NamedTuple):
    """The events of each step of a trace, as kernels take them."""

    departure_offsets: Offsets
    departures: Ids
    toggle_offsets: Offsets
    toggles: Ids


def steps_of(trace: TopicTrace) -> Steps:
    """The departures and the subscriptions that begin and end."""
    gone = trace.kinds >= LEAVE
    return Steps(
        offsets_of(trace.step_of[gone], trace.num_steps), trace.nodes[gone], trace.toggle_offsets, trace.toggles
    )


def started(trace: TopicTrace) -> LivingOverlay:
    """The subscriptions of the start, with Greedy Merge's overlay."""
    living = living_overlay(trace)
    first = next(trace.snapshots())
    edges = np.empty((0, 2), np.int32) if first is None else greedy_merge(first).edges
    _start(trace.toggles[: trace.toggle_offsets[1]], edges, living)
    return living


@kernel
def _start(toggles: Ids, edges: Ids, living: LivingOverlay) -> None:
    for signed in toggles:
        toggle(signed - 1, True, living)
    for e in range(len(edges)):
        add_link(edges[e, 0], edges[e, 1], living)


@kernel
def _run(
    steps: Steps,
    tests: int,
    shadows: int,
    moves: int,
    living: LivingOverlay,
    broken: Broken,
    scores: _Scores,
    space: CoverSpace,
) -> npt.NDArray[np.int64]:
    changes = [(0, 0, 0, 0) for _ in range(0)]
    for step in range(1, len(steps.toggle_offsets) - 1):
        departures = steps.departures[steps.departure_offsets[step] : steps.departure_offsets[step + 1]]
        toggles = steps.toggles[steps.toggle_offsets[step] : steps.toggle_offsets[step + 1]]
        seeds = begin_step(step, departures, toggles, living, changes)
        before = len(changes)
        for signed in toggles:
            v = living.slot_nodes[abs(signed) - 1]
            if signed > 0 and living.head[v] < 0:
                attach(step, v, living, space, changes)
        seed_new(toggles, living, seeds)
        if len(seeds):
            find_broken(seeds, living, broken)
            allowed = _allow(seeds, shadows, living, broken, scores) if shadows else seeds
            _repair(step, living, broken, scores, changes)
            if shadows:
                for v in allowed:
                    scores.allowed[v] = False
            if tests:
                _drop(step, before, tests, living, changes)
        if moves:
            _improve_around(step, before, moves, tests, toggles, living, scores, changes)
    rows = np.empty((len(changes), 4), np.int64)
    for k in range(len(changes)):
        rows[k, 0], rows[k, 1], rows[k, 2], rows[k, 3] = changes[k]
    return rows


@kernel
def _allow(seeds: list[int], shadows: int, living: LivingOverlay, broken: Broken, scores: _Scores) -> list[int]:
    """Allow links only at the seeds, one of which is in every part, and at some subscribers of each broken topic."""
    nodes = [0 for _ in range(0)]
    for slot in seeds:
        nodes.append(int(living.slot_nodes[slot]))
        scores.allowed[nodes[-1]] = True
    for k in range(broken.numbers[0]):
        t = broken.topics[k]
        first = living.topic_offsets[t]
        for _ in range(shadows):
            best = -1
            for slot in living.members[first : first + living.counts[t]]:
                v = living.slot_nodes[slot]
                if not scores.allowed[v] and (best < 0 or is_preferred(v, best, living)):
                    best = v
            if best >= 0:
                nodes.append(int(best))
                scores.allowed[best] = True
    return nodes


@kernel
def _repair(step: int, living: LivingOverlay, broken: Broken, scores: _Scores, changes: Changes) -> None:
    """Greedy Merge on the components of broken topics.

    An edge that contributes has an end in a component that is not main; such a node's broken topics bound its
    contributions.
    """
    num = 0
    for slot in broken.slots[: broken.numbers[1]]:
        v = living.slot_nodes[slot]
        if scores.bounds[v] == 0 and scores.allowed[v]:
            scores.nodes[num] = v
            num += 1
            for at in range(living.node_offsets[v], living.node_offsets[v + 1]):
                scores.bounds[v] += living.active[at] and broken.parts[living.node_topics[at]] > 1
    nodes = scores.nodes[:num]
    while True:
        best = -1
        for v in nodes:
            if (
                best < 0
                or scores.bounds[v] > scores.bounds[best]
                or (scores.bounds[v] == scores.bounds[best] and v < best)
            ):
                best = v
        if best < 0 or scores.bounds[best] <= 1:
            break
        score, other = _best_partner(best, living, broken, scores)
        if score == scores.bounds[best]:
            _join(step, best, other, living, broken, changes)
        else:
            scores.bounds[best] = score
    for v in nodes:
        scores.bounds[v] = 0
    for k in range(broken.numbers[0]):
        _join_parts(step, broken.topics[k], living, broken, scores, changes)


@kernel
def _join(step: int, u: int, v: int, living: LivingOverlay, broken: Broken, changes: Changes) -> None:
    add_link(u, v, living)
    changes.append((step, int(u), int(v), 1))
    unite_broken(u, v, living, broken)


@kernel
def _best_partner(u: int, living: LivingOverlay, broken: Broken, scores: _Scores) -> tuple[int, int]:
    """The highest contribution of a link from u, and the node of lowest degree and number that has it."""
    counts, touched, num = scores.counts, scores.touched, 0
    for at in range(living.node_offsets[u], living.node_offsets[u + 1]):
        t = living.node_topics[at]
        if not living.active[at] or broken.parts[t] < 2:
            continue
        own, main = component(at, t, living, broken), root_of(broken.main[t], broken)
        if own != main:
            first = living.topic_offsets[t]
            others = living.members[first : first + living.counts[t]]
        else:
            others = broken.slots[broken.starts[t, 0] : broken.starts[t, 1]]
        for slot in others:
            v = living.slot_nodes[slot]
            if scores.allowed[v] and component(slot, t, living, broken) != own:
                if counts[v] == 0:
                    touched[num] = v
                    num += 1
                counts[v] += 1
    score = 0
    for v in touched[:num]:
        score = max(score, counts[v])
    best, most = -1, -1
    for v in touched[:num]:
        if counts[v] == score:
            common = common_topics(u, v, living)
            if common > most or (common == most and is_preferred(v, best, living)):
                best, most = v, common
    for v in touched[:num]:
        counts[v] = 0
    return int(score), int(best)


@kernel
def _join_parts(step: int, t: int, living: LivingOverlay, broken: Broken, scores: _Scores, changes: Changes) -> None:
    """Join the components of a topic whose links contribute to no other topic any more.

    Each is joined to the main one, by a node and its partner with most common topics, which may spare other links.
    """
    k = broken.starts[t, 0]
    first = living.topic_offsets[t]
    while broken.parts[t] > 1:
        slot = broken.slots[k]
        k += 1
        own = component(slot, t, living, broken)
        if own == root_of(broken.main[t], broken) or not scores.allowed[living.slot_nodes[slot]]:
            continue
        u, best, most = living.slot_nodes[slot], -1, -1
        for other in living.members[first : first + living.counts[t]]:
            v = living.slot_nodes[other]
            if scores.allowed[v] and component(other, t, living, broken) != own:
                common = common_topics(u, v, living)
                if common > most or (common == most and is_preferred(v, best, living)):
                    best, most = v, common
        _join(step, u, best, living, broken, changes)


@kernel
def _improve_around(
    step: int,
    before: int,
    moves: int,
    tests: int,
    toggles: Ids,
    living: LivingOverlay,
    scores: _Scores,
    changes: Changes,
) -> None:
    """Improve at the ends of links that were added in this step, and at nodes whose subscriptions changed."""
    nodes = [0 for _ in range(0)]
    for signed in toggles:
        v = int(living.slot_nodes[abs(signed) - 1])
        if living.head[v] >= 0 and (len(nodes) == 0 or nodes[-1] != v):
            nodes.append(v)
    for k in range(before, len(changes)):
        _, u, v, sign = changes[k]
        if sign > 0:
            nodes.append(u)
            nodes.append(v)
    for k in range(min(moves, len(nodes))):
        _improve(step, nodes[k], tests, living, scores, changes)


@kernel
def _improve(step: int, v: int, tests: int, living: LivingOverlay, scores: _Scores, changes: Changes) -> None:
    """Link a node to the one with most common topics that is no neighbour, if two other links can then go.

    Otherwise nothing changes. Cost: the subscribers of the node's topics, and tests of the links beside both ends.
    """
    counts, num, best, before = scores.counts, 0, -1, len(changes)
    for at in range(living.node_offsets[v], living.node_offsets[v + 1]):
        t = living.node_topics[at]
        if living.active[at]:
            for slot in living.members[living.topic_offsets[t] : living.topic_offsets[t] + living.counts[t]]:
                w = living.slot_nodes[slot]
                if counts[w] == 0:
                    scores.touched[num] = w
                    num += 1
                counts[w] += 1
    counts[v] = 0
    half = living.head[v]
    while half >= 0:
        counts[living.to[half]] = 0
        half = living.following[half]
    for w in scores.touched[:num]:
        if counts[w] > 1 and (
            best < 0 or counts[w] > counts[best] or (counts[w] == counts[best] and is_preferred(w, best, living))
        ):
            best = w
    for w in scores.touched[:num]:
        counts[w] = 0
    if best < 0:
        return
    add_link(v, best, living)
    changes.append((step, int(v), int(best), 1))
    _drop(step, before, tests, living, changes)
    if len(changes) < before + 3:
        while len(changes) > before:
            _, u, w, sign = changes.pop()
            if sign < 0:
                add_link(u, w, living)
                continue
            half = living.head[u]
            while living.to[half] != w:
                half = living.following[half]
            remove_link(half, living)


@kernel
def _drop(step: int, before: int, tests: int, living: LivingOverlay, changes: Changes) -> None:
    """Remove links that became redundant beside those added since `before`."""
    last = len(changes)
    for k in range(before, last):
        _, u, v, sign = changes[k]
        if sign < 0:
            continue
        for turn in range(2):
            at, end = (u, v) if turn == 0 else (v, u)
            half = living.head[at]
            while half >= 0:
                after = living.following[half]
                if living.to[half] != end and is_redundant(half, tests, living):
                    changes.append((step, int(at), int(living.to[half]), -1))
                    remove_link(half, living)
                half = after


def log_of(trace: TopicTrace, start: Ids, rows: npt.NDArray[np.int64]) -> LinkLog:
    """The log of the first overlay and of rows (step, u, v, sign); what is undone within a step is left out."""
    n = trace.num_nodes
    low, high = rows[:, 1:3].min(axis=1, initial=n), rows[:, 1:3].max(axis=1, initial=-1)
    first = np.column_stack([np.zeros(len(start)), start, np.ones(len(start))]).astype(np.int64)
    every = np.concatenate([first, np.column_stack([rows[:, 0], low, high, rows[:, 3]])])
    keys = (every[:, 0] * n + every[:, 1]) * n + every[:, 2]
    distinct, at = np.unique(keys, return_inverse=True)
    sums = np.zeros(len(distinct), np.int64)
    np.add.at(sums, at, every[:, 3])
    kept = sums != 0
    steps, ends = np.divmod(distinct[kept], n * n)
    links = np.column_stack(np.divmod(ends, n))
    return LinkLog.from_arrays(n, trace.step_times[steps], links, sums[kept] > 0)


def incremental_merge(trace: TopicTrace, *, tests: int = 400, shadows: int = 0, moves: int = 0) -> LinkLog:
    """The log of an overlay that starts as Greedy Merge's and is repaired after each step.

    After a step, :func:`.find_broken` searches the topics that it touched from where it touched them. A node that joins
    is linked to the fewest nodes that cover its topics (:func:`.attach`). Then Greedy Merge adds links between the
    parts that are left; of links that contribute equally it takes that with most common topics, because the cycles that
    this closes make other links redundant: these are dropped beside the links that were added.

    Parameters
    ----------
    tests : int
        The subscriptions that a test for redundancy visits at most; 0 for no tests.
    shadows : int
        If above 0, parts are joined only by links among the former neighbours of what has changed and so many further
        subscribers of each topic, those of lowest degree.
    moves : int
        How often a step may add one more link where two others can then go: a local search with a budget of changes.

    Notes
    -----
    The greedy step is that of Chockler et al. 2007 (P1), §6.1; when it is applied, and what is dropped, is ours. A step
    costs in the subscriptions of its topics. Memory about 100 bytes for each subscription that ever holds.
    """
    living = started(trace)
    start = overlay_of(living).edges
    return log_of(trace, start, repaired_over(trace, living, tests=tests, shadows=shadows, moves=moves))


def repaired_over(
    trace: TopicTrace, living: LivingOverlay, *, tests: int = 400, shadows: int = 0, moves: int = 0
) -> npt.NDArray[np.int64]:
    """Repair an overlay after each step after the start; returns rows (step, u, v, 1 or -1) of what changed."""
    n = trace.num_nodes
    zeros = [np.zeros(n, np.int32) for _ in range(4)]
    scores = _Scores(zeros[0], zeros[1], zeros[2], zeros[3], np.full(n, shadows == 0))
    return _run(steps_of(trace), tests, shadows, moves, living, nothing_broken(living), scores, cover_space(n))


def _solve(
    trace: TopicTrace,
    problem: Problem[TopicTrace, LinkLog],
    *,
    seed: int,
    time_limit: float | None,
    tests: int,
    moves: int,
) -> Proposal[LinkLog]:
    return Proposal(incremental_merge(trace, tests=tests, moves=moves))


def _solve_with_shadows(
    trace: TopicTrace, problem: Problem[TopicTrace, LinkLog], *, seed: int, time_limit: float | None, shadows: int
) -> Proposal[LinkLog]:
    return Proposal(incremental_merge(trace, tests=0, shadows=shadows))


INCREMENTAL_MERGE: Method[TopicTrace, LinkLog] = Method(
    name="gm-incremental",
    problems=("dynamic-tco",),
    summary="Greedy Merge of what an event breaks; redundant links are dropped where links were added",
    source="P1 §6.1; docs/traces.md",
    guarantee="connected after every event; nothing is proven of links and changes",
    cost="an event costs in the subscribers of its topics; memory 100 bytes for each subscription that ever holds",
    solve=_solve,
    options=(
        Option("tests", 400, "subscriptions visited to test a link for redundancy; 0: none", least=0),
        Option("moves", 0, "at most how often a step tries one link for two others", least=0),
    ),
    compiled=True,
    anytime=False,
    colour="#D55E00",
    marker="^",
)

SHADOW_REPAIR: Method[TopicTrace, LinkLog] = Method(
    name="shadow-repair",
    problems=("dynamic-tco",),
    summary="links among the former neighbours of a node that leaves and some shadow nodes; none is torn down",
    source="after DynShadow (Chen, Vitenberg, Jacobsen 2011, abstract): shadow nodes; their choice is ours",
    guarantee="connected after every event; no link is removed but those without a common topic",
    cost="as gm-incremental, without tests for redundancy",
    solve=_solve_with_shadows,
    options=(Option("shadows", 3, "further subscribers of each broken topic", least=1),),
    compiled=True,
    anytime=False,
    colour="#009E73",
    marker="<",
)
