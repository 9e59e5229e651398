"""Exact methods for soft links: the best links with the best ways over them, and the best ways over given links."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

from ...heuristics.brokers.forwarding import STRATEGIES
from ...heuristics.brokers.link_management import Management
from ...heuristics.brokers.soft_links import MANAGEMENT, disseminate, example_network
from ...instances.brokers.dissemination import Dissemination
from ...instances.brokers.network import BrokerNetwork
from ...instances.brokers.problems import SoftLinks
from ...instances.clock import Clock, OutOfTime
from ...instances.method import Method, Proposal
from ...instances.option import Option
from ...instances.problem import Problem
from ...instances.result import Status
from ..engine.ilp_solvers import THREADS
from .demands import Arc, Demands, Routes, demands_of, dissemination_along, routes_of

Minimised = tuple[tuple[set[Arc], Routes] | None, float, bool, dict[str, float | str]]
_MOST_FLOWS = 4_000_000


def least_soft_links(
    network: BrokerNetwork, minimise: Callable[..., Minimised], *, seed: int, time_limit: float | None, threads: int
) -> Proposal[Dissemination]:
    """The best soft links with the best way of every publication over them.

    Parameters
    ----------
    network : BrokerNetwork
    minimise
        :func:`by_ilp` or :func:`by_cp_sat`.
    seed, threads : int
        Of the solver.
    time_limit : float or None
        Seconds, for heuristics, building and solving together.

    Returns
    -------
    Proposal
        The incumbent, at first the best of the strategies over managed links, and a bound, also when stopped: at
        least the deliveries.

    Notes
    -----
    Exponential in the worst case. Alike publications are one demand.
    """
    clock = Clock(time_limit)
    demands = demands_of(network)
    start = min((disseminate(network, name) for name in STRATEGIES), key=lambda answer: answer.num_messages)
    bound = float(demands.deliveries)
    if start.num_messages == demands.deliveries:
        return Proposal(start, bound)
    flows = len(demands.arcs) * sum(len(demand.destinations) for demand in demands.demands)
    if flows > _MOST_FLOWS:
        return Proposal(start, bound, reason=f"the model could have {flows:,} variables, more than {_MOST_FLOWS:,}")
    links = {(u, v) for u, v in start.soft_links.tolist()}
    counters: dict[str, float | str] = {"start": start.num_messages, "demands": len(demands.demands)}
    try:
        found, proven, stopped, more = minimise(
            demands, links, routes_of(demands, start), clock, threads=threads, seed=seed
        )
    except OutOfTime:
        return Proposal(start, bound, Status.TIME_LIMIT, counters)
    answer = start if found is None else dissemination_along(demands, *found)
    best = min((answer, start), key=lambda each: each.num_messages)
    if math.isfinite(proven):
        bound = max(bound, math.ceil(proven - 1e-6))
    status = Status.TIME_LIMIT if stopped and bound < best.num_messages else None
    return Proposal(best, bound, status, counters | more)


def by_ilp(demands: Demands, links: set[Arc], routes: Routes, clock: Clock, *, threads: int, seed: int) -> Minimised:
    """:mod:`.ilp` by HiGHS."""
    from ..engine.ilp_solvers import solve_with_highs
    from .ilp import build_ilp

    ilp = build_ilp(demands, clock)
    report = solve_with_highs(ilp.program, ilp.start(links, routes), clock, threads=threads, seed=seed)
    counters: dict[str, float | str] = {"nodes": report.nodes}
    return ilp.answer() if report.found else None, report.lower_bound, report.stopped, counters


def by_cp_sat(demands: Demands, links: set[Arc], routes: Routes, clock: Clock, *, threads: int, seed: int) -> Minimised:
    """:mod:`.cp` by CP-SAT."""
    from ortools.sat.python import cp_model

    from .cp import build_cp

    cp = build_cp(demands, clock)
    cp.hint(links, routes)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = threads
    solver.parameters.random_seed = seed % 2**31
    solver.parameters.linearization_level = 2
    if math.isfinite(clock.left):
        clock.check()
        solver.parameters.max_time_in_seconds = clock.left
    status = solver.solve(cp.model)
    counters: dict[str, float | str] = {"nodes": float(solver.num_conflicts)}
    found = cp.answer(solver) if status in (cp_model.OPTIMAL, cp_model.FEASIBLE) else None
    return found, solver.best_objective_bound, status != cp_model.OPTIMAL, counters


def least_messages(
    network: BrokerNetwork, answer: Dissemination, *, seed: int = 0, time_limit: float | None = None
) -> Proposal[Dissemination]:
    """The fewest messages over the primary links and the soft links of an answer: a Steiner arborescence in hops each.

    Returns
    -------
    Proposal
        An answer with the same soft links. The counter ``least`` is a lower bound on the messages over these links, not
        over any; ``open`` is how many demands, of ``demands``, were not solved to the end in the time limit, and keep
        the way that they had.

    Notes
    -----
    Each demand is the ILP of :mod:`.ilp` by itself, with all its links bought; those that pass no pure
    forwarder need none.
    """
    from ..engine.ilp_solvers import solve_with_highs
    from .ilp import build_ilp

    clock = Clock(time_limit)
    demands, routes = demands_of(network), {}
    links = {(u, v) for u, v in answer.soft_links.tolist()}
    least, unsolved = 0, 0
    for number, way in routes_of(demands, answer).items():
        demand = demands.demands[number]
        routes[number], bound = way, float(len(demand.destinations))
        if len(way) > bound:
            alone = Demands(network.num_brokers, (demand,), (0,), demands.primary, tuple(sorted(links)), demands.spare)
            try:
                ilp = build_ilp(alone, clock)
                report = solve_with_highs(ilp.program, ilp.start(links, {0: way}), clock, threads=1, seed=seed)
            except OutOfTime:
                unsolved += 1
            else:
                if math.isfinite(report.lower_bound):
                    bound = max(bound, math.ceil(report.lower_bound / demand.weight - 1e-6))
                if report.found:
                    routes[number] = min(way, ilp.answer()[1][0], key=len)
                unsolved += bound < len(routes[number])
        least += demand.weight * int(bound)
    counters: dict[str, float | str] = {"least": least, "open": unsolved, "demands": len(demands.demands)}
    return Proposal(dissemination_along(demands, links, routes), counters=counters)


def _exact(minimise: Callable[..., Minimised]) -> Callable[..., Proposal[Dissemination]]:
    def solve(
        instance: BrokerNetwork,
        problem: Problem[BrokerNetwork, Dissemination],
        *,
        seed: int,
        time_limit: float | None,
        threads: int,
    ) -> Proposal[Dissemination]:
        return least_soft_links(instance, minimise, seed=seed, time_limit=time_limit, threads=threads)

    return solve


def _least_over_managed(
    instance: BrokerNetwork,
    problem: Problem[BrokerNetwork, Dissemination],
    *,
    seed: int,
    time_limit: float | None,
    **options: Any,
) -> Proposal[Dissemination]:
    clock = Clock(time_limit)
    answer = disseminate(instance, options.pop("strategy"), Management(**options))
    return least_messages(instance, answer, seed=seed, time_limit=None if time_limit is None else clock.left)


@cache
def _warm_up() -> None:
    network, problem = example_network(), SoftLinks()
    for minimise in (by_ilp, by_cp_sat):
        least_soft_links(network, minimise, seed=0, time_limit=None, threads=1)
    _least_over_managed(network, problem, seed=0, time_limit=None, strategy="s2")


SOFT_ILP = Method(
    name="ilp",
    colour="#000000",
    marker="P",
    problems=("soft-links",),
    summary="the best soft links and the best ways over them: multi-commodity flows, by HiGHS",
    source="models/brokers/ilp.py",
    exact=True,
    solve=_exact(by_ilp),
    options=(THREADS,),
    warm_up=_warm_up,
)
SOFT_CP_SAT = Method(
    name="cp-sat",
    colour="#6B5B00",
    marker="*",
    problems=("soft-links",),
    summary="the best soft links and the best ways over them: arborescences with levels, by CP-SAT",
    source="models/brokers/cp.py",
    exact=True,
    solve=_exact(by_cp_sat),
    options=(THREADS,),
    warm_up=_warm_up,
)
LEAST_MESSAGES: Method[BrokerNetwork, Dissemination] = Method(
    name="least-messages",
    colour="#CC79A7",
    marker="v",
    problems=("soft-links",),
    summary="the best way of each publication over the links that a strategy's gains end with",
    source="P5 §6; models/brokers/exact.py",
    exact=False,
    solve=_least_over_managed,
    options=(Option("strategy", "s2", "the strategy that the links are managed for", choices=STRATEGIES), *MANAGEMENT),
    warm_up=_warm_up,
)
