"""The pairs of nodes whose prices in all topics add up to more than the edge costs, found by a join with weights.

In a topic's tree the price of a pair is the heaviest edge on the path between its ends, an ultrametric. Let b(t, v) be
the price of v and the topic's *core*, one of its subscribers. The price of u and v is at most max(b(t, u), b(t, v)),
and equal to it where the two differ. Popular topics have b = 0 for nearly all their subscribers, because edges that are
paid for by rarer topics connect these too. So only the pairs of a topic of which one end has b > 0 are looked at: a
positive subscriber with all, the others with the positive ones. Few pairs have Σ_t max(b(t, u), b(t, v)) > cost; their
prices are computed exactly. This is an overlap join with weights (Chaudhuri, Ganti and Kaushik 2006) in which the
subscriptions of weight 0 are filtered from the inverted lists (Bayardo, Ma and Srikant 2007).

The lists of the few most popular topics have most of the entries, and are the suffix of a prefix filter. Let s(v) be
the sum of b over the popular topics of v. A pair that meets at another topic is dear only if its prices there, s(u) and
s(v) add up to more than its cost. For a pair that meets at popular topics alone, s(u) or s(v) exceeds half of the cost:
few nodes go through the popular lists.
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
_POPULAR = (0, 4, 8, 16, 32, 64)
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
    own: Units  # b itself, in the order of ``node_topics``
    popular: Flags  # of each topic
    suffix: Ids  # the sum of each node's parts at popular topics


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


def processors(instance: TopicInstance) -> int:
    """How many threads work on an instance: the processors of this process, at most four; one for few subscriptions."""
    most = _MOST_THREADS if instance.num_subscriptions > FEW_SUBSCRIPTIONS else 1
    return min(most, len(os.sched_getaffinity(0)))


@contextmanager
def threads(instance: TopicInstance) -> Iterator[Apply]:
    """A ``map`` on :func:`processors` threads; with one, the built-in one."""
    if (count := processors(instance)) == 1:
        yield map
    else:
        with ThreadPoolExecutor(count) as pool:
            yield pool.map


def pairs_above(
    instance: TopicInstance, trees: PriceTrees, costs: EdgeCosts, least: float, most: int, clock: Clock
) -> tuple[Edges, Reals, float] | None:
    """The pairs whose prices add up to more than a multiple of their cost: keys, prices ÷ cost, and this multiple.

    The multiple is `least`, or a larger one such that at most `most` pairs are above it. None if the clock passes.
    Cost O(Σ_t |V_t|·|positive subscribers of t|) steps of 4 ns, less where topics are popular. Memory 16 bytes for each
    subscription, 32 for each of `most` pairs, and for each thread 12 a node and 32 for each pair in a 64th of them.
    """
    n, interest = instance.num_nodes, interest_of(instance)
    position, positive = positions_of(interest), np.flatnonzero(trees.to_core > 0).astype(np.int32)
    # Upper bounds of the prices in small integers, such that a node's sums fit; the largest ones stand for any others.
    largest = min(_MOST_PARTS, _LAST_ZERO // int(np.diff(interest.node_offsets).max()))
    parts = np.minimum(-(-trees.to_core // (UNIT // _PARTS_OF_UNIT)), largest).astype(np.int32)
    ends, enough = np.searchsorted(positive, interest.topic_offsets), min(largest - 1, int(least * _PARTS_OF_UNIT))
    popular = _popular(interest, np.diff(ends), parts[position], enough // 2)
    priced = _Priced(ends, positive, interest.topic_nodes[positive], parts, trees.to_core[position], *popular)
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
            new = found[1] > least  # a thread may have begun with a smaller one, and `least` must not fall
            keys, ratios = np.append(keys, found[0][new]), np.append(ratios, found[1][new])
            if len(keys) > most:  # some twice: how many hangs on the multiples that threads began with
                keys, index = np.unique(keys, return_index=True)
                ratios = ratios[index]
            if (rank := len(keys) - most - 1) >= 0:
                least = float(np.partition(ratios, rank)[rank])
                keys, ratios = keys[ratios > least], ratios[ratios > least]
    keys, index = np.unique(keys, return_index=True)
    return keys, ratios[index], least


def _popular(interest: Interest, positive: Offsets, own: Ids, half: int) -> tuple[Flags, Ids]:
    """The popular topics, as many as leave fewest entries to look at, and the parts of each node at these."""
    sizes = np.diff(interest.topic_offsets)
    entries, rank = positive * (sizes - positive / 2), np.argsort(np.argsort(-sizes, kind="stable"))
    found = []
    for count in _POPULAR:
        popular = rank < count
        chosen = popular[interest.node_topics]
        sums = np.concatenate([[0], np.cumsum(np.where(chosen, own, 0))])[interest.node_offsets]
        suffix = np.diff(sums).astype(np.int32)
        many = np.repeat(suffix > half, np.diff(interest.node_offsets))
        steps = entries[~popular].sum() + sizes[interest.node_topics[many & chosen]].sum()
        found.append((steps, popular, suffix))
    return min(found, key=lambda each: float(each[0]))[1:]


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
    """The pairs of which u from `first` to `last` is the smaller node, or goes through popular topics; some twice.

    The inner loops are the pricing's: an entry of `total` is 8 bytes, and is looked at once for each common topic.
    """
    n, topics, nodes, parts = len(interest.node_offsets) - 1, interest.node_topics, interest.topic_nodes, priced.parts
    total, listed, zero = np.zeros((n, 2), np.int32), np.empty(n, np.int32), np.int32(0)
    total[:, 1] = priced.suffix
    keys, ratios, size = np.empty(1024, np.int64), np.empty(1024), 0
    # No edge costs less than 1, so a smaller sum is no larger multiple of its cost.
    enough = np.int32(min(largest - 1, int(least * _PARTS_OF_UNIT)))
    for u in range(first, last):
        begin, end = interest.node_offsets[u], interest.node_offsets[u + 1]
        for rare in (np.int32(1), np.int32(0)):
            if not rare and priced.suffix[u] <= enough // 2:
                break
            if zero > _LAST_ZERO:
                total[:, 0] = 0
                zero = np.int32(0)
            count, limit = 0, np.int32(zero + enough - rare * priced.suffix[u])
            for i in range(begin, end):
                t, p, own = topics[i], position[i], parts[position[i]]
                if priced.popular[t] == rare:
                    continue
                if own > 0 or not rare:
                    for q in range(p + 1 if rare else interest.topic_offsets[t], interest.topic_offsets[t + 1]):
                        v = np.uint32(nodes[q])
                        before = max(total[v, 0], zero)
                        total[v, 0] = before + (parts[q] if parts[q] > own else own)
                        if before <= max(limit - rare * total[v, 1], zero) < total[v, 0]:
                            listed[count] = v
                            count += 1
                    continue
                positive = priced.positive[priced.ends[t] : priced.ends[t + 1]]
                for k in range(priced.ends[t] + np.searchsorted(positive, p), priced.ends[t + 1]):
                    v = np.uint32(priced.nodes[k])
                    before = max(total[v, 0], zero)
                    total[v, 0] = before + parts[priced.positive[k]]
                    if before <= max(limit - rare * total[v, 1], zero) < total[v, 0]:
                        listed[count] = v
                        count += 1
            zero += np.int32(largest * (end - begin))
            if size + count > len(keys):
                keys = np.concatenate((keys, np.empty(size + count, np.int64)))
                ratios = np.concatenate((ratios, np.empty(size + count)))
            for w in listed[:count]:
                low, high = (u, int(w)) if u < w else (int(w), u)
                in_all = _price_in_all(low, high, interest, position, priced.own, trees)
                ratio = in_all / (np.float64(UNIT) * max(1, cost_of(low, high, costs)))  # nothing for u itself
                if ratio > least:
                    keys[size], ratios[size] = low * n + high, ratio
                    size += 1
    return keys[:size].copy(), ratios[:size].copy()


@in_place_kernel
def _price_in_all(u: int, v: int, interest: Interest, position: Ids, own: Units, trees: PriceTrees) -> int:
    """The sum of a pair's prices over its common topics. Cost O(|T_u| + |T_v|), and O(log |V_t|) where b is equal."""
    topics, price = interest.node_topics, np.int64(0)
    i, end_i = interest.node_offsets[u], interest.node_offsets[u + 1]
    j, end_j = interest.node_offsets[v], interest.node_offsets[v + 1]
    while i < end_i and j < end_j:
        one, other = topics[i], topics[j]
        if one == other:
            equal = own[i] == own[j] > 0
            price += price_of(int(position[i]), int(position[j]), trees) if equal else max(own[i], own[j])
        i += one <= other
        j += other <= one
    return int(price)
