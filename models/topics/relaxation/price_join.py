"""The pairs of nodes whose prices in all topics add up to more than the edge costs, found by a join with weights.

In a topic's tree the price of a pair is the heaviest edge on the path between its ends, an ultrametric. Let b(t, v) be
the price of v and the topic's *core*, one of its subscribers. The price of u and v is at most max(b(t, u), b(t, v)),
and equal to it where the two differ. Popular topics have b = 0 for nearly all their subscribers, because edges that are
paid for by rarer topics connect these too. So only the pairs of a topic of which one end has b > 0 are looked at: a
positive subscriber with all, the others with the positive ones. Few pairs have Σ_t max(b(t, u), b(t, v)) > cost; their
prices are computed exactly. This is an overlap join with weights (Chaudhuri, Ganti and Kaushik 2006) in which the
subscriptions of weight 0 are filtered from the inverted lists (Bayardo, Ma and Srikant 2007).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from ....heuristics.topics.kernels.interest import EdgeCosts, Interest, cost_of, interest_of, positions_of
from ....instances.contract.arrays import Flags, Ids, Offsets, Reals
from ....instances.runtime.compiled import in_place_kernel, kernel
from ....instances.runtime.run import Clock
from ....instances.topics.instance import TopicInstance
from ...engine.relaxation import UNIT, Units
from .topic_rows import Edges, TopicEdges

FEW_SUBSCRIPTIONS = 300_000
_PARTS, _LEAST_PART, _MOST_THREADS = 64, 1000, 4
_ROOT = 2**62
_PARTS_OF_UNIT, _MOST_PARTS, _LAST_ZERO = 2**10, 2**12, 2**30
Apply = Callable[..., Iterable[Any]]


class PriceTrees(NamedTuple):
    """A tree for each topic, with an item for each subscription in the order of ``topic_nodes``.

    The heaviest edge on the path between two nodes is that of the topic's minimum spanning tree, and the way to the
    root, the core of the topic, has O(log |V_t|) edges, of rising weight.
    """

    parent: Ids
    weight: Units  # of the edge to the parent
    to_core: Units  # b: the price of the subscriber and the core


class _Priced(NamedTuple):
    """The subscriptions with a price above 0, and of all of them upper bounds of the prices in parts of a unit."""

    ends: Offsets  # those of topic t are the positive ones from ends[t] to ends[t + 1]
    positive: Ids  # indices in ``topic_nodes``, rising
    nodes: Ids  # of the positive ones
    parts: Ids  # of each subscription


@kernel
def price_trees(topic_offsets: Offsets, links: TopicEdges, weight: Units, in_tree: Flags) -> PriceTrees:
    """The trees whose links are marked, by Kruskal's algorithm with union by size.

    Cost O(Σ|V_t| log |V_t|) and 20 bytes for each subscription.
    """
    size = topic_offsets[-1]
    parent, up, to_core = np.arange(size).astype(np.int32), np.full(size, np.int64(_ROOT)), np.zeros(size, np.int64)
    members = np.ones(size, np.int32)
    for t in range(len(topic_offsets) - 1):
        first, last = topic_offsets[t], topic_offsets[t + 1]
        tree = np.flatnonzero(in_tree[links.offsets[t] : links.offsets[t + 1]]) + links.offsets[t]
        for k in tree[np.argsort(weight[tree], kind="mergesort")]:
            x, y = first + links.a[k], first + links.b[k]
            while parent[x] != x:
                x = np.int64(parent[x])
            while parent[y] != y:
                y = np.int64(parent[y])
            if members[x] > members[y]:
                x, y = y, x
            parent[x], up[x] = y, weight[k]
            members[y] += members[x]
        for p in range(first, last):
            x = p
            while parent[x] != x:
                to_core[p], x = up[x], np.int64(parent[x])
    return PriceTrees(parent, up, to_core)


@in_place_kernel
def price_of(x: int, y: int, trees: PriceTrees) -> int:
    """The heaviest edge on the path between two different subscriptions of a topic. Cost O(log |V_t|)."""
    heaviest = np.int64(0)
    while x != y:
        # The edges to the root become heavier: the lighter one of the two is on the path.
        if trees.weight[x] > trees.weight[y]:
            x, y = y, x
        heaviest = max(heaviest, trees.weight[x])
        x = int(trees.parent[x])
    return int(heaviest)


@kernel
def prices_of(topic_offsets: Offsets, links: TopicEdges, chosen: Offsets, trees: PriceTrees) -> Units:
    """The prices of some links, given by their numbers, which rise."""
    prices, t = np.empty(len(chosen), np.int64), 0
    for i in range(len(chosen)):
        k = chosen[i]
        while k >= links.offsets[t + 1]:
            t += 1
        prices[i] = price_of(topic_offsets[t] + links.a[k], topic_offsets[t] + links.b[k], trees)
    return prices


@contextmanager
def threads(instance: TopicInstance) -> Iterator[Apply]:
    """A ``map`` on the processors of this process, at most four; of few subscriptions the built-in one."""
    count = min(_MOST_THREADS, len(os.sched_getaffinity(0)))
    if count == 1 or instance.num_subscriptions <= FEW_SUBSCRIPTIONS:
        yield map
    else:
        with ThreadPoolExecutor(count) as pool:
            yield pool.map


def pairs_above(
    instance: TopicInstance, trees: PriceTrees, costs: EdgeCosts, least: float, most: int, clock: Clock
) -> tuple[Edges, Reals, float] | None:
    """The pairs whose prices add up to more than a multiple of their cost: keys, prices ÷ cost, and this multiple.

    The multiple is `least`, or a larger one such that at most `most` pairs are above it. None if the clock passes.
    Cost O(Σ_t |V_t|·|positive subscribers of t|) steps of 2 ns, memory 4 bytes for each subscription, 32 for each of
    `most` pairs, and for each thread 12 bytes for each node and 32 for each pair in a 64th of them.
    """
    n, interest = instance.num_nodes, interest_of(instance)
    position, positive = positions_of(interest), np.flatnonzero(trees.to_core > 0).astype(np.int32)
    # Upper bounds of the prices in small integers, such that a node's sums fit; the largest ones stand for any others.
    largest = min(_MOST_PARTS, _LAST_ZERO // int(np.diff(interest.node_offsets).max()))
    parts = np.minimum(-(-trees.to_core // (UNIT // _PARTS_OF_UNIT)), largest).astype(np.int32)
    priced = _Priced(np.searchsorted(positive, interest.topic_offsets), positive, interest.topic_nodes[positive], parts)
    keys, ratios = np.empty(0, np.int64), np.empty(0)
    cuts = [*range(0, n, max(_LEAST_PART, -(-n // _PARTS))), n]

    def above(first: int, last: int) -> tuple[Edges, Reals] | None:
        if clock.passed and first != 0:
            return None
        found: tuple[Edges, Reals] = _above(interest, position, trees, priced, costs, least, largest, first, last)
        return found

    with threads(instance) as apply:
        for found in apply(above, cuts[:-1], cuts[1:]):
            if found is None:
                return None
            keys, ratios = np.concatenate([keys, found[0]]), np.concatenate([ratios, found[1]])
            if len(keys) > most:
                least = float(np.partition(ratios, len(ratios) - most - 1)[len(ratios) - most - 1])
            keys, ratios = keys[ratios > least], ratios[ratios > least]  # a thread may have begun with a smaller one
    return keys, ratios, least


@kernel
def _above(
    interest: Interest,
    position: Ids,
    trees: PriceTrees,
    priced: _Priced,
    costs: EdgeCosts,
    least: float,
    largest: int,
    first: int,
    last: int,
) -> tuple[Edges, Reals]:
    """The pairs u < v with u from `first` to `last`.

    The inner loops are the pricing's: an entry of `total` is 4 bytes, and is looked at once for each common topic.
    """
    n, topics, nodes, parts = len(interest.node_offsets) - 1, interest.node_topics, interest.topic_nodes, priced.parts
    total, listed, zero = np.zeros(n, np.int32), np.empty(n, np.int32), np.int32(0)
    following = np.full(len(priced.ends), -1, np.int64)  # of each topic the first positive subscription beyond u's
    keys, ratios, size = np.empty(1024, np.int64), np.empty(1024), 0
    # No edge costs less than 1, so a smaller sum is no larger multiple of its cost.
    least_parts = np.int32(min(largest - 1, int(least * _PARTS_OF_UNIT)))
    for u in range(first, last):
        begin, end, count = interest.node_offsets[u], interest.node_offsets[u + 1], 0
        if zero > _LAST_ZERO:
            total[:] = 0
            zero = np.int32(0)
        enough = np.int32(zero + least_parts)
        for i in range(begin, end):
            t, p = topics[i], position[i]
            if following[t] < 0:
                following[t] = np.searchsorted(priced.positive, p)
            while following[t] < priced.ends[t + 1] and priced.positive[following[t]] <= p:
                following[t] += 1
            own = parts[p]
            if own > 0:
                for q in range(p + 1, interest.topic_offsets[t + 1]):
                    v = np.uint32(nodes[q])
                    before = max(total[v], zero)
                    total[v] = before + (parts[q] if parts[q] > own else own)
                    if before <= enough and total[v] > enough:
                        listed[count] = v
                        count += 1
            else:
                for k in range(following[t], priced.ends[t + 1]):
                    v = np.uint32(priced.nodes[k])
                    before = max(total[v], zero)
                    total[v] = before + parts[priced.positive[k]]
                    if before <= enough and total[v] > enough:
                        listed[count] = v
                        count += 1
        zero += np.int32(largest * (end - begin))
        if size + count > len(keys):
            room = size + count
            keys, ratios = np.concatenate((keys, np.empty(room, np.int64))), np.concatenate((ratios, np.empty(room)))
        for v in listed[:count]:
            ratio = _price_in_all(u, v, interest, position, trees) / (np.float64(UNIT) * cost_of(u, v, costs))
            if ratio > least:
                keys[size], ratios[size] = np.int64(u) * n + v, ratio
                size += 1
    return keys[:size].copy(), ratios[:size].copy()


@in_place_kernel
def _price_in_all(u: int, v: int, interest: Interest, position: Ids, trees: PriceTrees) -> int:
    """The sum of a pair's prices over its common topics. Cost O(|T_u| + |T_v|) and that of the prices."""
    topics, price = interest.node_topics, np.int64(0)
    i, end_i = interest.node_offsets[u], interest.node_offsets[u + 1]
    j, end_j = interest.node_offsets[v], interest.node_offsets[v + 1]
    while i < end_i and j < end_j:
        one, other = topics[i], topics[j]
        if one == other:
            price += price_of(int(position[i]), int(position[j]), trees)
        i += one <= other
        j += other <= one
    return int(price)
