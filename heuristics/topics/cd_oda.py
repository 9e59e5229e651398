"""CD-ODA, CD-ODA-I and CD-ODA-II (P2 §6.1): node by node, links to everybody with a topic in common."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...instances.arrays import Ids
from ...instances.overlay import Overlay
from ...instances.topics.instance import TopicInstance
from ..compiled import kernel
from .heuristic import DIAMETER_TWO, heuristic
from .kernels.growth import OverlayBuild
from .kernels.interest import Interest, interest_of
from .kernels.ties import TIES, TieOrder, priority, tie_order

_NEIGHBOURS, _WEIGHTED, _DENSITY = range(3)


def cd_oda(instance: TopicInstance, *, ties: str = "lowest", seed: int = 0) -> Overlay:
    """An overlay with a star on the subscribers of every topic; centres are the nodes with most neighbours.

    While topics are left, take the node with most neighbours, link it to all of them, and drop its topics. The
    neighbours of u are the nodes that have a topic left in common with u, u itself among them.

    Parameters
    ----------
    instance : TopicInstance
    ties : {"lowest", "highest", "random"}
        Which of several nodes is taken.
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
    Onus, Richa, as told in P2 §6.1. Time O(C Σ|T_v| + Σ_v |T_v| Σ_{t∈T_v} |V_t|) for C centres: a node's
    neighbours are counted anew only if it has lost a topic and could still be the best. Memory O(Σ|T_v|).

    Examples
    --------
    >>> instance = TopicInstance.from_subscriptions({"n0": ["a"], "n1": ["a", "b"], "n2": ["b"]})
    >>> cd_oda(instance).edges.tolist()
    [[0, 1], [1, 2]]
    """
    return _build(instance, ties=ties, seed=seed, rule=_NEIGHBOURS).overlay


def cd_oda_1(instance: TopicInstance, *, ties: str = "lowest", seed: int = 0) -> Overlay:
    """As :func:`cd_oda`, the centre being the node with most weighted neighbours, the sum of |V_t| over its topics
    left (CD-ODA-I).

    Notes
    -----
    P2 §6.1; parameters, result and errors are those of :func:`cd_oda`. Time O(C |V| + Σ|T_v|) for C centres.

    Examples
    --------
    >>> instance = TopicInstance.from_subscriptions({"n0": ["a"], "n1": ["a", "b"], "n2": ["b"]})
    >>> cd_oda_1(instance).edges.tolist()
    [[0, 1], [1, 2]]
    """
    return _build(instance, ties=ties, seed=seed, rule=_WEIGHTED).overlay


def cd_oda_2(instance: TopicInstance, *, ties: str = "lowest", seed: int = 0) -> Overlay:
    """As :func:`cd_oda`, the centre being the node of highest connection density, its weighted neighbours divided
    by its neighbours (CD-ODA-II); densities are compared exactly.

    Notes
    -----
    P2 §6.1; parameters, result, errors and cost are those of :func:`cd_oda`.

    Examples
    --------
    >>> instance = TopicInstance.from_subscriptions({"n0": ["a", "b", "c"], "n1": ["a", "b"], "n2": ["c"]})
    >>> cd_oda_2(instance).edges.tolist()
    [[0, 1], [0, 2]]
    """
    return _build(instance, ties=ties, seed=seed, rule=_DENSITY).overlay


def _build(instance: TopicInstance, *, seed: int, rule: int, ties: str = "lowest") -> OverlayBuild:
    edges, centres = _stars(interest_of(instance), rule, tie_order(ties, seed))
    return OverlayBuild(Overlay.from_edges(instance.num_nodes, edges), {"steps": centres})


class _Nodes(NamedTuple):
    """What is known of the nodes, and which topics are left."""

    left: npt.NDArray[np.bool_]  # of each topic: not dropped yet
    popularity: npt.NDArray[np.int64]  # of each topic: |V_t|
    weighted: npt.NDArray[np.int64]  # of each node: the sum of |V_t| over its topics left
    neighbours: npt.NDArray[np.int64]  # of each node: its neighbours when they were last counted, or more
    counted: npt.NDArray[np.bool_]  # of each node: it has lost no topic since
    met: npt.NDArray[np.int64]  # of each node: the number of the last count in which it was met


@kernel
def _stars(interest: Interest, rule: int, order: TieOrder) -> tuple[Ids, int]:
    """The edges in the order they are added, shape (m, 2), and the number of centres."""
    nodes = _nodes(interest)
    topics_left = len(nodes.left)
    edges = np.empty((len(interest.node_topics), 2), np.int32)
    num_edges = num_centres = 0
    while topics_left > 0:
        num_centres += 1
        centre = _best_centre(num_centres, rule, interest, nodes, order)
        nodes.met[centre] = this_count = -num_centres
        for place in range(interest.node_offsets[centre], interest.node_offsets[centre + 1]):
            topic = interest.node_topics[place]
            if not nodes.left[topic]:
                continue
            nodes.left[topic] = False
            topics_left -= 1
            for node in interest.topic_nodes[interest.topic_offsets[topic] : interest.topic_offsets[topic + 1]]:
                nodes.weighted[node] -= nodes.popularity[topic]
                nodes.counted[node] = False
                if nodes.met[node] != this_count:
                    nodes.met[node] = this_count
                    edges[num_edges, 0], edges[num_edges, 1] = centre, node
                    num_edges += 1
    return edges[:num_edges].copy(), num_centres


@kernel
def _nodes(interest: Interest) -> _Nodes:
    n = len(interest.node_offsets) - 1
    popularity = np.diff(interest.topic_offsets)
    weighted = np.zeros(n, np.int64)
    for node in range(n):
        for place in range(interest.node_offsets[node], interest.node_offsets[node + 1]):
            weighted[node] += popularity[interest.node_topics[place]]
    return _Nodes(
        np.ones(len(popularity), np.bool_),
        popularity,
        weighted,
        weighted.copy(),
        np.zeros(n, np.bool_),
        np.zeros(n, np.int64),
    )


@kernel
def _best_centre(step: int, rule: int, interest: Interest, nodes: _Nodes, order: TieOrder) -> int:
    """The node with a topic left that scores highest; nodes whose score cannot be the highest are not counted."""
    n = len(nodes.weighted)
    best, best_over, best_under, best_priority = -1, 0, 1, 0
    for node in range(n):
        if nodes.weighted[node] == 0:
            continue
        over, under = _score(node, rule, interest, nodes)
        if best >= 0 and over * best_under < best_over * under:
            continue
        if rule != _WEIGHTED and not nodes.counted[node]:
            _count_neighbours(node, step * n + node, interest, nodes)
            over, under = _score(node, rule, interest, nodes)
        ahead = over * best_under - best_over * under
        its_priority = priority(node, order)
        if best < 0 or ahead > 0 or (ahead == 0 and its_priority < best_priority):
            best, best_over, best_under, best_priority = node, over, under, its_priority
    return best


@kernel
def _score(node: int, rule: int, interest: Interest, nodes: _Nodes) -> tuple[int, int]:
    """The score as a fraction: exact if the node's neighbours are counted, else not below it."""
    if rule == _NEIGHBOURS:
        return nodes.neighbours[node], 1
    if rule == _WEIGHTED:
        return nodes.weighted[node], 1
    if nodes.counted[node]:
        return nodes.weighted[node], nodes.neighbours[node]
    fewest = 1
    for place in range(interest.node_offsets[node], interest.node_offsets[node + 1]):
        topic = interest.node_topics[place]
        if nodes.left[topic]:
            fewest = max(fewest, nodes.popularity[topic])
    return nodes.weighted[node], fewest


@kernel
def _count_neighbours(node: int, this_count: int, interest: Interest, nodes: _Nodes) -> None:
    found = 0
    for place in range(interest.node_offsets[node], interest.node_offsets[node + 1]):
        topic = interest.node_topics[place]
        if nodes.left[topic]:
            for other in interest.topic_nodes[interest.topic_offsets[topic] : interest.topic_offsets[topic + 1]]:
                if nodes.met[other] != this_count:
                    nodes.met[other] = this_count
                    found += 1
    nodes.neighbours[node] = found
    nodes.counted[node] = True


CD_ODA = heuristic(
    "cd-oda",
    partial(_build, rule=_NEIGHBOURS),
    problems=DIAMETER_TWO,
    summary="CD-ODA: stars at the nodes with most neighbours",
    source="P2 §6.1",
    options=(TIES,),
    pace=20,
    starts=("2d-star", "2d-true"),
    colour="#D55E00",
    marker="v",
)

CD_ODA_1 = heuristic(
    "cd-oda-1",
    partial(_build, rule=_WEIGHTED),
    problems=DIAMETER_TWO,
    summary="CD-ODA-I: stars at the nodes with most weighted neighbours",
    source="P2 §6.1",
    options=(TIES,),
    pace=2,
    starts=("2d-star", "2d-true"),
    colour="#CC79A7",
    marker="<",
)

CD_ODA_2 = heuristic(
    "cd-oda-2",
    partial(_build, rule=_DENSITY),
    problems=DIAMETER_TWO,
    summary="CD-ODA-II: stars at the nodes of highest connection density",
    source="P2 §6.1",
    options=(TIES,),
    pace=36,
    starts=("2d-star", "2d-true"),
    colour="#882255",
    marker=">",
)
