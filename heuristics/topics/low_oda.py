"""Low-ODA (P2 §3): between Greedy Merge and MinMax-ODA."""

from __future__ import annotations

import math
from fractions import Fraction

from ...instances.option import Option
from ...instances.overlay import Overlay
from ...instances.topics.instance import TopicInstance
from .heuristic import TOPIC_CONNECTED, heuristic
from .kernels.degree_rule import grow_by_degree
from .kernels.growth import OverlayBuild
from .kernels.ties import TIES, tie_order

K = Option("k", 3.0, "how many times more an edge that raises the maximum degree must contribute", least=1, most=1e300)


def low_oda(instance: TopicInstance, *, k: float = 3.0, ties: str = "lowest", seed: int = 0) -> Overlay:
    """A topic-connected overlay with O(k log Σ|T_v|) times the fewest edges and O(|V|/k · log Σ|T_v|) times the
    smallest maximum degree.

    Until every topic is connected, let e1 be MinMax-ODA's choice and e2 Greedy Merge's: add e1 if it contributes
    at least 1/k of what e2 contributes, else e2. An edge of contribution 0 is never added: while a topic is not
    connected e2 contributes at least 1, and 0 is less than 1/k.

    Parameters
    ----------
    instance : TopicInstance
    k : float
        At least 1. The comparison is exact: k is taken as the fraction that the float is.
    ties : {"lowest", "highest", "random"}
        Which of several candidates becomes e1, and e2.
    seed : int
        For random ties.

    Returns
    -------
    Overlay

    Raises
    ------
    BadInput
        If k is below 1 or not finite, or there is no such rule for ties.

    Notes
    -----
    Onus, Richa, 2015 (P2), §3, Algorithm 1; the ratios are Theorems 1 and 2. Time and memory as for
    :func:`.gm_m`, D being the maximum degree reached.

    Examples
    --------
    >>> instance = TopicInstance.from_subscriptions({"n0": ["a", "b"], "n1": ["a", "b"], "n2": ["b"]})
    >>> low_oda(instance).edges.tolist()
    [[0, 1], [0, 2]]
    """
    return _build(instance, k=float(K.parse(k)), ties=ties, seed=seed).overlay


def _build(instance: TopicInstance, *, seed: int, k: float = 3.0, ties: str = "lowest") -> OverlayBuild:
    factor = Fraction(k)
    return grow_by_degree(instance, tie_order(ties, seed), lambda contribution: math.floor(factor * contribution))


LOW_ODA = heuristic(
    "low-oda",
    _build,
    problems=TOPIC_CONNECTED,
    summary="Low-ODA: MinMax-ODA's edge unless Greedy Merge's contributes more than k times as much",
    source="P2 §3",
    options=(K, TIES),
    pace=33,
    starts=TOPIC_CONNECTED,
    promising=TOPIC_CONNECTED,
    colour="#009E73",
    marker="^",
)
