"""An overlay in the making: what is linked, how it is connected, and how often it was looked at."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from heuristics.bucket_queue import Priorities
from heuristics.compiled import kernel
from heuristics.ties import TieOrder, candidate_of
from heuristics.topic_components import TopicComponents, contribution, join, singletons, unite
from instances import Overlay, TopicInstance

Levels = npt.NDArray[np.int32]
Degrees = npt.NDArray[np.int32]
Groups = npt.NDArray[np.int32]

ANY_DEGREE = 2**31 - 1


class Growth:
    """The overlay without edges at first; edges are added by the methods below and never removed.

    Attributes
    ----------
    instance : TopicInstance
    order : TieOrder
    components : TopicComponents
        Of the edges so far.
    degrees : int32 array, shape (|V|,)
        Of the edges so far.
    max_degree_at_first : int
        Of the overlay in which this one grows; 0 without one.
    to_merge : int
        How many components there are beyond one a topic; 0 means topic-connected.
    evaluations : int
        How many contributions were computed.
    """

    def __init__(self, instance: TopicInstance, order: TieOrder) -> None:
        self.instance, self.order = instance, order
        self.components = singletons(instance)
        self.degrees = np.zeros(instance.num_nodes, dtype=np.int32)
        self.max_degree_at_first = 0
        self.to_merge = self._to_merge_at_first = instance.num_subscriptions - instance.num_topics
        self.evaluations = 0
        self._linked: list[npt.NDArray[np.int64]] = []

    def link(self, bucket: Priorities, level: int, below: int) -> tuple[Priorities, Priorities, Levels]:
        """Add, best first, every edge of a bucket that still contributes `level`, while both degrees are `below`.

        No candidate may contribute more than `level`. Returns the candidates that the degrees forbid, and those
        that contribute less, with their contributions; whoever contributes nothing any more is dropped.
        Cost O(|T_u| + |T_v|) a candidate.
        """
        linked, blocked, stale, levels = _link(bucket, level, below, self.degrees, self.components, self.order)
        self._linked.append(linked)
        self.to_merge -= level * len(linked)
        self.evaluations += len(bucket) - len(blocked)
        return blocked, stale, levels

    def link_first(self, bucket: Priorities, level: int) -> tuple[Priorities | None, Priorities, Levels]:
        """Add the best edge of a bucket that still contributes `level`, whatever its ends' degrees.

        Returns the candidates after it (None if there is no such edge), and the candidates before it that
        contribute less, with their contributions.
        """
        place, stale, levels = _first(bucket, level, self.components, self.order)
        self.evaluations += min(place + 1, len(bucket))
        if place == len(bucket):
            return None, stale, levels
        self.link(bucket[place : place + 1], level, below=ANY_DEGREE)
        return bucket[place + 1 :], stale, levels

    def add(self, edges: npt.NDArray[np.int64], merged: int) -> None:
        """Record edges u·|V| + v that somebody else found and joined, and how many components they merged."""
        self._linked.append(edges)
        self.to_merge -= merged

    def assume(self, group_of: Groups, degrees: Degrees, max_degree: int) -> None:
        """Begin with part of a given overlay: the subscriptions of one group are connected, and nodes have degrees.

        `group_of` has the shape of ``components.label``; below 0 stands for no group, and a group is within one
        topic. `max_degree` is that of the given overlay, whose edges are not among :attr:`edges`. To be called
        first. Cost O(Σ|T_v| log |V|).
        """
        self.degrees += degrees
        self.max_degree_at_first = max_degree
        self.to_merge = self._to_merge_at_first = self.to_merge - _unite_groups(group_of, self.components)

    @property
    def edges(self) -> npt.NDArray[np.int64]:
        """The edges so far as numbers u·|V| + v, in the order they were added."""
        return np.concatenate(self._linked) if self._linked else np.empty(0, np.int64)

    def counters(self) -> dict[str, int]:
        """Edges added, components merged by them, and contributions computed."""
        return {
            "steps": len(self.edges),
            "merges": self._to_merge_at_first - self.to_merge,
            "evaluations": self.evaluations,
        }

    def overlay(self) -> Overlay:
        """The overlay of the edges so far."""
        n, edges = len(self.degrees), np.sort(self.edges)
        return Overlay(n, np.stack([edges // n, edges % n], axis=1).astype(np.int32))


@kernel
def _link(
    bucket: Priorities, level: int, below: int, degrees: Degrees, components: TopicComponents, order: TieOrder
) -> tuple[npt.NDArray[np.int64], Priorities, Priorities, Levels]:
    n = len(degrees)
    linked, blocked, stale = np.empty_like(bucket), np.empty_like(bucket), np.empty_like(bucket)
    levels = np.empty(len(bucket), np.int32)
    num_linked = num_blocked = num_stale = 0
    for place in bucket:
        edge = candidate_of(place, order)
        u = edge // n
        v = edge - u * n
        if degrees[u] >= below or degrees[v] >= below:
            blocked[num_blocked] = place
            num_blocked += 1
            continue
        now = contribution(u, v, components)
        if now == level:
            join(u, v, components)
            degrees[u] += 1
            degrees[v] += 1
            linked[num_linked] = edge
            num_linked += 1
        elif now > 0:
            stale[num_stale] = place
            levels[num_stale] = now
            num_stale += 1
    return linked[:num_linked].copy(), blocked[:num_blocked].copy(), stale[:num_stale].copy(), levels[:num_stale].copy()


@kernel
def _first(
    bucket: Priorities, level: int, components: TopicComponents, order: TieOrder
) -> tuple[int, Priorities, Levels]:
    n = len(components.node_offsets) - 1
    stale, levels = np.empty_like(bucket), np.empty(len(bucket), np.int32)
    num_stale = 0
    for k in range(len(bucket)):
        edge = candidate_of(bucket[k], order)
        now = contribution(edge // n, edge % n, components)
        if now == level:
            return k, stale[:num_stale].copy(), levels[:num_stale].copy()
        if now > 0:
            stale[num_stale] = bucket[k]
            levels[num_stale] = now
            num_stale += 1
    return len(bucket), stale[:num_stale].copy(), levels[:num_stale].copy()


@kernel
def _unite_groups(group_of: Groups, components: TopicComponents) -> int:
    """Returns how many pairs of components were united."""
    first = np.full(len(group_of), -1, np.int64)
    count = 0
    for place in range(len(group_of)):
        group = group_of[place]
        if group < 0:
            continue
        if first[group] < 0:
            first[group] = place
        elif components.label[place] != components.label[first[group]]:
            unite(first[group], place, components)
            count += 1
    return count
