"""What happens to a system besides publications: subscriptions, joins, departures, Δ-moves and crashes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ....heuristics.brokers.soft_links import Scenario
from ....instances.brokers.network import BrokerNetwork
from ....instances.contract.time_units import MINUTE, SECOND
from ....instances.runtime.status_line import StatusLine
from .broker import Broker
from .messages import NEVER, Entries
from .network import DETECTION, Issued, Process, SimulatedNetwork
from .routing import paths_from

Choice = TypeVar("Choice")
DOWN = 5 * SECOND
AWAY = 2 * DOWN


class Director:
    """Plays a scenario on a network.

    `seed`: of the choice of brokers and subscriptions. `start`, `end`: the times between which publications are
    published; known once :meth:`set_up` has run. The start is a whole second, so that the seconds in which SH
    counts what it sends are those of the accelerated mode. `outcomes`, mapping of str to int: how often what was
    asked came about ("move", "leave") or was refused ("move refused").
    """

    def __init__(self, given: BrokerNetwork, network: SimulatedNetwork, scenario: Scenario, seed: int) -> None:
        self._given, self._network, self._scenario, self._env = given, network, scenario, network.env
        self._random = np.random.default_rng([seed, 18])
        self._next_id = len(given.subscriptions)
        self._left: dict[int, int] = {}
        self._leaving: set[int] = set()
        self._moving: set[int] = set()
        self._ended: set[int] = set()
        self._tables: Counter[int] = Counter()
        self._most_links = int(given.tree.degrees.max(initial=0))
        self.outcomes: Counter[str] = Counter()
        network.observer = self._observe
        self.start = self.end = 0

    def set_up(self) -> None:
        """Let all brokers join, breadth first, and then issue their subscriptions."""
        network, edges = self._network, [(int(u), int(v)) for u, v in self._given.tree.links]
        for broker, path in paths_from(0, edges).items():
            if broker:
                network.send(broker, network.add(broker).join(path[-2]))
        self._env.run()
        for broker in range(self._given.num_brokers):
            own = self._given_to(broker)
            if own.size:
                self._subscribe(broker, own, own)
        self._env.run()
        self.start = (self._network.now // SECOND + 2) * SECOND
        self.end = self.start + int(self._times().max(initial=0))
        network.deadline = self.end + MINUTE

    def play(self) -> None:
        """Publish everything, let the events happen, and with `drain` go on until all is quiet."""
        scenario = self._scenario
        events: list[tuple[float, Callable[[], None]]] = [
            (MINUTE / scenario.churn if scenario.churn else 0, self._churn),
            (MINUTE / scenario.crashes if scenario.crashes else 0, self._crash),
            (MINUTE / scenario.moves if scenario.moves else 0, self._move),
            ((self.end - self.start) / (scenario.losses + 1) if scenario.losses else 0, self._crash_for_good),
        ]
        self._env.process(self._publications())
        for gap, event in events:
            if gap:
                self._env.process(self._every(gap, event))
        if scenario.interval:
            self._env.process(self._reviews(scenario.interval))
        self._env.run(None if scenario.drain else self.end + 1)

    def _times(self) -> npt.NDArray[np.int64]:
        given = self._given.publications.times
        if not (rate := self._scenario.rate) or not len(given):
            return np.array(given, dtype=np.int64)
        return np.array(given * (len(given) * MINUTE / rate / max(1, int(given[-1]))), dtype=np.int64)

    def _given_to(self, broker: int) -> npt.NDArray[np.int64]:
        return np.flatnonzero(self._given.subscriptions.brokers == broker)

    def _subscribe(self, broker: int, ids: npt.NDArray[np.int64], like: npt.NDArray[np.int64]) -> None:
        given, anchors = self._given.subscriptions, np.full(len(ids), broker, dtype=np.int32)
        self._tables[broker] += 1
        self._network.subscribe(broker, Entries(ids.astype(np.int32), given.lows[like], given.highs[like], anchors))

    def _unsubscribe(self, broker: int, issued: list[Issued]) -> None:
        self._tables[broker] += 1
        self._ended.update(map(id, issued))
        self._network.unsubscribe(broker, issued)

    # Processes.

    def _publications(self) -> Process:
        times = (self._times() + self.start).tolist()
        line = StatusLine(len(times))
        for number, time in enumerate(times):
            if time > self._network.now:
                yield self._env.timeout(time - self._network.now)
            if self._given.publications.sources[number] not in self._leaving:
                self._network.publish(number)
            done, messages = (time - self.start) / SECOND, len(self._network.log.processed) // 5
            of = (self.end - self.start) / SECOND
            line.show(number, f"{done:.0f} of {of:.0f} s simulated, {messages:,} messages")
        line.clear()

    def _every(self, gap: float, event: Callable[[], None]) -> Process:
        """Let something happen at `start` + `gap`, `start` + 2 `gap`, …, before `end`."""
        yield self._env.timeout(self.start - self._network.now)
        count = 1
        while (time := self.start + round(gap * count)) < self.end:
            yield self._env.timeout(time - self._network.now)
            event()
            count += 1

    def _reviews(self, interval: float) -> Process:
        network, step = self._network, round(interval * SECOND)
        yield self._env.timeout(self.start - network.now + step)
        while network.now <= self.end:
            for broker in list(network.brokers.values()):
                if broker.me not in network.down | network.joining:
                    network.send(broker.me, broker.review(network.now, interval))
            yield self._env.timeout(step)

    # Events.

    def _churn(self) -> None:
        (self._subscribe_one, self._unsubscribe_one, self._depart, self._rejoin)[self._random.integers(4)]()

    def _subscribe_one(self) -> None:
        if (broker := self._one_of(self._free())) and len(self._given.subscriptions):
            like = self._random.integers(len(self._given.subscriptions), size=1)
            self._subscribe(broker.me, self._new_ids(1), like)

    def _unsubscribe_one(self) -> None:
        """End one of the subscriptions that were issued alone and that all brokers know."""
        live = [
            each
            for each in self._network.log.issued
            if each.settled < NEVER and id(each) not in self._ended
            if len(each.entries.ids) == 1 and each.broker not in self._network.down
        ]
        if each := self._one_of(live):
            self._unsubscribe(each.broker, [each])

    def _depart(self) -> None:
        """A broker at the edge ends its subscriptions, and then it leaves."""
        settled = [broker for broker in self._free() if not self._tables[broker.me]]
        edges = [broker for broker in settled if len(broker.routing.hood.neighbours) == 1]
        if len(self._network.brokers) > 2 and (broker := self._one_of(edges)):
            self._leaving.add(broker.me)
            issued = self._network.log.issued
            own = [each for each in issued if each.broker == broker.me and id(each) not in self._ended]
            if own:
                self._unsubscribe(broker.me, own)
            else:
                self._env.process(self._leave(broker.me))

    def _leave(self, broker: int) -> Process:
        """A broker leaves once it has sent all that it has: a neighbour beyond which others lie may leave after it."""
        while self._network.has_copies(broker) and broker not in self._network.log.crashed:
            yield self._env.timeout(DETECTION)
        self._network.send(broker, self._network.brokers[broker].leave())

    def _rejoin(self) -> None:
        """A broker that left joins again, anywhere, and issues its subscriptions.

        It is a new one with the number of one that left: no copy that may know that one is under way.
        """
        log, now = self._network.log, self._network.now
        oldest = int(log.published[log.under_way > 0].min(initial=NEVER))
        gone = sorted(broker for broker, time in self._left.items() if now - time >= AWAY and oldest > time)
        parents = [broker for broker in self._free() if self._has_spare_link(broker, broker.me)]
        if (parent := self._one_of(parents)) and gone:
            broker = gone[int(self._random.integers(len(gone)))]
            del self._left[broker]
            self._network.send(broker, self._network.add(broker).join(parent.me))

    def _move(self) -> None:
        """A broker asks to replace one of its neighbours by another broker of its neighbourhood."""
        choices = [
            (broker, hood.next_hop(new), new)
            for broker in self._free()
            if (hood := broker.routing.hood)
            for new in hood.members.tolist()
            if hood.hops[new] >= 2 and self._has_spare_link(broker, new)
        ]
        if choice := self._one_of(choices):
            broker, old, new = choice
            self._moving.add(broker.me)
            self._network.send(broker.me, broker.move(old, new))

    def _crash(self) -> None:
        """A broker crashes and is up again five seconds later."""
        if broker := self._one_of(self._free()):
            self._network.crash(broker.me)
            self._env.process(self._recovery(broker.me))

    def _recovery(self, broker: int) -> Process:
        yield self._env.timeout(DOWN)
        self._network.recover(broker)

    def _crash_for_good(self) -> None:
        if broker := self._one_of(self._free()):
            self._network.crash(broker.me, for_good=True)

    def _observe(self, broker: int, outcome: str) -> None:
        self.outcomes[outcome] += 1
        self._tables[broker] -= outcome == "table"
        if outcome == "table" and broker in self._leaving and not self._tables[broker]:
            self._env.process(self._leave(broker))
        elif outcome == "leave":
            self._leaving.discard(broker)
            self._network.remove(broker)
            self._left[broker] = self._network.now
        elif outcome.startswith("move"):
            self._moving.discard(broker)
        elif outcome in ("leave refused", "join"):
            self._leaving.discard(broker)
            own = self._given_to(broker)
            if own.size and self.start:
                self._subscribe(broker, self._new_ids(len(own)), own)

    def _free(self) -> list[Broker]:
        """The brokers that are up and not about to join, leave or move."""
        busy = self._network.down | self._network.joining | self._leaving | self._moving
        return [broker for broker in self._network.brokers.values() if broker.me not in busy]

    def _has_spare_link(self, broker: Broker, end: int) -> bool:
        """Whether a broker, as another one knows it, has fewer primary links than the most in the given tree."""
        return sum(end in link for link in broker.routing.hood.edges) < self._most_links

    def _new_ids(self, count: int) -> npt.NDArray[np.int64]:
        self._next_id += count
        return np.arange(self._next_id - count, self._next_id)

    def _one_of(self, choices: Sequence[Choice]) -> Choice | None:
        return choices[int(self._random.integers(len(choices)))] if choices else None
