"""Greedy Merge (P1 §6.1): always the edge that unites most topic components."""

from __future__ import annotations

import numpy as np

from ...instances.option import Option
from ...instances.overlay import Overlay
from ...instances.topics.instance import TopicInstance
from .heuristic import TOPIC_CONNECTED, heuristic
from .kernels.growth import ANY_DEGREE, Growth, OverlayBuild
from .kernels.last_links import last_links
from .kernels.ties import TIES, tie_order

RUNS = Option("runs", 1, "how often to run, each time on the edges not used yet", least=1)


def greedy_merge(instance: TopicInstance, *, runs: int = 1, ties: str = "lowest", seed: int = 0) -> Overlay:
    """A topic-connected overlay; one run gives at most ln(Σ|T_v|) times the fewest edges.

    Starting without edges, add an edge of maximum contribution until no edge contributes; the contribution of
    (u, v) is the number of topics for which it joins two components. Every further run does the same anew with the
    pairs that are no edges yet, for more connectivity and a smaller diameter.

    Parameters
    ----------
    instance : TopicInstance
    runs : int
        At least 1. A run that finds no pair left to add ends them.
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
        If there is less than one run or no such rule for ties.

    Notes
    -----
    Chockler, Melamed, Tock, Vitenberg, PODC 2007 (P1), §6.1, Algorithms 1–3; the ratio is Lemma 6.5, several
    runs are §6.4.

    No pair is listed: an edge of contribution c is found by counting again what the nodes contribute whose pairs may
    still contribute c, and pairs of contribution 1 are not looked for at all (see
    :func:`.last_links`). Memory O(Σ|T_v|). Time O(Σ_t |V_t|²) for every value that the largest
    contribution takes, at most max|T_v| of them, where Lemma 6.4 has O(|V|²|T|) with all pairs in memory; nodes that
    cannot contribute so much, and the largest component of a topic, are passed over. Further runs go down to pairs of
    contribution 1; for random ties the last links take O(Σ_t |V_t|²).

    Examples
    --------
    >>> instance = TopicInstance.from_subscriptions({"n0": ["a", "b"], "n1": ["a", "b"], "n2": ["b"]})
    >>> greedy_merge(instance).edges.tolist()
    [[0, 1], [0, 2]]
    """
    return _build(instance, runs=int(RUNS.parse(runs)), ties=ties, seed=seed).overlay


def extend_greedily(growth: Growth) -> None:
    """Add Greedy Merge's edges to an overlay until every topic is connected. Cost as for :func:`greedy_merge`."""
    _link_heaviest(growth, least=2)
    edges = last_links(growth.components, growth.order)
    growth.add(edges, merged=len(edges))


def _build(instance: TopicInstance, *, seed: int, runs: int = 1, ties: str = "lowest") -> OverlayBuild:
    order = tie_order(ties, seed)
    growth = Growth(instance, order)
    extend_greedily(growth)
    edges, counters, done = growth.edges, growth.counters(), 1
    while done < runs and len(growth.edges):
        growth = Growth(instance, order, used=np.sort(edges))
        _link_heaviest(growth, least=1)
        edges = np.concatenate([edges, growth.edges])
        counters = {name: counters[name] + more for name, more in growth.counters().items()}
        done += 1
    ends = np.stack(np.divmod(edges, instance.num_nodes), axis=1)
    return OverlayBuild(Overlay.from_edges(instance.num_nodes, ends), counters | {"runs": done})


def _link_heaviest(growth: Growth, least: int) -> None:
    """Add an edge of maximum contribution until none contributes `least`."""
    bounds = growth.bounds()
    while (contribution := int(bounds.max())) >= least:
        growth.link_level(bounds, contribution, below=ANY_DEGREE)


GREEDY_MERGE = heuristic(
    "gm",
    _build,
    problems=TOPIC_CONNECTED,
    summary="Greedy Merge: the edge that unites most topic components",
    source="P1 §6.1, §6.4",
    options=(RUNS, TIES),
    warm_up_with={"runs": 2},
    pace=15,
    starts=TOPIC_CONNECTED,
    promising=("min-tco", "low-tco"),
    colour="#0072B2",
    marker="o",
)
