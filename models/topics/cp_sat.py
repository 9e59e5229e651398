"""Method `cp-sat`: the compact models of :mod:`.cp_sat_model`, solved by CP-SAT of OR-Tools."""

from __future__ import annotations

from functools import cache, partial

from ...heuristics.topics.heuristic import DIAMETER_TWO
from ...instances.contract.method import Method, Proposal
from ...instances.contract.overlay import Overlay
from ...instances.contract.problem import Problem
from ...instances.contract.run import Clock
from ...instances.topics.instance import TopicInstance
from ..engine.cp_sat_solver import solve_with_cp_sat
from ..engine.exact_method import START, SolverOutcome
from ..engine.ilp_solvers import THREADS
from .compact.requirements import Requirements
from .compact.subproblem import Subproblem
from .incumbents.starts import warm_up_heuristics
from .objectives.compact_search import solve_by_model


def solve_cp_sat(
    instance: TopicInstance,
    problem: Problem[TopicInstance, Overlay],
    *,
    seed: int,
    time_limit: float | None,
    start: str,
    threads: int,
) -> Proposal[Overlay]:
    """Solve any topic problem by constraint programming.

    Parameters
    ----------
    seed : int
        Of the heuristics' and the solver's random choices. One seed gives one answer with one thread and no limit.
    time_limit : float or None
        Seconds of wall-clock time, building the model included.
    start : {"best", "none"}
        The best heuristic overlay is a hint.
    threads : int
        CP-SAT's workers. With several, which also search differently, the answer may differ from run to run.

    Returns
    -------
    Proposal
        With the incumbent and a proven bound, also if stopped. Counters: nodes (conflicts), variables, constraints,
        and for ``low-tco`` the Pareto front.

    Notes
    -----
    The size of the model is that of :func:`.build_cp`; solving it is exponential in the worst case.
    CP-SAT's proofs are in integers: its LP only proposes, its clauses and cuts are derived exactly.
    """
    minimise = partial(_minimise, threads=threads, seed=seed)
    return solve_by_model(instance, problem, minimise, start=start, seed=seed, time_limit=time_limit)


def _minimise(
    requirements: Requirements,
    subproblem: Subproblem,
    *,
    start: Overlay | None,
    clock: Clock,
    threads: int,
    seed: int,
) -> SolverOutcome[Overlay]:
    from .compact.cp_sat_model import build_cp

    if not requirements.edges:
        return SolverOutcome(Overlay.from_edges(requirements.num_nodes, []), 0)
    cp = build_cp(requirements, subproblem, clock)
    if start is not None:
        cp.hint(start)
    report, solver = solve_with_cp_sat(
        cp.model, clock, threads=threads, seed=seed, lazy=False, report=subproblem.report, answer=cp.overlay
    )
    counters = {
        "nodes": report.nodes,
        "variables": float(len(cp.model.proto.variables)),
        "constraints": float(len(cp.model.proto.constraints)),
    }
    return SolverOutcome(cp.overlay(solver) if report.found else None, report.lower_bound, report.stopped, counters)


@cache
def _warm_up() -> None:
    from .compact import cp_sat_model  # noqa: F401

    warm_up_heuristics()


CP_SAT = Method(
    name="cp-sat",
    colour="#6B5B00",
    marker="*",
    problems=(*DIAMETER_TWO, "weighted-tco", "k-tco"),
    summary="compact CP-SAT models: an arborescence with levels in each topic, centres for diameter 2",
    source="models/topics/compact/cp_sat_model.py",
    guarantee="the optimum with proof; when stopped, the incumbent with a proven bound",
    cost="exponential in the worst case",
    exact=True,
    solve=solve_cp_sat,
    options=(START, THREADS),
    warm_up=_warm_up,
)
