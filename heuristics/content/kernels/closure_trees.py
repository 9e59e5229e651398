"""Message trees by the approximation on the metric closure (P4 §IV.B, phase 1; Kou, Markowsky, Berman 1981)."""

from __future__ import annotations

import numpy as np

from ....instances.content.instance import ContentInstance, Flags, Floats
from ....instances.contract.arrays import Ids
from ...compiled import kernel


def traffic_on_closure_trees(instance: ContentInstance) -> Floats:
    """The traffic on each link between a user and a broker if every message has its own tree.

    For each channel a minimum spanning tree connects the subscribers under the prices of cheapest paths. The brokers
    on these paths are the tree's; each subscriber is a leaf at the cheapest of them. A publisher who does not
    subscribe enters at the broker from which the path to the tree is cheapest. So all publishers on a channel share
    its tree.

    Returns
    -------
    float64 array, shape (|U|, |B|)

    Notes
    -----
    Zhao, Wu (P4), §IV.B, phase 1, with the approximation that the paper names in place of Algorithm 3. As in Mehlhorn
    (1988), from each broker only the path to the nearest subscriber matters. Cost O(n² + |U| |B|) for a channel with n
    subscribers.
    """
    traffic = np.zeros(instance.access.shape)
    users = np.arange(instance.num_users)
    totals = instance.rates.sum(axis=0)
    for channel in np.flatnonzero(instance.subscriptions.any(axis=0) & (totals > 0)).tolist():
        subscribed, rates = instance.subscriptions[:, channel], instance.rates[:, channel]
        members = np.flatnonzero(subscribed)
        if len(members) == 1:
            rates = np.where(subscribed, 0.0, rates)  # the only subscriber's own messages have no destination
        used = np.flatnonzero(brokers_between(instance.access[members], instance.core))
        paths = np.where(subscribed[:, None], np.inf, instance.access + instance.core[:, used].min(axis=1))
        paths[np.ix_(members, used)] = instance.access[np.ix_(members, used)]
        entries = paths.argmin(axis=1)
        traffic[users, entries] += np.where(subscribed, rates.sum(), rates)
    return traffic


@kernel
def brokers_between(access: Floats, core: Floats) -> Flags:
    """The brokers, at least one, on the paths of a minimum spanning tree of users under the prices of cheapest paths.

    Parameters
    ----------
    access : float64 array, shape (n, |B|)
        The prices of these users.
    core : float64 array, shape (|B|, |B|)

    Returns
    -------
    bool array, shape (|B|,)
        For a single user the cheapest broker.
    """
    users, brokers = access.shape
    via, near, reach = _nearest(access, core)
    used = np.zeros(brokers, dtype=np.bool_)
    if users == 1:
        used[np.argmin(access[0])] = True
        return used
    keys, joined = np.full(users, np.inf), np.zeros(users, dtype=np.bool_)
    through = np.full((users, 2), -1, dtype=np.int32)
    user = 0
    for _ in range(users):
        joined[user] = True
        for b in through[user]:
            if b >= 0:
                used[b] = used[via[b]] = True
        keys[user] = np.inf
        _offer_paths(access, core, near, reach, user, joined, keys, through)
        user = int(np.argmin(keys))
    return used


@kernel
def _nearest(access: Floats, core: Floats) -> tuple[Ids, Ids, Floats]:
    """For each broker, the last broker on its cheapest path to a user, this user, and the price."""
    brokers = len(core)
    first, price = np.empty(brokers, dtype=np.int32), np.empty(brokers)
    for b in range(brokers):
        first[b] = np.argmin(access[:, b])
        price[b] = access[first[b], b]
    via, reach = np.empty(brokers, dtype=np.int32), np.empty(brokers)
    for b in range(brokers):
        via[b] = np.argmin(core[b] + price)
        reach[b] = core[b, via[b]] + price[via[b]]
    return via, first[via], reach


@kernel
def _offer_paths(
    access: Floats, core: Floats, near: Ids, reach: Floats, user: int, joined: Flags, keys: Floats, through: Ids
) -> None:
    """Offer each user outside the tree the paths from the user added last."""
    for b in range(len(core)):
        if not joined[near[b]]:
            _offer(near[b], access[user, b] + reach[b], b, b, keys, through)
        elif near[b] == user:
            for other in range(len(joined)):
                if not joined[other]:
                    _offer(other, reach[b] + access[other, b], b, b, keys, through)
            for last in range(len(core)):
                if not joined[near[last]]:
                    _offer(near[last], reach[b] + core[b, last] + reach[last], b, last, keys, through)


@kernel
def _offer(user: int, price: float, first: int, last: int, keys: Floats, through: Ids) -> None:
    if price < keys[user]:
        keys[user] = price
        through[user, 0], through[user, 1] = first, last
