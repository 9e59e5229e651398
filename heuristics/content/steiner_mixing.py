"""Steiner-tree mixing (P4 §IV.B): a tree a publisher and channel, then a broker for each user drawn from them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...instances.content.instance import ContentInstance
from ...instances.errors import unknown
from ...instances.option import Option
from .heuristic import Assigned, content_heuristic, with_room
from .kernels.closure_trees import traffic_on_closure_trees
from .kernels.grown_trees import traffic_on_grown_trees
from .kernels.prices import Ids

_TREES = {"closure": traffic_on_closure_trees, "grown": traffic_on_grown_trees}
TREES = Option(
    "trees",
    "closure",
    "trees of single messages: minimum spanning trees of the metric closure, or grown from the publisher (Algorithm 3)",
    choices=tuple(_TREES),
)


def steiner_mixing(instance: ContentInstance, *, trees: str = "closure", seed: int = 0) -> Ids:
    """A broker for each user, drawn in proportion to the traffic that trees of single messages put on its links.

    Phase 1 builds a tree for each publisher and channel. Phase 2 draws for each user, in the order of their numbers,
    one of the brokers that have room, with the traffic on its link to the user as the weight; where none of these
    carries any, the user goes to the cheapest with room. Phase 3, the trees between brokers, is
    :func:`.routed`.

    Parameters
    ----------
    instance : ContentInstance
    trees : {"closure", "grown"}
        How phase 1 builds them: :func:`.traffic_on_closure_trees` or
        :func:`.traffic_on_grown_trees`.
    seed : int
        For the draw.

    Returns
    -------
    int32 array, shape (|U|,)

    Raises
    ------
    NoRoom
        If no broker has room for a user.
    BadInput
        If there is no such kind of trees.

    Notes
    -----
    Zhao, Wu (P4), §IV.B. Cost of the draw O(|U| |B|); phase 1 has by far the most to do.

    Examples
    --------
    >>> import numpy as np
    >>> rates, wanted = np.array([[3.0], [0.0], [0.0]]), np.array([[False], [True], [True]])
    >>> prices, distance = np.array([[1.0, 9.0], [9.0, 1.0], [2.0, 9.0]]), np.array([[0.0, 9.0], [9.0, 0.0]])
    >>> steiner_mixing(ContentInstance(prices, distance, np.full(2, np.inf), rates, wanted)).tolist()
    [1, 1, 1]
    """
    if trees not in _TREES:
        raise unknown("value of option 'trees'", trees, _TREES)
    traffic = _TREES[trees](instance)
    marks = np.random.default_rng(seed).random(instance.num_users)
    room, loads = instance.room(), np.zeros(instance.num_brokers)
    brokers = np.empty(instance.num_users, dtype=np.int32)
    for user, demand in enumerate(instance.demands.tolist()):
        free = with_room(instance, user, loads, room)
        sums = np.cumsum(np.where(free, traffic[user], 0.0))
        if sums[-1] > 0:
            brokers[user] = np.searchsorted(sums, marks[user] * sums[-1], side="right")
        else:
            brokers[user] = np.argmin(np.where(free, instance.access[user], np.inf))
        loads[brokers[user]] += demand
    return brokers


def _assign(instance: ContentInstance, *, seed: int, trees: str = "closure", **_: Any) -> Assigned:
    return Assigned(steiner_mixing(instance, trees=trees, seed=seed))


STEINER_MIXING = content_heuristic(
    "steiner-mixing",
    _assign,
    summary="a broker drawn by the traffic of Steiner trees a publisher and channel, then trees",
    source="P4 §IV.B",
    options=(TREES,),
    warm_up_with=({"trees": "closure"}, {"trees": "grown"}),
    pace=4,
    random=True,
    colour="#0072B2",
    marker="o",
)
