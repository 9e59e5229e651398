"""Trees of single messages as P4's Algorithm 3 grows them, from the publisher on (P4 §IV.B, phase 1)."""

from __future__ import annotations

import numpy as np

from ....instances.content.instance import ContentInstance
from ...compiled import kernel
from .prices import Flags, Floats, Ids

_NOBODY = -1


def traffic_on_grown_trees(instance: ContentInstance) -> Floats:
    """The traffic on each link between a user and a broker when every message takes a tree grown from its publisher.

    The tree of a publisher and channel grows as Prim's does on the ways between users. The publisher enters at the
    broker from which the way to a subscriber of the channel is cheapest. Then, again and again, the subscriber with the
    cheapest way from the tree is joined to it, through one broker; from then on he is no way for others, but his
    broker is. Of equal ways the lowest broker wins, then the cheapest of its users, then the lowest.

    Publishers on a channel that enter at the same broker share a tree, which is grown once: it joins all subscribers,
    a publisher who subscribes himself among them; his own messages do not count on his link.

    Returns
    -------
    float64 array, shape (|U|, |B|)

    Notes
    -----
    Zhao, Wu (P4), §IV.B, phase 1, and Algorithm 3 as far as it can be read. A joined user stands back behind his
    broker, so a second user near an unused broker gains nothing from the first: with n users beside a broker at
    distance d from the publisher's the tree costs n·d where d suffices, and no constant ratio holds.

    With n subscribers O(n |B|) a tree, and a tree for each channel and broker at which a publisher enters; once a
    channel O(|B|²) and, for each user nearest to a broker, again.
    """
    by_price = np.argsort(instance.access.T, axis=1, kind="stable").astype(np.int32)
    traffic = np.zeros(instance.access.shape)
    for channel in range(instance.num_channels):
        rates, wanted = instance.rates[:, channel].copy(), instance.subscriptions[:, channel].copy()
        if wanted.any() and rates.any():
            lists = by_price[wanted[by_price]].reshape(instance.num_brokers, -1)
            prices = np.take_along_axis(instance.access.T, lists, axis=1)
            _add_channel(instance.access, instance.core, rates, wanted, lists, prices, traffic)
    return traffic


@kernel
def _add_channel(
    access: Floats, core: Floats, rates: Floats, wanted: Flags, lists: Ids, prices: Floats, traffic: Floats
) -> None:
    """Add the trees of a channel; row b of `lists` has its subscribers by their price to broker b."""
    entries = _entries(access, core, rates, wanted, lists, prices)
    entering = np.zeros(len(core))
    for u in range(len(rates)):
        if entries[u] != _NOBODY:
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
def _entries(access: Floats, core: Floats, rates: Floats, wanted: Flags, lists: Ids, prices: Floats) -> Ids:
    """The broker at which each publisher enters; nobody for who publishes nothing or to no one else."""
    ways = _ways(core, lists, prices, _NOBODY)
    found = np.full(len(rates), _NOBODY, dtype=np.int32)
    for u in range(len(rates)):
        if rates[u] > 0 and (len(lists[0]) > 1 or not wanted[u]):
            nearest = wanted[u] and (lists[:, 0] == u).any()
            found[u] = np.argmin(access[u] + (_ways(core, lists, prices, u) if nearest else ways))
    return found


@kernel
def _ways(core: Floats, lists: Ids, prices: Floats, left_out: int) -> Floats:
    """From each broker the price of the cheapest way to a subscriber, one of them left out."""
    first = prices[:, 0].copy()
    for b in range(len(core)):
        if lists[b, 0] == left_out:
            first[b] = prices[b, 1]
    ways = np.empty(len(core))
    for b in range(len(core)):
        ways[b] = (core[b] + first).min()
    return ways


@kernel
def _grow(core: Floats, lists: Ids, prices: Floats, start: int, joined: Ids) -> None:
    """Join the subscribers to a tree that starts at a broker; joined[u] becomes the broker of subscriber u."""
    count = lists.shape[1]
    joined[lists[0]] = _NOBODY
    distances, ahead = core[start].copy(), np.zeros(len(core), dtype=np.int64)
    keys = distances + prices[:, 0]
    done = 0
    while done < count:
        b = np.argmin(keys)
        user = lists[b, ahead[b]]
        if joined[user] == _NOBODY:
            joined[user] = b
            done += 1
            if distances[b] > 0:
                for other in range(len(core)):
                    if core[b, other] < distances[other]:
                        distances[other] = core[b, other]
                        keys[other] = distances[other] + prices[other, ahead[other]] if keys[other] < np.inf else np.inf
        while ahead[b] < count and joined[lists[b, ahead[b]]] != _NOBODY:
            ahead[b] += 1
        keys[b] = distances[b] + prices[b, ahead[b]] if ahead[b] < count else np.inf
