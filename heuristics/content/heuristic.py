"""How a heuristic that assigns users to brokers becomes a method for the content problems."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from ...instances.content.instance import ContentInstance, Flags, Floats
from ...instances.content.overlay import ContentOverlay
from ...instances.content.problems import CONTENT_PROBLEMS
from ...instances.method import Method, Proposal
from ...instances.option import Option
from ...instances.problem import Problem
from ...instances.result import Status
from .kernels.prices import Ids
from .kernels.routing import routed

ROUTINGS = {problem.name: problem.routing for problem in CONTENT_PROBLEMS}


class NoRoom(Exception):
    """An assignment that the capacities stop; the message gives the numbers."""

    def __init__(self, instance: ContentInstance, user: int, loads: Any) -> None:
        free = instance.capacities - loads
        widest = int(np.argmax(free))
        super().__init__(
            f"no broker has room for user '{instance.user_label(user)}', who needs {instance.demands[user]:g}: "
            f"the most left is {max(0.0, free[widest]):g}, on broker '{instance.broker_label(widest)}'"
        )


def with_room(instance: ContentInstance, user: int, loads: Floats, room: Floats) -> Flags:
    """Which brokers have room for a user beside their loads; :class:`NoRoom` if none has. Cost O(|B|)."""
    free: Flags = loads + instance.demands[user] <= room
    if not free.any():
        raise NoRoom(instance, user, loads)
    return free


@dataclass(frozen=True)
class Assigned:
    """The broker of each user (int32 array, shape (|U|,)), and what assigning took."""

    brokers: Ids
    counters: Mapping[str, float | str] = field(default_factory=dict)
    overlay: ContentOverlay | None = None


def content_heuristic(
    name: str,
    assign: Callable[..., Assigned],
    *,
    summary: str,
    source: str,
    options: tuple[Option, ...] = (),
    warm_up_with: tuple[Mapping[str, object], ...] = ({},),
    **more: Any,
) -> Method[ContentInstance, ContentOverlay]:
    """The method that assigns users to brokers in polynomial time and proves nothing but that nothing fits.

    `assign` takes the instance and, by name, `routing`, `seed`, `time_limit` and the options. Where its answer has no
    overlay with trees, :func:`.routed` chooses them. It raises NoRoom where it finds no
    assignment within the capacities; then the method fails with the reason. Where the capacities plainly allow no
    assignment at all, the method says infeasible. `warm_up_with` are options under which, together, it calls all its
    kernels; `more` are further attributes of :class:`.Method`.
    """

    def solve(
        instance: ContentInstance,
        problem: Problem[ContentInstance, ContentOverlay],
        *,
        seed: int,
        time_limit: float | None,
        **options: Any,
    ) -> Proposal[ContentOverlay]:
        if conflict := instance.capacity_conflict():
            return Proposal(status=Status.INFEASIBLE, reason=conflict)
        routing = ROUTINGS[problem.name]
        try:
            assigned = assign(instance, routing=routing, seed=seed, time_limit=time_limit, **options)
        except NoRoom as reason:
            return Proposal(reason=str(reason))
        overlay = assigned.overlay or routed(instance, assigned.brokers, routing)
        return Proposal(overlay, counters=assigned.counters)

    @cache
    def warm_up() -> None:
        for routing in ROUTINGS.values():
            for options in warm_up_with:
                assigned = assign(_square(), routing=routing, seed=0, time_limit=None, **options)
            routed(_square(), assigned.brokers, routing)

    return Method(
        name=name,
        problems=tuple(ROUTINGS),
        summary=summary,
        source=source,
        solve=solve,
        options=options,
        warm_up=warm_up,
        starts=tuple(ROUTINGS),
        **more,
    )


def _square() -> ContentInstance:
    """An instance on which every kernel of every content heuristic is called."""
    places = np.array([[0, 0], [0, 2], [2, 0], [2, 2], [1, 1]])
    steps = np.abs(places[:, None] - places).sum(axis=2).astype(np.float64)
    users, channels = np.arange(10), np.arange(3)
    rates = ((users[:, None] + channels) % 4).astype(np.float64)
    wanted = (users[:, None] + 2 * channels) % 3 == 0
    free = ContentInstance(1 + steps[users % 5], steps, np.full(5, np.inf), rates, wanted)
    return ContentInstance(free.access, steps, np.full(5, free.demands.sum() / 2), rates, wanted)
