"""Method `lp-rounding` for content-based overlays: the linear relaxation, and users on brokers of largest LP value."""

from __future__ import annotations

import math

from ...instances.content.instance import ContentInstance
from ...instances.content.problems import CONTENT_PROBLEMS, ContentOverlay, ContentProblem
from ...instances.contract.method import Method, Proposal
from ...instances.contract.problem import Problem
from ...instances.contract.result import Status
from ...instances.contract.run import Clock, OutOfTime, interruptible
from ..engine.exact_method import ModelTooLarge
from ..engine.ilp_solvers import THREADS
from .branch_and_cut import ContentCuts, ContentIncumbent
from .exact import access_bound
from .model import ContentModel

_STALL = 1e-4


def rounded_relaxation(
    instance: ContentInstance, problem: ContentProblem, clock: Clock, *, threads: int = 1
) -> tuple[ContentOverlay | None, float, bool]:
    """Solve the relaxation by directed cuts and round it.

    Users are assigned by falling largest LP value, each to the broker of largest LP value with enough residual
    capacity; trees follow by :func:`.route`. Without time for the relaxation there is no overlay.

    Returns
    -------
    overlay : ContentOverlay or None
        None also if a user fits no broker.
    lower_bound : float
        The value of the relaxation, proven in integers; infinite if it is infeasible.
    stopped : bool

    Raises
    ------
    ModelTooLarge, OutOfTime
    """
    model = ContentModel(instance, problem.routing, clock=clock)
    planes = ContentCuts(model, threads=threads)
    found = planes.tighten(clock, stall=_STALL * planes.cost_scale)
    if found is None:
        return None, -math.inf, True
    if not planes.lp.feasible:
        return None, math.inf, False
    rounded = ContentIncumbent(model, problem, None, planes.unit).build_along(planes.columns, planes.lp.x)
    return rounded, planes.best_units / planes.unit, clock.passed


def _solve(
    instance: ContentInstance,
    problem: Problem[ContentInstance, ContentOverlay],
    *,
    seed: int,
    time_limit: float | None,
    threads: int,
) -> Proposal[ContentOverlay]:
    assert isinstance(problem, ContentProblem)
    if conflict := instance.capacity_conflict():
        return Proposal(status=Status.INFEASIBLE, reason=conflict)
    with interruptible(time_limit) as clock:
        try:
            overlay, bound, stopped = rounded_relaxation(instance, problem, clock, threads=threads)
        except ModelTooLarge as error:
            return Proposal(lower_bound=access_bound(instance), reason=str(error))
        except OutOfTime:
            overlay, bound, stopped = None, -math.inf, True
    if bound == math.inf:
        return Proposal(status=Status.INFEASIBLE, reason="the relaxation is infeasible")
    reason = clock.stopped_by if stopped else "" if overlay is not None else "rounding leaves a user without a broker"
    return Proposal(overlay, max(bound, access_bound(instance)), Status.TIME_LIMIT if stopped else None, {}, reason)


LP_ROUNDING: Method[ContentInstance, ContentOverlay] = Method(
    name="lp-rounding",
    problems=tuple(problem.name for problem in CONTENT_PROBLEMS),
    summary="users on the brokers of largest value in the linear relaxation, then trees; with a lower bound",
    source="P4 §III, §IV.A",
    guarantee="a proven lower bound; no ratio is proven of its answer",
    cost="a linear program with |U||B| + trees·|B|² columns, solved by directed cuts",
    bounds=True,
    anytime=False,
    engine="branch-and-cut",
    options=(THREADS,),
    solve=_solve,
    compiled=True,
    pace=50,
    colour="#CC79A7",
    marker="P",
)
