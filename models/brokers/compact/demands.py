"""What must be carried over a broker network, equal publications grouped, and the links that can be used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ....instances.brokers.network import BrokerNetwork
from ....instances.brokers.problems import Dissemination

Arc = tuple[int, int]


@dataclass(frozen=True)
class Demand:
    """Publications with one source and the same destinations.

    Attributes
    ----------
    weight : int
        The number of these publications.
    """

    source: int
    destinations: tuple[int, ...]
    weight: int


@dataclass(frozen=True)
class Demands:
    """All publications that have destinations.

    Attributes
    ----------
    of : tuple of int
        The demand of each publication; -1 for one without destinations.
    primary, soft : tuple of (sender, receiver)
        Primary links in both directions, and every soft link that radius and fanout allow.
    spare : tuple of int
        The most soft links of each broker.
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
        """A lower bound on the messages: one for each destination."""
        return sum(demand.weight * len(demand.destinations) for demand in self.demands)


Routes = dict[int, set[Arc]]


def demands_of(network: BrokerNetwork) -> Demands:
    """The demands of a network. Cost O(deliveries + n²)."""
    offsets, brokers = network.destinations
    sources = network.publications.sources.tolist()
    keys = [(sources[p], tuple(brokers[offsets[p] : offsets[p + 1]].tolist())) for p in range(len(sources))]
    counts = Counter(key for key in keys if key[1])
    number = {key: index for index, key in enumerate(counts)}
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


def dissemination_along(demands: Demands, routes: Routes, links: set[Arc] | None = None) -> Dissemination:
    """Every publication sent on the route of its demand, over given soft links or only those used. Cost O(messages)."""
    if links is None:
        links = set().union(*routes.values()) & set(demands.soft)
    sent = [(p, u, v) for p, demand in enumerate(demands.of) if demand >= 0 for u, v in sorted(routes[demand])]
    return Dissemination.of(sorted(links), sent)


def routes_in_use(demands: Demands, used: Mapping[int, Mapping[Arc, Any]], in_use: Callable[[Any], bool]) -> Routes:
    """The route of each demand within the arcs that a model's solution uses."""
    return {
        number: arborescence(demands.demands[number], {arc for arc, variable in arcs.items() if in_use(variable)})
        for number, arcs in used.items()
    }


def links_of(answer: Dissemination) -> set[Arc]:
    """The soft links of an answer."""
    return {(u, v) for u, v in answer.soft_links.tolist()}


def routes_of(demands: Demands, answer: Dissemination) -> Routes:
    """The links on which an answer sends the first publication of each demand. Cost O(messages)."""
    first = {demand: p for p, demand in reversed(list(enumerate(demands.of))) if demand >= 0}
    named = {p: demand for demand, p in first.items()}
    routes: Routes = {demand: set() for demand in first}
    for p, u, v in answer.messages.tolist():
        if p in named:
            routes[named[p]].add((u, v))
    return routes


def arborescence(demand: Demand, arcs: set[Arc]) -> set[Arc]:
    """An arborescence from the source whose leaves are destinations, within arcs that reach all destinations.

    Breadth first, so that the path to each broker has as few of these arcs as possible; cost O(arcs).
    """
    out: dict[int, list[int]] = {}
    for u, v in sorted(arcs):
        out.setdefault(u, []).append(v)
    parent, queue = {demand.source: demand.source}, [demand.source]
    for u in queue:
        for v in out.get(u, []):
            if v not in parent:
                parent[v] = u
                queue.append(v)
    kept: set[Arc] = set()
    for v in demand.destinations:
        while v != demand.source and (parent[v], v) not in kept:
            kept.add((parent[v], v))
            v = parent[v]
    return kept
