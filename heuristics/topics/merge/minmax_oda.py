"""MinMax-ODA (P2 §1.1): the edge of maximum contribution among those that raise the maximum degree least."""

from __future__ import annotations

from functools import partial

from ....instances.topics.instance import TopicInstance
from ..greedy_merge import grown
from ..heuristic import TOPIC_CONNECTED, heuristic
from ..kernels.partial_overlay import OverlayBuild
from ..tie_breaking.greedy_rule import EdgeRule
from ..tie_breaking.ties import TIES, tie_order


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
    built = grown(instance, tie_order(ties, seed), EdgeRule(adds_idle=True))
    return built._replace(counters={"idle_edges": 0} | dict(built.counters))


MINMAX_ODA = minmax_oda.method(
    "minmax-oda",
    TOPIC_CONNECTED,
    rule=partial(EdgeRule, adds_idle=True),
    summary="MinMax-ODA: the heaviest edge, contributing or not, among those that raise the maximum degree least",
    source="P2 §1.1",
    guarantee="at most O(log |V||T|) times the smallest maximum degree (P2 §1.1)",
    cost="time O(D C Σ_t |V_t|² + D |V|²) for maximum degree D and maximum contribution C; memory O(Σ|T_v|)",
    pace=31,
)
