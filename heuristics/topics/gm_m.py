"""GM-M (P3 §III): MinMax-ODA without the edges that contribute nothing."""

from __future__ import annotations

from ...instances.overlay import Overlay
from ...instances.topics.instance import TopicInstance
from .heuristic import TOPIC_CONNECTED, heuristic
from .kernels.degree_rule import anything_for_the_degree, extend_by_degree, grow_by_degree
from .kernels.growth import Growth, OverlayBuild
from .kernels.ties import TIES, tie_order


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
    :func:`.extend_by_degree`, with D = O(max|T_v|) of P3, Lemma 5.

    Examples
    --------
    >>> instance = TopicInstance.from_subscriptions({"n0": ["a", "b"], "n1": ["a", "b"], "n2": ["b"]})
    >>> gm_m(instance).edges.tolist()
    [[0, 1], [0, 2]]
    """
    return _build_gm_m(instance, ties=ties, seed=seed).overlay


def extend_gm_m(growth: Growth) -> None:
    """Add GM-M's edges to an overlay until every topic is connected (P3, Algorithm 2). Cost as for :func:`gm_m`."""
    extend_by_degree(growth, anything_for_the_degree)


def _build_gm_m(instance: TopicInstance, *, seed: int, ties: str = "lowest") -> OverlayBuild:
    return grow_by_degree(instance, tie_order(ties, seed), anything_for_the_degree)


GM_M = heuristic(
    "gm-m",
    _build_gm_m,
    problems=TOPIC_CONNECTED,
    summary="GM-M: MinMax-ODA without edges of contribution 0",
    source="P3 §III",
    options=(TIES,),
    pace=32,
    starts=TOPIC_CONNECTED,
    promising=("minmax-tco", "low-tco"),
    colour="#332288",
    marker="h",
)
