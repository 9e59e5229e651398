"""Two-stage clustering (P4 §III.B): users with much traffic between them on one broker near both."""

from __future__ import annotations

import numpy as np

from ...instances.content.instance import ContentInstance
from ...instances.contract.arrays import Ids, Offsets, Reals
from ...instances.runtime.compiled import in_place_kernel, kernel
from .assignment import CapacityExceeded, Users, content_heuristic, users_of

_NONE = -1
_ROUNDED_UP = 1 + 1e-9


def clustering(instance: ContentInstance) -> Ids:
    """Assign pairs of users, then the other users, by bandwidth-to-cost ratio.

    First each broker in turn takes one pair of unassigned users whose demands fit its capacity: the pair of highest
    ratio of the traffic between the two to the price of the path from one to the other through the broker. Then each
    unassigned user goes to the broker, among those with enough residual capacity, of highest ratio of the traffic
    between the user and the broker's users to the access price; ties go to the cheapest broker, then to the lowest.

    Notes
    -----
    Zhao, Wu (P4), §III.B, Algorithm 2, whose argmin must be argmax. Result and errors are those of
    :func:`.assign_in_order`. Traffic on a path of price 0 has an infinite ratio; pairs of equal ratio are taken in
    lexicographic order.

    The traffic of a pair is at most what the two publish on as many channels as any user subscribes to. So its ratio is
    at most the higher of the two users' ratios of that traffic to access price. The search for the best pair orders
    users by this bound and seldom goes beyond the first few. Cost O(|B| |U| log |U| + |U| |C| log |C|) and O(|C|) for
    each pair examined, at worst O(|B| |U|² |C|), then O(|U| |B| |C|).

    Examples
    --------
    >>> import numpy as np
    >>> rates, wanted = np.array([[3.0], [0.0], [0.0]]), np.array([[False], [False], [True]])
    >>> distance = np.array([[0.0, 2.0], [2.0, 0.0]])
    >>> clustering(ContentInstance(np.ones((3, 2)), distance, np.full(2, np.inf), rates, wanted)).tolist()
    [0, 0, 0]
    """
    users, counts = users_of(instance), instance.subscriptions.sum(axis=1)
    channels, starts = np.nonzero(instance.subscriptions)[1], np.append(0, np.cumsum(counts))
    highest = np.sort(instance.rates, axis=1)[:, instance.num_channels - counts.max() :].sum(axis=1)
    published = np.minimum(instance.out_rates, highest * _ROUNDED_UP)
    brokers = np.full(instance.num_users, _NONE, dtype=np.int32)
    loads = np.zeros(instance.num_brokers)
    with np.errstate(divide="ignore", invalid="ignore"):
        bounds = np.nan_to_num((published[:, None] / instance.access).T, posinf=np.inf)
    _assign_pairs(users, published, channels, starts, np.argsort(-bounds), brokers, loads)
    failed = _assign_others(users, brokers, loads)
    if failed != _NONE:
        raise CapacityExceeded(instance, failed, loads)
    return brokers


@kernel
def _assign_pairs(
    users: Users, published: Reals, channels: Offsets, starts: Offsets, ordered: Offsets, brokers: Ids, loads: Reals
) -> None:
    """Assign to each broker the pair of highest ratio that fits it; its row of `ordered` has users by falling bound."""
    for broker in range(len(loads)):
        best, first, second = -1.0, _NONE, _NONE
        unassigned = ordered[broker][brokers[ordered[broker]] == _NONE]
        for k in range(len(unassigned)):
            if _ratio(published[unassigned[k]], users.access[unassigned[k], broker]) < best:
                break
            for other in unassigned[k + 1 :]:
                a, b = min(unassigned[k], other), max(unassigned[k], other)
                price = users.access[a, broker] + users.access[b, broker]
                demand = users.demands[a] + users.demands[b]
                bounded = price > 0 and published[a] + published[b] < best * price  # best may be infinite
                if bounded or demand > users.load_limits[broker]:
                    continue
                ratio = _ratio(_traffic(users.rates, channels, starts, a, b), price)
                if ratio > best or (ratio == best and (a, b) < (first, second)):
                    best, first, second = ratio, a, b
        if first != _NONE:
            brokers[first] = brokers[second] = broker
            loads[broker] += users.demands[first] + users.demands[second]


@in_place_kernel
def _ratio(traffic: float, price: float) -> float:
    if price > 0:
        return traffic / price
    return np.inf if traffic > 0 else 0.0


@in_place_kernel
def _traffic(rates: Reals, channels: Offsets, starts: Offsets, a: int, b: int) -> float:
    """The traffic between two users: what each publishes on the channels of the other, those from ``starts[user]``."""
    total, p, q = 0.0, starts[a], starts[b]
    while p < starts[a + 1] or q < starts[b + 1]:
        one = channels[p] if p < starts[a + 1] else rates.shape[1]
        other = channels[q] if q < starts[b + 1] else rates.shape[1]
        if other <= one:
            total += rates[a, other]
            q += 1
        if one <= other:
            total += rates[b, one]
            p += 1
    return total


@kernel
def _assign_others(users: Users, brokers: Ids, loads: Reals) -> int:
    """Assign the unassigned users; returns the first one that fits no broker, or none."""
    size = (len(loads), users.rates.shape[1])
    subscribers, rates = np.zeros(size), np.zeros(size)
    for u in range(len(brokers)):
        if brokers[u] != _NONE:
            subscribers[brokers[u]] += users.subscriptions[u]
            rates[brokers[u]] += users.rates[u]
    for u in range(len(brokers)):
        if brokers[u] != _NONE:
            continue
        best, price = -1.0, np.inf
        for b in range(len(loads)):
            if loads[b] + users.demands[u] > users.load_limits[b]:
                continue
            traffic = 0.0
            for c in range(size[1]):
                traffic += users.rates[u, c] * subscribers[b, c]
                if users.subscriptions[u, c]:
                    traffic += rates[b, c]
            ratio = _ratio(traffic, users.access[u, b])
            if ratio > best or (ratio == best and users.access[u, b] < price):
                best, price, brokers[u] = ratio, users.access[u, b], b
        if brokers[u] == _NONE:
            return u
        loads[brokers[u]] += users.demands[u]
        subscribers[brokers[u]] += users.subscriptions[u]
        rates[brokers[u]] += users.rates[u]
    return _NONE


CLUSTERING = content_heuristic(
    "clustering",
    lambda instance, **_: clustering(instance),
    summary="users with much traffic between them on one broker, then trees",
    source="P4 §III.B",
    guarantee="no ratio is proven",
    cost="time O(|B| |U| log |U| + |U| |B| |C|) and O(|C|) for each pair of users examined",
    pace=3,
)
