"""Greedy Merge by costs: always the edge of largest contribution ÷ cost."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....instances.runtime.compiled import kernel
from ....instances.topics.instance import TopicInstance
from ..heuristic import heuristic
from ..kernels.best_first import best_first
from ..kernels.interest import EdgeCosts, TopicComponents, contribution, cost_of, edge_costs, join
from ..kernels.partial_overlay import (
    ANY_DEGREE,
    Contributions,
    Edges,
    Eligible,
    OverlayBuild,
    PartialOverlay,
    contributing,
    eligible_nodes,
    find_outside,
)
from ..tie_breaking.ties import TIES, TieOrder, candidate_of, rank_of, tie_order

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
    partial, n = PartialOverlay(instance, tie_order(ties, seed)), instance.num_nodes
    most = partial.excess_components
    rows = _Rows(
        eligible_nodes(partial.degrees, ANY_DEGREE, partial.components),
        partial.contributions,
        edge_costs(instance),
        np.full((n, _KEPT), np.inf),
        np.zeros((n, _KEPT), np.int64),
        np.array([0, 0, most // _REFRESHES + 1]),
    )
    edges = _add_by_ratio(n, n, most, rows, partial.order)
    partial.evaluations = int(rows.counts[0])
    partial.record(edges, merged=most)
    return OverlayBuild(partial.overlay(), partial.counters())


class _Rows(NamedTuple):
    """The 32 best edges of each node to later nodes, when its row was last counted, best first; ratio 0 for none."""

    eligible: Eligible
    contributions: Contributions
    costs: EdgeCosts
    ratios: Ratios  # shape (|V|, 32)
    ranks: Edges
    counts: npt.NDArray[np.int64]  # the rows counted, the edges added, and after how many edges to update `eligible`


@kernel
def _add(u: int, v: int, rows: _Rows) -> None:
    join(u, v, rows.contributions.components)
    rows.counts[1] += 1
    if rows.counts[1] % rows.counts[2] == 0:
        find_outside(rows.eligible, rows.contributions.components)


@kernel
def _best_of_row(u: int, rows: _Rows, order: TieOrder) -> tuple[float, int]:
    """The largest contribution ÷ cost of a pair of u and a later node, and its lowest rank; 0 if none contributes."""
    ratio, rank = _best_of_kept(u, rows.ratios[u], rows.ranks[u], rows.contributions.components, rows.costs, order)
    # Pairs that are not kept were no better than the last one kept when the row was counted.
    worst = rows.ratios[u, -1]
    if ratio < worst or (ratio > 0 and ratio == worst and rank > rows.ranks[u, -1]):
        rows.counts[0] += 1
        _keep_best_of_row(u, rows, order)
        ratio, rank = rows.ratios[u, 0], rows.ranks[u, 0]
    return ratio, rank


@kernel
def _keep_best_of_row(u: int, rows: _Rows, order: TieOrder) -> None:
    ratios, ranks, costs, contributions = rows.ratios[u], rows.ranks[u], rows.costs, rows.contributions
    n, last = len(rows.eligible.degrees), len(ratios) - 1
    ratios[:], ranks[:] = 0.0, 0
    row, zero = contributing(u, rows.eligible, contributions)
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
        if ratios[k] < best or ratios[k] == 0 or ratios[k] == np.inf:
            break
        v = candidate_of(ranks[k], order) - u * n
        ratio = contribution(u, v, components, components.label) / cost_of(u, v, costs)
        if ratio > best or (ratio == best and ratio > 0 and ranks[k] < best_rank):
            best, best_rank = ratio, ranks[k]
    return best, best_rank


_add_by_ratio = best_first(_best_of_row, _add)

WEIGHTED_GM = weighted_greedy_merge.method(
    "weighted-gm",
    ("weighted-tco",),
    summary="Greedy Merge by costs: the edge of largest contribution ÷ cost",
    source="P1 §6.1 with the costs of Chen et al. 2015",
    guarantee="costs at most 1 + ln(max|T_u ∩ T_v|) times the least (Wolsey 1982)",
    cost="time O(Σ_t |V_t|²), and a row O(Σ_{t∈T_u} |V_t|) about once an edge; memory O(Σ|T_v| + |V|)",
    pace=40,
)
