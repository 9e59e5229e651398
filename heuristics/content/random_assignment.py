"""Random assignment (P4 §VI.B): the baseline of cost reduction ratios."""

from __future__ import annotations

import numpy as np

from ...instances.content.instance import ContentInstance
from ...instances.contract.arrays import Ids
from .heuristic import content_heuristic, feasible_brokers, then_route


def random_assignment(instance: ContentInstance, *, seed: int = 0) -> Ids:
    """Draw a broker uniformly for each user, in the order of their indices.

    If the broker lacks the capacity for the user, another one is drawn among those that have it.

    Notes
    -----
    Result and errors are those of :func:`.greedy_packing`.

    Zhao, Wu (P4), §VI.B. Cost O(|U|), and O(|B|) for each second draw.

    Examples
    --------
    >>> import numpy as np
    >>> each = np.ones((3, 1))
    >>> random_assignment(ContentInstance(each, np.zeros((1, 1)), np.full(1, np.inf), each, each)).tolist()
    [0, 0, 0]
    """
    random = np.random.default_rng(seed)
    brokers = random.integers(instance.num_brokers, size=instance.num_users, dtype=np.int32)
    limits, loads = instance.load_limits(), np.zeros(instance.num_brokers)
    for user, demand in enumerate(instance.demands.tolist()):
        if loads[brokers[user]] + demand > limits[brokers[user]]:
            feasible = np.flatnonzero(feasible_brokers(instance, user, loads, limits))
            brokers[user] = feasible[random.integers(len(feasible))]
        loads[brokers[user]] += demand
    return brokers


RANDOM_ASSIGNMENT = content_heuristic(
    "random-assignment",
    then_route(random_assignment),
    summary="a random broker within its capacity for each user, the baseline",
    source="P4 §VI.B",
    guarantee="no ratio is proven",
    cost="time O(|U|), and the trees",
    pace=1,
    random=True,
    colour="#8C8C8C",
    marker=">",
)
