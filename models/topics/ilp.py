"""Method `ilp`: the compact integer programs of :mod:`.ilp_model`, solved by HiGHS or CBC.

The defaults are measured (``python -m benchmarks.models``; uniform and Zipf 0.5 workloads of 30 and 40 nodes and topics
with 6 subscriptions each, two seeds, one thread of a busy machine). A single-commodity flow per topic gives an LP bound
0.8 to 1.4 below that of the multi-commodity flows, at optima of 59 to 97 edges; the solvers' cuts close the difference,
and its LP is 7 to 24 times as fast. HiGHS proves within 20 s:

===========  ==================  ==================
problem      single-commodity    multi-commodity
===========  ==================  ==================
min-tco      8 of 8, mean 2.5 s  8 of 8, mean 5.7 s
minmax-tco   8 of 8, mean 2.9 s  7 of 8, mean 6.2 s
===========  ==================  ==================

CBC on the single-commodity flow proves min-tco as fast (mean 2.9 s) but only 6 of 8 for minmax-tco, and exceeds its
limit in the root LP. On larger instances, or for the bound alone, "multi" is the better choice.
"""

from __future__ import annotations

from functools import cache, partial

from ...heuristics.topics.heuristic import DIAMETER_TWO
from ...instances.contract.method import Method, Proposal
from ...instances.contract.option import Option
from ...instances.contract.overlay import Overlay
from ...instances.contract.problem import Problem
from ...instances.contract.run import Clock
from ...instances.topics.instance import TopicInstance
from ..engine.exact_method import START, SolverOutcome
from ..engine.ilp_solvers import SOLVER, SOLVERS, THREADS, solve_with_highs
from .compact.requirements import Requirements, requirements_of
from .compact.subproblem import Subproblem
from .incumbents.starts import warm_up_heuristics
from .objectives.compact_search import solve_by_model


def solve_ilp(
    instance: TopicInstance,
    problem: Problem[TopicInstance, Overlay],
    *,
    seed: int,
    time_limit: float | None,
    solver: str,
    formulation: str,
    start: str,
    threads: int,
) -> Proposal[Overlay]:
    """Solve any topic problem by integer programming.

    Parameters
    ----------
    seed : int
        Of the heuristics' and the solver's random choices. One seed gives one answer with one thread and no limit.
    time_limit : float or None
        Seconds of wall-clock time, building the model included.
    solver : {"highs", "cbc"}
    formulation : {"single", "multi"}
        How topics are connected; the diameter-2 problems have one formulation.
    start : {"best", "none"}

    Returns
    -------
    Proposal
        With the incumbent and a proven bound, also if stopped. Counters: nodes, variables, constraints, and for
        ``low-tco`` the Pareto front.

    Notes
    -----
    The size of the model is that of :func:`.build_ilp`; solving it is exponential in the worst case.
    The LP arithmetic is floating point: "optimal" trusts the solver within its tolerance of a millionth.
    """
    minimise = partial(_minimise, solver=solver, formulation=formulation, threads=threads, seed=seed)
    return solve_by_model(instance, problem, minimise, start=start, seed=seed, time_limit=time_limit)


def relaxation_bound(instance: TopicInstance, problem: str, *, formulation: str = "multi") -> float:
    """The value of the LP relaxation, not rounded; for ``low-tco`` there is none."""
    from .compact.ilp_model import build_ilp

    clock = Clock(None)
    ilp = build_ilp(requirements_of(instance, clock), Subproblem(problem), formulation, clock)
    return solve_with_highs(ilp.program, None, clock, threads=1, seed=0, relaxed=True).lower_bound


def _minimise(
    requirements: Requirements,
    subproblem: Subproblem,
    *,
    start: Overlay | None,
    clock: Clock,
    solver: str,
    formulation: str,
    threads: int,
    seed: int,
) -> SolverOutcome[Overlay]:
    from .compact.ilp_model import build_ilp

    if not requirements.edges:
        return SolverOutcome(Overlay.from_edges(requirements.num_nodes, []), 0)
    ilp = build_ilp(requirements, subproblem, formulation, clock)
    values = None if start is None else ilp.integers_of(start)
    report = SOLVERS[solver](
        ilp.program, values, clock, threads=threads, seed=seed, report=subproblem.report, answer=ilp.overlay
    )
    counters = {
        "nodes": report.nodes,
        "variables": ilp.program.numVariables(),
        "constraints": ilp.program.numConstraints(),
    }
    return SolverOutcome(ilp.overlay() if report.found else None, report.lower_bound, report.stopped, counters)


@cache
def _warm_up() -> None:
    import highspy  # noqa: F401

    from .compact import ilp_model  # noqa: F401

    warm_up_heuristics()


ILP = Method(
    name="ilp",
    colour="#000000",
    marker="P",
    problems=(*DIAMETER_TWO, "weighted-tco", "k-tco"),
    summary="compact integer programs in PuLP: flows for connectivity, centres and common neighbours for diameter 2",
    source="models/topics/compact/ilp_model.py",
    guarantee="the optimum with proof; when stopped, the incumbent with a proven bound, within the solver's tolerances",
    cost="exponential in the worst case",
    exact=True,
    solve=solve_ilp,
    options=(
        SOLVER,
        Option("formulation", "single", "flow per topic: single- or multi-commodity", choices=("single", "multi")),
        START,
        THREADS,
    ),
    warm_up=_warm_up,
)
