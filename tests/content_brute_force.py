"""The optimum of every content problem by looking at every assignment of few users to few brokers.

Written apart from the project's judges and methods: costs are summed publisher by publisher and channel by channel,
as they are defined, and every tree is found among all sets of links.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from itertools import combinations, product

from overlaybench.instances.content.instance import ContentInstance

Link = tuple[int, int]
Tree = tuple[Link, ...]


def optimum(instance: ContentInstance, routing: str) -> float:
    """The least cost of any assignment within the capacities; infinite if there is none."""
    network = Network(instance.core.tolist())
    return min((cost(instance, network, brokers, routing) for brokers in assignments(instance)), default=math.inf)


def assignments(instance: ContentInstance) -> Iterator[tuple[int, ...]]:
    """Every way to give each user a broker that no broker's capacity forbids."""
    demand = demands(instance)
    for brokers in product(range(instance.num_brokers), repeat=instance.num_users):
        loads = [0.0] * instance.num_brokers
        for user, broker in enumerate(brokers):
            loads[broker] += demand[user]
        if all(
            load <= capacity * (1 + 1e-9) for load, capacity in zip(loads, instance.capacities.tolist(), strict=True)
        ):
            yield brokers


def demands(instance: ContentInstance) -> list[float]:
    """What each user publishes and receives."""
    rates, wants = instance.rates.tolist(), instance.subscriptions.tolist()
    users, channels = range(instance.num_users), range(instance.num_channels)
    return [sum(rates[u]) + sum(rates[j][c] for c in channels if wants[u][c] for j in users if j != u) for u in users]


def cost(instance: ContentInstance, network: Network, brokers: Sequence[int], routing: str) -> float:
    """Access and core of an assignment under the best trees that the routing has."""
    demand = demands(instance)
    access = sum(demand[u] * float(instance.access[u, b]) for u, b in enumerate(brokers))
    messages = []
    for u in range(instance.num_users):
        for c in range(instance.num_channels):
            others = {brokers[j] for j in range(instance.num_users) if j != u and instance.subscriptions[j, c]}
            if instance.rates[u, c] > 0:
                messages.append((float(instance.rates[u, c]), frozenset(others | {brokers[u]})))
    if routing == "shared-tree":
        core = min(sum(rate * network.part(tree, ends) for rate, ends in messages) for tree in network.spanning_trees)
    else:
        price = network.steiner if routing == "steiner" else network.spanning
        core = sum(rate * price(ends) for rate, ends in messages)
    return access + core


class Network:
    """Every tree on few brokers."""

    def __init__(self, core: list[list[float]]) -> None:
        self.core = core
        self.brokers = range(len(core))
        self.spanning_trees = list(self.trees(frozenset(self.brokers)))

    def trees(self, members: Collection[int]) -> Iterator[Tree]:
        """Every spanning tree of the members, as a tuple of links."""
        for links in combinations(list(combinations(sorted(members), 2)), len(members) - 1):
            if not members or connected(members, links):
                yield links

    @cache  # noqa: B019, there are few of these objects
    def spanning(self, ends: frozenset[int]) -> float:
        """The price of a minimum spanning tree of just these brokers."""
        return min(self.price(links) for links in self.trees(ends))

    @cache  # noqa: B019
    def steiner(self, ends: frozenset[int]) -> float:
        """The price of a cheapest tree that reaches these brokers, whatever others it passes."""
        others = [b for b in self.brokers if b not in ends]
        return min(
            self.spanning(ends | frozenset(relays))
            for count in range(len(others) + 1)
            for relays in combinations(others, count)
        )

    @cache  # noqa: B019
    def part(self, tree: Tree, ends: frozenset[int]) -> float:
        """The price of the links of a tree that lie between two of these brokers."""
        price = 0.0
        for cut in tree:
            rest = [link for link in tree if link != cut]
            side = reached(cut[0], rest)
            if ends & side and ends - side:
                price += self.core[cut[0]][cut[1]]
        return price

    def price(self, links: Iterable[Link]) -> float:
        return sum(self.core[a][b] for a, b in links)


def connected(members: Collection[int], links: Collection[Link]) -> bool:
    return reached(min(members), links) >= set(members)


def reached(start: int, links: Collection[Link]) -> set[int]:
    found = {start}
    for _ in links:
        for a, b in links:
            if a in found or b in found:
                found |= {a, b}
    return found
