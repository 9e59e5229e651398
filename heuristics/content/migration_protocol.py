"""The protocol of a user's move to another broker without loss of messages (P4 §V), simulated message by message."""

from __future__ import annotations

import heapq
import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...instances.content.instance import ContentInstance
from ...instances.contract.arrays import Ids

_KINDS = ("request_to_move", "accept", "decline", "replicate", "address", "connect", "register", "redirect")


@dataclass(frozen=True)
class Move:
    """A request to a user to move from its home broker to a foreign one; rounds of requests do not overlap."""

    user: int
    home: int
    foreign: int
    round: int
    accepted: bool = True


@dataclass(frozen=True)
class MessageCounts:
    """Protocol messages by kind; pairs of a publication and a subscriber served or not; repeated deliveries."""

    messages: Counter[str]
    delivered: int
    lost: int
    duplicates: int

    @property
    def counters(self) -> dict[str, float]:
        """All counts by name."""
        served = {"delivered": self.delivered, "lost": self.lost, "duplicates": self.duplicates}
        return {**{kind: self.messages[kind] for kind in _KINDS}, **served}


def simulate_migration(
    instance: ContentInstance,
    brokers: Ids,
    moves: Iterable[Move],
    *,
    publications: int = 0,
    seed: int = 0,
    forwarding: float = 1.0,
) -> MessageCounts:
    """Send every message of the moves, round by round, while users publish.

    The home broker asks the user to move (request_to_move), who accepts or declines. On acceptance the home broker
    sends the user's subscriptions to the foreign broker (replicate) and its address to the user (address), and forwards
    the user's messages (redirect) for as long as one can be on the way to it. The foreign broker buffers them until the
    user has connected (connect), and then notifies all other brokers (register).

    Parameters
    ----------
    instance : ContentInstance
        The price of a link is also the time that a message takes on it.
    brokers : int32 array, shape (|U|,)
        The initial assignment.
    moves : iterable of Move
    publications : int
        Messages published at random times during the rounds, by users and on channels with a positive rate.
    seed : int
        For the publications.
    forwarding : float
        How long the home broker forwards, as a share of the time after which no message can arrive any more.

    Notes
    -----
    Zhao, Wu (P4), §V. With `forwarding` at least 1 no message is lost. O(|B|) messages for each move, one for each
    subscriber of a publication; logarithmic time for each message.
    """
    network = _Network(instance, brokers, forwarding)
    rounds = [list(group) for _, group in itertools.groupby(moves, key=lambda move: move.round)]
    random = np.random.default_rng(seed)
    publishers = np.argwhere(instance.rates > 0)
    shares = np.diff(np.arange(len(rounds) + 1) * publications // max(1, len(rounds))).tolist()
    for group, share in zip(rounds, shares, strict=True):
        for index in random.integers(max(1, len(publishers)), size=share if len(publishers) else 0).tolist():
            user, channel = publishers[index].tolist()
            network.schedule(network.now + float(random.random()) * network.longest, network.publish, user, channel)
        network.run_round(group)
    return MessageCounts(network.messages, network.delivered, network.expected - network.delivered, network.duplicates)


class _Network:
    """Users and brokers as a discrete-event simulation; each protocol message is a method, called on its arrival."""

    def __init__(self, instance: ContentInstance, brokers: Ids, forwarding: float) -> None:
        self.access, self.core = instance.access, instance.core
        self.start: list[int] = brokers.tolist()
        self.subscribers = [set(np.flatnonzero(column).tolist()) for column in instance.subscriptions.T]
        self.count = instance.num_brokers
        self.forwarding = forwarding
        self.longest = 4 * float(self.access.max()) + 4 * float(self.core.max()) + 1
        self.users: list[set[int]] = [set() for _ in range(self.count)]
        for user, broker in enumerate(self.start):
            self.users[broker].add(user)
        self.broker_of = list(self.start)
        self.registered: list[dict[int, int]] = [{} for _ in range(self.count)]  # new brokers of users who moved
        self.buffers: list[dict[int, list[int]]] = [{} for _ in range(self.count)]  # of users not yet connected
        self.early: list[set[int]] = [set() for _ in range(self.count)]  # connected before replication
        self.forwards: list[dict[int, tuple[int, float]]] = [{} for _ in range(self.count)]
        self.publications: list[tuple[int, int]] = []  # publisher and channel
        self.received: dict[int, set[int]] = defaultdict(set)
        self.messages: Counter[str] = Counter()
        self.expected = self.delivered = self.duplicates = 0
        self.now = 0.0
        self._queue: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = []
        self._order = itertools.count()

    def schedule(self, when: float, event: Callable[..., None], *arguments: Any) -> None:
        heapq.heappush(self._queue, (when, next(self._order), event, arguments))

    def send(self, delay: float, event: Callable[..., None], *arguments: Any) -> None:
        """Send a protocol message that arrives after a delay."""
        self.messages[event.__name__] += 1
        self.schedule(self.now + float(delay), event, *arguments)

    def run_round(self, moves: Sequence[Move]) -> None:
        """Start the moves at the same time and run until no message is on its way."""
        for move in moves:
            self.send(self.access[move.user, move.home], self.request_to_move, move)
        while self._queue:
            self.now, _, event, arguments = heapq.heappop(self._queue)
            event(*arguments)
        for forwards in self.forwards:
            forwards.clear()

    def request_to_move(self, move: Move) -> None:
        self.send(self.access[move.user, move.home], self.accept if move.accepted else self.decline, move)

    def decline(self, move: Move) -> None:
        """The user stays."""

    def accept(self, move: Move) -> None:
        user, home, foreign = move.user, move.home, move.foreign
        connected = self.now + self.access[user, home] + self.access[user, foreign] + self.core[home, foreign]
        until = self.now + self.forwarding * (connected + 2 * self.core.max() - self.now)
        self.users[home].remove(user)
        self.registered[home][user] = foreign
        self.forwards[home][user] = (foreign, until)
        self.send(self.core[home, foreign], self.replicate, move)
        self.send(self.access[user, home], self.address, move)

    def replicate(self, move: Move) -> None:
        self.buffers[move.foreign][move.user] = []
        if move.user in self.early[move.foreign]:
            self.early[move.foreign].remove(move.user)
            self.connect(move)

    def address(self, move: Move) -> None:
        self.broker_of[move.user] = move.foreign
        self.send(self.access[move.user, move.foreign], self.connect, move)

    def connect(self, move: Move) -> None:
        user, foreign = move.user, move.foreign
        if user not in self.buffers[foreign]:
            self.early[foreign].add(user)
            return
        self.users[foreign].add(user)
        self.registered[foreign][user] = foreign
        for publication in self.buffers[foreign].pop(user):
            self.schedule(self.now + self.access[user, foreign], self.deliver, publication, user)
        for broker in range(self.count):
            if broker not in (move.home, foreign):
                self.send(self.core[foreign, broker], self.register, broker, move)

    def register(self, broker: int, move: Move) -> None:
        self.registered[broker][move.user] = move.foreign

    def publish(self, user: int, channel: int) -> None:
        broker = self.broker_of[user]
        self.publications.append((user, channel))
        publication = len(self.publications) - 1
        self.expected += len(self.destinations(publication))
        self.schedule(self.now + self.access[user, broker], self.multicast, publication, broker)

    def destinations(self, publication: int) -> set[int]:
        """The subscribers of a publication other than its publisher."""
        publisher, channel = self.publications[publication]
        return self.subscribers[channel] - {publisher}

    def multicast(self, publication: int, broker: int) -> None:
        """Send a publication from the publisher's broker to every broker that has a subscriber in its view."""
        registered = self.registered[broker]
        for other in sorted({registered.get(user, self.start[user]) for user in self.destinations(publication)}):
            self.schedule(self.now + self.core[broker, other], self.notify, publication, other)

    def notify(self, publication: int, broker: int) -> None:
        here = self.users[broker] | self.buffers[broker].keys() | self.forwards[broker].keys()
        for user in sorted(self.destinations(publication) & here):
            self.redirect(publication, user, broker)

    def redirect(self, publication: int, user: int, broker: int) -> None:
        """Deliver a publication to a user of the broker, buffer it, or forward it to the user's new broker."""
        if user in self.users[broker]:
            self.schedule(self.now + self.access[user, broker], self.deliver, publication, user)
        elif user in self.buffers[broker]:
            self.buffers[broker][user].append(publication)
        elif user in self.forwards[broker] and self.now <= self.forwards[broker][user][1]:
            foreign = self.forwards[broker][user][0]
            self.send(self.core[broker, foreign], self.redirect, publication, user, foreign)

    def deliver(self, publication: int, user: int) -> None:
        if user in self.received[publication]:
            self.duplicates += 1
        else:
            self.received[publication].add(user)
            self.delivered += 1
