"""Soft links as an integer program: methods `ilp`, `cp-sat` and, for the routes alone, `least-messages`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ...heuristics.brokers.kernels.forwarding import STRATEGIES
from ...heuristics.brokers.kernels.link_management import Management
from ...heuristics.brokers.soft_links import MANAGEMENT, disseminate
from ...instances.brokers.network import BrokerNetwork
from ...instances.brokers.problems import Dissemination
from ...instances.contract.method import Method, Proposal
from ...instances.contract.option import Option
from ...instances.runtime.run import Clock, OutOfTime, offer, offer_value
from ..engine.exact_method import SolverOutcome, check_size, proving_method, solve_exactly
from ..engine.integer_model import THREADS, IntegerModel, minimise_with_cp_sat, minimise_with_ilp

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


def soft_links_of(answer: Dissemination) -> set[Arc]:
    """The soft links of an answer."""
    return {(u, v) for u, v in answer.soft_links.tolist()}


def routes_of(demands: Demands, answer: Dissemination) -> Routes:
    """The links on which an answer sends the first publication of each demand. Cost O(messages)."""
    first = {demand: p for p, demand in reversed(list(enumerate(demands.of))) if demand >= 0}
    links: dict[int, set[Arc]] = {p: set() for p in first.values()}
    for p, u, v in answer.messages.tolist():
        if p in links:
            links[p].add((u, v))
    return {demand: links[p] for demand, p in first.items()}


def arborescence(demand: Demand, arcs: set[Arc]) -> set[Arc]:
    """An arborescence from the source whose leaves are destinations, within arcs that reach all destinations.

    Breadth first, so that the path to each broker has as few of these arcs as possible; cost that of the paths.
    """
    import networkx as nx

    paths = nx.single_source_shortest_path(nx.DiGraph(sorted(arcs)), demand.source)
    return {arc for end in demand.destinations for arc in pairwise(paths[end])}


class SoftLinkModel(IntegerModel):
    """Fewest messages over primary links and bought soft links.

    For each demand, y_a is 1 if it uses link a. Each destination is entered once, another broker at most once, the
    source never. Brokers send only what they receive, and pure forwarders send it on (Σ y into v ≤ Σ y out of v). A
    soft link in use is bought (y_a ≤ x_a), by each broker at most as many as its fanout leaves. Cycles are excluded by

    * ``levels``: they increase by 1 along the links in use; here a 0/1 column for each broker says whether it is
      reached, in terms of which CP-SAT states the rest by clauses;
    * ``flows``: each destination k receives one unit of flow from the source, f_ka ≤ y_a. The relaxation equals that of
      directed Steiner cuts (Wong 1984), and the balance of forwarders strengthens it (Koch and Martin 1998).

    The columns `bought` are x of each soft link, `used` y of each demand: O(demands × links) columns and rows with
    levels, O(Σ over demands of links × destinations) with flows. Raises OutOfTime if the clock ends before.
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

    def meanings(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        label, demands = self.label, self.demands.demands
        yield from ((x, ("soft link", label(u), label(v))) for (u, v), x in self.bought.items())
        for number, used in enumerate(self.used):
            source = label(demands[number].source)
            yield from ((y, (f"link of demand {number}", label(u), label(v), source)) for (u, v), y in used.items())

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
                    self.require_surplus(flow, v, int(v == end))

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


def least_messages(
    network: BrokerNetwork, answer: Dissemination, *, seed: int = 0, time_limit: float | None = None
) -> Proposal[Dissemination]:
    """The fewest messages over the primary links and the soft links of an answer, as one with the same soft links.

    The counter ``least`` is a lower bound on the messages over these links, not over any; ``open`` is the number of
    demands, of ``demands``, without a proof within the time limit. The route of a demand is a Steiner arborescence with
    unit costs: the ILP of :mod:`.soft_link_model` for one demand with all links bought. A route without pure forwarders
    is optimal already. Exponential in the worst case.
    """
    clock = Clock(time_limit)
    demands, routes = demands_of(network), {}
    links = soft_links_of(answer)
    least, unsolved = 0, 0
    for number, route in routes_of(demands, answer).items():
        demand = demands.demands[number]
        routes[number], bound = route, float(len(demand.destinations))
        if len(route) > bound:
            alone = replace(demands, demands=(demand,), of=(0,), soft=tuple(sorted(links)))
            try:
                model = SoftLinkModel(alone, "flows", clock)
                start = model.start(links, {0: route})
                outcome = minimise_with_ilp(model, clock, answer=model.routes, start=start, seed=seed)
            except OutOfTime:
                unsolved += 1
            else:
                if math.isfinite(outcome.lower_bound):
                    bound = max(bound, math.ceil(outcome.lower_bound / demand.weight - 1e-6))
                if outcome.answer is not None:
                    routes[number] = min(route, outcome.answer[0], key=len)
                unsolved += bound < len(routes[number])
        least += demand.weight * int(bound)
    counters: dict[str, float | str] = {"least": least, "open": unsolved, "demands": len(demands.demands)}
    return Proposal(dissemination_along(demands, routes, links), counters=counters)


def _solve(
    instance: BrokerNetwork, problem: object, *, seed: int, time_limit: float | None, **options: Any
) -> Proposal[Dissemination]:
    clock = Clock(time_limit)
    if time_limit is not None:  # the strategy may take longer
        offer(disseminate(instance, "s0"))
    answer = disseminate(instance, options.pop("strategy"), Management(**options))
    offer(answer)
    return least_messages(instance, answer, seed=seed, time_limit=clock.left)


LEAST_MESSAGES: Method[BrokerNetwork, Dissemination] = Method(
    name="least-messages",
    problems=("soft-links",),
    summary="the optimal route of each publication over the soft links of a strategy",
    source="P5 §6; models/brokers/soft_link_model.py",
    guarantee="the fewest messages over the soft links of its strategy, within the time limit; not over any links",
    cost="exponential in the worst case",
    solve=_solve,
    options=(Option("strategy", "s2", "the strategy for which links are managed", choices=STRATEGIES), *MANAGEMENT),
    compiled=True,
)


_MOST_FLOWS = 4_000_000


def _method(
    name: str, minimise: Callable[..., SolverOutcome[Dissemination]], formulation: str, **fields: Any
) -> Method[BrokerNetwork, Dissemination]:
    """The method of a solver that chooses soft links and the route of every publication for the fewest messages.

    Its answer is the incumbent, at first the best strategy's, with a bound, also if stopped: at least the deliveries.
    Publications with equal source and destinations are one demand. Exponential in the worst case.
    """

    def solve(
        instance: BrokerNetwork, problem: object, *, seed: int, time_limit: float | None, **settings: Any
    ) -> Proposal[Dissemination]:
        clock = Clock(time_limit)
        answers: list[Dissemination] = []
        for strategy in STRATEGIES:
            if not answers or not clock.passed:
                answers.append(disseminate(instance, strategy))
                offer(answers[-1])
        start = min(answers, key=lambda answer: answer.num_messages)
        demands = demands_of(instance)
        if start.num_messages == demands.deliveries and "model_file" not in settings:
            return Proposal(start, float(demands.deliveries))

        def search(_: Dissemination | None, clock: Clock) -> SolverOutcome[Dissemination]:
            check_size(len(demands.arcs) * sum(len(demand.destinations) for demand in demands.demands), _MOST_FLOWS)
            model = SoftLinkModel(demands, formulation, clock)
            model.label = instance.tree.label
            return minimise(
                model,
                clock,
                answer=lambda values: dissemination_along(demands, model.routes(values)),
                start=model.start(soft_links_of(start), routes_of(demands, start)),
                seed=seed,
                report=offer_value,
                **settings,
            )

        return solve_exactly(
            lambda answer: answer.num_messages,
            search,
            clock,
            starts=[start],
            lower_bound=demands.deliveries,
            counters={"demands": len(demands.demands)},
            keep_start=False,
        )

    return proving_method(
        name=name,
        problems=("soft-links",),
        source="models/brokers/soft_link_model.py",
        solve=solve,
        options=(THREADS,),
        **fields,
    )


SOFT_CP_SAT = _method(
    name="cp-sat",
    minimise=minimise_with_cp_sat,
    formulation="levels",
    summary="optimal soft links and routes: arborescences with levels, by CP-SAT",
)

SOFT_ILP = _method(
    name="ilp",
    minimise=minimise_with_ilp,
    formulation="flows",
    summary="optimal soft links and routes: multi-commodity flows, by HiGHS",
    guarantee="the optimum with proof; when stopped, the incumbent with a proven bound, within the solver's tolerances",
    inputs=("model_file",),
)
