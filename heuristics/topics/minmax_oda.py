"""MinMax-ODA (P2 §1.1): the heaviest edge among those that raise the maximum degree least."""

from __future__ import annotations

from ...instances.overlay import Overlay
from ...instances.topics.instance import TopicInstance
from .heuristic import TOPIC_CONNECTED, heuristic
from .kernels.degree_rule import anything_for_the_degree, grow_by_degree
from .kernels.growth import OverlayBuild
from .kernels.ties import TIES, tie_order


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


def _build_minmax_oda(instance: TopicInstance, *, seed: int, ties: str = "lowest") -> OverlayBuild:
    return grow_by_degree(instance, tie_order(ties, seed), anything_for_the_degree, idle_edges=True)


MINMAX_ODA = heuristic(
    "minmax-oda",
    _build_minmax_oda,
    problems=TOPIC_CONNECTED,
    summary="MinMax-ODA: the heaviest edge, contributing or not, among those that raise the maximum degree least",
    source="P2 §1.1",
    options=(TIES,),
    pace=31,
    starts=TOPIC_CONNECTED,
    colour="#E69F00",
    marker="s",
)
