"""Steiner-tree mixing (P4 §IV.B): brokers drawn by the traffic of a tree for each publisher and channel."""

from __future__ import annotations

import numpy as np

from ...instances.content.instance import ContentInstance
from ...instances.contract.arrays import Flags, Ids, Offsets, Reals
from ...instances.contract.option import Option
from ...instances.runtime.compiled import in_place_kernel, kernel
from .assignment import assign_drawn, content_heuristic


def traffic_on_closure_trees(instance: ContentInstance) -> Reals:
    """The traffic on each link between a user and a broker if every message has its own tree.

    For each channel a minimum spanning tree connects the subscribers under the prices of cheapest paths. The brokers
    on these paths are the tree's; each subscriber is a leaf at the cheapest of them. A publisher who does not
    subscribe enters at the broker from which the path to the tree is cheapest. So all publishers on a channel share
    its tree. The array has shape (|U|, |B|).

    Zhao, Wu (P4), §IV.B, phase 1, with the approximation that the paper names in place of Algorithm 3. As in Mehlhorn
    (1988), from each broker only the path to the nearest subscriber matters. Cost O(n² + |U| |B|) for a channel with n
    subscribers.
    """
    traffic, totals = np.zeros(instance.access.shape), instance.rates.sum(axis=0)
    for channel in np.flatnonzero(instance.subscriptions.any(axis=0) & (totals > 0)).tolist():
        subscribed, rates = instance.subscriptions[:, channel], instance.rates[:, channel]
        members = np.flatnonzero(subscribed)
        if len(members) == 1:
            rates = np.where(subscribed, 0.0, rates)  # the only subscriber's own messages have no destination
        used = np.flatnonzero(brokers_between(instance.access[members], instance.core))
        reach = instance.core[:, used].min(axis=1)
        _add_entries(instance.access, used, reach, subscribed, np.where(subscribed, rates.sum(), rates), traffic)
    return traffic


@kernel
def _add_entries(access: Reals, used: Offsets, reach: Reals, subscribed: Flags, rates: Reals, traffic: Reals) -> None:
    """Add to the traffic of each user at the broker where it enters a tree, a subscriber at one of its brokers."""
    for user in range(len(access)):
        entry = used[0] if subscribed[user] else 0
        if subscribed[user]:
            for b in used:
                if access[user, b] < access[user, entry]:
                    entry = b
        else:
            for b in range(len(reach)):
                if access[user, b] + reach[b] < access[user, entry] + reach[entry]:
                    entry = b
        traffic[user, entry] += rates[user]


@kernel
def brokers_between(access: Reals, core: Reals) -> Flags:
    """The brokers on the paths of a minimum spanning tree of users under the prices of cheapest paths, at least one.

    `access` has the prices of these users, shape (n, |B|). For a single user it is the cheapest broker.
    """
    users, brokers = access.shape
    via, near, reach = _nearest_users(access, core)
    used = np.zeros(brokers, dtype=np.bool_)
    if users == 1:
        used[np.argmin(access[0])] = True
        return used
    by_broker, keys, joined = access.T.copy(), np.full(users, np.inf), np.zeros(users, np.bool_)
    through = np.full((users, 2), -1, dtype=np.int32)
    user, outside = 0, np.arange(brokers)  # brokers whose nearest user is outside the tree
    for _ in range(users):
        joined[user], keys[user], count = True, np.inf, 0
        for b in through[user]:
            if b >= 0:
                used[b] = used[via[b]] = True
        for k in range(len(outside)):
            b = int(outside[k])
            if near[b] == user:
                _offer_paths(by_broker[b], core[b], near, reach, b, joined, keys, through)
            else:
                _offer(near[b], by_broker[b, user] + reach[b], b, b, keys, through)
                outside[count], count = b, count + 1
        outside, user = outside[:count], 0
        for other in range(users):
            if keys[other] < keys[user]:
                user = other
    return used


@kernel
def _nearest_users(access: Reals, core: Reals) -> tuple[Ids, Ids, Reals]:
    """For each broker, the last broker on its cheapest path to a user, this user, and the price."""
    brokers = len(core)
    first, price = np.zeros(brokers, dtype=np.int32), access[0].copy()
    for user in range(len(access)):
        for b in range(brokers):
            if access[user, b] < price[b]:
                first[b], price[b] = user, access[user, b]
    via, reach = np.empty(brokers, dtype=np.int32), np.empty(brokers)
    for b in range(brokers):
        via[b] = np.argmin(core[b] + price)
        reach[b] = core[b, via[b]] + price[via[b]]
    return via, first[via], reach


@in_place_kernel
def _offer_paths(
    access: Reals, core: Reals, near: Ids, reach: Reals, broker: int, joined: Flags, keys: Reals, through: Ids
) -> None:
    """Offer each user outside the tree the paths through a broker to its nearest user."""
    for other in range(len(access)):
        if not joined[other]:
            _offer(other, reach[broker] + access[other], broker, broker, keys, through)
    for last in range(len(core)):
        if not joined[near[last]]:
            _offer(near[last], reach[broker] + core[last] + reach[last], broker, last, keys, through)


@in_place_kernel
def _offer(user: int, price: float, first: int, last: int, keys: Reals, through: Ids) -> None:
    if price < keys[user]:
        keys[user] = price
        through[user, 0], through[user, 1] = first, last


_NONE = -1


def traffic_on_grown_trees(instance: ContentInstance) -> Reals:
    """The traffic on each link between a user and a broker if every message has a tree grown from its publisher.

    The tree of a publisher and channel grows as in Prim's algorithm on the paths between users. The publisher enters
    at the broker from which the path to a subscriber of the channel is cheapest. Then each step joins the subscriber
    of cheapest path from the tree's brokers, as a leaf at one broker, which is then on the tree. Ties go to the lowest
    broker, then to its cheapest user, then to the lowest user.

    Publishers on a channel that enter at the same broker share a tree. It joins all subscribers, also a publisher who
    subscribes, whose own messages do not count on the link to it. The array has shape (|U|, |B|).

    Zhao, Wu (P4), §IV.B, phase 1, and Algorithm 3 as far as it can be read. Users are leaves: with n users near a
    broker at distance d from the publisher's, the tree costs n·d where d suffices, and no constant ratio holds.

    With n subscribers O(n |B|) for each tree, one for each channel and broker of entry; O(|B|²) for each channel, and
    again for each user who is nearest to a broker.
    """
    by_price = np.argsort(instance.access.T, axis=1, kind="stable").astype(np.int32)
    traffic, totals = np.zeros(instance.access.shape), instance.rates.sum(axis=0)
    for channel in np.flatnonzero(instance.subscriptions.any(axis=0) & (totals > 0)).tolist():
        rates, subscribed = instance.rates[:, channel].copy(), instance.subscriptions[:, channel].copy()
        _add_channel(instance.access, instance.core, by_price, rates, subscribed, traffic)
    return traffic


@kernel
def _add_channel(access: Reals, core: Reals, by_price: Ids, rates: Reals, subscribed: Flags, traffic: Reals) -> None:
    """Add the trees of a channel; row b of `by_price` has all users by their price to broker b."""
    members, numbers = np.flatnonzero(subscribed), np.full(len(rates), _NONE, np.int32)
    numbers[members] = np.arange(len(members))
    lists, prices = np.empty((len(core), len(members)), np.int32), access[members].T.copy()
    for b in range(len(core)):
        count = 0
        for u in by_price[b]:
            if subscribed[u]:
                lists[b, count], count = numbers[u], count + 1
    entries, entering = _entries(access, core, rates, numbers, lists, prices), np.zeros(len(core))
    for u in range(len(rates)):
        if entries[u] != _NONE:
            entering[entries[u]] += rates[u]
            traffic[u, entries[u]] += rates[u]
    joined, nearest = np.empty(len(members), np.int32), np.empty(len(members))
    for start in range(len(core)):
        if entering[start] > 0:
            _grow(core, lists, prices, start, joined, nearest)
            for k, u in enumerate(members):
                traffic[u, joined[k]] += entering[start]
                if entries[u] == start:
                    traffic[u, joined[k]] -= rates[u]


@kernel
def _entries(access: Reals, core: Reals, rates: Reals, numbers: Ids, lists: Ids, prices: Reals) -> Ids:
    """The broker at which each publisher enters; none for users without messages to other users."""
    paths = _paths(core, lists, prices, _NONE)
    entries = np.full(len(rates), _NONE, dtype=np.int32)
    for u in range(len(rates)):
        if rates[u] > 0 and (lists.shape[1] > 1 or numbers[u] == _NONE):
            nearest = numbers[u] != _NONE and (lists[:, 0] == numbers[u]).any()
            entries[u] = np.argmin(access[u] + (_paths(core, lists, prices, numbers[u]) if nearest else paths))
    return entries


@kernel
def _paths(core: Reals, lists: Ids, prices: Reals, excluded: int) -> Reals:
    """From each broker the price of the cheapest path to a subscriber other than the excluded one."""
    first, paths = np.empty(len(core)), np.empty(len(core))
    for b in range(len(core)):
        first[b] = prices[b, lists[b, 1 if lists[b, 0] == excluded else 0]]
    for b in range(len(core)):
        paths[b] = (core[b] + first).min()
    return paths


@kernel
def _grow(core: Reals, lists: Ids, prices: Reals, start: int, joined: Ids, nearest: Reals) -> None:
    """Grow a tree from a broker over all subscribers; sets joined[k] to the broker of the k-th one.

    Row b of `lists` has the subscribers by their price to broker b. A subscriber of price nearest[k] to the tree's
    broker joined[k] joins there unless a path from another broker is cheaper; −1 says that it has joined.
    """
    joined[:], nearest[:] = len(core), np.inf
    distances, following = core[start].copy(), np.zeros(len(core), np.int64)
    keys = distances + np.array([prices[b, lists[b, 0]] for b in range(len(core))])
    while True:
        b = 0
        for other in range(1, len(keys)):
            if keys[other] < keys[b]:
                b = other
        key = keys[b]
        if key == np.inf:
            return
        k, to_broker, possible, keys[b] = lists[b, following[b]], prices[b], 0, np.inf
        if nearest[k] > key or (nearest[k] == key and joined[k] > b):
            _add_broker(to_broker, key, b, joined, nearest)
            joined[k], nearest[k] = b, -1.0
            if distances[b] > 0:  # the broker joins the tree, which brings other brokers nearer
                for other in range(len(core)):
                    if core[b, other] < distances[other]:
                        distances[other], following[other] = core[b, other], 0
                        keys[other] = core[b, other] + prices[other, lists[other, 0]] if other != b else np.inf
            continue
        for other in range(len(nearest)):
            possible += distances[b] + to_broker[other] <= nearest[other]
        for at in range(following[b] + 1, len(joined) if possible else 0):
            k, following[b] = lists[b, at], at
            if distances[b] + to_broker[k] <= nearest[k]:
                keys[b] = distances[b] + to_broker[k]
                break


@in_place_kernel
def _add_broker(prices: Reals, key: float, broker: int, joined: Ids, nearest: Reals) -> None:
    """Let subscribers with a path cheaper than `key` join, and bring the others nearer by the broker.

    Without branches, so that the loop uses the processor's vector instructions.
    """
    for k in range(len(joined)):
        price, before = nearest[k], joined[k]
        stays = (price > key) | ((price == key) & (before > broker))
        nearer = (prices[k] < price) | ((prices[k] == price) & (broker < before))
        joined[k] = broker if stays & nearer else before
        nearest[k] = min(price, prices[k]) if stays else -1.0


_TREES = {"closure": traffic_on_closure_trees, "grown": traffic_on_grown_trees}


def steiner_mixing(instance: ContentInstance, *, trees: str = "closure", seed: int = 0) -> Ids:
    """Draw a broker for each user in proportion to the traffic of message trees on the link between the two.

    Phase 1 builds a tree for each publisher and channel. Phase 2 draws a broker with enough residual capacity for each
    user in the order of their indices, weighted by the traffic on its link to the user; without such traffic it takes
    the cheapest of them. Phase 3 is :func:`.route`.

    Parameters
    ----------
    trees : {"closure", "grown"}
        Phase 1 by :func:`.traffic_on_closure_trees` or :func:`.traffic_on_grown_trees`.
    seed : int
        For the draw.

    Notes
    -----
    Zhao, Wu (P4), §IV.B. Result and errors are those of :func:`.assign_in_order`. The draw costs O(|U| |B|); phase 1
    dominates.

    Examples
    --------
    >>> import numpy as np
    >>> rates, wanted = np.array([[3.0], [0.0], [0.0]]), np.array([[False], [True], [True]])
    >>> prices, distance = np.array([[1.0, 9.0], [9.0, 1.0], [2.0, 9.0]]), np.array([[0.0, 9.0], [9.0, 0.0]])
    >>> steiner_mixing(ContentInstance(prices, distance, np.full(2, np.inf), rates, wanted)).tolist()
    [1, 1, 1]
    """
    draws = np.random.default_rng(seed).random(instance.num_users)
    return assign_drawn(instance, np.arange(instance.num_users, dtype=np.int32), _TREES[trees](instance), draws)


STEINER_MIXING = content_heuristic(
    "steiner-mixing",
    lambda instance, *, trees, seed, **_: steiner_mixing(instance, trees=trees, seed=seed),
    summary="a broker drawn by the traffic of Steiner trees for each publisher and channel, then trees",
    source="P4 §IV.B",
    guarantee="no ratio is proven",
    cost="time O(|U| |B|), and the trees of each publisher and channel, which dominate",
    options=(
        Option(
            "trees",
            "closure",
            "message trees: minimum spanning trees of the metric closure, or grown from the publisher (Algorithm 3)",
            choices=tuple(_TREES),
        ),
    ),
    pace=4,
    random=True,
)
