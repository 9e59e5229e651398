"""Branch-and-cut: proven optima by partition inequalities, local search along LP values, and certified pruning."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from ...heuristics.topics.polish import fault_tolerant_polish
from ...instances.contract.catalogue import PROBLEMS
from ...instances.contract.method import Method, Proposal
from ...instances.contract.option import Option
from ...instances.contract.overlay import Overlay
from ...instances.contract.result import Status
from ...instances.runtime.run import Clock, OutOfTime, interruptible, offer
from ...instances.topics.instance import TopicInstance
from ...instances.topics.objective import CONNECTED, Objective
from ...instances.topics.problems import TOPIC_PROBLEMS, AnyTopicProblem
from ..engine.exact_method import PROGRESS, SolverOutcome
from ..engine.parallel_tree import THREADS
from ..engine.proof import ProofFile
from .compact.overlay_model import SimpleBounds, Subproblem, requirements_of, simple_bounds
from .compact.pareto_front import pareto_front, shown
from .lp_heuristics.lp_guided import heuristic_overlays
from .relaxation.cost_splitting import MOST_PROVEN
from .relaxation.cutting_planes import ALL_PAIRS, LP_LINKS, begin_proof, write_case
from .relaxation.dual_fitting import fitted_multipliers, fitted_within, mean_degree_bound
from .relaxation.node_cover import node_cover
from .relaxation.presolve import PRESOLVE, presolved
from .relaxation.separation import Goal
from .relaxation.topic_rows import count_links
from .search.edge_minimisation import SearchSettings, minimise_degree, minimise_edges
from .search.star_search import minimise_stars, starred

_INFEASIBLE = "no topic-connected overlay keeps the limits of the objective"
_FITTING_WORK = 20_000_000
_TINY_STEPS = 10  # for each pair of nodes, twice
_STAR_LINKS, _QUICK_LINKS = 20_000, 5_000  # pairs of subscribers of a topic, up to which there are columns for its kind
_EDGE_SHARE = 0.25  # of the time left
_EDGES_POLISHED = 50  # by one round of steps; they take some 10 microseconds each


@dataclass(frozen=True)
class _Run:
    """One run, after its presolve; the `starts` are valid, the best first."""

    instance: TopicInstance
    problem: AnyTopicProblem
    starts: list[Overlay]
    clock: Clock
    settings: SearchSettings

    @property
    def fitted(self) -> Fraction:
        return fitted_within(self.clock, self.instance, work=_FITTING_WORK)

    def prove(self, fitted: Fraction) -> None:
        """Write the case of dual fitting, if its bound is the best one."""
        if self.settings.proof.is_written and fitted > 0:
            write_case(self.settings.proof, partial(fitted_multipliers, self.instance, fitted), fitted)


@dataclass(frozen=True)
class Edges:
    """How the fewest edges are found and proven; what differs for another objective, its class overrides."""

    objective: Objective

    def solve(self, run: _Run) -> Proposal[Overlay]:
        fitted = run.fitted
        offer(lower_bound=math.ceil(fitted))
        outcome = self.search(replace(run, settings=replace(run.settings, offers=True)))
        if math.ceil(fitted) > outcome.lower_bound:
            run.prove(fitted)
        return _proposal(outcome, max(outcome.lower_bound, math.ceil(fitted)))

    def search(self, run: _Run) -> SolverOutcome[Overlay]:
        """The tree, and the heuristics before it."""
        goal, start = Goal.of(self.objective, run.instance), next(iter(run.starts), None)
        return minimise_edges(run.instance, goal, start, run.clock, run.settings)


@dataclass(frozen=True)
class Stars(Edges):
    """``2d-star``, whose columns are edges and centres; and ``2d-true``, where topics may have no centre."""

    @property
    def others(self) -> bool:
        """Whether topics may have no centre."""
        return self.objective.rule == "diameter-2"

    def search(self, run: _Run) -> SolverOutcome[Overlay]:
        """With many columns, the LP over edges has a share of the time first: it proves more in seconds."""
        links, first = count_links(run.instance), None
        if self.others and not (run.settings.near and links <= _STAR_LINKS):
            return super().search(run)
        if self.others and links > _QUICK_LINKS and math.isfinite(run.clock.left):
            first = super().search(replace(run, clock=run.clock.share(_EDGE_SHARE)))
            if not first.stopped:
                return first
        found = minimise_stars(run.instance, run.starts[0], run.clock, run.settings, others=self.others)
        if first is None or found.answer is None or first.lower_bound <= found.lower_bound:
            return found
        bound = first.lower_bound
        return replace(found, lower_bound=bound, stopped=found.stopped and bound < found.answer.num_edges)


class Degree(Edges):
    """``minmax-tco``: questions whether a smaller degree is possible."""

    def solve(self, run: _Run) -> Proposal[Overlay]:
        fitted = run.fitted
        least, covered = math.ceil(mean_degree_bound(run.instance, fitted)), 0
        if count_links(run.instance) > LP_LINKS:
            cover = node_cover(run.instance, run.clock.share(0.2), enough=run.starts[0].max_degree)
            if cover is not None and cover.value > least:
                write_case(run.settings.proof, cover.multipliers, cover.value, of_degree=True)
                least = covered = math.ceil(cover.value)
        offer(lower_bound=least)
        outcome = minimise_degree(run.instance, least, run.starts, run.clock, run.settings, written=covered)
        if outcome.lower_bound <= least and not covered:
            run.prove(fitted)
        return _proposal(outcome, outcome.lower_bound)


class EdgesTimesDegree(Edges):
    """``low-tco``: the ε-constraint of :func:`.pareto_front`, each subproblem by branch-and-cut."""

    def solve(self, run: _Run) -> Proposal[Overlay]:
        """Each point of the front is a search of its own, with a case in the proof."""
        instance, clock, settings = run.instance, run.clock, run.settings
        fitted, overlays, reason = run.fitted, list(run.starts), ""

        def minimise(subproblem: Subproblem, start: Overlay | None, clock: Clock) -> SolverOutcome[Overlay]:
            nonlocal reason
            cap = instance.num_nodes if subproblem.degree_cap is None else subproblem.degree_cap
            first = start if start is not None else min(overlays, key=lambda overlay: overlay.max_degree)
            outcome = minimise_edges(instance, Goal(cap=cap), first, clock, settings)
            reason = outcome.reason
            if outcome.answer is not None:
                overlays.append(outcome.answer)
            return outcome

        try:
            simple = simple_bounds(requirements_of(instance, clock), clock)
            if settings.proof.is_written:
                simple = SimpleBounds(0, self._proven_degree(run, simple.max_degree))
            front = pareto_front(instance.num_nodes, simple, minimise, run.starts, clock)
            outcome = SolverOutcome[Overlay](None, front.lower_bound, not front.complete, front.counters(shown(front)))
        except OutOfTime:
            bound = math.ceil(fitted) * math.ceil(mean_degree_bound(instance, fitted))
            run.prove(fitted)
            outcome = SolverOutcome(None, bound, stopped=True)
        best = min(overlays, key=lambda overlay: run.problem.value(instance, overlay))
        return _proposal(replace(outcome, answer=best, reason=reason or clock.stopped_by), float(outcome.lower_bound))

    def _proven_degree(self, run: _Run, degree: int) -> int:
        """A simple bound on the maximum degree if one case of the proof shows it, else 1."""
        if degree <= 1:
            return 1
        outcome = minimise_edges(run.instance, Goal(cap=degree - 1), run.starts[0], run.clock.share(0.3), run.settings)
        return degree if outcome.lower_bound == math.inf else 1


def _polished(instance: TopicInstance, start: Overlay, steps: int, clock: Clock, seed: int) -> Overlay:
    steps *= max(1, start.num_edges // _EDGES_POLISHED)
    if instance.is_tiny:  # its kernels are interpreted, and a limit would end so many steps
        steps = min(steps, _TINY_STEPS * instance.num_nodes**2)
    return fault_tolerant_polish(instance, start, seed=seed, steps=steps, clock=clock)


_BY_RULE: dict[str, dict[str, type[Edges]]] = {
    "connected": {"edges": Edges, "cost": Edges, "degree": Degree, "product": EdgesTimesDegree},
    "two-connected": {"edges": Edges},
    "diameter-2": {"edges": Stars},
    "star": {"edges": Stars},
}
_IMPROVED = {"two-connected": _polished, "diameter-2": starred}


def is_searched(problem: AnyTopicProblem | str) -> bool:
    """Whether a problem, perhaps given by name, has an objective for which there is a search."""
    found = PROBLEMS.get(problem) if isinstance(problem, str) else problem
    objective = None if found is None else found.objective
    return isinstance(objective, Objective) and objective.first in _BY_RULE[objective.rule]


def branch_and_cut(
    instance: TopicInstance,
    problem: AnyTopicProblem,
    *,
    seed: int,
    time_limit: float | None,
    presolve: bool,
    proof: str | Path | None = None,
    **search: Any,
) -> Proposal[Overlay]:
    """An optimal overlay with proof, or the best one found with a proven bound.

    The seed is that of the local search: one seed gives one answer, unless the time limit (seconds), Ctrl-C or running
    out of memory ends the search. `proof` names the file for a proof of the bound (docs/proofs.md); `search` has the
    other fields of :class:`.SearchSettings`. The bound is proven in integers (:func:`.proven_bound`), at every node of
    the tree. For ``low-tco`` the counter ``front`` lists the proven points of the Pareto front as edges × maximum
    degree. Exponential in the worst case; docs/exact.md has the formulation, proofs and measurements. Min-TCO is P1 §4.
    """
    objective: Objective = problem.objective
    instance = objective.priced(instance)
    with interruptible(time_limit) as clock, ProofFile(None if objective.own else proof) as file:
        settings = SearchSettings(seed=seed, **search, proof=file, near=presolve)
        starts = heuristic_overlays(instance, problem, seed=seed, clock=clock, share=0.5)
        offer(next(iter(starts), None))
        if objective.rule in _IMPROVED:
            share = clock.share(0.2)
            starts = [_IMPROVED[objective.rule](instance, starts[0], settings.steps, share, seed)]
            offer(starts[0])
        if objective.weighted and starts and instance.total_cost(starts[0].edges) >= MOST_PROVEN:
            least = float(math.ceil(fitted_within(clock, instance, work=_FITTING_WORK)))
            return Proposal(starts[0], least, Status.TIME_LIMIT, reason=f"costs above {MOST_PROVEN:,}: divide them")
        leaves = presolve and objective == CONNECTED and count_links(instance) <= ALL_PAIRS
        reduced = presolved(instance, implied=presolve and objective.implies, leaves=leaves)
        starts = [reduced.moved(start) for start in starts]
        begin_proof(file, instance, problem.name, reduced)
        proposal = _BY_RULE[objective.rule][objective.first](objective).solve(
            _Run(reduced.instance, problem, starts, clock, settings)
        )
        if (answer := proposal.answer) is not None:
            file.claim(problem.value(instance, answer), proposal.lower_bound, answer.edges.tolist())
    return replace(proposal, counters={**proposal.counters, **reduced.counters})


def _proposal(outcome: SolverOutcome[Overlay], bound: float) -> Proposal[Overlay]:
    status = Status.TIME_LIMIT if outcome.stopped else None
    if outcome.answer is None and bound == math.inf:
        return Proposal(status=Status.INFEASIBLE, counters=outcome.counters, reason=_INFEASIBLE)
    return Proposal(outcome.answer, bound, status, outcome.counters, outcome.reason)


BRANCH_AND_CUT: Method[TopicInstance, Overlay] = Method(
    name="branch-and-cut",
    problems=tuple(each.name for each in TOPIC_PROBLEMS),
    models=is_searched,
    summary="branch-and-cut on partition inequalities, with bounds proven in integers",
    source="P1 §4, P2 §2; docs/exact.md",
    guarantee="the optimum with proof; when stopped, the incumbent with a proven bound; bounds are proven in integers",
    cost="exponential in the worst case",
    exact=True,
    solve=branch_and_cut,
    options=(
        PRESOLVE,
        Option("steps", SearchSettings.steps, "steps of local search at the root", least=0, most=10**9),
        THREADS,
        PROGRESS,
    ),
    inputs=("proof",),
    compiled=True,
    colour="#CC6677",
    marker="d",
)
