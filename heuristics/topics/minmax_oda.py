"""MinMax-ODA (P2 §1.1): the edge of maximum contribution among those that raise the maximum degree least."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...instances.contract.arrays import Ids, Offsets, offsets_of
from ...instances.contract.compiled import kernel
from ...instances.topics.instance import TopicInstance
from .heuristic import TOPIC_CONNECTED, heuristic
from .kernels.partial_overlay import Degrees, OverlayBuild, PartialOverlay
from .kernels.ties import RULES, TIES, TieOrder, candidate_of, rank_of, tie_order
from .tie_search.steps import EdgeSteps, heaviest, least_raising


@heuristic(TIES)
def minmax_oda(instance: TopicInstance, *, ties: str = "lowest", seed: int = 0) -> OverlayBuild:
    """A topic-connected overlay with at most O(log |V||T|) times the smallest maximum degree.

    Until every topic is connected, consider the pairs of non-adjacent nodes whose edge raises the maximum degree
    least, and add the one of maximum contribution, even if that is 0.

    Notes
    -----
    Onus and Richa, as described in Onus and Richa 2015 (P2), §1.1. Parameters, result and errors are those of
    :func:`.greedy_merge`. Time and memory as for :func:`.gm_m`, and O(D |V|²) for the edges of contribution 0: within
    the O(|V|⁴|T|) of P3, Lemma 1.

    Examples
    --------
    >>> instance = TopicInstance.from_subscriptions({"n0": ["a", "b"], "n1": ["a", "b"], "n2": ["b"]})
    >>> minmax_oda(instance).edges.tolist()
    [[0, 1], [0, 2]]
    """
    return grow_by_degree(instance, tie_order(ties, seed), degree_first, zero_contribution=True)


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


_HIGHEST, _RANDOM = RULES.index("highest"), RULES.index("random")


class _Search(NamedTuple):
    """Nodes below the maximum degree, and the adjacency of the overlay before the search.

    `adjacent` marks the neighbours of the node whose row is being searched.
    """

    nodes: Ids
    degrees: Degrees
    max_degree: int
    offsets: Offsets
    neighbours: Ids
    adjacent: Offsets


def add_zero_contribution_edges(partial: PartialOverlay, max_degree: int) -> int:
    """Add, in the order of ties, edges between nodes below the maximum degree until all of these are adjacent.

    None of them may contribute. Returns the number of edges added. With F such nodes and E edges so
    far, memory O(E) and time O(E log E), for random ties expected time O(F² + E log E).
    """
    nodes = np.flatnonzero(partial.degrees < max_degree).astype(np.int32)
    if len(nodes) < 2:
        return 0
    n, (u, v) = len(partial.degrees), np.divmod(partial.edges, len(partial.degrees))
    ends = np.concatenate([u, v])
    offsets = offsets_of(ends, n)
    neighbours = np.concatenate([v, u])[np.argsort(ends, kind="stable")].astype(np.int32)
    if partial.order.rule == _HIGHEST:
        nodes = nodes[::-1].copy()
    search = _Search(nodes, partial.degrees, max_degree, offsets, neighbours, np.full(n, -1, np.int64))
    added = _add_at_random(search, partial.order) if partial.order.rule == _RANDOM else _add_in_order(search)
    partial.record(added, merged=0)
    return len(added)


@kernel
def _add_in_order(search: _Search) -> npt.NDArray[np.int64]:
    nodes, degrees, max_degree = search.nodes, search.degrees, search.max_degree
    following = np.arange(1, len(nodes) + 1)
    edges, num_edges = np.empty(np.sum(max_degree - degrees[nodes]) // 2 + 1, np.int64), 0
    for row in range(len(nodes)):
        u = nodes[row]
        _mark_adjacent(u, search)
        last, k = row, following[row]
        while k < len(nodes) and degrees[u] < max_degree:
            v = nodes[k]
            if degrees[v] < max_degree and search.adjacent[v] != u:
                edges[num_edges] = np.int64(min(u, v)) * len(degrees) + max(u, v)
                num_edges += 1
                degrees[u] += 1
                degrees[v] += 1
            if degrees[v] < max_degree:
                last = k
            else:
                following[last] = following[k]
            k = following[k]
    return edges[:num_edges].copy()


@kernel
def _add_at_random(search: _Search, order: TieOrder) -> npt.NDArray[np.int64]:
    nodes, degrees, max_degree = search.nodes, search.degrees, search.max_degree
    best = np.empty(len(nodes), np.int64)
    for row in range(len(nodes)):
        best[row] = _best_after(-1, row, search, order)
    edges, num_edges = np.empty(np.sum(max_degree - degrees[nodes]) // 2 + 1, np.int64), 0
    while True:
        row = _lowest(best)
        if row < 0:
            return edges[:num_edges].copy()
        edge = candidate_of(best[row], order)
        u = edge // len(degrees)
        v = edge - u * len(degrees)
        if degrees[u] < max_degree and degrees[v] < max_degree:
            edges[num_edges] = edge
            num_edges += 1
            degrees[u] += 1
            degrees[v] += 1
        best[row] = _best_after(best[row], row, search, order)


@kernel
def _lowest(best: npt.NDArray[np.int64]) -> int:
    """The row of the lowest rank; -1 if every row is done."""
    lowest = -1
    for row in range(len(best)):
        if best[row] >= 0 and (lowest < 0 or best[row] < best[lowest]):
            lowest = row
    return lowest


@kernel
def _best_after(last: int, row: int, search: _Search, order: TieOrder) -> int:
    """The lowest rank above `last` of an edge from the row's node to a later one; -1 if there is none.

    The edges of a row are added in ascending order of rank, so those added since lie at or below `last`.
    """
    u, best = search.nodes[row], -1
    if search.degrees[u] >= search.max_degree:
        return best
    _mark_adjacent(u, search)
    for v in search.nodes[row + 1 :]:
        if search.degrees[v] < search.max_degree and search.adjacent[v] != u:
            rank = rank_of(np.int64(u) * len(search.degrees) + v, order)
            if rank > last and (best < 0 or rank < best):
                best = rank
    return best


@kernel
def _mark_adjacent(u: int, search: _Search) -> None:
    for v in search.neighbours[search.offsets[u] : search.offsets[u + 1]]:
        search.adjacent[v] = u


MINMAX_ODA = minmax_oda.method(
    "minmax-oda",
    TOPIC_CONNECTED,
    steps=partial(EdgeSteps, choose=lambda contributions, degrees: heaviest(least_raising(contributions, degrees))),
    summary="MinMax-ODA: the heaviest edge, contributing or not, among those that raise the maximum degree least",
    source="P2 §1.1",
    guarantee="at most O(log |V||T|) times the smallest maximum degree (P2 §1.1)",
    cost="time O(D C Σ_t |V_t|² + D |V|²) for maximum degree D and maximum contribution C; memory O(Σ|T_v|)",
    pace=31,
    starts=TOPIC_CONNECTED,
    colour="#E69F00",
    marker="s",
)
