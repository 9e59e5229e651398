"""The bound of the partition LP without an LP solver: split each edge's cost among its topics, add up spanning trees.

If λ(t, e) ≥ 0 and Σ_t λ(t, e) ≤ cost(e) for each edge e, an overlay costs at least Σ_t (minimum spanning tree of V_t
under λ(t, ·)): every G_t contains a spanning tree, and an edge's shares add up to at most its cost. By duality the best
split attains the bound of all partition inequalities; projected subgradients approximate it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from ....heuristics.graph import root_of
from ....heuristics.topics.kernels.interest import Interest, edge_costs, unit_costs
from ....heuristics.topics.local_search.overlay_search import nearest_pairs
from ....instances.contract.arrays import Flags, Ids, Offsets, Reals
from ....instances.contract.overlay import Overlay
from ....instances.runtime.compiled import kernel
from ....instances.runtime.run import Clock
from ....instances.topics.instance import TopicInstance
from ...engine.exact_method import SearchLog
from ...engine.proof import Multipliers
from ...engine.relaxation import UNIT, Units
from .price_join import FEW_SUBSCRIPTIONS, pairs_above, price_trees, prices_of, threads
from .topic_rows import (
    CandidateEdges,
    Edges,
    TopicEdges,
    TopicRows,
    all_pairs,
    count_links,
    keys_of,
    tree_multipliers,
    useful_edges,
)

MOST_PROVEN = 2**28
"""Above this total cost of an overlay, sums in units of 1/2^32 might exceed 2^62."""
_SHORT, _SPAN, _USED = 1e-3, 200, 0.02
_SHORTER, _TRIES = 0.7, 10
_SPARSE, _BUCKETS, _PARTS = 20, 2**14, 8


@dataclass
class Splitting:
    """The best split so far, among pairs of nodes with numbers u·|V| + v (`keys`), rising.

    Another pair has as its share of a topic the heaviest edge on the path between its ends in the topic's tree. A
    fractional solution of the partition LP uses each of the edges `columns` by the average number of trees that have
    it; its cost, `limit`, is an upper limit on the bound of the partition LP.
    """

    instance: TopicInstance
    keys: Edges
    units: int  # the bound times `UNIT`, a sum of integer tree weights
    shares: Units  # λ in units, in the order of edges.links
    columns: Edges
    usage: Reals
    limit: float = np.inf
    rounds: int = 0
    converged: bool = False  # the bound stopped rising

    @classmethod
    def of(cls, edges: CandidateEdges) -> Splitting:
        keys, shares = edges.keys, np.zeros(len(edges.links.edge), np.int64)
        return cls(edges.instance, keys, 0, shares, keys, np.zeros(len(edges)))

    @property
    def used(self) -> Edges:
        """The columns that the fractional solution uses."""
        return self.columns[self.usage > _USED]

    def used_or_in(self, start: Overlay) -> tuple[CandidateEdges, Reals]:
        """The edges that the fractional solution uses, and all of an overlay that serve a topic, with their usage."""
        keys = useful_edges(self.instance, np.union1d(self.used, keys_of(start)))
        return CandidateEdges(self.instance, keys), self.usage_of(keys)

    def usage_of(self, keys: Edges) -> Reals:
        """The usage of some edges, 0 where they are no columns."""
        if not len(self.columns):
            return np.zeros(len(keys))
        place = np.minimum(np.searchsorted(self.columns, keys), len(self.columns) - 1)
        return np.where(self.columns[place] == keys, self.usage[place], 0.0)


def split_costs(
    instance: TopicInstance,
    target: float,
    clock: Clock,
    *,
    stall: float = 1e-4,
    rounds: int = 20_000,
    smoothing: float = 0.02,
    step: float = 1.0,
    progress: SearchLog | None = None,
    among: CandidateEdges | None = None,
    shares: Reals | None = None,
    weighted: bool = False,
    enough: float = np.inf,
) -> Splitting:
    """Raise the bound by subgradient steps; every round's bound is computed in integers.

    The value of an overlay, `target`, sets the length of the steps. They end when they are short and 200 rounds raised
    the bound by less than the fraction `stall`, or when it rounds up to `enough`. `smoothing` is the weight of a
    round's trees in their average; a smaller one brings `limit` nearer to the bound. With `among`, rising edges that
    connect every topic, the bound holds for overlays of these only, and `usage` ranks them. The first `shares`, one a
    link, are equal ones for the topics of an edge by default. If `weighted`, edges have the costs of the instance, else
    each costs 1; sums of units must stay below 2^62: a target below 2^28 will do.

    Steps along smoothed subgradients as in the volume algorithm (Barahona, Anbil 2000), at first with `step` times
    Polyak's length for the target, and shorter ones where the bound does not rise. A round
    takes O(Σ_t |V_t|²): Prim's algorithm in each topic, and a projection onto the simplex for each edge. Memory 80
    bytes for each link of an edge to a topic.
    """
    edges = CandidateEdges(instance, all_pairs(instance)) if among is None else among
    offsets, order = edges.links_by_edge
    costs = costs_of(edges, weighted)
    shares = (first_shares(edges, costs) if shares is None else shares)[order]
    shares = shares.astype(np.float64 if instance.num_subscriptions <= FEW_SUBSCRIPTIONS else np.float32, copy=False)
    best = Splitting.of(edges)
    if not len(edges):
        best.converged = True
        return best
    span, direction, length, since, mark = spanning(edges), np.zeros_like(shares), step, 0, 0
    centre = shares
    for number in range(rounds):
        if clock.passed:
            break
        total, in_tree = span(rounded_shares(shares, costs, offsets, order))
        usage, squared = _average(direction, in_tree, max(1 / (number + 1), smoothing), offsets, order)
        best.rounds = number + 1
        if total > best.units:
            since = 0 if total > best.units + UNIT // 1000 else since + 1
            best.units, centre = int(total), shares
        else:
            since += 1
        if (limit := float((costs * usage).sum())) < best.limit:
            best.usage, best.limit = usage, limit
        if progress is not None:
            progress.line(incumbent=target, bound=best.units / UNIT, edges=len(edges), nodes=number)
        if since >= _TRIES:
            length, since = length * _SHORTER, 0
        if number % _SPAN == _SPAN - 1:
            if best.units <= mark + stall * best.units and length < _SHORT:
                best.converged = True
                break
            mark = best.units
        if -(-best.units // UNIT) >= enough:
            best.converged = True
            break
        gap = length * max(1.0, target - total / UNIT)
        shares = centre  # frees the last ones before the next: these arrays are the largest of all
        shares = _step(shares, direction, costs, offsets, gap / max(squared, 1e-9))
    best.shares = rounded_shares(centre, costs, offsets, order)
    return best


def costs_of(edges: CandidateEdges, weighted: bool) -> Reals:
    """What each edge costs: 1, or its cost in the instance."""
    return edges.instance.edge_costs(edges.u, edges.v).astype(np.float64) if weighted else np.ones(len(edges))


def proof_rows(splitting: Splitting) -> tuple[TopicRows, Reals]:
    """Partition inequalities and their duals that prove the bound of a split.

    For the weights w₁ < w₂ < … of a topic's tree, the components of the tree edges lighter than w_i form a partition
    with the dual w_i − w_{i−1} (Kruskal): the parts of its row between gaps of w_i or more. Cost O(Σ_t |V_t|²) and as
    much memory.
    """
    topic, rhs, labels, duals = [], [], [], []
    _, place, gap = _trees_of(splitting)
    for t, (first, last) in enumerate(pairwise(splitting.instance.topic_offsets.tolist())):
        gaps, places, before = gap[first:last], place[first:last] - first, 0
        for weight in np.unique(gaps[gaps > 0]).tolist():
            label = np.cumsum(gaps >= weight, dtype=np.int32)
            topic.append(t)
            rhs.append(int(label[-1]))
            labels.append(label[places])
            duals.append((weight - before) / UNIT)
            before = weight
    offsets = np.concatenate([[0], np.cumsum([len(label) for label in labels])]).astype(np.int64)
    rows = TopicRows(
        np.array(topic, np.int32),
        np.zeros(len(topic), np.int32),
        np.array(rhs, np.int32),
        offsets,
        np.concatenate([*labels, np.empty(0, np.int32)]),
    )
    return rows, np.array(duals, np.float64)


def proof_trees(splitting: Splitting) -> Multipliers:
    """The proof of the bound of a split, of O(Σ|T_v|) numbers: the row of each topic's tree, and its gaps."""
    row, _, gap = _trees_of(splitting)
    return tree_multipliers(splitting.instance, row, gap)


def _trees_of(split: Splitting) -> tuple[Ids, Offsets, Units]:
    """The rows of the topics' trees under its shares, see :func:`_rows_of_trees`."""
    edges = CandidateEdges(split.instance, split.keys)
    links = edges.links
    _, in_tree = spanning(edges)(split.shares)
    return _rows_of_trees(edges.interest, links.offsets, links.a, links.b, split.shares, in_tree)


def spanning(edges: CandidateEdges) -> Callable[[Units], tuple[int, Flags]]:
    """The function from links' weights to the total of minimum spanning trees of all topics, and their links."""
    topic_offsets, links = edges.instance.topic_offsets, edges.links
    starts, others, via = _neighbours(topic_offsets, links)
    parts = np.searchsorted(links.offsets, np.linspace(0, links.offsets[-1], _PARTS + 1)).tolist()
    parts[0], parts[-1] = 0, len(topic_offsets) - 1

    def span(weight: Units) -> tuple[int, Flags]:
        in_tree = np.zeros(len(weight), np.bool_)

        def total(first: int, last: int) -> int:
            return int(_span(first, last, topic_offsets, links, starts, others, via, weight, in_tree))

        with threads(edges.instance) as apply:
            return sum(apply(total, parts[:-1], parts[1:])), in_tree

    return span


@kernel
def _neighbours(topic_offsets: Offsets, links: TopicEdges) -> tuple[Offsets, Ids, Ids]:
    """The links of each subscription to a topic of many links: CSR offsets, other ends, numbers."""
    dense = np.flatnonzero(np.diff(topic_offsets) ** 2 <= _SPARSE * np.diff(links.offsets))
    starts = np.zeros(topic_offsets[-1] + 1, np.int64)
    for t in dense:
        for k in range(links.offsets[t], links.offsets[t + 1]):
            starts[topic_offsets[t] + links.a[k] + 1] += 1
            starts[topic_offsets[t] + links.b[k] + 1] += 1
    starts = np.cumsum(starts)
    others, via, at = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.int32), starts[:-1].copy()
    for t in dense:
        for k in range(links.offsets[t], links.offsets[t + 1]):
            for one, other in ((links.a[k], links.b[k]), (links.b[k], links.a[k])):
                others[at[topic_offsets[t] + one]], via[at[topic_offsets[t] + one]] = other, k
                at[topic_offsets[t] + one] += 1
    return starts, others, via


@kernel
def rounded_shares(shares: Reals, costs: Reals, offsets: Offsets, order: Ids) -> Units:
    """Shares, edge by edge, in units, rounded down, at most its cost for each edge; topic by topic."""
    units = np.empty(len(shares), np.int64)
    for e in range(len(offsets) - 1):
        left = np.int64(UNIT * costs[e])
        for i in range(offsets[e], offsets[e + 1]):
            share = min(left, np.int64(max(0.0, shares[i]) * UNIT))
            units[order[i]] = share
            left -= share
    return units


@kernel
def _span(
    first_topic: int,
    last_topic: int,
    topic_offsets: Offsets,
    links: TopicEdges,
    starts: Offsets,
    others: Ids,
    via: Ids,
    weight: Units,
    in_tree: Flags,
) -> np.int64:
    """The total weight of minimum spanning trees of some topics; marks their links.

    By Prim's algorithm without a heap, where subscriber p has links to ``others[starts[p]:starts[p + 1]]``; or by
    Kruskal's where links are so few that sorting them takes less.
    """
    total = np.int64(0)
    for t in range(first_topic, last_topic):
        first, n = topic_offsets[t], topic_offsets[t + 1] - topic_offsets[t]
        begin, end = links.offsets[t], links.offsets[t + 1]
        if n < 2:
            continue
        if n * n > _SPARSE * (end - begin):
            parent, left = np.arange(n), n - 1
            for i in _rising(weight[begin:end]):
                if left == 0:
                    break
                k = begin + i
                a, b = root_of(parent, int(links.a[k])), root_of(parent, int(links.b[k]))
                if a != b:
                    parent[a] = b
                    total += weight[k]
                    in_tree[k] = True
                    left -= 1
            continue
        nearest, best = np.full(n, np.int64(2**62)), np.zeros(n, np.int64)
        outside = np.arange(n)
        v = 0
        for left in range(n - 1, 0, -1):
            for i in range(left + 1):
                if outside[i] == v:
                    outside[i] = outside[left]
                    break
            nearest[v] = -1
            for k in range(starts[first + v], starts[first + v + 1]):
                w = others[k]
                if weight[via[k]] < nearest[w]:
                    nearest[w], best[w] = weight[via[k]], via[k]
            # The nodes outside become fewer: on average half of all are compared.
            v = outside[np.argmin(nearest[outside[:left]])]
            total += nearest[v]
            in_tree[best[v]] = True
    return total


@kernel
def _rising(values: Units) -> Ids:
    """The indices of nonnegative values in rising order, as by a stable sort. Cost O(len(values)) for even ones."""
    count, shift, buckets = len(values), 0, 16
    while buckets < min(count, _BUCKETS):
        buckets *= 2
    most = values.max() if count else 0  # a topic may have no candidate edge
    while most >> shift >= buckets:
        shift += 1
    starts, order = np.zeros(buckets + 1, np.int64), np.empty(count, np.int32)
    for value in values:
        starts[(value >> shift) + 1] += 1
    for bucket in range(buckets):
        starts[bucket + 1] += starts[bucket]
    for i in range(count):
        bucket = values[i] >> shift
        order[starts[bucket]] = i
        starts[bucket] += 1
    first = 0
    for bucket in range(buckets):
        last = starts[bucket]
        falls = False
        for i in range(first + 1, last):
            falls |= values[order[i - 1]] > values[order[i]]
        if falls:
            some = order[first:last]
            order[first:last] = some[np.argsort(values[some], kind="mergesort")]
        first = last
    return order


@kernel
def _average(direction: Reals, in_tree: Flags, weight: float, offsets: Offsets, order: Ids) -> tuple[Reals, float]:
    """Move the average, edge by edge, towards the trees; the most of each edge, and the squared length of a step."""
    usage, squared = np.zeros(len(offsets) - 1), 0.0
    for e in range(len(usage)):
        first, last, mean = offsets[e], offsets[e + 1], 0.0
        for i in range(first, last):
            direction[i] += (np.float64(in_tree[order[i]]) - direction[i]) * weight
            mean += direction[i] / (last - first)
            usage[e] = max(usage[e], direction[i])
        for i in range(first, last):
            squared += (direction[i] - mean) ** 2
    return usage, squared


@kernel
def _step(shares: Reals, direction: Reals, costs: Reals, offsets: Offsets, length: float) -> Reals:
    """Move by a multiple of the direction's part within each edge's simplex, and project; all edge by edge."""
    moved = shares.copy()
    for e in range(len(offsets) - 1):
        first, last = offsets[e], offsets[e + 1]
        if last - first < 2:
            continue
        for i in range(first, last):
            moved[i] += length * direction[i]
        # The projection onto the simplex subtracts one number from all and cuts at 0; it rises to it (Michelot 1986).
        shift, count, before = -np.inf, last - first + 1, last - first + 2
        while count < before:  # rounding might make it come back
            total, before, count = 0.0, count, 0
            for i in range(first, last):
                if moved[i] > shift:
                    total += moved[i]
                    count += 1
            shift = (total - costs[e]) / count
        for i in range(first, last):
            moved[i] = max(0.0, moved[i] - shift)
    return moved


_FEW, _TOLERANCE, _LONGER = 0.5, 1e-8, 1.25
_ROWS_A_SECOND, _MANY_SUBSCRIPTIONS, MOST_SUBSCRIPTIONS = 100_000, 4_000_000, 12_000_000
_ROUNDED = 1 - 1e-12  # more than floating point numbers round up


@dataclass(frozen=True)
class PricingParameters:
    """How :func:`split_by_pricing` searches; the defaults suit up to 300,000 subscriptions."""

    nearest: int = 10
    """Pairs of each node at the start."""
    reach: int = 2**31 - 1
    """Nearest nodes are looked for among so many subscribers before and after a node in each topic."""
    rarity: float = 0.0
    """A pair's first shares are in proportion to |V_t|^−rarity: prices of popular topics are what makes pairs of no
    list too cheap. Of 60,000 customers the first pricing proves 137,191 with 1, and 105,017 with 0."""
    shortest: int = 50
    """Rounds before the first pricing."""
    growth: float = 2.0
    """So many times the rounds between two pricings are between the next two."""
    longest: int = 800
    """Most rounds between two pricings."""
    listed: float = 1.0
    """Most pairs that a pricing adds, for each listed before."""
    unused: float = 0.0
    """A pricing drops the pairs that are in no tree and were used less, on average."""
    rounds: int = 20_000
    """Most rounds in all."""
    smoothing: float = 0.02
    """Weight of a round's trees in their average; see :func:`.split_costs`."""
    step: float = 1.0
    """The first step after a pricing, in Polyak's lengths. The target is far above the bound: of 60,000 customers a
    fourth proves 172,433 in the time in which the whole length proves 167,152."""
    builds: int = 0
    """Rounds before the first overlay along a split, which is built before a pricing; the next one comes after twice as
    many. 0: none."""
    stall: float = 1e-4
    """The least relative rise of the bound in 200 rounds."""


_OF_MANY = PricingParameters(
    nearest=2,
    reach=100,
    rarity=1.0,
    shortest=1,
    growth=1.5,
    longest=50,
    listed=0.4,
    unused=0.002,
    step=0.15,
    builds=3,
    stall=2e-5,
)


def pricing_parameters(instance: TopicInstance, of_few: PricingParameters = PricingParameters()) -> PricingParameters:
    """`of_few` up to 300,000 subscriptions. Beyond, lists are short and priced early, as a round takes as long as its
    list is, and the first pairs listed raise the bound most: of 2,000,000 subscriptions three pricings prove 448,257
    after 6 rounds, and 317,073 after 28 where each adds a fourth.
    """
    return of_few if instance.num_subscriptions <= FEW_SUBSCRIPTIONS else _OF_MANY


def is_affordable(instance: TopicInstance, clock: Clock) -> bool:
    """Whether there is time and memory to begin to split costs by pricing, which then measures its own pace: a second
    for 100,000 subscriptions, of which there are at most 12,000,000; beyond 4,000,000 in proportion to their square.
    """
    rows = instance.num_subscriptions
    return rows <= MOST_SUBSCRIPTIONS and rows * max(1, rows / _MANY_SUBSCRIPTIONS) <= clock.left * _ROWS_A_SECOND


def split_by_pricing(
    instance: TopicInstance,
    start: Overlay,
    clock: Clock,
    parameters: PricingParameters | None = None,
    *,
    progress: SearchLog | None = None,
    weighted: bool = False,
    enough: float = np.inf,
    build: Callable[[CandidateEdges, Reals], float] | None = None,
) -> Splitting:
    """As :func:`.split_costs` among all pairs, by column generation and without a list of them.

    It begins with the edges of an overlay and the nearest of each node. Given a split among some pairs, the price of
    another one in a topic is the heaviest edge on the tree path between its ends: with these shares, or smaller ones,
    it makes no tree lighter. Where its prices add up to more than its cost, it gets shares in proportion and is listed.
    Each split goes on from the last one, and its bound is computed among all pairs. If half of all pairs would be
    listed at the start, all are. A bound as large as the overlay's cost, or `enough`, ends it. `build` takes listed
    pairs and their usage, and returns the least cost of an overlay so far, by which the next steps are as long.

    A round takes 60 ns for each link of a listed pair to a topic, of which there are about 6 to 10 a subscription;
    memory 100 bytes for each. Pricing is :func:`.pairs_above`; a run that has no time for it proves nothing.
    """
    given = parameters or pricing_parameters(instance)
    target = float(instance.total_cost(start.edges) if weighted else start.num_edges)
    begin, building, enough = time.perf_counter(), given.builds, min(enough, target)
    near = nearest_pairs(instance, given.nearest, by_cost=weighted, reach=given.reach, passed=lambda: clock.passed)
    if clock.left <= time.perf_counter() - begin:  # to list their links takes no longer
        return Splitting.of(CandidateEdges(instance, near[:0]))
    listed = CandidateEdges(instance, np.union1d(near, useful_edges(instance, keys_of(start))))
    split_for = partial(
        split_costs, instance, stall=given.stall, smoothing=given.smoothing, step=given.step, weighted=weighted
    )
    if len(listed.links.edge) >= _FEW * count_links(instance):
        return split_for(target, clock, rounds=given.rounds, progress=progress, enough=enough)
    best, length = Splitting.of(listed), given.shortest
    shares: Reals | None = first_shares(listed, costs_of(listed, weighted), given.rarity)
    seconds = time.perf_counter() - begin  # of the next pricing, at most
    while best.rounds < given.rounds and not best.converged and clock.left > _LONGER * seconds:
        part = clock.share(1.0, clock.left - _LONGER * seconds)
        split = split_for(target, part, rounds=min(length, given.rounds - best.rounds), among=listed, shares=shares)
        begin, length, shares = time.perf_counter(), min(given.longest, math.ceil(given.growth * length)), None
        best.rounds += split.rounds
        if split.limit < best.limit:
            best.columns, best.usage, best.limit = split.columns, split.usage, split.limit
        if build is not None and 0 < building <= best.rounds:
            target, building = min(target, build(listed, split.usage)), 2 * best.rounds
            begin = time.perf_counter()
        priced = _with_cheap(listed, split, weighted, int(given.listed * len(listed)), clock, given.unused)
        if priced is None:
            break
        listed, shares, excess = priced
        offsets, order = listed.links_by_edge
        units = rounded_shares((shares / excess * _ROUNDED)[order], costs_of(listed, weighted), offsets, order)
        total, _ = spanning(listed)(units)
        if total > best.units:
            best.keys, best.units, best.shares = listed.keys, int(total), units
        best.converged = split.converged and best.units >= (1 - given.stall) * split.units
        best.converged |= -(-best.units // UNIT) >= enough
        seconds = time.perf_counter() - begin
        if progress is not None:
            progress.line(incumbent=target, bound=best.units / UNIT, edges=len(listed), nodes=best.rounds)
    return best


def first_shares(edges: CandidateEdges, costs: Reals, rarity: float = 0.0) -> Reals:
    """Each edge's cost, split among its topics in proportion to |V_t|^−rarity; one share a link."""
    sizes = np.maximum(1, np.diff(edges.instance.topic_offsets)).astype(np.float64)
    parts = np.repeat(sizes**-rarity, np.diff(edges.links.offsets))
    return parts * (costs / np.bincount(edges.links.edge, parts, len(edges)))[edges.links.edge]


def _with_cheap(
    few: CandidateEdges, split: Splitting, weighted: bool, most: int, clock: Clock, unused: float = 0.0
) -> tuple[CandidateEdges, Reals, float] | None:
    """The pairs of a split and those that are too cheap, their shares, and the most that others' prices ÷ cost are.

    At most `most` are added, the cheapest, and those of no tree and a usage below `unused` are left out: their prices
    are their shares or less. The shares ÷ this number hold among all pairs. `few` and the shares of the split are empty
    after that: two lists of links take too much memory. None if the clock passes.
    """
    instance = few.instance
    _, in_tree = spanning(few)(split.shares)
    trees = price_trees(instance.topic_offsets, few.links, split.shares, in_tree)
    link_costs = edge_costs(instance) if weighted else unit_costs(instance.num_nodes)
    found = pairs_above(instance, trees, link_costs, 1 + _TOLERANCE, most, clock)
    if found is None:
        return None
    keys, _, excess = found
    kept = split.usage >= unused
    kept[few.links.edge[in_tree]] = True
    few_keys, few_shares = few.keys[kept], split.shares[kept[few.links.edge]]
    few.keys, split.shares = np.empty(0, np.int64), np.empty(0, np.int64)
    few.add(few.keys)
    edges = CandidateEdges(instance, np.union1d(few_keys, keys))
    before = np.zeros(len(edges), np.bool_)
    before[np.searchsorted(edges.keys, few_keys)] = True
    given = before[edges.links.edge]
    shares = np.empty(len(given))
    shares[given] = few_shares / UNIT
    shares[~given] = prices_of(instance.topic_offsets, edges.links, np.flatnonzero(~given), trees) / UNIT
    costs = costs_of(edges, weighted)
    price = np.bincount(edges.links.edge, shares, len(edges))
    shares *= (costs / np.maximum(price, costs))[edges.links.edge]
    return edges, shares, excess


@kernel
def _rows_of_trees(
    interest: Interest, link_offsets: Offsets, a: Ids, b: Ids, weight: Units, in_tree: Flags
) -> tuple[Ids, Offsets, Units]:
    """Each topic's subscribers in a row, such that paths on its tree are parts of the row.

    The row of a tree is that of its parts without the heaviest edge, one after the other, with this edge as the gap
    between them. So the heaviest edge on the path between two nodes is the widest gap between their places. Returned
    are the nodes in order, topic after topic, the place of each subscription of ``topic_nodes``, and the gap in front
    of each place.
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
        for k in tree[np.argsort(weight[tree], kind="mergesort")]:
            x, y = root_of(parent, int(a[k])), root_of(parent, int(b[k]))
            following[end[x]], before[y], end[x], parent[y] = y, weight[k], end[y], x
        v = root_of(parent, 0)
        for p in range(first, first + n):
            row[p], place[first + v], gap[p] = interest.topic_nodes[first + v], p, before[v]
            v = following[v]
    return row, place, gap
