"""The messages between brokers, and their sizes: 40 bytes of headers and 4 for each number; a publication has 200."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from msgspec import Struct

from ....instances.contract.arrays import Ids

HEADER, NUMBER, PUBLICATION = 40, 4, 200
OLD, NEW = 0, 1
NEVER = 2**62
Edge = tuple[int, int]
Wave = tuple[int, int]
"""The broker at which a wave starts and its number there."""


class Entries(NamedTuple):
    """Subscriptions: `ids` (S,), `lows` and `highs` (S, A), and the broker that is the anchor of each (S,)."""

    ids: Ids
    lows: Ids
    highs: Ids
    anchors: Ids


class Publication(Struct, frozen=True):
    """A copy of a publication.

    `view`, (change, OLD or NEW), optional: by which view of the primary tree all brokers affected by a change route
    it. `served`: brokers to which a broker sent copies directly, past a neighbour that did not answer: what lies
    beyond them has been taken care of.
    """

    number: int
    values: Ids  # shape (A,)
    view: tuple[int, int] | None = None
    served: frozenset[int] = frozenset()

    @property
    def size(self) -> int:
        """Bytes."""
        return PUBLICATION + NUMBER * ((2 if self.view else 0) + len(self.served))


class Control(Struct, frozen=True):
    """Any message but a publication."""

    @property
    def numbers(self) -> int:
        """The count of numbers in the message, at least one."""
        return max(1, sum(_numbers(getattr(self, name)) for name in self.__struct_fields__))

    @property
    def size(self) -> int:
        """Bytes."""
        return HEADER + NUMBER * self.numbers


class Join(Control, frozen=True):
    """A new broker asks for a primary link."""


class Welcome(Control, frozen=True):
    """The map and the table of the broker that a new one joined."""

    edges: frozenset[Edge]
    entries: Entries


class Joined(Control, frozen=True):
    """A step: `broker` has joined at `parent` and is `hops` away from the receiver."""

    broker: int
    parent: int
    hops: int


class Left(Control, frozen=True):
    """A step: `broker`, at the edge, leaves; it is `hops` away from the receiver."""

    broker: int
    hops: int


class Subscribe(Control, frozen=True):
    """A step: new subscriptions, with the anchors that the receiver has to use."""

    entries: Entries


class Unsubscribe(Control, frozen=True):
    """A step: subscriptions end."""

    ids: Ids


class Initiate(Control, frozen=True):
    """A step of a change: bypass the mover no more."""

    change: int
    mover: int
    region: frozenset[int]


class Update(Control, frozen=True):
    """A step of a change: route by the new primary tree.

    `mover_side`, `other_side`, mapping from subscription to anchor: anchors at the mover of what is reached without
    its old neighbour; anchors at its new neighbour of the rest.
    """

    change: int
    path: tuple[int, ...]  # the primary path from the old neighbour of the mover to the new one
    mover: int
    edges: frozenset[Edge]  # the primary links in the old maps of the mover and of its new neighbour, and on the path
    mover_side: dict[int, int]
    other_side: dict[int, int]


class Drain(Control, frozen=True):
    """A step of a change: count the copies sent between affected brokers, and those processed.

    `view` is OLD for copies by the old view, None for copies from before the change; it fits the header.
    """

    change: int
    view: int | None

    @property
    def numbers(self) -> int:
        return 1


class End(Control, frozen=True):
    """A step of a change: forget the old view."""

    change: int


Step = Joined | Left | Subscribe | Unsubscribe | Initiate | Update | Drain | End


class Spread(Control, frozen=True):
    """A step on its way through the brokers."""

    wave: Wave
    step: Step


class Confirm(Control, frozen=True):
    """A step is complete at the sender and at all to whom it passed it; the counts of a drain are added up."""

    wave: Wave
    sent: int = 0
    processed: int = 0


class AskMap(Control, frozen=True):
    """A request of a moving broker for the map and the table of its new neighbour."""


class ShowMap(Control, frozen=True):
    """The answer: primary links, and the anchor of each subscription."""

    edges: frozenset[Edge]
    anchors: dict[int, int]


class Loads(Control, frozen=True):
    """Loads of brokers (output as a share of the uplink), and round-trip times of primary links in microseconds."""

    loads: dict[int, float]
    round_trips: dict[Edge, int]

    @property
    def numbers(self) -> int:
        # A broker's link towards the receiver is named by the broker alone.
        return max(len(self.loads), 1) + 2 * len(self.round_trips)


class Ping(Control, frozen=True):
    """Asks for a pong."""

    sent_at: int


class Pong(Control, frozen=True):
    """The answer to a ping, with its time."""

    sent_at: int


class Ask(Control, frozen=True):
    """To the coordinator: a request to start something.

    `path`: the parent of a joining broker, the neighbour of a leaving one, or the old and the new neighbour of a moving
    one.
    """

    what: str  # one of "table", "join", "leave", "move"
    token: int  # the asking broker's number of the question
    path: tuple[int, ...] = ()


class Grant(Control, frozen=True):
    """From the coordinator: start.

    `what`, `token`: as asked. `path`, `region`: for a move: the primary path from the old to the new neighbour, and
    the brokers that the move affects.
    """

    what: str
    token: int
    change: int  # its number; -1 if it is refused, because the tree has changed since
    path: tuple[int, ...] = ()
    region: frozenset[int] = frozenset()


class Release(Control, frozen=True):
    """To the coordinator: what was granted is complete."""

    change: int


def _numbers(value: object) -> int:
    """How many numbers stand for a field: one for a word, two for a primary link and for an entry of a mapping."""
    if isinstance(value, Control):
        return value.numbers
    if isinstance(value, Entries):
        return sum(rows.size for rows in value)
    if isinstance(value, np.ndarray):
        return value.size
    if isinstance(value, dict):
        return 2 * len(value)
    if isinstance(value, frozenset | tuple):
        return len(value) * (2 if any(isinstance(each, tuple) for each in value) else 1)
    return 1


Message = Publication | Control
Sends = list[tuple[int, Message]]
"""Receivers and messages. A message to oneself arrives after a pause."""
