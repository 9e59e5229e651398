"""Branch-and-cut: proven optima by partition inequalities, local search along LP values, and certified pruning."""

from __future__ import annotations

from functools import cache
from typing import Any

from heuristics.compiled import say_if_compiling
from heuristics.greedy_merge import greedy_merge
from instances import TOPIC_PROBLEMS, Found, Method, Option, Overlay, Problem, Status, TopicInstance
from models import topic_presolve
from models.cutting_planes import Goal
from models.edge_minimisation import Outcome, Settings, minimise_edges
from models.time_budget import TimeBudget

OPTIONS = (
    Option("sparse", True, "start the LP with few edges and price the others in"),
    Option("presolve", True, "drop topics that others imply"),
    Option("steps", 5_000, "steps of local search at the root, in a row", least=0, most=10**9),
    Option("threads", 1, "threads of the LP solver", least=1, most=1024),
    Option("progress", "auto", "lines on stderr: if it is a terminal, always, or never", choices=("auto", "on", "off")),
)


def branch_and_cut(
    instance: TopicInstance,
    problem: Problem[TopicInstance, Overlay],
    *,
    seed: int = 0,
    time_limit: float | None = None,
    sparse: bool = True,
    presolve: bool = True,
    steps: int = 5_000,
    threads: int = 1,
    progress: str = "auto",
) -> Found[Overlay]:
    """An optimal overlay with proof, or the best one found with a proven bound.

    Parameters
    ----------
    instance : TopicInstance
    problem : Problem
        ``min-tco``, ``minmax-tco``, ``low-tco`` or ``2d-true``.
    seed : int
        Of the local search. Without a time limit that is hit, one seed gives one answer.
    time_limit : float, optional
        Seconds.
    sparse, presolve, steps, threads, progress
        See `OPTIONS`.

    Returns
    -------
    Found
        Its bound is proven in integers (:mod:`models.certificate`), at every node of the tree.

    Notes
    -----
    Exponential in the worst case; docs/exact.md has the formulation, proofs and measurements. Min-TCO is P1 §4.
    """
    budget = TimeBudget(time_limit)
    settings = Settings(seed, sparse, threads, steps, progress)
    reduced, counters = _presolved(instance) if presolve else (instance, {})
    return _min_tco(reduced, budget, settings, counters)


def _presolved(instance: TopicInstance) -> tuple[TopicInstance, dict[str, float | str]]:
    presolved = topic_presolve.presolve(instance)
    reduced = topic_presolve.without_implied(instance, presolved)
    return reduced, {
        "topics_implied": instance.num_topics - len(presolved.kept),
        "edges_forced": len(presolved.forced),
    }


def _min_tco(
    instance: TopicInstance, budget: TimeBudget, settings: Settings, counters: dict[str, float | str]
) -> Found[Overlay]:
    outcome = minimise_edges(instance, Goal(), greedy_merge(instance), budget, settings)
    return found(outcome, counters)


def found(outcome: Outcome, counters: dict[str, float | str]) -> Found[Overlay]:
    """What the engine came to, as a method returns it."""
    status = None if outcome.complete else Status.TIME_LIMIT
    reason = "interrupted" if outcome.interrupted else ""
    return Found(outcome.overlay, outcome.lower_bound, status, {**outcome.counters, **counters}, reason)


def _solve(
    instance: TopicInstance,
    problem: Problem[TopicInstance, Overlay],
    *,
    seed: int,
    time_limit: float | None,
    **options: Any,
) -> Found[Overlay]:
    return branch_and_cut(instance, problem, seed=seed, time_limit=time_limit, **options)


@cache
def warm_up() -> None:
    """Compile the kernels, and load the LP solver."""
    say_if_compiling()
    small = TopicInstance.from_subscriptions({f"n{v}": [f"t{(v * k) % 7}" for k in range(1, 4)] for v in range(1, 14)})
    for problem in TOPIC_PROBLEMS:
        if problem.name in PROBLEMS_ANSWERED:
            branch_and_cut(small, problem, progress="off", steps=50)


PROBLEMS_ANSWERED = ("min-tco",)
BRANCH_AND_CUT: Method[TopicInstance, Overlay] = Method(
    "branch-and-cut",
    PROBLEMS_ANSWERED,
    "branch-and-cut on partition inequalities, with bounds proven in integers",
    "P1 §4, P2 §2; docs/exact.md",
    True,
    _solve,
    OPTIONS,
    warm_up,
)
