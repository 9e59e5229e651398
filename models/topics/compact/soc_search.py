"""The SOC problems on top of a model that has all overlays, their degrees and their routing cost."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from ....heuristics.topics.limits import Limits, limits_of, offer_star
from ....instances.contract.catalogue import methods_of
from ....instances.contract.method import Method, Proposal
from ....instances.contract.overlay import Overlay
from ....instances.contract.problem import Problem
from ....instances.contract.run import Clock, OutOfTime, Report, offer, offer_value
from ....instances.topics.instance import TopicInstance
from ....instances.topics.soc import SOC, as_soc
from ...engine.cp_sat_solver import minimise_with_cp_sat
from ...engine.exact_method import START, SolverOutcome, solve_exactly
from ...engine.ilp_solvers import THREADS
from .overlay_model import OverlayModel
from .pareto_front import Front

_STARTS_SHARE = 0.25
_AT_MOST = 20.0  # seconds for heuristics
_SLACK = 1e-6


class SocModel(OverlayModel):
    """A model with a 0/1 column for each pair of nodes; unlike in a G_t, any pair may help a topic.

    Attributes
    ----------
    routing : dict
        The routing cost is Σ coefficient·column + `routing_constant`.
    """

    def __init__(self, num_nodes: int) -> None:
        super().__init__(num_nodes, combinations(range(num_nodes), 2))
        self.routing: dict[int, int] = {}
        self.routing_constant = 0

    def limit(self, sum_of: dict[int, int], *, least: float = -math.inf, most: float = math.inf) -> None:
        """Limit a sum of columns."""
        self.require(sum_of, list(sum_of.values()), least=least, most=most)


Build = Callable[[int | None, Clock], SocModel]
"""From a limit on the routing cost in its unit, or None, and a clock to a model."""


@dataclass(frozen=True)
class SocBounds:
    """Bounds that are known before a search, in units (see :class:`.Limits`).

    Attributes
    ----------
    degree, cost : int
        No valid overlay has less.
    sweep_cost : bool
        Whether the Pareto front is found by limits on the routing cost, else on the degree function.
    """

    degree: int
    cost: int
    sweep_cost: bool


def soc_method(
    formulate: Callable[[TopicInstance, SOC, Limits], tuple[Build, SocBounds]],
    *,
    problems: tuple[str, ...],
    **fields: Any,
) -> Method[TopicInstance, Overlay]:
    """The CP-SAT method of a model: the least of degree and routing cost under a limit on the other, or their front.

    Parameters
    ----------
    formulate : callable
        From an instance, a problem and its limits to the model under a limit on the routing cost, and what is known
        before a search.
    problems : tuple of str
        The heuristics of the first compile its kernels too.

    Notes
    -----
    Chockler, Melamed, Tock and Vitenberg 2007 (P1), §9, state the decision problems and that they are NP-hard; the
    models were designed here. Solving is exponential in the worst case.
    """

    def solve(
        instance: TopicInstance,
        problem: Problem[TopicInstance, Overlay],
        *,
        seed: int,
        time_limit: float | None,
        start: str,
        threads: int,
    ) -> Proposal[Overlay]:
        soc = as_soc(problem)
        build, known = formulate(instance, soc, limits_of(soc, instance))
        return solve_soc(instance, soc, build, known, start=start, seed=seed, time_limit=time_limit, threads=threads)

    return Method(
        problems=problems,
        guarantee="the optimum or the Pareto front with proof; when stopped, the incumbent with a proven bound",
        exact=True,
        solve=solve,
        options=(START, THREADS),
        compiled=True,
        colour="#6B5B00",
        **fields,
    )


def solve_soc(
    instance: TopicInstance,
    problem: SOC,
    build: Build,
    known: SocBounds,
    *,
    start: str,
    seed: int,
    time_limit: float | None,
    threads: int,
) -> Proposal[Overlay]:
    """Minimise from the best heuristic overlay, and return the incumbent and a valid bound also if stopped.

    Parameters
    ----------
    build
        The model under a limit on the routing cost.
    known : SocBounds
        Under the problem's limits.
    start : {"best", "none"}
        Whether the heuristics of the problem run first.

    Returns
    -------
    Proposal
        Status ``time-limit`` if the limit left a gap. Without a limit in the problem, the counter ``front`` lists the
        proven points of the Pareto front as degree × cost, and ``front_complete`` is "yes" if it has no others.
    """
    clock, limits = Clock(time_limit), limits_of(problem, instance)
    if start == "best" and time_limit is not None:
        offer_star(instance)
    starts = _heuristic_starts(instance, problem, seed, clock) if start == "best" else []

    minimise = partial(_minimise, instance, build, threads=threads, seed=seed)

    def once(best: Overlay | None, clock: Clock) -> SolverOutcome[Overlay]:
        if limits.degree is not None and limits.degree < known.degree:
            return SolverOutcome(None, math.inf)
        if limits.cost is not None and limits.cost < known.cost:
            return SolverOutcome(None, math.inf)
        by_cost = limits.degree is not None
        unit, least = (limits.cost_unit, known.cost) if by_cost else (limits.degree_unit, known.degree)
        if best is not None and problem.value(instance, best) <= least * unit + 1e-9:
            return SolverOutcome(best, least * unit)

        def scaled_report(value: float | None, bound: float | None) -> None:
            whole = None if bound is None else math.ceil(bound - _SLACK)
            offer_value(None if value is None else value * unit, None if whole is None else whole * unit)

        outcome = minimise(best, clock, limits, least, scaled_report)
        return SolverOutcome(outcome.answer, outcome.lower_bound * unit, outcome.stopped, outcome.counters)

    def front(_best: Overlay | None, clock: Clock) -> SolverOutcome[Overlay]:
        found = _front(instance, problem, limits, known, minimise, starts, clock)
        answer = min(found.overlays, key=lambda overlay: problem.value(instance, overlay), default=None)
        return SolverOutcome(answer, found.lower_bound, not found.complete, found.counters)

    alone = limits.degree is not None or limits.cost is not None
    least = known.cost * limits.cost_unit if limits.degree is not None else known.degree * limits.degree_unit
    return solve_exactly(
        lambda overlay: problem.value(instance, overlay),
        once if alone else front,
        clock,
        starts=starts,
        lower_bound=least,
        infeasible="no overlay keeps the limits",
    )


def _heuristic_starts(instance: TopicInstance, problem: SOC, seed: int, clock: Clock) -> list[Overlay]:
    """The valid overlays of the problem's heuristics with their default options."""
    overlays = []
    methods = [each for each in methods_of("overlaybench.heuristics.topics") if each.answers(problem.name)]
    for index, method in enumerate(methods):
        share = clock.share(_STARTS_SHARE / (len(methods) - index), _AT_MOST).left
        options = method.complete({}, problem.name)
        proposal = method.solve(instance, problem, seed=seed, time_limit=share, **options)
        if proposal.answer is not None and not problem.violations(instance, proposal.answer):
            overlays.append(proposal.answer)
            offer(proposal.answer)
    return overlays


def _minimise(
    instance: TopicInstance,
    build: Build,
    best: Overlay | None,
    clock: Clock,
    limits: Limits,
    least: int,
    report: Report | None = None,
    *,
    threads: int,
    seed: int,
) -> SolverOutcome[Overlay]:
    """One minimisation; bounds are in units."""
    if (np.diff(instance.topic_offsets) < 2).all():
        return SolverOutcome(Overlay.from_edges(instance.num_nodes, []), 0)
    most = limits.cost
    if most is None and best is not None:
        most = limits.cost_of(best, instance)
    model = build(most, clock)
    edges = dict.fromkeys(model.edge.values(), 1)
    degree = {model.max_degree(): 1} if limits.counts_max_degree else edges
    if limits.cost is not None:
        model.limit(model.routing, most=limits.cost - model.routing_constant)
    if limits.degree is not None:
        model.limit(degree, most=limits.degree)
    objective, model.constant = (model.routing, model.routing_constant) if limits.degree is not None else (degree, 0)
    model.limit(objective, least=least - model.constant)
    model.limit(edges, least=limits.fewest_edges)
    for column, cost in objective.items():
        model.costs[column] = cost
    start = None if best is None else model.start(best)
    outcome = minimise_with_cp_sat(
        model, clock, answer=model.overlay, start=start, threads=threads, seed=seed, lazy=False, report=report
    )
    bound = outcome.lower_bound
    bound = bound if math.isinf(bound) else max(least, math.ceil(bound - _SLACK))
    return SolverOutcome(outcome.answer, bound, outcome.stopped, outcome.counters)


class SocFront(Front):
    """f(ℓ), the least of one function where the other one is at most ℓ, in units.

    Parameters
    ----------
    known : SocBounds
    limits : Limits
        Its units.
    """

    def __init__(self, instance: TopicInstance, known: SocBounds, limits: Limits, starts: list[Overlay]) -> None:
        self.swapped = known.sweep_cost
        units = (limits.degree_unit, limits.cost_unit)
        least = (known.degree, known.cost)

        def size(overlay: Overlay) -> tuple[int, int]:
            both = limits.degree_of(overlay), limits.cost_of(overlay, instance)
            return both[::-1] if self.swapped else both

        self.units = units[::-1] if self.swapped else units
        super().__init__(*(least[::-1] if self.swapped else least), size, starts)

    @property
    def _closed(self) -> list[int]:
        """The limits, from the first on, up to the first one where f is not known or cannot fall further."""
        closed, limit = [], self.first
        while limit in self.proven or self.bound(limit) >= self.least_known(limit):
            if self.bound(limit) < self.least_known(limit):
                break
            closed.append(limit)
            if self.least_known(limit) <= self.least:
                break
            limit += 1
        return closed

    @property
    def complete(self) -> bool:
        """Whether f is known up to a limit from which on it cannot fall."""
        return bool(self._closed) and self.least_known(self._closed[-1]) <= self.least

    @property
    def lower_bound(self) -> float:
        """A lower bound on ℓ + f(ℓ), in the functions' own units: the least over the limits, and beyond the last."""
        last = max([self.first, *self.proven])
        sums = [limit * self.units[0] + self.bound(limit) * self.units[1] for limit in range(self.first, last + 1)]
        return min([*sums, (last + 1) * self.units[0] + self.least * self.units[1]])

    @property
    def counters(self) -> dict[str, float | str]:
        """As reported with a result: the points as degree × cost, by rising degree."""
        points: list[tuple[float, float]] = []
        for limit in self._closed:
            f = self.least_known(limit)
            if math.isfinite(f) and (not points or f < points[-1][1]):
                points.append((limit, f))
        shown = [(limit * self.units[0], f * self.units[1]) for limit, f in points]
        pairs = sorted((f, limit) if self.swapped else (limit, f) for limit, f in shown)
        front = " ".join(f"{degree:g}x{cost:g}" for degree, cost in pairs)
        return {"nodes": self.nodes, "front": front, "front_complete": "yes" if self.complete else "no"}


def _front(
    instance: TopicInstance,
    problem: SOC,
    limits: Limits,
    known: SocBounds,
    minimise: Callable[[Overlay | None, Clock, Limits, int], SolverOutcome[Overlay]],
    starts: list[Overlay],
    clock: Clock,
) -> SocFront:
    """Minimise under rising limits until the value cannot fall further; each run gets half of the time left."""
    front = SocFront(instance, known, limits, starts)
    limit = front.first
    while True:
        at_limit = limits.limited(**{"cost" if front.swapped else "degree": limit})
        try:
            outcome = minimise(front.best(limit), clock.share(0.5), at_limit, front.least)
        except OutOfTime:
            break
        front.nodes += float(outcome.counters.get("nodes", 0))
        front.proven[limit] = outcome.lower_bound
        if outcome.answer is not None:
            front.add(outcome.answer)
        if front.least_known(limit) <= front.least or clock.passed:
            break
        if outcome.stopped and math.isinf(clock.left):
            break
        limit += 1
    return front
