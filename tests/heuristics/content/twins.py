"""The content heuristics once more in plain Python, straight from their descriptions: slow, with exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np

from overlaybench.instances.content.instance import ContentInstance


def greedy_packing(instance: ContentInstance) -> list[int]:
    loads, found = [0.0] * instance.num_brokers, []
    for u in range(instance.num_users):
        broker = min(
            (b for b in range(instance.num_brokers) if fits(instance, loads, u, b)),
            key=lambda b: (instance.access[u, b], b),
        )
        loads[broker] += float(instance.demands[u])
        found.append(broker)
    return found


def clustering(instance: ContentInstance) -> list[int]:
    users, brokers = range(instance.num_users), range(instance.num_brokers)
    loads: list[float] = [0.0] * instance.num_brokers
    found: dict[int, int] = {}

    def traffic(a: int, b: int) -> int:
        return sum(
            int(instance.rates[a, c]) * bool(instance.subscriptions[b, c])
            + int(instance.rates[b, c]) * bool(instance.subscriptions[a, c])
            for c in range(instance.num_channels)
        )

    for broker in brokers:
        pairs = [
            pair
            for pair in combinations([u for u in users if u not in found], 2)
            if loads[broker] + float(instance.demands[list(pair)].sum()) <= instance.load_limits()[broker]
        ]
        if pairs:
            best = max(
                pairs,
                key=lambda pair: (
                    ratio(traffic(*pair), instance.access[pair[0], broker] + instance.access[pair[1], broker]),
                    [-u for u in pair],
                ),
            )
            for u in best:
                found[u] = broker
                loads[broker] += float(instance.demands[u])
    for u in users:
        if u not in found:
            found[u] = max(
                (b for b in brokers if fits(instance, loads, u, b)),
                key=lambda b: (
                    ratio(sum(traffic(u, other) for other in users if found.get(other) == b), instance.access[u, b]),
                    -instance.access[u, b],
                    -b,
                ),
            )
            loads[found[u]] += float(instance.demands[u])
    return [found[u] for u in users]


def ratio(traffic: float, price: float) -> Fraction | float:
    if price:
        return Fraction(traffic) / Fraction(float(price))
    return math.inf if traffic else Fraction(0)


def fits(instance: ContentInstance, loads: list[float], user: int, broker: int) -> bool:
    return bool(loads[broker] + float(instance.demands[user]) <= instance.load_limits()[broker])


def traffic_on_grown_trees(instance: ContentInstance) -> list[list[float]]:
    """Prim's algorithm from each publisher on each channel with another subscriber."""
    users, brokers = range(instance.num_users), range(instance.num_brokers)
    access, core = instance.access, instance.core
    traffic = [[0.0] * len(brokers) for _ in users]
    for c in range(instance.num_channels):
        wanting = [u for u in users if instance.subscriptions[u, c]]
        for s in users:
            rate, others = float(instance.rates[s, c]), [u for u in wanting if u != s]
            if not rate or not others:
                continue
            paths = {b: min(core[b, last] + access[u, last] for last in brokers for u in others) for b in brokers}
            start = min(brokers, key=lambda b: (access[s, b] + paths[b], b))
            traffic[s][start] += rate
            reached, left = {start}, set(wanting)
            while left:
                _, broker, _, user = min(
                    (min(core[q, b] for q in reached) + access[u, b], b, access[u, b], u) for b in brokers for u in left
                )
                left.remove(user)
                reached.add(broker)
                if user != s:
                    traffic[user][broker] += rate
    return traffic


def closure_tree_brokers(access: list[list[float]], core: list[list[float]]) -> tuple[set[int], float]:
    """The brokers on the paths of a minimum spanning tree of users, and its price; for prices without ties.

    Paths are those of the metric closure: between two users through any one or two brokers.
    """
    users, brokers = range(len(access)), range(len(core))
    paths = {
        (u, v): min((access[u][a] + core[a][b] + access[v][b], (a, b)) for a in brokers for b in brokers)
        for u in users
        for v in users
        if u != v
    }
    joined, used, price = {0}, set(), 0.0
    while len(joined) < len(users):
        (step, pair), new = min((paths[u, v], v) for u in joined for v in users if v not in joined)
        joined.add(new)
        used |= set(pair)
        price += step
    return used, price


def beside_a_far_broker(users: int) -> ContentInstance:
    """A publisher at broker 0, and subscribers who are all at price 1 from broker 1, at distance 100 from broker 0."""
    access = np.array([[1.0, 101.0]] + [[100.0, 1.0]] * users)
    core = np.array([[0.0, 100.0], [100.0, 0.0]])
    rates, wanted = np.zeros((users + 1, 1)), np.ones((users + 1, 1), dtype=bool)
    rates[0], wanted[0] = 1.0, False
    return ContentInstance(access, core, np.full(2, np.inf), rates, wanted)
