"""How a broker routes by one view of the primary network, and how it reviews its links (P5 §3 to §6)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

import numpy as np

from ....instances.contract.arrays import Ids
from ...compiled import kernel
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
from ..kernels.working_map import FREE, WorkingMaps, add_link, clear_bit, has_bit, maps_without_links
from .messages import Edge, Entries, Loads, Ping, Sends
from .neighbourhood import Neighbourhood, WorkingTable, edge, find_matching, joined, selected, working_table


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
