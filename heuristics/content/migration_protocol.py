"""How a user moves from its home broker to a foreign one without losing a message (P4 §V), message by message."""

from __future__ import annotations

import heapq
import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...instances.content.instance import ContentInstance
from .kernels.prices import Ids


@dataclass(frozen=True)
class Move:
    """A request to a user to move from its home broker to a foreign one; rounds of requests do not overlap."""

    user: int
    home: int
    foreign: int
    round: int
    accepted: bool = True


@dataclass(frozen=True)
class Journal:
    """What was sent and what arrived.

    Attributes
    ----------
    messages : Counter
        Messages by kind: ``request_to_move``, ``accept``, ``decline``, ``replicate``, ``address``, ``connect``,
        ``register`` and ``redirect``.
    delivered, lost, duplicates : int
        Of all (publication, subscriber) pairs those that arrived and those that did not; copies that came again.
    """

    messages: Counter[str]
    delivered: int
    lost: int
    duplicates: int

    @property
    def counters(self) -> dict[str, float]:
        """All of it, by name."""
        arrived = {"delivered": self.delivered, "lost": self.lost, "duplicates": self.duplicates}
        return {**{kind: self.messages[kind] for kind in _KINDS}, **arrived}


_KINDS = ("request_to_move", "accept", "decline", "replicate", "address", "connect", "register", "redirect")


def simulate_migration(
    instance: ContentInstance,
    brokers: Ids,
    moves: Iterable[Move],
    *,
    publications: int = 0,
    seed: int = 0,
    forwarding: float = 1.0,
) -> Journal:
    """Send every message of the moves, round by round, while users publish.

    The home broker asks the user (request_to_move), who accepts or declines. On acceptance the home broker sends the
    user's subscriptions to the foreign one (replicate) and its address to the user (address), and from then on passes
    the user's messages to it (redirect). The foreign broker keeps them until the user has connected (connect), and
    tells all other brokers (register), which until then send to the home broker. That one forwards for as long as any
    message can still be on its way to it.

    Parameters
    ----------
    instance : ContentInstance
        The price of a link is also the time that a message takes on it.
    brokers : int32 array, shape (|U|,)
        Where the users are at first.
    moves : iterable of Move
    publications : int
        Messages published at random times during the rounds, by users and on channels that have a rate.
    seed : int
        For the publications.
    forwarding : float
        How long the home broker forwards, as a share of the time after which nothing can come any more.

    Returns
    -------
    Journal
        With `forwarding` at least 1 nothing is lost.

    Notes
    -----
    Zhao, Wu (P4), §V: register(), summarize(), request_to_move(), accept(), replicate(), connect(), redirect().
    O(|B|) messages a move, and as many as there are subscribers a publication; O(log) time a message.
    """
    network = _Network(instance, brokers, forwarding)
    rounds = [list(group) for _, group in itertools.groupby(moves, key=lambda move: move.round)]
    random = np.random.default_rng(seed)
    publishers = np.argwhere(instance.rates > 0)
    shares = np.diff(np.arange(len(rounds) + 1) * publications // max(1, len(rounds))).tolist()
    for group, share in zip(rounds, shares, strict=True):
        for place in random.integers(max(1, len(publishers)), size=share if len(publishers) else 0).tolist():
            user, channel = publishers[place].tolist()
            network.at(network.now + float(random.random()) * network.longest, network.publish, user, channel)
        network.run_round(group)
    return Journal(network.messages, network.delivered, network.expected - network.delivered, network.duplicates)


class _Network:
    """Users, brokers, and messages on their way, as a queue of what happens when."""

    def __init__(self, instance: ContentInstance, brokers: Ids, forwarding: float) -> None:
        self.access, self.core = instance.access, instance.core
        self.start: list[int] = brokers.tolist()
        self.wanting = [set(np.flatnonzero(column).tolist()) for column in instance.subscriptions.T]
        self.count = instance.num_brokers
        self.forwarding = forwarding
        furthest = float(self.core.max())
        self.longest = 4 * float(self.access.max()) + 4 * furthest + 1
        self.users: list[set[int]] = [set() for _ in range(self.count)]
        for user, broker in enumerate(self.start):
            self.users[broker].add(user)
        self.broker_of = list(self.start)
        self.known: list[dict[int, int]] = [{} for _ in range(self.count)]  # where users are that have moved
        self.kept: list[dict[int, list[int]]] = [{} for _ in range(self.count)]  # for users not yet connected
        self.early: list[set[int]] = [set() for _ in range(self.count)]  # connected before they were replicated
        self.forwards: list[dict[int, tuple[int, float]]] = [{} for _ in range(self.count)]
        self.channels: list[int] = []
        self.authors: list[int] = []
        self.received: dict[int, set[int]] = defaultdict(set)
        self.messages: Counter[str] = Counter()
        self.expected = self.delivered = self.duplicates = 0
        self.now = 0.0
        self._queue: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = []
        self._order = itertools.count()

    def at(self, when: float, what: Callable[..., None], *words: Any) -> None:
        heapq.heappush(self._queue, (when, next(self._order), what, words))

    def send(self, delay: float, what: Callable[..., None], *words: Any) -> None:
        """A message that will do something where it arrives."""
        self.messages[what.__name__] += 1
        self.at(self.now + float(delay), what, *words)

    def run_round(self, moves: Sequence[Move]) -> None:
        """Start the moves together and go on until nothing is on its way."""
        for move in moves:
            self.send(self.access[move.user, move.home], self.request_to_move, move)
        while self._queue:
            self.now, _, what, words = heapq.heappop(self._queue)
            what(*words)
        for forwards in self.forwards:
            forwards.clear()

    def request_to_move(self, move: Move) -> None:
        self.send(self.access[move.user, move.home], self.accept if move.accepted else self.decline, move)

    def decline(self, move: Move) -> None:
        """The home broker leaves the user in peace."""

    def accept(self, move: Move) -> None:
        user, home, foreign = move.user, move.home, move.foreign
        connected = self.now + self.access[user, home] + self.access[user, foreign] + self.core[home, foreign]
        until = self.now + self.forwarding * (connected + 2 * self.core.max() - self.now)
        self.users[home].remove(user)
        self.known[home][user] = foreign
        self.forwards[home][user] = (foreign, until)
        self.send(self.core[home, foreign], self.replicate, move)
        self.send(self.access[user, home], self.address, move)

    def replicate(self, move: Move) -> None:
        self.kept[move.foreign][move.user] = []
        if move.user in self.early[move.foreign]:
            self.early[move.foreign].remove(move.user)
            self.connect(move)

    def address(self, move: Move) -> None:
        self.broker_of[move.user] = move.foreign
        self.send(self.access[move.user, move.foreign], self.connect, move)

    def connect(self, move: Move) -> None:
        user, foreign = move.user, move.foreign
        if user not in self.kept[foreign]:
            self.early[foreign].add(user)
            return
        self.users[foreign].add(user)
        self.known[foreign][user] = foreign
        for publication in self.kept[foreign].pop(user):
            self.at(self.now + self.access[user, foreign], self.deliver, publication, user)
        for broker in range(self.count):
            if broker not in (move.home, foreign):
                self.send(self.core[foreign, broker], self.register, broker, move)

    def register(self, broker: int, move: Move) -> None:
        self.known[broker][move.user] = move.foreign

    def publish(self, user: int, channel: int) -> None:
        broker = self.broker_of[user]
        self.channels.append(channel)
        self.authors.append(user)
        self.expected += len(self.wanting[channel] - {user})
        self.at(self.now + self.access[user, broker], self.spread, len(self.channels) - 1, broker)

    def spread(self, publication: int, broker: int) -> None:
        """From the publisher's broker to every broker that it knows to have a subscriber."""
        known = self.known[broker]
        subscribers = self.wanting[self.channels[publication]] - {self.authors[publication]}
        for other in sorted({known.get(user, self.start[user]) for user in subscribers}):
            self.at(self.now + self.core[broker, other], self.notify, publication, other)

    def notify(self, publication: int, broker: int) -> None:
        subscribers = self.wanting[self.channels[publication]] - {self.authors[publication]}
        for user in sorted(
            subscribers & (self.users[broker] | self.kept[broker].keys() | self.forwards[broker].keys())
        ):
            self.pass_on(publication, user, broker)

    def pass_on(self, publication: int, user: int, broker: int) -> None:
        if user in self.users[broker]:
            self.at(self.now + self.access[user, broker], self.deliver, publication, user)
        elif user in self.kept[broker]:
            self.kept[broker][user].append(publication)
        elif user in self.forwards[broker] and self.now <= self.forwards[broker][user][1]:
            foreign = self.forwards[broker][user][0]
            self.send(self.core[broker, foreign], self.redirect, publication, user, foreign)

    def redirect(self, publication: int, user: int, broker: int) -> None:
        self.pass_on(publication, user, broker)

    def deliver(self, publication: int, user: int) -> None:
        if user in self.received[publication]:
            self.duplicates += 1
        else:
            self.received[publication].add(user)
            self.delivered += 1
