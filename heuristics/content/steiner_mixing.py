"""Steiner-tree mixing (P4 §IV.B): brokers drawn by the traffic of a tree for each publisher and channel."""

from __future__ import annotations

import numpy as np

from ...instances.content.instance import ContentInstance, Flags
from ...instances.contract.arrays import Ids
from ...instances.contract.errors import unknown
from ...instances.contract.option import Option
from .heuristic import assign_in_order, cheapest, content_heuristic, then_route
from .kernels.closure_trees import traffic_on_closure_trees
from .kernels.grown_trees import traffic_on_grown_trees

_TREES = {"closure": traffic_on_closure_trees, "grown": traffic_on_grown_trees}
TREES = Option(
    "trees",
    "closure",
    "message trees: minimum spanning trees of the metric closure, or grown from the publisher (Algorithm 3)",
    choices=tuple(_TREES),
)


def steiner_mixing(instance: ContentInstance, *, trees: str = str(TREES.default), seed: int = 0) -> Ids:
    """Draw a broker for each user in proportion to the traffic of message trees on the link between the two.

    Phase 1 builds a tree for each publisher and channel. Phase 2 assigns the users in the order of their indices: of
    the brokers with enough residual capacity it draws one, weighted by the traffic on its link to the user. If there
    is no such traffic, it takes the cheapest of them. Phase 3, the trees between brokers, is :func:`.route`.

    Parameters
    ----------
    trees : {"closure", "grown"}
        Phase 1 by :func:`.traffic_on_closure_trees` or :func:`.traffic_on_grown_trees`.
    seed : int
        For the draw.

    Returns
    -------
    int32 array, shape (|U|,)

    Raises
    ------
    CapacityExceeded
        If no broker has enough residual capacity for a user.
    BadInput
        If the kind of trees is unknown.

    Notes
    -----
    Zhao, Wu (P4), §IV.B. The draw costs O(|U| |B|); phase 1 dominates.

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
    draws = np.random.default_rng(seed).random(instance.num_users)

    def draw(user: int, feasible: Flags) -> int:
        sums = np.cumsum(np.where(feasible, traffic[user], 0.0))
        if sums[-1] > 0:
            return int(np.searchsorted(sums, draws[user] * sums[-1], side="right"))
        return cheapest(instance, user, feasible)

    return assign_in_order(instance, range(instance.num_users), draw)


STEINER_MIXING = content_heuristic(
    "steiner-mixing",
    then_route(steiner_mixing),
    summary="a broker drawn by the traffic of Steiner trees for each publisher and channel, then trees",
    source="P4 §IV.B",
    guarantee="no ratio is proven",
    cost="time O(|U| |B|), and the trees of each publisher and channel, which dominate",
    options=(TREES,),
    warm_up_with=tuple({"trees": trees} for trees in _TREES),
    pace=4,
    random=True,
    colour="#0072B2",
    marker="8",
)
