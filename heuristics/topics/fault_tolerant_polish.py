"""Polish for fault-tolerant overlays: a local search that never makes one worse."""

from __future__ import annotations

import math
from contextlib import suppress
from functools import partial

import numpy as np
import numpy.typing as npt

from ...instances.contract.arrays import Ids
from ...instances.contract.compiled import kernel
from ...instances.contract.method import Method, Proposal
from ...instances.contract.option import Option
from ...instances.contract.overlay import Overlay
from ...instances.contract.problem import Problem
from ...instances.contract.run import Clock, offer
from ...instances.topics.instance import TopicInstance
from ...instances.topics.problems import FaultTolerantTCO
from .local_search.linked_overlay import (
    Links,
    Subscriptions,
    add_edge,
    edges_of,
    links_of,
    remove_edge,
    search_topic,
    subscriptions_of,
)
from .local_search.overlay_search import candidate_lists
from .local_search.ruin_and_recreate import CandidateLists, random_number
from .polish import check_start, first_overlay, starts
from .ring_per_topic import harary_per_topic

_STEPS, _ANY = 100_000, 10**15
_AT_ONCE = 50
START = Option(
    "start",
    "gm2",
    "the method whose overlay is polished, with its default options",
    choices=lambda: tuple(starts("k-tco")),
)
STEPS = Option("steps", _STEPS, "steps of local search, where no time limit is given", least=0, most=10**12)


def fault_tolerant_polish(
    instance: TopicInstance,
    overlay: Overlay,
    *,
    seed: int = 0,
    time_limit: float | None = None,
    steps: int | None = None,
    clock: Clock | None = None,
) -> Overlay:
    """A fault-tolerant overlay with no more edges than the given one.

    Redundant edges are dropped. Then each step adds an edge to a near node and drops all edges at its ends that have
    become redundant; if none has, it takes the edge out again. A step that adds one edge and drops one changes the
    overlay at equal cost, so the search moves on.

    Parameters and result are those of :func:`.polish`; the overlay is valid for ``k-tco``. The time is checked every 50
    steps; `steps` are by default 100,000 if there is no time limit, else as many as the time allows.

    Raises
    ------
    BadInput
        If the overlay is not valid.

    Notes
    -----
    From no paper. A step takes the links of all topics of each edge at two nodes. Memory O(Σ|T_v| + Σ_edges |T_u ∩
    T_v|), and 16 bytes for each of about 40 candidate edges a node.

    Examples
    --------
    >>> from overlaybench.heuristics.topics.gm2 import gm2
    >>> instance = TopicInstance.from_subscriptions({f"n{v}": ["a"] for v in range(5)})
    >>> fault_tolerant_polish(instance, gm2(instance), steps=100).num_edges
    5
    """
    clock = clock or Clock(time_limit)
    if steps is None:
        steps = _STEPS if math.isinf(clock.left) else _ANY
    check_start(overlay, instance, FaultTolerantTCO())
    subscriptions, candidates = subscriptions_of(instance), candidate_lists(instance)
    width = int(np.diff(instance.node_offsets).max())
    links = links_of(overlay, subscriptions, spare_edges=_SPARE, spare_links=_SPARE * width)
    random = np.array([2 * seed + 1], np.uint64)
    work = np.zeros((5, int(np.diff(instance.topic_offsets).max())), np.int32)
    checked, taken = 0, 0
    with suppress(KeyboardInterrupt):
        while checked < len(links.members) and (not checked or not clock.passed):
            last = min(checked + _AT_ONCE, len(links.members))
            _drop_slots(checked, last, subscriptions, links, work)
            checked = last
        while overlay.num_edges and not clock.passed and taken < steps:
            _take_steps(min(_AT_ONCE, steps - taken), candidates, subscriptions, links, work, random)
            taken += _AT_ONCE
    return Overlay.from_edges(instance.num_nodes, np.stack(np.divmod(edges_of(links), instance.num_nodes), axis=1))


Random = npt.NDArray[np.uint64]
_SPARE = 64


@kernel
def _drop_slots(first: int, last: int, subscriptions: Subscriptions, links: Links, work: Ids) -> None:
    """Drop the redundant edges of some slots. Cost O(links of its topics) an edge."""
    for slot in range(first, last):
        if links.member_index[slot] < links.counts[0]:
            _drop_if_redundant(slot, subscriptions, links, work)


@kernel
def _take_steps(
    steps: int, candidates: CandidateLists, subscriptions: Subscriptions, links: Links, work: Ids, random: Random
) -> None:
    """Steps that add a random candidate edge each and, unless an edge at its ends is redundant then, remove it.

    The overlay stays fault-tolerant and never has more edges than before. Cost O(links of the topics) for each edge at
    either end.
    """
    n = len(links.degrees)
    near = np.empty(len(links.members), np.int32)
    for _ in range(steps):
        u = int(random_number(random) * n)
        first, last = candidates.offsets[u], candidates.offsets[u + 1]
        if first == last:
            continue
        v = candidates.nodes[first + int(random_number(random) * (last - first))]
        if _are_adjacent(u, v, subscriptions, links):
            continue
        added = add_edge(min(u, v), max(u, v), subscriptions, links)
        size = 0
        for end in links.ends[added]:
            for i in range(subscriptions.node_offsets[end], subscriptions.node_offsets[end + 1]):
                half = links.head[subscriptions.positions[i]]
                while half >= 0:
                    slot = links.edge[half >> 1]
                    if slot != added and size < len(near):
                        near[size] = slot
                        size += 1
                    half = links.after[half]
        dropped = 0
        while size > 0:
            pick = int(random_number(random) * size)
            slot = near[pick]
            size -= 1
            near[pick] = near[size]
            # A slot is listed once a topic, and may have been dropped since.
            if links.member_index[slot] < links.counts[0]:
                dropped += _drop_if_redundant(slot, subscriptions, links, work)
        if dropped == 0:
            remove_edge(added, links)


@kernel
def _are_adjacent(u: int, v: int, subscriptions: Subscriptions, links: Links) -> bool:
    """Whether two nodes with a common topic are adjacent."""
    offsets, topics, positions = subscriptions.node_offsets, subscriptions.node_topics, subscriptions.positions
    i, end_i = offsets[u], offsets[u + 1]
    j, end_j = offsets[v], offsets[v + 1]
    while i < end_i and j < end_j:
        one, other = topics[i], topics[j]
        if one == other:
            half = links.head[positions[i]]
            while half >= 0:
                if links.target[half] == positions[j]:
                    return True
                half = links.after[half]
            return False
        i += one <= other
        j += other <= one
    return True


@kernel
def _drop_if_redundant(slot: int, subscriptions: Subscriptions, links: Links, work: Ids) -> int:
    """Drop an edge if all its topics stay 2-connected without it; returns the number of edges dropped, 0 or 1."""
    u, v = links.ends[slot, 0], links.ends[slot, 1]
    one = links.first[slot]
    while one >= 0:
        for half in (2 * one, 2 * one + 1):
            # Without the edge every subscriber needs two neighbours.
            second = links.after[links.head[links.target[half]]]
            if second < 0 or links.after[second] < 0:
                return 0
        one = links.following[one]
    remove_edge(slot, links)
    one, kept = links.first[slot], True
    while one >= 0 and kept:
        t = links.topic[one]
        size = subscriptions.topic_offsets[t + 1] - subscriptions.topic_offsets[t]
        kept = search_topic(t, False, subscriptions, links, work) == size
        one = links.following[one]
    if kept:
        return 1
    add_edge(u, v, subscriptions, links)
    return 0


def _solve(
    instance: TopicInstance,
    problem: Problem[TopicInstance, Overlay],
    *,
    seed: int,
    time_limit: float | None,
    start: str,
    steps: int,
    overlay: Overlay | None = None,
) -> Proposal[Overlay]:
    clock = Clock(time_limit)
    if overlay is None:
        quick = partial(harary_per_topic, order="number")
        overlay = first_overlay(starts(problem.name)[start], instance, problem, seed, time_limit, quick)
    offer(overlay)
    most = steps if time_limit is None else None
    polished = fault_tolerant_polish(instance, overlay, seed=seed, steps=most, clock=clock)
    return Proposal(polished, counters={"start": overlay.num_edges})


FAULT_TOLERANT_POLISH: Method[TopicInstance, Overlay] = Method(
    name="polish",
    problems=("k-tco",),
    summary="local search from a fault-tolerant overlay: an edge in, all that are redundant then out",
    source="none; docs/topics.md",
    guarantee="never worse than its start",
    cost="a step takes the links of all topics of the edges at two nodes; memory O(Σ|T_v| + Σ_edges |T_u ∩ T_v|)",
    solve=_solve,
    options=(START, STEPS),
    compiled=True,
    inputs=("overlay",),
    random=True,
    colour="#117733",
    marker="s",
)
