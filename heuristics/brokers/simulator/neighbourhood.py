"""The master map and the master table of a broker: what it knows within Δ hops (P5 §3, §4)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....instances.brokers.network import BrokerTree
from ....instances.brokers.predicates import HIGHEST, LOWEST
from ....instances.contract.arrays import Ids
from ...compiled import kernel
from ..kernels.covering import covering_set
from ..kernels.working_map import Bits, set_bit
from .messages import Edge, Entries


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


def no_entries(attributes: int) -> Entries:
    """An empty master table."""
    bounds = np.empty((0, attributes), dtype=np.int32)
    return Entries(np.empty(0, dtype=np.int32), bounds, bounds, np.empty(0, dtype=np.int32))


def joined(parts: Sequence[Entries]) -> Entries:
    """A master table of several parts; of a subscription that is in two of them, the first one stays as it is."""
    if len(parts) == 1:
        return parts[0]
    whole = Entries(*(np.concatenate(rows) for rows in zip(*parts, strict=True)))
    first = np.unique(whole.ids, return_index=True)[1]
    return whole if len(first) == len(whole.ids) else selected(whole, np.sort(first))


def removed(table: Entries, ids: Ids) -> Entries:
    """A master table without some subscriptions."""
    return selected(table, ~np.isin(table.ids, ids))


def selected(table: Entries, chosen: npt.NDArray[np.bool_]) -> Entries:
    """The chosen subscriptions of a master table."""
    return Entries(*(rows[chosen] for rows in table))


def anchors_for_neighbour(anchors: Ids, hood: Neighbourhood) -> Ids:
    """The anchors that the next broker has to use, one hop farther from all of them.

    An anchor Δ hops from here is Δ + 1 from there: the broker before it takes its place. (P5 §4 says one hop closer to
    the subscriber; it must be closer to the receiver.)
    """
    members = hood.members.tolist()
    moved = np.array([hood.before(v) if hood.hops[v] == hood.radius else v for v in members], dtype=np.int32)
    return moved[hood.position(anchors)]


class WorkingTable(NamedTuple):
    """What a publication is compared with: for each slot of the working map the covering set of its subscriptions.

    Attributes
    ----------
    lows, highs : int32 arrays, shape (m, A)
        Of the covering sets, one slot after the other, and then of the local subscriptions, none of them left out.
    starts : int64 array, shape (c + 2,)
        Where the subscriptions of each slot begin, and the local ones.
    """

    lows: Ids
    highs: Ids
    starts: npt.NDArray[np.int64]


def working_table(table: Entries, slots: npt.NDArray[np.int32], count: int) -> WorkingTable:
    """The working table for a master table whose subscriptions have the given slots; -1 for local ones.

    Notes
    -----
    Cost O(S log S + S · k · A) with k the largest covering set.
    """
    widths = (table.highs.astype(np.int64) - table.lows).sum(axis=1)
    # A subscription that covers another is at least as wide in every attribute.
    order = np.lexsort((-widths, np.where(slots < 0, count, slots)))
    ends = np.searchsorted(np.where(slots < 0, count, slots)[order], np.arange(count + 2))
    kept, starts = _covering_sets(table.lows, table.highs, order, ends)
    return WorkingTable(table.lows[kept], table.highs[kept], starts)


@kernel
def _covering_sets(
    lows: Ids, highs: Ids, order: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    kept = np.empty(len(order), dtype=np.int64)
    starts = np.zeros(len(ends), dtype=np.int64)
    filled = 0
    for slot in range(len(ends) - 1):
        own = order[ends[slot] : ends[slot + 1]]
        if slot < len(ends) - 2:
            own = covering_set(lows, highs, own)
        kept[filled : filled + len(own)] = own
        filled += len(own)
        starts[slot + 1] = filled
    return kept[:filled], starts


@kernel
def find_matching(table: WorkingTable, values: Ids, anchors: Bits) -> tuple[int, int]:
    """Put the slots with a matching subscription in `anchors`; return the matching local ones and the evaluations.

    A subscription is compared up to its first false predicate, a slot up to its first matching subscription.
    """
    anchors[:] = 0
    evaluations = local = 0
    last = len(table.starts) - 2
    for slot in range(last + 1):
        for s in range(table.starts[slot], table.starts[slot + 1]):
            matches = True
            for a in range(len(values)):
                if table.lows[s, a] > LOWEST or table.highs[s, a] < HIGHEST:
                    evaluations += 1
                    if values[a] < table.lows[s, a] or values[a] > table.highs[s, a]:
                        matches = False
                        break
            if matches and slot == last:
                local += 1
            elif matches:
                set_bit(anchors, slot)
                break
    return local, evaluations
