"""2D-ODA (P2 §6.3): topic by topic, the star with the highest topic density."""

from __future__ import annotations

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


def two_diameter_oda(instance: TopicInstance, *, ties: str = "lowest", seed: int = 0) -> Overlay:
    """An overlay with a star on the subscribers of every topic, so that every topic has diameter at most 2.

    While topics are left, take the node u and topic t ∈ T_u left of highest topic density, link u to all
    subscribers of t, and drop t. The topic density is the sum of |V_t'| over the topics t' ∈ T_u left, divided
    by the number of subscribers of t not adjacent to u, u itself among them.

    Parameters
    ----------
    instance : TopicInstance
    ties : {"lowest", "highest", "random"}
        Which of several pairs (u, t) of highest density is taken; densities are compared exactly.
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
    Onus, Richa, 2015 (P2), §6.3, Algorithm 2. Time O(|V||T| + Σ_t Σ_{v∈V_t} |T_v| + Σ_edges (|T_u| + |T_v|)),
    memory O(Σ|T_v|).

    Examples
    --------
    >>> instance = TopicInstance.from_subscriptions({"n0": ["a", "b"], "n1": ["a", "b"], "n2": ["b"]})
    >>> two_diameter_oda(instance).edges.tolist()
    [[0, 1], [0, 2]]
    """
    return _build(instance, ties=ties, seed=seed).overlay


def _build(instance: TopicInstance, *, seed: int, ties: str = "lowest") -> OverlayBuild:
    edges = _stars(interest_of(instance), tie_order(ties, seed))
    return OverlayBuild(Overlay.from_edges(instance.num_nodes, edges), {"steps": instance.num_topics})


class _Stars(NamedTuple):
    """The stars so far.

    A subscription is named by its place in ``node_topics``. The half-edges of edge e are 2e and 2e + 1; `first`
    and `following` chain those of each node, -1 ends a chain.
    """

    left: npt.NDArray[np.bool_]  # of each topic: not dropped yet
    weight: npt.NDArray[np.int64]  # of each node: the numerator of its topics' densities
    missing: Ids  # of each subscription: the denominator of its density
    densest: npt.NDArray[np.int64]  # of each node: its subscription left of highest density, or -1
    ends: Ids  # of each half-edge: the node it leaves from
    first: Ids
    following: Ids
    adjacent: Ids  # of each node: the number of the last step whose centre was adjacent to it before


@kernel
def _stars(interest: Interest, order: TieOrder) -> Ids:
    """The edges in the order they are added, shape (m, 2)."""
    stars = _no_stars(interest)
    for node in range(len(stars.weight)):
        _find_densest(node, interest, stars, order)
    num_edges = 0
    for step in range(len(stars.left)):
        centre = _densest_node(interest, stars, order)
        topic = interest.node_topics[stars.densest[centre]]
        num_edges = _add_star(centre, topic, step, num_edges, interest, stars)
        subscribers = interest.topic_nodes[interest.topic_offsets[topic] : interest.topic_offsets[topic + 1]]
        stars.left[topic] = False
        for node in subscribers:
            stars.weight[node] -= len(subscribers)
            _find_densest(node, interest, stars, order)
    return stars.ends[: 2 * num_edges].copy().reshape(-1, 2)


@kernel
def _no_stars(interest: Interest) -> _Stars:
    n, size = len(interest.node_offsets) - 1, len(interest.node_topics)
    popularity = np.diff(interest.topic_offsets).astype(np.int32)
    weight = np.zeros(n, np.int64)
    for node in range(n):
        for place in range(interest.node_offsets[node], interest.node_offsets[node + 1]):
            weight[node] += popularity[interest.node_topics[place]]
    return _Stars(
        np.ones(len(popularity), np.bool_),
        weight,
        popularity[interest.node_topics],
        np.full(n, -1, np.int64),
        np.empty(2 * size, np.int32),
        np.full(n, -1, np.int32),
        np.empty(2 * size, np.int32),
        np.full(n, -1, np.int32),
    )


@kernel
def _find_densest(node: int, interest: Interest, stars: _Stars, order: TieOrder) -> None:
    """The densities of one node share their numerator: the highest has the lowest denominator."""
    best, best_priority = -1, 0
    for place in range(interest.node_offsets[node], interest.node_offsets[node + 1]):
        topic = interest.node_topics[place]
        if not stars.left[topic]:
            continue
        its_priority = priority(np.int64(node) * len(stars.left) + topic, order)
        if (
            best < 0
            or stars.missing[place] < stars.missing[best]
            or (stars.missing[place] == stars.missing[best] and its_priority < best_priority)
        ):
            best, best_priority = place, its_priority
    stars.densest[node] = best


@kernel
def _densest_node(interest: Interest, stars: _Stars, order: TieOrder) -> int:
    best, weight, missing, best_priority = -1, 0, 1, 0
    for node in range(len(stars.weight)):
        place = stars.densest[node]
        if place < 0:
            continue
        here, there = stars.weight[node] * missing, weight * stars.missing[place]
        if best < 0 or here >= there:
            its_priority = priority(np.int64(node) * len(stars.left) + interest.node_topics[place], order)
            if best < 0 or here > there or its_priority < best_priority:
                best, weight, missing = node, stars.weight[node], stars.missing[place]
                best_priority = its_priority
    return best


@kernel
def _add_star(centre: int, topic: int, step: int, num_edges: int, interest: Interest, stars: _Stars) -> int:
    """Link the centre to the topic's other subscribers where it is not yet; returns the number of all edges."""
    half = stars.first[centre]
    while half >= 0:
        stars.adjacent[stars.ends[half ^ 1]] = step
        half = stars.following[half]
    for node in interest.topic_nodes[interest.topic_offsets[topic] : interest.topic_offsets[topic + 1]]:
        if node == centre or stars.adjacent[node] == step:
            continue
        _chain(2 * num_edges, centre, stars)
        _chain(2 * num_edges + 1, node, stars)
        num_edges += 1
        _count_neighbours(centre, node, interest, stars)
    return num_edges


@kernel
def _chain(half: int, end: int, stars: _Stars) -> None:
    stars.ends[half] = end
    stars.following[half] = stars.first[end]
    stars.first[end] = half


@kernel
def _count_neighbours(u: int, v: int, interest: Interest, stars: _Stars) -> None:
    """Each end of a new edge has one subscriber less to reach in every topic they have in common."""
    topics = interest.node_topics
    i, end_i = interest.node_offsets[u], interest.node_offsets[u + 1]
    j, end_j = interest.node_offsets[v], interest.node_offsets[v + 1]
    while i < end_i and j < end_j:
        topic, other = topics[i], topics[j]
        if topic == other:
            stars.missing[i] -= 1
            stars.missing[j] -= 1
        i += topic <= other
        j += other <= topic


TWO_DIAMETER_ODA = heuristic(
    "2d-oda",
    _build,
    problems=DIAMETER_TWO,
    summary="2D-ODA: topic by topic the star of highest topic density",
    source="P2 §6.3",
    options=(TIES,),
    pace=3,
    starts=("2d-star", "2d-true"),
    colour="#56B4E9",
    marker="D",
)
