"""Low-ODA (P2 §3): a compromise between Greedy Merge and MinMax-ODA."""

from __future__ import annotations

from fractions import Fraction

from ....instances.contract.option import Option
from ....instances.topics.instance import TopicInstance
from ..greedy_merge import grown
from ..heuristic import TOPIC_CONNECTED, heuristic
from ..kernels.partial_overlay import OverlayBuild
from ..tie_breaking.greedy_rule import EdgeRule
from ..tie_breaking.ties import TIES, tie_order

_K = 3.0  # of P2's Figures 1 to 3
K = Option("k", _K, "how many times more an edge that raises the maximum degree must contribute", least=1, most=1e300)


@heuristic(K, TIES)
def low_oda(instance: TopicInstance, *, k: float = _K, ties: str = "lowest", seed: int = 0) -> OverlayBuild:
    """A topic-connected overlay with O(k log Σ|T_v|) times the fewest edges and O(|V|/k · log Σ|T_v|) times the
    smallest maximum degree.

    Until every topic is connected, let e1 be MinMax-ODA's choice and e2 Greedy Merge's: add e1 if it contributes
    at least 1/k of what e2 contributes, else e2. Every edge added contributes, because e2 does.

    Parameters and errors are those of :func:`.greedy_merge`; `k` is at least 1 and finite. The comparison is exact: k
    is taken as the fraction that the float is.

    Notes
    -----
    Onus and Richa 2015 (P2), §3, Algorithm 1; the ratios are Theorems 1 and 2. Time and memory as for
    :func:`.add_edges`.

    Examples
    --------
    >>> instance = TopicInstance.from_subscriptions({"n0": ["a", "b"], "n1": ["a", "b"], "n2": ["b"]})
    >>> low_oda(instance).edges.tolist()
    [[0, 1], [0, 2]]
    """
    return grown(instance, tie_order(ties, seed), _rule(k))


def _rule(k: float) -> EdgeRule:
    return EdgeRule(factor=Fraction(k))


LOW_ODA = low_oda.method(
    "low-oda",
    TOPIC_CONNECTED,
    rule=_rule,
    summary="Low-ODA: MinMax-ODA's edge unless Greedy Merge's contributes more than k times as much",
    source="P2 §3",
    guarantee="O(k log Σ|T_v|) times the fewest edges, O(|V|/k · log Σ|T_v|) times the smallest maximum degree (P2 "
    "Theorems 1, 2)",
    cost="time O(D C Σ_t |V_t|²) for maximum degree D and maximum contribution C; memory O(Σ|T_v|)",
    pace=33,
)
