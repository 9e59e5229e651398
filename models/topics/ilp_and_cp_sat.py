"""Methods `ilp` and `cp-sat`: the compact models of :mod:`.overlay_model`, solved by HiGHS, CBC or CP-SAT.

A single-commodity flow per topic is the default of `ilp`: its LP bound is weaker than that of the multi-commodity
flows, but the solvers' cuts close the difference, and its LP is 7 to 24 times as fast. On larger instances, or for the
bound alone, "multi" is the better choice.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ...heuristics.topics.degree_limits import starts_within
from ...heuristics.topics.heuristic import DIAMETER_TWO
from ...instances.contract.errors import BadInput
from ...instances.contract.method import Method, Proposal
from ...instances.contract.option import Option
from ...instances.contract.overlay import Overlay
from ...instances.contract.result import Status
from ...instances.contract.run import Clock, OutOfTime, offer, offer_value
from ...instances.topics.instance import TopicInstance
from ...instances.topics.objective import CONNECTED, Objective
from ...instances.topics.problems import AnyTopicProblem, DegreeLimited, PartialTCO
from ..engine.exact_method import START, ModelTooLarge, SolverOutcome, solve_exactly
from ..engine.integer_model import SOLVER, THREADS, minimise_with_cp_sat, minimise_with_ilp
from .compact.overlay_model import Subproblem, build_model, requirements_of, simple_bounds
from .compact.pareto_front import pareto_front, shown
from .degree_limits import INFEASIBLE, limited_model
from .lp_heuristics.lp_guided import any_overlay, heuristic_overlays


def _solve(
    minimise_model: Callable[..., SolverOutcome[Overlay]],
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
    clock, limited = Clock(time_limit), problem if isinstance(problem, DegreeLimited) else None
    objective: Objective = CONNECTED if limited else problem.objective
    if objective.first == "product" and "model_file" in settings:
        raise BadInput(f"{problem.name} is solved by a model for each degree: write those of min-tco or minmax-tco")
    value = partial(problem.value, instance)
    starts: list[Overlay] = []
    if start == "best" and limited:
        starts = starts_within(instance, problem, seed=seed, clock=clock.share(0.25))
    elif start == "best":
        if time_limit is not None:  # the heuristics may take longer
            offer(next(iter(any_overlay(instance, problem)), None))
        starts = heuristic_overlays(instance, problem, seed=seed, clock=clock)
    offer(min(starts, key=value, default=None))
    try:
        requirements = requirements_of(instance, clock, objective)
        simple = simple_bounds(requirements, clock)
    except (OutOfTime, ModelTooLarge) as error:
        return Proposal(min(starts, key=value, default=None), status=Status.TIME_LIMIT, reason=str(error))
    least = 0 if isinstance(problem, PartialTCO) else objective.value(*simple)

    def minimise(subproblem: Subproblem, start: Overlay | None, clock: Clock) -> SolverOutcome[Overlay]:
        if not requirements.edges:
            return SolverOutcome(Overlay.from_edges(requirements.num_nodes, []), 0)
        if limited:
            model = limited_model(instance, limited, requirements, subproblem, formulation, clock)
        else:
            model = build_model(requirements, subproblem, formulation, clock)
        model.label = instance.node_label
        given = {"answer": model.overlay, "start": None if start is None else model.start(start), "seed": seed}
        return minimise_model(model, clock, **given, report=subproblem.report, **settings)

    def search(best: Overlay | None, clock: Clock) -> SolverOutcome[Overlay]:
        if objective.first != "product":
            return minimise(Subproblem(objective, least, report=offer_value), best, clock)
        front = pareto_front(instance.num_nodes, simple, minimise, starts, clock)
        answer = min(front.overlays, key=value, default=None)
        return SolverOutcome(answer, front.lower_bound, not front.complete, front.counters(shown(front)))

    return solve_exactly(value, search, clock, starts=starts, lower_bound=least, infeasible=INFEASIBLE)


def _method(
    name: str, minimise_model: Callable[..., SolverOutcome[Overlay]], **fields: Any
) -> Method[TopicInstance, Overlay]:
    return Method(
        name=name,
        problems=(*DIAMETER_TWO, "weighted-tco", "k-tco", "capped-tco", "partial-tco"),
        source="models/topics/compact/overlay_model.py",
        cost="exponential in the worst case",
        exact=True,
        solve=partial(_solve, minimise_model),
        compiled=True,
        **fields,
    )


CP_SAT = _method(
    name="cp-sat",
    minimise_model=minimise_with_cp_sat,
    summary="compact CP-SAT models: an arborescence, or forest, with levels in each topic, centres for diameter 2",
    guarantee="the optimum with proof; when stopped, the incumbent with a proven bound",
    options=(START, THREADS),
    colour="#6B5B00",
    marker="*",
)

ILP = _method(
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
    colour="#000000",
    marker="P",
)
