"""Greedy growth that minds the maximum degree: the common part of MinMax-ODA, GM-M and Low-ODA."""

from __future__ import annotations

import math
from collections.abc import Callable

from ....instances.topics.instance import TopicInstance
from .growth import Growth, OverlayBuild
from .idle_edges import add_idle_edges
from .ties import TieOrder


def grow_by_degree(
    instance: TopicInstance, order: TieOrder, forgone: Callable[[int], float], *, idle_edges: bool = False
) -> OverlayBuild:
    """The overlay that :func:`extend_by_degree` makes of the one without edges."""
    growth = Growth(instance, order)
    idle = extend_by_degree(growth, forgone, idle_edges=idle_edges)
    counters = growth.counters() | {"phases": int(growth.degrees.max())}
    if idle_edges:
        counters["idle_edges"] = idle
    return OverlayBuild(growth.overlay(), counters)


def extend_by_degree(growth: Growth, forgone: Callable[[int], float], *, idle_edges: bool = False) -> int:
    """Add one of two edges until every topic is connected (P2 §3; P3, Algorithms 1 and 2).

    The first, e1, contributes most among the edges that raise the maximum degree least; the second, e2, most of
    all edges. e1 is added unless e2 contributes more than ``forgone(contribution of e1)``.

    While some edge leaves the maximum degree as it is, e1 is among the pairs of nodes below the maximum degree, the
    open ones. That e2 is taken from the others means that it raises the maximum degree, and opens them all. Both are
    looked for by bounds on what each node's pairs contribute, `of_open` on the open ones only.

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
    Memory O(Σ|T_v|). Time O(D C Σ_t |V_t|²), D the maximum degree reached and C ≤ max|T_v| the largest contribution,
    with far less in practice: a node's pairs are counted only where their bound is high enough.
    """
    max_degree, idle = growth.max_degree_at_first, 0
    of_all = growth.bounds()
    of_open = of_all.copy()
    while growth.to_merge:
        of_open[growth.degrees >= max_degree] = 0
        contribution = int(of_open.max())
        if contribution == 0 and idle_edges:
            idle += add_idle_edges(growth, max_degree)
        if growth.link_best(of_all, above=forgone(contribution)):
            max_degree += 1
            of_open[:] = of_all
        else:
            growth.link_level(of_open, contribution, below=max_degree)
    return idle


def anything_for_the_degree(contribution: int) -> float:
    """The rule of MinMax-ODA and GM-M for `forgone`: no contribution of e2 outweighs one of e1."""
    return math.inf if contribution else 0
