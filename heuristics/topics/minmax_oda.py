"""MinMax-ODA (P2 §1.1): the edge of maximum contribution among those that raise the maximum degree least."""

from __future__ import annotations

from functools import partial

from ...instances.contract.method import Method
from ...instances.contract.overlay import Overlay
from ...instances.topics.instance import TopicInstance
from .heuristic import TOPIC_CONNECTED, solve_by, warm_up_by
from .kernels.degree_rule import degree_first, grow_by_degree
from .kernels.partial_overlay import OverlayBuild
from .kernels.ties import TIES, tie_order
from .tie_search.extremes import with_extreme_ties
from .tie_search.steps import EdgeSteps, heaviest, least_raising


def minmax_oda(instance: TopicInstance, *, ties: str = "lowest", seed: int = 0) -> Overlay:
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
    return _build(instance, ties=ties, seed=seed).overlay


def _build(instance: TopicInstance, *, ties: str, seed: int) -> OverlayBuild:
    return grow_by_degree(instance, tie_order(ties, seed), degree_first, zero_contribution=True)


MINMAX_ODA = with_extreme_ties(
    Method(
        name="minmax-oda",
        problems=TOPIC_CONNECTED,
        summary="MinMax-ODA: the heaviest edge, contributing or not, among those that raise the maximum degree least",
        source="P2 §1.1",
        guarantee="at most O(log |V||T|) times the smallest maximum degree (P2 §1.1)",
        cost="time O(D C Σ_t |V_t|² + D |V|²) for maximum degree D and maximum contribution C; memory O(Σ|T_v|)",
        solve=solve_by(_build),
        warm_up=warm_up_by(_build),
        options=(TIES,),
        anytime=False,
        pace=31,
        starts=TOPIC_CONNECTED,
        colour="#E69F00",
        marker="s",
    ),
    partial(EdgeSteps, choose=lambda contributions, degrees: heaviest(least_raising(contributions, degrees))),
)
