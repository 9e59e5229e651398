"""2D-ODA (P2 §6.3): topic by topic, the star of highest topic density."""

from __future__ import annotations

from fractions import Fraction
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
from ..tie_breaking.greedy_rule import DENSITY, StarRule
from ..tie_breaking.tie_search import Choice, StarSteps, State
from ..tie_breaking.ties import TIES, TieOrder, rank_of, tie_order


@heuristic(TIES)
def two_diameter_oda(instance: TopicInstance, *, ties: str = "lowest", seed: int = 0) -> OverlayBuild:
    """An overlay with a star on the subscribers of every topic, so that every topic has diameter at most 2.

    While topics are left, take the node u and topic t ∈ T_u left of highest topic density, add the edges from u to all
    subscribers of t, and drop t. The topic density is the sum of |V_t'| over the topics t' ∈ T_u left, divided
    by the number of subscribers of t not adjacent to u, u itself among them. Densities are compared exactly.

    Notes
    -----
    Onus and Richa 2015 (P2), §6.3, Algorithm 2. Parameters, result and errors are those of :func:`.greedy_merge`.
    Time O(|V||T| + Σ_t Σ_{v∈V_t} |T_v| + Σ_edges (|T_u| + |T_v|)), memory O(Σ|T_v|).

    Examples
    --------
    >>> instance = TopicInstance.from_subscriptions({"n0": ["a", "b"], "n1": ["a", "b"], "n2": ["b"]})
    >>> two_diameter_oda(instance).edges.tolist()
    [[0, 1], [0, 2]]
    """
    interest = interest_of(instance)
    edges = _stars(interest, _no_stars(interest, weighted_neighbours(instance)), tie_order(ties, seed))
    return OverlayBuild(Overlay.from_edges(instance.num_nodes, edges), {"steps": instance.num_topics})


class _Stars(NamedTuple):
    """The stars so far.

    A subscription is its index in ``node_topics``. The half-edges of edge e are 2e and 2e + 1; `first` and `following`
    are linked lists of those of each node, -1 ends a list.
    """

    left: npt.NDArray[np.bool_]  # of each topic: not dropped yet
    weight: npt.NDArray[np.int64]  # of each node: the numerator of its topics' densities
    missing: Ids  # of each subscription: the denominator of its density
    densest: npt.NDArray[np.int64]  # of each node: its subscription left of highest density, or -1
    ends: Ids  # of each half-edge: the node it leaves from
    first: Ids
    following: Ids
    adjacent: Ids  # of each node: the last step whose centre was already adjacent to it


@kernel
def _stars(interest: Interest, stars: _Stars, order: TieOrder) -> Ids:
    """Find all stars; returns the edges in the order of their addition, shape (m, 2)."""
    for node in range(len(stars.weight)):
        _find_densest(node, interest, stars, order)
    num_edges = 0
    for step in range(len(stars.left)):
        centre = _densest_node(interest, stars, order)
        topic = interest.node_topics[stars.densest[centre]]
        num_edges = _add_star(centre, topic, step, num_edges, interest, stars)
        subscribers = interest.topic_nodes[interest.topic_offsets[topic] : interest.topic_offsets[topic + 1]]
        stars.left[topic] = False
        # Only these nodes have lost a topic or gained an edge.
        for node in subscribers:
            stars.weight[node] -= len(subscribers)
            _find_densest(node, interest, stars, order)
    return stars.ends[: 2 * num_edges].copy().reshape(-1, 2)


def _no_stars(interest: Interest, weighted: Offsets) -> _Stars:
    n, size = len(interest.node_offsets) - 1, len(interest.node_topics)
    popularity = np.diff(interest.topic_offsets).astype(np.int32)
    return _Stars(
        np.ones(len(popularity), np.bool_),
        weighted,
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
    best, best_rank = -1, 0
    for i in range(interest.node_offsets[node], interest.node_offsets[node + 1]):
        topic = interest.node_topics[i]
        if not stars.left[topic]:
            continue
        rank = rank_of(np.int64(node) * len(stars.left) + topic, order)
        if (
            best < 0
            or stars.missing[i] < stars.missing[best]
            or (stars.missing[i] == stars.missing[best] and rank < best_rank)
        ):
            best, best_rank = i, rank
    stars.densest[node] = best


@kernel
def _densest_node(interest: Interest, stars: _Stars, order: TieOrder) -> int:
    best, weight, missing, best_rank = -1, 0, 1, 0
    for node in range(len(stars.weight)):
        i = stars.densest[node]
        if i < 0:
            continue
        here, there = stars.weight[node] * missing, weight * stars.missing[i]
        if best < 0 or here >= there:
            rank = rank_of(np.int64(node) * len(stars.left) + interest.node_topics[i], order)
            if best < 0 or here > there or rank < best_rank:
                best, weight, missing = node, stars.weight[node], stars.missing[i]
                best_rank = rank
    return best


@kernel
def _add_star(centre: int, topic: int, step: int, num_edges: int, interest: Interest, stars: _Stars) -> int:
    """Add the edges from the centre to the topic's other subscribers, and return the number of all edges."""
    half = stars.first[centre]
    while half >= 0:
        stars.adjacent[stars.ends[half ^ 1]] = step
        half = stars.following[half]
    for node in interest.topic_nodes[interest.topic_offsets[topic] : interest.topic_offsets[topic + 1]]:
        if node == centre or stars.adjacent[node] == step:
            continue
        _prepend(2 * num_edges, centre, stars)
        _prepend(2 * num_edges + 1, node, stars)
        num_edges += 1
        _count_as_adjacent(centre, node, interest, stars)
    return num_edges


@kernel
def _prepend(half: int, end: int, stars: _Stars) -> None:
    stars.ends[half] = end
    stars.following[half] = stars.first[end]
    stars.first[end] = half


@kernel
def _count_as_adjacent(u: int, v: int, interest: Interest, stars: _Stars) -> None:
    """Lower the denominators of both ends of a new edge in the topics that they have in common."""
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


_RULE = StarRule(DENSITY, of_one_topic=True)


class _Steps(StarSteps):
    """The choices of 2D-ODA: a node and a class of topics, of which one topic is dropped."""

    def __init__(self, instance: TopicInstance, *, grouped: bool = True) -> None:
        super().__init__(instance, _RULE, grouped=grouped)
        self.measure = "topic density"

    def after(self, state: State, choice: Choice) -> State:
        centre, c = choice
        return self.with_stars(state, centre, {c: state.rest[c] - 1})

    def label(self, choice: Choice) -> str:
        centre, c = choice
        return f"{self.instance.node_label(centre)} {self.instance.topic_label(self.topics[c][0])}"

    def number(self, choice: Choice) -> int:
        return choice[0] * self.instance.num_topics + self.topics[choice[1]][0]

    def scores(self, state: State) -> dict[Choice, Fraction]:
        def missing(u: int, c: int) -> int:
            return sum(v == u or not self.has_edge(state, (min(u, v), max(u, v))) for v in self.members[c])

        return {
            (u, c): Fraction(self.weighted(state, u), missing(u, c)) for u in self.nodes for c in self.left(state, u)
        }


TWO_DIAMETER_ODA = two_diameter_oda.method(
    "2d-oda",
    DIAMETER_TWO,
    steps=_Steps,
    traced=partial(_Steps, grouped=False),
    rule=lambda: _RULE,
    summary="2D-ODA: topic by topic the star of highest topic density",
    source="P2 §6.3",
    guarantee="every topic has diameter at most 2 (P2 Lemma 7); no ratio is proven",
    cost="time O(|V||T| + Σ_t Σ_{v∈V_t} |T_v| + Σ_edges (|T_u| + |T_v|)), memory O(Σ|T_v|)",
    pace=3,
)
