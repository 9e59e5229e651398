"""Primary Δ-moves: a broker changes its primary neighbour within its neighbourhood, under traffic (P5 §6).

The four phases are the paper's. Two additions keep publications from being lost (docs/brokers.md has the
counterexamples). From the first affected broker on, a publication is routed by one view of the tree, the one before or
the one after the move. And all brokers within Δ of the moving path are affected, as their anchors may lie on it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import numpy as np

from ....instances.brokers.network import BrokerTree
from ....instances.contract.arrays import Ids
from ....instances.contract.errors import BadInput
from .forwarding import NOWHERE, S1, find_anchors, forward_common, forward_far, workspace_for
from .working_map import WorkingMaps, working_maps

Link = tuple[int, int]
OLD, NEW = 0, 1


@dataclass(frozen=True)
class Move:
    """Broker `mover` replaces its primary neighbour `old` by `new`, which is at most Δ hops from it.

    Raises
    ------
    BadInput
        If `old` is no neighbour, or `new` is the mover, a neighbour, farther than Δ, or on the mover's side of `old`.
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
    def path(self) -> list[int]:
        """The primary path from the old neighbour to the new one."""
        path = [self.old]
        while path[-1] != self.new:
            path.append(int(self.tree.next_hops[path[-1], self.new]))
        return path

    @property
    def affected(self) -> frozenset[int]:
        """The brokers whose maps or anchors may change: within Δ of the mover or of the moving path."""
        near = self.tree.distances[:, [self.mover, *self.path]].min(axis=1)
        return frozenset(np.flatnonzero(near <= self.radius).tolist())

    def tree_after(self) -> BrokerTree:
        """The tree after the move; the new link has the delay of the old one."""
        tree = self.tree
        removed = tuple(sorted((self.mover, self.old)))
        links = [(u, v) if (u, v) != removed else (self.mover, self.new) for u, v in map(tuple, tree.links.tolist())]
        return BrokerTree.of(tree.num_brokers, links, delays=tree.delays, uplinks=tree.uplinks, labels=tree.labels)


@dataclass
class Coordinator:
    """Grants moves so that no two that affect the same broker run at a time."""

    granted: list[Move] = field(default_factory=list)

    def grant(self, move: Move) -> bool:
        """Grant the move unless it affects a broker that a granted one affects; return whether it was granted."""
        free = all(move.affected.isdisjoint(other.affected) for other in self.granted)
        if free:
            self.granted.append(move)
        return free

    def release(self, move: Move) -> None:
        """Release a move that is complete."""
        self.granted.remove(move)


@dataclass(frozen=True)
class Message:
    """A publication (`what` is "publication") or a step of a move (its phase, or its phase and "done")."""

    what: str
    publication: int = -1
    view: int | None = None


class MovingNetwork:
    """Brokers that exchange messages over links that keep their order, while one of them moves.

    Each call of :meth:`step` delivers the next message of one link, so the caller determines the interleaving.

    Parameters
    ----------
    move : Move
    links : list of (sender, receiver)
        Soft links, each within Δ in the tree before the move.
    strategy : {S1, S2}
    coordinator : Coordinator
    one_view : bool
        Whether a publication keeps the view of the first affected broker. If not, every broker uses its own current
        view, as in the paper, and the mover drops duplicates.

    Attributes
    ----------
    delivered : list of (publication, broker)
    duplicates : int
        Publications that the mover received again and dropped.
    done : bool
        Whether the move is complete at all brokers.
    """

    def __init__(
        self, move: Move, links: list[Link], strategy: int, coordinator: Coordinator, *, one_view: bool = True
    ) -> None:
        self.move, self._strategy, self._coordinator, self._one_view = move, strategy, coordinator, one_view
        self._trees = (move.tree, move.tree_after())
        self._maps = [_views(tree, links, move) for tree in self._trees]
        self._workspaces = [[workspace_for(maps) for maps in both] for both in self._maps]
        self._channels: dict[Link, deque[Message]] = {}
        self._matching: list[Ids] = []
        self._avoiding: set[int] = set()
        self._view = dict.fromkeys(range(move.tree.num_brokers), OLD)
        self._finished: set[int] = set()
        self._waiting: dict[int, list[tuple[int, Message]]] = {}
        self._awaited: dict[tuple[str, int], set[int]] = {}
        self._parent: dict[tuple[str, int], int] = {}
        self._seen: set[int] = set()
        self.delivered: list[tuple[int, int]] = []
        self.duplicates = 0
        self.done = False

    @property
    def ready(self) -> list[Link]:
        """The links with a message to deliver, sorted."""
        return sorted(link for link, queue in self._channels.items() if queue)

    def start(self) -> bool:
        """Preparation: ask the coordinator and, if the move is granted, send the initiation messages."""
        granted = self._coordinator.grant(self.move)
        if granted:
            self._propagate("initiate", self.move.mover, NOWHERE)
        return granted

    def publish(self, source: int, matching: Ids) -> None:
        """Publish for the brokers of `matching` (in ascending order) except the source."""
        self._matching.append(matching)
        self._forward(source, NOWHERE, Message("publication", len(self._matching) - 1))

    def step(self, link: Link) -> None:
        """Deliver the next message of a link."""
        sender, receiver = link
        message = self._channels[link].popleft()
        if message.what == "publication":
            self._receive(receiver, sender, message)
        elif message.what.endswith(" done"):
            self._confirm(message.what.removesuffix(" done"), receiver, sender)
        else:
            self._propagate(message.what, receiver, sender)

    def _receive(self, broker: int, sender: int, message: Message) -> None:
        if message.view == NEW and self._view[broker] == OLD and broker in self.move.affected:
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

    def _forward(self, broker: int, sender: int, message: Message) -> None:
        view = message.view
        if view is None and self._one_view and broker in self.move.affected:
            view = self._view[broker]
        by_view = self._view[broker] if view is None else view
        # The two views are equal for a broker that the move does not affect.
        free = broker in self._finished if by_view == NEW else broker not in self._avoiding
        maps, workspace = self._maps[by_view][free], self._workspaces[by_view][free]
        matching = self._matching[message.publication]
        if not find_anchors(maps, broker, sender, matching, workspace):
            return
        common = self._strategy == S1
        count = forward_common(maps, broker, False, workspace) if common else forward_far(maps, broker, workspace)
        copy = Message("publication", message.publication, view)
        for slot in workspace.targets[:count].tolist():
            self._send(broker, int(maps.ends[broker, slot]), copy)

    def _propagate(self, phase: str, broker: int, sender: int) -> None:
        """Apply a phase and send it on over primary links to affected brokers; confirm it after they did."""
        self._apply(phase, broker)
        tree = self._trees[OLD if phase == "initiate" else NEW]
        onward = {v for v in tree.neighbours[broker].tolist() if v in self.move.affected and v != sender}
        self._parent[phase, broker], self._awaited[phase, broker] = sender, onward
        for v in sorted(onward):
            self._send(broker, v, Message(phase))
        self._if_all_confirmed(phase, broker)

    def _apply(self, phase: str, broker: int) -> None:
        if phase == "initiate":
            self._avoiding.add(broker)
        elif phase == "update":
            self._view[broker] = NEW
            for sender, message in self._waiting.pop(broker, []):
                self._receive(broker, sender, message)
        else:
            self._finished.add(broker)

    def _confirm(self, phase: str, broker: int, by: int) -> None:
        self._awaited[phase, broker].discard(by)
        self._if_all_confirmed(phase, broker)

    def _if_all_confirmed(self, phase: str, broker: int) -> None:
        if self._awaited[phase, broker]:
            return
        sender = self._parent[phase, broker]
        if sender != NOWHERE:
            self._send(broker, sender, Message(f"{phase} done"))
        elif phase == "end":
            self.done = True
            self._coordinator.release(self.move)
        else:
            self._propagate("update" if phase == "initiate" else "end", broker, NOWHERE)

    def _send(self, sender: int, receiver: int, message: Message) -> None:
        self._channels.setdefault((sender, receiver), deque()).append(message)


def _views(tree: BrokerTree, links: list[Link], move: Move) -> tuple[WorkingMaps, WorkingMaps]:
    """The maps over the soft links that do not bypass the mover, and over all that span 2 … Δ hops of the tree."""
    hops, a = tree.distances, move.mover
    valid = [(u, v) for u, v in links if 2 <= hops[u, v] <= move.radius]
    other = [(u, v) for u, v in valid if a in (u, v) or hops[u, a] + hops[a, v] != hops[u, v]]
    return working_maps(tree, other), working_maps(tree, valid)
