"""Method `ilp` for content-based overlays: the compact models in PuLP, solved by HiGHS or CBC."""

from __future__ import annotations

import importlib

import numpy as np

from ...instances.content.instance import ContentInstance
from ...instances.content.problems import ContentOverlay, ContentProblem
from ...instances.contract.run import Clock, offer_value
from ..engine.exact_method import START
from ..engine.ilp_solvers import SOLVER, SOLVERS, THREADS
from .exact import Outcome, exact_method
from .formulations import FORMULATION, compact_model

# The solvers stop at an absolute gap of just below 1: with this scale that is half of the judge's tolerance.
_SCALED_VALUE = 2e6


def minimise(
    instance: ContentInstance,
    problem: ContentProblem,
    start: ContentOverlay | None,
    clock: Clock,
    *,
    solver: str,
    formulation: str,
    threads: int,
    seed: int,
) -> Outcome:
    """Minimise a :func:`.compact_model` by integer programming (P4 §II.B, §IV.A).

    Optimality relies on the solver's floating-point arithmetic within a relative 10⁻⁶.
    """
    import pulp

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
    given = None
    if start is not None:
        chosen = model.values(start).tolist()
        given = {columns[k]: chosen[k] for k, integral in enumerate(model.integral) if integral}

    def in_costs(value: float | None, bound: float | None) -> None:
        offer_value(*(None if number is None else number / scale for number in (value, bound)))

    def answer() -> ContentOverlay:
        return model.answer(np.array([column.varValue or 0.0 for column in columns]))

    outcome = SOLVERS[solver](program, given, clock, threads=threads, seed=seed, report=in_costs, answer=answer)
    counters = {"nodes": outcome.nodes, "variables": len(columns), "constraints": len(model.rows)}
    return Outcome(answer() if outcome.found else None, outcome.lower_bound / scale, outcome.stopped, counters)


def _load() -> None:
    for library in ("pulp", "highspy"):
        importlib.import_module(library)


CONTENT_ILP = exact_method(
    "ilp",
    minimise,
    summary="content: integer programs in PuLP, by arborescences of publishers or brokers, or flows",
    options=(SOLVER, FORMULATION, START, THREADS),
    load=_load,
)
