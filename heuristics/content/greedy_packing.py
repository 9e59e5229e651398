"""Two-stage greedy packing (P4 §III.A): each user on the cheapest broker with enough residual capacity."""

from __future__ import annotations

from functools import partial

import numpy as np

from ...instances.content.instance import ContentInstance
from ...instances.contract.arrays import Ids, Offsets
from ...instances.contract.errors import unknown
from ...instances.contract.option import Option
from .heuristic import assign_in_order, cheapest, content_heuristic, then_route

_ORDERS = ("given", "heaviest", "random")
ORDER = Option(
    "order", _ORDERS[0], "the order of users: by index, by falling demand, or random by seed", choices=_ORDERS
)


def greedy_packing(instance: ContentInstance, *, order: str = _ORDERS[0], seed: int = 0) -> Ids:
    """Assign each user to the broker of least access price with enough residual capacity; ties go to the lowest index.

    Parameters
    ----------
    order : {"given", "heaviest", "random"}
        The order in which users are assigned.
    seed : int
        For the random order.

    Returns
    -------
    int32 array, shape (|U|,)

    Raises
    ------
    CapacityExceeded
        If no broker has enough residual capacity for a user.
    BadInput
        If the order is unknown.

    Notes
    -----
    Zhao, Wu (P4), §III.A, Algorithm 1, whose first lines swap the names of users and brokers. The second stage is
    :func:`.route`. Without capacity limits the access cost is optimal. Cost O(|U| |B|).

    Examples
    --------
    >>> import numpy as np
    >>> prices, distance = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 1.0]]), np.array([[0.0, 3.0], [3.0, 0.0]])
    >>> greedy_packing(ContentInstance(prices, distance, np.full(2, np.inf), np.ones((3, 1)), np.ones((3, 1)))).tolist()
    [0, 1, 0]
    """
    return assign_in_order(instance, _ordered_users(instance, order, seed).tolist(), partial(cheapest, instance))


def _ordered_users(instance: ContentInstance, order: str, seed: int) -> Offsets:
    if order not in _ORDERS:
        raise unknown("value of option 'order'", order, _ORDERS)
    if order == "random":
        return np.random.default_rng(seed).permutation(instance.num_users)
    if order == "heaviest":
        return np.argsort(-instance.demands, kind="stable")
    return np.arange(instance.num_users)


GREEDY_PACKING = content_heuristic(
    "greedy-packing",
    then_route(greedy_packing),
    summary="the cheapest broker with enough residual capacity for each user, then trees",
    source="P4 §III.A",
    guarantee="without capacity limits the access cost is the least; nothing is proven of the core cost",
    cost="time O(|U| |B|), and the trees",
    options=(ORDER,),
    pace=2,
    colour="#E69F00",
    marker="<",
)
