"""The network between the brokers, in simulated time: links, uplinks, service, crashes, and the coordinator's post."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ....heuristics.brokers.kernels.forwarding import NOWHERE
from ....heuristics.brokers.kernels.queueing import SOFT_DELAY
from ....instances.brokers.network import BrokerNetwork
from ....instances.contract.arrays import Ids
from ....instances.contract.time_units import MINUTE, SECOND
from .broker import COORDINATOR, Broker
from .messages import NEVER, Ask, Control, Entries, Grant, Message, Publication, Release, Sends, Subscribe, Unsubscribe
from .routing import BrokerLimits
from .tree_changes import Coordinator

if TYPE_CHECKING:
    import simpy

PAUSE, DETECTION, PATIENCE = 50_000, 100_000, MINUTE
Process = Generator["simpy.Event", Any, None]
_Queues = dict[int, "simpy.Store"]


@dataclass
class Issued:
    """Subscriptions that a broker issued together, and their times in microseconds.

    `started`, `settled`: when the coordinator let them start, and when every broker had confirmed them.
    """

    broker: int
    entries: Entries
    started: int = NEVER
    settled: int = NEVER
    ended: int = NEVER  # when their end started to spread


@dataclass
class Log:
    """The log of one simulation.

    `published`, `completed`, shape (P,): when a publication was published, and when its last copy was processed;
    NEVER if not. `processed`: five numbers of each copy processed (:meth:`rows`).
    `lost`: publications of which a broker that crashed for good, or left, had a copy. `control_bytes`,
    `publication_bytes`, mapping of second to int: sent between brokers.
    """

    published: npt.NDArray[np.int64]
    completed: npt.NDArray[np.int64]
    under_way: npt.NDArray[np.int64]  # shape (P,): its copies that are under way
    processed: array[int] = field(default_factory=lambda: array("q"))
    lost: set[int] = field(default_factory=set)
    issued: list[Issued] = field(default_factory=list)
    crashed: dict[int, int] = field(default_factory=dict)
    control_bytes: Counter[int] = field(default_factory=Counter)
    publication_bytes: Counter[int] = field(default_factory=Counter)
    control_by_kind: Counter[str] = field(default_factory=Counter)  # bytes by message
    evaluations: int = 0
    longest_queue: int = 0
    bypassed: int = 0

    @classmethod
    def of(cls, publications: int) -> Log:
        """An empty log."""
        never = np.full((2, publications), NEVER, dtype=np.int64)
        return cls(never[0], never[1], np.zeros(publications, dtype=np.int64))

    def copies(self, publication: int, change: int, time: int) -> None:
        """Note that copies came or went."""
        self.under_way[publication] += change
        if not self.under_way[publication]:
            self.completed[publication] = time

    def rows(self) -> npt.NDArray[np.int64]:
        """The copies processed, in order: rows of the publication, the sender, the receiver, the time and a count.

        The sender is -1 for a client, and the count is that of the matching local subscriptions.
        """
        return np.array(self.processed, dtype=np.int64).reshape(-1, 5)

    def subscriptions(self) -> tuple[Ids, Ids, Ids, npt.NDArray[np.int64]]:
        """The brokers, bounds and times (started, settled, ended) of all subscriptions issued."""
        sizes = [len(each.entries.ids) for each in self.issued]
        brokers = np.repeat([each.broker for each in self.issued], sizes).astype(np.int32)
        lows, highs = (
            np.concatenate([getattr(each.entries, name) for each in self.issued]) for name in ("lows", "highs")
        )
        times = np.array([(each.started, each.settled, each.ended) for each in self.issued], dtype=np.int64)
        return brokers, lows, highs, np.repeat(times.reshape(-1, 3), sizes, axis=0)


class SimulatedNetwork:
    """Brokers and the links between them.

    A message to a broker that is down is delivered once it is up again; a publication returns to its sender after
    100 ms, which then knows that the broker does not answer.

    `given`: its tree, delays and publications; brokers learn of them only by messages. `limits`: of each broker.
    `service`, `predicate`: the time a broker takes for a publication: microseconds, and nanoseconds an evaluation.
    `brokers`, mapping of int to Broker: those in the network. `down`: the brokers that have crashed and are not up
    again. `joining`: the brokers that have started and not joined yet. `deadline`: when brokers stop asking again
    whether copies are under way, at the earliest a minute after the last copy: a move across a broker that has
    crashed for good never ends. `observer`: told the broker and the outcome of what it asked the coordinator for.
    """

    def __init__(self, given: BrokerNetwork, limits: Iterable[BrokerLimits], service: int, predicate: int) -> None:
        import simpy  # which an installation without studies lacks

        self._simpy = simpy
        self.env = simpy.Environment()
        self._given, self._service, self._predicate = given, service, predicate
        self._limits = list(limits)
        links = zip(given.tree.links.tolist(), given.tree.delays.tolist(), strict=True)
        self._delays: dict[tuple[int, int], int] = {ends: delay for (u, v), delay in links for ends in ((u, v), (v, u))}
        self._values = [np.array(row) for row in given.publications.values]
        self._former: dict[int, Broker] = {}
        self._parked: dict[int, list[tuple[int, Control]]] = {}
        self._up: dict[int, simpy.Event] = {}
        self._tables: dict[tuple[int, int], Issued | list[Issued]] = {}
        self._running: dict[int, Issued | list[Issued]] = {}
        self._inbox: _Queues = {}
        self._outbox: _Queues = {}
        self._held: Counter[int] = Counter()
        self.deadline = NEVER
        self.observer: Callable[[int, str], None] = lambda broker, outcome: None
        self.log = Log.of(len(given.publications))
        self.brokers: dict[int, Broker] = {}
        self.down: set[int] = set()
        self.joining: set[int] = set()
        self.add(0)
        self.joining.clear()
        self.coordinator = Coordinator(given.radius, {0})

    @property
    def now(self) -> int:
        """Microseconds since the beginning."""
        return int(self.env.now)

    def at(self, delay: int, event: Callable[[], None]) -> None:
        """Let something happen later; what happens at one time happens in the order in which it was planned."""
        self._simpy.Timeout(self.env, delay).callbacks.append(lambda _: event())

    # What operators and clients do.

    def add(self, broker: int) -> Broker:
        """Start a broker, which has not joined yet."""
        limits = self._limits[broker]
        self.brokers[broker] = Broker(broker, limits, self._given.publications.values.shape[1])
        self.joining.add(broker)
        if broker in self._former:
            self.brokers[broker].remember(self._former.pop(broker))
        if broker not in self._inbox:
            self._inbox[broker], self._outbox[broker] = self._simpy.Store(self.env), self._simpy.Store(self.env)
            self.env.process(self._serve(broker))
            if limits.uplink:
                self.env.process(self._transmit(broker, SECOND // limits.uplink))
        return self.brokers[broker]

    def remove(self, broker: int) -> None:
        """Switch a broker off that has left."""
        gone = self._former[broker] = self.brokers.pop(broker)
        for sender, publication in self._taken(self._inbox, broker):
            self._miss(sender, broker, publication)
        for copies in gone.kept.values():
            for copy in copies:
                self._drop(copy, True)

    def send(self, sender: int, sends: Sends) -> None:
        now = self.now
        for receiver, message in sends:
            if receiver == sender:
                if not self.log.crashed and self.log.under_way.any():
                    self.deadline = max(self.deadline, now + PATIENCE)
                if now < self.deadline:
                    self._after(PAUSE, sender, receiver, message)
            elif isinstance(message, Control):
                self.log.control_bytes[now // SECOND] += message.size
                self.log.control_by_kind[type(getattr(message, "step", message)).__name__] += message.size
                self._after(self._delay(sender, receiver), sender, receiver, message)
            elif self._limits[sender].uplink:
                self._put(self._outbox, sender, receiver, message)
            else:
                self._cross(sender, receiver, message)

    def subscribe(self, broker: int, entries: Entries) -> None:
        self.log.issued.append(Issued(broker, entries))
        self._tell(broker, self.brokers[broker].change_table(Subscribe(entries)), self.log.issued[-1])

    def unsubscribe(self, broker: int, ended: list[Issued]) -> None:
        ids = np.concatenate([each.entries.ids for each in ended])
        self._tell(broker, self.brokers[broker].change_table(Unsubscribe(ids)), ended)

    def _tell(self, broker: int, sends: Sends, what: Issued | list[Issued]) -> None:
        for _, message in sends:
            if isinstance(message, Ask):
                self._tables[broker, message.token] = what
        self.send(broker, sends)

    def publish(self, number: int) -> None:
        """Let the source of a publication publish it, if it has joined and is up."""
        source = int(self._given.publications.sources[number])
        if source in self.brokers and source not in self.down | self.joining:
            self.log.published[number] = self.now
            self.log.copies(number, 1, self.now)
            self._put(self._inbox, source, NOWHERE, Publication(number, self._values[number]))

    def crash(self, broker: int, for_good: bool = False) -> None:
        """Stop a broker; one that stops for good loses the copies that it has."""
        self.down.add(broker)
        self._up[broker] = self.env.event()
        if for_good:
            self.log.crashed[broker] = self.now
            queued = (*self._taken(self._inbox, broker), *self._taken(self._outbox, broker))
            kept = [copy for copies in self.brokers[broker].kept.values() for copy in copies]
            for publication in (*kept, *(copy for _, copy in queued)):
                self._drop(publication, True)

    def has_copies(self, broker: int) -> bool:
        """Whether publications wait at a broker, or are kept there for another one that will be up again."""
        return self._held[broker] > 0 or not self.log.crashed.keys() >= self.brokers[broker].kept.keys()

    def recover(self, broker: int) -> None:
        """Start a broker again, with the state that it had; brokers that miss it learn of it."""
        self.down.discard(broker)
        self._up.pop(broker).succeed()
        for sender, message in self._parked.pop(broker, []):
            self._deliver(sender, broker, message)
        up = [each for each in self.brokers.values() if each.me not in self.down]
        for keeper, end in [(each, end) for each in up for end in each.kept]:
            if broker in (keeper.me, end) and end not in self.down:
                self.send(keeper.me, keeper.answers(end))

    # What happens to messages.

    def _delay(self, sender: int, receiver: int) -> int:
        """Microseconds over a primary link, a soft link or the way to the coordinator and back."""
        return self._delays.get((sender, receiver), SOFT_DELAY)

    def _after(self, delay: int, sender: int, receiver: int, message: Message) -> None:
        self.at(delay, lambda: self._deliver(sender, receiver, message))

    def _cross(self, sender: int, receiver: int, publication: Publication) -> None:
        self.log.publication_bytes[self.now // SECOND] += publication.size
        self._after(self._delay(sender, receiver), sender, receiver, publication)

    def _deliver(self, sender: int, receiver: int, message: Message) -> None:
        if isinstance(message, Ask | Release):
            self._at_coordinator(sender, message)
        elif receiver not in self.brokers:
            if isinstance(message, Publication):
                self._miss(sender, receiver, message)
        elif isinstance(message, Publication):
            if receiver in self.down:
                self.at(DETECTION, lambda: self._unanswered(sender, receiver, message))
            else:
                self._put(self._inbox, receiver, sender, message)
                self.log.longest_queue = max(self.log.longest_queue, len(self._inbox[receiver].items))
        elif receiver in self.down:
            self._parked.setdefault(receiver, []).append((sender, message))
        else:
            self._control(sender, receiver, message)

    def _control(self, sender: int, receiver: int, message: Control) -> None:
        broker, now = self.brokers[receiver], self.now
        if isinstance(message, Grant) and (receiver, message.token) in self._tables:
            what = self._running[message.change] = self._tables.pop((receiver, message.token))
            if isinstance(what, Issued):
                what.started = now
            else:
                for each in what:
                    each.ended = now
        self.send(receiver, broker.receive(sender, message, now))
        for copy in broker.resumed:
            self._put(self._inbox, receiver, *copy)
        broker.resumed.clear()
        outcomes, broker.outcomes = broker.outcomes, []
        for outcome in outcomes:
            if outcome == "join":
                self.joining.discard(receiver)
            self.observer(receiver, outcome)

    def _at_coordinator(self, sender: int, message: Ask | Release) -> None:
        if isinstance(message, Release):
            what = self._running.pop(message.change, None)
            if isinstance(what, Issued):
                what.settled = self.now
        for broker, grant in self.coordinator.receive(sender, message):
            self.log.control_bytes[self.now // SECOND] += grant.size
            self._after(SOFT_DELAY, COORDINATOR, broker, grant)

    def _unanswered(self, sender: int, receiver: int, publication: Publication) -> None:
        if sender not in self.brokers or sender in self.log.crashed:
            self._drop(publication, True)
        elif receiver not in self.down or sender in self.down:
            # It is up again, or the sender is down and tries again later.
            self._deliver(sender, receiver, publication)
        else:
            self.log.bypassed += 1
            self._replaced(publication, sender, lambda broker: broker.undelivered(receiver, publication))

    def _replaced(self, publication: Publication, me: int, handle: Callable[[Broker], Sends | None]) -> None:
        """Let a broker replace a copy by those that it sends or keeps for others, unless the copy has to wait."""
        broker = self.brokers[me]
        before = sum(map(len, broker.kept.values()))
        if (sends := handle(broker)) is not None:
            kept = sum(map(len, broker.kept.values())) - before
            self.log.copies(publication.number, len(sends) + kept - 1, self.now)
            self.send(me, sends)

    def _miss(self, sender: int, receiver: int, publication: Publication) -> None:
        """Drop a copy to a broker that has left: neither it nor a broker behind it needs the copy."""
        if sender in self.brokers:
            self.brokers[sender].missed(receiver, publication)
        self._drop(publication, sender == NOWHERE)

    def _drop(self, publication: Publication, others_need_it: bool) -> None:
        if others_need_it:
            self.log.lost.add(publication.number)
        self.log.copies(publication.number, -1, self.now)

    def _put(self, queues: _Queues, broker: int, other: int, publication: Publication) -> None:
        self._held[broker] += 1
        queues[broker].put((other, publication))

    def _taken(self, queues: _Queues, broker: int) -> list[tuple[int, Publication]]:
        items, queues[broker].items[:] = list(queues[broker].items), []
        self._held[broker] -= len(items)
        return items

    # Brokers and uplinks as servers.

    def _serve(self, me: int) -> Process:
        while True:
            sender, publication = yield self._inbox[me].get()
            while me in self.down:
                yield self._up[me]
            cost = self._service
            if self._predicate and me in self.brokers:
                evaluations = self.brokers[me].evaluations(publication)
                self.log.evaluations += evaluations
                cost += evaluations * self._predicate // 1000
            if cost:
                yield self.env.timeout(cost)
                while me in self.down:
                    yield self._up[me]
            if me in self.brokers:
                self._replaced(publication, me, partial(self._process, sender, publication))
            else:
                self._miss(sender, me, publication)
            self._held[me] -= 1

    def _process(self, sender: int, publication: Publication, broker: Broker) -> Sends | None:
        if (result := broker.process(sender, publication, self.now)) is None:
            return None
        self.log.processed.extend((publication.number, sender, broker.me, self.now, result[0]))
        return result[1]

    def _transmit(self, me: int, per_copy: int) -> Process:
        while True:
            receiver, publication = yield self._outbox[me].get()
            yield self.env.timeout(per_copy)
            while me in self.down:
                yield self._up[me]
            self._cross(me, receiver, publication)
            self._held[me] -= 1
