"""An overlay in the making: what is linked, how it is connected, and how often it was looked at."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....instances.overlay import Overlay
from ....instances.topics.instance import TopicInstance
from ...compiled import kernel
from .contributions import Contributions, Edges, Open, contributions_to, open_nodes, partners
from .ties import RULES, TieOrder, candidate_of, priority
from .topic_components import TopicComponents, contribution, join, singletons, unite

Bounds = npt.NDArray[np.int32]
Degrees = npt.NDArray[np.int32]
Groups = npt.NDArray[np.int32]

ANY_DEGREE = 2**31 - 1
_HIGHEST, _RANDOM = RULES.index("highest"), RULES.index("random")
_NO_EDGES = np.empty(0, np.int64)


class OverlayBuild(NamedTuple):
    """An overlay, and counters of the run that built it."""

    overlay: Overlay
    counters: Mapping[str, float | str] = MappingProxyType({})


class Growth:
    """The overlay without edges at first; edges are added by the methods below and never removed.

    Contributions only fall while it grows. So of each node a bound is kept on what its pairs with later nodes
    contribute, and only nodes whose bound is as high as the best edge can be are looked at: no pair is listed.

    Attributes
    ----------
    instance : TopicInstance
    order : TieOrder
    components : TopicComponents
        Of the edges so far.
    degrees : int32 array, shape (|V|,)
        Of the edges so far.
    contributions : Contributions
        Of all pairs but those `used`.
    max_degree_at_first : int
        Of the overlay in which this one grows; 0 without one.
    to_merge : int
        How many components there are beyond one a topic; 0 means topic-connected.
    evaluations : int
        How many pairs were found to contribute most, and looked at once more before they were linked or not.
    """

    def __init__(self, instance: TopicInstance, order: TieOrder, *, used: Edges = _NO_EDGES) -> None:
        self.instance, self.order = instance, order
        self.components = singletons(instance)
        self.degrees = np.zeros(instance.num_nodes, dtype=np.int32)
        self.max_degree_at_first = 0
        self.to_merge = self._to_merge_at_first = instance.num_subscriptions - instance.num_topics
        self.evaluations = 0
        self.contributions = contributions_to(self.components, used)
        self._linked: list[Edges] = []

    def bounds(self) -> Bounds:
        """Of each node: its pairs contribute no more than it has topics."""
        return np.diff(self.instance.node_offsets).astype(np.int32)

    def link_level(self, bounds: Bounds, level: int, below: int) -> None:
        """Add, best first, every edge that contributes `level`, while the degrees of both its ends are `below`.

        None of them may contribute more; afterwards none contributes as much, and `bounds` say so. Cost O(Σ|T_v|) and
        a row of :mod:`.contributions` for each node whose bound is `level`; for random ties once more for
        every O(Σ|T_v|) edges.
        """
        open_ = open_nodes(self.degrees, below, self.contributions)
        if self.order.rule == _RANDOM:
            bucket, room = np.array([-1]), 2**20 + 4 * self.instance.num_subscriptions
            while len(bucket):
                after = int(bucket[-1])
                bucket = _collect(
                    level, after, room, bounds, open_, self.degrees, below, self.contributions, self.order
                )
                self._link(bucket, level, below)
                if len(bucket) < room:
                    break
        else:
            linked, looked_at = _link_rows(
                level, self.to_merge // level, bounds, open_, self.degrees, below, self.contributions, self.order
            )
            self.evaluations += looked_at
            self.add(linked, merged=level * len(linked))
        np.minimum(bounds, level - 1, out=bounds)

    def link_best(self, bounds: Bounds, above: float) -> bool:
        """Add the best of all edges if it contributes more than `above`, and say whether it did.

        `bounds` are lowered where they are found to be too high. Cost as for :meth:`link_level`.
        """
        open_ = None
        while (level := int(bounds.max())) > above:
            open_ = open_ or open_nodes(self.degrees, ANY_DEGREE, self.contributions)
            place = _best(level, bounds, open_, self.degrees, self.contributions, self.order)
            if place >= 0:
                self._link(np.array([place]), level, ANY_DEGREE)
                return True
        return False

    def add(self, edges: Edges, merged: int) -> None:
        """Record edges u·|V| + v that somebody else found and joined, and how many components they merged."""
        self._linked.append(edges)
        self.to_merge -= merged

    def assume(self, group_of: Groups, degrees: Degrees, max_degree: int) -> None:
        """Begin with part of a given overlay: the subscriptions of one group are connected, and nodes have degrees.

        `group_of` has a number for each subscription of ``node_topics``; below 0 stands for no group, and a group is
        within one topic. `max_degree` is that of the given overlay, whose edges are not among :attr:`edges`. To be
        called first. Cost O(Σ|T_v| log |V|).
        """
        self.degrees += degrees
        self.max_degree_at_first = max_degree
        self.to_merge = self._to_merge_at_first = self.to_merge - _unite_groups(group_of, self.components)

    @property
    def edges(self) -> Edges:
        """The edges so far as numbers u·|V| + v, in the order they were added."""
        return np.concatenate(self._linked) if self._linked else _NO_EDGES

    def counters(self) -> dict[str, int]:
        """Edges added, components merged by them, and pairs looked at before they were linked or not."""
        return {
            "steps": len(self.edges),
            "merges": self._to_merge_at_first - self.to_merge,
            "evaluations": self.evaluations,
        }

    def overlay(self) -> Overlay:
        """The overlay of the edges so far."""
        n, edges = len(self.degrees), np.sort(self.edges)
        return Overlay(n, np.stack([edges // n, edges % n], axis=1).astype(np.int32))

    def _link(self, bucket: Edges, level: int, below: int) -> None:
        linked = _link_bucket(bucket, level, self.degrees, below, self.contributions, self.order)
        self.evaluations += len(bucket)
        self.add(linked, merged=level * len(linked))


@kernel
def _link_rows(
    level: int,
    most_links: int,
    bounds: Bounds,
    open_: Open,
    degrees: Degrees,
    below: int,
    contributions: Contributions,
    order: TieOrder,
) -> tuple[Edges, int]:
    """In lexicographic order, or its reverse; returns the edges, and how many pairs were looked at."""
    n, nodes, backwards = len(degrees), open_.nodes, order.rule == _HIGHEST
    linked, num_linked, looked_at = np.empty(most_links, np.int64), 0, 0
    for step in range(len(nodes)):
        u = nodes[len(nodes) - 1 - step if backwards else step]
        if bounds[u] < level or degrees[u] >= below:
            continue
        found, bounds[u] = partners(u, level, open_, degrees, below, contributions)
        for v in found[::-1] if backwards else found[::1]:
            if degrees[u] >= below:
                break
            looked_at += 1
            if degrees[v] < below and contribution(u, v, contributions.components) == level:
                join(u, v, contributions.components)
                degrees[u] += 1
                degrees[v] += 1
                linked[num_linked] = np.int64(u) * n + v
                num_linked += 1
    return linked[:num_linked].copy(), looked_at


@kernel
def _collect(
    level: int,
    after: int,
    room: int,
    bounds: Bounds,
    open_: Open,
    degrees: Degrees,
    below: int,
    contributions: Contributions,
    order: TieOrder,
) -> Edges:
    """The lowest priorities above `after`, at most `room`, of edges that contribute `level`, sorted."""
    best, num = np.empty(2 * room, np.int64), 0
    limit = np.int64(2**63 - 1)
    for u in open_.nodes:
        if bounds[u] < level or degrees[u] >= below:
            continue
        found, bounds[u] = partners(u, level, open_, degrees, below, contributions)
        for v in found:
            place = priority(np.int64(u) * len(degrees) + v, order)
            if after < place <= limit:
                best[num] = place
                num += 1
            if num == len(best):
                best.sort()
                num, limit = room, best[room - 1]
    best[:num].sort()
    return best[: min(num, room)].copy()


@kernel
def _link_bucket(
    bucket: Edges, level: int, degrees: Degrees, below: int, contributions: Contributions, order: TieOrder
) -> Edges:
    """Best first, every edge of a sorted bucket that still contributes `level`."""
    n = len(degrees)
    linked, num_linked = np.empty_like(bucket), 0
    for place in bucket:
        edge = candidate_of(place, order)
        u = edge // n
        v = edge - u * n
        if degrees[u] < below and degrees[v] < below and contribution(u, v, contributions.components) == level:
            join(u, v, contributions.components)
            degrees[u] += 1
            degrees[v] += 1
            linked[num_linked] = edge
            num_linked += 1
    return linked[:num_linked].copy()


@kernel
def _best(
    level: int, bounds: Bounds, open_: Open, degrees: Degrees, contributions: Contributions, order: TieOrder
) -> int:
    """The lowest priority of an edge that contributes `level`, if none contributes more; -1 if there is none."""
    n, nodes, best = len(degrees), open_.nodes, -1
    for step in range(len(nodes)):
        u = nodes[len(nodes) - 1 - step if order.rule == _HIGHEST else step]
        if bounds[u] < level:
            continue
        found, bounds[u] = partners(u, level, open_, degrees, ANY_DEGREE, contributions)
        for v in found:
            place = priority(np.int64(u) * n + v, order)
            if best < 0 or place < best:
                best = place
        if best >= 0 and order.rule != _RANDOM:
            break
    return best


@kernel
def _unite_groups(group_of: Groups, components: TopicComponents) -> int:
    """Returns how many pairs of components were united."""
    first = np.full(len(group_of), -1, np.int64)
    count = 0
    for i in range(len(group_of)):
        group, place = group_of[i], components.place[i]
        if group < 0:
            continue
        if first[group] < 0:
            first[group] = place
        elif components.label[place] != components.label[first[group]]:
            unite(first[group], place, components)
            count += 1
    return count
