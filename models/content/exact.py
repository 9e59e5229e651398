"""The exact methods for content-based overlays: their common start, bounds and proofs; methods `ilp` and `cp-sat`."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ...heuristics.content.routing import route
from ...instances.content.instance import ContentInstance
from ...instances.content.problems import CONTENT_PROBLEMS, ContentOverlay, ContentProblem
from ...instances.contract.catalogue import methods_of
from ...instances.contract.method import Method, Proposal
from ...instances.contract.problem import Problem
from ...instances.contract.result import Status
from ...instances.runtime.run import Clock, interruptible, offer_value
from ..engine.exact_method import START, SolverOutcome, proving_method, solve_exactly
from ..engine.integer_model import SOLVER, THREADS, minimise_with_cp_sat, minimise_with_ilp
from ..engine.proof import Multipliers, ProofFile, ProofTree
from .model import FORMULATION, ContentModel, compact_model

Outcome = SolverOutcome[ContentOverlay]
_MOST_MOVES, _RELATIVE_GAIN = 2_000, 1e-12
CLOSED = 1e-6  # the relative tolerance within which a bound counts as the value
TOLERANCE = CLOSED / 2
_UNIT = 1 << 20
_HEURISTICS = "overlaybench.heuristics.content"
# The ILP solvers stop at an absolute gap of just below 1: with this scale that is half of the judge's tolerance.
_SCALED_VALUE = 2e6


def improve_by_moves(
    instance: ContentInstance, problem: ContentProblem, answer: ContentOverlay, clock: Clock
) -> ContentOverlay:
    """Move a user or swap two while that lowers the cost: O(|U|² + |U||B|) evaluations in each round."""
    best, value = answer, problem.value(instance, answer)
    users = instance.num_users
    since = tried = 0
    moves = [(u, b, -1) for u in range(users) for b in range(instance.num_brokers)]
    moves += [(u, -1, v) for u in range(users) for v in range(u)]
    while since < len(moves) and tried < _MOST_MOVES and not clock.passed:
        u, b, v = moves[tried % len(moves)]
        since, tried = since + 1, tried + 1
        brokers = best.brokers.copy()
        if b >= 0:
            brokers[u] = b
        else:
            brokers[u], brokers[v] = brokers[v], brokers[u]
        loads = np.bincount(brokers, weights=instance.demands, minlength=instance.num_brokers)
        if np.array_equal(brokers, best.brokers) or (loads > instance.load_limits()).any():
            continue
        trial = route(instance, brokers, problem.routing)
        cost = problem.value(instance, trial)
        if cost < value * (1 - _RELATIVE_GAIN):
            best, value, since = trial, cost, 0
    return best


def begin_case(file: ProofFile, instance: ContentInstance, unit: int, model: ContentModel | None = None) -> ProofTree:
    """Begin the proof, of columns for users only without a model, with the least access cost as its first bound."""
    audiences, commodities = ([], []) if model is None else (model.audiences, model.commodities)
    case = file.case(
        unit=unit,
        audiences=[audience.channels.tolist() for audience in audiences],
        commodities=[(commodity.publisher, commodity.audience) for commodity in commodities],
    )
    case.bound(0, partial(_access_multipliers, instance, unit))
    return case


def _access_multipliers(instance: ContentInstance, unit: int) -> Multipliers:
    """Each user on its cheapest broker."""
    units = np.floor(instance.demands * instance.access.min(axis=1) * unit).tolist()
    return Multipliers([(("on", u, 1), int(cost)) for u, cost in enumerate(units) if cost])


def exact_method(
    name: str, minimise: Callable[..., Outcome], inputs: tuple[str, ...] = (), **fields: Any
) -> Method[ContentInstance, ContentOverlay]:
    """The method of a model with its solver for all content problems.

    `minimise` goes from the instance, the problem, the best start (None without one), a clock and, by name, `seed` and
    the options except `start` to the outcome; with the input `proof`, it takes a proof file by this name.
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
        with interruptible(time_limit) as clock, ProofFile(proof) as file:
            if "proof" in inputs:
                chosen["proof"] = file
            if file.is_written:
                file.head(
                    problem=problem.name,
                    instance=instance.digest,
                    users=[*map(instance.user_label, range(instance.num_users))],
                    brokers=[*map(instance.broker_label, range(instance.num_brokers))],
                    channels=[*map(instance.channel_label, range(instance.num_channels))],
                )
            if conflict := instance.capacity_conflict():
                return Proposal(status=Status.INFEASIBLE, reason=conflict)
            best = best_start(instance, problem, seed=seed, clock=clock) if start == "best" else None
            proposal = solve_exactly(
                partial(problem.value, instance),
                partial(minimise, instance, problem, seed=seed, **chosen),
                clock,
                starts=() if best is None else (best,),
                lower_bound=access_bound(instance),
                infeasible="no assignment of the users respects the capacities",
            )
            if (answer := proposal.answer) is not None and file.is_written:
                if not file.cases:
                    begin_case(file, instance, _UNIT).end(math.inf)
                trees = [(tree.channel, tree.sources, tree.links) for tree in answer.trees]
                value, bound = problem.value(instance, answer), proposal.lower_bound
                is_closed = bound is not None and bound >= value * (1 - CLOSED)
                file.claim(value, value if is_closed else None, [answer.brokers.tolist(), trees])
        return proposal

    return proving_method(
        name=name,
        problems=tuple(problem.name for problem in CONTENT_PROBLEMS),
        source="P4 §II.B, §IV.A; docs/content.md",
        guarantee="the optimum with proof; when stopped, the incumbent with a proven bound, within a relative 10⁻⁶",
        solve=solve,
        inputs=inputs,
        **fields,
    )


def best_start(instance: ContentInstance, problem: ContentProblem, *, seed: int, clock: Clock) -> ContentOverlay | None:
    """The cheapest overlay of the heuristics, improved by moves; None if they find none in time."""
    methods = (each for each in methods_of(_HEURISTICS) if each.answers(problem.name) and not clock.passed)
    answers = [answer for each in methods if (answer := each.valid_answer(instance, problem, seed=seed)) is not None]
    best = min(answers, key=partial(problem.value, instance), default=None)
    return None if best is None else improve_by_moves(instance, problem, best, clock)


def access_bound(instance: ContentInstance) -> float:
    """A lower bound on every overlay: access cost with each user on its cheapest broker. O(|U| |B|)."""
    return float((instance.demands * instance.access.min(axis=1)).sum())


def _minimise_compact(
    instance: ContentInstance,
    problem: ContentProblem,
    start: ContentOverlay | None,
    clock: Clock,
    *,
    formulation: str,
    solver: str = "",
    **settings: Any,
) -> Outcome:
    """Minimise a :func:`.compact_model` (P4 §II.B, §IV.A) by an ILP solver or, if none is named, by CP-SAT.

    The optimality of an ILP solver relies on its floating-point arithmetic within a relative 10⁻⁶.
    """
    model = compact_model(instance, problem.routing, formulation, clock)
    values = None
    if start is not None:
        chosen = model.values(start).tolist()
        values = {k: chosen[k] for k, integral in enumerate(model.integral) if integral and model.upper[k] == 1}
    settings |= {"answer": model.answer, "start": values, "report": offer_value}
    if not solver:
        return minimise_with_cp_sat(model, clock, **settings)
    size = problem.value(instance, start) if start is not None else float(np.sum(model.costs))
    scale = _SCALED_VALUE / size if size > 0 else 1.0
    return minimise_with_ilp(model, clock, solver=solver, scale=scale, **settings)


CONTENT_CP_SAT = exact_method(
    "cp-sat",
    _minimise_compact,
    summary="content: the compact models in integers, by CP-SAT",
    options=(FORMULATION, START, THREADS),
)

CONTENT_ILP = exact_method(
    "ilp",
    _minimise_compact,
    summary="content: integer programs, by arborescences of publishers or brokers, or flows",
    options=(SOLVER, FORMULATION, START, THREADS),
    inputs=("model_file",),
)
