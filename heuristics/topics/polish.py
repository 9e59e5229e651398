"""Polish: any overlay, made better by local search; never worse than it was."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any

from ...instances.catalogue import methods_of
from ...instances.errors import BadInput
from ...instances.method import Method, Proposal
from ...instances.option import Option
from ...instances.overlay import Overlay
from ...instances.problem import Problem
from ...instances.topics.instance import TopicInstance
from .heuristic import TOPIC_CONNECTED, trial_instance
from .local_search.overlay_search import MOST_STEPS, OverlaySearch, candidates
from .local_search.search_workspace import Near, Rules
from .ring_per_topic import ring_per_topic

AIMS = {"min-tco": "edges", "minmax-tco": "degree", "low-tco": "product"}
_RANKS: dict[str, Callable[[int, int], tuple[int, int]]] = {
    "edges": lambda edges, degree: (edges, degree),
    "degree": lambda edges, degree: (degree, edges),
    "product": lambda edges, degree: (edges * degree, edges),
}
FIRST = Option(
    "first",
    "auto",
    "what is lowered first: edges, then maximum degree; the other way round; their product; or what the problem asks",
    choices=("auto", *_RANKS),
)
STEPS = Option("steps", 100_000, "steps of local search, where no time limit is given", least=0, most=10**12)
_HOT, _COLD = 0.2, 0.05
_SECONDS_A_RUN = 0.2


def polish(
    instance: TopicInstance,
    overlay: Overlay,
    *,
    first: str = "edges",
    seed: int = 0,
    time_limit: float | None = None,
    steps: int = 100_000,
    near: Near | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> Overlay:
    """An overlay no worse than the given one, and better where local search finds the way.

    Redundant edges are dropped. Then each step takes two to four neighbouring edges out, reconnects the topics that
    this has cut by edges of largest contribution, and drops what became redundant; it is accepted as in simulated
    annealing. Degrees above a cap, set one below the least maximum degree so far, cost extra.

    Parameters
    ----------
    instance : TopicInstance
    overlay : Overlay
        Topic-connected.
    first : {"edges", "degree", "product"}
        Overlays are compared by edges, then maximum degree; by maximum degree, then edges; or by their product.
    seed : int
        Without a time limit one seed gives one answer.
    time_limit : float, optional
        Seconds, all of which are used; it is looked at about every 0.2 s once the overlay is loaded.
    steps : int
        How long to search if no time limit is given.
    near : Near, optional
        Candidate edges to reconnect by, of :func:`.candidates`.
    stopped : callable
        Looked at as the time limit is; once true, the search ends. So it does at Ctrl-C.

    Returns
    -------
    Overlay

    Raises
    ------
    BadInput
        If the overlay is not one for the instance, leaves a topic unconnected, or `first` is unknown.

    Notes
    -----
    No paper's. A step takes time proportional to the subscribers of the topics that the removed edges have; 8,000
    steps a second at 1,000 nodes, 100 topics, 10 subscriptions a node. Memory O(Σ|T_v| + Σ_edges |T_u ∩ T_v|), and 16
    bytes for each of about 40 candidate edges a node.

    Examples
    --------
    >>> instance = TopicInstance.from_subscriptions({"n0": ["a", "b"], "n1": ["a", "b"], "n2": ["b"]})
    >>> polish(instance, Overlay.from_edges(3, [(0, 1), (0, 2), (1, 2)])).num_edges
    2
    """
    begin = time.perf_counter()
    FIRST.parse(first)
    _check(instance, overlay)
    limit = None if time_limit is None else begin + time_limit
    polishing = _Polishing(instance, overlay, first, seed, _Clock(begin, limit, steps, stopped))
    with suppress(KeyboardInterrupt):
        polishing.run(candidates(instance) if near is None else near)
    return polishing.overlay


class _Clock:
    """How far a search is, from 0 to 1: by time if there is a limit, else by steps."""

    def __init__(self, begin: float, end: float | None, steps: int, stopped: Callable[[], bool]) -> None:
        self._begin, self._end, self._most, self._taken = begin, end, steps, 0
        self._stopped, self._pace = stopped, 10

    @property
    def progress(self) -> float:
        if self._stopped():
            return 1.0
        if self._end is None:
            return min(1.0, self._taken / self._most) if self._most else 1.0
        now = time.perf_counter()
        return min(1.0, (now - self._begin) / (self._end - self._begin)) if now < self._end else 1.0

    @property
    def passed(self) -> bool:
        return self.progress >= 1.0

    def run(self, search: OverlaySearch, rules: Rules, below: float) -> float:
        """Search for a moment: 500 steps, or fewer if these would take long and there is a limit."""
        before, start = search.steps, time.perf_counter()
        cost = search.run(rules, MOST_STEPS if self._end is None else self._pace, below)
        taken = search.steps - before
        self._taken += taken
        seconds = (time.perf_counter() - start) / taken
        self._pace = max(1, min(MOST_STEPS, 2 * self._pace, int(_SECONDS_A_RUN / seconds)))
        return cost


class _Polishing:
    """The best overlay so far, and the stages of looking for a better one."""

    def __init__(self, instance: TopicInstance, overlay: Overlay, first: str, seed: int, clock: _Clock) -> None:
        self.overlay = overlay
        self._instance, self._first, self._seed, self._clock = instance, first, seed, clock
        self._rank = _RANKS[first]

    def run(self, near: Near) -> None:
        self._near, clock, first = near, self._clock, self._first
        search = self._search()
        search.drop_redundant(lambda: clock.passed)
        self._offer(search.overlay)
        if clock.passed or not self.overlay.num_edges:
            return
        if first == "degree":
            self._squeeze(2.0, _HOT, until=0.7)
            self._anneal(self.overlay.max_degree, 2.0, until=1.0)
        else:
            self._anneal(self.overlay.num_nodes, 0.0, until=0.8 if first == "edges" else 0.4)
            overload, heat = (0.2, _COLD) if first == "edges" else (1.5, 2 * _COLD)
            self._squeeze(overload, heat, until=1.0)

    def _anneal(self, cap: int, overload: float, until: float) -> None:
        """Lower the cost under one cap, while the heat falls."""
        search, begin, below = self._search(), self._clock.progress, float("inf")
        while (now := self._clock.progress) < until:
            heat = _HOT * (_COLD / _HOT) ** ((now - begin) / (until - begin))
            cost = self._clock.run(search, Rules(cap, overload, heat), below)
            if cost < below:
                below = cost
                self._offer(search.overlay)

    def _squeeze(self, overload: float, heat: float, until: float) -> None:
        """Lower the cap by one as often as an overlay respects it."""
        search, below = self._search(), float("inf")
        cap = self.overlay.max_degree - 1
        while self._clock.progress < until and cap > 0:
            cost = self._clock.run(search, Rules(cap, overload, heat), below)
            if cost < below:
                below = cost
                self._offer(search.overlay)
                if search.overlay.max_degree <= cap:
                    cap, below = search.overlay.max_degree - 1, float("inf")

    def _search(self) -> OverlaySearch:
        self._seed += 1
        return OverlaySearch(self._instance, self.overlay, self._near, self._seed)

    def _offer(self, overlay: Overlay) -> None:
        if self._rank(overlay.num_edges, overlay.max_degree) < self._rank(
            self.overlay.num_edges, self.overlay.max_degree
        ):
            self.overlay = overlay


def _check(instance: TopicInstance, overlay: Overlay) -> None:
    if overlay.num_nodes != instance.num_nodes:
        raise BadInput(f"an overlay of {overlay.num_nodes} nodes for {instance.num_nodes}: give one of the instance")
    components = overlay.topic_components(instance)
    if (components > 1).any():
        t = int((components > 1).argmax())
        raise BadInput(
            f"topic '{instance.topic_label(t)}' has {components[t]} components: give an overlay that connects it"
        )


def _solve(
    instance: TopicInstance,
    problem: Problem[TopicInstance, Overlay],
    *,
    seed: int,
    time_limit: float | None,
    **options: Any,
) -> Proposal[Overlay]:
    begin = time.perf_counter()
    overlay: Overlay | None = options.get("overlay")
    if overlay is None:
        method = starts()[options["start"]]
        given = method.complete({}, problem.name)
        overlay = method.solve(instance, problem, seed=seed, time_limit=None, **given).answer
        assert overlay is not None
    first = AIMS[problem.name] if options["first"] == "auto" else options["first"]
    left = None if time_limit is None else max(0.0, time_limit - (time.perf_counter() - begin))
    polished = polish(instance, overlay, first=first, seed=seed, time_limit=left, steps=options["steps"])
    value = problem.value(instance, overlay)
    return Proposal(polished if problem.value(instance, polished) <= value else overlay, counters={"start": value})


def starts() -> dict[str, Method[TopicInstance, Overlay]]:
    """The heuristics whose overlay can be polished, by name."""
    methods = methods_of("overlaybench.heuristics.topics")
    return {each.name: each for each in methods if not each.anytime and set(TOPIC_CONNECTED) <= set(each.problems)}


@cache
def _warm_up() -> None:
    for method in starts().values():
        method.prepare()
    small = trial_instance()
    for first in _RANKS:
        polish(small, ring_per_topic(small), first=first, steps=1000)


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
    source="none; docs/quality.md",
    solve=_solve,
    options=(START, FIRST, STEPS),
    warm_up=_warm_up,
    inputs=("overlay",),
    random=True,
)
