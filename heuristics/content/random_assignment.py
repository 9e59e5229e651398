"""Random assignment (P4 §VI.B): the baseline that every cost is compared with."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...instances.content.instance import ContentInstance
from .heuristic import Assigned, content_heuristic, with_room
from .kernels.prices import Ids


def random_assignment(instance: ContentInstance, *, seed: int = 0) -> Ids:
    """A broker for each user, every broker alike.

    A user who draws a broker without room for him draws again among those that have it; users come in the order of
    their numbers.

    Parameters
    ----------
    instance : ContentInstance
    seed : int

    Returns
    -------
    int32 array, shape (|U|,)

    Raises
    ------
    NoRoom
        If no broker has room for a user.

    Notes
    -----
    Zhao, Wu (P4), §VI.B. Cost O(|U|), and O(|B|) for a user who draws again.

    Examples
    --------
    >>> import numpy as np
    >>> each = np.ones((3, 1))
    >>> random_assignment(ContentInstance(each, np.zeros((1, 1)), np.full(1, np.inf), each, each)).tolist()
    [0, 0, 0]
    """
    random = np.random.default_rng(seed)
    drawn = random.integers(instance.num_brokers, size=instance.num_users, dtype=np.int32)
    room, loads = instance.room(), np.zeros(instance.num_brokers)
    for user, demand in enumerate(instance.demands.tolist()):
        if loads[drawn[user]] + demand > room[drawn[user]]:
            free = np.flatnonzero(with_room(instance, user, loads, room))
            drawn[user] = free[random.integers(len(free))]
        loads[drawn[user]] += demand
    return drawn


def _assign(instance: ContentInstance, *, seed: int, **_: Any) -> Assigned:
    return Assigned(random_assignment(instance, seed=seed))


RANDOM_ASSIGNMENT = content_heuristic(
    "random-assignment",
    _assign,
    summary="any broker with room for each user, the baseline",
    source="P4 §VI.B",
    pace=1,
    random=True,
    colour="#8C8C8C",
    marker="X",
)
