"""Cost splitting among few pairs of nodes, to which those are added that would be used at their cost."""

from __future__ import annotations

import time
from functools import cache, partial

import numpy as np
import numpy.typing as npt

from ....heuristics.compiled import kernel
from ....heuristics.topics.heuristic import trial_instance
from ....heuristics.topics.kernels.interest import EdgeCosts, Interest, cost_of, edge_costs, positions_of, unit_costs
from ....heuristics.topics.local_search.overlay_search import nearest_pairs
from ....instances.contract.arrays import Ids, Offsets
from ....instances.contract.overlay import Overlay
from ....instances.contract.run import Clock
from ....instances.topics.instance import TopicInstance
from ...engine.integer_bound import UNIT
from ...engine.search_log import SearchLog
from ..rows.candidate_edges import CandidateEdges, Edges, count_links, keys_of
from ..rows.presolve import root
from .cost_splitting import Reals, Splitting, Units, costs_of, rounded_shares, spanning, split_costs

_FEW, _NEAREST = 0.5, 10
_MOST_LINKS, _LINKS_A_SECOND, _MOST_SUBSCRIPTIONS = 2_000_000_000, 20_000_000, 2_000_000
_SHORTEST, _LONGEST = 50, 800
_TOLERANCE = 1e-8
_STEP, _STEPS = 1.05, 200  # of thresholds
_ROUNDED = 1 - 1e-12  # more than floating point numbers round up
_ALL = 2**62


def is_affordable(instance: TopicInstance, clock: Clock) -> bool:
    """Whether there is time and memory to split costs by pricing: for each second left 20,000,000 pairs of subscribers
    of a topic, 2,000,000,000 at most, and 2,000,000 subscriptions.
    """
    most = min(_MOST_LINKS, _LINKS_A_SECOND * clock.left)
    return count_links(instance) <= most and instance.num_subscriptions <= _MOST_SUBSCRIPTIONS


def split_by_pricing(
    instance: TopicInstance,
    start: Overlay,
    clock: Clock,
    *,
    stall: float = 1e-4,
    rounds: int = 20_000,
    smoothing: float = 0.02,
    progress: SearchLog | None = None,
    weighted: bool = False,
) -> Splitting:
    """As :func:`.split_costs` among all pairs, by column generation and without a list of them.

    It begins with the edges of an overlay and each node's 10 nearest. Given a split among some pairs, the price of
    another one in a topic is the heaviest edge on the tree path between its ends: with these shares, or smaller ones,
    it makes no tree lighter. Where its prices add up to more than its cost, it gets shares in proportion and is listed.
    Each split goes on from the last one, for 50 rounds at first, then for twice as many each time, at most 800, and
    its bound is computed among all pairs. If half of all pairs would be listed at the start, all are.

    Notes
    -----
    Pricing takes O(Σ_t |V_t|²); a run that has no time for it proves nothing.
    """
    target = float(instance.total_cost(start.edges) if weighted else start.num_edges)
    begin = time.perf_counter()
    listed = CandidateEdges(instance, np.union1d(nearest_pairs(instance, _NEAREST, by_cost=weighted), keys_of(start)))
    if not listed.common.all():  # an overlay may have edges without a common topic
        listed = CandidateEdges(instance, listed.keys[listed.common > 0])
    split_for = partial(split_costs, instance, target, stall=stall, smoothing=smoothing, weighted=weighted)
    if len(listed.links.edge) >= _FEW * count_links(instance):
        return split_for(clock, rounds=rounds, progress=progress)
    best, length, shares = Splitting.of(listed), _SHORTEST, None
    seconds = time.perf_counter() - begin  # of the next pricing, at most
    while best.rounds < rounds and not best.converged and clock.left > seconds:
        split = split_for(
            clock.share(1.0, clock.left - seconds),
            rounds=min(length, rounds - best.rounds),
            among=listed,
            shares=shares,
        )
        begin, length = time.perf_counter(), min(_LONGEST, 2 * length)
        listed, shares, excess = _with_cheap(split, weighted)
        units = rounded_shares(shares / excess * _ROUNDED, costs_of(listed, weighted), *listed.links_by_edge)
        total, _ = spanning(listed)(units)
        best.rounds += split.rounds
        if total > best.units:
            best.edges, best.units, best.shares = listed, int(total), units
        if split.limit < best.limit:
            best.columns, best.usage, best.limit = split.columns, split.usage, split.limit
        best.converged = split.converged and best.units >= (1 - stall) * split.units
        seconds = time.perf_counter() - begin
        if progress is not None:
            progress.line(incumbent=target, bound=best.units / UNIT, edges=len(listed), nodes=best.rounds)
    return best


def _with_cheap(split: Splitting, weighted: bool) -> tuple[CandidateEdges, Reals, float]:
    """The pairs of a split and those that are too cheap, their shares, and the most that others' prices ÷ cost are.

    At most as many are added as there are, the cheapest. The shares ÷ this number hold among all pairs.
    """
    few = split.edges
    instance, interest = few.instance, few.interest
    _, in_tree = spanning(few)(split.shares)
    trees = _rows_of_trees(interest, few.links.offsets, few.links.a, few.links.b, split.shares, in_tree)
    link_costs = edge_costs(instance) if weighted else unit_costs(instance.num_nodes)
    find = partial(_too_cheap, interest, positions_of(interest), *trees, link_costs)
    excess, most = 1 + _TOLERANCE, len(few)
    keys, topics, prices, counts = find(excess, most)
    if counts.sum() > most:
        above = np.cumsum(counts[::-1])[::-1]
        above[-1] = 0
        excess = _STEP ** float(np.flatnonzero(above <= most)[0])
        keys, topics, prices, _ = find(excess, _ALL)  # some more by rounding, and none may be left out
    edges = CandidateEdges(instance, np.union1d(few.keys, keys))
    before = np.zeros(len(edges), np.bool_)
    before[np.searchsorted(edges.keys, few.keys)] = True
    given = before[edges.links.edge]
    shares = np.empty(len(given))
    shares[given] = split.shares / UNIT
    shares[~given] = prices[np.lexsort((keys, topics))] / UNIT
    costs = costs_of(edges, weighted)
    price = np.bincount(edges.links.edge, shares, len(edges))
    return edges, shares * (costs / np.maximum(price, costs))[edges.links.edge], excess


@kernel
def _rows_of_trees(
    interest: Interest, link_offsets: Offsets, a: Ids, b: Ids, weight: Units, in_tree: npt.NDArray[np.bool_]
) -> tuple[Ids, Offsets, Units]:
    """Each topic's subscribers in a row, such that paths on its tree are parts of the row.

    The row of a tree is that of its parts without the heaviest edge, one after the other, with this edge as the gap
    between them. So the heaviest edge on the path between two nodes is the widest gap between their places.

    Returns
    -------
    row : int32 array
        The nodes in order, topic after topic.
    place : int64 array
        The index in `row` of each subscription of ``topic_nodes``.
    gap : int64 array
        In front of each place.
    """
    size = len(interest.topic_nodes)
    row, place, gap = np.empty(size, np.int32), np.empty(size, np.int64), np.zeros(size, np.int64)
    for t in range(len(link_offsets) - 1):
        first = interest.topic_offsets[t]
        n = interest.topic_offsets[t + 1] - first
        if n == 0:
            continue
        tree = np.flatnonzero(in_tree[link_offsets[t] : link_offsets[t + 1]]) + link_offsets[t]
        parent, end, following, before = np.arange(n), np.arange(n), np.full(n, -1), np.zeros(n, np.int64)
        for k in tree[np.argsort(weight[tree])]:
            x, y = root(parent, np.int64(a[k])), root(parent, np.int64(b[k]))
            following[end[x]], before[y], end[x], parent[y] = y, weight[k], end[y], x
        v = root(parent, np.int64(0))
        for p in range(first, first + n):
            row[p], place[first + v], gap[p] = interest.topic_nodes[first + v], p, before[v]
            v = following[v]
    return row, place, gap


@kernel
def _too_cheap(
    interest: Interest,
    position: Ids,
    row: Ids,
    place: Offsets,
    gap: Units,
    costs: EdgeCosts,
    excess: float,
    most: int,
) -> tuple[Edges, Ids, Units, Offsets]:
    """The pairs whose prices add up to more than `excess` times their cost: key, topic and price of each link.

    Not all are returned where there are more than `most`; the last array counts them by the logarithm of their excess.
    """
    n = len(interest.node_offsets) - 1
    total, dear, others = np.zeros(n, np.int64), np.full(n, -1, np.int32), np.empty(n, np.int32)
    keys, topics, prices = np.empty(1024, np.int64), np.empty(1024, np.int32), np.empty(1024, np.int64)
    counts, found, size = np.zeros(_STEPS, np.int64), 0, 0
    for u in range(n):
        touched, any_here = 0, False
        for i in range(interest.node_offsets[u], interest.node_offsets[u + 1]):
            t, p = interest.node_topics[i], place[position[i]]
            first, last = interest.topic_offsets[t], interest.topic_offsets[t + 1]
            for step, end in ((1, last), (-1, first - 1)):
                widest = np.int64(0)
                for q in range(p + step, end, step):
                    widest = max(widest, gap[max(q, q - step)])
                    v = row[q]
                    if total[v] == 0 and widest > 0:
                        others[touched] = v
                        touched += 1
                    total[v] += widest
        for v in others[:touched]:
            if v > u and total[v] > UNIT:
                cost = UNIT * cost_of(u, v, costs)
                if total[v] > np.int64(cost * excess):
                    any_here = True
                    found += 1
                    dear[v] = u
                    counts[min(_STEPS - 1, int(np.log(total[v] / cost) / np.log(_STEP)))] += 1
            total[v] = 0
        if not any_here or found > most:
            continue
        for i in range(interest.node_offsets[u], interest.node_offsets[u + 1]):
            t, p = interest.node_topics[i], place[position[i]]
            first, last = interest.topic_offsets[t], interest.topic_offsets[t + 1]
            if size + last - first > len(keys):
                room = size + last - first
                keys = np.concatenate((keys, np.empty(room, np.int64)))
                topics = np.concatenate((topics, np.empty(room, np.int32)))
                prices = np.concatenate((prices, np.empty(room, np.int64)))
            for step, end in ((1, last), (-1, first - 1)):
                widest = np.int64(0)
                for q in range(p + step, end, step):
                    widest = max(widest, gap[max(q, q - step)])
                    if dear[row[q]] == u:
                        keys[size], topics[size], prices[size] = np.int64(u) * n + row[q], t, widest
                        size += 1
    return keys[:size].copy(), topics[:size].copy(), prices[:size].copy(), counts


@cache
def warm_up() -> None:
    """Compile the kernels of :func:`split_by_pricing`."""
    small = trial_instance()
    for weighted in (False, True):
        few = CandidateEdges(small, np.unique(nearest_pairs(small)))
        _with_cheap(split_costs(small, 1.0, Clock(None), rounds=1, among=few, weighted=weighted), weighted)
