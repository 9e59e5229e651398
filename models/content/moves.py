"""Local search on content overlays: moves of single users and swaps of two."""

from __future__ import annotations

import numpy as np

from ...heuristics.content.routing import route
from ...instances.content.instance import ContentInstance
from ...instances.content.problems import ContentOverlay, ContentProblem
from ...instances.contract.run import Clock

_MOST_MOVES = 2_000
_RELATIVE_GAIN = 1e-12


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
