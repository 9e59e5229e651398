"""Methods `ilp` and `cp-sat` for soft links: the best strategy's answer as a start, then the compact model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...heuristics.brokers.kernels.forwarding import STRATEGIES
from ...heuristics.brokers.soft_links import disseminate
from ...instances.brokers.network import BrokerNetwork
from ...instances.brokers.problems import Dissemination
from ...instances.contract.method import Method, Proposal
from ...instances.contract.problem import Problem
from ...instances.contract.run import Clock, offer, offer_value
from ..engine.exact_method import SolverOutcome, check_size, solve_exactly
from ..engine.integer_model import THREADS, minimise_with_cp_sat, minimise_with_ilp
from .soft_link_model import SoftLinkModel, demands_of, dissemination_along, links_of, routes_of

_MOST_FLOWS = 4_000_000


def _method(
    name: str, minimise: Callable[..., SolverOutcome[Dissemination]], formulation: str, **fields: Any
) -> Method[BrokerNetwork, Dissemination]:
    """The method of a solver that chooses soft links and the route of every publication for the fewest messages.

    Its answer is the incumbent, at first the best strategy's, with a bound, also if stopped: at least the deliveries.
    Publications with equal source and destinations are one demand. Exponential in the worst case.
    """

    def solve(
        instance: BrokerNetwork,
        problem: Problem[BrokerNetwork, Dissemination],
        *,
        seed: int,
        time_limit: float | None,
        threads: int,
    ) -> Proposal[Dissemination]:
        clock = Clock(time_limit)
        answers: list[Dissemination] = []
        for strategy in STRATEGIES:
            if not answers or not clock.passed:
                answers.append(disseminate(instance, strategy))
                offer(answers[-1])
        start = min(answers, key=lambda answer: answer.num_messages)
        demands = demands_of(instance)
        if start.num_messages == demands.deliveries:
            return Proposal(start, float(demands.deliveries))

        def search(_: Dissemination | None, clock: Clock) -> SolverOutcome[Dissemination]:
            check_size(len(demands.arcs) * sum(len(demand.destinations) for demand in demands.demands), _MOST_FLOWS)
            model = SoftLinkModel(demands, formulation, clock)
            return minimise(
                model,
                clock,
                answer=lambda values: dissemination_along(demands, model.routes(values)),
                start=model.start(links_of(start), routes_of(demands, start)),
                threads=threads,
                seed=seed,
                report=offer_value,
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

    return Method(
        name=name,
        problems=("soft-links",),
        source="models/brokers/soft_link_model.py",
        cost="exponential in the worst case",
        exact=True,
        solve=solve,
        options=(THREADS,),
        compiled=True,
        **fields,
    )


SOFT_CP_SAT = _method(
    name="cp-sat",
    minimise=minimise_with_cp_sat,
    formulation="levels",
    summary="optimal soft links and routes: arborescences with levels, by CP-SAT",
    guarantee="the optimum with proof; when stopped, the incumbent with a proven bound",
    colour="#6B5B00",
    marker="*",
)

SOFT_ILP = _method(
    name="ilp",
    minimise=minimise_with_ilp,
    formulation="flows",
    summary="optimal soft links and routes: multi-commodity flows, by HiGHS",
    guarantee="the optimum with proof; when stopped, the incumbent with a proven bound, within the solver's tolerances",
    colour="#000000",
    marker="P",
)
