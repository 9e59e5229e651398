"""Method `best`: the best overlay that a time limit allows, whatever algorithm it comes from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from ...heuristics.topics.kernels.interest import ordered_pairs
from ...heuristics.topics.local_search.overlay_search import candidate_lists
from ...heuristics.topics.local_search.polish import (
    THREADS,
    fault_tolerant_polish,
    is_judged_within,
    is_searchable,
    least_edges,
    polish,
    searches_in_parts,
)
from ...heuristics.topics.local_search.ruin_and_recreate import CandidateLists
from ...instances.contract.method import Method
from ...instances.contract.option import Option
from ...instances.contract.overlay import Overlay
from ...instances.runtime.run import Clock
from ...instances.runtime.stoppable import finished_within
from ...instances.topics.instance import TopicInstance
from ...instances.topics.problems import TOPIC_PROBLEMS, AnyTopicProblem
from .lp_heuristics.lp_guided import HeuristicMethod, flatter_overlays, guided_candidates, heuristics_for, is_promising
from .search.star_search import starred
from .stages import FIRST_ANSWERS, Run, Stage, is_searched, solve_in_stages

STEPS = Option("steps", 200_000, "steps of local search, if there is no time limit", least=0, most=10**12)


@dataclass(frozen=True)
class HeuristicParameters:
    """How long heuristics may take.

    Attributes
    ----------
    unit : float
        Seconds for a unit of a method's pace and a pair of subscribers of a topic, measured on 20,000 nodes.
    subscription_pace : float
        The pace of a subscription, beside that of the pairs.
    others_share : float
        The share of the time left for heuristics that are not promising, where the maximum degree comes first.
    patience : float
        Expected seconds up to which a heuristic runs if there is no time limit.
    at_once : float
        Expected seconds up to which a heuristic runs in this process, to its end.
    """

    unit: float = 0.35e-9
    subscription_pace: float = 5_000
    others_share: float = 0.25
    patience: float = 600.0
    at_once: float = 0.1

    def expected(self, method: Method[Any, Any], instance: TopicInstance) -> float:
        """The seconds that a heuristic is expected to take."""
        pairs = ordered_pairs(instance) / 2
        return self.unit * (method.pace * pairs + self.subscription_pace * instance.num_subscriptions)


PARAMETERS = HeuristicParameters()


def heuristics(run: Run, parameters: HeuristicParameters = PARAMETERS) -> None:
    """Run the heuristics for the problem with their default options.

    The fastest comes first, then those that are promising for the problem if they are expected to end in the time left,
    then the others if in half of it (without a limit: in ten minutes). Where there is no time for all that are
    promising, the slowest that fits comes first. The counter ``heuristics`` lists those that ended with their values.
    """
    instance, problem, clock = run.instance, run.problem, run.clock
    expected = {method.name: parameters.expected(method, instance) for method, _ in _known(problem)}
    others = clock.share(parameters.others_share) if run.objective.of_degree else clock
    values: dict[str, float] = {}
    for number, (method, one) in enumerate(_in_order(problem, expected, clock)):
        if number and clock.passed:
            break
        promising = is_promising(method, one)
        limit = min(parameters.patience, (1.0 if promising else 0.5) * clock.left)
        if run.best is not None and (expected[method.name] >= limit or (others.passed and not promising)):
            continue
        solve = partial(method.by_default, instance, one, seed=run.settings.seed)
        is_quick = expected[method.name] <= parameters.at_once
        proposal = solve() if is_quick else finished_within(clock, solve, steps=math.inf)
        overlay = None if proposal is None else proposal.answer
        if overlay is not None and one is not problem:
            is_valid = is_judged_within(instance, overlay, clock) and not problem.violations(instance, overlay)
            overlay = overlay if is_valid else None
        if overlay is not None:
            values[method.name] = problem.value(instance, overlay)
            run.take(overlay)
    listed = sorted(values.items(), key=lambda item: (item[1], item[0]))
    run.counters["heuristics"] = ", ".join(f"{name} {value:g}" for name, value in listed)
    run.reason = run.reason if values or run.best else "no heuristic has a valid answer"


def _known(problem: AnyTopicProblem) -> list[tuple[HeuristicMethod, AnyTopicProblem]]:
    return heuristics_for(problem, lambda method, one: not method.anytime and method.answers(one))


def _in_order(
    problem: AnyTopicProblem, expected: Mapping[str, float], clock: Clock
) -> list[tuple[HeuristicMethod, AnyTopicProblem]]:
    """The heuristics, and what each solves: the fastest, then the promising ones, then the others from fast to slow."""
    known = _known(problem)
    promising = [each for each in known[1:] if is_promising(*each)]
    others = [each for each in known[1:] if each not in promising]
    if sum(expected[method.name] for method, _ in promising) > clock.left:
        promising.reverse()
    return [*known[:1], *promising, *others]


def improvement(run: Run) -> None:
    """Improve the best answer until the time is over, or without a limit for `steps`, unless simple bounds prove it.

    Where every topic-connected overlay is valid: an overlay along a fifth of the time of cost splitting, and row
    weighting, in the number of edges or under caps on degrees; then polish. For two-connected topics a local search of
    its own, for diameter 2 stars by simulated annealing. The counter ``built`` is the number of edges of the overlay
    built along the LP solution, or their cost.
    """
    objective, clock, steps = run.objective, run.clock, run.settings.steps
    if run.best is None or clock.passed or run.value <= _least_value(run):
        return
    if not is_searchable(run.instance, run.best, clock):
        run.stopped = True
        return
    if not objective.free:
        if (finish := _FINISHES.get(objective.rule)) is not None:
            run.take(finish(run.instance, run.best, steps, clock, run.settings.seed))
        return
    in_parts = searches_in_parts(run.instance.num_nodes, objective.first)
    instance, best, near = run.instance, run.best, None
    if objective.first == "edges" and in_parts:
        reduced = run.reduce(implied=True, leaves=True)
        instance, best = reduced.instance, reduced.moved(best)
    if objective.of_degree:
        limit = steps if math.isinf(clock.left) else None
        near, found = flatter_overlays(instance, best, clock, steps=limit, seed=run.settings.seed)
        run.take(*found)
    else:
        near = _guide(run, instance, best)
    if near is None and not objective.weighted and not in_parts:
        near = finished_within(clock, partial(candidate_lists, instance), steps=ordered_pairs(instance))
        if near is None:
            return
    if not clock.passed:
        best = run.best if run.value < run.problem.value(run.instance, best) else best
        run.take(
            polish(
                instance,
                best,
                first=objective.first,
                seed=run.settings.seed,
                steps=steps,
                candidates=near,
                clock=clock,
                threads=run.settings.threads,
            )
        )


def _guide(run: Run, instance: TopicInstance, best: Overlay) -> CandidateLists | None:
    """Build an overlay along an LP solution, whose edges are the candidates of local search."""
    weighted, seed = run.objective.weighted, run.settings.seed
    steps = run.settings.steps if run.objective.first == "edges" else None
    near, built = guided_candidates(instance, best, run.clock, weighted=weighted, steps=steps, seed=seed)
    if built:
        run.counters["built"] = instance.total_cost(built[0].edges) if weighted else built[0].num_edges
    run.take(*built)
    return near


def _polished(instance: TopicInstance, best: Overlay, steps: int, clock: Clock, seed: int) -> Overlay:
    limited = math.isfinite(clock.left)
    return fault_tolerant_polish(instance, best, seed=seed, steps=None if limited else steps, clock=clock)


_FINISHES = {"two-connected": _polished, "star": starred, "diameter-2": starred}


def _least_value(run: Run) -> float:
    """A simple bound on the value, which needs no pairs of nodes unless the instance is tiny."""
    objective, instance = run.objective, run.instance
    least = least_edges(instance, priced=objective.weighted) if instance.is_tiny else (0, 0)
    return max(objective.value(*run.simple_bounds), objective.value(*least))


HEURISTICS, IMPROVEMENT = Stage("heuristics", heuristics), Stage("local search", improvement)
BEST: Method[TopicInstance, Overlay] = Method(
    name="best",
    problems=tuple(each.name for each in TOPIC_PROBLEMS),
    models=is_searched,
    summary="the best of all heuristics, of a greedy along an LP solution, and of local search from there",
    source="none; docs/topics.md",
    guarantee="never worse than any of the heuristics that ran",
    cost="all of the time limit; without one, the heuristics' time and `steps` of local search",
    random=True,
    solve=partial(solve_in_stages, lambda run: (FIRST_ANSWERS, HEURISTICS, IMPROVEMENT)),
    options=(STEPS, THREADS),
    compiled=True,
)
