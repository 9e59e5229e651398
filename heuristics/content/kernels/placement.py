"""An assignment of users to brokers with the cost change of every single move (P4 §IV.C)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....instances.content.instance import ContentInstance, Flags, Floats
from ....instances.contract.arrays import Ids
from ...compiled import kernel
from .prices import Network, prices_from


class Users(NamedTuple):
    """The users as kernels take them: shapes (|U|, |B|), (|U|, |C|), (|U|, |C|), (|U|,) and (|B|,)."""

    access: Floats
    rates: Floats
    subscriptions: Flags
    demands: Floats
    load_limits: Floats


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


def users_of(instance: ContentInstance) -> Users:
    """The users of an instance."""
    return Users(instance.access, instance.rates, instance.subscriptions, instance.demands, instance.load_limits())


@kernel
def placement_of(users: Users, network: Network, brokers: Ids) -> Placement:
    """The placement of an assignment, which is copied. Cost O(|U| |C|) and one tree for each channel."""
    size = (users.rates.shape[1], len(network.core))
    placement = Placement(
        brokers.copy(),
        np.zeros(size[1]),
        np.zeros(size, dtype=np.int32),
        np.zeros(size),
        np.zeros(size),
        np.zeros(size[0]),
    )
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
