"""CD-ODA, CD-ODA-I, CD-ODA-II (P2 §6.1) and CD-MAX: node by node, an edge to every node with a topic in common."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....instances.contract.arrays import Ids, Offsets
from ....instances.contract.overlay import Overlay
from ....instances.runtime.compiled import kernel
from ....instances.topics.instance import TopicInstance
from ..heuristic import DIAMETER_TWO, heuristic
from ..kernels.interest import Interest, interest_of, weighted_neighbours
from ..kernels.partial_overlay import OverlayBuild
from ..tie_breaking.greedy_rule import DENSITY, FEWEST, NEIGHBOURS, WEIGHTED, StarRule
from ..tie_breaking.ties import TIES, TieOrder, rank_of, tie_order

_COST = "time O(C Σ|T_v| + Σ_v |T_v| Σ_{t∈T_v} |V_t|) for C centres, memory O(Σ|T_v|)"


@heuristic(TIES)
def cd_oda(instance: TopicInstance, *, ties: str = "lowest", seed: int = 0) -> OverlayBuild:
    """An overlay with a star on the subscribers of every topic; centres are the nodes with most neighbours.

    While topics are left, take the node with most neighbours, add an edge to each of them, and drop its topics. The
    neighbours of u are the nodes that have a topic left in common with u, u itself among them.

    Notes
    -----
    Onus and Richa, as described in Onus and Richa 2015 (P2), §6.1. Parameters, result and errors are those of
    :func:`.greedy_merge`. Time O(C Σ|T_v| + Σ_v |T_v| Σ_{t∈T_v} |V_t|) for C centres: a node's neighbours are
    recounted only if it has lost a topic and could still be the best. Memory O(Σ|T_v|).

    Examples
    --------
    >>> instance = TopicInstance.from_subscriptions({"n0": ["a"], "n1": ["a", "b"], "n2": ["b"]})
    >>> cd_oda(instance).edges.tolist()
    [[0, 1], [1, 2]]
    """
    return _built(instance, NEIGHBOURS, ties, seed)


@heuristic(TIES)
def cd_oda_1(instance: TopicInstance, *, ties: str = "lowest", seed: int = 0) -> OverlayBuild:
    """As :func:`cd_oda`, the centre being the node with most weighted neighbours, the sum of |V_t| over its topics
    left (CD-ODA-I).

    Notes
    -----
    P2 §6.1. Time O(C |V| + Σ|T_v|) for C centres.

    Examples
    --------
    >>> instance = TopicInstance.from_subscriptions({"n0": ["a"], "n1": ["a", "b"], "n2": ["b"]})
    >>> cd_oda_1(instance).edges.tolist()
    [[0, 1], [1, 2]]
    """
    return _built(instance, WEIGHTED, ties, seed)


@heuristic(TIES)
def cd_oda_2(instance: TopicInstance, *, ties: str = "lowest", seed: int = 0) -> OverlayBuild:
    """As :func:`cd_oda`, the centre being the node of highest connection density, its weighted neighbours divided
    by its neighbours (CD-ODA-II); densities are compared exactly.

    Notes
    -----
    P2 §6.1; cost as for :func:`cd_oda`.

    Examples
    --------
    >>> instance = TopicInstance.from_subscriptions({"n0": ["a", "b", "c"], "n1": ["a", "b"], "n2": ["c"]})
    >>> cd_oda_2(instance).edges.tolist()
    [[0, 1], [0, 2]]
    """
    return _built(instance, DENSITY, ties, seed)


@heuristic(TIES)
def cd_max(instance: TopicInstance, *, ties: str = "lowest", seed: int = 0) -> OverlayBuild:
    """Stars at the nodes with fewest neighbours, for low degrees (CD-MAX); everything else is as in :func:`cd_oda`.

    Notes
    -----
    Yumusak, Layazali, Oztoprak and Hassanpour 2021, of which only the abstract was read: it says that the node with
    fewest neighbours is selected. Time O(C Σ_v |T_v| Σ_{t∈T_v} |V_t|) for C centres.

    References
    ----------
    Low-diameter topic-based pub/sub overlay network construction with minimum-maximum node degree, PeerJ Computer
    Science 2021, https://doi.org/10.7717/peerj-cs.538

    Examples
    --------
    >>> instance = TopicInstance.from_subscriptions({"n0": ["a"], "n1": ["a", "b"], "n2": ["b", "c"], "n3": ["c"]})
    >>> cd_max(instance).edges.tolist()
    [[0, 1], [1, 2], [2, 3]]
    """
    return _built(instance, FEWEST, ties, seed)


def _built(instance: TopicInstance, rule: int, ties: str, seed: int) -> OverlayBuild:
    popularity, weighted = np.diff(instance.topic_offsets), weighted_neighbours(instance)
    edges, centres = _stars(interest_of(instance), popularity, weighted, rule, tie_order(ties, seed))
    return OverlayBuild(Overlay.from_edges(instance.num_nodes, edges), {"steps": centres})


class _Nodes(NamedTuple):
    """The nodes' scores, and the topics left."""

    left: npt.NDArray[np.bool_]  # of each topic: not dropped yet
    popularity: npt.NDArray[np.int64]  # of each topic: |V_t|
    weighted: npt.NDArray[np.int64]  # of each node: the sum of |V_t| over its topics left
    neighbours: npt.NDArray[np.int64]  # of each node: its neighbours at the last count, which is an upper bound
    counted: npt.NDArray[np.bool_]  # of each node: it has lost no topic since
    epoch: npt.NDArray[np.int64]  # of each node: the last count that included it


@kernel
def _stars(interest: Interest, popularity: Offsets, weighted: Offsets, rule: int, order: TieOrder) -> tuple[Ids, int]:
    """The edges in the order of their addition, shape (m, 2), and the number of centres."""
    n = len(interest.node_offsets) - 1
    left, counted, epoch = np.ones(len(popularity), np.bool_), np.zeros(n, np.bool_), np.zeros(n, np.int64)
    nodes = _Nodes(left, popularity, weighted, weighted.copy(), counted, epoch)
    topics_left = len(popularity)
    edges = np.empty((len(interest.node_topics), 2), np.int32)
    num_edges = num_centres = 0
    while topics_left > 0:
        num_centres += 1
        centre = _best_centre(num_centres, rule, interest, nodes, order)
        # Negative, so that no count of neighbours has the same epoch.
        epoch[centre] = this_epoch = -num_centres
        for topic in interest.node_topics[interest.node_offsets[centre] : interest.node_offsets[centre + 1]]:
            if not left[topic]:
                continue
            left[topic] = False
            topics_left -= 1
            for node in interest.topic_nodes[interest.topic_offsets[topic] : interest.topic_offsets[topic + 1]]:
                weighted[node] -= popularity[topic]
                counted[node] = False
                if epoch[node] != this_epoch:
                    epoch[node] = this_epoch
                    edges[num_edges, 0], edges[num_edges, 1] = centre, node
                    num_edges += 1
    return edges[:num_edges].copy(), num_centres


@kernel
def _best_centre(step: int, rule: int, interest: Interest, nodes: _Nodes, order: TieOrder) -> int:
    """The node with a topic left that scores highest; nodes whose upper bound is too low are not counted."""
    n = len(nodes.weighted)
    best, best_over, best_under, best_rank = -1, 0, 1, 0
    for node in range(n):
        if nodes.weighted[node] == 0:
            continue
        if rule == FEWEST and not nodes.counted[node]:
            _count_neighbours(node, step * n + node, interest, nodes)
        over, under = _score(node, rule, interest, nodes)
        # The score of a node that is not counted is an upper bound: if it is too low, no count is needed.
        if best >= 0 and over * best_under < best_over * under:
            continue
        if rule != WEIGHTED and not nodes.counted[node]:
            _count_neighbours(node, step * n + node, interest, nodes)
            over, under = _score(node, rule, interest, nodes)
        ahead, rank = over * best_under - best_over * under, rank_of(node, order)
        if best < 0 or ahead > 0 or (ahead == 0 and rank < best_rank):
            best, best_over, best_under, best_rank = node, over, under, rank
    return best


@kernel
def _score(node: int, rule: int, interest: Interest, nodes: _Nodes) -> tuple[int, int]:
    """The score as a fraction: exact if the node's neighbours are counted, else an upper bound."""
    if rule == NEIGHBOURS:
        return nodes.neighbours[node], 1
    if rule == FEWEST:
        return -nodes.neighbours[node], 1
    if rule == WEIGHTED:
        return nodes.weighted[node], 1
    if nodes.counted[node]:
        return nodes.weighted[node], nodes.neighbours[node]
    # The subscribers of any one topic left are neighbours, which bounds the denominator from below.
    fewest = 1
    for topic in interest.node_topics[interest.node_offsets[node] : interest.node_offsets[node + 1]]:
        if nodes.left[topic]:
            fewest = max(fewest, nodes.popularity[topic])
    return nodes.weighted[node], fewest


@kernel
def _count_neighbours(node: int, this_epoch: int, interest: Interest, nodes: _Nodes) -> None:
    count = 0
    for topic in interest.node_topics[interest.node_offsets[node] : interest.node_offsets[node + 1]]:
        if nodes.left[topic]:
            for other in interest.topic_nodes[interest.topic_offsets[topic] : interest.topic_offsets[topic + 1]]:
                if nodes.epoch[other] != this_epoch:
                    nodes.epoch[other] = this_epoch
                    count += 1
    nodes.neighbours[node] = count
    nodes.counted[node] = True


CD_ODA = cd_oda.method(
    "cd-oda",
    DIAMETER_TWO,
    rule=partial(StarRule, NEIGHBOURS),
    summary="CD-ODA: stars at the nodes with most neighbours",
    guarantee="every topic has diameter at most 2; the edges can be |V|/2 times the fewest (P2 Lemma 5)",
    cost=_COST,
    pace=20,
    source="P2 §6.1",
)
CD_ODA_1 = cd_oda_1.method(
    "cd-oda-1",
    DIAMETER_TWO,
    rule=partial(StarRule, WEIGHTED),
    summary="CD-ODA-I: stars at the nodes with most weighted neighbours",
    guarantee="every topic has diameter at most 2; no constant ratio (P2 Lemma 6)",
    cost="time O(C |V| + Σ|T_v|) for C centres, memory O(Σ|T_v|)",
    pace=2,
    source="P2 §6.1",
)
CD_ODA_2 = cd_oda_2.method(
    "cd-oda-2",
    DIAMETER_TWO,
    rule=partial(StarRule, DENSITY),
    summary="CD-ODA-II: stars at the nodes of highest connection density",
    guarantee="every topic has diameter at most 2; no ratio is proven",
    cost=_COST,
    pace=36,
    source="P2 §6.1",
)
CD_MAX = cd_max.method(
    "cd-max",
    DIAMETER_TWO,
    rule=partial(StarRule, FEWEST),
    summary="CD-MAX: stars at the nodes with fewest neighbours, for low degrees",
    guarantee="every topic has diameter at most 2; no ratio is proven",
    cost="time O(C Σ_v |T_v| Σ_{t∈T_v} |V_t|) for C centres, memory O(Σ|T_v|)",
    pace=60,
    source="Yumusak et al. 2021, of which only the abstract was read",
)
