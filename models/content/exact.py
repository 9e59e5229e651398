"""What the exact methods for content-based overlays share: starts, a simple bound, and infeasible capacities."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

from ...instances.content.instance import ContentInstance
from ...instances.content.problems import CONTENT_PROBLEMS, ContentOverlay, ContentProblem
from ...instances.contract.catalogue import methods_of
from ...instances.contract.method import Method, Proposal
from ...instances.contract.option import Option
from ...instances.contract.problem import Problem
from ...instances.contract.result import Status
from ...instances.contract.run import Clock, interruptible, offer
from ..engine.exact_method import SolverOutcome, solve_exactly
from ..engine.proof import ProofFile
from .moves import improve_by_moves
from .proofs import begin_case

Outcome = SolverOutcome[ContentOverlay]
_CLOSED = 1e-6
_UNIT = 1 << 20
_HEURISTICS = "overlaybench.heuristics.content"


def exact_method(
    name: str,
    minimise: Callable[..., Outcome],
    *,
    summary: str,
    options: tuple[Option, ...],
    load: Callable[[], object],
    proves: bool = False,
) -> Method[ContentInstance, ContentOverlay]:
    """The method of a model with its solver for all content problems.

    Parameters
    ----------
    minimise : callable
        From the instance, the problem, the best start (None without one), a clock and, by name, `seed` and the options
        except `start` to the outcome. Exponential in the worst case.
    load : callable
        Loads the solver and compiles its kernels.
    proves : bool
        Whether `minimise` also takes a proof file by the name `proof`.
    """

    def solve(
        instance: ContentInstance,
        problem: Problem[ContentInstance, ContentOverlay],
        *,
        seed: int,
        time_limit: float | None,
        start: str,
        proof: str | Path | None = None,
        **chosen: Any,
    ) -> Proposal[ContentOverlay]:
        assert isinstance(problem, ContentProblem)

        def minimise_in_time(best: ContentOverlay | None, clock: Clock) -> Outcome:
            clock.check()
            return minimise(instance, problem, best, clock, seed=seed, **chosen)

        with interruptible(time_limit) as clock, ProofFile(proof) as file:
            if proves:
                chosen["proof"] = file
            if file.is_written:
                file.head(problem=problem.name, instance=instance.digest, **_labels(instance))
            if conflict := instance.capacity_conflict():
                return Proposal(status=Status.INFEASIBLE, reason=conflict)
            best = best_start(instance, problem, seed=seed, clock=clock) if start == "best" else None
            proposal = solve_exactly(
                partial(problem.value, instance),
                minimise_in_time,
                clock,
                starts=() if best is None else (best,),
                lower_bound=access_bound(instance),
                infeasible=_no_assignment(instance),
            )
            if (answer := proposal.answer) is not None and file.is_written:
                if not file.cases:
                    begin_case(file, instance, _UNIT).end(math.inf)
                trees = [(tree.channel, tree.sources, tree.links) for tree in answer.trees]
                value, bound = problem.value(instance, answer), proposal.lower_bound
                is_closed = bound is not None and bound >= value * (1 - _CLOSED)
                file.claim(value, value if is_closed else None, [answer.brokers.tolist(), trees])
        return proposal

    @cache
    def warm_up() -> None:
        for heuristic in methods_of(_HEURISTICS):
            heuristic.prepare()
        load()

    return Method(
        name=name,
        problems=tuple(problem.name for problem in CONTENT_PROBLEMS),
        summary=summary,
        source="P4 §II.B, §IV.A; docs/content.md",
        guarantee="the optimum with proof; when stopped, the incumbent with a proven bound, within a relative 10⁻⁶",
        cost="exponential in the worst case",
        exact=True,
        solve=solve,
        options=options,
        inputs=("proof",) if proves else (),
        warm_up=warm_up,
    )


def _labels(instance: ContentInstance) -> dict[str, list[str]]:
    """The labels in the order of their numbers."""
    return {
        "users": [instance.user_label(u) for u in range(instance.num_users)],
        "brokers": [instance.broker_label(b) for b in range(instance.num_brokers)],
        "channels": [instance.channel_label(c) for c in range(instance.num_channels)],
    }


def best_start(instance: ContentInstance, problem: ContentProblem, *, seed: int, clock: Clock) -> ContentOverlay | None:
    """The cheapest overlay of the heuristics, improved by moves; None if they find none in time."""
    answers = []
    for method in methods_of(_HEURISTICS):
        if not clock.passed:
            options = method.complete({}, problem.name)
            answer = method.solve(instance, problem, seed=seed, time_limit=None, **options).answer
            if answer is not None and not problem.violations(instance, answer):
                answers.append(answer)
                offer(answer)
    best = min(answers, key=partial(problem.value, instance), default=None)
    return None if best is None else improve_by_moves(instance, problem, best, clock)


def access_bound(instance: ContentInstance) -> float:
    """A lower bound on every overlay: access cost with each user on its cheapest broker. O(|U| |B|)."""
    return float((instance.demands * instance.access.min(axis=1)).sum())


def _no_assignment(instance: ContentInstance) -> str:
    demands, capacities = instance.demands, instance.capacities
    return (
        f"no assignment respects the capacities: {instance.num_users} users have total demand {demands.sum():g} and "
        f"largest demand {demands.max():g}; {instance.num_brokers} brokers have total capacity {capacities.sum():g} "
        f"and largest capacity {capacities.max():g}"
    )
