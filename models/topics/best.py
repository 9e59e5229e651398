"""Method `best`: the best overlay that a time limit allows, whatever algorithm it comes from."""

from __future__ import annotations

from functools import cache

import numpy as np

from ...heuristics.topics.fault_tolerant_polish import fault_tolerant_polish
from ...heuristics.topics.heuristic import DIAMETER_TWO
from ...heuristics.topics.polish import AIMS, THREADS, polish
from ...instances.contract.catalogue import methods_of
from ...instances.contract.method import Method, Proposal
from ...instances.contract.option import Option
from ...instances.contract.overlay import Overlay
from ...instances.contract.problem import Problem
from ...instances.contract.run import Clock, interruptible, offer
from ...instances.topics.instance import TopicInstance
from .incumbents.guided_candidates import guided_candidates
from .incumbents.guided_candidates import warm_up as warm_up_candidates
from .incumbents.star_centres import annealed_stars
from .incumbents.star_centres import warm_up as warm_up_stars

STEPS = Option("steps", 200_000, "steps of local search, if there is no time limit", least=0, most=10**12)
_SUBSCRIPTION_PACE = 5_000  # nanoseconds a subscription, beside the method's own pace
_PATIENCE = 600.0  # expected seconds up to which a heuristic runs without a limit


def best(
    instance: TopicInstance,
    problem: Problem[TopicInstance, Overlay],
    *,
    seed: int,
    time_limit: float | None,
    steps: int,
    threads: int = 1,
) -> Proposal[Overlay]:
    """The best overlay of all heuristics, of a greedy along an approximate LP solution, and of local search.

    First the heuristics for the problem run with their default options: the fastest, then those that are promising for
    the problem if they are expected to end in the time left, then the others if in half of it (without a limit: in ten
    minutes). For min-tco, low-tco and weighted-tco a fifth of the time then goes into cost splitting, whose averaged
    trees approximate a solution of the linear relaxation. An overlay is built along it. The better one of this and the
    heuristics' is improved by row weighting for min-tco, and polished with the edges that the solution uses; in parts
    and without row weighting, if it is large enough. For minmax-tco and k-tco the heuristics' best is polished; for
    diameter 2 it is the answer, unless stars whose centres move by simulated annealing have fewer edges.

    Parameters
    ----------
    seed : int
        Without a time limit, one seed gives one answer.
    time_limit : float, optional
        Seconds, all of which are used except for diameter 2.
    steps : int
        Of local search, if there is no time limit.
    threads : int
        That search parts of large overlays; see :func:`.polish`.

    Returns
    -------
    Proposal
        Never worse than any heuristic that ran: counter ``heuristics`` lists these with their values. Counter
        ``built`` is the number of edges of the overlay built along the LP solution, for weighted-tco their cost.

    Notes
    -----
    From no paper. Ctrl-C ends it as the time limit does. Where there is no time or memory to split costs
    (:func:`.is_affordable`), the heuristics' best is polished.
    """
    with interruptible(time_limit) as clock:
        values = {}
        chosen: Overlay | None = None
        for method in _in_order(problem):
            if chosen is not None and not _fits(method, instance, problem, clock):
                continue
            options = method.complete({}, problem.name)
            overlay = method.solve(instance, problem, seed=seed, time_limit=None, **options).answer
            assert overlay is not None
            values[method.name] = problem.value(instance, overlay)
            if chosen is None or values[method.name] < problem.value(instance, chosen):
                chosen = overlay
                offer(chosen)
        assert chosen is not None
        counters: dict[str, float | str] = {"heuristics": _listed(values)}
        if clock.passed or not chosen.num_edges:
            return Proposal(chosen, counters=counters, reason=clock.stopped_by)
        if problem.name == "k-tco":
            most = steps if time_limit is None else None
            chosen = fault_tolerant_polish(instance, chosen, seed=seed, steps=most, clock=clock)
            offer(chosen)
        if problem.name in ("2d-star", "2d-true"):
            stars = annealed_stars(instance, steps, clock, seed)
            if stars is not None and problem.value(instance, stars) < problem.value(instance, chosen):
                chosen = stars
                offer(chosen)
        if problem.name not in AIMS:
            return Proposal(chosen, counters=counters, reason=clock.stopped_by)
        overlays, near, aim = [chosen], None, AIMS[problem.name]
        if problem.name != "minmax-tco":
            weighted = problem.name == "weighted-tco"
            exchanged = steps if problem.name == "min-tco" else None
            near, built = guided_candidates(instance, chosen, clock, weighted=weighted, steps=exchanged, seed=seed)
            overlays += built
            if built:
                counters["built"] = instance.total_cost(built[0].edges) if weighted else built[0].num_edges
                offer(built[0])
        overlays.sort(key=lambda overlay: problem.value(instance, overlay))
        if not clock.passed:
            start = overlays[0]
            overlays.append(
                polish(
                    instance,
                    start,
                    first=aim,
                    seed=seed,
                    steps=steps,
                    candidates=near,
                    clock=clock,
                    threads=threads,
                )
            )
        chosen = min(overlays, key=lambda overlay: problem.value(instance, overlay))
        return Proposal(chosen, counters=counters, reason=clock.stopped_by)


def _in_order(problem: Problem[TopicInstance, Overlay]) -> list[Method[TopicInstance, Overlay]]:
    """The heuristics for a problem: the fastest, then the promising ones, then the others from fast to slow."""
    fastest, *others = [method for method in _heuristics() if problem.name in method.problems]
    return [fastest, *sorted(others, key=lambda method: problem.name not in method.promising)]


def _heuristics() -> list[Method[TopicInstance, Overlay]]:
    return [method for method in methods_of("overlaybench.heuristics.topics") if not method.anytime]


def _fits(
    method: Method[TopicInstance, Overlay],
    instance: TopicInstance,
    problem: Problem[TopicInstance, Overlay],
    clock: Clock,
) -> bool:
    """Whether a heuristic is expected to end in the time left, or in half of it unless it is promising."""
    pairs = float((np.diff(instance.topic_offsets).astype(np.float64) ** 2).sum() / 2)
    expected = 1e-9 * (method.pace * pairs + _SUBSCRIPTION_PACE * instance.num_subscriptions)
    share = 1.0 if problem.name in method.promising else 0.5
    return expected < min(_PATIENCE, share * clock.left)


def _listed(values: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in sorted(values.items(), key=lambda item: (item[1], item[0])))


@cache
def _warm_up() -> None:
    for method in methods_of("overlaybench.heuristics.topics"):
        method.prepare()
    warm_up_candidates()
    warm_up_stars()


BEST: Method[TopicInstance, Overlay] = Method(
    name="best",
    problems=(*DIAMETER_TWO, "weighted-tco", "k-tco"),
    summary="the best of all heuristics, of a greedy along an LP solution, and of local search from there",
    source="none; docs/topics.md",
    guarantee="never worse than any of the heuristics that ran",
    cost="all of the time limit; without one, the heuristics' time and `steps` of local search",
    random=True,
    solve=best,
    options=(STEPS, THREADS),
    warm_up=_warm_up,
    colour="#44AA99",
    marker="*",
)
