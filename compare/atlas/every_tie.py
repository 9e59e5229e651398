"""Greedy methods on at most 7 nodes under every way to break ties, by a search through all states that choices lead to.

A state is one number: the edges as a graph, from bit 21 on the topics that are left, from bit 41 on the steps taken. A
:class:`.GreedyRule` says which states follow; each method names its own.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...heuristics.graph import bit_count
from ...heuristics.topics.tie_breaking.greedy_rule import DENSITY, FEWEST, NEIGHBOURS, EdgeRule, GreedyRule, StarRule
from ...instances.runtime.compiled import in_place_kernel
from .every_instance import MOST_TOPICS, Rows
from .small_graphs import SmallGraphs, entry_of, small_graphs

MEASURES = ("edges", "max_degree", "product")
TIES = ("lowest", "highest", "worst", "best")
LOWEST_TIES, HIGHEST_TIES, WORST_TIES, BEST_TIES = range(4)
_PAIRS, _TOPICS = 21, 20
_GRAPH, _LEFT = (1 << _PAIRS) - 1, (1 << _TOPICS) - 1
_EDGES, _NODE_STARS, _TOPIC_STARS, _RINGS = range(4)
_MOST_FOLLOWING = 1024
_MOST_STATES = 1 << 16
Counts = npt.NDArray[np.int64]


class _Rule(NamedTuple):
    """A rule as kernels take it."""

    family: int  # edges, stars of a node, a star of a node and a topic, rings
    limits_degree: bool
    adds_idle: bool
    score: int
    threshold: Counts  # by the contribution of e1


def _rule_of(rule: GreedyRule) -> _Rule:
    threshold = np.zeros(32, np.int64)
    if isinstance(rule, EdgeRule):
        threshold[:] = [min(MOST_TOPICS + 1, rule.threshold(contribution)) for contribution in range(32)]
        return _Rule(_EDGES, rule.limits_degree, rule.adds_idle, 0, threshold)
    if isinstance(rule, StarRule):
        return _Rule(_TOPIC_STARS if rule.of_one_topic else _NODE_STARS, False, False, rule.score, threshold)
    return _Rule(_RINGS, False, False, 0, threshold)


class TieValues(NamedTuple):
    """The graphs that a method builds on each instance, and their values."""

    values: npt.NDArray[np.int16]  # [instance, of TIES, of MEASURES]
    means: npt.NDArray[np.float64]  # [instance, of MEASURES]: each tie broken uniformly at random and independently
    graphs: npt.NDArray[np.int32]  # [instance, lowest or highest]: the overlay


def values_under_ties(nodes: int, rows: Rows, rule: GreedyRule) -> TieValues:
    """The values of a method on instances, under every way to break ties.

    Exponential in the worst case: as many states as sets of edges. RuntimeError if a method that adds stars has more
    than 65,536 states.
    """
    found = TieValues(
        np.zeros((len(rows), len(TIES), len(MEASURES)), np.int16),
        np.zeros((len(rows), len(MEASURES))),
        np.zeros((len(rows), 2), np.int32),
    )
    if _search_all(rows, small_graphs(nodes), _rule_of(rule), _search_space(nodes), found) < len(rows):
        raise RuntimeError("more states than the search of ties has room for: please report this")
    return found


class _Space(NamedTuple):
    """Work space: a hash table of states, whose entries are of this instance if they have its epoch."""

    epoch: npt.NDArray[np.int64]
    keys: Counts
    share: npt.NDArray[np.float64]  # the probability that random ties lead to this state
    queue: Counts
    following: Counts
    clock: Counts  # the last epoch


@cache
def _search_space(nodes: int) -> _Space:
    size = max(_MOST_STATES, 1 << (nodes * (nodes - 1) // 2))
    epoch, keys, queue = np.zeros((3, size), np.int64)
    return _Space(epoch, keys, np.zeros(size), queue, np.zeros(_MOST_FOLLOWING, np.int64), np.zeros(1, np.int64))


@in_place_kernel
def _search_all(rows: Rows, graphs: SmallGraphs, rule: _Rule, space: _Space, found: TieValues) -> int:
    """Search each instance; the number of the first one that has too many states, or of all."""
    for i in range(len(rows)):
        for highest in range(2):
            state = _start(rows[i], rule)
            count = _follow(state, rows[i], graphs, rule, space.following)
            while count > 0:
                state = space.following[count - 1 if highest and rule.family != _RINGS else 0]
                count = _follow(state, rows[i], graphs, rule, space.following)
            graph = state & _GRAPH
            found.graphs[i, highest] = graph
            for measure in range(3):
                found.values[i, highest, measure] = _measured(measure, graph, graphs)
        if not _search(i, rows[i], graphs, rule, space, found):
            return i
    return len(rows)


@in_place_kernel
def _search(i: int, row: Rows, graphs: SmallGraphs, rule: _Rule, space: _Space, found: TieValues) -> bool:
    """Visit every state once, by rising steps, so that all ways to a state are known when it is visited."""
    space.clock[0] += 1
    epoch, size, num = space.clock[0], len(space.keys), 1
    start = _start(row, rule)
    slot = _slot(start, epoch, space)
    space.epoch[slot], space.keys[slot], space.share[slot] = epoch, start, 1.0
    space.queue[0] = slot
    at = 0
    for measure in range(3):
        found.values[i, WORST_TIES, measure], found.values[i, BEST_TIES, measure] = 0, 32767
    while at < num:
        slot = space.queue[at]
        at += 1
        state, share = space.keys[slot], space.share[slot]
        count = _follow(state, row, graphs, rule, space.following)
        for j in range(count):
            slot = _slot(space.following[j], epoch, space)
            if space.epoch[slot] != epoch:
                if num == size:
                    return False
                space.epoch[slot], space.keys[slot], space.share[slot] = epoch, space.following[j], 0.0
                space.queue[num] = slot
                num += 1
            space.share[slot] += share / count
        if count == 0:
            for measure in range(3):
                value = _measured(measure, state & _GRAPH, graphs)
                found.values[i, WORST_TIES, measure] = max(found.values[i, WORST_TIES, measure], value)
                found.values[i, BEST_TIES, measure] = min(found.values[i, BEST_TIES, measure], value)
                found.means[i, measure] += share * value
    return True


@in_place_kernel
def _slot(state: int, epoch: int, space: _Space) -> int:
    """The slot of a state, or a free one; a state that is a graph alone has that of its number."""
    last = len(space.keys) - 1
    slot = (state ^ (state >> _PAIRS) * 40503) & last
    while space.epoch[slot] == epoch and space.keys[slot] != state:
        slot = (slot + 1) & last
    return slot


@in_place_kernel
def _measured(measure: int, graph: int, graphs: SmallGraphs) -> int:
    edges, degree = int(graphs.edges[graph]), int(graphs.max_degree[graph])
    return edges if measure == 0 else degree if measure == 1 else edges * degree


@in_place_kernel
def _start(row: Rows, rule: _Rule) -> int:
    return 0 if rule.family == _EDGES else ((1 << len(row)) - 1) << _PAIRS


@in_place_kernel
def _follow(state: int, row: Rows, graphs: SmallGraphs, rule: _Rule, following: Counts) -> int:
    """List the states that equally good choices lead to, in the order of ties ``lowest``, and return their number."""
    count = 0
    if rule.family == _EDGES:
        best = _best_edges(state, row, graphs, rule)
        while best:
            following[count] = state | (best & -best)
            best &= best - 1
            count += 1
    elif state >> _PAIRS & _LEFT == 0:
        return 0
    elif rule.family == _RINGS:
        for order in range(len(graphs.rings)):
            following[count] = 0
            for k in row:
                following[count] |= graphs.rings[order, k]
            count += 1
    else:
        count = _follow_stars(state, row, graphs, rule, following)
    return count


@in_place_kernel
def _best_edges(graph: int, row: Rows, graphs: SmallGraphs, rule: _Rule) -> int:
    """The equally good edges, as a graph. The contributions of all pairs are added up as five planes of bits."""
    ones = twos = fours = eights = sixteens = 0
    for k in row:
        carry = int(graphs.joining[entry_of(k, graph, graphs)])
        ones, carry = ones ^ carry, ones & carry
        twos, carry = twos ^ carry, twos & carry
        fours, carry = fours ^ carry, fours & carry
        eights, carry = eights ^ carry, eights & carry
        sixteens |= carry
    useful = ones | twos | fours | eights | sixteens
    e2 = _heaviest(useful, ones, twos, fours, eights, sixteens)
    if useful == 0 or not rule.limits_degree:
        return e2
    allowed = ((1 << graphs.nodes * (graphs.nodes - 1) // 2) - 1) & ~graph if rule.adds_idle else useful
    below = allowed & ~int(graphs.saturated[graph])
    e1 = _heaviest(below if below else allowed, ones, twos, fours, eights, sixteens)
    if (
        _contribution(e2, ones, twos, fours, eights, sixteens)
        > rule.threshold[_contribution(e1, ones, twos, fours, eights, sixteens)]
    ):
        return e2
    return e1


@in_place_kernel
def _heaviest(pairs: int, ones: int, twos: int, fours: int, eights: int, sixteens: int) -> int:
    for plane in (sixteens, eights, fours, twos, ones):
        if pairs & plane:
            pairs &= plane
    return pairs


@in_place_kernel
def _contribution(pairs: int, ones: int, twos: int, fours: int, eights: int, sixteens: int) -> int:
    """The contribution of each of these pairs, which is the same."""
    total, bit = 0, pairs & -pairs
    for plane in (sixteens, eights, fours, twos, ones):
        total = 2 * total + (1 if plane & bit else 0)
    return total


@in_place_kernel
def _follow_stars(state: int, row: Rows, graphs: SmallGraphs, rule: _Rule, following: Counts) -> int:
    """Of topics with the same subscribers, which follow each other, the first that is left stands for all."""
    count, best, best_under, topics = 0, 0, 1, len(row)
    left, step = state >> _PAIRS & _LEFT, ((state >> _PAIRS + _TOPICS) + 1) << _PAIRS + _TOPICS
    for u in range(graphs.nodes):
        weighted = near = own = 0
        for t in range(topics):
            members = graphs.sets[row[t]]
            if left >> t & 1 and members >> u & 1:
                weighted, near, own = weighted + bit_count(members), near | members, own | 1 << t
        for t in range(topics if own else 0):
            if rule.family == _NODE_STARS:
                if t > 0:
                    break
                drawn, dropped, neighbours = graphs.stars[u, near], own, bit_count(near)
                score = neighbours if rule.score == NEIGHBOURS else -neighbours if rule.score == FEWEST else weighted
                under = neighbours if rule.score == DENSITY else 1
            else:
                if not own >> t & 1 or (t > 0 and row[t - 1] == row[t] and own >> (t - 1) & 1):
                    continue
                drawn, dropped, score = graphs.stars[u, graphs.sets[row[t]]], 1 << t, weighted
                under = 1 + bit_count(drawn & ~state)
            ahead = score * best_under - best * under
            if count == 0 or ahead > 0:
                count, best, best_under = 0, score, under
            if count == 0 or ahead == 0:
                following[count] = (state & _GRAPH) | drawn | (left & ~dropped) << _PAIRS | step
                count += 1
    return count
