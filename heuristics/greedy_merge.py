"""Greedy Merge (P1 §6.1): always the edge that unites most topic components."""

from __future__ import annotations

from heuristics.growth import Growth
from heuristics.heuristic import TOPIC_CONNECTED, Built, heuristic
from heuristics.last_links import last_links
from heuristics.pairs import pairs_by_common_topics
from heuristics.ties import TIES, tie_order
from instances import Overlay, TopicInstance


def greedy_merge(instance: TopicInstance, *, ties: str = "lowest", seed: int = 0) -> Overlay:
    """A topic-connected overlay with at most ln(Σ|T_v|) times the fewest edges.

    Starting without edges, add an edge of maximum contribution until no edge contributes; the contribution of
    (u, v) is the number of topics for which it joins two components.

    Parameters
    ----------
    instance : TopicInstance
    ties : {"lowest", "highest", "random"}
        Which of several edges of maximum contribution is added.
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
    Chockler, Melamed, Tock, Vitenberg, PODC 2007 (P1), §6.1, Algorithms 1–3; the ratio is Lemma 6.5.

    An edge is evaluated, in O(|T_u| + |T_v|), only when it is next in line, since its contribution can only have
    fallen; pairs with a single common topic are never listed (see :func:`heuristics.last_links.last_links`). With
    a bounded number of evaluations a pair this is the O(|V|²|T|) of Lemma 6.4; on the papers' workloads a pair is
    evaluated about once, at worst |T_u ∩ T_v| + 1 times. Memory O(Σ|T_v|) and 8 bytes for each pair with two topics in
    common.

    Examples
    --------
    >>> instance = TopicInstance.from_subscriptions({"n0": ["a", "b"], "n1": ["a", "b"], "n2": ["b"]})
    >>> greedy_merge(instance).edges.tolist()
    [[0, 1], [0, 2]]
    """
    return _build(instance, ties=ties, seed=seed).overlay


def _build(instance: TopicInstance, *, seed: int, ties: str = "lowest") -> Built:
    order = tie_order(ties, seed)
    growth = Growth(instance, order)
    waiting = pairs_by_common_topics(instance, order, least=2)
    while (contribution := waiting.top) >= 2:
        _, stale, contributions = growth.link(waiting.pop(), contribution, below=instance.num_nodes)
        waiting.put_each(stale, contributions)
    edges = last_links(instance, growth.components, order)
    growth.add(edges, merged=len(edges))
    return Built(growth.overlay(), growth.counters())


GREEDY_MERGE = heuristic(
    "gm",
    _build,
    problems=TOPIC_CONNECTED,
    summary="Greedy Merge: the edge that unites most topic components",
    source="P1 §6.1",
    options=(TIES,),
)
