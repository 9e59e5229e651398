"""The SOC problems on top of a model that has all overlays, their degrees and their routing cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from ....heuristics.topics.limits import Limits, limits_of, offer_star
from ....instances.contract.catalogue import methods_of
from ....instances.contract.method import Proposal
from ....instances.contract.overlay import Overlay
from ....instances.contract.run import Clock, OutOfTime, Report, offer, offer_value
from ....instances.topics.instance import TopicInstance
from ....instances.topics.soc import SOC
from ...engine.cp_sat_solver import solve_with_cp_sat
from ...engine.exact_method import SolverOutcome, solve_exactly
from ..compact.overlay_variables import OverlayVariables

_STARTS_SHARE = 0.25
_AT_MOST = 20.0  # seconds for heuristics
_SLACK = 1e-6


Build = Callable[[int | None, Clock], OverlayVariables]
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

    def minimise(
        best: Overlay | None, clock: Clock, limits: Limits, least: int, report: Report | None = None
    ) -> SolverOutcome[Overlay]:
        return _minimise(
            instance, build, limits, least, best=best, clock=clock, threads=threads, seed=seed, report=report
        )

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
        return _scaled(outcome, unit)

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


@cache
def prepare_heuristics(problem: str) -> None:
    """Compile the kernels of the heuristics that run first."""
    for method in methods_of("overlaybench.heuristics.topics"):
        if method.answers(problem):
            method.prepare()


def _scaled(outcome: SolverOutcome[Overlay], unit: float) -> SolverOutcome[Overlay]:
    return SolverOutcome(outcome.answer, outcome.lower_bound * unit, outcome.stopped, outcome.counters)


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
    limits: Limits,
    least: int,
    *,
    best: Overlay | None,
    clock: Clock,
    threads: int,
    seed: int,
    report: Report | None,
) -> SolverOutcome[Overlay]:
    """One minimisation; bounds are in units."""
    if (np.diff(instance.topic_offsets) < 2).all():
        return SolverOutcome(Overlay.from_edges(instance.num_nodes, []), 0)
    most = limits.cost
    if most is None and best is not None:
        most = limits.cost_of(best, instance)
    cp = build(most, clock)
    cost = cp.cost
    degree = cp.max_degree if limits.counts_max_degree else cp.num_edges
    if limits.cost is not None:
        cp.model.add(cost <= limits.cost)
    if limits.degree is not None:
        cp.model.add(degree <= limits.degree)
    objective = cost if limits.degree is not None else degree
    cp.model.add(objective >= least)
    cp.model.add(cp.num_edges >= limits.fewest_edges)
    cp.model.minimize(objective)
    if best is not None:
        cp.hint(best)
    outcome, solver = solve_with_cp_sat(
        cp.model, clock, threads=threads, seed=seed, lazy=False, report=report, answer=cp.overlay
    )
    counters: Mapping[str, float | str] = {
        "nodes": outcome.nodes,
        "variables": float(len(cp.model.proto.variables)),
        "constraints": float(len(cp.model.proto.constraints)),
    }
    bound = outcome.lower_bound
    bound = bound if math.isinf(bound) else max(least, math.ceil(bound - _SLACK))
    return SolverOutcome(cp.overlay(solver) if outcome.found else None, bound, outcome.stopped, counters)


@dataclass
class SocFront:
    """f(ℓ), the least of one function where the other one is at most ℓ, in units: bounds and overlays.

    Attributes
    ----------
    first, least : int
        The least ℓ that any overlay has, and a lower bound on f.
    units : (float, float)
        Of ℓ and of f.
    overlays : list of Overlay
    sizes : list of (int, int)
        ℓ and f of each overlay.
    proven : dict
        Lower bounds on some f(ℓ).
    """

    first: int
    least: int
    units: tuple[float, float]
    swapped: bool
    overlays: list[Overlay] = field(default_factory=list)
    sizes: list[tuple[int, int]] = field(default_factory=list)
    proven: dict[int, float] = field(default_factory=dict)
    nodes: float = 0

    def bound(self, limit: int) -> float:
        """A lower bound on f(limit). f does not increase, so one for a larger limit is valid too."""
        return max([self.least, *(bound for other, bound in self.proven.items() if other >= limit)])

    def best(self, limit: int) -> Overlay | None:
        """The overlay of least f within the limit."""
        meeting = [index for index, (size, _) in enumerate(self.sizes) if size <= limit]
        chosen = min(meeting, key=lambda index: self.sizes[index][1], default=None)
        return None if chosen is None else self.overlays[chosen]

    def least_known(self, limit: int) -> float:
        """The least f of an overlay within the limit; infinite without one."""
        return min((f for size, f in self.sizes if size <= limit), default=math.inf)

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
    swapped = known.sweep_cost
    units = (limits.cost_unit, limits.degree_unit) if swapped else (limits.degree_unit, limits.cost_unit)
    first, least = (known.cost, known.degree) if swapped else (known.degree, known.cost)
    front = SocFront(first, least, units, swapped)

    def add(overlay: Overlay) -> None:
        size = limits.degree_of(overlay), limits.cost_of(overlay, instance)
        front.overlays.append(overlay)
        front.sizes.append(size[::-1] if swapped else size)

    for overlay in starts:
        add(overlay)
    limit = first
    while True:
        at_limit = limits.limited(**{"cost" if swapped else "degree": limit})
        try:
            outcome = minimise(front.best(limit), clock.share(0.5), at_limit, int(least))
        except OutOfTime:
            break
        front.nodes += float(outcome.counters.get("nodes", 0))
        front.proven[limit] = outcome.lower_bound
        if outcome.answer is not None:
            add(outcome.answer)
        if front.least_known(limit) <= least or clock.passed:
            break
        if outcome.stopped and math.isinf(clock.left):
            break
        limit += 1
    return front
