"""Method `ilp` for soft links: the multi-commodity flows of :mod:`.compact.ilp_model`, solved by HiGHS."""

from __future__ import annotations

from functools import cache, partial

from ...instances.brokers.problems import Dissemination
from ...instances.contract.method import Method
from ...instances.contract.run import Clock, offer_value
from ..engine.exact_method import SolverOutcome
from ..engine.ilp_solvers import THREADS, solve_with_highs
from .compact.demands import Demands, dissemination_along, links_of, routes_of
from .compact.search import solve_by_model, warm_up


def _minimise(
    demands: Demands, start: Dissemination, clock: Clock, *, seed: int, threads: int
) -> SolverOutcome[Dissemination]:
    from .compact.ilp_model import build_ilp

    ilp = build_ilp(demands, clock)
    values = ilp.start(links_of(start), routes_of(demands, start))

    def answer() -> Dissemination:
        return dissemination_along(demands, ilp.routes())

    report = solve_with_highs(ilp.program, values, clock, threads=threads, seed=seed, report=offer_value, answer=answer)
    return SolverOutcome(
        answer() if report.found else None, report.lower_bound, report.stopped, {"nodes": report.nodes}
    )


SOFT_ILP = Method(
    name="ilp",
    problems=("soft-links",),
    summary="optimal soft links and routes: multi-commodity flows, by HiGHS",
    source="models/brokers/compact/ilp_model.py",
    guarantee="the optimum with proof; when stopped, the incumbent with a proven bound, within the solver's tolerances",
    cost="exponential in the worst case",
    exact=True,
    solve=partial(solve_by_model, _minimise),
    options=(THREADS,),
    warm_up=cache(partial(warm_up, _minimise)),
    colour="#000000",
    marker="P",
)
