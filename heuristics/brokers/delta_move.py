"""Primary Δ-moves: a broker hangs itself under another within its neighbourhood while publications flow (P5 §6).

The four phases are the paper's. Two things had to be added for no publication to get lost (docs/soft_links.md has the
counterexamples): a publication is carried by one view of the tree, before or after the move, from the first broker on
that the move affects; and affected is whoever is within Δ of the moving path, since its anchors may lie on that path.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import numpy as np

from ...instances.arrays import Ids
from ...instances.brokers.tree import BrokerTree
from ...instances.errors import BadInput
from .forwarding import NOWHERE, S1, anchors_at, forward_common, forward_far, room_for
from .working_map import Mesh, mesh_of

Link = tuple[int, int]
OLD, NEW = 0, 1


@dataclass(frozen=True)
class Move:
    """Broker `mover` leaves its primary neighbour `old` for `new`, at most Δ hops from it.

    Raises
    ------
    BadInput
        If `old` is no neighbour, or `new` is the mover, a neighbour, farther than Δ, or would be cut off with it.
    """

    tree: BrokerTree
    radius: int
    mover: int
    old: int
    new: int

    def __post_init__(self) -> None:
        name, far = self.tree.label, self.tree.distances
        if far[self.mover, self.old] != 1:
            raise BadInput(f"'{name(self.old)}' is no primary neighbour of '{name(self.mover)}': name one")
        if not 2 <= far[self.mover, self.new] <= self.radius:
            raise BadInput(f"'{name(self.new)}' is not 2 to {self.radius} hops from '{name(self.mover)}': name one")
        if self.tree.next_hops[self.mover, self.new] != self.old:
            raise BadInput(f"'{name(self.new)}' is on the mover's side of '{name(self.old)}': that closes a cycle")

    @property
    def path(self) -> list[int]:
        """From the old neighbour to the new one."""
        path = [self.old]
        while path[-1] != self.new:
            path.append(int(self.tree.next_hops[path[-1], self.new]))
        return path

    @property
    def affected(self) -> frozenset[int]:
        """The brokers whose maps or anchors may change: within Δ of the mover or of the moving path."""
        near = self.tree.distances[:, [self.mover, *self.path]].min(axis=1)
        return frozenset(np.flatnonzero(near <= self.radius).tolist())

    def moved(self) -> BrokerTree:
        """The tree after the move; the new link has the delay of the old one."""
        tree = self.tree
        gone = tuple(sorted((self.mover, self.old)))
        links = [(u, v) if (u, v) != gone else (self.mover, self.new) for u, v in map(tuple, tree.links.tolist())]
        return BrokerTree.of(tree.num_brokers, links, delays=tree.delays, uplinks=tree.uplinks, labels=tree.labels)


@dataclass
class Coordinator:
    """Grants moves one at a time in any neighbourhood."""

    granted: list[Move] = field(default_factory=list)

    def grant(self, move: Move) -> bool:
        """Whether the move may start: no broker that it affects is affected by one under way."""
        free = all(move.affected.isdisjoint(other.affected) for other in self.granted)
        if free:
            self.granted.append(move)
        return free

    def release(self, move: Move) -> None:
        """The move has ended."""
        self.granted.remove(move)


@dataclass(frozen=True)
class Message:
    """A publication (`what` is "publication") or a step of a move, with what it carries."""

    what: str
    publication: int = -1
    view: int | None = None


class MovingNetwork:
    """Brokers that exchange messages over links that keep their order, while one of them moves.

    Nothing happens by itself: :meth:`step` delivers the next message of one link, and whoever chooses the links
    chooses the interleaving.

    Parameters
    ----------
    move : Move
    links : list of (sender, receiver)
        Soft links, each within Δ in the tree before the move.
    strategy : {S1, S2}
    coordinator : Coordinator
    one_view : bool
        Whether a publication keeps the view of the first affected broker. Without it every broker goes by the view it
        has at the time, as the paper has it, and the mover drops what it gets twice.

    Attributes
    ----------
    delivered : list of (publication, broker)
    duplicates : int
        Publications that the mover got twice and dropped.
    done : bool
        Whether the move has ended everywhere.
    """

    def __init__(
        self, move: Move, links: list[Link], strategy: int, coordinator: Coordinator, *, one_view: bool = True
    ) -> None:
        self.move, self._strategy, self._coordinator, self._one_view = move, strategy, coordinator, one_view
        self._trees = (move.tree, move.moved())
        self._meshes = [_views(tree, links, move) for tree in self._trees]
        self._rooms = [[room_for(mesh) for mesh in both] for both in self._meshes]
        self._channels: dict[Link, deque[Message]] = {}
        self._matching: list[Ids] = []
        self._refrain: set[int] = set()
        self._view = dict.fromkeys(range(move.tree.num_brokers), OLD)
        self._ended: set[int] = set()
        self._held: dict[int, list[tuple[int, Message]]] = {}
        self._awaited: dict[tuple[str, int], set[int]] = {}
        self._parent: dict[tuple[str, int], int] = {}
        self._seen: set[int] = set()
        self.delivered: list[tuple[int, int]] = []
        self.duplicates = 0
        self.done = False

    @property
    def ready(self) -> list[Link]:
        """The links with a message to deliver, in order."""
        return sorted(link for link, waiting in self._channels.items() if waiting)

    def start(self) -> bool:
        """Preparation: ask the coordinator; if granted, begin with the initiation message at the old neighbour."""
        granted = self._coordinator.grant(self.move)
        if granted:
            self._spread("initiate", self.move.mover, NOWHERE)
        return granted

    def publish(self, source: int, matching: Ids) -> None:
        """A publication, to be delivered to the brokers of `matching` (rising) but its source."""
        self._matching.append(matching)
        self._forward(source, NOWHERE, Message("publication", len(self._matching) - 1))

    def step(self, link: Link) -> None:
        """Deliver the next message of a link."""
        sender, receiver = link
        message = self._channels[link].popleft()
        if message.what == "publication":
            self._receive(receiver, sender, message)
        elif message.what.endswith(" done"):
            self._confirmed(message.what.removesuffix(" done"), receiver, sender)
        else:
            self._spread(message.what, receiver, sender)

    def _receive(self, broker: int, sender: int, message: Message) -> None:
        if message.view == NEW and self._view[broker] == OLD and broker in self.move.affected:
            self._held.setdefault(broker, []).append((sender, message))
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
        going_by = self._view[broker] if view is None else view
        # Whoever the move does not affect sees the same before and after.
        free = broker in self._ended if going_by == NEW else broker not in self._refrain
        mesh, room = self._meshes[going_by][free], self._rooms[going_by][free]
        matching = self._matching[message.publication]
        if not anchors_at(mesh, broker, sender, matching, False, room):
            return
        common = self._strategy == S1
        count = forward_common(mesh, broker, False, room) if common else forward_far(mesh, broker, room)
        carried = Message("publication", message.publication, view)
        for slot in room.targets[:count].tolist():
            self._send(broker, int(mesh.ends[broker, slot]), carried)

    def _spread(self, phase: str, broker: int, sender: int) -> None:
        """Take part in a phase, pass it on over primary links to affected brokers, and confirm once they have."""
        self._take_part(phase, broker)
        tree = self._trees[OLD if phase == "initiate" else NEW]
        onward = {v for v in tree.neighbours[broker].tolist() if v in self.move.affected and v != sender}
        if sender == NOWHERE:
            onward = {self.move.old if phase == "initiate" else self.move.new} | self._own_side(broker, tree)
        self._parent[phase, broker], self._awaited[phase, broker] = sender, onward
        for v in sorted(onward):
            self._send(broker, v, Message(phase))
        self._if_all_confirmed(phase, broker)

    def _own_side(self, mover: int, tree: BrokerTree) -> set[int]:
        return {v for v in tree.neighbours[mover].tolist() if v in self.move.affected}

    def _take_part(self, phase: str, broker: int) -> None:
        if phase == "initiate":
            self._refrain.add(broker)
        elif phase == "update":
            self._view[broker] = NEW
            for sender, message in self._held.pop(broker, []):
                self._receive(broker, sender, message)
        else:
            self._ended.add(broker)

    def _confirmed(self, phase: str, broker: int, by: int) -> None:
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
            self._spread("update" if phase == "initiate" else "end", broker, NOWHERE)

    def _send(self, sender: int, receiver: int, message: Message) -> None:
        self._channels.setdefault((sender, receiver), deque()).append(message)


def _views(tree: BrokerTree, links: list[Link], move: Move) -> tuple[Mesh, Mesh]:
    """The maps over the soft links that do not bypass the mover, and over all that span 2 … Δ hops of the tree."""
    far, a = tree.distances, move.mover
    fit = [(u, v) for u, v in links if 2 <= far[u, v] <= move.radius]
    past = [(u, v) for u, v in fit if a in (u, v) or far[u, a] + far[a, v] != far[u, v]]
    return mesh_of(tree, past), mesh_of(tree, fit)
