"""Method `ilp` for content-based overlays: the compact models in PuLP, solved by HiGHS or CBC."""

from __future__ import annotations

import math
from functools import cache, partial

import numpy as np

from instances import ContentInstance, ContentOverlay, Found, Method, Option, Problem
from instances.content.problems import CONTENT_PROBLEMS, ContentProblem
from models.content.exact import Proof, solve_content
from models.content.formulations import FORMULATIONS, compact_model
from models.engine.deadline import Deadline, OutOfTime
from models.engine.time_budget import TimeBudget, interruptible

START = Option("start", "best", "the heuristic answer handed in: the best one, or none", choices=("best", "none"))
THREADS = Option("threads", 1, "threads of the solver; with more than one, runs may differ", least=1, most=1024)
FORMULATION = Option(
    "formulation", "arborescences", "how messages are held together: docs/content_exact.md", choices=FORMULATIONS
)
# The solvers stop at an absolute gap of just below 1: scaled so, that is half of the judge's tolerance.
_SCALED_VALUE = 2e6
LOOK_EVERY = 1000


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
) -> Found[ContentOverlay]:
    """Solve a content problem by integer programming.

    Parameters
    ----------
    seed : int
        Of the heuristics' and the solver's random choices.
    time_limit : float or None
        Seconds of wall-clock time, building the model included.
    solver : {"highs", "cbc"}
    formulation : {"arborescences", "broker-trees", "flows"}
        See :func:`models.content.formulations.compact_model`.
    start : {"best", "none"}
    threads : int

    Returns
    -------
    Found
        With the incumbent and a bound, also when stopped. Counters: nodes, variables, constraints, start.

    Notes
    -----
    Exponential in the worst case. P4 §II.B and §IV.A. "Optimal" trusts the solver's floating point arithmetic within a
    relative millionth.
    """
    assert isinstance(problem, ContentProblem)
    minimise = partial(_minimise, instance, problem, solver=solver, formulation=formulation, threads=threads, seed=seed)
    with interruptible(time_limit) as budget:
        return solve_content(instance, problem, minimise, start=start, seed=seed, budget=budget)


def _minimise(
    instance: ContentInstance,
    problem: ContentProblem,
    start: ContentOverlay | None,
    budget: TimeBudget,
    *,
    solver: str,
    formulation: str,
    threads: int,
    seed: int,
) -> Proof:
    # The solvers' libraries take a third of a second to load, which only those who solve should pay.
    import pulp

    from models.engine.ilp_solvers import SOLVERS

    model = compact_model(instance, problem.routing, formulation, budget)
    program = pulp.LpProblem("content", pulp.LpMinimize)
    columns = [
        program.add_variable(f"v{number}", 0, upper, "Integer" if integral else "Continuous")
        for number, (upper, integral) in enumerate(zip(model.upper, model.integral, strict=True))
    ]
    size = problem.value(instance, start) if start is not None else float(np.sum(model.costs))
    scale = _SCALED_VALUE / size if size > 0 else 1.0
    program += pulp.lpSum(scale * cost * columns[number] for number, cost in enumerate(model.costs) if cost)
    for number, (numbers, values, rhs) in enumerate(model.rows):
        if number % LOOK_EVERY == 0:
            model.check_time()
        terms = {columns[k]: int(value) for k, value in zip(numbers.tolist(), values.tolist(), strict=True)}
        program += pulp.LpAffineExpression(terms) >= rhs
    counters: dict[str, float | str] = {"variables": len(columns), "constraints": len(model.rows)}
    known = None
    if start is not None:
        chosen = model.values(start).tolist()
        known = {columns[k]: chosen[k] for k, integral in enumerate(model.integral) if integral}
    try:
        report = SOLVERS[solver](program, known, Deadline(_seconds(budget)), threads=threads, seed=seed)
    except OutOfTime:
        return Proof(counters=counters)
    counters["nodes"] = report.nodes
    if not report.found:
        return Proof(None, report.lower_bound / scale, not report.stopped, counters)
    answer = model.answer(np.array([column.varValue or 0.0 for column in columns]))
    return Proof(answer, report.lower_bound / scale, not report.stopped, counters)


def _seconds(budget: TimeBudget) -> float | None:
    return budget.left if math.isfinite(budget.left) else None


@cache
def warm_up_heuristics() -> None:
    """Compile what the starts run."""
    from heuristics import CONTENT_HEURISTICS

    for method in CONTENT_HEURISTICS:
        if method.warm_up is not None:
            method.warm_up()


@cache
def _warm_up() -> None:
    from models.engine import ilp_solvers  # noqa: F401

    warm_up_heuristics()


CONTENT_ILP: Method[ContentInstance, ContentOverlay] = Method(
    "ilp",
    tuple(problem.name for problem in CONTENT_PROBLEMS),
    "content: integer programs in PuLP, an arborescence a publisher or broker and channel, or flows",
    "P4 §II.B, §IV.A; docs/content_exact.md",
    True,
    content_ilp,
    (Option("solver", "highs", "the solver behind PuLP", choices=("highs", "cbc")), FORMULATION, START, THREADS),
    _warm_up,
)
