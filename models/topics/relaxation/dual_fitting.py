"""Dual fitting: a lower bound on the number of edges from a run of Greedy Merge, without an LP."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

import numpy as np
import numpy.typing as npt

from ....heuristics.graph import root_of
from ....heuristics.topics.kernels.interest import (
    Interest,
    TopicComponents,
    contribution,
    interest_of,
    join,
    singletons,
)
from ....instances.contract.arrays import Ids, Offsets
from ....instances.runtime.compiled import kernel
from ....instances.runtime.run import Clock
from ....instances.runtime.stoppable import finished_within
from ....instances.topics.instance import TopicInstance
from ...engine.proof import Multipliers
from ...engine.relaxation import UNIT
from .topic_rows import tree_multipliers

_WORK = 200_000_000
_LEAST_STEPS, _STEPS_A_SUBSCRIPTION = 10**8, 100


def dual_fitting_bound(instance: TopicInstance, *, work: int = _WORK) -> Fraction:
    """A proven lower bound on the edges of every topic-connected overlay.

    At any moment of a greedy run let P_t be the components of topic t, and let no edge contribute more than c. The dual
    value 1/c on the partition inequality of each P_t covers an edge by its contribution ÷ c ≤ 1, so it is feasible, and
    Σ_t (|P_t| − 1) ÷ c is a bound. The result is the best over the run, in which c falls. The argument is that of the
    greedy ratio for submodular covers (P1, Chockler et al. 2007, Lemma 6.5).

    Two bounds need no pairs of nodes. No edge contributes more than m = max|T_v|. And with the dual value 1 for all
    topics, let P_t be the components of V_t if subscribers with a rarer common topic are adjacent: an edge joins two of
    them for its rarest topic alone. That is no less than |V| minus the components of the subscription graph, or than
    |V_t| − 1. If Σ_t |V_t|² · max|T_v| exceeds `work`, only these two are used. Time O(Σ_t |V_t|² · max|T_v|) with
    pairs, O(min(Σ|T_v|², 10⁸ + 100 Σ|T_v|)) without; memory O(Σ|T_v|).
    """
    merges, label = instance.num_subscriptions - instance.num_topics, np.empty(instance.num_subscriptions, np.int32)
    most = int(np.diff(instance.node_offsets).max())
    best = max(Fraction(_exclusive_parts(instance, label)), Fraction(merges, most))
    if _pair_steps(instance) <= work and instance.num_nodes > 1:
        left = _merges_left(singletons(instance), most, merges, 1)
        best = max(best, *(Fraction(int(left[c]), c) for c in range(1, most + 1)))
    return best


def quick_bounds(instance: TopicInstance) -> tuple[int, int]:
    """Bounds on the edges and on the maximum degree without pairs of nodes: :func:`dual_fitting_bound` without work."""
    edges = dual_fitting_bound(instance, work=0)
    return math.ceil(edges), math.ceil(mean_degree_bound(instance, edges))


def fitted_within(clock: Clock, instance: TopicInstance, *, work: int = _WORK) -> Fraction:
    """As :func:`dual_fitting_bound`, but without pairs if they take longer than the clock allows."""
    by_pairs = finished_within(clock, partial(dual_fitting_bound, instance, work=work), steps=_pair_steps(instance))
    return dual_fitting_bound(instance, work=0) if by_pairs is None else by_pairs


def fitted_multipliers(instance: TopicInstance, bound: Fraction) -> Multipliers:
    """The proof of a result of :func:`dual_fitting_bound`. Time and memory as for the bound."""
    sizes = np.diff(instance.topic_offsets)
    label, duals = np.arange(instance.num_subscriptions, dtype=np.int32), np.zeros(instance.num_topics)
    merges, most = instance.num_subscriptions - instance.num_topics, int(np.diff(instance.node_offsets).max())
    if bound == _exclusive_parts(instance, label):
        duals[:] = 1.0
    else:
        largest = most
        if bound != Fraction(merges, most):
            left = _merges_left(singletons(instance), most, merges, 1)
            largest = next(c for c in range(1, most + 1) if Fraction(int(left[c]), c) == bound)
        components = singletons(instance)
        _merges_left(components, most, merges, largest)
        label, duals[:] = components.label, 1.0 / largest
    topic = np.repeat(np.arange(instance.num_topics), sizes)
    order = np.lexsort((label, topic))
    units = np.floor(duals * UNIT).astype(np.int64)[topic]
    return tree_multipliers(instance, instance.topic_nodes[order], units * (np.diff(label[order], prepend=-1) != 0))


def mean_degree_bound(instance: TopicInstance, edges: Fraction) -> Fraction:
    """A lower bound on the maximum degree from one on the edges.

    The degrees add up to twice the edges; and three subscribers of a topic cannot all have degree 1.
    """
    path = 2 if int(np.diff(instance.topic_offsets).max()) > 2 else 0
    return max(Fraction(path), Fraction(2 * math.ceil(edges), instance.num_nodes))


def _pair_steps(instance: TopicInstance) -> int:
    """Σ_t |V_t|² · max|T_v|."""
    sizes = np.diff(instance.topic_offsets).astype(np.int64)
    return int((sizes**2).sum()) * int(np.diff(instance.node_offsets).max())


@kernel
def _merges_left(components: TopicComponents, most: int, merges: int, least: int) -> npt.NDArray[np.int64]:
    """Σ_t (|P_t| − 1) when no edge contributes more than c, for each c from `least` on."""
    n = len(components.node_offsets) - 1
    left = np.zeros(most + 1, np.int64)
    seen = np.full(n, -1, np.int64)
    for c in range(most, least - 1, -1):
        # One pass with threshold c + 1 leaves no edge that contributes more than c: contributions only fall.
        for u in range(n):
            for i in range(components.node_offsets[u], components.node_offsets[u + 1]):
                t = components.node_topics[i]
                for j in range(components.topic_offsets[t], components.topic_offsets[t + 1]):
                    v = components.topic_nodes[j]
                    stamp = np.int64(c) * n + u
                    if v > u and seen[v] != stamp:
                        seen[v] = stamp
                        if c < most and contribution(u, v, components, components.label) > c:
                            merges -= join(u, v, components)
        left[c] = merges
    return left


def _exclusive_parts(instance: TopicInstance, label: Ids) -> int:
    """:func:`_parts_in_order`, the topics of fewest subscribers first."""
    order = np.argsort(np.diff(instance.topic_offsets), kind="stable")
    steps = _LEAST_STEPS + _STEPS_A_SUBSCRIPTION * instance.num_subscriptions
    return int(_parts_in_order(interest_of(instance), order, np.argsort(order), steps, label))


@kernel
def _parts_in_order(interest: Interest, order: Offsets, rank: Offsets, steps: int, label: Ids) -> int:
    """Σ_t (|P_t| − 1): in P_t, subscribers of t are adjacent if they have a topic before t in common.

    Labels of subscriptions become these components. From the topic on at which there are more than so many `steps`,
    P_t has the components of the graph of all topics before, which are no more.
    """
    node_offsets, topics, topic_offsets, nodes = interest
    own, parent = np.empty(int(np.diff(topic_offsets).max()), np.int64), np.arange(len(node_offsets) - 1)
    last, seen, count = np.full(len(order), np.int64(-1)), np.full(max(len(own), len(parent)), np.int64(-1)), 0
    for t in order:
        first, end = topic_offsets[t], topic_offsets[t + 1]
        for v in nodes[first:end]:
            steps -= node_offsets[v + 1] - node_offsets[v]
        if steps >= 0:
            own[: end - first] = np.arange(end - first)
            for p in range(first, end):
                for s in topics[node_offsets[nodes[p]] : node_offsets[nodes[p] + 1]]:
                    if rank[s] < rank[t]:
                        if first <= last[s] < end:
                            own[root_of(own, p - first)] = root_of(own, last[s] - first)
                        last[s] = p
        for p in range(first, end):
            label[p] = root_of(own, p - first) if steps >= 0 else root_of(parent, nodes[p])
            count += seen[label[p]] != t
            seen[label[p]] = t
        count -= 1
        for v in nodes[first:end]:
            parent[root_of(parent, v)] = root_of(parent, nodes[first])
    return count
