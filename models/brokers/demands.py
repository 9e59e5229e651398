"""What has to be disseminate_over over a broker network, with alike publications taken together, and the links there can be."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ...instances.brokers.dissemination import Dissemination
from ...instances.brokers.network import BrokerNetwork

Arc = tuple[int, int]


@dataclass(frozen=True)
class Demand:
    """Publications with one source and the same destinations.

    Attributes
    ----------
    weight : int
        How many publications these are.
    """

    source: int
    destinations: tuple[int, ...]
    weight: int


@dataclass(frozen=True)
class Demands:
    """All publications that go anywhere.

    Attributes
    ----------
    of : tuple of int
        The demand of each publication; -1 for one without destinations.
    primary, soft : tuple of (sender, receiver)
        Primary links both ways, and every soft link within the radius from a broker with fanout to spare.
    spare : tuple of int
        Most soft links of each broker.
    """

    num_brokers: int
    demands: tuple[Demand, ...]
    of: tuple[int, ...]
    primary: tuple[Arc, ...]
    soft: tuple[Arc, ...]
    spare: tuple[int, ...]

    @property
    def arcs(self) -> tuple[Arc, ...]:
        """Primary and soft links."""
        return self.primary + self.soft

    @property
    def deliveries(self) -> int:
        """A lower bound on the messages: every destination is sent to."""
        return sum(demand.weight * len(demand.destinations) for demand in self.demands)


Routes = dict[int, set[Arc]]


def demands_of(network: BrokerNetwork) -> Demands:
    """The demands of a network. Cost O(deliveries + n²)."""
    offsets, brokers = network.destinations
    sources = network.publications.sources.tolist()
    keys = [(sources[p], tuple(brokers[offsets[p] : offsets[p + 1]].tolist())) for p in range(len(sources))]
    counts = Counter(key for key in keys if key[1])
    number = {key: place for place, key in enumerate(counts)}
    spare = network.spare_links().tolist()
    primary = [(int(u), int(v)) for u, v in network.tree.links]
    return Demands(
        network.num_brokers,
        tuple(Demand(source, ends, weight) for (source, ends), weight in counts.items()),
        tuple(number.get(key, -1) for key in keys),
        tuple(sorted(primary + [(v, u) for u, v in primary])),
        tuple((int(u), int(v)) for u, v in network.allowed_links() if spare[u] > 0),
        tuple(spare),
    )


def dissemination_along(demands: Demands, links: set[Arc], routes: Routes) -> Dissemination:
    """Every publication sent over the arborescence of its demand. Cost O(messages)."""
    sent = [(p, u, v) for p, demand in enumerate(demands.of) if demand >= 0 for u, v in sorted(routes[demand])]
    return Dissemination.of(sorted(links), sent)


def routes_of(demands: Demands, answer: Dissemination) -> Routes:
    """The links that an answer sends the first publication of each demand over. Cost O(messages)."""
    first = {demand: p for p, demand in reversed(list(enumerate(demands.of))) if demand >= 0}
    named = {p: demand for demand, p in first.items()}
    routes: Routes = {demand: set() for demand in first}
    for p, u, v in answer.messages.tolist():
        if p in named:
            routes[named[p]].add((u, v))
    return routes


def links_on(routes: Routes, demands: Demands) -> set[Arc]:
    """The soft links that routes go over."""
    return set().union(*routes.values()) & set(demands.soft)


def pruned(source: int, destinations: tuple[int, ...], used: set[Arc]) -> set[Arc]:
    """Of links that reach all destinations, an arborescence from the source without ends that nobody asked for.

    Breadth first, so each broker is reached over as few of these links as can be; cost O(links).
    """
    out: dict[int, list[int]] = {}
    for u, v in sorted(used):
        out.setdefault(u, []).append(v)
    before, queue = {source: source}, [source]
    for u in queue:
        for v in out.get(u, []):
            if v not in before:
                before[v] = u
                queue.append(v)
    kept: set[Arc] = set()
    for v in destinations:
        while v != source and (before[v], v) not in kept:
            kept.add((before[v], v))
            v = before[v]
    return kept
