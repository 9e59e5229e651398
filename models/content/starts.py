"""Good content overlays to start from: the heuristics', improved by moving single users."""

from __future__ import annotations

from functools import cache

import numpy as np

from ...heuristics.content.kernels.routing import routed
from ...instances.catalogue import methods_of
from ...instances.clock import Clock
from ...instances.content.instance import ContentInstance
from ...instances.content.overlay import ContentOverlay
from ...instances.content.problems import ContentProblem

_MOST_MOVES = 2_000


def best_start(instance: ContentInstance, problem: ContentProblem, *, seed: int, clock: Clock) -> ContentOverlay | None:
    """The cheapest overlay of the heuristics, improved; None if they find none. Nothing is begun without time left."""
    found = []
    for method in methods_of("overlaybench.heuristics.content"):
        if not clock.passed:
            options = method.complete({}, problem.name)
            answer = method.solve(instance, problem, seed=seed, time_limit=None, **options).answer
            if answer is not None and not problem.violations(instance, answer):
                found.append(answer)
    if not found:
        return None
    return improved(instance, problem, min(found, key=lambda answer: problem.value(instance, answer)), clock)


@cache
def warm_up_heuristics() -> None:
    """Compile what :func:`best_start` runs."""
    for method in methods_of("overlaybench.heuristics.content"):
        method.prepare()


def improved(
    instance: ContentInstance, problem: ContentProblem, answer: ContentOverlay, clock: Clock
) -> ContentOverlay:
    """Move a user, or swap two, while that makes the overlay cheaper: O(|U|² + |U||B|) evaluations a round."""
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
        if np.array_equal(brokers, best.brokers) or (loads > instance.room()).any():
            continue
        trial = routed(instance, brokers, problem.routing)
        cost = problem.value(instance, trial)
        if cost < value * (1 - 1e-12):
            best, value, since = trial, cost, 0
    return best
