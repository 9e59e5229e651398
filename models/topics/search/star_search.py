"""Stars in each topic: local search whose centres move, and branch-and-cut on what each topic is."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....heuristics.topics.local_search.polish import least_edges
from ....heuristics.topics.local_search.ruin_and_recreate import Cooling, random_number
from ....instances.contract.arrays import Ids, Offsets
from ....instances.contract.overlay import Overlay
from ....instances.contract.result import OUT_OF_MEMORY
from ....instances.runtime.compiled import kernel
from ....instances.runtime.run import Clock, offer, offer_bound
from ....instances.topics.instance import TopicInstance
from ...engine.exact_method import SearchLog, SolverOutcome
from ...engine.parallel_tree import search_tree
from ...engine.proof import NO_FILE
from ...engine.relaxation import Bound, Reals
from ...engine.tree_search import WORK_A_STEP, Incumbent, TreeSearch
from ..relaxation.cutting_planes import ALL_PAIRS
from ..relaxation.star_planes import StarPlanes
from ..relaxation.topic_rows import CandidateEdges, all_pairs, count_links
from .edge_minimisation import SearchSettings

Counts = npt.NDArray[np.int64]
Random = npt.NDArray[np.uint64]
MOVES_A_STEP = 100  # in about the time of a step of ruin and recreate
_PASSES = 20
_STAGES, _RUNS, _A_CALL = 100, 4, 2_000
_HOT, _COLD = 0.2, 0.2  # of the largest topic, and in edges


class _Stars(NamedTuple):
    topic_offsets: Offsets
    link_offsets: Offsets
    link_edge: Ids  # the links of a topic are all pairs of its subscribers in lexicographic order
    centre: Counts  # of each topic, its index in V_t
    used: Counts  # by how many stars, of each edge


class StarCentres:
    """A star in each topic; an edge is in the overlay if it is in a star.

    `pairs` are all those with a common topic. The first centre of a topic is its subscriber of largest value, the first
    of equals; `values` has one number a subscription, by topic.
    """

    def __init__(self, pairs: CandidateEdges, values: Reals) -> None:
        self._pairs, links, offsets = pairs, pairs.links, pairs.instance.topic_offsets
        parts = np.split(values, offsets[1:-1])
        centres = np.array([np.argmax(part) if len(part) else 0 for part in parts], np.int64)
        self._stars = _Stars(offsets, links.offsets, links.edge, centres, np.zeros(len(pairs), np.int64))
        _place_all(centres, self._stars)

    @property
    def overlay(self) -> Overlay:
        return self._pairs.overlay(np.flatnonzero(self._stars.used))

    def descend(self, along: Reals) -> None:
        """Move centres in turn to where fewest new edges are needed, of equals to the edges of larger values."""
        _descend(self._stars, along, _PASSES)

    def anneal(self, moves: int, clock: Clock, seed: int) -> None:
        """Simulated annealing: try a number of random moves of one centre, and end with the best stars found.

        The temperature, in edges, falls from a fifth of the largest |V_t|, at least 1, to 0.2, sooner if the clock is
        shorter. Cost O(|V_t|) a move.
        """
        random, best = np.array([2 * seed + 1], np.uint64), self._stars.centre.copy()
        edges = least = int(np.count_nonzero(self._stars.used))
        hot = max(1.0, _HOT * np.diff(self._stars.topic_offsets).max(initial=0))
        cooling, at_once = Cooling(hot, _COLD, clock), max(1, moves // _STAGES)
        for stage in range(_STAGES):
            if clock.passed:
                break
            temperature = cooling.at(stage / _STAGES)
            for done in range(0, at_once, _A_CALL):
                if not clock.passed:
                    count = min(_A_CALL, at_once - done)
                    edges, least = _anneal(self._stars, edges, least, best, count, temperature, random)
        _place_all(best, self._stars)


def starred(instance: TopicInstance, best: Overlay, steps: int, clock: Clock, seed: int) -> Overlay:
    """The stars of four annealings of `steps` × 25 moves if they have fewer edges than the best overlay so far.

    Else, and above `ALL_PAIRS` pairs of subscribers, the overlay itself.
    """
    if count_links(instance) > ALL_PAIRS or (instance.is_tiny and best.num_edges <= least_edges(instance)[0]):
        return best
    pairs = CandidateEdges(instance, all_pairs(instance))
    stars = StarCentres(pairs, np.zeros(instance.num_subscriptions))
    stars.descend(np.zeros(len(pairs)))
    for run in range(_RUNS):
        stars.anneal(steps * MOVES_A_STEP // _RUNS, clock.share(1 / (_RUNS - run)), _RUNS * seed + run)
    return min(best, stars.overlay, key=lambda overlay: overlay.num_edges)


@kernel
def _place_all(centres: Counts, stars: _Stars) -> None:
    stars.used[:] = 0
    stars.centre[:] = centres
    for t in range(len(centres)):
        _place(t, 1, stars)


@kernel
def _place(t: int, by: int, stars: _Stars) -> int:
    """Add the star of a topic (1) or take it away (−1); returns by how much the number of edges changes."""
    first, n, centre = stars.link_offsets[t], stars.topic_offsets[t + 1] - stars.topic_offsets[t], stars.centre[t]
    change = 0
    for w in range(n):
        if w != centre:
            edge = stars.link_edge[_link(first, n, centre, w)]
            before = stars.used[edge] > 0
            stars.used[edge] += by
            change += int(stars.used[edge] > 0) - int(before)
    return change


@kernel
def _anneal(
    stars: _Stars, edges: int, least: int, best: Counts, moves: int, temperature: float, random: Random
) -> tuple[int, int]:
    """The number of edges in the end and the least one, whose centres are left in `best`."""
    topics = len(stars.centre)
    for _ in range(moves):
        t = int(random_number(random) * topics)
        n, old = stars.topic_offsets[t + 1] - stars.topic_offsets[t], stars.centre[t]
        new = np.int64(random_number(random) * n)
        if n < 2 or new == old:
            continue
        change = _place(t, -1, stars)
        stars.centre[t] = new
        change += _place(t, 1, stars)
        if change <= 0 or random_number(random) < np.exp(-change / temperature):
            edges += change
            if edges < least:
                least = edges
                best[:] = stars.centre
        else:
            _place(t, -1, stars)
            stars.centre[t] = old
            _place(t, 1, stars)
    return edges, least


@kernel
def _descend(stars: _Stars, along: Reals, passes: int) -> None:
    for _ in range(passes):
        moved = False
        for t in range(len(stars.centre)):
            first, n = stars.link_offsets[t], stars.topic_offsets[t + 1] - stars.topic_offsets[t]
            _place(t, -1, stars)
            old = best = stars.centre[t]
            least = np.inf
            for c in range(n):
                cost = 0.0
                for w in range(n):
                    if w != c:
                        edge = stars.link_edge[_link(first, n, c, w)]
                        if stars.used[edge] == 0:
                            cost += 1.0 - 1e-3 * along[edge]
                if cost < least - 1e-9:
                    best, least = np.int64(c), cost
            stars.centre[t] = best
            moved |= best != old
            _place(t, 1, stars)
        if not moved:
            break


@kernel
def _link(first: int, n: int, one: int, other: int) -> int:
    a, b = min(one, other), max(one, other)
    return first + a * (2 * n - a - 1) // 2 + b - a - 1


_ROOT_STALL = 1e-3
_STAR_SHARE, _LP_SHARE = 0.2, 0.6  # of the time left


class StarIncumbent(Incumbent):
    """The overlay of stars with fewest edges so far (`overlay`), and its number of edges."""

    def __init__(self, planes: StarPlanes, start: Overlay, seed: int) -> None:
        self._planes, self.unit, self._random = planes, planes.unit, np.random.default_rng(seed)
        self.overlay, self.value = start, float(start.num_edges)

    def vary(self, number: int) -> None:
        self._random = np.random.default_rng([number, int(self._random.integers(2**62))])

    def offer_chosen(self, columns: object, chosen: npt.NDArray[np.bool_]) -> None:
        self.offer(self._planes.overlay(chosen))

    def build_along(self, columns: object, x: Reals) -> StarCentres:
        """Take the centre of largest value in each topic, then move centres while that saves edges."""
        stars = self._stars(x)
        stars.descend(self._planes.edges_of(x))
        self.offer(stars.overlay)
        return stars

    def improve_along(self, columns: object, x: Reals, clock: Clock, *, goal: float, steps: int) -> None:
        """As :meth:`build_along`, then simulated annealing with 100 moves for each step."""
        stars = self.build_along(columns, x)
        if self.value > goal:
            stars.anneal(steps * MOVES_A_STEP, clock, int(self._random.integers(2**62)))
            self.offer(stars.overlay)

    def _stars(self, x: Reals) -> StarCentres:
        return StarCentres(self._planes.edges, self._planes.centres_of(x))

    def offer(self, overlay: Overlay) -> None:
        if overlay.num_edges < self.value:
            self.overlay, self.value = overlay, float(overlay.num_edges)
            offer(overlay)


def minimise_stars(
    instance: TopicInstance, start: Overlay, clock: Clock, settings: SearchSettings, *, others: bool
) -> SolverOutcome[Overlay]:
    """Find an overlay with a star in every topic and fewest edges, and prove it, from a valid one.

    With `others`, topics of any graphs of diameter at most 2, after a search for stars. P2 (Onus and Richa 2015), §6.3
    and §6. Exponential in the worst case; memory O(Σ_t |V_t|²).
    """
    if others:
        first = replace(settings, proof=NO_FILE, offers=False, progress="off")
        stars = minimise_stars(instance, start, clock.share(_STAR_SHARE), first, others=False)
        start = stars.answer or start
    log = SearchLog(settings.progress, on_bound=offer_bound if settings.offers else None)
    case = settings.proof.case(cap=None)
    planes = StarPlanes(instance, others=others)
    incumbent = StarIncumbent(planes, start, settings.seed)
    tree, root = TreeSearch(planes, incumbent, progress=log, proof=case), None

    def at_round(bound: Bound) -> bool:
        planes.print_on(log, incumbent.value)
        return planes.least_value(bound.units) >= incumbent.value

    try:
        try:
            root = planes.tighten(clock.share(_LP_SHARE) if others else clock, stall=_ROOT_STALL, at_round=at_round)
        finally:
            planes.write_root(case, root)
        if len(planes.lp.x) and (root is not None or not clock.passed):
            x, goal = planes.lp.x, planes.least_value(planes.best_units)
            steps = max(settings.steps, planes.lp.work // WORK_A_STEP)  # about as long as the LP took
            planes.add_all_rows()
            incumbent.improve_along(planes.columns, x, clock.share(0.25), goal=goal, steps=steps)
            search_tree(tree, clock, root, x, workers=settings.threads)
        reason = clock.stopped_by
    except MemoryError:
        reason = OUT_OF_MEMORY
    case.end(incumbent.value)
    bound = max(0, planes.least_value(tree.units))
    counters = {**planes.counters, "nodes": tree.nodes}
    return SolverOutcome(incumbent.overlay, bound, bound < incumbent.value, counters, reason)
