"""Method `least-messages`: optimal routes over the soft links that link management has chosen."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from ...heuristics.brokers.kernels.forwarding import STRATEGIES
from ...heuristics.brokers.kernels.link_management import Management
from ...heuristics.brokers.soft_links import MANAGEMENT, disseminate
from ...instances.brokers.network import BrokerNetwork
from ...instances.brokers.problems import Dissemination
from ...instances.contract.method import Method, Proposal
from ...instances.contract.option import Option
from ...instances.contract.problem import Problem
from ...instances.contract.run import Clock, OutOfTime, offer
from ..engine.integer_model import minimise_with_ilp
from .soft_link_model import SoftLinkModel, demands_of, dissemination_along, links_of, routes_of


def least_messages(
    network: BrokerNetwork, answer: Dissemination, *, seed: int = 0, time_limit: float | None = None
) -> Proposal[Dissemination]:
    """The fewest messages over the primary links and the soft links of an answer.

    Returns
    -------
    Proposal
        An answer with the same soft links. The counter ``least`` is a lower bound on the messages over these links, not
        over any; ``open`` is the number of demands, of ``demands``, without a proof within the time limit.

    Notes
    -----
    The route of a demand is a Steiner arborescence with unit costs: the ILP of :mod:`.soft_link_model` for one demand
    with all links bought. A route without pure forwarders is optimal already. Exponential in the worst case.
    """
    clock = Clock(time_limit)
    demands, routes = demands_of(network), {}
    links = links_of(answer)
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
    instance: BrokerNetwork,
    problem: Problem[BrokerNetwork, Dissemination],
    *,
    seed: int,
    time_limit: float | None,
    **options: Any,
) -> Proposal[Dissemination]:
    clock = Clock(time_limit)
    if time_limit is not None:  # the strategy may take longer
        offer(disseminate(instance, "s0"))
    answer = disseminate(instance, options.pop("strategy"), Management(**options))
    offer(answer)
    return least_messages(instance, answer, seed=seed, time_limit=None if time_limit is None else clock.left)


LEAST_MESSAGES: Method[BrokerNetwork, Dissemination] = Method(
    name="least-messages",
    problems=("soft-links",),
    summary="the optimal route of each publication over the soft links of a strategy",
    source="P5 §6; models/brokers/least_messages.py",
    guarantee="the fewest messages over the soft links of its strategy, within the time limit; not over any links",
    cost="exponential in the worst case",
    solve=_solve,
    options=(Option("strategy", "s2", "the strategy for which links are managed", choices=STRATEGIES), *MANAGEMENT),
    compiled=True,
    colour="#CC79A7",
    marker=">",
)
