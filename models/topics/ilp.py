"""Method `ilp`: the compact integer programs of :mod:`.overlay_ilp`, solved by HiGHS or CBC.

The defaults are measured (``python -m benchmarks.models``; uniform and Zipf 0.5 workloads of 30 and 40 nodes and topics
with 6 subscriptions each, two seeds, one thread of a busy machine). One flow a topic gives an LP bound 0.8 to 1.4 below
that of a flow a block for optima of 59 to 97 edges, which the solvers' cuts make good, and its LP is 7 to 24 times as
fast. HiGHS proves:

===========  ==================  ==================
problem      one flow a topic    a flow a block
===========  ==================  ==================
min-tco      8 of 8, mean 2.5 s  8 of 8, mean 5.7 s
minmax-tco   8 of 8, mean 2.9 s  7 of 8, mean 6.2 s
===========  ==================  ==================

in 20 s. CBC on one flow proves min-tco as fast (mean 2.9 s) but only 6 of 8 for minmax-tco, and does not keep its limit
in the root LP. On larger instances, or if only the bound counts, "multi" is the better choice.
"""

from __future__ import annotations

from functools import cache, partial

from ...instances.clock import Clock
from ...instances.method import Method, Proposal
from ...instances.option import Option
from ...instances.overlay import Overlay
from ...instances.problem import Problem
from ...instances.topics.instance import TopicInstance
from .compact.proof import Goal, Proof
from .compact.requirements import Requirements, requirements_of
from .exact_method import EXACTLY_ANSWERED, solve_exactly
from .incumbents.starts import START, warm_up_heuristics

SOLVER = Option("solver", "highs", "the solver behind PuLP", choices=("highs", "cbc"))
THREADS = Option("threads", 1, "threads of the solver; with more than one, runs may differ", least=1, most=1024)


def solve_ilp(
    instance: TopicInstance,
    problem: Problem[TopicInstance, Overlay],
    *,
    seed: int = 0,
    time_limit: float | None = None,
    solver: str = "highs",
    formulation: str = "single",
    start: str = "best",
    threads: int = 1,
) -> Proposal[Overlay]:
    """Solve any of the five topic problems by integer programming.

    Parameters
    ----------
    seed : int
        Of the heuristics' and the solver's random choices. One seed gives one answer with one thread and no limit; a
        limit cuts the search where the machine happens to be.
    time_limit : float or None
        Seconds of wall-clock time, building the model included.
    solver : {"highs", "cbc"}
    formulation : {"single", "multi"}
        How topics are connected; it makes no difference to the diameter-2 problems.
    start : {"best", "none"}
    threads : int

    Returns
    -------
    Proposal
        With the incumbent and a proven bound, also when stopped. Counters: nodes, variables, constraints, and for
        ``low-tco`` the Pareto front.

    Notes
    -----
    The size of the model is that of :func:`.build_ilp`; solving it is exponential in the worst case.
    The LP arithmetic is floating point: "optimal" trusts the solver within its tolerance of a millionth.
    """
    minimise = partial(_minimise, solver=solver, formulation=formulation, threads=threads, seed=seed)
    return solve_exactly(instance, problem, minimise, start=start, seed=seed, time_limit=time_limit)


def relaxation_bound(instance: TopicInstance, problem: str, *, formulation: str = "multi") -> float:
    """The value of the LP relaxation, not rounded; for ``low-tco`` there is none."""
    from ..engine.ilp_solvers import solve_with_highs
    from .compact.overlay_ilp import build_ilp

    clock = Clock(None)
    ilp = build_ilp(requirements_of(instance, clock), Goal(problem), formulation, clock)
    return solve_with_highs(ilp.program, None, clock, threads=1, seed=0, relaxed=True).lower_bound


def _minimise(
    requirements: Requirements,
    goal: Goal,
    *,
    start: Overlay | None,
    clock: Clock,
    solver: str,
    formulation: str,
    threads: int,
    seed: int,
) -> Proof:
    # The solvers' libraries take a third of a second to load, which only those who solve should pay.
    from ..engine.ilp_solvers import SOLVERS
    from .compact.overlay_ilp import build_ilp

    if not requirements.edges:
        return Proof(Overlay.from_edges(requirements.num_nodes, []), 0)
    ilp = build_ilp(requirements, goal, formulation, clock)
    values = None if start is None else ilp.integers_of(start)
    report = SOLVERS[solver](ilp.program, values, clock, threads=threads, seed=seed)
    counters = {
        "nodes": report.nodes,
        "variables": ilp.program.numVariables(),
        "constraints": ilp.program.numConstraints(),
    }
    return Proof(ilp.overlay() if report.found else None, report.lower_bound, report.stopped, counters)


@cache
def _warm_up() -> None:
    from ..engine import ilp_solvers  # noqa: F401
    from .compact import overlay_ilp  # noqa: F401

    warm_up_heuristics()


ILP = Method(
    name="ilp",
    colour="#000000",
    marker="P",
    problems=EXACTLY_ANSWERED,
    summary="compact integer programs in PuLP: flows for connectivity, centres and common neighbours for diameter 2",
    source="models/topics/compact/overlay_ilp.py",
    exact=True,
    solve=solve_ilp,
    options=(
        SOLVER,
        Option("formulation", "single", "a topic's flows: one, or one for each block", choices=("single", "multi")),
        START,
        THREADS,
    ),
    warm_up=_warm_up,
)
