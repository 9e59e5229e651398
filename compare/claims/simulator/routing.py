"""What a broker knows and how it routes: master map and table, working map and table, its links (P5 §3 to §6)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import cast

import networkx as nx
import numpy as np
import numpy.typing as npt

from ....heuristics.brokers.kernels.forwarding import (
    NOWHERE,
    S1,
    SH,
    ForwardingBuffers,
    SentCounts,
    choose_slots,
    is_busy,
    no_messages,
    use_real_links,
    workspace_for,
)
from ....heuristics.brokers.kernels.link_management import Management, Review, neighbour_table, review
from ....heuristics.brokers.kernels.working_map import (
    FREE,
    WorkingMaps,
    add_link,
    clear_bit,
    has_bit,
    maps_without_links,
)
from ....instances.brokers.network import BrokerTree
from ....instances.contract.arrays import Ids
from ....instances.runtime.compiled import kernel
from .covering import WorkingTable, find_matching, working_table
from .messages import Edge, Entries, Loads, Ping, Sends

Paths = Mapping[int, list[int]]
"""Of brokers: the path to each from a start, with both ends."""


def edge(u: int, v: int) -> Edge:
    """A primary link, its smaller end first."""
    return (u, v) if u < v else (v, u)


def paths_from(start: int, edges: Iterable[Edge], most: int | None = None) -> Paths:
    """The paths to all brokers that edges connect with `start`, in at most `most` hops; nearer brokers first."""
    graph: nx.Graph[int] = nx.Graph(edges)
    graph.add_node(start)
    return nx.single_source_shortest_path(graph, start, most)


def anchor(paths: Paths, broker: int, radius: int) -> int:
    """The broker `radius` hops from the start on the path to another broker, or that one if the path is shorter."""
    return paths[broker][: radius + 1][-1]


class Neighbourhood:
    """The brokers within Δ hops of `centre` and the primary links between them; immutable.

    `edges`, iterable of (u, v), u < v: primary links of a tree; those farther away are left out. `radius`: Δ.
    """

    def __init__(self, centre: int, edges: Iterable[Edge], radius: int) -> None:
        edges = frozenset(edges)
        self.centre, self.radius = centre, radius
        self.paths = paths_from(centre, edges, radius)
        self.hops = {v: len(path) - 1 for v, path in self.paths.items()}
        self.edges = frozenset((u, v) for u, v in edges if u in self.hops and v in self.hops)
        self.members: Ids = np.array(sorted(self.hops), dtype=np.int32)

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

    def next_hop(self, broker: int) -> int:
        """The primary neighbour of the centre on the path to another broker."""
        return anchor(self.paths, broker, 1)

    def position(self, brokers: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """The positions of members among `members`."""
        return np.searchsorted(self.members, brokers)

    def with_edge(self, u: int, v: int) -> Neighbourhood:
        return Neighbourhood(self.centre, self.edges | {edge(u, v)}, self.radius)

    def without(self, broker: int) -> Neighbourhood:
        """The map without a broker at the edge."""
        return Neighbourhood(self.centre, (each for each in self.edges if broker not in each), self.radius)

    def anchors_for_neighbour(self, anchors: Ids) -> Ids:
        """The anchors that the next broker has to use, one hop farther from all of them.

        An anchor Δ hops from here is Δ + 1 from there: the broker before it takes its place. (P5 §4 says one hop closer
        to the subscriber; it must be closer to the receiver.)
        """
        moved = [self.paths[v][-2] if self.hops[v] == self.radius else v for v in self.members.tolist()]
        return np.array(moved, dtype=np.int32)[self.position(anchors)]


def joined(parts: Sequence[Entries]) -> Entries:
    """Join parts of a master table; where two parts have one subscription, the entry of the first part counts."""
    if len(parts) == 1:
        return parts[0]
    whole = Entries(*(np.concatenate(rows) for rows in zip(*parts, strict=True)))
    first = np.unique(whole.ids, return_index=True)[1]
    return whole if len(first) == len(whole.ids) else selected(whole, np.sort(first))


def selected(table: Entries, chosen: npt.NDArray[np.bool_] | npt.NDArray[np.int64]) -> Entries:
    """The chosen subscriptions of a master table."""
    return Entries(*(rows[chosen] for rows in table))


@dataclass(frozen=True)
class BrokerLimits:
    """The parameters of a broker; all brokers of a system have the same but for `uplink`.

    `radius`, `fanout`: Δ, and the most primary and soft links.
    """

    radius: int
    fanout: int
    uplink: int  # publications a second; 0 without a cap
    strategy: int  # one of S0, S1, S2, SH
    management: Management  # its candidates, thresholds and load factor; reviews follow the clock


@dataclass(frozen=True)
class Sent:
    """What a broker sent: in the second `interval`, in the one before it, and since its last review."""

    interval: int = 0
    current: int = 0
    previous: int = 0
    total: int = 0
    by_end: Mapping[int, int] = field(default_factory=dict)


_NOTHING = Sent()


class Routing:
    """One view of the primary network with the links of its broker.

    `hood`: the master map. `table`: the master table; its anchors are of the same view. `links`, mapping of broker
    to bool: the soft (True) and candidate links; those that the map has no room for are dropped. `sent`: what was
    sent before, by an earlier routing.
    """

    def __init__(
        self,
        hood: Neighbourhood,
        table: Entries,
        links: Mapping[int, bool],
        limits: BrokerLimits,
        sent: Sent = _NOTHING,
    ) -> None:
        self.hood, self.limits, self._before = hood, limits, sent
        self.links = {v: real for v, real in links.items() if hood.hops.get(v, 0) > 1}
        self._tables: tuple[Entries, ...] = (table,)
        self._backs: dict[int, int] = {NOWHERE: FREE}

    @property
    def table(self) -> Entries:
        """The master table; parts that arrived one by one are joined here, once it is needed."""
        self._tables = (joined(self._tables),)
        return self._tables[0]

    @cached_property
    def own(self) -> int:
        """The broker's position in its own map."""
        return int(self.hood.position(self.hood.centre))

    @cached_property
    def maps(self) -> WorkingMaps:
        """The working map: row `own` of arrays on the members of the neighbourhood."""
        limits, tree = self.limits, self.hood.tree
        real = {**dict.fromkeys(self.hood.neighbours, True), **self.links}
        # A broker that gains a primary link has more links than the fanout and its candidates until its next review.
        most = max(limits.fanout, len(self.hood.neighbours)) + limits.management.candidates
        maps = maps_without_links(tree, min(max(most, len(real)), tree.num_brokers - 1))
        for end, position in zip(real, self.hood.position(list(real)).tolist(), strict=True):
            add_link(maps, self.own, position, real[end])
        return maps

    @cached_property
    def counts(self) -> SentCounts:
        """What was sent since the last review, in row `own`."""
        before, own, uplinks = self._before, self.own, np.full(len(self.maps.ends), self.limits.uplink)
        counts = no_messages(uplinks, self.maps, self.limits.management.output_threshold)
        counts.interval[own], counts.current[own] = before.interval, before.current
        counts.previous[own], counts.total[own] = before.previous, before.total
        for slot, end in self._ends().items():
            counts.by_slot[own, slot] = before.by_end.get(end, 0)
        return counts

    def sent(self) -> Sent:
        """What was sent by this routing and by earlier ones."""
        if "counts" not in self.__dict__:
            return self._before
        counts, own = self.counts, self.own
        by_end = {end: int(counts.by_slot[own, slot]) for slot, end in self._ends().items()}
        rows = (counts.interval, counts.current, counts.previous, counts.total)
        interval, current, previous, total = (int(row[own]) for row in rows)
        return Sent(interval, current, previous, total, by_end)

    def _ends(self) -> dict[int, int]:
        """The broker at the end of each slot in use, by distance."""
        slots = self.maps.order[self.own, : self.maps.counts[self.own]]
        ends = self.hood.members[self.maps.ends[self.own][slots]]
        return dict(zip(slots.tolist(), ends.tolist(), strict=True))

    @cached_property
    def _at_slots(self) -> list[int]:
        """The broker at the end of each slot; any for those that are free."""
        return cast(list[int], self.hood.members[self.maps.ends[self.own]].tolist())

    @cached_property
    def workspace(self) -> ForwardingBuffers:
        return workspace_for(self.maps)

    @cached_property
    def working(self) -> WorkingTable:
        """The working table; a subscription's slot is the one that its anchor is contracted into."""
        table, count = self.table, self.maps.ends.shape[1]
        return working_table(
            table.lows, table.highs, self.maps.slots[self.own][self.hood.position(table.anchors)], count
        )

    def with_table(self, table: Entries) -> Routing:
        """The same map, counts and buffers with another master table."""
        changed = Routing(self.hood, table, self.links, self.limits, self._before)
        for name in ("maps", "counts", "workspace", "own"):
            if name in self.__dict__:
                changed.__dict__[name] = self.__dict__[name]
        return changed

    def with_more(self, entries: Entries) -> Routing:
        """The routing with further subscriptions; subscriptions that the table has already keep their entries."""
        changed = self.with_table(self._tables[0])
        changed._tables = (*self._tables, entries)
        return changed

    def on(self, hood: Neighbourhood) -> Routing:
        """The same table, links and counts on another map."""
        return Routing(hood, self.table, self.links, self.limits, self.sent())

    def over(self, links: Mapping[int, bool], sent: Sent | None = None) -> Routing:
        """The same view over other links."""
        return Routing(self.hood, self.table, links, self.limits, sent or self.sent())

    def not_past(self, mover: int) -> Routing:
        """The same view without the links that bypass a broker."""
        return self.over({v: real for v, real in self.links.items() if mover not in self.hood.paths[v][1:-1]})

    def has_link(self, end: int) -> bool:
        """Whether there is a primary or soft link to a broker."""
        return end in self.hood.neighbours or self.links.get(end, False)

    def match(self, values: Ids) -> tuple[int, int]:
        """Match a publication; the matching local subscriptions, and the predicates evaluated."""
        local, evaluations = find_matching(self.working, values, self.workspace.anchors)
        return int(local), int(evaluations)

    def targets(self, sender: int, now: int) -> list[int]:
        """The brokers to which the publication matched last is sent; it came from `sender`."""
        if (back := self._backs.get(sender)) is None:
            back = self._backs[sender] = int(self.hood.position(self.hood.next_hop(sender)))
        count = _forward(self.maps, self.own, back, now, self.limits.strategy, self.counts, self.workspace)
        return [self._at_slots[slot] for slot in self.workspace.targets[:count].tolist()] if count else []

    def bypass(self, via: int, silent: Collection[int]) -> tuple[list[int], dict[int, frozenset[int]]]:
        """Split the copy of the publication matched last that was to go to `via`, which does not answer.

        Returns the ends of links beyond `via` that are sent a copy each, and the silent brokers for which a
        copy is kept, and the brokers beyond each that get their own.
        """
        maps, own, ends, found = self.maps, self.own, self._ends(), self.workspace.anchors
        self.workspace.matched[:] = found
        use_real_links(maps, own, self.workspace)
        start = next(slot for slot, end in ends.items() if end == via)
        now: list[int] = []
        later: list[int] = []
        for slot in [s for s in ends if has_bit(found, s) and has_bit(maps.beyond[own, start], s)]:
            if not any(has_bit(maps.beyond[own, other], slot) for other in now):
                (later if ends[slot] in silent else now).append(slot)
        return [ends[s] for s in now], {
            ends[s]: frozenset(ends[t] for t in (*now, *later) if t != s and has_bit(maps.beyond[own, s], t))
            for s in later
        }

    def leave_out(self, values: Ids, served: Collection[int]) -> None:
        """Match again, without the subscriptions that lie beyond brokers that are served already."""
        beyond = [v for v in self.hood.members.tolist() if not set(self.hood.paths[v]).isdisjoint(served)]
        kept = ~np.isin(self.table.anchors, beyond)
        find_matching(self.with_table(selected(self.table, kept)).working, values, self.workspace.anchors)


@kernel
def _forward(
    maps: WorkingMaps, own: int, back: int, now: int, strategy: int, counts: SentCounts, workspace: ForwardingBuffers
) -> int:
    """Choose slots for the anchors in the workspace that are downstream."""
    found = False
    for i in range(maps.counts[own]):
        slot = maps.order[own, i]
        if has_bit(workspace.anchors, slot):
            if maps.next_hops[own, maps.ends[own, slot]] == back:
                clear_bit(workspace.anchors, slot)
            else:
                found = True
    common = strategy == S1 or (strategy == SH and is_busy(counts, own, now))
    return choose_slots(maps, own, common, counts, workspace) if found else 0


class Profile:
    """What a broker has measured and heard.

    `loads`, mapping of broker to float: output in the last interval as a share of the uplink, as last heard; 0
    without a cap. `round_trips`, mapping of primary link to int: microseconds, as last heard; those of its own soft
    links are under the same kind of key.
    """

    def __init__(self) -> None:
        self.loads: dict[int, float] = {}
        self.round_trips: dict[Edge, int] = {}
        self._profiled: dict[int, int] = {}
        self._round = 0

    def reports(self, hood: Neighbourhood) -> Sends:
        """Report to each primary neighbour the loads and round trips of the brokers within Δ − 1 hops on this side."""
        sends: Sends = []
        for v in hood.neighbours:
            told = [x for x, hops in hood.hops.items() if 0 < hops < hood.radius and hood.next_hop(x) != v]
            trips = (edge(x, hood.paths[x][-2]) for x in told)
            loads = {x: self.loads.get(x, 0.0) for x in (hood.centre, *told)}
            sends.append((v, Loads(loads, {link: self.round_trips.get(link, 0) for link in trips})))
        return sends

    def pings(self, routing: Routing, now: int) -> Sends:
        """Ask for the round-trip times of all links in use."""
        ends = (*routing.hood.neighbours, *(v for v, real in routing.links.items() if real))
        return [(v, Ping(now)) for v in ends]

    def review(self, routing: Routing, seconds: float) -> Routing:
        """Keep, promote and drop links by what was sent in an interval, and choose the next candidates."""
        hood, limits, maps, own = routing.hood, routing.limits, routing.maps, routing.own
        members, rows = hood.members.tolist(), (len(hood.members), 1)
        sent = routing.sent()
        self.loads[hood.centre] = sent.total / (limits.uplink * seconds) if limits.uplink else 0.0
        # Of arrays with a row a broker, only the row of this broker is used.
        last_profiled = np.tile([self._profiled.get(v, FREE) for v in members], rows)
        given = Review(
            sent=routing.counts.by_slot,
            factors=limits.management.factors(np.array([self.loads.get(v, 0.0) for v in members])),
            spare=np.full(len(members), limits.fanout - len(hood.neighbours)),
            path_delays=np.tile([self._path_delay(hood.paths[v]) for v in members], rows),
            last_profiled=last_profiled,
            neighbours=neighbour_table(hood.tree),
            radius=limits.radius,
            candidates=limits.management.candidates,
            number=self._round,
        )
        review(maps, own, own + 1, given)
        self._profiled = dict(zip(members, last_profiled[own].tolist(), strict=True))
        self._round += 1
        links = {
            int(hood.members[maps.ends[own, slot]]): bool(has_bit(maps.real[own], slot))
            for slot in maps.order[own, : maps.counts[own]].tolist()
        }
        return routing.over(links, Sent(sent.interval, sent.current, sent.previous))

    def _path_delay(self, path: Sequence[int]) -> int:
        """Microseconds over a primary path, half of the round trips."""
        return sum(self.round_trips.get(edge(u, v), 0) // 2 for u, v in pairwise(path))
