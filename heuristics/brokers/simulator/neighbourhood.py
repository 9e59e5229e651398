"""The master map of a broker: the primary network within Δ hops of it (P5 §3)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ....instances.brokers.network import BrokerTree
from ....instances.contract.arrays import Ids
from .messages import Edge


def edge(u: int, v: int) -> Edge:
    """A primary link, its smaller end first."""
    return (u, v) if u < v else (v, u)


def links_by_end(edges: Iterable[Edge]) -> dict[int, list[int]]:
    """The brokers at the other ends of each broker's links."""
    ends: dict[int, list[int]] = {}
    for u, v in edges:
        ends.setdefault(u, []).append(v)
        ends.setdefault(v, []).append(u)
    return ends


def paths_from(start: int, edges: Iterable[Edge]) -> dict[int, tuple[int, int]]:
    """For every broker that edges connect with `start`: the one before it on the path from there, and the hops."""
    return paths_over(start, links_by_end(edges))


def paths_over(start: int, ends: Mapping[int, list[int]], most: int | None = None) -> dict[int, tuple[int, int]]:
    """As :func:`paths_from`, with links by their ends and only up to `most` hops."""
    found, waiting = {start: (start, 0)}, deque([start])
    while waiting:
        u = waiting.popleft()
        for v in ends.get(u, ()) if found[u][1] != most else ():
            if v not in found:
                found[v] = (u, found[u][1] + 1)
                waiting.append(v)
    return found


class Neighbourhood:
    """The brokers within Δ hops of `centre` and the primary links between them; immutable.

    Parameters
    ----------
    centre : int
    edges : iterable of (u, v), u < v
        Primary links of a tree; those farther away are left out.
    radius : int
        Δ.
    """

    def __init__(self, centre: int, edges: Iterable[Edge], radius: int) -> None:
        edges = frozenset(edges)
        self.centre, self.radius = centre, radius
        paths = paths_over(centre, links_by_end(edges), radius)
        self._before = {v: before for v, (before, _) in paths.items()}
        self.hops = {v: hops for v, (_, hops) in paths.items()}
        self.edges = frozenset((u, v) for u, v in edges if u in paths and v in paths)
        self.members: Ids = np.array(sorted(paths), dtype=np.int32)

    def __contains__(self, broker: int) -> bool:
        return broker in self.hops

    @cached_property
    def neighbours(self) -> tuple[int, ...]:
        """The ends of the centre's primary links, sorted."""
        return tuple(sorted(v for v, hops in self.hops.items() if hops == 1))

    @cached_property
    def tree(self) -> BrokerTree:
        """The map as a tree, whose brokers are positions in `members`. Cost O(k²) for k members."""
        position = {v: k for k, v in enumerate(self.members.tolist())}
        return BrokerTree.of(len(position), [(position[u], position[v]) for u, v in self.edges])

    def before(self, broker: int) -> int:
        """The broker before another one on the path from the centre."""
        return self._before[broker]

    def next_hop(self, broker: int) -> int:
        """The primary neighbour of the centre on the path to another broker."""
        while self.hops[broker] > 1:
            broker = self._before[broker]
        return broker

    def between(self, broker: int) -> list[int]:
        """The brokers strictly between the centre and another one, from there back."""
        found = []
        while self.hops[broker] > 1:
            broker = self._before[broker]
            found.append(broker)
        return found

    def position(self, brokers: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """The positions of members among `members`."""
        return np.searchsorted(self.members, brokers)

    def with_edge(self, u: int, v: int) -> Neighbourhood:
        """The map with one more primary link."""
        return Neighbourhood(self.centre, self.edges | {edge(u, v)}, self.radius)

    def without(self, broker: int) -> Neighbourhood:
        """The map without a broker at the edge."""
        return Neighbourhood(self.centre, (each for each in self.edges if broker not in each), self.radius)
