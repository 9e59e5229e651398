"""Greedy Merge by costs: always the edge of largest contribution ÷ cost."""

from __future__ import annotations

import heapq

import numpy as np
import numpy.typing as npt

from ...instances.contract.compiled import kernel
from ...instances.topics.instance import TopicInstance
from .heuristic import heuristic
from .kernels.interest import EdgeCosts, TopicComponents, contribution, cost_of, edge_costs, join
from .kernels.partial_overlay import (
    ANY_DEGREE,
    Contributions,
    Edges,
    Eligible,
    OverlayBuild,
    PartialOverlay,
    contributing,
    eligible_nodes,
)
from .kernels.ties import TIES, TieOrder, candidate_of, rank_of, tie_order

Ratios = npt.NDArray[np.float64]
_REFRESHES, _KEPT = 40, 32


@heuristic(TIES)
def weighted_greedy_merge(instance: TopicInstance, *, ties: str = "lowest", seed: int = 0) -> OverlayBuild:
    """A topic-connected overlay that costs at most 1 + ln m times the least, for m = max |T_u ∩ T_v|.

    Starting without edges, add an edge of maximum contribution ÷ cost until no edge contributes; the contribution of
    (u, v) is the number of topics for which it joins two components.

    Without costs, every edge costs 1: the answer is one of Greedy Merge's under some rule for ties. Parameters and
    errors are those of :func:`.greedy_merge`.

    Notes
    -----
    Components merged, Σ_t (|V_t| − components of G_t), are a submodular function of the edges, and the rule is the
    greedy algorithm for its cheapest cover; the ratio is that of Wolsey 1982, H(m). Chen, Tock, Jacobsen and Vitenberg
    2015 (MinAvg-WTCO) give several approximation algorithms, of which only the abstract was read; this one is GM (P1
    §6.1) with costs.

    Every node keeps its 32 best edges to later nodes. Contributions only fall, so a best edge that still contributes
    as much is the best of all; otherwise the kept edges are compared again, and the node's row is counted again if
    none of them is as good as the worst one was. Time O(Σ_t |V_t|²) at first and O(Σ_{t∈T_u} |V_t|) for each row
    counted again, about one an edge; memory O(Σ|T_v| + |V|).

    Examples
    --------
    >>> import overlaybench as ob
    >>> instance = TopicInstance.from_subscriptions({"n0": ["a", "b"], "n1": ["a", "b"], "n2": ["b"]})
    >>> priced = instance.with_costs(ob.LinkCosts.plane([(0, 0), (9, 0), (9, 2)]))
    >>> weighted_greedy_merge(priced).edges.tolist()
    [[0, 1], [1, 2]]
    """
    partial = PartialOverlay(instance, tie_order(ties, seed))
    eligible = eligible_nodes(partial.degrees, ANY_DEGREE, partial.components)
    edges, counted = _add_by_ratio(
        partial.excess_components, eligible, partial.contributions, edge_costs(instance), partial.order
    )
    partial.evaluations = int(counted)
    partial.record(edges, merged=partial.excess_components)
    return OverlayBuild(partial.overlay(), partial.counters())


@kernel
def _add_by_ratio(
    most: int, eligible: Eligible, contributions: Contributions, costs: EdgeCosts, order: TieOrder
) -> tuple[Edges, int]:
    """Add at most `most` edges; returns them and the number of rows counted."""
    n, components = len(eligible.degrees), contributions.components
    edges, num_edges, counted = np.empty(most, np.int64), 0, n
    ratios, ranks = np.zeros((n, _KEPT)), np.zeros((n, _KEPT), np.int64)
    heap = [(0.0, 0, 0) for _ in range(0)]
    for u in range(n):
        _keep_best_of_row(u, ratios[u], ranks[u], eligible, contributions, costs, order)
        if ratios[u, 0] > 0:
            heap.append((-ratios[u, 0], ranks[u, 0], u))
    heapq.heapify(heap)
    refresh = most // _REFRESHES + 1
    while len(heap) > 0:
        ratio, rank, u = heap[0]
        edge = candidate_of(rank, order)
        v = edge - u * n
        gain = contribution(u, v, components)
        if gain > 0 and gain / cost_of(u, v, costs) == -ratio:
            join(u, v, components)
            edges[num_edges] = edge
            num_edges += 1
            if num_edges % refresh == 0:
                eligible = eligible_nodes(eligible.degrees, eligible.below, components)
        ratio, rank = _best_of_kept(u, ratios[u], ranks[u], components, costs, order)
        # Pairs that are not kept were no better than the last one kept when the row was counted.
        if ratio < ratios[u, -1] or (ratio > 0 and ratio == ratios[u, -1] and rank > ranks[u, -1]):
            counted += 1
            _keep_best_of_row(u, ratios[u], ranks[u], eligible, contributions, costs, order)
            ratio, rank = ratios[u, 0], ranks[u, 0]
        if ratio > 0:
            heapq.heapreplace(heap, (-ratio, rank, u))
        else:
            heapq.heappop(heap)
    return edges[:num_edges].copy(), counted


@kernel
def _keep_best_of_row(
    u: int,
    ratios: Ratios,
    ranks: Edges,
    eligible: Eligible,
    contributions: Contributions,
    costs: EdgeCosts,
    order: TieOrder,
) -> None:
    """The pairs of u and a later node of largest contribution ÷ cost and lowest rank, best first; ratio 0 for none."""
    n, last = len(eligible.degrees), len(ratios) - 1
    ratios[:], ranks[:] = 0.0, 0
    row, zero = contributing(u, eligible, contributions)
    for v in row:
        # Quotients of integers below 2^26 are equal as floats exactly if they are equal.
        ratio = (contributions.counts[v] - zero) / cost_of(u, v, costs)
        if ratio >= ratios[last]:
            rank = rank_of(np.int64(u) * n + v, order)
            if ratio > ratios[last] or rank < ranks[last]:
                k = last
                while k > 0 and (ratio > ratios[k - 1] or (ratio == ratios[k - 1] and rank < ranks[k - 1])):
                    ratios[k], ranks[k] = ratios[k - 1], ranks[k - 1]
                    k -= 1
                ratios[k], ranks[k] = ratio, rank


@kernel
def _best_of_kept(
    u: int, ratios: Ratios, ranks: Edges, components: TopicComponents, costs: EdgeCosts, order: TieOrder
) -> tuple[float, int]:
    """The largest present contribution ÷ cost of the pairs kept of u, 0 if none contributes, and its lowest rank."""
    n, best, best_rank = len(components.node_offsets) - 1, 0.0, 0
    for k in range(len(ratios)):
        if ratios[k] < best or ratios[k] == 0:
            break
        v = candidate_of(ranks[k], order) - u * n
        ratio = contribution(u, v, components) / cost_of(u, v, costs)
        if ratio > best or (ratio == best and ratio > 0 and ranks[k] < best_rank):
            best, best_rank = ratio, ranks[k]
    return best, best_rank


WEIGHTED_GM = weighted_greedy_merge.method(
    "weighted-gm",
    ("weighted-tco",),
    summary="Greedy Merge by costs: the edge of largest contribution ÷ cost",
    source="P1 §6.1 with the costs of Chen et al. 2015",
    guarantee="costs at most 1 + ln(max|T_u ∩ T_v|) times the least (Wolsey 1982)",
    cost="time O(Σ_t |V_t|²), and a row O(Σ_{t∈T_u} |V_t|) about once an edge; memory O(Σ|T_v| + |V|)",
    pace=40,
    starts=("weighted-tco",),
    promising=("weighted-tco",),
    colour="#0072B2",
    marker="^",
)
