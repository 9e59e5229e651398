"""Greedy algorithms that limit the maximum degree: the common part of MinMax-ODA, GM-M and Low-ODA."""

from __future__ import annotations

import math
from collections.abc import Callable

from ....instances.topics.instance import TopicInstance
from .partial_overlay import OverlayBuild, PartialOverlay
from .ties import TieOrder
from .zero_contribution_edges import add_zero_contribution_edges


def grow_by_degree(
    instance: TopicInstance, order: TieOrder, threshold: Callable[[int], float], *, zero_contribution: bool = False
) -> OverlayBuild:
    """The overlay that :func:`extend_by_degree` builds from the one without edges."""
    partial = PartialOverlay(instance, order)
    added = extend_by_degree(partial, threshold, zero_contribution=zero_contribution)
    counters = partial.counters() | {"phases": int(partial.degrees.max())}
    if zero_contribution:
        counters["idle_edges"] = added
    return OverlayBuild(partial.overlay(), counters)


def extend_by_degree(
    partial: PartialOverlay, threshold: Callable[[int], float], *, zero_contribution: bool = False
) -> int:
    """Add one of two edges until every topic is connected (P2 §3; P3, Algorithms 1 and 2).

    The first, e1, contributes most among the edges that raise the maximum degree least; the second, e2, most of
    all edges. e1 is added unless e2 contributes more than ``threshold(contribution of e1)``.

    While some edge leaves the maximum degree unchanged, e1 joins two nodes below the maximum degree, the eligible
    ones. An e2 with an end that is not eligible raises the maximum degree, which makes all nodes eligible. Both are
    found by upper bounds on the contributions of each node's pairs.

    Parameters
    ----------
    partial : PartialOverlay
        Its components, degrees and maximum degree count from the start.
    threshold : callable
        Not decreasing, at least its argument, and 0 at 0: if no e1 contributes, e2 is added.
    zero_contribution : bool
        Add every e1, even if it contributes 0.

    Returns
    -------
    int
        The number of edges of contribution 0.

    Notes
    -----
    Memory O(Σ|T_v|). Time O(D C Σ_t |V_t|²), D the maximum degree reached and C ≤ max|T_v| the maximum contribution;
    in practice far less, because a node's pairs are counted only where their bound is high enough.
    """
    max_degree, added = partial.initial_max_degree, 0
    of_all = partial.bounds()
    of_eligible = of_all.copy()
    while partial.excess_components:
        of_eligible[partial.degrees >= max_degree] = 0
        contribution = int(of_eligible.max())
        if contribution == 0 and zero_contribution:
            added += add_zero_contribution_edges(partial, max_degree)
        if partial.add_best(of_all, above=threshold(contribution)):
            max_degree += 1
            of_eligible[:] = of_all
        else:
            partial.add_level(of_eligible, contribution, below=max_degree)
    return added


def degree_first(contribution: int) -> float:
    """The `threshold` of MinMax-ODA and GM-M: e1 is always preferred if it contributes."""
    return math.inf if contribution else 0
