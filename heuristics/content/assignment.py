"""Users assigned one after the other, by a rule a method: `greedy-packing`, `random-assignment`, and what all share.

A method for the content problems assigns users to brokers, and then :func:`.route` chooses the trees between these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from ...instances.content.instance import ContentInstance
from ...instances.content.problems import CONTENT_PROBLEMS, ContentOverlay
from ...instances.contract.arrays import Flags, Ids, Reals
from ...instances.contract.method import Method, Proposal
from ...instances.contract.option import Option
from ...instances.contract.result import Status
from ...instances.runtime.compiled import kernel
from .routing import route

_ORDERS: dict[str, Callable[[ContentInstance, int], Any]] = {
    "given": lambda instance, seed: np.arange(instance.num_users),
    "heaviest": lambda instance, seed: np.argsort(-instance.demands, kind="stable"),
    "random": lambda instance, seed: np.random.default_rng(seed).permutation(instance.num_users),
}


class CapacityExceeded(Exception):
    """No broker has enough residual capacity for a user; the message gives the numbers."""

    def __init__(self, instance: ContentInstance, user: int, loads: Reals) -> None:
        residual = instance.capacities - loads
        largest = int(np.argmax(residual))
        super().__init__(
            f"no broker can take user '{instance.user_label(user)}' with demand {instance.demands[user]:g}: the largest"
            f" residual capacity is {max(0.0, residual[largest]):g}, of broker '{instance.broker_label(largest)}'"
        )


class Users(NamedTuple):
    """The users as kernels take them: shapes (|U|, |B|), (|U|, |C|), (|U|, |C|), (|U|,) and (|B|,)."""

    access: Reals
    rates: Reals
    subscriptions: Flags
    demands: Reals
    load_limits: Reals


def users_of(instance: ContentInstance) -> Users:
    """The users of an instance."""
    return Users(instance.access, instance.rates, instance.subscriptions, instance.demands, instance.load_limits())


def assign_in_order(instance: ContentInstance, users: Iterable[int], choose: Callable[[int, Flags], int]) -> Ids:
    """Assign users one after the other; `choose` takes a user and the feasible brokers and returns one of them.

    Returns shape (|U|,). Raises CapacityExceeded if no broker has enough residual capacity for a user.
    """
    limits, loads = instance.load_limits(), np.zeros(instance.num_brokers)
    brokers = np.empty(instance.num_users, dtype=np.int32)
    for user in users:
        feasible: Flags = loads + instance.demands[user] <= limits
        if not feasible.any():
            raise CapacityExceeded(instance, user, loads)
        brokers[user] = choose(user, feasible)
        loads[brokers[user]] += instance.demands[user]
    return brokers


def assign_drawn(instance: ContentInstance, order: Ids, weights: Reals, draws: Reals) -> Ids:
    """Assign users in an order, each to a broker drawn from the feasible ones by its weight; without, the cheapest one.

    `weights` has shape (|U|, |B|), or (|U|, 0) for none; `draws`, shape (|U|,), has numbers from 0 to 1. Ties go to
    the lowest index. Result and errors are those of :func:`assign_in_order`. Cost O(|U| |B|).
    """
    brokers, loads = np.empty(instance.num_users, dtype=np.int32), np.zeros(instance.num_brokers)
    given = order, weights, draws, brokers, loads
    failed = _assign_drawn(instance.access, instance.demands, instance.load_limits(), *given)
    if failed != _NONE:
        raise CapacityExceeded(instance, failed, loads)
    return brokers


_NONE = -1


@kernel
def _assign_drawn(
    access: Reals, demands: Reals, limits: Reals, order: Ids, weights: Reals, draws: Reals, brokers: Ids, loads: Reals
) -> int:
    """Set the broker of each user and the loads; returns the first user that fits no broker, or none."""
    for user in order:
        cheapest, total = _NONE, 0.0
        for b in range(len(limits)):
            if loads[b] + demands[user] <= limits[b]:
                if cheapest == _NONE or access[user, b] < access[user, cheapest]:
                    cheapest = b
                if b < weights.shape[1]:
                    total += weights[user, b]
        if cheapest == _NONE:
            return int(user)
        chosen, reached, drawn = cheapest, 0.0, draws[user] * total
        if total > 0:
            for b in range(len(limits)):
                if loads[b] + demands[user] <= limits[b]:
                    reached += weights[user, b]
                    if reached > drawn:
                        chosen = b
                        break
        brokers[user] = chosen
        loads[chosen] += demands[user]
    return _NONE


def greedy_packing(instance: ContentInstance, *, order: str = "given", seed: int = 0) -> Ids:
    """Assign each user to the broker of least access price with enough residual capacity; ties go to the lowest index.

    Parameters
    ----------
    order : {"given", "heaviest", "random"}
        The order in which users are assigned.
    seed : int
        For the random order.

    Notes
    -----
    Zhao, Wu (P4), §III.A, Algorithm 1, whose first lines swap the names of users and brokers. Result and errors are
    those of :func:`assign_in_order`. Without capacity limits the access cost is optimal. Cost O(|U| |B|).

    Examples
    --------
    >>> import numpy as np
    >>> prices, distance = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 1.0]]), np.array([[0.0, 3.0], [3.0, 0.0]])
    >>> greedy_packing(ContentInstance(prices, distance, np.full(2, np.inf), np.ones((3, 1)), np.ones((3, 1)))).tolist()
    [0, 1, 0]
    """
    users = _ORDERS[order](instance, seed).astype(np.int32)
    return assign_drawn(instance, users, np.zeros((len(users), 0)), np.zeros(len(users)))


def random_assignment(instance: ContentInstance, *, seed: int = 0) -> Ids:
    """Draw a broker uniformly for each user, in the order of their indices.

    If the broker lacks the capacity for the user, another one is drawn among those that have it.

    Notes
    -----
    Zhao, Wu (P4), §VI.B. Result and errors are those of :func:`assign_in_order`. Cost O(|U| |B|).

    Examples
    --------
    >>> import numpy as np
    >>> each = np.ones((3, 1))
    >>> random_assignment(ContentInstance(each, np.zeros((1, 1)), np.full(1, np.inf), each, each)).tolist()
    [0, 0, 0]
    """
    random = np.random.default_rng(seed)
    drawn: Ids = random.integers(instance.num_brokers, size=instance.num_users, dtype=np.int32)
    if (np.bincount(drawn, instance.demands, instance.num_brokers) <= instance.load_limits()).all():
        return drawn

    def draw(user: int, feasible: Flags) -> int:
        if feasible[drawn[user]]:
            return int(drawn[user])
        possible = np.flatnonzero(feasible)
        return int(possible[random.integers(len(possible))])

    return assign_in_order(instance, range(instance.num_users), draw)


def content_heuristic(
    name: str, solver: Callable[..., Ids | Proposal[ContentOverlay]], **attributes: Any
) -> Method[ContentInstance, ContentOverlay]:
    """The method of a polynomial heuristic for all content problems.

    `solver`: from the instance and, by name, `problem`, `seed`, `time_limit` and the options to a proposal, or to
    the broker of each user. If it raises :class:`CapacityExceeded`, the method fails with that reason.
    `**attributes`: further attributes of :class:`.Method`.
    """

    def solve(instance: ContentInstance, problem: Any, **given: Any) -> Proposal[ContentOverlay]:
        if conflict := instance.capacity_conflict():
            return Proposal(status=Status.INFEASIBLE, reason=conflict)
        try:
            found = solver(instance, problem=problem, **given)
        except CapacityExceeded as reason:
            return Proposal(reason=str(reason))
        return found if isinstance(found, Proposal) else Proposal(route(instance, found, problem.routing))

    problems = tuple(problem.name for problem in CONTENT_PROBLEMS)
    return Method(name=name, problems=problems, solve=solve, compiled=True, **attributes)


GREEDY_PACKING = content_heuristic(
    "greedy-packing",
    lambda instance, *, order, seed, **_: greedy_packing(instance, order=order, seed=seed),
    summary="the cheapest broker with enough residual capacity for each user, then trees",
    source="P4 §III.A",
    guarantee="without capacity limits the access cost is the least; nothing is proven of the core cost",
    cost="time O(|U| |B|), and the trees",
    options=(
        Option(
            "order",
            "given",
            "the order of users: by index, by falling demand, or random by seed",
            choices=tuple(_ORDERS),
        ),
    ),
    pace=2,
)
RANDOM_ASSIGNMENT = content_heuristic(
    "random-assignment",
    lambda instance, *, seed, **_: random_assignment(instance, seed=seed),
    summary="a random broker within its capacity for each user, the baseline",
    source="P4 §VI.B",
    guarantee="no ratio is proven",
    cost="time O(|U| |B|), and the trees",
    pace=1,
    random=True,
)
