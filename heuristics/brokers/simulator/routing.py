"""What a broker knows and how it routes: master map and table, working map and table, its links (P5 §3 to §6)."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt

from ....instances.brokers.network import BrokerTree
from ....instances.contract.arrays import Ids
from ....instances.contract.compiled import kernel
from ..kernels.covering import covering_set, matched
from ..kernels.forwarding import (
    NOWHERE,
    S1,
    SH,
    SentCounts,
    Workspace,
    choose_slots,
    is_busy,
    use_real_links,
    workspace_for,
)
from ..kernels.link_management import Limits as ReviewLimits
from ..kernels.link_management import neighbour_table, review_own
from ..kernels.working_map import FREE, Bits, WorkingMaps, add_link, clear_bit, has_bit, maps_without_links, set_bit
from .messages import Edge, Entries, Loads, Ping, Sends


@dataclass(frozen=True)
class Limits:
    """The parameters of a broker; all brokers of a system have the same but for `uplink`.

    Attributes
    ----------
    radius, fanout, candidates : int
        Δ; the most primary and soft links; the most candidates beyond the fanout.
    strategy : {S0, S1, S2, SH}
    uplink : int
        Publications a second; 0 without a cap.
    load_threshold, output_threshold : int
        Percent of the uplink above which a broker counts as loaded, and above which SH saves it.
    printed_factor : bool
        Whether the load factor has min, as the paper prints it.
    """

    radius: int
    fanout: int
    candidates: int
    strategy: int
    uplink: int
    load_threshold: int
    output_threshold: int
    printed_factor: bool = False


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

    Parameters
    ----------
    hood : Neighbourhood
        The master map.
    table : Entries
        The master table; its anchors are of the same view.
    links : mapping of broker to bool
        The soft (True) and candidate links.
    limits : Limits
    sent : Sent
        What was sent before, by an earlier routing.
    """

    def __init__(
        self, hood: Neighbourhood, table: Entries, links: Mapping[int, bool], limits: Limits, sent: Sent = _NOTHING
    ) -> None:
        self.hood, self.links, self.limits, self._before = hood, dict(links), limits, sent
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
        most = max(limits.fanout, len(self.hood.neighbours)) + limits.candidates
        maps = maps_without_links(tree, min(most, tree.num_brokers - 1))
        real = {**dict.fromkeys(self.hood.neighbours, True), **self.links}
        for end, position in zip(real, self.hood.position(list(real)).tolist(), strict=True):
            add_link(maps, self.own, position, real[end])
        return maps

    @cached_property
    def counts(self) -> SentCounts:
        """What was sent since the last review, in row `own`."""
        before, rows, own = self._before, self.maps.ends.shape, self.own
        limits, interval, current, previous, total = np.zeros((5, rows[0]), dtype=np.int64)
        limits[own] = -(-self.limits.uplink * self.limits.output_threshold // 100)
        interval[own], current[own], previous[own] = before.interval, before.current, before.previous
        total[own] = before.total
        by_slot = np.zeros(rows, dtype=np.int64)
        for slot, end in self._ends().items():
            by_slot[own, slot] = before.by_end.get(end, 0)
        return SentCounts(limits, interval, current, previous, by_slot, total)

    def sent(self) -> Sent:
        """What was sent by this routing and by earlier ones."""
        if "counts" not in self.__dict__:
            return self._before
        counts, own = self.counts, self.own
        by_end = {end: int(counts.by_slot[own, slot]) for slot, end in self._ends().items()}
        numbers = (counts.interval, counts.current, counts.previous, counts.total)
        interval, current, previous, total = (int(one[own]) for one in numbers)
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
    def workspace(self) -> Workspace:
        """Buffers of decisions."""
        return workspace_for(self.maps)

    @cached_property
    def working(self) -> WorkingTable:
        """The working table; a subscription's slot is the one that its anchor is contracted into."""
        slots = self.maps.slots[self.own][self.hood.position(self.table.anchors)]
        return working_table(self.table, slots, self.maps.ends.shape[1])

    def with_table(self, table: Entries) -> Routing:
        """The same map, counts and buffers with another master table."""
        changed = Routing(self.hood, table, self.links, self.limits, self._before)
        for name in ("maps", "counts", "workspace", "own"):
            if name in self.__dict__:
                changed.__dict__[name] = self.__dict__[name]
        return changed

    def with_more(self, entries: Entries) -> Routing:
        """As :meth:`with_table`, with further subscriptions; those that it has already stay as they are."""
        changed = self.with_table(self._tables[0])
        changed._tables = (*self._tables, entries)
        return changed

    def on(self, hood: Neighbourhood) -> Routing:
        """The same table, links and counts on another map; links to brokers that it lacks are dropped."""
        links = {v: real for v, real in self.links.items() if hood.hops.get(v, 0) > 1}
        return Routing(hood, self.table, links, self.limits, self.sent())

    def over(self, links: Mapping[int, bool], sent: Sent) -> Routing:
        """The same view over other links."""
        return Routing(self.hood, self.table, links, self.limits, sent)

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

        Returns
        -------
        now : list of int
            The ends of links beyond `via` that are sent a copy each.
        later : mapping of int to frozenset of int
            The silent brokers for which a copy is kept, and the brokers beyond each that get their own.
        """
        maps, own, ends = self.maps, self.own, self._ends()
        for w, word in enumerate(self.workspace.anchors):
            self.workspace.matched[w] = word
        use_real_links(maps, own, self.workspace)
        start = next(slot for slot, end in ends.items() if end == via)
        anchors = [s for s in ends if has_bit(self.workspace.anchors, s) and has_bit(maps.beyond[own, start], s)]
        now: list[int] = []
        later: list[int] = []
        for slot in anchors:
            if not any(has_bit(maps.beyond[own, other], slot) for other in now):
                (later if ends[slot] in silent else now).append(slot)
        return [ends[s] for s in now], {
            ends[s]: frozenset(ends[t] for t in (*now, *later) if t != s and has_bit(maps.beyond[own, s], t))
            for s in later
        }

    def leave_out(self, values: Ids, served: Iterable[int]) -> None:
        """Match again, without the subscriptions that lie beyond brokers that are served already."""
        beyond = [v for v in self.hood.members.tolist() if any(self._is_beyond(v, w) for w in served if w in self.hood)]
        kept = ~np.isin(self.table.anchors, beyond)
        find_matching(self.with_table(selected(self.table, kept)).working, values, self.workspace.anchors)

    def _is_beyond(self, broker: int, other: int) -> bool:
        while self.hood.hops[broker] > self.hood.hops[other]:
            broker = self.hood.before(broker)
        return broker == other


@kernel
def _forward(
    maps: WorkingMaps, own: int, back: int, now: int, strategy: int, counts: SentCounts, workspace: Workspace
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

    Attributes
    ----------
    loads : mapping of broker to float
        Output in the last interval as a share of the uplink, as last heard; 0 without a cap.
    round_trips : mapping of primary link to int
        Microseconds, as last heard; those of its own soft links are under the same kind of key.
    """

    def __init__(self) -> None:
        self.loads: dict[int, float] = {}
        self.round_trips: dict[Edge, int] = {}
        self._profiled: dict[int, int] = {}
        self._round = 0

    def heard(self, message: Loads) -> None:
        """Take over what a neighbour has heard."""
        self.loads.update(message.loads)
        self.round_trips.update(message.round_trips)

    def reports(self, hood: Neighbourhood) -> Sends:
        """Tell each primary neighbour what it may have to know: the brokers within Δ − 1 hops on this side of it."""
        sends: Sends = []
        for v in hood.neighbours:
            told = [x for x in hood.hops if x not in (v, hood.centre) and hood.hops[x] < hood.radius]
            told = [x for x in told if hood.next_hop(x) != v]
            trips = (edge(x, hood.before(x)) for x in told)
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
        members, size = hood.members.tolist(), len(hood.members)
        sent = routing.sent()
        self.loads[hood.centre] = sent.total / (limits.uplink * seconds) if limits.uplink else 0.0
        above = np.array([self.loads.get(v, 0.0) for v in members]) - limits.load_threshold / 100
        factors = 1 + (np.minimum(above, 0.0) if limits.printed_factor else np.maximum(above, 0.0))
        path_delays = np.zeros((size, size), dtype=np.int64)
        path_delays[own] = [self._path_delay(hood, v) for v in members]
        spare = np.full(size, limits.fanout - len(hood.neighbours), dtype=np.int64)
        profiled = np.full((size, size), FREE, dtype=np.int64)
        profiled[own] = [self._profiled.get(v, FREE) for v in members]
        given = ReviewLimits(spare, path_delays, limits.radius, limits.candidates)
        review_own(maps, own, routing.counts.by_slot, factors, given, neighbour_table(hood.tree), profiled, self._round)
        self._profiled = dict(zip(members, profiled[own].tolist(), strict=True))
        self._round += 1
        links = {
            int(hood.members[maps.ends[own, slot]]): bool(has_bit(maps.real[own], slot))
            for slot in maps.order[own, : maps.counts[own]].tolist()
        }
        links = {v: real for v, real in links.items() if hood.hops[v] > 1}
        return routing.over(links, Sent(sent.interval, sent.current, sent.previous))

    def _path_delay(self, hood: Neighbourhood, broker: int) -> int:
        """Microseconds over the primary path, half of the round trips."""
        total = 0
        while broker != hood.centre:
            total += self.round_trips.get(edge(broker, hood.before(broker)), 0) // 2
            broker = hood.before(broker)
        return total


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
            matches, evaluated = matched(table.lows, table.highs, s, values)
            evaluations += evaluated
            if matches and slot == last:
                local += 1
            elif matches:
                set_bit(anchors, slot)
                break
    return local, evaluations
