"""Method `ilp` for content-based overlays: the compact models in PuLP, solved by HiGHS or CBC."""

from __future__ import annotations

import math
from functools import cache, partial

import numpy as np

from ...instances.clock import Clock, OutOfTime
from ...instances.content.instance import ContentInstance
from ...instances.content.overlay import ContentOverlay
from ...instances.content.problems import CONTENT_PROBLEMS, ContentProblem
from ...instances.method import Method, Proposal
from ...instances.problem import Problem
from ..engine.ilp_solvers import SOLVER, THREADS
from .exact import START, Proof, solve_content
from .formulations import FORMULATION, compact_model
from .starts import warm_up_heuristics

# The solvers stop at an absolute gap of just below 1: scaled so, that is half of the judge's tolerance.
_SCALED_VALUE = 2e6


def content_ilp(
    instance: ContentInstance,
    problem: Problem[ContentInstance, ContentOverlay],
    *,
    seed: int = 0,
    time_limit: float | None = None,
    solver: str = "highs",
    formulation: str = "arborescences",
    start: str = "best",
    threads: int = 1,
) -> Proposal[ContentOverlay]:
    """Solve a content problem by integer programming.

    Parameters
    ----------
    seed : int
        Of the heuristics' and the solver's random choices.
    time_limit : float or None
        Seconds of wall-clock time, building the model included.
    solver : {"highs", "cbc"}
    formulation : {"arborescences", "broker-trees", "flows"}
        See :func:`.compact_model`.
    start : {"best", "none"}
    threads : int

    Returns
    -------
    Proposal
        With the incumbent and a bound, also when stopped. Counters: nodes, variables, constraints, start.

    Notes
    -----
    Exponential in the worst case. P4 §II.B and §IV.A. "Optimal" trusts the solver's floating point arithmetic within a
    relative millionth.
    """
    assert isinstance(problem, ContentProblem)
    minimise = partial(_minimise, instance, problem, solver=solver, formulation=formulation, threads=threads, seed=seed)
    return solve_content(instance, problem, minimise, start=start, seed=seed, time_limit=time_limit)


def _minimise(
    instance: ContentInstance,
    problem: ContentProblem,
    start: ContentOverlay | None,
    clock: Clock,
    *,
    solver: str,
    formulation: str,
    threads: int,
    seed: int,
) -> Proof:
    # The solvers' libraries take a third of a second to load, which only those who solve should pay.
    import pulp

    from ..engine.ilp_solvers import SOLVERS

    model = compact_model(instance, problem.routing, formulation, clock)
    program = pulp.LpProblem("content", pulp.LpMinimize)
    columns = [
        program.add_variable(f"v{number}", 0, upper, "Integer" if integral else "Continuous")
        for number, (upper, integral) in enumerate(zip(model.upper, model.integral, strict=True))
    ]
    size = problem.value(instance, start) if start is not None else float(np.sum(model.costs))
    scale = _SCALED_VALUE / size if size > 0 else 1.0
    program += pulp.lpSum(scale * cost * columns[number] for number, cost in enumerate(model.costs) if cost)
    for numbers, values, rhs in model.rows_in_time():
        terms = {columns[k]: int(value) for k, value in zip(numbers.tolist(), values.tolist(), strict=True)}
        program += pulp.LpAffineExpression(terms) >= rhs
    counters: dict[str, float | str] = {"variables": len(columns), "constraints": len(model.rows)}
    known = None
    if start is not None:
        chosen = model.values(start).tolist()
        known = {columns[k]: chosen[k] for k, integral in enumerate(model.integral) if integral}
    try:
        report = SOLVERS[solver](program, known, Clock(_seconds(clock)), threads=threads, seed=seed)
    except OutOfTime:
        return Proof(counters=counters)
    counters["nodes"] = report.nodes
    if not report.found:
        return Proof(None, report.lower_bound / scale, not report.stopped, counters)
    answer = model.answer(np.array([column.varValue or 0.0 for column in columns]))
    return Proof(answer, report.lower_bound / scale, not report.stopped, counters)


def _seconds(clock: Clock) -> float | None:
    return clock.left if math.isfinite(clock.left) else None


@cache
def _warm_up() -> None:
    from ..engine import ilp_solvers  # noqa: F401

    warm_up_heuristics()


CONTENT_ILP: Method[ContentInstance, ContentOverlay] = Method(
    name="ilp",
    colour="#000000",
    marker="P",
    problems=tuple(problem.name for problem in CONTENT_PROBLEMS),
    summary="content: integer programs in PuLP, an arborescence a publisher or broker and channel, or flows",
    source="P4 §II.B, §IV.A; docs/content_exact.md",
    exact=True,
    solve=content_ilp,
    options=(SOLVER, FORMULATION, START, THREADS),
    warm_up=_warm_up,
)
