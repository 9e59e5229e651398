"""Two-stage clustering (P4 §III.B): users with much traffic between them to one broker near both."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...instances.content.instance import ContentInstance
from ..compiled import kernel
from .heuristic import Assigned, NoRoom, content_heuristic
from .kernels.placement import Users, users_of
from .kernels.prices import Floats, Ids

_NOBODY = -1


def clustering(instance: ContentInstance) -> Ids:
    """A broker for each user, by bandwidth-to-cost ratio.

    First each broker in turn takes the pair of users, of those left and fitting it, with the highest ratio of the
    traffic between them to the price of the way from one to the other through this broker. Then each user left goes,
    of the brokers with room, to the one with the highest ratio of the traffic between him and its users to his price
    there; of equals to the cheapest, of these to the lowest.

    Parameters
    ----------
    instance : ContentInstance

    Returns
    -------
    int32 array, shape (|U|,)

    Raises
    ------
    NoRoom
        If no broker has room for a user.

    Notes
    -----
    Zhao, Wu (P4), §III.B, Algorithm 2, whose argmin must be argmax. A way at price 0 has an infinite ratio if there
    is traffic at all, and equal pairs are taken in lexicographic order. The second stage is
    :func:`.routed`.

    The traffic of a pair is at most what both publish, so its ratio is at most the higher of the two users' ratios of
    what they publish to their prices: pairs are looked at in that order, and seldom beyond the first few users. Cost
    O(|B| |U| log |U|) and O(|C|) a pair looked at, at worst O(|B| |U|² |C|), then O(|U| |B| |C|).

    Examples
    --------
    >>> import numpy as np
    >>> rates, wanted = np.array([[3.0], [0.0], [0.0]]), np.array([[False], [False], [True]])
    >>> distance = np.array([[0.0, 2.0], [2.0, 0.0]])
    >>> clustering(ContentInstance(np.ones((3, 2)), distance, np.full(2, np.inf), rates, wanted)).tolist()
    [0, 0, 0]
    """
    users = users_of(instance)
    brokers = np.full(instance.num_users, _NOBODY, dtype=np.int32)
    loads = np.zeros(instance.num_brokers)
    for broker in range(instance.num_brokers):
        ratios = _ratios(instance.out_rates, instance.access[:, broker])
        ordered = np.argsort(-ratios, kind="stable").astype(np.int32)
        left = ordered[brokers[ordered] == _NOBODY]
        a, b = _best_pair(users, instance.out_rates, broker, left, ratios)
        if a != _NOBODY:
            brokers[[a, b]] = broker
            loads[broker] += instance.demands[a] + instance.demands[b]
    stopped = _join(users, brokers, loads)
    if stopped != _NOBODY:
        raise NoRoom(instance, stopped, loads)
    return brokers


def _ratios(traffic: Floats, prices: Floats) -> Floats:
    found = np.where(traffic > 0, np.inf, 0.0)
    np.divide(traffic, prices, out=found, where=prices > 0)
    return found


@kernel
def _best_pair(users: Users, out_rates: Floats, broker: int, left: Ids, bounds: Floats) -> tuple[int, int]:
    """The pair of users with the highest ratio that fits the broker, or nobody; `left` comes by falling bound."""
    best, first, second = -1.0, _NOBODY, _NOBODY
    for k in range(len(left)):
        if bounds[left[k]] < best:
            break
        for other in left[k + 1 :]:
            a, b = min(left[k], other), max(left[k], other)
            price = users.access[a, broker] + users.access[b, broker]
            if out_rates[a] + out_rates[b] < best * price or users.demands[a] + users.demands[b] > users.room[broker]:
                continue
            ratio = _ratio(_traffic(users, a, b), price)
            if ratio > best or (ratio == best and (a, b) < (first, second)):
                best, first, second = ratio, a, b
    return first, second


@kernel
def _ratio(traffic: float, price: float) -> float:
    if price > 0:
        return traffic / price
    return np.inf if traffic > 0 else 0.0


@kernel
def _traffic(users: Users, a: int, b: int) -> float:
    """What each of two users publishes and the other wants."""
    total = 0.0
    for c in range(users.rates.shape[1]):
        if users.subscriptions[b, c]:
            total += users.rates[a, c]
        if users.subscriptions[a, c]:
            total += users.rates[b, c]
    return total


@kernel
def _join(users: Users, brokers: Ids, loads: Floats) -> int:
    """Every user left joins a broker; a user without room anywhere ends it and is returned."""
    size = (len(loads), users.rates.shape[1])
    subscribers, rates = np.zeros(size), np.zeros(size)
    for u in range(len(brokers)):
        if brokers[u] != _NOBODY:
            subscribers[brokers[u]] += users.subscriptions[u]
            rates[brokers[u]] += users.rates[u]
    for u in range(len(brokers)):
        if brokers[u] != _NOBODY:
            continue
        best, price = -1.0, np.inf
        for b in range(len(loads)):
            if loads[b] + users.demands[u] > users.room[b]:
                continue
            traffic = 0.0
            for c in range(size[1]):
                traffic += users.rates[u, c] * subscribers[b, c]
                if users.subscriptions[u, c]:
                    traffic += rates[b, c]
            ratio = _ratio(traffic, users.access[u, b])
            if ratio > best or (ratio == best and users.access[u, b] < price):
                best, price, brokers[u] = ratio, users.access[u, b], b
        if brokers[u] == _NOBODY:
            return u
        loads[brokers[u]] += users.demands[u]
        subscribers[brokers[u]] += users.subscriptions[u]
        rates[brokers[u]] += users.rates[u]
    return _NOBODY


def _assign(instance: ContentInstance, **_: Any) -> Assigned:
    return Assigned(clustering(instance))


CLUSTERING = content_heuristic(
    "clustering",
    _assign,
    summary="users with much traffic between them to one broker, then trees",
    source="P4 §III.B",
    pace=3,
    colour="#009E73",
    marker="^",
)
