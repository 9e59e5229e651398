"""GM-M (P3 §III): MinMax-ODA without the edges of contribution 0."""

from __future__ import annotations

from ....instances.topics.instance import TopicInstance
from ..greedy_merge import add_edges, grown
from ..heuristic import TOPIC_CONNECTED, heuristic
from ..kernels.partial_overlay import OverlayBuild, PartialOverlay
from ..tie_breaking.greedy_rule import EdgeRule
from ..tie_breaking.ties import TIES, tie_order


@heuristic(TIES)
def gm_m(instance: TopicInstance, *, ties: str = "lowest", seed: int = 0) -> OverlayBuild:
    """A topic-connected overlay built as by :func:`.minmax_oda`, but only of edges that contribute.

    An edge that contributes is added even if it raises the maximum degree and an edge of contribution 0 would not.

    Notes
    -----
    Chen, Vitenberg and Jacobsen 2011 (P3), Algorithms 1 and 2, which leave ties open; P3's Algorithm 5 breaks them by
    rising degree, which decides nothing here: all edges that can be added in a phase have the same larger degree.
    Other parameters, result and errors are those of :func:`.greedy_merge`. Time and memory as for :func:`.add_edges`.
    Claim P3.L5 refutes Lemma 5, D = O(max|T_v|), for ties that are broken badly: D = log₂|V| with max|T_v| = 2.

    Examples
    --------
    >>> instance = TopicInstance.from_subscriptions({"n0": ["a", "b"], "n1": ["a", "b"], "n2": ["b"]})
    >>> gm_m(instance).edges.tolist()
    [[0, 1], [0, 2]]
    """
    return grown(instance, tie_order(ties, seed), EdgeRule())


def extend_gm_m(partial: PartialOverlay) -> None:
    """Add GM-M's edges until every topic is connected (P3, Algorithm 2). Cost as for :func:`gm_m`."""
    add_edges(partial, EdgeRule())


GM_M = gm_m.method(
    "gm-m",
    TOPIC_CONNECTED,
    rule=EdgeRule,
    summary="GM-M: MinMax-ODA without edges of contribution 0",
    source="P3 §III",
    guarantee="at most O(log |V||T|) times the smallest maximum degree (P3 Lemma 2)",
    cost="time O(D C Σ_t |V_t|²) for maximum degree D and maximum contribution C, memory O(Σ|T_v|)",
    pace=32,
)
