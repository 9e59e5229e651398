"""How a broker routes by one view of the primary network: its working map and its working table (P5 §3 to §5)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

import numpy as np

from ....instances.contract.arrays import Ids
from ...compiled import kernel
from ..kernels.dissemination import SentCounts, choose_slots, is_busy
from ..kernels.forwarding import NOWHERE, S1, SH, Workspace, use_real_links, workspace_for
from ..kernels.working_map import FREE, WorkingMaps, add_link, clear_bit, has_bit, maps_without_links
from .messages import Entries
from .neighbourhood import Neighbourhood
from .tables import WorkingTable, find_matching, joined, selected, working_table


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
