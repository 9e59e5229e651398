"""Polish: local searches that never make an overlay worse, one of them for fault-tolerant overlays."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ....instances.contract.arrays import Ids
from ....instances.contract.catalogue import methods_of
from ....instances.contract.errors import BadInput
from ....instances.contract.method import Method, Proposal
from ....instances.contract.option import Option
from ....instances.contract.overlay import Overlay
from ....instances.contract.result import Status
from ....instances.runtime.compiled import kernel
from ....instances.runtime.run import Clock, offer, until_interrupted
from ....instances.runtime.stoppable import finished_within
from ....instances.topics.instance import TopicInstance
from ....instances.topics.objective import rank
from ....instances.topics.problems import AnyTopicProblem, FaultTolerantTCO, MinTCO
from ..heuristic import TOPIC_CONNECTED
from ..kernels.interest import edge_costs, ordered_pairs
from ..ring_per_topic import harary_per_topic
from .linked_overlay import (
    Links,
    VertexTable,
    add_edge,
    edges_of,
    links_of,
    remove_edge,
    search_topic,
    subscriptions_of,
)
from .overlay_search import (
    MOST_STEPS,
    PARTS_AT_ONCE,
    OverlaySearch,
    PartitionedSearch,
    candidate_lists,
    priced_candidates,
)
from .ruin_and_recreate import CandidateLists, SearchParameters, random_number

_STEPS = 100_000
FIRST = Option(
    "first",
    "auto",
    "what is lowered first: edges, then maximum degree; the other way round; their product; or what the problem asks",
    choices=("auto", "edges", "degree", "product"),
)
STEPS = Option(
    "steps", 0, f"steps of local search at most; 0: all that a time limit allows, else {_STEPS:,}", least=0, most=10**12
)
THREADS = Option(
    "threads",
    1,
    "threads that search parts of large overlays; without a time limit the same answer",
    least=1,
    most=PARTS_AT_ONCE,
    unkeyed=True,
)
_SPARE, _AT_ONCE, _ANY = 64, 50, 10**15
_LEAST_NODES = 10_000
_HOT, _COLD = 0.2, 0.05
_SECONDS_A_CALL = 0.2
_NO_TIME = "time: none left to search from the first overlay"
_JUDGED_AT_ONCE = 0.1
_JUDGING, _SET_UP = 4e-7, 1e-5  # seconds, at most, for each subscription and edge, on a machine with other work


def polish(
    instance: TopicInstance,
    overlay: Overlay,
    *,
    first: str = "edges",
    seed: int = 0,
    time_limit: float | None = None,
    steps: int | None = None,
    candidates: CandidateLists | None = None,
    clock: Clock | None = None,
    threads: int = 1,
) -> Overlay:
    """An overlay no worse than the given one, by simulated annealing with ruin and recreate.

    Redundant edges are dropped. Then each step removes two to four neighbouring edges, reconnects the topics that
    this splits by edges of largest contribution, and drops redundant edges; it is accepted as in simulated annealing.
    Degrees above a cap cost a penalty; the cap is one below the least maximum degree so far.

    Overlays of at least 10,000 nodes are searched in parts for fewer edges, unless the maximum degree comes first or
    edges have costs (:class:`.PartitionedSearch`).

    Parameters
    ----------
    overlay : Overlay
        Topic-connected.
    first : {"edges", "degree", "product", "cost"}
        Overlays are compared by edges, then maximum degree; by maximum degree, then edges; by their product; or by the
        total cost of their edges, then maximum degree.
    seed : int
        Without a time limit one seed gives one answer.
    time_limit : float, optional
        Seconds, all of which are used unless `steps` end first; checked about every 0.2 s.
    steps : int, optional
        At most so many; by default all that a time limit allows, without one 100,000.
    candidates : CandidateLists, optional
        The edges to reconnect by: :func:`.candidate_lists`, for costs :func:`.priced_candidates`.
    clock : Clock, optional
        The time and the interruption of the run that this search is a part of, instead of `time_limit`.
    threads : int
        From 1 to 4: how many search parts. Without a time limit the overlay does not depend on it.

    Returns
    -------
    Overlay
        The best one so far if the time passes or Ctrl-C interrupts the search, which also ends where, on a tiny
        instance, no overlay can be better (:func:`least_edges`).

    Raises
    ------
    BadInput
        If the overlay is not one of the instance, leaves a topic unconnected, or an option is out of its range.

    Notes
    -----
    A step takes time proportional to the subscribers of the topics of the removed edges: 8,000 steps a second at
    1,000 nodes, 100 topics, 10 subscriptions a node. In parts it does not depend on the size of topics. Memory
    O(Σ|T_v| + Σ_edges |T_u ∩ T_v|), and 16 bytes for each of about 40 candidate edges a node.

    Examples
    --------
    >>> instance = TopicInstance.from_subscriptions({"n0": ["a", "b"], "n1": ["a", "b"], "n2": ["b"]})
    >>> polish(instance, Overlay.from_edges(3, [(0, 1), (0, 2), (1, 2)])).num_edges
    2
    >>> import overlaybench as ob
    >>> priced = instance.with_costs(ob.LinkCosts.given([[0, 9, 9], [9, 0, 1], [9, 1, 0]]))
    >>> polish(priced, Overlay.from_edges(3, [(0, 1), (0, 2)]), first="cost").edges.tolist()
    [[0, 1], [1, 2]]
    """
    progress = _Progress(clock or Clock(time_limit), steps)
    if first != "cost":
        FIRST.parse(first)
    check_start(overlay, instance, MinTCO())
    annealing = _Annealing(instance, overlay, first, seed, progress)
    with until_interrupted():
        if searches_in_parts(overlay.num_nodes, first):
            annealing.run_in_parts(int(THREADS.parse(threads)), candidates)
            return annealing.overlay
        if candidates is None:
            candidates = priced_candidates(instance, overlay) if first == "cost" else candidate_lists(instance)
        annealing.run(candidates)
    return annealing.overlay


def is_judged_within(instance: TopicInstance, overlay: Overlay, clock: Clock) -> bool:
    """Whether the time left suffices to judge an overlay; without it, the answer of a run is judged after it.

    Within the grace of a run, a tenth of a second always does.
    """
    return _JUDGING * (instance.num_subscriptions + overlay.num_edges) < max(clock.left, _JUDGED_AT_ONCE)


def is_searchable(instance: TopicInstance, overlay: Overlay, clock: Clock) -> bool:
    """Whether the time left suffices to set up a local search from an overlay, which cannot be interrupted."""
    return _SET_UP * (instance.num_subscriptions + overlay.num_edges) < clock.left


def searches_in_parts(num_nodes: int, first: str) -> bool:
    """Whether overlays of so many nodes are searched in parts."""
    return num_nodes >= _LEAST_NODES and first in ("edges", "product")


class _Progress:
    """The fraction of a search that is done, of its time or its steps."""

    def __init__(self, clock: Clock, steps: int | None) -> None:
        self._clock, self._seconds = clock, clock.left
        self._most = steps if steps is not None else _ANY if math.isfinite(clock.left) else _STEPS
        self._taken, self._next = 0, 10
        self.ended = False

    @property
    def fraction(self) -> float:
        if self.ended:
            return 1.0
        left = self._clock.left
        if not left or self._taken >= self._most:
            return 1.0
        passed = 1.0 - left / self._seconds if math.isfinite(left) else 0.0
        return max(passed, self._taken / self._most)

    @property
    def done(self) -> bool:
        return self.fraction >= 1.0

    def is_done_after(self, steps: int) -> bool:
        """Note the number of steps so far, and return whether these are all."""
        self._taken = steps
        return self.done

    def run(self, search: OverlaySearch, parameters: SearchParameters, below: float) -> float:
        """Search for 500 steps, or for about 0.2 s if that is less and there is a time limit."""
        before, start = search.steps, time.perf_counter()
        most = self._next if math.isfinite(self._seconds) else MOST_STEPS
        cost = search.run(parameters, min(most, max(1, self._most - self._taken)), below)
        taken = search.steps - before
        self._taken += taken
        seconds = (time.perf_counter() - start) / taken
        self._next = max(1, min(MOST_STEPS, 2 * self._next, int(_SECONDS_A_CALL / seconds)))
        return cost


class _Annealing:
    """The incumbent, and the stages of the search for a better one."""

    def __init__(self, instance: TopicInstance, overlay: Overlay, first: str, seed: int, progress: _Progress) -> None:
        self.overlay = overlay
        self._instance, self._first, self._seed, self._progress = instance, first, seed, progress
        self._costs = edge_costs(instance) if first == "cost" else None
        # The temperatures are for edges that cost 1 in the mean.
        self._scale = (
            overlay.num_edges / self._instance.total_cost(overlay.edges) if self._costs and overlay.num_edges else 1.0
        )
        self._least = least_edges(instance, priced=first == "cost") if instance.is_tiny else (0, 0)

    def run(self, candidates: CandidateLists) -> None:
        self._candidates, progress, first = candidates, self._progress, self._first
        search = self._search()
        search.drop_redundant(lambda: progress.done)
        self._offer(search.overlay)
        if progress.done or not self.overlay.num_edges:
            return
        if first == "cost":
            self._cool(self.overlay.num_nodes, 0.0, until=1.0)
        elif first == "degree":
            self._lower_cap(2.0, _HOT, until=0.7)
            self._cool(self.overlay.max_degree, 2.0, until=1.0)
        else:
            self._cool(self.overlay.num_nodes, 0.0, until=0.8 if first == "edges" else 0.4)
            penalty, temperature = (0.2, _COLD) if first == "edges" else (1.5, 2 * _COLD)
            self._lower_cap(penalty, temperature, until=1.0)

    def run_in_parts(self, threads: int, candidates: CandidateLists | None) -> None:
        progress = self._progress
        search = PartitionedSearch(self._instance, self.overlay, self._seed, threads, candidates=candidates)
        while search.has_choice and not progress.is_done_after(search.steps):
            try:
                search.run(progress.is_done_after)
            finally:
                self._offer(search.overlay)

    def _cool(self, cap: int, penalty: float, until: float) -> None:
        """Lower the cost under one cap, at falling temperature."""
        search, begin, below = self._search(), self._progress.fraction, math.inf
        while (now := self._progress.fraction) < until:
            temperature = _HOT * (_COLD / _HOT) ** ((now - begin) / (until - begin))
            parameters = SearchParameters(cap, penalty, temperature, self._scale)
            cost = self._progress.run(search, parameters, below)
            if cost < below:
                below = cost
                self._offer(search.overlay)

    def _lower_cap(self, penalty: float, temperature: float, until: float) -> None:
        """Lower the cap by one whenever an overlay respects it."""
        search, below = self._search(), math.inf
        cap = self.overlay.max_degree - 1
        while self._progress.fraction < until and cap > 0:
            cost = self._progress.run(search, SearchParameters(cap, penalty, temperature), below)
            if cost < below:
                below = cost
                self._offer(search.overlay)
                if search.overlay.max_degree <= cap:
                    cap, below = search.overlay.max_degree - 1, math.inf

    def _search(self) -> OverlaySearch:
        self._seed += 1
        return OverlaySearch(subscriptions_of(self._instance), self.overlay, self._candidates, self._seed, self._costs)

    def _offer(self, overlay: Overlay) -> None:
        """Take an overlay if it is better, and end the search if none can be better."""
        if self._rank(overlay) < self._rank(self.overlay):
            self.overlay = overlay
            offer(overlay)
        self._progress.ended |= self._rank(self.overlay) == rank(self._first, *self._least)

    def _rank(self, overlay: Overlay) -> tuple[int, int]:
        edges = self._instance.total_cost(overlay.edges) if self._first == "cost" else overlay.num_edges
        return rank(self._first, edges, overlay.max_degree)


def least_edges(instance: TopicInstance, *, priced: bool = False) -> tuple[int, int]:
    """Lower bounds on the edges, or on their cost, and on the maximum degree of a topic-connected overlay.

    Every overlay has the edge of each topic with two subscribers, and connects all nodes that topics connect: it costs
    no less than these edges and the cheapest ones that complete them. Cost O(|V|² |T|), for tiny instances.
    """
    from scipy.cluster.hierarchy import DisjointSet

    u, v = np.nonzero(np.triu(_common_topic(instance, instance.num_nodes), 1))
    forced = _common_topic(instance, 2)
    cost = instance.edge_costs(u, v) if priced else np.ones(len(u), np.int64)
    united, least = DisjointSet(range(instance.num_nodes)), 0
    for k in np.lexsort((cost, ~forced[u, v])).tolist():
        if united.merge(u[k], v[k]) or forced[u[k], v[k]]:
            least += int(cost[k])
    return least, max(int(forced.sum(axis=0).max()), min(2, max(map(len, united.subsets())) - 1))


def _common_topic(instance: TopicInstance, most: int) -> npt.NDArray[np.bool_]:
    """Which nodes have a common topic of at most so many subscribers, shape (|V|, |V|); none has one with itself."""
    chosen: npt.NDArray[np.bool_] = instance.to_scipy().toarray()[:, np.diff(instance.topic_offsets) <= most]
    return chosen @ chosen.T & ~np.eye(instance.num_nodes, dtype=np.bool_)


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
    >>> from overlaybench.heuristics.topics.merge.gm2 import gm2
    >>> instance = TopicInstance.from_subscriptions({f"n{v}": ["a"] for v in range(5)})
    >>> fault_tolerant_polish(instance, gm2(instance), steps=100).num_edges
    5
    """
    clock = clock or Clock(time_limit)
    if steps is None:
        steps = _ANY if math.isfinite(clock.left) else _STEPS
    check_start(overlay, instance, FaultTolerantTCO())
    least = _least_fault_tolerant(instance) if instance.is_tiny else 0
    subscriptions, candidates = subscriptions_of(instance), candidate_lists(instance)
    width = int(np.diff(instance.node_offsets).max())
    links = links_of(overlay, subscriptions, spare_edges=_SPARE, spare_links=_SPARE * width)
    random = np.array([2 * seed + 1], np.uint64)
    work = np.zeros((5, int(np.diff(instance.topic_offsets).max())), np.int32)
    checked, taken = 0, 0
    with until_interrupted():
        while checked < len(links.members) and (not checked or not clock.passed):
            last = min(checked + _AT_ONCE, len(links.members))
            _drop_slots(checked, last, subscriptions, links, work)
            checked = last
        while links.counts[0] > least and not clock.passed and taken < steps:
            _take_steps(min(_AT_ONCE, steps - taken), candidates, subscriptions, links, work, random)
            taken += _AT_ONCE
    return Overlay.from_edges(instance.num_nodes, np.stack(np.divmod(edges_of(links), instance.num_nodes), axis=1))


def _least_fault_tolerant(instance: TopicInstance) -> int:
    """A lower bound on the edges: those of topics with up to 3 subscribers, and two at each node of a larger one."""
    in_large = instance.to_scipy().toarray()[:, np.diff(instance.topic_offsets) > 2].any(axis=1)
    forced = _common_topic(instance, 3).sum(axis=0)
    return -(-int(np.maximum(forced, 2 * in_large).sum()) // 2)


@kernel
def _drop_slots(first: int, last: int, subscriptions: VertexTable, links: Links, work: Ids) -> None:
    """Drop the redundant edges of some slots. Cost O(links of its topics) an edge."""
    for slot in range(first, last):
        if links.member_index[slot] < links.counts[0]:
            _drop_if_redundant(slot, subscriptions, links, work)


@kernel
def _take_steps(
    steps: int,
    candidates: CandidateLists,
    subscriptions: VertexTable,
    links: Links,
    work: Ids,
    random: npt.NDArray[np.uint64],
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
def _are_adjacent(u: int, v: int, subscriptions: VertexTable, links: Links) -> bool:
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
def _drop_if_redundant(slot: int, subscriptions: VertexTable, links: Links, work: Ids) -> int:
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


def check_start(overlay: Overlay, instance: TopicInstance, problem: AnyTopicProblem) -> None:
    """Raise BadInput if an overlay is not valid for a problem."""
    if violations := problem.violations(instance, overlay):
        raise BadInput(f"{violations[0]}: give an overlay that is valid for {problem.name}")


def _solve(
    instance: TopicInstance,
    problem: AnyTopicProblem,
    *,
    search: Callable[..., Overlay],
    quick: Callable[[TopicInstance], Overlay],
    seed: int,
    time_limit: float | None,
    start: str,
    steps: int,
    overlay: Overlay | None = None,
    **options: Any,
) -> Proposal[Overlay]:
    """Search from an overlay or from a method's, which ends with the time; the `quick` one is offered before.

    Without the time to judge or to search from what would be offered, it is the answer, and judged after the run.
    """
    clock, first = Clock(time_limit), overlay
    if time_limit is not None:
        first = quick(instance) if overlay is None else overlay
        if not is_judged_within(instance, first, clock):
            return Proposal(first, status=Status.TIME_LIMIT, reason=_NO_TIME)
        offer(first)
    if overlay is None:
        method = {**starts(), **starts(problem.name)}[start]
        work = partial(method.by_default, instance, problem, seed=seed)
        proposal = finished_within(clock, work, steps=ordered_pairs(instance))
        overlay = None if proposal is None else proposal.answer
    if overlay is None or not is_searchable(instance, overlay, clock):
        return Proposal(overlay or first, status=Status.TIME_LIMIT, reason=_NO_TIME)
    offer(overlay)
    if search is polish and options.get("first", "auto") == "auto":
        options["first"] = problem.objective.first
    polished = search(instance, overlay, seed=seed, clock=clock, steps=steps or None, **options)
    value = problem.value(instance, overlay)
    return Proposal(polished if problem.value(instance, polished) <= value else overlay, counters={"start": value})


def starts(problem: str = "") -> dict[str, Method[TopicInstance, Overlay]]:
    """The heuristics for a problem, or for all topic-connected ones, whose overlay can be polished, by name."""
    asked = {problem} if problem else set(TOPIC_CONNECTED)
    methods = methods_of("overlaybench.heuristics.topics")
    return {each.name: each for each in methods if not each.anytime and asked <= set(each.problems)}


_RINGS = partial(harary_per_topic, order="number")
START = Option(
    "start", "gm", "the method whose overlay is polished, with its default options", choices=lambda: tuple(starts())
)
POLISH: Method[TopicInstance, Overlay] = Method(
    name="polish",
    problems=TOPIC_CONNECTED,
    summary="local search from the overlay of another method: drops, swaps and re-routes edges",
    source="none; docs/topics.md",
    guarantee="never worse than its start",
    cost="a step takes time proportional to the subscribers of the topics of the edges removed; memory O(Σ|T_v| + "
    "Σ_edges |T_u ∩ T_v|)",
    solve=partial(_solve, search=polish, quick=_RINGS),
    options=(START, FIRST, STEPS, THREADS),
    compiled=True,
    inputs=("overlay",),
    random=True,
)

WEIGHTED_START = replace(START, default="weighted-gm", choices=lambda: tuple(starts("weighted-tco")))
WEIGHTED_POLISH: Method[TopicInstance, Overlay] = replace(
    POLISH,
    problems=("weighted-tco",),
    summary="local search by costs from the overlay of another method",
    options=(WEIGHTED_START, STEPS),
)

FAULT_TOLERANT_START = replace(START, default="gm2", choices=lambda: tuple(starts("k-tco")))
FAULT_TOLERANT_POLISH = replace(
    POLISH,
    problems=("k-tco",),
    summary="local search from a fault-tolerant overlay: an edge in, all that are redundant then out",
    cost="a step takes the links of all topics of the edges at two nodes; memory O(Σ|T_v| + Σ_edges |T_u ∩ T_v|)",
    solve=partial(_solve, search=fault_tolerant_polish, quick=_RINGS),
    options=(FAULT_TOLERANT_START, STEPS),
)
