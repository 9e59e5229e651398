"""A Δ-move at the brokers that it affects: two views of the primary tree, one derived from the other (P5 §6).

The steps are initiate, drain, update, drain, end; each is a wave. As in `kernels/delta_move.py`, a publication keeps
the view of the first affected broker that has it. Beyond the paper, the mover waits twice until no copy is under way:
after initiation for those from before the change, which name no view, and after the update for those of the old view.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from .messages import NEW, OLD, Drain, Edge, End, Initiate, Publication, ShowMap, Update
from .neighbourhood import Neighbourhood, edge, paths_from
from .routing import Routing

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
