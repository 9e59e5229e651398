"""User migration (P4 §IV.C, §V): brokers move users while that lowers the cost, by a protocol that loses no message."""

from __future__ import annotations

import heapq
import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ...instances.content.instance import ContentInstance
from ...instances.content.problems import CONTENT_PROBLEMS, ContentOverlay, ContentProblem
from ...instances.contract.arrays import Flags, Ids, Offsets, Reals
from ...instances.contract.errors import BadInput
from ...instances.contract.method import Proposal
from ...instances.contract.option import Option
from ...instances.runtime.compiled import in_place_kernel, kernel
from ...instances.runtime.run import Clock, offer
from .assignment import Users, content_heuristic, greedy_packing, random_assignment, users_of
from .clustering import clustering
from .routing import BrokerArrays, network_of, prices_from, route
from .steiner_mixing import steiner_mixing

_KINDS = ("request_to_move", "accept", "decline", "replicate", "address", "connect", "register", "redirect")


@dataclass(frozen=True)
class MoveRequest:
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
        served = {"delivered": self.delivered, "lost": self.lost, "duplicates": self.duplicates}
        return {**{kind: self.messages[kind] for kind in _KINDS}, **served}


def simulate_migration(
    instance: ContentInstance,
    brokers: Ids,
    moves: Iterable[MoveRequest],
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

    def run_round(self, moves: Sequence[MoveRequest]) -> None:
        """Start the moves at the same time and run until no message is on its way."""
        for move in moves:
            self.send(self.access[move.user, move.home], self.request_to_move, move)
        while self._queue:
            self.now, _, event, arguments = heapq.heappop(self._queue)
            event(*arguments)
        for forwards in self.forwards:
            forwards.clear()

    def request_to_move(self, move: MoveRequest) -> None:
        self.send(self.access[move.user, move.home], self.accept if move.accepted else self.decline, move)

    def decline(self, move: MoveRequest) -> None:
        """The user stays."""

    def accept(self, move: MoveRequest) -> None:
        user, home, foreign = move.user, move.home, move.foreign
        connected = self.now + self.access[user, home] + self.access[user, foreign] + self.core[home, foreign]
        until = self.now + self.forwarding * (connected + 2 * self.core.max() - self.now)
        self.users[home].remove(user)
        self.registered[home][user] = foreign
        self.forwards[home][user] = (foreign, until)
        self.send(self.core[home, foreign], self.replicate, move)
        self.send(self.access[user, home], self.address, move)

    def replicate(self, move: MoveRequest) -> None:
        self.buffers[move.foreign][move.user] = []
        if move.user in self.early[move.foreign]:
            self.early[move.foreign].remove(move.user)
            self.connect(move)

    def address(self, move: MoveRequest) -> None:
        self.broker_of[move.user] = move.foreign
        self.send(self.access[move.user, move.foreign], self.connect, move)

    def connect(self, move: MoveRequest) -> None:
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

    def register(self, broker: int, move: MoveRequest) -> None:
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


_STARTS = {
    "greedy-packing": lambda instance, seed: greedy_packing(instance),
    "clustering": lambda instance, seed: clustering(instance),
    "steiner-mixing": lambda instance, seed: steiner_mixing(instance, seed=seed),
    "random-assignment": lambda instance, seed: random_assignment(instance, seed=seed),
}
_VALUES = {problem.routing: problem.value for problem in CONTENT_PROBLEMS}
_USERS_AT_ONCE = 500
_RELATIVE_GAIN = 1e-12


class MigrationResult(NamedTuple):
    """An overlay, the requests to move that led to it, and the number of sweeps over the users."""

    overlay: ContentOverlay
    requests: Sequence[MoveRequest]
    sweeps: int


def migrate(
    instance: ContentInstance,
    brokers: Ids,
    routing: str,
    *,
    heaviest: int = 0,
    declines: Flags | None = None,
    time_limit: float | None = None,
) -> MigrationResult:
    """Improve an assignment until no broker lowers the cost by moving a single user to another broker.

    A sweep takes the users of every broker by falling demand. In round r each broker in turn asks its r-th user to
    move to the broker, among those with enough residual capacity, where the total cost falls most, if it falls at all.
    A user who declines is not asked again. The last sweep is one without a move.

    Parameters
    ----------
    instance : ContentInstance
    brokers : int32 array, shape (|U|,)
        An assignment within the capacities.
    routing : {"mst", "steiner", "shared-tree"}
        For ``steiner`` moves are evaluated with the heuristic trees of :func:`.prices_from`. For ``shared-tree`` the
        tree is chosen again after the last sweep; if that lowers the cost, sweeps go on.
    heaviest : int
        How many users a broker tries in a sweep, 0 for all; 1 is the step of the paper.
    declines : bool array, shape (|U|,), optional
        The users who decline.
    time_limit : float, optional
        Seconds, after which the current assignment is returned.

    Notes
    -----
    Zhao, Wu (P4), §IV.C. The overlay costs at most as much as that of `brokers`. A user costs O(|B| |C|), and one tree
    for each channel of which the user is the broker's last subscriber or would be another broker's first.
    """
    users, clock = users_of(instance), Clock(time_limit)
    refused = np.zeros(instance.num_users, dtype=np.bool_)
    willing = ~(refused if declines is None else declines)
    best = route(instance, brokers, routing)
    offer(best)
    value = _VALUES[routing]
    requests: list[MoveRequest] = []
    sweeps = rounds = 0
    while True:
        network = network_of(instance.core, routing, best.trees[0].links if routing == "shared-tree" else ())
        placement = placement_of(users, network, best.brokers)
        new_requests: list[MoveRequest] = []
        settled = False
        while not settled and not clock.passed:
            in_sweep = _sweep(users, network, placement, heaviest, willing, refused, clock)
            new_requests += [replace(request, round=rounds + request.round) for request in in_sweep]
            sweeps, rounds = sweeps + 1, rounds + instance.num_users
            settled = not any(request.accepted for request in in_sweep)
        overlay = route(instance, placement.brokers, routing)
        if routing == "shared-tree":
            same_tree = ContentOverlay(placement.brokers, best.trees)
            settled = value(instance, same_tree) <= value(instance, overlay)
            overlay = same_tree if settled else overlay
        if not any(request.accepted for request in new_requests):
            return MigrationResult(best, requests + new_requests, sweeps)
        if value(instance, overlay) >= value(instance, best):
            return MigrationResult(best, requests, sweeps)
        best, requests = overlay, requests + new_requests
        offer(best)
        if settled or clock.passed:
            return MigrationResult(best, requests, sweeps)


def _sweep(
    users: Users,
    network: BrokerArrays,
    placement: Placement,
    heaviest: int,
    willing: Flags,
    refused: Flags,
    clock: Clock,
) -> list[MoveRequest]:
    by_weight = np.lexsort((np.arange(len(refused)), -users.demands, placement.brokers))
    homes = placement.brokers[by_weight]
    rounds = np.arange(len(homes)) - np.searchsorted(homes, homes)
    turns = np.lexsort((homes, rounds))
    if heaviest:
        turns = turns[rounds[turns] < heaviest]
    least = _RELATIVE_GAIN * cost(users, placement)
    requests = []
    for start in range(0, len(turns), _USERS_AT_ONCE):
        if clock.passed:
            break
        part = turns[start : start + _USERS_AT_ONCE]
        rows = _request_moves(users, network, placement, by_weight[part], willing, refused, least)
        for index, user, home, foreign in rows.tolist():
            requests.append(MoveRequest(user, home, foreign, int(rounds[part[index]]), bool(willing[user])))
    return requests


@kernel
def _request_moves(
    users: Users,
    network: BrokerArrays,
    placement: Placement,
    turns: Offsets,
    willing: Flags,
    refused: Flags,
    least: float,
) -> Ids:
    """Move users one after the other; each request is a row: index in `turns`, user, home broker, foreign broker.

    A broker asks a user to move where the cost falls most and there is enough residual capacity, if by over `least`.
    """
    requests = np.empty((len(turns), 4), dtype=np.int32)
    count = 0
    changes = np.empty(len(placement.loads))
    for index in range(len(turns)):
        user = turns[index]
        if refused[user]:
            continue
        cost_changes(users, network, placement, user, changes)
        foreign = placement.brokers[user]
        for b in range(len(changes)):
            if changes[b] < changes[foreign] and placement.loads[b] + users.demands[user] <= users.load_limits[b]:
                foreign = b
        if changes[foreign] < -least:
            requests[count] = np.array([index, user, placement.brokers[user], foreign])
            count += 1
            refused[user] = not willing[user]
            if willing[user]:
                move(users, network, placement, user, foreign)
    return requests[:count]


class Placement(NamedTuple):
    """An assignment and the parts of its cost; kernels change it in place.

    `prices`, shape (|C|, |B|): the price of the tree that connects the broker and all brokers with a subscriber of
    the channel.
    """

    brokers: Ids  # shape (|U|,)
    loads: Reals  # shape (|B|,)
    subscribers: Ids  # shape (|C|, |B|): the number of a broker's users who subscribe to a channel
    rates: Reals  # shape (|C|, |B|): what the users of a broker publish on a channel
    prices: Reals
    core_costs: Reals  # shape (|C|,): the core cost of each channel


@kernel
def placement_of(users: Users, network: BrokerArrays, brokers: Ids) -> Placement:
    """The placement of an assignment, which is copied. Cost O(|U| |C|) and one tree for each channel."""
    size = (users.rates.shape[1], len(network.core))
    subscribers, loads, core_costs = np.zeros(size, dtype=np.int32), np.zeros(size[1]), np.zeros(size[0])
    placement = Placement(brokers.copy(), loads, subscribers, np.zeros(size), np.zeros(size), core_costs)
    for u in range(len(brokers)):
        placement.loads[brokers[u]] += users.demands[u]
        for c in range(size[0]):
            placement.subscribers[c, brokers[u]] += users.subscriptions[u, c]
            placement.rates[c, brokers[u]] += users.rates[u, c]
    for c in range(size[0]):
        prices_from(network, placement.subscribers[c] > 0, placement.prices[c])
        placement.core_costs[c] = _weighted_sum(placement.rates[c], placement.prices[c])
    return placement


@kernel
def cost(users: Users, placement: Placement) -> float:
    """The sum of access and core cost."""
    total = placement.core_costs.sum()
    for u in range(len(placement.brokers)):
        total += users.demands[u] * users.access[u, placement.brokers[u]]
    return float(total)


@kernel
def cost_changes(users: Users, network: BrokerArrays, placement: Placement, user: int, changes: Reals) -> None:
    """Set changes[b] to the change of cost if the user moves to broker b.

    Cost O(|B| |C|), and one tree for each channel that leaves the user's broker and each broker that it enters.
    """
    home, rates = placement.brokers[user], users.rates[user]
    for b in range(len(changes)):
        changes[b] = users.demands[user] * (users.access[user, b] - users.access[user, home])
    for c in range(len(rates)):
        subscribers = placement.subscribers[c]
        if subscribers.min() > 0 and (subscribers[home] > 1 or not users.subscriptions[user, c]):
            continue  # every broker has a subscriber before and after the move: one tree serves all brokers
        if users.subscriptions[user, c]:
            _add_changes_of_subscriber(network, placement, c, home, rates[c], changes)
        elif rates[c] > 0:
            for b in range(len(changes)):
                changes[b] += rates[c] * (placement.prices[c, b] - placement.prices[c, home])
    changes[home] = 0.0


@kernel
def _add_changes_of_subscriber(
    network: BrokerArrays, placement: Placement, channel: int, home: int, rate: float, changes: Reals
) -> None:
    subscribers, rates = placement.subscribers[channel], placement.rates[channel]
    before = placement.core_costs[channel]
    destinations = subscribers > 0
    leaves = subscribers[home] == 1
    destinations[home] = not leaves
    prices = np.empty(len(destinations))
    if leaves:
        prices_from(network, destinations, prices)
        without = _weighted_sum(rates, prices) - rate * prices[home]
    for b in range(len(destinations)):
        if subscribers[b] == 0:
            destinations[b] = True
            prices_there = np.empty(len(destinations))
            prices_from(network, destinations, prices_there)
            moved = rate * (prices_there[b] - prices_there[home])
            changes[b] += _weighted_sum(rates, prices_there) + moved - before
            destinations[b] = False
        elif leaves and b != home:
            changes[b] += without + rate * prices[b] - before


@kernel
def move(users: Users, network: BrokerArrays, placement: Placement, user: int, broker: int) -> None:
    """Move a user to a broker. Cost O(|C|), and one tree for each channel that enters or leaves a broker."""
    home = placement.brokers[user]
    placement.brokers[user] = broker
    placement.loads[home] -= users.demands[user]
    placement.loads[broker] += users.demands[user]
    for c in range(users.rates.shape[1]):
        rate, subscribers = users.rates[user, c], placement.subscribers[c]
        placement.rates[c, home] -= rate
        placement.rates[c, broker] += rate
        if users.subscriptions[user, c]:
            subscribers[home] -= 1
            subscribers[broker] += 1
            if subscribers[home] == 0 or subscribers[broker] == 1:
                prices_from(network, subscribers > 0, placement.prices[c])
        placement.core_costs[c] = _weighted_sum(placement.rates[c], placement.prices[c])


@in_place_kernel
def _weighted_sum(rates: Reals, prices: Reals) -> float:
    total = 0.0
    for b in range(len(rates)):
        total += rates[b] * prices[b]
    return total


def _solve(
    instance: ContentInstance,
    *,
    problem: ContentProblem,
    seed: int,
    overlay: ContentOverlay | None = None,
    **given: Any,
) -> Proposal[ContentOverlay]:
    if overlay is not None and (violations := problem.violations(instance, overlay)):
        raise BadInput(f"{violations[0]}: start from a valid overlay")
    before = _STARTS[given["start"]](instance, seed) if overlay is None else overlay.brokers
    declines = np.random.default_rng(seed).random(instance.num_users) < given["decline"]
    limits = {"heaviest": given["heaviest"], "time_limit": given["time_limit"]}
    result = migrate(instance, before, problem.routing, declines=declines, **limits)
    if overlay is not None and problem.value(instance, overlay) < problem.value(instance, result.overlay):
        result = MigrationResult(overlay, (), result.sweeps)  # the given trees are better than the heuristic ones
    counts = simulate_migration(instance, before, result.requests, publications=given["publications"], seed=seed)
    return Proposal(result.overlay, counters={"sweeps": result.sweeps, **counts.counters})


MIGRATION = content_heuristic(
    "migration",
    _solve,
    summary="heaviest users move to the broker that lowers the cost most, from any start",
    source="P4 §IV.C, §V",
    guarantee="never costs more than its start; it ends when no move of a single user lowers the cost",
    cost="O(|B| |C|) for each user in a sweep, and the trees of the channels that change",
    options=(
        Option("start", "greedy-packing", "the heuristic whose assignment is improved", choices=tuple(_STARTS)),
        Option("heaviest", 0, "how many of its heaviest users a broker tries in a sweep; 0: all", least=0),
        Option("decline", 0.0, "share of the users who decline to move", least=0.0, most=1.0),
        Option("publications", 20, "messages published during the moves, to count losses", least=0),
    ),
    inputs=("overlay",),
    pace=5,
)
