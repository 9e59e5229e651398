"""From a function that assigns users to brokers to a method for the content problems."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from ...instances.content.instance import ContentInstance, Flags, Floats
from ...instances.content.problems import CONTENT_PROBLEMS, ContentOverlay
from ...instances.contract.arrays import Ids
from ...instances.contract.method import Method, Proposal
from ...instances.contract.option import Option
from ...instances.contract.problem import Problem
from ...instances.contract.result import Status
from .routing import route

ROUTINGS = {problem.name: problem.routing for problem in CONTENT_PROBLEMS}
Solver = Callable[..., Proposal[ContentOverlay]]


class CapacityExceeded(Exception):
    """No broker has enough residual capacity for a user; the message gives the numbers."""

    def __init__(self, instance: ContentInstance, user: int, loads: Floats) -> None:
        residual = instance.capacities - loads
        largest = int(np.argmax(residual))
        super().__init__(
            f"no broker can take user '{instance.user_label(user)}' with demand {instance.demands[user]:g}: the largest"
            f" residual capacity is {max(0.0, residual[largest]):g}, of broker '{instance.broker_label(largest)}'"
        )


class Users(NamedTuple):
    """The users as kernels take them: shapes (|U|, |B|), (|U|, |C|), (|U|, |C|), (|U|,) and (|B|,)."""

    access: Floats
    rates: Floats
    subscriptions: Flags
    demands: Floats
    load_limits: Floats


def users_of(instance: ContentInstance) -> Users:
    """The users of an instance."""
    return Users(instance.access, instance.rates, instance.subscriptions, instance.demands, instance.load_limits())


def feasible_brokers(instance: ContentInstance, user: int, loads: Floats, limits: Floats) -> Flags:
    """The brokers whose load stays within its limit with one more user. Cost O(|B|).

    Raises
    ------
    CapacityExceeded
        If there is none.
    """
    feasible: Flags = loads + instance.demands[user] <= limits
    if not feasible.any():
        raise CapacityExceeded(instance, user, loads)
    return feasible


def assign_in_order(instance: ContentInstance, users: Iterable[int], choose: Callable[[int, Flags], int]) -> Ids:
    """Assign users one after the other; `choose` takes a user and the feasible brokers and returns one of them.

    Raises
    ------
    CapacityExceeded
        If no broker is feasible for a user.
    """
    limits, loads = instance.load_limits(), np.zeros(instance.num_brokers)
    brokers = np.empty(instance.num_users, dtype=np.int32)
    for user in users:
        brokers[user] = choose(user, feasible_brokers(instance, user, loads, limits))
        loads[brokers[user]] += instance.demands[user]
    return brokers


def cheapest(instance: ContentInstance, user: int, feasible: Flags) -> int:
    """The feasible broker of least access price; ties go to the lowest index."""
    return int(np.argmin(np.where(feasible, instance.access[user], np.inf)))


def then_route(assign: Callable[..., Ids]) -> Solver:
    """A solver for :func:`content_heuristic` that assigns users by `assign` and chooses trees by :func:`.route`.

    `assign` takes the instance and, by name, `seed` and the options.
    """

    def solve(
        instance: ContentInstance, routing: str, *, time_limit: float | None, **given: Any
    ) -> Proposal[ContentOverlay]:
        return Proposal(route(instance, assign(instance, **given), routing))

    return solve


def content_heuristic(
    name: str,
    solver: Solver,
    *,
    options: tuple[Option, ...] = (),
    **attributes: Any,
) -> Method[ContentInstance, ContentOverlay]:
    """The method of a polynomial heuristic for all content problems.

    Parameters
    ----------
    solver : callable
        From the instance, the routing and, by name, `seed`, `time_limit` and the options to a proposal. If it raises
        :class:`CapacityExceeded`, the method fails with that reason.
    **attributes
        Further attributes of :class:`.Method`.
    """

    def solve(
        instance: ContentInstance, problem: Problem[ContentInstance, ContentOverlay], **given: Any
    ) -> Proposal[ContentOverlay]:
        if conflict := instance.capacity_conflict():
            return Proposal(status=Status.INFEASIBLE, reason=conflict)
        try:
            return solver(instance, ROUTINGS[problem.name], **given)
        except CapacityExceeded as reason:
            return Proposal(reason=str(reason))

    problems = tuple(ROUTINGS)
    return Method(
        name=name, problems=problems, solve=solve, options=options, compiled=True, starts=problems, **attributes
    )
