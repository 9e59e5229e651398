"""Method `cp-sat` for content-based overlays: the compact models in integers, solved by CP-SAT of OR-Tools."""

from __future__ import annotations

import math

import numpy as np

from ...instances.content.instance import ContentInstance, Floats
from ...instances.content.problems import ContentOverlay, ContentProblem
from ...instances.contract.run import Clock, offer_value
from ..engine.cp_sat_solver import Solution, solve_with_cp_sat
from ..engine.exact_method import START
from ..engine.ilp_solvers import THREADS
from .exact import Outcome, exact_method
from .formulations import FORMULATION, compact_model

_LARGEST = 2.0**50


def minimise(
    instance: ContentInstance,
    problem: ContentProblem,
    start: ContentOverlay | None,
    clock: Clock,
    *,
    formulation: str,
    threads: int,
    seed: int,
) -> Outcome:
    """Minimise a :func:`.compact_model` by constraint programming; the start is a hint (P4 §II.B, §IV.A).

    Costs that are no integers are rounded down to multiples of a power of 2 below a billionth of the sum of all costs,
    so that the bound is valid. The counter `nodes` counts conflicts.
    """
    from ortools.sat.python import cp_model

    model = compact_model(instance, problem.routing, formulation, clock)
    cp = cp_model.CpModel()
    columns = [cp.new_int_var(0, int(upper), f"v{number}") for number, upper in enumerate(model.upper)]
    for users in model.x:
        cp.add_exactly_one(columns[k] for k in users.tolist())
    for numbers, values, rhs in model.rows_in_time():
        cp.add(cp_model.LinearExpr.weighted_sum([columns[k] for k in numbers.tolist()], values.tolist()) >= rhs)
    costs = np.array(model.costs)
    unit = _unit(costs)
    cp.minimize(cp_model.LinearExpr.weighted_sum(columns, np.floor(costs * unit).astype(np.int64).tolist()))
    if start is not None:
        hint = model.values(start).tolist()
        for k, integral in enumerate(model.integral):
            if integral and model.upper[k] == 1:
                cp.add_hint(columns[k], hint[k])

    def in_costs(value: float | None, bound: float | None) -> None:
        offer_value(*(None if number is None else number / unit for number in (value, bound)))

    def answer(solution: Solution) -> ContentOverlay:
        return model.answer(np.array([solution.value(column) for column in columns], dtype=np.float64))

    outcome, solver = solve_with_cp_sat(cp, clock, threads=threads, seed=seed, report=in_costs, answer=answer)
    counters = {"nodes": outcome.nodes, "variables": len(columns), "constraints": len(model.rows)}
    return Outcome(answer(solver) if outcome.found else None, outcome.lower_bound / unit, outcome.stopped, counters)


def _unit(costs: Floats) -> float:
    """A power of 2 by which costs become integers: 1 if they are integers and not too large."""
    total = float(costs.sum())
    if total < _LARGEST and (costs == np.floor(costs)).all():
        return 1.0
    return 2.0 ** math.floor(math.log2(_LARGEST / total)) if total > 0 else 1.0


def _load() -> None:
    from ortools.sat.python import cp_model

    cp_model.CpModel()


CONTENT_CP_SAT = exact_method(
    "cp-sat",
    minimise,
    summary="content: the compact models in integers, by CP-SAT",
    options=(FORMULATION, START, THREADS),
    load=_load,
)
