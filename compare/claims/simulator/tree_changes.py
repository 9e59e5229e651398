"""A Δ-move at the brokers that it affects: two views of the primary tree, one derived from the other (P5 §6).

The steps are initiate, drain, update, drain, end; each is a wave. A publication keeps the view of the first affected
broker that has it. Beyond the paper, the mover waits twice until no copy is under way: after initiation for those from
before the change, which name no view, and after the update for those of the old view.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Generic, TypeVar

import numpy as np

from .messages import NEW, OLD, Ask, Drain, Edge, End, Grant, Initiate, Publication, Release, Sends, ShowMap, Update
from .routing import Neighbourhood, Routing, anchor, edge, paths_from

REFUSED = -1
Name = TypeVar("Name")
Kind = TypeVar("Kind")


@dataclass
class Coordinator:
    """Grants requests of brokers in their order; a request waits while an earlier one affects the same brokers.

    `running`: the granted requests that are not released, by number: their kind, and the brokers that they affect.
    """

    radius: int
    members: set[int]  # the brokers in it
    edges: set[Edge] = field(default_factory=set)  # the primary tree after all that was granted
    running: dict[int, tuple[str, frozenset[int]]] = field(default_factory=dict)
    waiting: list[tuple[int, Ask]] = field(default_factory=list)  # brokers and their requests
    _granted: int = 0

    def receive(self, sender: int, message: Ask | Release) -> Sends:
        """Take a request, or the end of what was granted; return the grants that are now possible."""
        if isinstance(message, Release):
            del self.running[message.change]
        else:
            self.waiting.append((sender, message))
        sends: Sends = []
        kept, blocked = [], [*self.running.values()]
        for me, ask in self.waiting:
            path = self._path(me, ask)
            if path is None:
                sends.append((me, Grant(ask.what, ask.token, REFUSED)))
                continue
            if ask.what == "join" and ask.path[0] not in self.members:  # a parent that has to join before
                kept.append((me, ask))
                continue
            asked = (ask.what, self._affected(me, ask, path))
            if any(_conflict(asked, other) for other in blocked):
                kept.append((me, ask))
            else:
                self._granted += 1
                self.running[self._granted] = asked
                region = asked[1] if ask.what == "move" else frozenset[int]()
                sends.append((me, Grant(ask.what, ask.token, self._granted, path, region)))
                self._apply(me, ask)
            blocked.append(asked)
        self.waiting = kept
        return sends

    def _path(self, me: int, ask: Ask) -> tuple[int, ...] | None:
        """The path that a grant names, or None for a request that the tree does not admit any more."""
        if ask.what == "leave":
            return () if sum(me in each for each in self.edges) == 1 else None
        if ask.what != "move":
            return ()
        old, new = ask.path
        if edge(me, old) not in self.edges or new not in self.members:
            return None
        path = paths_from(old, self.edges - {edge(me, old)}).get(new, [])
        return tuple(path) if 2 <= len(path) <= self.radius else None

    def _affected(self, me: int, ask: Ask, path: tuple[int, ...]) -> frozenset[int]:
        """The brokers within Δ of what changes."""
        if ask.what == "table":
            return frozenset()
        near = path if ask.what == "move" else ask.path
        return frozenset[int]().union(*(paths_from(start, self.edges, self.radius) for start in {me, *near}))

    def _apply(self, me: int, ask: Ask) -> None:
        if ask.what == "join":
            self.members.add(me)
            self.edges.add(edge(me, ask.path[0]))
        elif ask.what == "leave":
            self.members.discard(me)
            self.edges -= {each for each in self.edges if me in each}
        elif ask.what == "move":
            self.edges = (self.edges - {edge(me, ask.path[0])}) | {edge(me, ask.path[1])}


def _conflict(one: tuple[str, frozenset[int]], other: tuple[str, frozenset[int]]) -> bool:
    tables = (one[0] == "table") + (other[0] == "table")
    if tables:
        return tables == 1 and "move" in (one[0], other[0])
    return not one[1].isdisjoint(other[1])


@dataclass
class OpenWave(Generic[Name, Kind]):
    """A step at one broker: its wave, from whom it came, the brokers who have not confirmed it, and their counts."""

    wave: Name
    step: Kind
    sender: int
    awaited: set[int]
    sums: tuple[int, int]


class Waves(Generic[Name, Kind]):
    """The steps that one broker has passed on and that are not confirmed by all to whom they were passed."""

    def __init__(self) -> None:
        self._open: dict[Name, OpenWave[Name, Kind]] = {}

    def opened(
        self, wave: Name, step: Kind, sender: int, passed_to: Iterable[int], sums: tuple[int, int] = (0, 0)
    ) -> OpenWave[Name, Kind] | None:
        """Note a step that was passed on; return it if it is complete already."""
        self._open[wave] = OpenWave(wave, step, sender, set(passed_to), sums)
        return self._if_complete(wave)

    def confirmed(self, wave: Name, by: int, sent: int = 0, processed: int = 0) -> OpenWave[Name, Kind] | None:
        """Note a confirmation; return the step if it is complete now."""
        if (step := self._open.get(wave)) is None:
            return None
        step.awaited.discard(by)
        step.sums = (step.sums[0] + sent, step.sums[1] + processed)
        return self._if_complete(wave)

    def forget(self, broker: int) -> list[OpenWave[Name, Kind]]:
        """Await nothing of a broker that has left; return the steps that are complete now."""
        for step in self._open.values():
            step.awaited.discard(broker)
        return [done for wave in list(self._open) if (done := self._if_complete(wave))]

    def _if_complete(self, wave: Name) -> OpenWave[Name, Kind] | None:
        return self._open.pop(wave) if not self._open[wave].awaited else None


@dataclass
class Change:
    """A change under way at an affected broker.

    `old`, `new`: the two views; without links that bypass the mover. `waiting`, list of (sender, publication):
    copies by the new view, which this broker does not have yet.
    """

    number: int  # given by the coordinator
    region: frozenset[int]  # the affected brokers
    old: Routing
    links: dict[int, bool]  # all links before the change
    new: Routing | None = None
    sent: int = 0  # copies by the old view to affected brokers
    waiting: list[tuple[int, Publication]] = field(default_factory=list)

    @classmethod
    def initiated(cls, step: Initiate, routing: Routing) -> Change:
        """The first step: links that bypass the mover are dropped."""
        return cls(step.change, step.region, routing.not_past(step.mover), dict(routing.links))

    @property
    def view(self) -> int:
        """The current view of this broker."""
        return OLD if self.new is None else NEW

    def update(self, step: Update) -> Routing:
        """The second step: derive the new map and the new anchors from the message."""
        hood, table = self.old.hood, self.old.table
        was, now = step.path[0], step.path[-1]
        edges = ((hood.edges | step.edges) - {edge(step.mover, was)}) | {edge(step.mover, now)}
        with_mover = step.mover in hood and (was not in hood or hood.hops[step.mover] < hood.hops[was])
        across = step.other_side if with_mover else step.mover_side
        anchors, paths = table.anchors.copy(), paths_from(hood.centre, edges)
        # The anchor at the end of the new link, or the broker Δ hops from here on the path to it.
        nearer = {end: anchor(paths, end, hood.radius) for end in set(across.values())}
        for row, number in enumerate(table.ids.tolist()):
            if number in across:
                anchors[row] = nearer[across[number]]
        after = Neighbourhood(hood.centre, edges, hood.radius)
        moved = Routing(after, table._replace(anchors=anchors), self.old.links, self.old.limits, self.old.sent())
        self.new = moved.not_past(step.mover)
        return self.new

    def ended(self) -> Routing:
        """The last step: the new view, with all links that are still possible."""
        if self.new is None:
            raise RuntimeError("a change ends at a broker that never had the new view")
        return self.new.over(self.links)

    def counted(self, step: Drain, sent_to: Counter[int], processed_from: Counter[int], old: int) -> tuple[int, int]:
        """The copies between affected brokers that this broker sent and processed, of the view that the step names."""
        if step.view == OLD:
            return self.sent, old
        return sum(sent_to[v] for v in self.region), sum(processed_from[v] for v in self.region)


@dataclass
class Relocation:
    """A Δ-move as the mover carries it out: from the grant on, step by step."""

    change: int
    path: tuple[int, ...]
    region: frozenset[int]
    shown: ShowMap | None = None
    counted: tuple[int, int] = (-1, -1)

    def following(
        self, step: Initiate | Drain | Update | End, sums: tuple[int, int], routing: Routing
    ) -> Drain | Update | End | None:
        """The step that follows a complete one; None after the last.

        A drain is repeated until two in a row count the same copies, as many processed as sent.
        """
        if isinstance(step, Initiate | Update):
            return Drain(self.change, OLD if isinstance(step, Update) else None)
        if isinstance(step, End):
            return None
        stable, self.counted = sums == self.counted and sums[0] == sums[1], sums
        if not stable:
            return step
        self.counted = (-1, -1)
        return self._update(routing) if step.view is None else End(self.change)

    def _update(self, routing: Routing) -> Update:
        if self.shown is None:
            raise RuntimeError("a move starts without the map of the new neighbour")
        hood, table, was = routing.hood, routing.table, self.path[0]
        members = hood.members.tolist()
        own_side = np.array([v == hood.centre or hood.next_hop(v) != was for v in members])[
            hood.position(table.anchors)
        ]
        mine = dict(zip(table.ids[own_side].tolist(), table.anchors[own_side].tolist(), strict=True))
        path = {edge(u, v) for u, v in pairwise(self.path)}
        other = {number: end for number, end in self.shown.anchors.items() if number not in mine}
        return Update(self.change, self.path, hood.centre, hood.edges | self.shown.edges | path, mine, other)
