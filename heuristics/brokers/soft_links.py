"""The methods `s0`, `s1`, `s2` and `sh`: the forwarding strategies of P5 over soft links chosen by link management."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from ...instances.brokers.network import BrokerNetwork
from ...instances.brokers.problems import Dissemination
from ...instances.contract.arrays import Ids
from ...instances.contract.method import Method, Proposal
from ...instances.contract.option import Option
from ...instances.contract.problem import Problem
from .kernels.forwarding import S0, STRATEGIES, no_messages, route, traffic_of
from .kernels.link_management import LOAD_FACTORS, Management, managed_links
from .kernels.queueing import Timing, simulate
from .kernels.working_map import working_maps


@dataclass(frozen=True)
class Scenario:
    """The events of a run. Rates are per minute of simulated time; events are spread evenly.

    `service`, `predicate`: the time a broker takes for a publication: microseconds, and nanoseconds for each
    predicate evaluated.
    """

    rate: int = 0  # publications a minute; 0 for the times that the network gives
    uplink: int = 0  # publications a second out of each broker; 0 for the caps that the network gives
    interval: float = 20.0  # seconds between reviews of links; 0 for no reviews, so that links stay as they are
    churn: int = 0  # events a minute, each a new subscription, the end of one, a departure at the edge, or a join
    crashes: int = 0  # brokers a minute that are down for five seconds
    moves: int = 0  # Δ-moves a minute that are asked for
    losses: int = 0  # brokers that crash for good, spread over the run
    drain: bool = True  # whether a run goes on after the last publication until nothing is left to happen
    service: int = 0
    predicate: int = 0


_SYSTEM = "overlaybench.compare.claims.simulator.outcome"
"""The simulation of brokers as a system, which stands with the claims: imported where a run asks for it."""
_DEFAULT = Management()
_NO_LINKS = np.empty((0, 2), dtype=np.int32)
BrokerMethod = Method[BrokerNetwork, Dissemination]
STATIC = "static"
MANAGEMENT = (
    Option("rounds", _DEFAULT.rounds, "reviews of the links", least=0),
    Option("window", _DEFAULT.window, "publications routed before each review", least=1),
    Option("candidates", _DEFAULT.candidates, "links profiled beyond the fanout (maxlinks − fanout)", least=0),
    Option("load_threshold", _DEFAULT.load_threshold, "percent of its uplink above which a broker is loaded", least=0),
    Option(
        "load_factor",
        _DEFAULT.load_factor,
        "of a bypassed broker's load: 1 + max(0, load - threshold), or with min as printed",
        choices=LOAD_FACTORS,
    ),
)
_OUTPUT = Option(
    "output_threshold", _DEFAULT.output_threshold, "percent of its uplink above which SH saves it", least=0
)
_SCENARIO = Scenario()
_SIMULATIONS = (
    Option(
        "service", 0, "microseconds to match a publication; above 0, queues are simulated for the counters", least=0
    ),
    Option("periods", 1, "how often the simulation of queues repeats the publications", least=1),
    Option(
        "simulate",
        STATIC,
        "system: simulate brokers that exchange messages, for the counters and the links; the answer is routed over "
        "the links that they have at the end",
        choices=(STATIC, "system"),
        unkeyed=True,
    ),
    *(
        Option(name, getattr(_SCENARIO, name), f"system: {summary}", least=0, unkeyed=True, needs="simulate=system")
        for name, summary in (
            ("rate", "publications a minute; 0 for the instance's times"),
            ("uplink", "copies a second; 0 for the instance's caps"),
            ("interval", "seconds between reviews; 0 for no soft links"),
            ("churn", "subscriptions that begin or end, and brokers that join or leave, a minute"),
            ("crashes", "brokers a minute that fail for five seconds"),
            ("moves", "Δ-moves a minute that are asked for"),
            ("losses", "brokers that crash for good"),
            ("predicate", "nanoseconds to evaluate a predicate"),
            ("drain", "go on after the last publication until all are delivered"),
        )
    ),
)


def disseminate(network: BrokerNetwork, strategy: str, management: Management = _DEFAULT) -> Dissemination:
    """Route all publications of a network by one strategy of all brokers.

    Parameters
    ----------
    network : BrokerNetwork
    strategy : {"s0", "s1", "s2", "sh"}
    management : Management
        How soft links are chosen before, on the same traffic and by the same strategy; s0 has none.

    Notes
    -----
    P5 §5 and §6, in a network without queues. Cost as for :func:`.managed_links` and :func:`.route`.
    """
    number = STRATEGIES.index(strategy)
    links = _NO_LINKS if number == S0 else managed_links(network, number, management)
    return disseminate_over(network, number, links, management.output_threshold)


def disseminate_over(
    network: BrokerNetwork, strategy: int, links: Ids, output_threshold: int = _DEFAULT.output_threshold
) -> Dissemination:
    """Route all publications by a strategy over given soft links."""
    maps = working_maps(network.tree, links)
    counts = no_messages(network.tree.uplinks, maps, output_threshold)
    return Dissemination.of(links, route(traffic_of(network), maps, strategy, counts))


def _solve(
    instance: BrokerNetwork,
    problem: Problem[BrokerNetwork, Dissemination],
    *,
    seed: int,
    time_limit: float | None,
    strategy: str,
    simulate: str,
    periods: int,
    **options: Any,
) -> Proposal[Dissemination]:
    scenario = Scenario(**{each.name: options.pop(each.name) for each in fields(Scenario)})
    management, number = Management(**options), STRATEGIES.index(strategy)
    if simulate == STATIC:
        answer = disseminate(instance, strategy, management)
        timing = Timing(scenario.service, output_threshold=management.output_threshold, periods=periods)
        return Proposal(answer, counters=_queue_counters(instance, number, answer, timing) if timing.service else {})
    system = import_module(_SYSTEM)
    outcome = system.simulate_system(system.repeated(instance, periods), number, scenario, management, seed)
    links = system.links_allowed(instance, outcome.links)
    answer = disseminate_over(instance, number, links, management.output_threshold)
    return Proposal(answer, counters=system.counters(outcome))


def _queue_counters(
    network: BrokerNetwork, strategy: int, answer: Dissemination, timing: Timing
) -> dict[str, float | str]:
    """The counts of the queueing simulation up to the last publication."""
    horizon = timing.periods * (int(network.publications.times.max(initial=0)) + 1) - 1
    queued = simulate(network, strategy, answer.soft_links, timing._replace(horizon=horizon))
    return {
        "queued_deliveries": queued.deliveries,
        "queued_messages": queued.messages,
        "queued_delay_ms": queued.average_delay,
        "queued_hops": queued.average_hops,
        "longest_queue": int(queued.longest_queue.max()),
    }


def _method(strategy: str, summary: str, source: str, *options: Option) -> BrokerMethod:
    return Method(
        name=strategy,
        problems=("soft-links",),
        summary=summary,
        source=source,
        solve=partial(_solve, strategy=strategy),
        guarantee="every subscriber gets every publication it wants; no ratio is proven",
        cost="time proportional to the messages sent, also in each round of link management",
        options=(*options, *_SIMULATIONS),
        compiled=True,
        anytime=False,
    )


S0_TREE = _method("s0", "S0: along the primary tree, no soft links", "P5 §2, §5")
S1_COMMON = _method("s1", "S1: to the farthest broker common to the primary paths", "P5 §5 Fig. 5", *MANAGEMENT)
S2_FAR = _method("s2", "S2: directly to the farthest reachable anchors", "P5 §5 Fig. 6", *MANAGEMENT)
SH_HYBRID = _method("sh", "SH: S1 while the uplink is busy, else S2", "P5 §5", *MANAGEMENT, _OUTPUT)
