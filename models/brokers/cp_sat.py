"""Method `cp-sat` for soft links: the arborescences with levels of :mod:`.compact.cp_sat_model`."""

from __future__ import annotations

from functools import cache, partial

from ...instances.brokers.problems import Dissemination
from ...instances.contract.method import Method
from ...instances.contract.run import Clock, offer_value
from ..engine.cp_sat_solver import Solution, solve_with_cp_sat
from ..engine.exact_method import SolverOutcome
from ..engine.ilp_solvers import THREADS
from .compact.demands import Demands, dissemination_along, links_of, routes_of
from .compact.search import solve_by_model, warm_up


def _minimise(
    demands: Demands, start: Dissemination, clock: Clock, *, seed: int, threads: int
) -> SolverOutcome[Dissemination]:
    from .compact.cp_sat_model import build_cp

    cp = build_cp(demands, clock)
    cp.hint(links_of(start), routes_of(demands, start))

    def answer(solution: Solution) -> Dissemination:
        return dissemination_along(demands, cp.routes(solution))

    report, solver = solve_with_cp_sat(cp.model, clock, threads=threads, seed=seed, report=offer_value, answer=answer)
    return SolverOutcome(
        answer(solver) if report.found else None, report.lower_bound, report.stopped, {"nodes": report.nodes}
    )


SOFT_CP_SAT = Method(
    name="cp-sat",
    problems=("soft-links",),
    summary="optimal soft links and routes: arborescences with levels, by CP-SAT",
    source="models/brokers/compact/cp_sat_model.py",
    guarantee="the optimum with proof; when stopped, the incumbent with a proven bound",
    cost="exponential in the worst case",
    exact=True,
    solve=partial(solve_by_model, _minimise),
    options=(THREADS,),
    warm_up=cache(partial(warm_up, _minimise)),
    colour="#6B5B00",
    marker="*",
)
