"""Greedy growth that minds the maximum degree: the common part of MinMax-ODA, GM-M and Low-ODA."""

from __future__ import annotations

from collections.abc import Callable

from heuristics.bucket_queue import BucketQueue
from heuristics.growth import Growth
from heuristics.heuristic import Built
from heuristics.idle_edges import add_idle_edges
from heuristics.pairs import pairs_by_common_topics
from heuristics.ties import TieOrder
from instances import TopicInstance


def grow_by_degree(
    instance: TopicInstance, order: TieOrder, forgone: Callable[[int], float], *, idle_edges: bool = False
) -> Built:
    """The overlay that :func:`extend_by_degree` makes of the one without edges."""
    growth = Growth(instance, order)
    idle = extend_by_degree(growth, forgone, idle_edges=idle_edges)
    counters = growth.counters() | {"phases": int(growth.degrees.max())}
    if idle_edges:
        counters["idle_edges"] = idle
    return Built(growth.overlay(), counters)


def extend_by_degree(growth: Growth, forgone: Callable[[int], float], *, idle_edges: bool = False) -> int:
    """Add one of two edges until every topic is connected (P2 §3; P3, Algorithms 1 and 2).

    The first, e1, contributes most among the edges that raise the maximum degree least; the second, e2, most of
    all edges. e1 is added unless e2 contributes more than ``forgone(contribution of e1)``.

    While some edge leaves the maximum degree as it is, e1 is among the pairs of nodes below the maximum degree:
    those wait in `open`, and move to `blocked` when found to have an end at the maximum degree. That e2 is taken
    from the blocked pairs means that it raises the maximum degree, and opens them all again. Levels in both
    queues are upper bounds, exact when a candidate is linked.

    Parameters
    ----------
    growth : Growth
        What it begins with counts: components, degrees and maximum degree.
    forgone : callable
        Not decreasing, at least its argument, and 0 at 0: if no e1 contributes, e2 is added.
    idle_edges : bool
        Add every e1, though it contributes nothing.

    Returns
    -------
    int
        How many edges without contribution were added.

    Notes
    -----
    Time O(D (P log P + |V|)), P the number of pairs with a topic in common and D the maximum degree reached,
    besides O(|T_u| + |T_v|) for each evaluation, of which there are at most |T_u ∩ T_v| + 1 a pair. Memory
    O(Σ|T_v|) and about 24 bytes a pair.
    """
    max_degree, idle = growth.max_degree_at_first, 0
    open_, blocked = pairs_by_common_topics(growth.instance, growth.order), BucketQueue()
    if max_degree == 0:
        open_, blocked = blocked, open_
    while growth.to_merge:
        contribution = open_.top
        if contribution == 0 and idle_edges:
            idle += add_idle_edges(growth, max_degree)
        if _link_heaviest(growth, blocked, above=forgone(contribution)):
            max_degree += 1
            open_.absorb(blocked)
        else:
            full, stale, contributions = growth.link(open_.pop(), contribution, below=max_degree)
            blocked.put(full, contribution)
            open_.put_each(stale, contributions)
    return idle


def _link_heaviest(growth: Growth, blocked: BucketQueue, above: float) -> bool:
    """Add the best blocked edge if it contributes more than `above`, and say whether it did."""
    while (contribution := blocked.top) > above:
        rest, stale, contributions = growth.link_first(blocked.pop(), contribution)
        blocked.put_each(stale, contributions)
        if rest is not None:
            blocked.put(rest, contribution)
            return True
    return False
