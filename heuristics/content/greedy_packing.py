"""Two-stage greedy packing (P4 §III.A): every user to the cheapest broker that has room."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...instances.content.instance import ContentInstance
from ...instances.errors import unknown
from ...instances.option import Option
from .heuristic import Assigned, content_heuristic, with_room
from .kernels.prices import Ids

_ORDERS = ("given", "heaviest", "random")
ORDER = Option("order", "given", "which users choose first: as numbered, the heaviest, or by seed", choices=_ORDERS)


def greedy_packing(instance: ContentInstance, *, order: str = "given", seed: int = 0) -> Ids:
    """A broker for each user: of those with room the one with the lowest price to him, the lowest of equals.

    Parameters
    ----------
    instance : ContentInstance
    order : {"given", "heaviest", "random"}
        Which users choose first.
    seed : int
        For the random order.

    Returns
    -------
    int32 array, shape (|U|,)

    Raises
    ------
    NoRoom
        If no broker has room for a user.
    BadInput
        If there is no such order.

    Notes
    -----
    Zhao, Wu (P4), §III.A, Algorithm 1, whose first lines swap the names of users and brokers. The second stage is
    :func:`.routed`. Without limits of capacity no assignment has a lower access cost.
    Cost O(|U| |B|).

    Examples
    --------
    >>> import numpy as np
    >>> prices, distance = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 1.0]]), np.array([[0.0, 3.0], [3.0, 0.0]])
    >>> greedy_packing(ContentInstance(prices, distance, np.full(2, np.inf), np.ones((3, 1)), np.ones((3, 1)))).tolist()
    [0, 1, 0]
    """
    room, loads = instance.room(), np.zeros(instance.num_brokers)
    brokers = np.empty(instance.num_users, dtype=np.int32)
    for user in _ordered(instance, order, seed).tolist():
        free = with_room(instance, user, loads, room)
        brokers[user] = np.argmin(np.where(free, instance.access[user], np.inf))
        loads[brokers[user]] += instance.demands[user]
    return brokers


def _ordered(instance: ContentInstance, order: str, seed: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    if order not in _ORDERS:
        raise unknown("value of option 'order'", order, _ORDERS)
    if order == "random":
        return np.random.default_rng(seed).permutation(instance.num_users)
    if order == "heaviest":
        return np.argsort(-instance.demands, kind="stable")
    return np.arange(instance.num_users)


def _assign(instance: ContentInstance, *, seed: int, order: str = "given", **_: Any) -> Assigned:
    return Assigned(greedy_packing(instance, order=order, seed=seed))


GREEDY_PACKING = content_heuristic(
    "greedy-packing",
    _assign,
    summary="the cheapest broker with room for each user, then trees",
    source="P4 §III.A",
    options=(ORDER,),
    pace=2,
    colour="#E69F00",
    marker="s",
)
