"""Polish: a local search that never makes an overlay worse."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from ...instances.contract.catalogue import methods_of
from ...instances.contract.errors import BadInput
from ...instances.contract.method import Method, Proposal
from ...instances.contract.option import Option
from ...instances.contract.overlay import Overlay
from ...instances.contract.problem import Problem
from ...instances.contract.run import Clock, offer
from ...instances.topics.instance import TopicInstance
from ...instances.topics.problems import MinTCO
from .heuristic import TOPIC_CONNECTED
from .kernels.interest import edge_costs
from .local_search.linked_overlay import subscriptions_of
from .local_search.overlay_search import (
    MOST_STEPS,
    PARTS_AT_ONCE,
    OverlaySearch,
    PartitionedSearch,
    candidate_lists,
    priced_candidates,
)
from .local_search.ruin_and_recreate import CandidateLists, SearchParameters
from .ring_per_topic import ring_per_topic

AIMS = {"min-tco": "edges", "minmax-tco": "degree", "low-tco": "product", "weighted-tco": "cost"}
_RANKS: dict[str, Callable[[int, int], tuple[int, int]]] = {
    "edges": lambda edges, degree: (edges, degree),
    "degree": lambda edges, degree: (degree, edges),
    "product": lambda edges, degree: (edges * degree, edges),
}
_STEPS = 100_000
FIRST = Option(
    "first",
    "auto",
    "what is lowered first: edges, then maximum degree; the other way round; their product; or what the problem asks",
    choices=("auto", *_RANKS),
)
STEPS = Option("steps", _STEPS, "steps of local search, where no time limit is given", least=0, most=10**12)
THREADS = Option(
    "threads",
    1,
    "threads that search parts of large overlays; without a time limit the same answer",
    least=1,
    most=PARTS_AT_ONCE,
    unkeyed=True,
)
_LEAST_NODES = 10_000
_HOT, _COLD = 0.2, 0.05
_SECONDS_A_CALL = 0.2


def polish(
    instance: TopicInstance,
    overlay: Overlay,
    *,
    first: str = "edges",
    seed: int = 0,
    time_limit: float | None = None,
    steps: int = _STEPS,
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
        Seconds, all of which are used, checked about every 0.2 s; without it the search takes so many `steps`.
    candidates : CandidateLists, optional
        The edges to reconnect by: :func:`.candidate_lists`, for costs :func:`.priced_candidates`.
    clock : Clock, optional
        The time and the interruption of the run that this search is a part of, instead of `time_limit`.
    threads : int
        From 1 to 4: how many search parts. Without a time limit the overlay does not depend on it.

    Returns
    -------
    Overlay
        The best one so far if the time passes or Ctrl-C interrupts the search.

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
    with suppress(KeyboardInterrupt):
        if searches_in_parts(overlay.num_nodes, first):
            annealing.run_in_parts(int(THREADS.parse(threads)))
            return annealing.overlay
        if candidates is None:
            candidates = priced_candidates(instance, overlay) if first == "cost" else candidate_lists(instance)
        annealing.run(candidates)
    return annealing.overlay


def searches_in_parts(num_nodes: int, first: str) -> bool:
    """Whether overlays of so many nodes are searched in parts."""
    return num_nodes >= _LEAST_NODES and first in ("edges", "product")


class _Progress:
    """The fraction of a search that is done: of the time if there is a limit, else of the steps."""

    def __init__(self, clock: Clock, steps: int) -> None:
        self._clock, self._seconds = clock, clock.left
        self._most, self._taken, self._next = steps, 0, 10

    @property
    def fraction(self) -> float:
        left = self._clock.left
        if math.isfinite(left):
            return 1.0 - left / self._seconds if left else 1.0
        return min(1.0, self._taken / self._most) if self._most else 1.0

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
        cost = search.run(parameters, self._next if math.isfinite(self._seconds) else MOST_STEPS, below)
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

    def run_in_parts(self, threads: int) -> None:
        search, progress = PartitionedSearch(self._instance, self.overlay, self._seed, threads), self._progress
        while not progress.is_done_after(search.steps):
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
        if self._rank(overlay) < self._rank(self.overlay):
            self.overlay = overlay
            offer(overlay)

    def _rank(self, overlay: Overlay) -> tuple[int, int]:
        if self._first == "cost":
            return self._instance.total_cost(overlay.edges), overlay.max_degree
        return _RANKS[self._first](overlay.num_edges, overlay.max_degree)


def check_start(overlay: Overlay, instance: TopicInstance, problem: Problem[TopicInstance, Overlay]) -> None:
    """Raise BadInput if an overlay is not valid for a problem."""
    if violations := problem.violations(instance, overlay):
        raise BadInput(f"{violations[0]}: give an overlay that is valid for {problem.name}")


def _solve(
    instance: TopicInstance,
    problem: Problem[TopicInstance, Overlay],
    *,
    seed: int,
    time_limit: float | None,
    start: str,
    steps: int,
    first: str = "auto",
    threads: int = 1,
    overlay: Overlay | None = None,
) -> Proposal[Overlay]:
    clock = Clock(time_limit)
    if overlay is None:
        method = {**starts(), **starts(problem.name)}[start]
        overlay = first_overlay(method, instance, problem, seed, time_limit, ring_per_topic)
    offer(overlay)
    aim = AIMS[problem.name] if first == "auto" else first
    polished = polish(instance, overlay, first=aim, seed=seed, steps=steps, clock=clock, threads=threads)
    value = problem.value(instance, overlay)
    return Proposal(polished if problem.value(instance, polished) <= value else overlay, counters={"start": value})


def first_overlay(
    method: Method[TopicInstance, Overlay],
    instance: TopicInstance,
    problem: Problem[TopicInstance, Overlay],
    seed: int,
    time_limit: float | None,
    quick: Callable[[TopicInstance], Overlay],
) -> Overlay:
    """A method's overlay under default options; under a time limit the `quick` one is offered before."""
    if time_limit is not None:
        offer(quick(instance))
    options: dict[str, Any] = method.complete({}, problem.name)
    overlay = method.solve(instance, problem, seed=seed, time_limit=None, **options).answer
    assert overlay is not None
    return overlay


def starts(problem: str = "") -> dict[str, Method[TopicInstance, Overlay]]:
    """The heuristics for a problem, or for all topic-connected ones, whose overlay can be polished, by name."""
    asked = {problem} if problem else set(TOPIC_CONNECTED)
    methods = methods_of("overlaybench.heuristics.topics")
    return {each.name: each for each in methods if not each.anytime and asked <= set(each.problems)}


START = Option(
    "start",
    "gm",
    "the method whose overlay is polished, with its default options",
    choices=lambda: tuple(starts()),
)
POLISH: Method[TopicInstance, Overlay] = Method(
    name="polish",
    problems=TOPIC_CONNECTED,
    summary="local search from the overlay of another method: drops, swaps and re-routes edges",
    source="none; docs/topics.md",
    guarantee="never worse than its start",
    cost="a step takes time proportional to the subscribers of the topics of the edges removed; memory O(Σ|T_v| + "
    "Σ_edges |T_u ∩ T_v|)",
    solve=_solve,
    options=(START, FIRST, STEPS, THREADS),
    compiled=True,
    inputs=("overlay",),
    random=True,
    colour="#117733",
    marker="s",
)

WEIGHTED_START = replace(START, default="weighted-gm", choices=lambda: tuple(starts("weighted-tco")))
WEIGHTED_POLISH: Method[TopicInstance, Overlay] = replace(
    POLISH,
    problems=("weighted-tco",),
    summary="local search by costs from the overlay of another method",
    source="none; docs/topics.md",
    options=(WEIGHTED_START, STEPS),
    compiled=True,
)
