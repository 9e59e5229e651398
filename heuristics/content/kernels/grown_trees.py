"""Message trees grown from the publisher, after P4's Algorithm 3 (P4 §IV.B, phase 1)."""

from __future__ import annotations

import numpy as np

from ....instances.content.instance import ContentInstance, Flags, Floats
from ....instances.contract.arrays import Ids
from ...compiled import kernel

_NONE = -1


def traffic_on_grown_trees(instance: ContentInstance) -> Floats:
    """The traffic on each link between a user and a broker if every message has a tree grown from its publisher.

    The tree of a publisher and channel grows as in Prim's algorithm on the paths between users. The publisher enters
    at the broker from which the path to a subscriber of the channel is cheapest. Then each step joins the subscriber
    of cheapest path from the tree's brokers, as a leaf at one broker, which is then on the tree. Ties go to the lowest
    broker, then to its cheapest user, then to the lowest user.

    Publishers on a channel that enter at the same broker share a tree. It joins all subscribers, also a publisher who
    subscribes, whose own messages do not count on the link to it.

    Returns
    -------
    float64 array, shape (|U|, |B|)

    Notes
    -----
    Zhao, Wu (P4), §IV.B, phase 1, and Algorithm 3 as far as it can be read. Users are leaves, so a second user near an
    unused broker gains nothing from the first: with n users near a broker at distance d from the publisher's, the tree
    costs n·d where d suffices, and no constant ratio holds.

    With n subscribers O(n |B|) for each tree, of which there is one for each channel and broker of entry; O(|B|²) for
    each channel, and again for each user who is nearest to a broker.
    """
    by_price = np.argsort(instance.access.T, axis=1, kind="stable").astype(np.int32)
    traffic = np.zeros(instance.access.shape)
    for channel in range(instance.num_channels):
        rates, subscribed = instance.rates[:, channel].copy(), instance.subscriptions[:, channel].copy()
        if subscribed.any() and rates.any():
            lists = by_price[subscribed[by_price]].reshape(instance.num_brokers, -1)
            prices = np.take_along_axis(instance.access.T, lists, axis=1)
            _add_channel(instance.access, instance.core, rates, subscribed, lists, prices, traffic)
    return traffic


@kernel
def _add_channel(
    access: Floats, core: Floats, rates: Floats, subscribed: Flags, lists: Ids, prices: Floats, traffic: Floats
) -> None:
    """Add the trees of a channel; row b of `lists` has its subscribers by their price to broker b."""
    entries = _entries(access, core, rates, subscribed, lists, prices)
    entering = np.zeros(len(core))
    for u in range(len(rates)):
        if entries[u] != _NONE:
            entering[entries[u]] += rates[u]
            traffic[u, entries[u]] += rates[u]
    joined = np.empty(len(rates), dtype=np.int32)
    for start in range(len(core)):
        if entering[start] > 0:
            _grow(core, lists, prices, start, joined)
            for u in lists[0]:
                traffic[u, joined[u]] += entering[start]
                if entries[u] == start:
                    traffic[u, joined[u]] -= rates[u]


@kernel
def _entries(access: Floats, core: Floats, rates: Floats, subscribed: Flags, lists: Ids, prices: Floats) -> Ids:
    """The broker at which each publisher enters; none for users without messages to other users."""
    paths = _paths(core, lists, prices, _NONE)
    entries = np.full(len(rates), _NONE, dtype=np.int32)
    for u in range(len(rates)):
        if rates[u] > 0 and (len(lists[0]) > 1 or not subscribed[u]):
            nearest = subscribed[u] and (lists[:, 0] == u).any()
            entries[u] = np.argmin(access[u] + (_paths(core, lists, prices, u) if nearest else paths))
    return entries


@kernel
def _paths(core: Floats, lists: Ids, prices: Floats, excluded: int) -> Floats:
    """From each broker the price of the cheapest path to a subscriber other than the excluded one."""
    first = prices[:, 0].copy()
    for b in range(len(core)):
        if lists[b, 0] == excluded:
            first[b] = prices[b, 1]
    paths = np.empty(len(core))
    for b in range(len(core)):
        paths[b] = (core[b] + first).min()
    return paths


@kernel
def _grow(core: Floats, lists: Ids, prices: Floats, start: int, joined: Ids) -> None:
    """Grow a tree from a broker over all subscribers; sets joined[u] to the broker of subscriber u."""
    count = lists.shape[1]
    joined[lists[0]] = _NONE
    distances, next_user = core[start].copy(), np.zeros(len(core), dtype=np.int64)
    keys = distances + prices[:, 0]
    done = 0
    while done < count:
        b = np.argmin(keys)
        user = lists[b, next_user[b]]
        if joined[user] == _NONE:
            joined[user] = b
            done += 1
            if distances[b] > 0:
                for other in range(len(core)):
                    if core[b, other] < distances[other]:
                        distances[other] = core[b, other]
                        if keys[other] < np.inf:
                            keys[other] = distances[other] + prices[other, next_user[other]]
        while next_user[b] < count and joined[lists[b, next_user[b]]] != _NONE:
            next_user[b] += 1
        keys[b] = distances[b] + prices[b, next_user[b]] if next_user[b] < count else np.inf
