"""User migration (P4 §IV.C): each broker moves its heaviest users to other brokers while that lowers the total cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ...instances.content.instance import ContentInstance, Flags, Floats
from ...instances.content.problems import CONTENT_PROBLEMS, ContentOverlay, ContentProblem
from ...instances.contract.arrays import Ids, Offsets
from ...instances.contract.compiled import kernel
from ...instances.contract.errors import BadInput
from ...instances.contract.method import Proposal
from ...instances.contract.option import Option
from ...instances.contract.run import Clock, offer
from .assignment import Users, content_heuristic, greedy_packing, random_assignment, users_of
from .clustering import clustering
from .migration_protocol import Move, simulate_migration
from .routing import Network, network_of, prices_from, route
from .steiner_mixing import steiner_mixing

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
    requests: Sequence[Move]
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
    requests: list[Move] = []
    sweeps = rounds = 0
    while True:
        network = network_of(instance.core, routing, best.trees[0].links if routing == "shared-tree" else ())
        placement = placement_of(users, network, best.brokers)
        new_requests: list[Move] = []
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
    users: Users, network: Network, placement: Placement, heaviest: int, willing: Flags, refused: Flags, clock: Clock
) -> list[Move]:
    """The requests of a sweep."""
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
            requests.append(Move(user, home, foreign, int(rounds[part[index]]), bool(willing[user])))
    return requests


@kernel
def _request_moves(
    users: Users, network: Network, placement: Placement, turns: Offsets, willing: Flags, refused: Flags, least: float
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

    Attributes
    ----------
    brokers : int32 array, shape (|U|,)
    loads : float64 array, shape (|B|,)
    subscribers : int32 array, shape (|C|, |B|)
        The number of a broker's users who subscribe to a channel.
    rates : float64 array, shape (|C|, |B|)
        What the users of a broker publish on a channel.
    prices : float64 array, shape (|C|, |B|)
        The price of the tree that connects the broker and all brokers with a subscriber of the channel.
    core_costs : float64 array, shape (|C|,)
        The core cost of each channel.
    """

    brokers: Ids
    loads: Floats
    subscribers: Ids
    rates: Floats
    prices: Floats
    core_costs: Floats


@kernel
def placement_of(users: Users, network: Network, brokers: Ids) -> Placement:
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
def cost_changes(users: Users, network: Network, placement: Placement, user: int, changes: Floats) -> None:
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
    network: Network, placement: Placement, channel: int, home: int, rate: float, changes: Floats
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
def move(users: Users, network: Network, placement: Placement, user: int, broker: int) -> None:
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


@kernel
def _weighted_sum(rates: Floats, prices: Floats) -> float:
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
    colour="#D55E00",
    marker="s",
)
