"""A primary Δ-move by itself: a broker replaces a primary neighbour by one within its neighbourhood (P5 §6).

The four phases are the paper's. Two additions keep publications from being lost (docs/brokers.md has the
counterexamples). From the first affected broker on, a publication is routed by one view of the tree, the one before or
the one after the move. And all brokers within Δ of the moving path are affected, as their anchors may lie on it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

import numpy as np

from ...heuristics.brokers.kernels.forwarding import (
    NOWHERE,
    S1,
    find_anchors,
    forward_common,
    forward_far,
    workspace_for,
)
from ...heuristics.brokers.kernels.working_map import working_maps
from ...instances.brokers.network import BrokerTree
from ...instances.contract.arrays import Ids
from ...instances.contract.errors import BadInput
from .simulator.messages import NEW, OLD
from .simulator.tree_changes import OpenWave, Waves

Link = tuple[int, int]
_FOLLOWING = {"initiate": "update", "update": "end"}


@dataclass(frozen=True)
class DeltaMove:
    """Broker `mover` replaces its primary neighbour `old` by `new`, which is at most Δ hops from it.

    Bad input if `old` is no neighbour, or `new` is the mover, a neighbour, farther than Δ, or on its side of `old`.
    """

    tree: BrokerTree
    radius: int
    mover: int
    old: int
    new: int

    def __post_init__(self) -> None:
        name, hops = self.tree.label, self.tree.distances
        if hops[self.mover, self.old] != 1:
            raise BadInput(f"'{name(self.old)}' is no primary neighbour of '{name(self.mover)}': name one")
        if not 2 <= hops[self.mover, self.new] <= self.radius:
            raise BadInput(f"'{name(self.new)}' is not 2 to {self.radius} hops from '{name(self.mover)}': name one")
        if self.tree.next_hops[self.mover, self.new] != self.old:
            raise BadInput(f"'{name(self.new)}' is on the mover's side of '{name(self.old)}': that closes a cycle")

    @property
    def affected(self) -> frozenset[int]:
        """The brokers whose maps or anchors may change: within Δ of the mover or of the path from `old` to `new`."""
        far = self.tree.distances
        path = np.flatnonzero(far[self.mover] + far[:, self.new] == far[self.mover, self.new])
        return frozenset(np.flatnonzero(far[:, path].min(axis=1) <= self.radius).tolist())

    def tree_after(self) -> BrokerTree:
        """The tree after the move; the new link has the delay of the old one."""
        tree = self.tree
        removed = tuple(sorted((self.mover, self.old)))
        links = [(u, v) if (u, v) != removed else (self.mover, self.new) for u, v in map(tuple, tree.links.tolist())]
        return BrokerTree.of(tree.num_brokers, links, delays=tree.delays, uplinks=tree.uplinks, labels=tree.labels)


class _Message(NamedTuple):
    """A publication or, without one, a step of a move: its phase, or its phase and "done"."""

    phase: str = ""
    publication: int = -1
    view: int | None = None


class MovingNetwork:
    """Brokers that exchange messages over links that keep their order, while one of them moves.

    Each call of :meth:`step` delivers the next message of one link, so the caller determines the interleaving.

    `links`, list of (sender, receiver): soft links, each within Δ in the tree before the move. `strategy`, one of
    S1, S2. `one_view`: whether a publication keeps the view of the first affected broker. If not, every broker uses
    its own current view, as in the paper, and the mover drops duplicates. `delivered`, list of (publication,
    broker). `duplicates`: publications that the mover received again and dropped. `done`: whether the move is
    complete at all brokers.
    """

    def __init__(self, move: DeltaMove, links: list[Link], strategy: int, *, one_view: bool = True) -> None:
        self.move, self._strategy, self._one_view = move, strategy, one_view
        self._trees, self._affected = (move.tree, move.tree_after()), move.affected
        self._maps = [[working_maps(tree, own) for own in _links(tree, links, move)] for tree in self._trees]
        self._workspaces = [[workspace_for(maps) for maps in both] for both in self._maps]
        self._channels: dict[Link, deque[_Message]] = {}
        self._matching: list[Ids] = []
        self._avoiding: set[int] = set()
        self._view = dict.fromkeys(range(move.tree.num_brokers), OLD)
        self._finished: set[int] = set()
        self._waiting: dict[int, list[tuple[int, _Message]]] = {}
        self._waves = [Waves[str, str]() for _ in self._view]
        self._seen: set[int] = set()
        self.delivered: list[tuple[int, int]] = []
        self.duplicates = 0
        self.done = False

    @property
    def ready(self) -> list[Link]:
        """The links with a message to deliver, sorted."""
        return sorted(link for link, queue in self._channels.items() if queue)

    def start(self) -> None:
        self._spread("initiate", self.move.mover, NOWHERE)

    def publish(self, source: int, matching: Ids) -> None:
        """Publish for the brokers of `matching` (in ascending order) except the source."""
        self._matching.append(matching)
        self._forward(source, NOWHERE, _Message(publication=len(self._matching) - 1))

    def step(self, link: Link) -> None:
        sender, receiver = link
        message = self._channels[link].popleft()
        if not message.phase:
            self._receive(receiver, sender, message)
        elif message.phase.endswith(" done"):
            self._advance(receiver, self._waves[receiver].confirmed(message.phase.removesuffix(" done"), sender))
        else:
            self._spread(message.phase, receiver, sender)

    def interleave(self, random: Random, publications: int) -> list[tuple[int, list[int]]]:
        """Move, publish and deliver every message, in a random order.

        Returns the source and the matching brokers of each publication, which are drawn at random.
        """
        size, published = self.move.tree.num_brokers, []
        todo = ["move", *["publish"] * publications]
        random.shuffle(todo)
        while todo or self.ready:
            if todo and (not self.ready or random.random() < 0.1):
                if todo.pop() == "move":
                    self.start()
                else:
                    matching = sorted(random.sample(range(size), random.randint(0, size)))
                    published.append((random.randrange(size), matching))
                    self.publish(published[-1][0], np.array(matching, dtype=np.int32))
            else:
                self.step(random.choice(self.ready))
        return published

    def _receive(self, broker: int, sender: int, message: _Message) -> None:
        if message.view == NEW and self._view[broker] == OLD and broker in self._affected:
            self._waiting.setdefault(broker, []).append((sender, message))
            return
        if broker == self.move.mover and not self._one_view:
            if message.publication in self._seen:
                self.duplicates += 1
                return
            self._seen.add(message.publication)
        if broker in self._matching[message.publication]:
            self.delivered.append((message.publication, broker))
        self._forward(broker, sender, message)

    def _forward(self, broker: int, sender: int, message: _Message) -> None:
        view = message.view
        if view is None and self._one_view and broker in self._affected:
            view = self._view[broker]
        by_view = self._view[broker] if view is None else view
        # The two views are equal for a broker that the move does not affect.
        free = broker in self._finished if by_view == NEW else broker not in self._avoiding
        maps, workspace = self._maps[by_view][free], self._workspaces[by_view][free]
        if not find_anchors(maps, broker, sender, self._matching[message.publication], workspace):
            return
        common = self._strategy == S1
        count = forward_common(maps, broker, False, workspace) if common else forward_far(maps, broker, workspace)
        for slot in workspace.targets[:count].tolist():
            self._send(broker, int(maps.ends[broker, slot]), message._replace(view=view))

    def _spread(self, phase: str, broker: int, sender: int) -> None:
        """Apply a phase and send it on over primary links to affected brokers; confirm it after they did."""
        if phase == "initiate":
            self._avoiding.add(broker)
        elif phase == "update":
            self._view[broker] = NEW
            for neighbour, message in self._waiting.pop(broker, []):
                self._receive(broker, neighbour, message)
        else:
            self._finished.add(broker)
        near = self._trees[OLD if phase == "initiate" else NEW].neighbours[broker].tolist()
        onward = [v for v in near if v in self._affected and v != sender]
        for v in onward:
            self._send(broker, v, _Message(phase))
        self._advance(broker, self._waves[broker].opened(phase, phase, sender, onward))

    def _advance(self, broker: int, wave: OpenWave[str, str] | None) -> None:
        if wave is None:
            return
        if wave.sender != NOWHERE:
            self._send(broker, wave.sender, _Message(f"{wave.step} done"))
        elif wave.step in _FOLLOWING:
            self._spread(_FOLLOWING[wave.step], broker, NOWHERE)
        else:
            self.done = True

    def _send(self, sender: int, receiver: int, message: _Message) -> None:
        self._channels.setdefault((sender, receiver), deque()).append(message)


def _links(tree: BrokerTree, links: list[Link], move: DeltaMove) -> tuple[list[Link], list[Link]]:
    """The soft links that do not bypass the mover, and all that span 2 … Δ hops of the tree."""
    hops, a = tree.distances, move.mover
    valid = [(u, v) for u, v in links if 2 <= hops[u, v] <= move.radius]
    return [(u, v) for u, v in valid if a in (u, v) or hops[u, a] + hops[a, v] != hops[u, v]], valid
