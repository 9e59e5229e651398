"""From a solver of content models to a method: capacity, starts, limits and what is said of the outcome."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from ...instances.clock import Clock, OutOfTime, interruptible
from ...instances.content.instance import ContentInstance
from ...instances.content.overlay import ContentOverlay
from ...instances.content.problems import ContentProblem
from ...instances.method import Proposal
from ...instances.option import Option
from ...instances.result import Status
from .model import ModelTooLarge
from .starts import best_start

START = Option("start", "best", "the heuristic answer handed in: the best one, or none", choices=("best", "none"))


@dataclass
class Proof:
    """What came of a solver: −inf and inf as lower bound mean that nothing, and that infeasibility, is proven."""

    answer: ContentOverlay | None = None
    lower_bound: float = -math.inf
    complete: bool = False
    counters: dict[str, float | str] = field(default_factory=dict)


def solve_content(
    instance: ContentInstance,
    problem: ContentProblem,
    minimise: Callable[[ContentOverlay | None, Clock], Proof],
    *,
    start: str,
    seed: int,
    time_limit: float | None,
) -> Proposal[ContentOverlay]:
    """Minimise from the best start, and return the incumbent and a valid bound also when stopped.

    Parameters
    ----------
    minimise : callable
        From a start, if there is one, and a clock to what a solver proved.
    start : {"best", "none"}
        Whether heuristics run first. Their best overlay is handed to the solver, and is the incumbent from then on.

    Returns
    -------
    Proposal
        Infeasible with the numbers, where capacities plainly allow no assignment or the solver proves that none does.
    """
    with interruptible(time_limit) as clock:
        if conflict := instance.capacity_conflict():
            return Proposal(status=Status.INFEASIBLE, reason=conflict)
        first = best_start(instance, problem, seed=seed, clock=clock) if start == "best" else None
        proof, stopped_by = Proof(), ""
        try:
            proof = minimise(first, clock) if not clock.passed else proof
        except OutOfTime:
            pass
        except ModelTooLarge as reason:
            stopped_by = str(reason)
        if proof.lower_bound == math.inf and first is None:
            return Proposal(status=Status.INFEASIBLE, counters=proof.counters, reason=_no_packing(instance))
        answers = [answer for answer in (first, proof.answer) if answer is not None]
        best = min(answers, key=lambda answer: problem.value(instance, answer), default=None)
        counters = proof.counters | ({"start": problem.value(instance, first)} if first is not None else {})
        bound = max(proof.lower_bound, access_bound(instance))
        status = None if proof.complete or stopped_by else Status.TIME_LIMIT
        return Proposal(best, bound, status, counters, clock.stopped_by or stopped_by)


def access_bound(instance: ContentInstance) -> float:
    """What every overlay costs at least: access with each user on its cheapest broker, the core free. O(|U| |B|)."""
    return float((instance.demands * instance.access.min(axis=1)).sum())


def _no_packing(instance: ContentInstance) -> str:
    largest, demands = instance.capacities.max(), instance.demands
    return (
        f"no assignment fits: {instance.num_users} users need {demands.sum():g} together and up to {demands.max():g} "
        f"each; {instance.num_brokers} brokers take {instance.capacities.sum():g} together and up to {largest:g} each"
    )
