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
from ..graph import root_of
from .greedy_merge import greedy_merge
from .kernels.living_overlay import (
    EPOCH,
    Broken,
    Changes,
    LivingOverlay,
    add_link,
    begin_step,
    common_topics,
    find_broken,
    is_preferred,
    is_redundant,
    living_overlay,
    most_common,
    nothing_broken,
    overlay_of,
    remove_link,
    seed_new,
    toggle,
    unite_broken,
)
from .kernels.star_cover import CoverSpace, attach, cover_space

_FEW = 6  # nodes of a component from which links are tried


class _Scores(NamedTuple):
    """Work space."""

    counts: Ids  # of each node, 0 between uses
    touched: Ids  # the nodes with other counts
    bounds: Ids  # of each node of a component that is not main, an upper bound on its contributions
    nodes: Ids  # these nodes
    allowed: npt.NDArray[np.bool_]  # of each node whether it may get a link to join parts
    ranks: npt.NDArray[np.int64]  # of candidates, ascending
    ends: Ids  # both ends of each candidate


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
            _repair(step, tests, moves, living, broken, scores, changes)
            if shadows:
                for v in allowed:
                    scores.allowed[v] = False
            if tests:
                _drop(step, before, tests, living, changes)
    rows = np.empty((len(changes), 4), np.int64)
    for k in range(len(changes)):
        rows[k, 0], rows[k, 1], rows[k, 2], rows[k, 3] = changes[k]
    return rows


@kernel
def _allow(seeds: list[int], shadows: int, living: LivingOverlay, broken: Broken, scores: _Scores) -> list[int]:
    """Allow links only at the seeds, one of which is in every part, and at some subscribers of each broken topic."""
    counts, degrees, members, slot_nodes = living.counts, living.degrees, living.members, living.slot_nodes
    topic_offsets = living.topic_offsets
    numbers, topics = broken.numbers, broken.topics
    allowed = scores.allowed
    nodes = [0 for _ in range(0)]
    for slot in seeds:
        nodes.append(int(slot_nodes[slot]))
        allowed[nodes[-1]] = True
    for k in range(numbers[0]):
        t = topics[k]
        first = topic_offsets[t]
        for _ in range(shadows):
            best = -1
            for slot in members[first : first + counts[t]]:
                v = slot_nodes[slot]
                if not allowed[v] and (best < 0 or is_preferred(v, best, degrees)):
                    best = v
            if best >= 0:
                nodes.append(int(best))
                allowed[best] = True
    return nodes


@kernel
def _repair(
    step: int, tests: int, moves: int, living: LivingOverlay, broken: Broken, scores: _Scores, changes: Changes
) -> None:
    """Greedy Merge on the components of broken topics.

    An edge that contributes has an end in a component that is not main; such a node's broken topics bound its
    contributions.
    """
    active, node_offsets, node_topics, slot_nodes = (
        living.active,
        living.node_offsets,
        living.node_topics,
        living.slot_nodes,
    )
    numbers, parts, slots, topics = broken.numbers, broken.parts, broken.slots, broken.topics
    allowed, bounds = scores.allowed, scores.bounds
    num = 0
    for slot in slots[: numbers[1]]:
        v = slot_nodes[slot]
        if bounds[v] == 0 and allowed[v]:
            scores.nodes[num] = v
            num += 1
            for at in range(node_offsets[v], node_offsets[v + 1]):
                bounds[v] += active[at] and parts[node_topics[at]] > 1
    nodes = scores.nodes[:num]
    while True:
        best = -1
        for v in nodes:
            if best < 0 or bounds[v] > bounds[best] or (bounds[v] == bounds[best] and v < best):
                best = v
        if best < 0 or bounds[best] <= 1:
            break
        top = bounds[best]
        most, chosen, partner = -1, -1, -1
        for v in nodes:
            if bounds[v] == top:
                score, other = _best_partner(v, living, broken, scores)
                bounds[v] = score
                if score == top:
                    common = common_topics(v, other, node_offsets, node_topics, active)
                    if common > most:
                        most, chosen, partner = common, v, other
        if chosen >= 0:
            _join(step, chosen, partner, living, broken, changes)
    for v in nodes:
        bounds[v] = 0
    for k in range(numbers[0]):
        _join_parts(step, topics[k], tests, moves, living, broken, scores, changes)


@kernel
def _join(step: int, u: int, v: int, living: LivingOverlay, broken: Broken, changes: Changes) -> None:
    add_link(u, v, living)
    changes.append((step, int(u), int(v), 1))
    unite_broken(u, v, living, broken)


@kernel
def _best_partner(u: int, living: LivingOverlay, broken: Broken, scores: _Scores) -> tuple[int, int]:
    """The highest contribution of a link from u, and the node of lowest degree and number that has it."""
    active, degrees, masks, topics = living.active, living.degrees, living.masks, living.topics
    members, topic_offsets, sizes, slot_nodes = living.members, living.topic_offsets, living.counts, living.slot_nodes
    node_offsets, node_topics, seen, group = living.node_offsets, living.node_topics, living.seen, living.group
    parent, parts, slots, starts = broken.parent, broken.parts, broken.slots, broken.starts
    counts, touched, allowed = scores.counts, scores.touched, scores.allowed
    epoch, num = living.numbers[EPOCH], 0
    for at in range(node_offsets[u], node_offsets[u + 1]):
        t = node_topics[at]
        if not active[at] or parts[t] < 2:
            continue
        main = root_of(parent, broken.main[t])
        own = root_of(parent, group[at]) if seen[at] == epoch else main
        source = members if own != main else slots
        first, last = (topic_offsets[t], topic_offsets[t] + sizes[t]) if own != main else (starts[t, 0], starts[t, 1])
        for place in range(first, last):
            slot = source[place]
            v = slot_nodes[slot]
            if allowed[v] and (root_of(parent, group[slot]) if seen[slot] == epoch else main) != own:
                if counts[v] == 0:
                    touched[num] = v
                    num += 1
                counts[v] += 1
    score = 0
    for v in touched[:num]:
        score = max(score, counts[v])
    best, most = -1, -1
    for v in touched[:num]:
        if counts[v] == score and most_common(u, v, masks, topics) >= most:
            common = common_topics(u, v, node_offsets, node_topics, active)
            if common > most or (common == most and is_preferred(v, best, degrees)):
                best, most = v, common
    for v in touched[:num]:
        counts[v] = 0
    return int(score), int(best)


@kernel
def _join_parts(
    step: int, t: int, tests: int, moves: int, living: LivingOverlay, broken: Broken, scores: _Scores, changes: Changes
) -> None:
    """Join the components of a topic whose links contribute to no other topic any more.

    Of the links of a component with most common topics, the first that lets another link go; the very first, if none
    does. Cycles that a link closes make others redundant.
    """
    k = broken.starts[t, 0]
    while broken.parts[t] > 1:
        num = _candidates(k, t, max(1, moves), living, broken, scores)
        k += 1
        for turn in range(num + 1 if num else 0):
            u, v = int(scores.ends[turn % num, 0]), int(scores.ends[turn % num, 1])
            half = add_link(u, v, living)
            if turn == num or not moves or _drop_beside(step, u, v, half, tests, living, changes):
                changes.append((step, u, v, 1))
                unite_broken(u, v, living, broken)
                break
            remove_link(half, living)


@kernel
def _candidates(at: int, t: int, most: int, living: LivingOverlay, broken: Broken, scores: _Scores) -> int:
    """List at most `most` links from some nodes of a listed component of a topic to others; returns their number.

    They have most common topics, and among these the partners of lowest degree and number.
    """
    ranks, ends, allowed, slots = scores.ranks, scores.ends, scores.allowed, broken.slots
    node_offsets, node_topics, slot_nodes, active = (
        living.node_offsets,
        living.node_topics,
        living.slot_nodes,
        living.active,
    )
    members, masks, topics, degrees = living.members, living.masks, living.topics, living.degrees
    seen, group, parent, epoch = living.seen, living.group, broken.parent, living.numbers[EPOCH]
    main = root_of(parent, broken.main[t])
    own = root_of(parent, group[slots[at]])
    first, last, num, tried = living.topic_offsets[t], living.topic_offsets[t] + living.counts[t], 0, 0
    if own == main:
        return 0
    for place in range(at, broken.starts[t, 1]):
        u = slot_nodes[slots[place]]
        if root_of(parent, group[slots[place]]) != own or not allowed[u]:
            continue
        tried += 1
        if tried > _FEW:
            break
        for other in range(first, last):
            slot = members[other]
            v = slot_nodes[slot]
            if num == most and most_common(u, v, masks, topics) < -(ranks[num - 1] >> 48):
                continue
            if not allowed[v] or (root_of(parent, group[slot]) if seen[slot] == epoch else main) == own:
                continue
            common = common_topics(u, v, node_offsets, node_topics, active)
            rank = (np.int64(-common) << 48) + (np.int64(min(degrees[v], 65_535)) << 32) + v
            if num < most:
                num += 1
            elif rank >= ranks[num - 1]:
                continue
            k = num - 1
            while k > 0 and ranks[k - 1] > rank:
                ranks[k], ends[k, 0], ends[k, 1] = ranks[k - 1], ends[k - 1, 0], ends[k - 1, 1]
                k -= 1
            ranks[k], ends[k, 0], ends[k, 1] = rank, u, v
    return num


@kernel
def _drop_beside(step: int, u: int, v: int, link: int, tests: int, living: LivingOverlay, changes: Changes) -> bool:
    """Remove links beside a new one that became redundant; returns whether there were any."""
    dropped, head, following, to = False, living.head, living.following, living.to
    for at in (u, v):
        half = head[at]
        while half >= 0:
            after = following[half]
            if half >> 1 != link >> 1 and is_redundant(half, tests, living):
                changes.append((step, int(at), int(to[half]), -1))
                remove_link(half, living)
                dropped = True
            half = after
    return dropped


@kernel
def _drop(step: int, before: int, tests: int, living: LivingOverlay, changes: Changes) -> None:
    """Remove links that became redundant beside those added since `before`."""
    for k in range(before, len(changes)):
        _, u, v, sign = changes[k]
        if sign > 0:
            half = living.head[u]
            while half >= 0 and living.to[half] != v:
                half = living.following[half]
            if half >= 0:
                _drop_beside(step, u, v, half, tests, living, changes)


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


def incremental_merge(trace: TopicTrace, *, tests: int = 400, shadows: int = 0, moves: int = 12) -> LinkLog:
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
        Candidates for a link that joins one component of one topic: the first that lets another link go is taken. More
        of them save links and cost changes; 0 takes the link with most common topics.

    Notes
    -----
    The greedy step is that of Chockler et al. 2007 (P1), §6.1; when it is applied, and what is dropped, is ours. A step
    costs in the subscriptions of its topics. Memory 107 bytes for each subscription that ever holds.
    """
    living = started(trace)
    start = overlay_of(living).edges
    return log_of(trace, start, repaired_over(trace, living, tests=tests, shadows=shadows, moves=moves))


def repaired_over(
    trace: TopicTrace, living: LivingOverlay, *, tests: int = 400, shadows: int = 0, moves: int = 12
) -> npt.NDArray[np.int64]:
    """Repair an overlay after each step after the start; returns rows (step, u, v, 1 or -1) of what changed."""
    n = trace.num_nodes
    zeros = [np.zeros(n, np.int32) for _ in range(4)]
    scores = _Scores(
        zeros[0],
        zeros[1],
        zeros[2],
        zeros[3],
        np.full(n, shadows == 0),
        np.zeros(moves + 1, np.int64),
        np.zeros((moves + 1, 2), np.int32),
    )
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
    return Proposal(incremental_merge(trace, tests=0, shadows=shadows, moves=0))


INCREMENTAL_MERGE: Method[TopicTrace, LinkLog] = Method(
    name="gm-incremental",
    problems=("dynamic-tco",),
    summary="Greedy Merge of what an event breaks; redundant links are dropped where links were added",
    source="P1 §6.1; docs/traces.md",
    guarantee="connected after every event; nothing is proven of links and changes",
    cost="an event costs in the subscribers of its topics; memory 107 bytes for each subscription that ever holds",
    solve=_solve,
    options=(
        Option("tests", 400, "subscriptions visited to test a link for redundancy; 0: none", least=0),
        Option("moves", 12, "candidates for a link that joins one topic; more save links, cost changes", least=0),
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
