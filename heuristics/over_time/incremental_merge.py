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

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...instances.contract.arrays import Ids, Offsets, offsets_of
from ...instances.contract.method import Proposal
from ...instances.contract.option import Option
from ...instances.over_time.link_log import LinkLog
from ...instances.over_time.trace import LEAVE, TopicTrace
from ...instances.runtime.compiled import kernel
from ...instances.runtime.run import Clock
from ..graph import bit_count
from ..topics.greedy_merge import greedy_merge
from .kernels.broken_topics import (
    Broken,
    begin_step,
    colours_twice,
    end_step,
    find_broken,
    group_of,
    is_redundant,
    nothing_broken,
    seed_new,
    unite_broken,
)
from .kernels.living_overlay import (
    Changes,
    LivingOverlay,
    add_first,
    add_link,
    common_with,
    entry_of,
    first_mark,
    hold,
    is_preferred,
    living_overlay,
    node_of,
    overlay_of,
    remove_link,
    toggle,
)
from .kernels.star_cover import CoverSpace, attach, cover_space
from .trace_method import trace_method

_FEW = 6  # nodes of a component from which links are tried


class _Scores(NamedTuple):
    """Work space."""

    counts: Ids  # of each node, 0 between uses
    held: npt.NDArray[np.bool_]  # of each topic, False between uses
    allowed: npt.NDArray[np.bool_]  # of each node whether it may get a link to join parts
    ranks: npt.NDArray[np.int64]  # of candidates, ascending
    ends: Ids  # both ends of each candidate


class Steps(NamedTuple):
    """The events of each step of a trace, as kernels take them."""

    departure_offsets: Offsets
    departures: Ids
    toggle_offsets: Offsets
    toggles: Ids
    events: Offsets  # of each step the events until its end


def steps_of(trace: TopicTrace) -> Steps:
    """The departures and the subscriptions that begin and end."""
    gone = trace.kinds >= LEAVE
    return Steps(
        offsets_of(trace.step_of[gone], trace.num_steps),
        trace.nodes[gone],
        trace.toggle_offsets,
        trace.toggles,
        np.cumsum(np.bincount(trace.step_of, minlength=trace.num_steps)),
    )


def started(trace: TopicTrace) -> LivingOverlay:
    """The subscriptions of the start, with Greedy Merge's overlay."""
    first = next(trace.snapshots())
    edges = np.empty((0, 2), np.int32) if first is None else greedy_merge(first).edges
    return _start(trace.toggles[: trace.toggle_offsets[1]], edges, living_overlay(trace))


@kernel
def _start(toggles: Ids, edges: Ids, living: LivingOverlay) -> LivingOverlay:
    v = 0
    for signed in toggles:
        while living.node_offsets[v + 1] < signed:
            v += 1
        toggle(v, signed - 1, True, living)
    end_step(toggles, living)
    return add_first(edges, living)


@kernel
def _run(
    steps: Steps,
    tests: int,
    shadows: int,
    moves: int,
    budget: float,
    living: LivingOverlay,
    scores: _Scores,
    space: CoverSpace,
) -> tuple[npt.NDArray[np.int64], LivingOverlay]:
    changes, broken = [(0, 0, 0, 0) for _ in range(0)], nothing_broken(len(living.counts))
    for step in range(1, len(steps.toggle_offsets) - 1):
        departures = steps.departures[steps.departure_offsets[step] : steps.departure_offsets[step + 1]]
        toggles = steps.toggles[steps.toggle_offsets[step] : steps.toggle_offsets[step + 1]]
        living, seeds = begin_step(step, departures, toggles, living, changes)
        before, v = len(changes), -1
        for signed in toggles:
            if signed > 0:
                v = node_of(signed - 1, living.node_offsets)
                if living.degrees[v] == 0:
                    attach(step, v, living, space, changes)
        seed_new(toggles, living, seeds)
        end_step(toggles, living)
        if len(seeds):
            find_broken(seeds, living, broken)
            allowed = _allow(seeds, shadows, living, broken, scores) if shadows else seeds
            may_drop = tests > 0 and len(changes) < budget * steps.events[step]
            _repair(step, tests, moves if may_drop else 0, living, broken, scores, changes)
            if shadows:
                for v in allowed:
                    scores.allowed[v] = False
            if may_drop:
                _drop(step, before, tests, living, changes)
    rows = np.empty((len(changes), 4), np.int64)
    for k in range(len(changes)):
        rows[k, 0], rows[k, 1], rows[k, 2], rows[k, 3] = changes[k]
    return rows, living


@kernel
def _allow(seeds: list[int], shadows: int, living: LivingOverlay, broken: Broken, scores: _Scores) -> list[int]:
    """Allow links only at the seeds, one of which is in every part, and at some subscribers of each broken topic."""
    counts, degrees, members, topic_offsets = living.counts, living.degrees, living.members, living.topic_offsets
    allowed = scores.allowed
    nodes = [0 for _ in range(0)]
    for seed in seeds:
        nodes.append(int(seed & 0xFFFFFFFF))
        allowed[nodes[-1]] = True
    for t in broken.topics:
        first = topic_offsets[t]
        for _ in range(shadows):
            best = -1
            for v in members[first : first + counts[t]]:
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
    active, node_offsets, node_topics = living.active, living.node_offsets, living.node_topics
    parts, allowed, marks, listed = broken.parts, scores.allowed, living.marks, first_mark(1, living)
    nodes, bounds = [0 for _ in range(0)], [0 for _ in range(0)]  # upper bounds on their contributions
    for v in broken.nodes:
        if marks[v] != listed and allowed[v]:
            marks[v] = listed
            nodes.append(v)
            bounds.append(0)
            for at in range(node_offsets[v], node_offsets[v + 1]):
                bounds[-1] += active[at] > 0 and parts[node_topics[at]] > 1
    while True:
        top = 1
        for bound in bounds:
            top = max(top, bound)
        if top == 1:
            break
        most, chosen, partner = -1, -1, -1
        for k in range(len(nodes)):
            if bounds[k] == top:
                bounds[k], other, common = _best_partner(nodes[k], top, living, broken, scores)
                if common > most:
                    most, chosen, partner = common, nodes[k], other
        if chosen >= 0:
            _join(step, chosen, partner, living, broken, changes)
    for t in broken.topics:
        _join_parts(step, t, tests, moves, living, broken, scores, changes)


@kernel
def _join(step: int, u: int, v: int, living: LivingOverlay, broken: Broken, changes: Changes) -> None:
    add_link(u, v, living)
    changes.append((step, int(u), int(v), 1))
    unite_broken(u, v, living, broken)


@kernel
def _best_partner(u: int, top: int, living: LivingOverlay, broken: Broken, scores: _Scores) -> tuple[int, int, int]:
    """The highest contribution of a link from u, at most `top`.

    If it is `top`, also the node that has it with most common topics, then lowest degree and number, and these topics;
    else -1 and -1.
    """
    active, degrees = living.active, living.degrees
    members, topic_offsets, sizes, touched = living.members, living.topic_offsets, living.counts, living.queue
    node_offsets, node_topics = living.node_offsets, living.node_topics
    parts, starts, nodes, groups = broken.parts, broken.starts, broken.nodes, broken.groups
    counts, allowed, held = scores.counts, scores.allowed, scores.held
    num = score = 0
    for at in range(node_offsets[u], node_offsets[u + 1]):
        t = node_topics[at]
        if not active[at] or parts[t] < 2:
            continue
        own = group_of(u, t, broken)
        if own >= 0:  # all subscribers but those of this component
            for k in range(starts[t, 0], starts[t, 1]):
                if groups[k] == own:
                    counts[nodes[k]] -= 1
            for v in members[topic_offsets[t] : topic_offsets[t] + sizes[t]]:
                counts[v] += 1
                if counts[v] == 1:
                    touched[num] = v
                    num += 1
        else:
            for k in range(starts[t, 0], starts[t, 1]):
                v = nodes[k]
                if groups[k] >= 0:
                    counts[v] += 1
                    if counts[v] == 1:
                        touched[num] = v
                        num += 1
    for v in touched[:num]:
        if allowed[v]:
            score = max(score, counts[v])
    best = most = -1
    if score == top:
        hold(u, True, living, held)
        for v in touched[:num]:
            if counts[v] == score and allowed[v]:
                common = common_with(held, v, node_offsets, node_topics, active)
                if common > most or (common == most and is_preferred(v, best, degrees)):
                    best, most = v, common
        hold(u, False, living, held)
    for v in touched[:num]:
        counts[v] = 0
    return int(score), int(best), int(most)


@kernel
def _join_parts(
    step: int, t: int, tests: int, moves: int, living: LivingOverlay, broken: Broken, scores: _Scores, changes: Changes
) -> None:
    """Join the components of a topic whose links contribute to no other topic any more.

    Of the links of a component with most common topics, the first that lets another link go; the very first, if none
    does. Cycles that a link closes make others redundant.
    """
    k = int(broken.starts[t, 0])
    while broken.parts[t] > 1:
        num = _candidates(k, t, max(1, moves), living, broken, scores)
        k += 1
        for turn in range(num + 1 if num else 0):
            u, v = int(scores.ends[turn % num, 0]), int(scores.ends[turn % num, 1])
            add_link(u, v, living)
            if turn == num or not moves or _drop_beside(step, u, v, tests, living, changes):
                changes.append((step, u, v, 1))
                unite_broken(u, v, living, broken)
                break
            remove_link(u, v, living)


@kernel
def _candidates(at: int, t: int, most: int, living: LivingOverlay, broken: Broken, scores: _Scores) -> int:
    """List at most `most` links from some nodes of a listed component of a topic to others; returns their number.

    They have most common topics, and among these the partners of lowest degree and number.
    """
    ranks, ends, allowed, held = scores.ranks, scores.ends, scores.allowed, scores.held
    nodes, groups = broken.nodes, broken.groups
    node_offsets, node_topics, active = living.node_offsets, living.node_topics, living.active
    members, masks, degrees, marks = living.members, living.masks, living.degrees, living.marks
    own, last = groups[at], broken.starts[t, 1]
    first, num, tried = living.topic_offsets[t], 0, 0
    if own < 0:
        return 0
    mark_own, count = first_mark(1, living), living.counts[t]
    for k in range(broken.starts[t, 0], last):
        if groups[k] == own:
            marks[nodes[k]] = mark_own
    for place in range(at, last):
        u = nodes[place]
        if groups[place] != own or not allowed[u]:
            continue
        tried += 1
        if tried > _FEW:
            break
        mask = masks[u]
        aliases = hold(u, True, living, held) - bit_count(mask)
        worst = ranks[num - 1] if num == most else np.int64(2**62)
        for v in members[first : first + count]:
            rank = (np.int64(min(degrees[v], 65_535)) << 32) + v
            if rank - ((bit_count(mask & masks[v]) + aliases) << 48) >= worst or not allowed[v] or marks[v] == mark_own:
                continue
            rank -= np.int64(common_with(held, v, node_offsets, node_topics, active)) << 48
            if num < most:
                num += 1
            elif rank >= ranks[num - 1]:
                continue
            k = num - 1
            while k > 0 and ranks[k - 1] > rank:
                ranks[k], ends[k, 0], ends[k, 1] = ranks[k - 1], ends[k - 1, 0], ends[k - 1, 1]
                k -= 1
            ranks[k], ends[k, 0], ends[k, 1] = rank, u, v
            worst = ranks[num - 1] if num == most else worst
        hold(u, False, living, held)
    return num


@kernel
def _drop_beside(step: int, u: int, v: int, tests: int, living: LivingOverlay, changes: Changes) -> bool:
    """Remove links beside a new one that became redundant; returns whether there were any."""
    dropped, begin, degrees, to, colours = False, living.begin, living.degrees, living.to, living.colours
    for at, other in ((u, v), (v, u)):
        twice = colours_twice(at, begin, degrees, colours)
        for k in range(degrees[at] - 1, -1, -1):  # a link that is removed gives its entry to one that was tested
            entry = begin[at] + k
            w = int(to[entry])
            if w != other and not np.int64(colours[entry]) & ~twice and is_redundant(at, entry, tests, living):
                changes.append((step, int(at), w, -1))
                remove_link(at, w, living)
                dropped, twice = True, colours_twice(at, begin, degrees, colours)
    return dropped


@kernel
def _drop(step: int, before: int, tests: int, living: LivingOverlay, changes: Changes) -> None:
    """Remove links that became redundant beside those added since `before`."""
    for k in range(before, len(changes)):
        _, u, v, sign = changes[k]
        if sign > 0 and entry_of(u, v, living.begin, living.degrees, living.to) >= 0:
            _drop_beside(step, u, v, tests, living, changes)


def log_of(trace: TopicTrace, start: Ids, rows: npt.NDArray[np.int64]) -> LinkLog:
    """The log of the first overlay and of rows (step, u, v, sign); changes that a step takes back are left out."""
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


def incremental_merge(
    trace: TopicTrace, *, tests: int = 400, shadows: int = 0, moves: int = 12, budget: float = 3
) -> LinkLog:
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
    budget : float
        Changes an event on average from the start. While there were more, steps only repair: they drop and try nothing.

    Notes
    -----
    The greedy step is that of Chockler et al. 2007 (P1), §6.1; when it is applied, and what is dropped, is ours. A step
    costs in the subscriptions of its topics. Memory 9 bytes for each subscription that ever holds, 45 for each node and
    about 20 for each link.

    With `shadows` the idea is that of DynShadow (Chen, Vitenberg and Jacobsen 2011), of which only the abstract was
    read: which nodes are shadows and which links join them is ours.
    """
    living = started(trace)
    start = overlay_of(living).edges
    rows, _ = repaired_over(trace, living, tests=tests, shadows=shadows, moves=moves, budget=budget)
    return log_of(trace, start, rows)


def repaired_over(
    trace: TopicTrace, living: LivingOverlay, *, tests: int = 400, shadows: int = 0, moves: int = 12, budget: float = 3
) -> tuple[npt.NDArray[np.int64], LivingOverlay]:
    """Repair an overlay after each step after the start, in place.

    Returns rows (step, u, v, 1 or -1) of what changed, and the overlay at the end.
    """
    n = trace.num_nodes
    space = cover_space(n)
    scores = _Scores(
        space.covered,
        np.zeros(trace.num_topics, np.bool_),
        np.full(n, shadows == 0),
        np.zeros(moves + 1, np.int64),
        np.zeros((moves + 1, 2), np.int32),
    )
    return _run(steps_of(trace), tests, shadows, moves, float(budget), living, scores, space)


def _incremental(trace: TopicTrace, *, seed: int, clock: Clock, **options: Any) -> Proposal[LinkLog]:
    return Proposal(incremental_merge(trace, **options))


INCREMENTAL_MERGE = trace_method(
    "gm-incremental",
    _incremental,
    Option("tests", 400, "subscriptions visited to test a link for redundancy; 0: none", least=0),
    Option("moves", 12, "candidates for a link that joins one topic; more save links, cost changes", least=0),
    Option("budget", 3.0, "changes an event above which nothing but repairs is done", least=0),
    summary="Greedy Merge of what an event breaks; redundant links are dropped where links were added",
    source="P1 §6.1; docs/traces.md",
    guarantee="connected after every event; nothing is proven of links and changes",
    cost="an event costs in the subscribers of its topics; memory about 18 bytes for each subscription that ever holds",
)

SHADOW_REPAIR = trace_method(
    "shadow-repair",
    partial(_incremental, tests=0, moves=0),
    Option("shadows", 3, "further subscribers of each broken topic", least=1),
    summary="links among the former neighbours of a node that leaves and some shadow nodes; none is torn down",
    source="after DynShadow (Chen, Vitenberg, Jacobsen 2011, abstract): shadow nodes; their choice is ours",
    guarantee="connected after every event; no link is removed but those without a common topic",
    cost="as gm-incremental, without tests for redundancy",
)
