"""Methods `ilp` and `cp-sat`: the compact models of :mod:`.overlay_model`, solved by HiGHS, CBC or CP-SAT.

A single-commodity flow per topic is the default of `ilp`: its LP bound is weaker than that of the multi-commodity
flows, but the solvers' cuts close the difference, and its LP is 7 to 24 times as fast. On larger instances, or for the
bound alone, "multi" is the better choice.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from ...heuristics.topics.local_search.polish import is_judged_within
from ...instances.contract.errors import BadInput
from ...instances.contract.method import Method, Proposal
from ...instances.contract.option import Option
from ...instances.contract.overlay import Overlay
from ...instances.contract.result import Status
from ...instances.runtime.run import Clock, OutOfTime, offer, offer_value
from ...instances.topics.instance import TopicInstance
from ...instances.topics.objective import CONNECTED, Objective
from ...instances.topics.problems import TOPIC_PROBLEMS, AnyTopicProblem
from ..engine.exact_method import START, ModelTooLarge, SolverOutcome, proving_method, solve_exactly
from ..engine.integer_model import SOLVER, THREADS, minimise_with_cp_sat, minimise_with_ilp
from .compact.overlay_model import MOST_PAIRS, OverlayModel, Subproblem, build_model, requirements_of, simple_bounds
from .compact.pareto_front import pareto_front, shown
from .lp_heuristics.lp_guided import heuristic_overlays, quick_overlays
from .relaxation.dual_fitting import quick_bounds
from .relaxation.topic_rows import count_links


class Limits(NamedTuple):
    """What differs where degrees are limited.

    `starts` takes the instance, the problem, a seed and a clock and gives overlays within the limits; `model` builds
    the model of the instance and the problem, from what :func:`.build_model` takes; `infeasible` says why there is no
    answer; `least` takes the instance, the problem and the numbers of :func:`.simple_bounds` and returns a lower bound,
    inf where no overlay can keep the limits.
    """

    starts: Callable[..., list[Overlay]]
    model: Callable[..., OverlayModel]
    infeasible: str
    least: Callable[..., float]


def _solve(
    minimise_model: Callable[..., SolverOutcome[Overlay]],
    limits: Limits | None,
    instance: TopicInstance,
    problem: AnyTopicProblem,
    *,
    seed: int,
    time_limit: float | None,
    start: str,
    formulation: str = "levels",
    **settings: Any,
) -> Proposal[Overlay]:
    """Minimise from the best heuristic overlay, and return the incumbent and a valid bound also if stopped.

    The best overlay of the heuristics is the solver's start, a hint for CP-SAT, and the first incumbent, unless `start`
    is "none". The solver, `minimise_model`, takes `settings`: threads, and which one. The lower bound is the better of
    the solver's and of :func:`.simple_bounds`; the status is ``time-limit`` if the limit left a gap. Counters: nodes
    (of CP-SAT, conflicts), variables, constraints. For ``low-tco``, ``front`` lists the proven points of the Pareto
    front as edges × maximum degree, and ``front_complete`` is "yes" if the front has no others.

    Exponential in the worst case. CP-SAT's proofs are in integers: its LP only proposes, its clauses and cuts are
    derived exactly. "Optimal" trusts the floating-point arithmetic of the ILP solvers within a millionth.
    """
    clock = Clock(time_limit)
    objective: Objective = CONNECTED if limits else problem.objective
    if objective.first == "product" and "model_file" in settings:
        raise BadInput(f"{problem.name} is solved by a model for each degree: write those of min-tco or minmax-tco")
    value = partial(problem.value, instance)
    least_of: Callable[..., float] = partial(limits.least, instance, problem) if limits else objective.value
    bound, starts = least_of(*quick_bounds(instance)), list[Overlay]()
    infeasible = Proposal[Overlay](status=Status.INFEASIBLE, reason=limits.infeasible if limits else "")
    if bound == math.inf:
        return infeasible
    offer(lower_bound=bound)
    if start == "best" and limits:
        share = 0.25 if count_links(instance) <= MOST_PAIRS else 1.0  # without a model, heuristics have all of the time
        starts = limits.starts(instance, problem, seed=seed, clock=clock.share(share))
    elif start == "best":
        known = None if time_limit is None else next(quick_overlays(instance, problem))  # heuristics may take longer
        if known is not None and not is_judged_within(instance, known, clock):
            return Proposal(known, bound, Status.TIME_LIMIT, reason="time: none left to search")
        offer(known)
        starts = heuristic_overlays(instance, problem, seed=seed, clock=clock, known_answer=known)
        offer(starts[0])
    best = next(iter(starts), None)
    try:
        requirements = requirements_of(instance, clock, objective)
        simple = simple_bounds(requirements, clock)
    except (OutOfTime, ModelTooLarge) as error:
        status = Status.MEMORY_LIMIT if isinstance(error, ModelTooLarge) else Status.TIME_LIMIT
        return Proposal(best, bound, status, reason=str(error))
    if (least := least_of(*simple)) == math.inf:
        return infeasible

    def minimise(subproblem: Subproblem, start: Overlay | None, clock: Clock) -> SolverOutcome[Overlay]:
        if not requirements.edges:
            return SolverOutcome(Overlay.from_edges(requirements.num_nodes, []), 0)
        if limits:
            model = limits.model(instance, problem, requirements, subproblem, formulation, clock)
        else:
            model = build_model(requirements, subproblem, formulation, clock)
        model.label = instance.node_label
        given = {"answer": model.overlay, "start": None if start is None else model.start(start), "seed": seed}
        return minimise_model(model, clock, **given, report=subproblem.report, **settings)

    def search(best: Overlay | None, clock: Clock) -> SolverOutcome[Overlay]:
        if objective.first != "product":
            return minimise(Subproblem(objective, int(least), report=offer_value), best, clock)
        front = pareto_front(instance.num_nodes, simple, minimise, starts, clock)
        answer = min(front.overlays, key=value, default=None)
        return SolverOutcome(answer, front.lower_bound, not front.complete, front.counters(shown(front)))

    return solve_exactly(value, search, clock, starts=starts, lower_bound=least, infeasible=infeasible.reason)


_CONNECTED = tuple(each.name for each in TOPIC_PROBLEMS)


def compact_method(
    name: str,
    minimise_model: Callable[..., SolverOutcome[Overlay]],
    *,
    problems: tuple[str, ...] = _CONNECTED,
    limits: Limits | None = None,
    **fields: Any,
) -> Method[TopicInstance, Overlay]:
    """A method that minimises compact models by a solver; `limits` where the problems limit degrees."""
    return proving_method(
        name=name,
        problems=problems,
        source="models/topics/compact/overlay_model.py",
        solve=partial(_solve, minimise_model, limits),
        **fields,
    )


CP_SAT = compact_method(
    name="cp-sat",
    minimise_model=minimise_with_cp_sat,
    summary="compact CP-SAT models: an arborescence, or forest, with levels in each topic, centres for diameter 2",
    options=(START, THREADS),
)

ILP = compact_method(
    name="ilp",
    minimise_model=minimise_with_ilp,
    summary="compact integer programs: flows or forests in topics, centres and common neighbours for diameter 2",
    guarantee="the optimum with proof; when stopped, the incumbent with a proven bound, within the solver's tolerances",
    options=(
        SOLVER,
        Option("formulation", "single", "flow per topic: single- or multi-commodity", choices=("single", "multi")),
        START,
        THREADS,
    ),
    inputs=("model_file",),
)
