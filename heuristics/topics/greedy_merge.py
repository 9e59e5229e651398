"""Greedy Merge (P1 §6.1): always the edge that unites most topic components."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...instances.contract.errors import BadInput
from ...instances.contract.method import Method
from ...instances.contract.option import Option
from ...instances.contract.overlay import Overlay
from ...instances.topics.instance import TopicInstance
from ..compiled import kernel
from .heuristic import TOPIC_CONNECTED, solve_by, warm_up_by
from .kernels.partial_overlay import ANY_DEGREE, OverlayBuild, PartialOverlay
from .kernels.ties import RULES, TIES, TieOrder, rank_of, tie_order
from .kernels.topic_components import TopicComponents, unite
from .tie_search.extremes import with_extreme_ties
from .tie_search.steps import EdgeSteps, heaviest

RUNS = Option("runs", 1, "how often to run, each time on the edges not used yet", least=1)
THREADS = Option(
    "threads", 1, "threads that count contributions, but for random ties; same edges", least=1, most=64, later=True
)


def greedy_merge(
    instance: TopicInstance, *, runs: int = 1, ties: str = "lowest", seed: int = 0, threads: int = 1
) -> Overlay:
    """A topic-connected overlay; one run gives at most ln(Σ|T_v|) times the fewest edges.

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
        From 1 to 64: how many count contributions, but for random ties. The edges do not depend on it.

    Returns
    -------
    Overlay

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
    be maximal; edges of contribution 1 need no search (:func:`.last_edges`). Memory O(Σ|T_v|). Time O(Σ_t |V_t|²) for
    every value that the maximum contribution takes, at most max|T_v| of them, where Lemma 6.4 has O(|V|²|T|) with all
    pairs in memory. For random ties the edges of contribution 1 take O(Σ_t |V_t|²); further runs search for them.

    Examples
    --------
    >>> instance = TopicInstance.from_subscriptions({"n0": ["a", "b"], "n1": ["a", "b"], "n2": ["b"]})
    >>> greedy_merge(instance).edges.tolist()
    [[0, 1], [0, 2]]
    """
    runs, threads = int(RUNS.parse(runs)), int(THREADS.parse(threads))
    return _build(instance, runs=runs, ties=ties, seed=seed, threads=threads).overlay


def extend_greedily(partial: PartialOverlay) -> None:
    """Add Greedy Merge's edges until every topic is connected. Cost as for :func:`greedy_merge`."""
    _add_heaviest(partial, least=2)
    edges = last_edges(partial.components, partial.order)
    partial.record(edges, merged=len(edges))


def _build(instance: TopicInstance, *, runs: int, ties: str, seed: int, threads: int = 1) -> OverlayBuild:
    order = tie_order(ties, seed)
    partial = PartialOverlay(instance, order, threads=threads)
    extend_greedily(partial)
    edges, counters, done = partial.edges, partial.counters(), 1
    while done < runs and len(partial.edges):
        partial = PartialOverlay(instance, order, used=np.sort(edges), threads=threads)
        _add_heaviest(partial, least=1)
        edges = np.concatenate([edges, partial.edges])
        counters = {name: counters[name] + more for name, more in partial.counters().items()}
        done += 1
    ends = np.stack(np.divmod(edges, instance.num_nodes), axis=1)
    return OverlayBuild(Overlay.from_edges(instance.num_nodes, ends), counters | {"runs": done})


def _add_heaviest(partial: PartialOverlay, least: int) -> None:
    """Add an edge of maximum contribution until none contributes `least`."""
    bounds = partial.bounds()
    if not len(partial.contributions.used):
        np.minimum(bounds, partial.add_frequent() - 1, out=bounds)
    while (contribution := int(bounds.max())) >= least:
        partial.add_level(bounds, contribution, below=ANY_DEGREE)


_LOWEST, _HIGHEST = RULES.index("lowest"), RULES.index("highest")


def last_edges(components: TopicComponents, order: TieOrder) -> npt.NDArray[np.int64]:
    """The edges u·|V| + v that Greedy Merge adds once every contribution is at most 1; `components` is updated.

    An edge that contributes to one topic does not change the other topics, so the topics are independent. For each,
    the greedy choice in the order of ties is a minimum spanning tree of its components: for ``lowest`` (``highest``)
    a star at its lowest (highest) subscriber, for ``random`` Prim's tree. Cost O(Σ_t |V_t|), for ``random``
    O(Σ_t |V_t|²).
    """
    if order.rule == _LOWEST or order.rule == _HIGHEST:
        return _stars(components, order.rule == _HIGHEST)
    return _spanning_trees(components, order)


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


@kernel
def _spanning_trees(components: TopicComponents, order: TieOrder) -> npt.NDArray[np.int64]:
    n = len(components.node_offsets) - 1
    edges, num_edges = np.empty(len(components.topic_nodes), np.int64), 0
    for topic in range(len(components.topic_offsets) - 1):
        first, last = components.topic_offsets[topic], components.topic_offsets[topic + 1]
        nodes, label = components.topic_nodes[first:last], components.label[first:last]
        num_edges += _spanning_tree(n, nodes, label, order, edges[num_edges:])
    return edges[:num_edges].copy()


@kernel
def _spanning_tree(
    n: int,
    nodes: npt.NDArray[np.int32],
    label: npt.NDArray[np.int32],
    order: TieOrder,
    edges: npt.NDArray[np.int64],
) -> int:
    """Prim's algorithm on the components of one topic; returns the number of edges."""
    outside = np.arange(len(nodes))
    num_outside = len(nodes)
    best = np.full(len(nodes), 2**63 - 1, np.int64)
    via = np.zeros(len(nodes), np.int64)
    entered = np.empty(len(nodes), np.int64)
    num_edges, entering = 0, 0
    while True:
        num_entered, num_outside = enter(entering, label, outside[:num_outside], entered)
        if num_outside == 0:
            return num_edges
        for k in outside[:num_outside]:
            for inside in entered[:num_entered]:
                edge = np.int64(min(nodes[k], nodes[inside])) * n + max(nodes[k], nodes[inside])
                rank = rank_of(edge, order)
                if rank <= best[k]:
                    best[k], via[k] = rank, edge
        entering = outside[np.argmin(best[outside[:num_outside]])]
        edges[num_edges] = via[entering]
        num_edges += 1


@kernel
def enter(
    entering: int, label: npt.NDArray[np.int32], outside: npt.NDArray[np.int64], entered: npt.NDArray[np.int64]
) -> tuple[int, int]:
    """Move the component of `entering` from those outside of Prim's tree to `entered`; returns how many are in each."""
    num_entered, num_left = 0, 0
    for k in outside:
        if label[k] == label[entering]:
            entered[num_entered] = k
            num_entered += 1
        else:
            outside[num_left] = k
            num_left += 1
    return num_entered, num_left


def _steps(instance: TopicInstance, *, runs: int, threads: int) -> EdgeSteps:
    if runs != 1:
        raise BadInput("a trace, ties=worst and ties=best are for one run: leave option 'runs' at 1")
    return EdgeSteps(instance, lambda contributions, degrees: heaviest(contributions), "components")


GREEDY_MERGE = with_extreme_ties(
    Method(
        name="gm",
        problems=TOPIC_CONNECTED,
        summary="Greedy Merge: the edge that unites most topic components",
        source="P1 §6.1, §6.4",
        guarantee="one run has at most ln(Σ|T_v|) times the fewest edges (P1 Lemma 6.5)",
        cost="time O(Σ_t |V_t|²) for each value of the maximum contribution, at most max|T_v| of them; memory "
        "O(Σ|T_v|)",
        solve=solve_by(_build),
        warm_up=warm_up_by(_build, runs=2),
        options=(RUNS, TIES, THREADS),
        anytime=False,
        pace=15,
        starts=TOPIC_CONNECTED,
        promising=("min-tco", "low-tco"),
        colour="#0072B2",
        marker="o",
    ),
    _steps,
)
