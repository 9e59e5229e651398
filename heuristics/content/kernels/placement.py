"""An assignment of users to brokers that knows what every move would save (P4 §IV.C)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....instances.content.instance import ContentInstance
from ...compiled import kernel
from .prices import Flags, Floats, Ids, Network, prices_from


class Users(NamedTuple):
    """The users as kernels take them: shapes (|U|, |B|), (|U|, |C|), (|U|, |C|), (|U|,) and (|B|,)."""

    access: Floats
    rates: Floats
    subscriptions: Flags
    demands: Floats
    room: Floats


class Placement(NamedTuple):
    """An assignment and what its cost is made of; kernels change it in place.

    Attributes
    ----------
    brokers : int32 array, shape (|U|,)
    loads : float64 array, shape (|B|,)
    subscribers : int32 array, shape (|C|, |B|)
        How many users of a broker want a channel.
    rates : float64 array, shape (|C|, |B|)
        What the users of a broker publish on a channel.
    prices : float64 array, shape (|C|, |B|)
        The price of the tree that joins the broker and all brokers that want the channel.
    paid : float64 array, shape (|C|,)
        The core cost of each channel.
    """

    brokers: Ids
    loads: Floats
    subscribers: Ids
    rates: Floats
    prices: Floats
    paid: Floats


def users_of(instance: ContentInstance) -> Users:
    """The users of an instance."""
    return Users(instance.access, instance.rates, instance.subscriptions, instance.demands, instance.room())


@kernel
def placed(users: Users, network: Network, brokers: Ids) -> Placement:
    """The placement of an assignment; it keeps a copy. Cost O(|U| |C|) and a tree a channel."""
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
        placement.paid[c] = _paid(placement.rates[c], placement.prices[c])
    return placement


@kernel
def cost(users: Users, placement: Placement) -> float:
    """Access and core together."""
    total = placement.paid.sum()
    for u in range(len(placement.brokers)):
        total += users.demands[u] * users.access[u, placement.brokers[u]]
    return float(total)


@kernel
def changes(users: Users, network: Network, placement: Placement, user: int, found: Floats) -> None:
    """Into found[b]: by how much the cost changes when the user moves to broker b.

    Cost O(|B| |C|), and a tree for each channel that would leave the user's broker and each broker it would enter.
    """
    home, rates = placement.brokers[user], users.rates[user]
    for b in range(len(found)):
        found[b] = users.demands[user] * (users.access[user, b] - users.access[user, home])
    for c in range(len(rates)):
        subscribers = placement.subscribers[c]
        if subscribers.min() > 0 and (subscribers[home] > 1 or not users.subscriptions[user, c]):
            continue  # every broker wants the channel, and will: its tree is the same for all
        if users.subscriptions[user, c]:
            _add_changes_of_subscriber(network, placement, c, home, rates[c], found)
        elif rates[c] > 0:
            for b in range(len(found)):
                found[b] += rates[c] * (placement.prices[c, b] - placement.prices[c, home])
    found[home] = 0.0


@kernel
def _add_changes_of_subscriber(
    network: Network, placement: Placement, channel: int, home: int, rate: float, found: Floats
) -> None:
    subscribers, rates, paid = placement.subscribers[channel], placement.rates[channel], placement.paid[channel]
    wanted = subscribers > 0
    leaves = subscribers[home] == 1
    wanted[home] = not leaves
    prices = np.empty(len(wanted))
    if leaves:
        prices_from(network, wanted, prices)
        without = _paid(rates, prices) - rate * prices[home]
    for b in range(len(wanted)):
        if subscribers[b] == 0:
            wanted[b] = True
            prices_there = np.empty(len(wanted))
            prices_from(network, wanted, prices_there)
            found[b] += _paid(rates, prices_there) + rate * (prices_there[b] - prices_there[home]) - paid
            wanted[b] = False
        elif leaves and b != home:
            found[b] += without + rate * prices[b] - paid


@kernel
def move(users: Users, network: Network, placement: Placement, user: int, broker: int) -> None:
    """Move a user to a broker. Cost O(|C|), and a tree for each channel that enters or leaves a broker."""
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
        placement.paid[c] = _paid(placement.rates[c], placement.prices[c])


@kernel
def _paid(rates: Floats, prices: Floats) -> float:
    total = 0.0
    for b in range(len(rates)):
        total += rates[b] * prices[b]
    return total
