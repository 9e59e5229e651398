"""The messages between brokers, and their sizes: 40 bytes of headers and 4 for each number; a publication has 200."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from ....instances.contract.arrays import Ids

HEADER, NUMBER, PUBLICATION = 40, 4, 200
OLD, NEW = 0, 1
Edge = tuple[int, int]
Wave = tuple[int, int]
"""The broker at which a wave starts and its number there."""


class Entries(NamedTuple):
    """Subscriptions: `ids` (S,), `lows` and `highs` (S, A), and the broker that is the anchor of each (S,)."""

    ids: Ids
    lows: Ids
    highs: Ids
    anchors: Ids


@dataclass(frozen=True, slots=True)
class Publication:
    """A copy of a publication.

    Attributes
    ----------
    number : int
    values : int32 array, shape (A,)
    view : (change, OLD or NEW), optional
        By which view of the primary tree all brokers affected by a change route it.
    served : frozenset of int
        Brokers to which a broker sent copies directly, past a neighbour that did not answer: what lies beyond them has
        been taken care of.
    """

    number: int
    values: Ids
    view: tuple[int, int] | None = None
    served: frozenset[int] = frozenset()

    @property
    def size(self) -> int:
        """Bytes."""
        return PUBLICATION + NUMBER * ((2 if self.view else 0) + len(self.served))


@dataclass(frozen=True, slots=True)
class Control:
    """Any message but a publication."""

    @property
    def numbers(self) -> int:
        """How many numbers it has, at least one."""
        return max(1, sum(_numbers(getattr(self, each.name)) for each in fields(self)))

    @property
    def size(self) -> int:
        """Bytes."""
        return HEADER + NUMBER * self.numbers


@dataclass(frozen=True, slots=True)
class Join(Control):
    """A new broker asks for a primary link."""


@dataclass(frozen=True, slots=True)
class Welcome(Control):
    """The map and the table of the broker that a new one joined."""

    edges: frozenset[Edge]
    entries: Entries


@dataclass(frozen=True, slots=True)
class Joined(Control):
    """A step: `broker` has joined at `parent` and is `hops` away from the receiver."""

    broker: int
    parent: int
    hops: int


@dataclass(frozen=True, slots=True)
class Left(Control):
    """A step: `broker`, at the edge, leaves; it is `hops` away from the receiver."""

    broker: int
    hops: int


@dataclass(frozen=True, slots=True)
class Subscribe(Control):
    """A step: new subscriptions, with the anchors that the receiver has to use."""

    entries: Entries


@dataclass(frozen=True, slots=True)
class Unsubscribe(Control):
    """A step: subscriptions end."""

    ids: Ids


@dataclass(frozen=True, slots=True)
class Initiate(Control):
    """A step of a change: bypass the mover no more."""

    change: int
    mover: int
    region: frozenset[int]


@dataclass(frozen=True, slots=True)
class Update(Control):
    """A step of a change: route by the new primary tree.

    Attributes
    ----------
    path : tuple of int
        The primary path from the old neighbour of the mover to the new one.
    edges : frozenset of edges
        The primary links in the old maps of the mover and of its new neighbour, and on the path.
    mover_side, other_side : mapping from subscription to anchor
        Anchors at the mover of what is reached without its old neighbour; anchors at its new neighbour of the rest.
    """

    change: int
    path: tuple[int, ...]
    mover: int
    edges: frozenset[Edge]
    mover_side: dict[int, int]
    other_side: dict[int, int]


@dataclass(frozen=True, slots=True)
class Drain(Control):
    """A step of a change: count the copies sent between affected brokers, and those processed.

    `view` is OLD for copies by the old view, None for copies from before the change.
    """

    change: int
    view: int | None

    @property
    def numbers(self) -> int:
        return 1  # the view fits the header


@dataclass(frozen=True, slots=True)
class End(Control):
    """A step of a change: forget the old view."""

    change: int


Step = Joined | Left | Subscribe | Unsubscribe | Initiate | Update | Drain | End


@dataclass(frozen=True, slots=True)
class Spread(Control):
    """A step on its way through the brokers."""

    wave: Wave
    step: Step


@dataclass(frozen=True, slots=True)
class Confirm(Control):
    """A step is complete at the sender and at all to whom it passed it; the counts of a drain are added up."""

    wave: Wave
    sent: int = 0
    processed: int = 0


@dataclass(frozen=True, slots=True)
class AskMap(Control):
    """A broker that is to move asks its new neighbour for its map and its table."""


@dataclass(frozen=True, slots=True)
class ShowMap(Control):
    """The answer: primary links, and the anchor of each subscription."""

    edges: frozenset[Edge]
    anchors: dict[int, int]


@dataclass(frozen=True, slots=True)
class Loads(Control):
    """Loads of brokers (output as a share of the uplink), and round-trip times of primary links in microseconds."""

    loads: dict[int, float]
    round_trips: dict[Edge, int]

    @property
    def numbers(self) -> int:
        # A broker's link towards the receiver is named by the broker alone.
        return max(len(self.loads), 1) + 2 * len(self.round_trips)


@dataclass(frozen=True, slots=True)
class Ping(Control):
    """Asks for a pong."""

    sent_at: int


@dataclass(frozen=True, slots=True)
class Pong(Control):
    """The answer to a ping, with its time."""

    sent_at: int


@dataclass(frozen=True, slots=True)
class Ask(Control):
    """To the coordinator: a request to start something.

    Attributes
    ----------
    what : {"table", "join", "leave", "move"}
    token : int
        The asking broker's number of the question.
    path : tuple of int
        The parent of a broker that joins; the old and the new neighbour of one that moves.
    """

    what: str
    token: int
    path: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Grant(Control):
    """From the coordinator: start.

    Attributes
    ----------
    what, token
        As asked.
    change : int
        Its number; -1 if it is refused, because the tree has changed since.
    path, region : tuple of int, frozenset of int
        For a move: the primary path from the old to the new neighbour, and the brokers that the move affects.
    """

    what: str
    token: int
    change: int
    path: tuple[int, ...] = ()
    region: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Release(Control):
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


Message = (
    Publication
    | Join
    | Welcome
    | Spread
    | Confirm
    | AskMap
    | ShowMap
    | Loads
    | Ping
    | Pong
    | Ask
    | Grant
    | Release
    | Drain
)
Sends = list[tuple[int, Message]]
"""Receivers and messages. A message to oneself arrives after a pause."""
