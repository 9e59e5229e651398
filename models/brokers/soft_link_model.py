"""Soft links as an integer program: the demands of the traffic, and arborescences over links that are bought."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...instances.brokers.network import BrokerNetwork
from ...instances.brokers.problems import Dissemination
from ...instances.contract.run import Clock
from ..engine.integer_model import IntegerModel

Arc = tuple[int, int]


@dataclass(frozen=True)
class Demand:
    """So many (`weight`) publications with one source and the same destinations."""

    source: int
    destinations: tuple[int, ...]
    weight: int


@dataclass(frozen=True)
class Demands:
    """All publications that have destinations; links are (sender, receiver)."""

    num_brokers: int
    demands: tuple[Demand, ...]
    of: tuple[int, ...]  # the demand of each publication; -1 for one without destinations
    primary: tuple[Arc, ...]  # in both directions
    soft: tuple[Arc, ...]  # every one that radius and fanout allow
    spare: tuple[int, ...]  # the most soft links of each broker

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


class SoftLinkModel(IntegerModel):
    """Fewest messages over primary links and bought soft links.

    For each demand, y_a is 1 if it uses link a. Each destination is entered once, another broker at most once, the
    source never. Brokers send only what they receive, and pure forwarders send it on (Σ y into v ≤ Σ y out of v). A
    soft link in use is bought (y_a ≤ x_a), by each broker at most as many as its fanout leaves. Cycles are excluded by

    * ``levels``: they increase by 1 along the links in use; here a 0/1 column for each broker says whether it is
      reached, in terms of which CP-SAT states the rest by clauses;
    * ``flows``: each destination k receives one unit of flow from the source, f_ka ≤ y_a. The relaxation equals that of
      directed Steiner cuts (Wong 1984), and the balance of forwarders strengthens it (Koch and Martin 1998).

    The columns `bought` are x of each soft link, `used` y of each demand.

    Raises
    ------
    OutOfTime
        If no time is left while the model is built.

    Notes
    -----
    O(demands × links) columns and rows with levels, O(Σ over demands of links × destinations) with flows.
    """

    def __init__(self, demands: Demands, formulation: str, clock: Clock) -> None:
        super().__init__()
        self.demands = demands
        self.bought = {arc: self.column() for arc in demands.soft}
        self.used: list[dict[Arc, int]] = []
        connect = self._add_levels if formulation == "levels" else self._add_flows
        for demand in demands.demands:
            clock.check()
            y = {arc: self.column(cost=demand.weight) for arc in demands.arcs if arc[1] != demand.source}
            self.used.append(y)
            connect(demand, y)
            for arc in y.keys() & self.bought.keys():
                self.imply(y[arc], self.bought[arc])
        for u, spare in enumerate(demands.spare):
            own = [column for arc, column in self.bought.items() if arc[0] == u]
            if len(own) > spare:
                self.require(own, most=spare)
        everything = [column for y in self.used for column in y.values()]
        self.require(everything, [int(self.costs[k]) for k in everything], least=demands.deliveries)

    def _add_levels(self, demand: Demand, y: dict[Arc, int]) -> None:
        size, root = self.demands.num_brokers, demand.source
        level = [self.column(int(v != root), size - 1 if v != root else 0) for v in range(size)]
        reached = [self.column(int(v == root or v in demand.destinations)) for v in range(size)]
        for v in range(size):
            into, out = _at(v, y)
            if v != root:
                self.require([*into.values(), reached[v]], [*[1] * len(into), -1], least=0, most=0)
            if v != root and v not in demand.destinations:
                self.require_some(out.values(), of=reached[v])
        for (u, v), used in y.items():
            self.imply(used, reached[u])
            self.require([level[v], level[u]], [1, -1], least=1, most=1, only_if=used)
            if u < v and (v, u) in y:
                self.require([used, y[v, u]], most=1)

    def _add_flows(self, demand: Demand, y: dict[Arc, int]) -> None:
        for v in range(self.demands.num_brokers):
            if v == demand.source:
                continue
            into, out = _at(v, y)
            self.require(into.values(), least=int(v in demand.destinations), most=1)
            if v not in demand.destinations:
                self.require([*out.values(), *into.values()], [1] * len(out) + [-1] * len(into), least=0)
            for (_, w), sent in out.items():
                received = [column for arc, column in into.items() if arc != (w, v)]
                self.require([*received, sent], [*[1] * len(received), -1], least=0)
        for end in demand.destinations:
            flow = {arc: self.column(integral=False) for arc in y if arc[0] != end}
            for arc, amount in flow.items():
                self.require([y[arc], amount], [1, -1], least=0)
            for v in range(self.demands.num_brokers):
                if v != demand.source:
                    into, out = _at(v, flow)
                    net = int(v == end)
                    self.require(
                        [*into.values(), *out.values()], [1] * len(into) + [-1] * len(out), least=net, most=net
                    )

    def start(self, links: set[Arc], routes: Routes) -> dict[int, int]:
        """The values of the decisions in a known answer."""
        values = {column: int(arc in links) for arc, column in self.bought.items()}
        for number, y in enumerate(self.used):
            values |= {column: int(arc in routes[number]) for arc, column in y.items()}
        return values

    def routes(self, values: npt.NDArray[np.float64]) -> Routes:
        """The routes of a solution: the route of each demand within the links that it uses."""
        return {
            number: arborescence(self.demands.demands[number], {arc for arc, k in y.items() if values[k] > 0.5})
            for number, y in enumerate(self.used)
        }


def _at(broker: int, columns: dict[Arc, int]) -> tuple[dict[Arc, int], dict[Arc, int]]:
    """The columns of the links into a broker, and of those out of it."""
    into = {arc: column for arc, column in columns.items() if arc[1] == broker}
    return into, {arc: column for arc, column in columns.items() if arc[0] == broker}
