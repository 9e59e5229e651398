"""Local search for overlays with a star in each topic: the centres move."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....heuristics.topics.local_search.ruin_and_recreate import Cooling, random_number
from ....heuristics.topics.polish import least_edges
from ....instances.contract.arrays import Ids, Offsets
from ....instances.contract.compiled import kernel
from ....instances.contract.overlay import Overlay
from ....instances.contract.run import Clock
from ....instances.topics.instance import TopicInstance
from ..relaxation.candidate_edges import CandidateEdges, all_pairs, count_links
from ..relaxation.cutting_planes import ALL_PAIRS

Reals = npt.NDArray[np.float64]
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
        centres = _largest(offsets, values)
        self._stars = _Stars(offsets, links.offsets, links.edge, centres, np.zeros(len(pairs), np.int64))
        _place_all(centres, self._stars)

    @property
    def overlay(self) -> Overlay:
        """The edges of all stars."""
        edges = np.flatnonzero(self._stars.used)
        ends = np.stack([self._pairs.u[edges], self._pairs.v[edges]], axis=1)
        return Overlay.from_edges(self._pairs.instance.num_nodes, ends)

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


def annealed_stars(instance: TopicInstance, steps: int, clock: Clock, seed: int) -> Overlay | None:
    """The best stars of four annealings of `steps` × 25 moves; None above `ALL_PAIRS` pairs of subscribers."""
    if count_links(instance) > ALL_PAIRS:
        return None
    pairs = CandidateEdges(instance, all_pairs(instance))
    stars = StarCentres(pairs, np.zeros(instance.num_subscriptions))
    stars.descend(np.zeros(len(pairs)))
    for run in range(_RUNS):
        stars.anneal(steps * MOVES_A_STEP // _RUNS, clock.share(1 / (_RUNS - run)), _RUNS * seed + run)
    return stars.overlay


def starred(instance: TopicInstance, best: Overlay, steps: int, clock: Clock, seed: int) -> Overlay:
    """The annealed stars if they have fewer edges than the best overlay so far, else this one."""
    if instance.is_tiny and best.num_edges <= least_edges(instance)[0]:
        return best
    stars = annealed_stars(instance, steps, clock, seed)
    return best if stars is None or stars.num_edges >= best.num_edges else stars


@kernel
def _largest(topic_offsets: Offsets, values: Reals) -> Counts:
    centre = np.zeros(len(topic_offsets) - 1, np.int64)
    for t in range(len(centre)):
        if topic_offsets[t + 1] > topic_offsets[t]:
            centre[t] = np.argmax(values[topic_offsets[t] : topic_offsets[t + 1]])
    return centre


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
