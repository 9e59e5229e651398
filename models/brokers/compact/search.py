"""The exact methods of soft links: the best strategy's answer as a start, then a compact model and its solver."""

from __future__ import annotations

from typing import Protocol

from ....heuristics.brokers.kernels.forwarding import STRATEGIES
from ....heuristics.brokers.soft_links import disseminate, example_network
from ....instances.brokers.network import BrokerNetwork
from ....instances.brokers.problems import Dissemination, SoftLinks
from ....instances.contract.method import Proposal
from ....instances.contract.problem import Problem
from ....instances.contract.run import Clock, offer
from ...engine.exact_method import SolverOutcome, check_size, solve_exactly
from .demands import Demands, demands_of

_MOST_FLOWS = 4_000_000


class Minimise(Protocol):
    """A compact model with its solver, from a valid start; raises OutOfTime if nothing could be solved."""

    def __call__(
        self, demands: Demands, start: Dissemination, clock: Clock, *, seed: int, threads: int
    ) -> SolverOutcome[Dissemination]: ...


def solve_by_model(
    minimise: Minimise,
    instance: BrokerNetwork,
    problem: Problem[BrokerNetwork, Dissemination],
    *,
    seed: int,
    time_limit: float | None,
    threads: int,
) -> Proposal[Dissemination]:
    """Choose soft links and the route of every publication for the fewest messages.

    Parameters
    ----------
    minimise : callable
        A compact model with its solver.
    seed, threads : int
        Of the solver.
    time_limit : float or None
        Seconds, for heuristics, building and solving together.

    Returns
    -------
    Proposal
        The incumbent, at first the best strategy's answer, and a bound, also if stopped: at least the deliveries.

    Notes
    -----
    Exponential in the worst case. Publications with equal source and destinations are one demand.
    """
    clock = Clock(time_limit)
    answers: list[Dissemination] = []
    for name in STRATEGIES:
        if not answers or not clock.passed:
            answers.append(disseminate(instance, name))
            offer(answers[-1])
    start = min(answers, key=lambda answer: answer.num_messages)
    demands = demands_of(instance)
    if start.num_messages == demands.deliveries:
        return Proposal(start, float(demands.deliveries))

    def search(_: Dissemination | None, clock: Clock) -> SolverOutcome[Dissemination]:
        check_size(len(demands.arcs) * sum(len(demand.destinations) for demand in demands.demands), _MOST_FLOWS)
        return minimise(demands, start, clock, seed=seed, threads=threads)

    return solve_exactly(
        lambda answer: answer.num_messages,
        search,
        clock,
        starts=[start],
        lower_bound=demands.deliveries,
        counters={"demands": len(demands.demands)},
        keep_start=False,
    )


def warm_up(minimise: Minimise) -> None:
    """Compile the kernels of the strategies, and load the solver's library."""
    solve_by_model(minimise, example_network(), SoftLinks(), seed=0, time_limit=None, threads=1)
