"""Branch-and-cut: proven optima by partition inequalities, local search along LP values, and certified pruning."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from ...heuristics.topics.local_search.polish import fault_tolerant_polish
from ...instances.contract.method import Method
from ...instances.contract.option import Option
from ...instances.contract.overlay import Overlay
from ...instances.runtime.run import Clock, OutOfTime, offer
from ...instances.runtime.stoppable import finished_within
from ...instances.topics.instance import TopicInstance
from ...instances.topics.objective import CONNECTED, Objective
from ...instances.topics.problems import TOPIC_PROBLEMS
from ..engine.exact_method import PROGRESS, ModelTooLarge, SolverOutcome, proving_method
from ..engine.parallel_tree import THREADS
from ..engine.proof import ProofFile
from .compact.overlay_model import SimpleBounds, Subproblem, requirements_of, simple_bounds
from .compact.pareto_front import pareto_front, shown
from .relaxation.cost_splitting import MOST_PROVEN
from .relaxation.cutting_planes import ALL_PAIRS, LP_LINKS, write_case
from .relaxation.dual_fitting import fitted_multipliers, fitted_within, mean_degree_bound
from .relaxation.node_cover import node_cover
from .relaxation.presolve import PRESOLVE
from .relaxation.separation import Goal
from .relaxation.topic_rows import count_links
from .search.edge_minimisation import SearchSettings, minimise_degree, minimise_edges
from .search.star_search import minimise_stars, starred
from .stages import FIRST_ANSWERS, STARTS, Run, Stage, is_searched, solve_in_stages

_FITTING_WORK = 20_000_000
_TINY_STEPS = 10  # for each pair of nodes, twice
_STAR_LINKS, _QUICK_LINKS = 20_000, 5_000  # pairs of subscribers of a topic, up to which there are columns for its kind
_EDGE_SHARE, _IMPROVED_SHARE = 0.25, 0.2  # of the time left
_STAR_PACE = 1e-5  # seconds a link, to list the columns of centres, on a machine with other work
_EDGES_POLISHED = 50  # by one round of steps; they take some 10 microseconds each


def fitted_quickly(clock: Clock, instance: TopicInstance) -> Fraction:
    """The bound of dual fitting before a search."""
    return fitted_within(clock, instance, work=_FITTING_WORK)


def write_fitted(proof: ProofFile, instance: TopicInstance, fitted: Fraction) -> None:
    """Write the case of dual fitting, if its bound is the best one."""
    if proof.is_written and fitted > 0:
        write_case(proof, partial(fitted_multipliers, instance, fitted), fitted)


@dataclass(frozen=True)
class Edges:
    """How the fewest edges are found and proven; what differs for another objective, its class overrides."""

    objective: Objective

    def solve(self, run: Run, instance: TopicInstance, starts: list[Overlay]) -> None:
        """Search on the presolved instance from valid overlays of it, the best first."""
        fitted = fitted_quickly(run.clock, instance)
        offer(lower_bound=math.ceil(fitted))
        outcome = self.search(instance, starts, run.clock, replace(run.settings, offers=True))
        if math.ceil(fitted) > outcome.lower_bound:
            write_fitted(run.settings.proof, instance, fitted)
        run.conclude(outcome, max(outcome.lower_bound, math.ceil(fitted)))

    def search(
        self, instance: TopicInstance, starts: list[Overlay], clock: Clock, settings: SearchSettings
    ) -> SolverOutcome[Overlay]:
        """The tree, and the heuristics before it."""
        return minimise_edges(instance, Goal.of(self.objective, instance), next(iter(starts), None), clock, settings)


@dataclass(frozen=True)
class Stars(Edges):
    """``2d-star``, whose columns are edges and centres; and ``2d-true``, where topics may have no centre."""

    @property
    def others(self) -> bool:
        """Whether topics may have no centre."""
        return self.objective.rule == "diameter-2"

    def search(
        self, instance: TopicInstance, starts: list[Overlay], clock: Clock, settings: SearchSettings
    ) -> SolverOutcome[Overlay]:
        """With many columns, the LP over edges has a share of the time first: it proves more in seconds."""
        links, first = count_links(instance), None
        if self.others and not (settings.near and links <= _STAR_LINKS):
            return super().search(instance, starts, clock, settings)
        if self.others and links > _QUICK_LINKS and math.isfinite(clock.left):
            first = super().search(instance, starts, clock.share(_EDGE_SHARE), settings)
            if not first.stopped:
                return first
        if _STAR_PACE * links > clock.left:
            return SolverOutcome(starts[0], 0, stopped=True)
        found = minimise_stars(instance, starts[0], clock, settings, others=self.others)
        if first is None or found.answer is None or first.lower_bound <= found.lower_bound:
            return found
        bound = first.lower_bound
        return replace(found, lower_bound=bound, stopped=found.stopped and bound < found.answer.num_edges)


class Degree(Edges):
    """``minmax-tco``: questions whether a smaller degree is possible."""

    def solve(self, run: Run, instance: TopicInstance, starts: list[Overlay]) -> None:
        """A case for each degree that is excluded."""
        fitted = fitted_quickly(run.clock, instance)
        least, covered = math.ceil(mean_degree_bound(instance, fitted)), 0
        if count_links(instance) > LP_LINKS:
            cover = node_cover(instance, run.clock.share(0.2), enough=starts[0].max_degree)
            if cover is not None and cover.value > least:
                write_case(run.settings.proof, cover.multipliers, cover.value, of_degree=True)
                least = covered = math.ceil(cover.value)
        offer(lower_bound=least)
        outcome = minimise_degree(instance, least, starts, run.clock, run.settings, written=covered)
        if outcome.lower_bound <= least and not covered:
            write_fitted(run.settings.proof, instance, fitted)
        run.conclude(outcome, outcome.lower_bound)


class EdgesTimesDegree(Edges):
    """``low-tco``: the ε-constraint of :func:`.pareto_front`, each subproblem by branch-and-cut."""

    def solve(self, run: Run, instance: TopicInstance, starts: list[Overlay]) -> None:
        """Each point of the front is a search of its own, with a case in the proof."""
        clock, settings = run.clock, run.settings
        fitted, overlays, reason = fitted_quickly(run.clock, instance), list(starts), ""

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
                simple = SimpleBounds(0, self._proven_degree(run, instance, starts[0], simple.max_degree))
            front = pareto_front(instance.num_nodes, simple, minimise, starts, clock)
            outcome = SolverOutcome[Overlay](None, front.lower_bound, not front.complete, front.counters(shown(front)))
        except (OutOfTime, ModelTooLarge):
            bound = math.ceil(fitted) * math.ceil(mean_degree_bound(instance, fitted))
            write_fitted(run.settings.proof, instance, fitted)
            outcome = SolverOutcome(None, bound, stopped=True)
        best = min(overlays, key=lambda overlay: run.problem.value(instance, overlay))
        run.conclude(replace(outcome, answer=best, reason=reason or clock.stopped_by), float(outcome.lower_bound))

    def _proven_degree(self, run: Run, instance: TopicInstance, start: Overlay, degree: int) -> int:
        """A simple bound on the maximum degree if one case of the proof shows it, else 1."""
        if degree <= 1:
            return 1
        outcome = minimise_edges(instance, Goal(cap=degree - 1), start, run.clock.share(0.3), run.settings)
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


def tree(run: Run) -> None:
    """Search for an optimum with proof, from the starts.

    The bound is proven in integers (:func:`.proven_bound`), at every node of the tree. For ``low-tco`` the counter
    ``front`` lists the proven points of the Pareto front as edges × maximum degree. Exponential in the worst case;
    docs/exact.md has the formulation, proofs and measurements. Min-TCO is P1 §4.
    """
    objective, instance, starts = run.objective, run.instance, run.starts
    if objective.rule in _IMPROVED:
        improve, settings = _IMPROVED[objective.rule], run.settings
        work = partial(improve, instance, starts[0], settings.steps, run.clock.share(_IMPROVED_SHARE), settings.seed)
        improved = finished_within(run.clock.share(2 * _IMPROVED_SHARE), work, steps=count_links(instance))
        starts = starts if improved is None else [improved]
        run.take(starts[0])
    if objective.weighted and starts and instance.total_cost(starts[0].edges) >= MOST_PROVEN:
        run.prove(float(math.ceil(fitted_quickly(run.clock, instance))))
        run.stopped, run.reason = True, f"costs above {MOST_PROVEN:,}: divide them"
        return
    leaves = objective == CONNECTED and count_links(instance) <= ALL_PAIRS
    reduced = run.reduce(implied=objective.implies, leaves=leaves)
    search = _BY_RULE[objective.rule][objective.first](objective)
    search.solve(run, reduced.instance, [reduced.moved(start) for start in starts])


TREE = Stage("branch-and-cut", tree)


BRANCH_AND_CUT: Method[TopicInstance, Overlay] = proving_method(
    name="branch-and-cut",
    problems=tuple(each.name for each in TOPIC_PROBLEMS),
    models=is_searched,
    summary="branch-and-cut on partition inequalities, with bounds proven in integers",
    source="P1 §4, P2 §2; docs/exact.md",
    guarantee="the optimum with proof; when stopped, the incumbent with a proven bound; bounds are proven in integers",
    solve=partial(solve_in_stages, lambda run: (FIRST_ANSWERS, STARTS, TREE)),
    options=(
        PRESOLVE,
        Option("steps", SearchSettings.steps, "steps of local search at the root", least=0, most=10**9),
        THREADS,
        PROGRESS,
    ),
    inputs=("proof",),
)
