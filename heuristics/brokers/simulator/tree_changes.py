"""A Δ-move at the brokers that it affects: two views of the primary tree, one derived from the other (P5 §6).

The steps are initiate, drain, update, drain, end; each is a wave. As in `kernels/delta_move.py`, a publication keeps
the view of the first affected broker that has it. Beyond the paper, the mover waits twice until no copy is under way:
after initiation for those from before the change, which name no view, and after the update for those of the old view.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from .messages import NEW, OLD, Ask, Drain, Edge, End, Grant, Initiate, Publication, Release, Sends, ShowMap, Update
from .routing import Neighbourhood, Routing, edge, links_by_end, paths_from, paths_over

REFUSED = -1


@dataclass(frozen=True)
class _Request:
    sender: int
    ask: Ask


@dataclass
class Coordinator:
    """Grants what brokers ask for, in the order asked unless a request waits for brokers that are affected already.

    Attributes
    ----------
    edges : set of (u, v)
        The primary tree after all that was granted.
    members : set of int
        The brokers in it.
    running : mapping
        What was granted and is not released, by number: what it is, and the brokers that it affects.
    """

    radius: int
    members: set[int]
    edges: set[Edge] = field(default_factory=set)
    running: dict[int, tuple[str, frozenset[int]]] = field(default_factory=dict)
    waiting: list[_Request] = field(default_factory=list)
    _granted: int = 0

    def receive(self, sender: int, message: Ask | Release) -> Sends:
        """Take a request, or the end of what was granted; return the grants that are now possible."""
        if isinstance(message, Release):
            del self.running[message.change]
        else:
            self.waiting.append(_Request(sender, message))
        sends: Sends = []
        kept, blocked = [], [*self.running.values()]
        ends = links_by_end(self.edges)
        for request in self.waiting:
            path = self._path(request)
            if path is None:
                sends.append((request.sender, Grant(request.ask.what, request.ask.token, REFUSED)))
                continue
            if not self._possible(request):
                kept.append(request)
                continue
            asked = (request.ask.what, self._affected(request, path, ends))
            if any(_conflict(asked, other) for other in blocked):
                kept.append(request)
            else:
                self._granted += 1
                self.running[self._granted] = asked
                region = asked[1] if request.ask.what == "move" else frozenset[int]()
                sends.append((request.sender, Grant(request.ask.what, request.ask.token, self._granted, path, region)))
                self._apply(request)
                ends = links_by_end(self.edges)
            blocked.append(asked)
        self.waiting = kept
        return sends

    def _possible(self, request: _Request) -> bool:
        """Whether it only waits for others: a broker can join only where the parent has joined."""
        return request.ask.what != "join" or request.ask.path[0] in self.members

    def _path(self, request: _Request) -> tuple[int, ...] | None:
        """The path that a grant names, or None for a request that the tree does not admit any more."""
        what, path, me = request.ask.what, request.ask.path, request.sender
        if what == "leave":
            return () if sum(me in each for each in self.edges) == 1 else None
        if what != "move":
            return ()
        old, new = path
        if edge(me, old) not in self.edges or new not in self.members:
            return None
        found = paths_from(old, self.edges - {edge(me, old)})
        if new not in found or not 1 <= found[new][1] < self.radius:
            return None
        back = [new]
        while back[-1] != old:
            back.append(found[back[-1]][0])
        return tuple(reversed(back))

    def _affected(self, request: _Request, path: tuple[int, ...], ends: Mapping[int, list[int]]) -> frozenset[int]:
        what, me = request.ask.what, request.sender
        if what == "table":
            return frozenset()
        near = path if what == "move" else request.ask.path
        return frozenset[int]().union(*(paths_over(start, ends, self.radius) for start in {me, *near}))

    def _apply(self, request: _Request) -> None:
        what, path, me = request.ask.what, request.ask.path, request.sender
        if what == "join":
            self.members.add(me)
            self.edges.add(edge(me, path[0]))
        elif what == "leave":
            self.members.discard(me)
            self.edges -= {each for each in self.edges if me in each}
        elif what == "move":
            self.edges = (self.edges - {edge(me, path[0])}) | {edge(me, path[1])}


def _conflict(one: tuple[str, frozenset[int]], other: tuple[str, frozenset[int]]) -> bool:
    tables = (one[0] == "table") + (other[0] == "table")
    if tables:
        return tables == 1 and "move" in (one[0], other[0])
    return not one[1].isdisjoint(other[1])


MoveStep = Initiate | Drain | Update | End


@dataclass
class Change:
    """A change under way at an affected broker.

    Attributes
    ----------
    number : int
        Given by the coordinator.
    region : frozenset of int
        The affected brokers.
    old, new : Routing
        The two views; without links that bypass the mover.
    links : mapping of broker to bool
        All links before the change.
    sent : int
        Copies by the old view to affected brokers.
    waiting : list of (sender, publication)
        Copies by the new view, which this broker does not have yet.
    """

    number: int
    mover: int
    region: frozenset[int]
    old: Routing
    links: dict[int, bool]
    new: Routing | None = None
    sent: int = 0
    waiting: list[tuple[int, Publication]] = field(default_factory=list)

    @classmethod
    def initiated(cls, step: Initiate, routing: Routing) -> Change:
        """The first step: links that bypass the mover are dropped."""
        hood = routing.hood
        old = routing.over(_not_past(step.mover, routing.links, hood), routing.sent())
        return cls(step.change, step.mover, step.region, old, dict(routing.links))

    @property
    def view(self) -> int:
        """The current view of this broker."""
        return OLD if self.new is None else NEW

    def update(self, step: Update) -> None:
        """The second step: the new map and the new anchors, from what the message has."""
        hood, table = self.old.hood, self.old.table
        was, now = step.path[0], step.path[-1]
        edges = ((hood.edges | step.edges) - {edge(step.mover, was)}) | {edge(step.mover, now)}
        after = Neighbourhood(hood.centre, edges, hood.radius)
        with_mover = step.mover in hood and (was not in hood or hood.hops[step.mover] < hood.hops[was])
        across = step.other_side if with_mover else step.mover_side
        anchors = table.anchors.copy()
        paths = paths_from(hood.centre, edges)
        # The anchor at the end of the new link, or the broker Δ hops from here on the path to it.
        nearer = {anchor: _within(paths, anchor, hood.radius) for anchor in set(across.values())}
        for row, number in enumerate(table.ids.tolist()):
            if number in across:
                anchors[row] = nearer[across[number]]
        links = {v: real for v, real in self.old.links.items() if after.hops.get(v, 0) > 1}
        moved = table._replace(anchors=anchors)
        self.new = Routing(after, moved, _not_past(step.mover, links, after), self.old.limits, self.old.sent())

    def ended(self) -> Routing:
        """The last step: the new view, with all links that are still possible."""
        if self.new is None:
            raise RuntimeError("a change ends at a broker that never had the new view")
        links = {v: real for v, real in self.links.items() if self.new.hood.hops.get(v, 0) > 1}
        return self.new.over(links, self.new.sent())

    def counted(self, step: Drain, sent_to: Counter[int], processed_from: Counter[int], old: int) -> tuple[int, int]:
        """Copies between affected brokers: sent from here, and processed here, of the view that is asked for."""
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

    def first(self, mover: int) -> Initiate:
        """The step that starts it."""
        return Initiate(self.change, mover, self.region)

    def following(self, step: MoveStep, sums: tuple[int, int], routing: Routing) -> MoveStep | None:
        """The step after one that is complete everywhere; None after the last.

        A drain is repeated until it counts as many copies processed as sent, twice the same.
        """
        if isinstance(step, Initiate):
            return Drain(self.change, None)
        if isinstance(step, Update):
            return Drain(self.change, OLD)
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
        path: set[Edge] = {edge(u, v) for u, v in zip(self.path, self.path[1:], strict=False)}
        other = {number: anchor for number, anchor in self.shown.anchors.items() if number not in mine}
        return Update(self.change, self.path, hood.centre, hood.edges | self.shown.edges | path, mine, other)


def _not_past(mover: int, links: dict[int, bool], hood: Neighbourhood) -> dict[int, bool]:
    return {v: real for v, real in links.items() if mover not in hood.between(v)}


def _within(paths: dict[int, tuple[int, int]], broker: int, radius: int) -> int:
    while paths[broker][1] > radius:
        broker = paths[broker][0]
    return broker
