"""Cost splitting among few pairs of nodes, to which those are added that would be used at their cost."""

from __future__ import annotations

import time
from functools import cache, partial

import numpy as np

from ....heuristics.compiled import kernel
from ....heuristics.topics.heuristic import trial_instance
from ....heuristics.topics.local_search.nearest import nearest_pairs
from ....instances.arrays import Offsets
from ....instances.clock import Clock
from ....instances.overlay import Overlay
from ....instances.topics.instance import TopicInstance
from ...engine.integer_bound import UNIT
from ...engine.search_log import SearchLog
from ..rows.candidate_edges import CandidateEdges, Edges, all_pairs, indices_of, keys_of
from .cost_splitting import Reals, Splitting, Units, costs_of, rounded_shares, spanning_trees, split_costs

_FEW = 0.5
_SHORTEST, _LONGEST = 50, 800
_TOLERANCE = 1e-6
_ABSENT = 2**61


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
    """As :func:`.split_costs` among all pairs, by column generation.

    It begins with the edges of an overlay and each node's nearest pairs. Given a split among some pairs, the price of
    another one in a topic is the heaviest edge on the tree path between its ends: with these shares, or smaller ones,
    it makes no tree lighter. Where its prices add up to more than its cost, it gets shares in proportion and is added.
    Each split goes on from the last one, for 50 rounds at first, then for twice as many each time, at most 800, and
    its bound is computed among all pairs. If half of all pairs would be there at the start, all are.

    Notes
    -----
    Listing all pairs takes as long as one to three rounds among them, and so does pricing; a run that has no time for
    both proves nothing. Of the 1,014,138 pairs of Last.fm (1,892 nodes) 62,000 are there at the start and 85,000 at the
    end; a round takes a fifth of the time.
    """
    target = float(instance.total_cost(start.edges) if weighted else start.num_edges)
    begin, every = time.perf_counter(), all_pairs(instance)
    chosen = np.union1d(nearest_pairs(instance, by_cost=weighted), keys_of(start))
    chosen = every[indices_of(chosen, every)]
    split_for = partial(split_costs, instance, target, stall=stall, smoothing=smoothing, weighted=weighted)
    if len(chosen) >= _FEW * len(every):
        return split_for(clock, rounds=rounds, progress=progress)
    pricing = _Pricing(CandidateEdges(instance, every), weighted)
    best, length = pricing.best, _SHORTEST
    seconds = time.perf_counter() - begin  # of the next pricing, at most
    while best.rounds < rounds and not best.converged and clock.left > seconds:
        among = CandidateEdges(instance, chosen)
        split = split_for(
            clock.share(1.0, clock.left - seconds),
            rounds=min(length, rounds - best.rounds),
            among=among,
            shares=pricing.shares_of(among) if best.rounds else None,
        )
        begin, length = time.perf_counter(), min(_LONGEST, 2 * length)
        cheap = pricing.extend(split)
        best.converged = split.converged and best.units >= (1 - stall) * split.units
        chosen = np.union1d(chosen, cheap)
        seconds = time.perf_counter() - begin
        if progress is not None:
            progress.line(incumbent=target, bound=best.units / UNIT, edges=len(chosen), nodes=best.rounds)
    return best


class _Pricing:
    """The best split among all pairs, and the shares of the last one."""

    def __init__(self, edges: CandidateEdges, weighted: bool) -> None:
        self._edges, self._costs = edges, costs_of(edges, weighted)
        self._offsets, self._order = edges.links_by_edge
        self._shares = np.empty(0)
        num_links = len(edges.links.edge)
        self.best = Splitting(edges, 0, np.zeros(num_links, np.int64), np.zeros(len(edges)))

    def shares_of(self, among: CandidateEdges) -> Reals:
        """The last shares of some pairs, one a link."""
        return self._shares[self._links_of(among)]

    def extend(self, split: Splitting) -> Edges:
        """Give shares to all pairs, keep what is better of the result, and return the pairs that are too cheap."""
        best, edges, topic_offsets = self.best, self._edges, self._edges.instance.topic_offsets
        given = self._links_of(split.edges)
        weight = np.full(len(edges.links.edge), _ABSENT, np.int64)
        weight[given] = split.shares
        heaviest = _heaviest_on_paths(topic_offsets, edges.links.offsets, weight)
        price = np.bincount(edges.links.edge, heaviest / UNIT, len(edges))
        self._shares = heaviest / UNIT * np.minimum(1.0, self._costs / np.maximum(price, self._costs))[edges.links.edge]
        self._shares[given] = split.shares / UNIT
        units = rounded_shares(self._shares, self._costs, self._offsets, self._order)
        total, _ = spanning_trees(topic_offsets, edges.links.offsets, units)
        best.rounds += split.rounds
        if total > best.units:
            best.units, best.shares = int(total), units
        if split.limit < best.limit:
            best.limit, best.usage = split.limit, np.zeros(len(edges))
            best.usage[np.searchsorted(edges.keys, split.edges.keys)] = split.usage
        return edges.keys[price > self._costs * (1 + _TOLERANCE)]

    def _links_of(self, among: CandidateEdges) -> Offsets:
        """The numbers of their links among those of all pairs, which are in lexicographic order in each topic."""
        links, topic_offsets = among.links, among.instance.topic_offsets
        topic = np.repeat(np.arange(len(topic_offsets) - 1), np.diff(links.offsets))
        n, a = np.diff(topic_offsets)[topic], links.a.astype(np.int64)
        return self._edges.links.offsets[topic] + a * (2 * n - a - 1) // 2 + links.b - a - 1


@kernel
def _heaviest_on_paths(topic_offsets: Offsets, link_offsets: Offsets, weight: Units) -> Units:
    """For each link the weight of the heaviest edge on the path between its ends on the topic's minimum spanning tree.

    Links are as in :func:`.spanning_trees`; here it is Prim's algorithm, too, and each node that the tree grows by has
    the paths of its neighbour on it.
    """
    heaviest = np.zeros(len(weight), np.int64)
    for t in range(len(topic_offsets) - 1):
        n, first = topic_offsets[t + 1] - topic_offsets[t], link_offsets[t]
        nearest, via = np.full(n, np.int64(2**62)), np.zeros(n, np.int64)
        nodes = np.arange(n)
        for size in range(1, n):
            last = nodes[size - 1]
            for i in range(size, n):
                a, b = min(last, nodes[i]), max(last, nodes[i])
                k = first + a * (2 * n - a - 1) // 2 + b - a - 1
                if weight[k] < nearest[nodes[i]]:
                    nearest[nodes[i]], via[nodes[i]] = weight[k], last
            closest = size + np.argmin(nearest[nodes[size:]])
            nodes[size], nodes[closest] = nodes[closest], nodes[size]
            v, u = nodes[size], via[nodes[size]]
            for i in range(size):
                w, most = nodes[i], nearest[v]
                if w != u:
                    a, b = min(u, w), max(u, w)
                    most = max(most, heaviest[first + a * (2 * n - a - 1) // 2 + b - a - 1])
                a, b = min(v, w), max(v, w)
                heaviest[first + a * (2 * n - a - 1) // 2 + b - a - 1] = most
    return heaviest


@cache
def warm_up() -> None:
    """Compile the kernels of :func:`split_by_pricing`."""
    small = trial_instance()
    every = CandidateEdges(small, all_pairs(small))
    _Pricing(every, False).extend(split_costs(small, 1.0, Clock(None), rounds=1, among=every))
