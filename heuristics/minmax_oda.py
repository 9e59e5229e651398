"""MinMax-ODA (P2 §1.1) and GM-M (P3 §III): the heaviest edge among those that raise the maximum degree least."""

from __future__ import annotations

import math

from heuristics.degree_rule import extend_by_degree, grow_by_degree
from heuristics.growth import Growth
from heuristics.heuristic import TOPIC_CONNECTED, Built, heuristic
from heuristics.ties import TIES, tie_order
from instances import Overlay, TopicInstance


def minmax_oda(instance: TopicInstance, *, ties: str = "lowest", seed: int = 0) -> Overlay:
    """A topic-connected overlay with at most O(log |V||T|) times the smallest maximum degree.

    Until every topic is connected, look at all pairs of nodes not yet adjacent whose link raises the maximum
    degree least, and add the one of maximum contribution, be it 0.

    Parameters
    ----------
    instance : TopicInstance
    ties : {"lowest", "highest", "random"}
        Which of several such edges is added.
    seed : int
        For random ties.

    Returns
    -------
    Overlay

    Raises
    ------
    BadInput
        If there is no such rule for ties.

    Notes
    -----
    Onus, Richa, as told in P2 §1.1. Time and memory as for :func:`gm_m`, and O(D |V|²) for the edges without
    contribution: within the O(|V|⁴|T|) of P3, Lemma 1.

    Examples
    --------
    >>> instance = TopicInstance.from_subscriptions({"n0": ["a", "b"], "n1": ["a", "b"], "n2": ["b"]})
    >>> minmax_oda(instance).edges.tolist()
    [[0, 1], [0, 2]]
    """
    return _build_minmax_oda(instance, ties=ties, seed=seed).overlay


def gm_m(instance: TopicInstance, *, ties: str = "lowest", seed: int = 0) -> Overlay:
    """MinMax-ODA without edges of contribution 0: an edge that contributes is added even if one that does not
    would spare the maximum degree.

    Parameters
    ----------
    instance : TopicInstance
    ties : {"lowest", "highest", "random"}
        Which of several edges is added. P3's Algorithm 5 walks its table by rising degree instead; Algorithms 1
        and 2, which it implements, leave the choice open.
    seed : int
        For random ties.

    Returns
    -------
    Overlay

    Raises
    ------
    BadInput
        If there is no such rule for ties.

    Notes
    -----
    Chen, Vitenberg, Jacobsen, 2010 (P3), Algorithms 1 and 2. Time and memory as for
    :func:`heuristics.degree_rule.extend_by_degree`, with D = O(max|T_v|) of P3, Lemma 5.

    Examples
    --------
    >>> instance = TopicInstance.from_subscriptions({"n0": ["a", "b"], "n1": ["a", "b"], "n2": ["b"]})
    >>> gm_m(instance).edges.tolist()
    [[0, 1], [0, 2]]
    """
    return _build_gm_m(instance, ties=ties, seed=seed).overlay


def extend_gm_m(growth: Growth) -> None:
    """Add GM-M's edges to an overlay until every topic is connected (P3, Algorithm 2). Cost as for :func:`gm_m`."""
    extend_by_degree(growth, _anything_for_the_degree)


def _build_minmax_oda(instance: TopicInstance, *, seed: int, ties: str = "lowest") -> Built:
    return grow_by_degree(instance, tie_order(ties, seed), _anything_for_the_degree, idle_edges=True)


def _build_gm_m(instance: TopicInstance, *, seed: int, ties: str = "lowest") -> Built:
    return grow_by_degree(instance, tie_order(ties, seed), _anything_for_the_degree)


def _anything_for_the_degree(contribution: int) -> float:
    return math.inf if contribution else 0


MINMAX_ODA = heuristic(
    "minmax-oda",
    _build_minmax_oda,
    problems=TOPIC_CONNECTED,
    summary="MinMax-ODA: the heaviest edge, contributing or not, among those that raise the maximum degree least",
    source="P2 §1.1",
    options=(TIES,),
)

GM_M = heuristic(
    "gm-m",
    _build_gm_m,
    problems=TOPIC_CONNECTED,
    summary="GM-M: MinMax-ODA without edges of contribution 0",
    source="P3 §III",
    options=(TIES,),
)
