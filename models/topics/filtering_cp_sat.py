"""Method `filtering-cp-sat`: the model of :mod:`.filtering_model` on the filtering problems of P1 §9."""

from __future__ import annotations

from functools import partial

from ...heuristics.topics.limits import limits_of
from ...instances.contract.method import Method, Proposal
from ...instances.contract.overlay import Overlay
from ...instances.contract.problem import Problem
from ...instances.contract.run import Clock
from ...instances.topics.instance import TopicInstance
from ...instances.topics.soc import as_soc
from ..engine.exact_method import START
from ..engine.ilp_solvers import THREADS


def solve_filtering(
    instance: TopicInstance,
    problem: Problem[TopicInstance, Overlay],
    *,
    seed: int,
    time_limit: float | None,
    start: str,
    threads: int,
) -> Proposal[Overlay]:
    """The least filtering cost under a limit on the degree, the least degree under a limit on it, or the Pareto front.

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
        With the incumbent and a proven bound, also if stopped, and the front as a counter (see :func:`.solve_soc`).

    Notes
    -----
    Chockler, Melamed, Tock and Vitenberg 2007 (P1), §9, state the decision problem and that it is NP-hard; the model
    was designed here. O(|T||V|²) variables; solving is exponential in the worst case.
    """
    from .compact.filtering_model import build_filtering
    from .compact.overlay_variables import OverlayVariables
    from .objectives.soc_search import SocBounds, solve_soc

    limits = limits_of(as_soc(problem), instance)

    def build(_most_cost: int | None, clock: Clock) -> OverlayVariables:
        return build_filtering(instance, clock)

    known = SocBounds(limits.least_degree, 0, sweep_cost=False)
    run = partial(solve_soc, instance, as_soc(problem), build, known)
    return run(start=start, seed=seed, time_limit=time_limit, threads=threads)


def _warm_up() -> None:
    from .objectives.soc_search import prepare_heuristics

    prepare_heuristics("filtering")


FILTERING_CP_SAT = Method(
    name="filtering-cp-sat",
    colour="#6B5B00",
    marker="h",
    problems=("filtering",),
    summary="CP-SAT: an overlay on all pairs of nodes with an arborescence and relays for each topic",
    source="P1 §9; models/topics/compact/filtering_model.py",
    guarantee="the optimum or the Pareto front with proof; when stopped, the incumbent with a proven bound",
    cost="exponential in the worst case; O(|T||V|²) variables",
    exact=True,
    solve=solve_filtering,
    options=(START, THREADS),
    warm_up=_warm_up,
)
