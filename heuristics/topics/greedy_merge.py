"""Greedy Merge (P1 §6.1): always the edge that unites most topic components.

:func:`add_edges` is the loop of all greedy methods that add one edge at a time; an :class:`.EdgeRule` says which one.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...instances.contract.errors import BadInput
from ...instances.contract.option import Option
from ...instances.contract.overlay import Overlay
from ...instances.runtime.compiled import kernel
from ...instances.topics.instance import TopicInstance
from .heuristic import TOPIC_CONNECTED, heuristic
from .kernels.idle_edges import add_zero_contribution_edges
from .kernels.interest import TopicComponents, unit_costs, unite
from .kernels.partial_overlay import ANY_DEGREE, OverlayBuild, PartialOverlay
from .mst_per_topic import spanning_trees
from .tie_breaking.greedy_rule import EdgeRule
from .tie_breaking.ties import HIGHEST, RANDOM, TIES, TieOrder, tie_order

RUNS = Option("runs", 1, "how often to run, each time on the edges not used yet", least=1)
THREADS = Option("threads", 1, "threads that count contributions; same edges", least=1, most=64, unkeyed=True)


@heuristic(RUNS, TIES, THREADS)
def greedy_merge(
    instance: TopicInstance, *, runs: int = 1, ties: str = "lowest", seed: int = 0, threads: int = 1
) -> OverlayBuild:
    """A topic-connected overlay; one run gives at most ln(Σ|T_v|) times the fewest edges, where Σ|T_v| ≥ 3.

    Starting without edges, add an edge of maximum contribution until no edge contributes; the contribution of
    (u, v) is the number of topics for which it joins two components. Every further run does the same with the pairs
    that are not yet edges, for more connectivity and a smaller diameter.

    Parameters
    ----------
    instance : TopicInstance
    runs : int
        At least 1. The runs end early when one of them finds no edge to add.
    ties : {"lowest", "highest", "random"}
        Which of several equally good candidates is taken: the lexicographically lowest, the highest, or a random one.
    seed : int
        For random ties.
    threads : int
        From 1 to 64: how many count contributions. The edges do not depend on it.

    Raises
    ------
    BadInput
        If `runs` is below 1, `threads` out of range or `ties` no rule for ties.

    Notes
    -----
    Chockler, Melamed, Tock and Vitenberg 2007 (P1), §6.1, Algorithms 1–3; the ratio is Lemma 6.5, several runs are
    §6.4.

    No list of all pairs is kept. The highest contributions are those of one list of the few pairs with as many common
    topics (:meth:`.PartialOverlay.add_frequent`); below, the contributions of a node are recounted where they may still
    be maximal (:meth:`.PartialOverlay.add_level`); edges of contribution 1 need no search (:func:`.last_edges`).
    Memory O(Σ|T_v|). Time O(Σ_t |V_t|²) for every value that the maximum contribution takes, at most max|T_v| of them,
    where Lemma 6.4 has O(|V|²|T|) with all pairs in memory. For random ties the edges of contribution 1 take
    O(Σ_t |V_t|²); further runs search for them.

    Examples
    --------
    >>> instance = TopicInstance.from_subscriptions({"n0": ["a", "b"], "n1": ["a", "b"], "n2": ["b"]})
    >>> greedy_merge(instance).edges.tolist()
    [[0, 1], [0, 2]]
    """
    order = tie_order(ties, seed)
    partial = PartialOverlay(instance, order, threads=threads)
    extend_greedily(partial)
    edges, counters, done = partial.edges, partial.counters(), 1
    while done < runs and len(partial.edges):
        partial = PartialOverlay(instance, order, used=np.sort(edges), threads=threads)
        add_edges(partial, EdgeRule(limits_degree=False))
        edges = np.concatenate([edges, partial.edges])
        counters = {name: counters[name] + more for name, more in partial.counters().items()}
        done += 1
    ends = np.stack(np.divmod(edges, instance.num_nodes), axis=1)
    return OverlayBuild(Overlay.from_edges(instance.num_nodes, ends), counters | {"runs": done})


def add_edges(partial: PartialOverlay, rule: EdgeRule) -> None:
    """Add edges by a rule until none contributes (P1 §6.1; P2 §3; P3, Algorithms 1 and 2).

    While some edge leaves the maximum degree unchanged, e1 joins two nodes below the maximum degree, the eligible
    ones. An e2 with an end that is not eligible raises the maximum degree, which makes all nodes eligible. Both are
    found by upper bounds on the contributions of each node's pairs; all e1 of one contribution are added at a time.

    Memory O(Σ|T_v|). Time O(D C Σ_t |V_t|²), D the maximum degree reached (1 if degrees do not count) and
    C ≤ max|T_v| the maximum contribution; in practice far less, because a node's pairs are counted only where their
    bound is high enough.
    """
    max_degree = partial.initial_max_degree if rule.limits_degree else ANY_DEGREE
    of_all = partial.bounds()
    is_merge = not rule.limits_degree and not len(partial.contributions.used)
    if is_merge:
        np.minimum(of_all, partial.add_frequent() - 1, out=of_all)
    of_eligible = of_all.copy()
    while partial.excess_components:
        of_eligible[partial.degrees >= max_degree] = 0
        contribution = int(of_eligible.max())
        if is_merge and contribution <= 1:
            edges = last_edges(partial.components, partial.order)
            partial.record(edges, merged=len(edges))
            return
        if not contribution and not rule.limits_degree:
            return  # all edges that still contribute are used
        if not contribution and rule.adds_idle:
            add_zero_contribution_edges(partial, max_degree)
        if partial.add_best(of_all, above=rule.threshold(contribution) if contribution else 0):
            max_degree += 1
            of_eligible[:] = of_all
        else:
            partial.add_level(of_eligible, contribution, below=max_degree)


def extend_greedily(partial: PartialOverlay) -> None:
    """Add Greedy Merge's edges until every topic is connected. Cost as for :func:`greedy_merge`."""
    add_edges(partial, EdgeRule(limits_degree=False))


def grown(instance: TopicInstance, order: TieOrder, rule: EdgeRule) -> OverlayBuild:
    """The overlay that a rule builds from the one without edges. Cost as for :func:`add_edges`."""
    partial = PartialOverlay(instance, order)
    add_edges(partial, rule)
    return OverlayBuild(partial.overlay(), partial.counters() | {"phases": int(partial.degrees.max())})


def last_edges(components: TopicComponents, order: TieOrder) -> npt.NDArray[np.int64]:
    """The edges u·|V| + v that Greedy Merge adds once every contribution is at most 1; `components` is updated.

    An edge that contributes to one topic does not change the other topics, so the topics are independent. For each,
    the greedy choice in the order of ties is a minimum spanning tree of its components: for ``lowest`` (``highest``)
    a star at its lowest (highest) subscriber, for ``random`` Prim's tree. Cost O(Σ_t |V_t|), for ``random``
    O(Σ_t |V_t|²).
    """
    if order.rule != RANDOM:
        return _stars(components, order.rule == HIGHEST)
    topics = np.arange(len(components.topic_offsets) - 1, dtype=np.int32)
    return spanning_trees(topics, components, unit_costs(len(components.node_offsets) - 1), order)


@kernel
def _stars(components: TopicComponents, highest: bool) -> npt.NDArray[np.int64]:
    n, nodes, label = len(components.node_offsets) - 1, components.topic_nodes, components.label
    edges, num_edges = np.empty(len(nodes), np.int64), 0
    for topic in range(len(components.topic_offsets) - 1):
        first, last = components.topic_offsets[topic], components.topic_offsets[topic + 1]
        hub = last - 1 if highest else first
        for k in range(1, last - first):
            position = hub - k if highest else hub + k
            if label[position] != label[hub]:
                unite(hub, position, components)
                edges[num_edges] = np.int64(min(nodes[hub], nodes[position])) * n + max(nodes[hub], nodes[position])
                num_edges += 1
    return edges[:num_edges].copy()


def _rule(*, runs: int, threads: int) -> EdgeRule:
    if runs != 1:
        raise BadInput("a trace, ties=worst, ties=best and the atlas are for one run: leave option 'runs' at 1")
    return EdgeRule(limits_degree=False)


GREEDY_MERGE = greedy_merge.method(
    "gm",
    TOPIC_CONNECTED,
    rule=_rule,
    summary="Greedy Merge: the edge that unites most topic components",
    source="P1 §6.1, §6.4",
    guarantee="one run has at most ln(Σ|T_v|) times the fewest edges, where Σ|T_v| ≥ 3 (P1 Lemma 6.5)",
    cost="time O(Σ_t |V_t|²) for each value of the maximum contribution, at most max|T_v| of them; memory O(Σ|T_v|)",
    pace=15,
)
