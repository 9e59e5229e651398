"""From a function that builds a Steiner tree to a method."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from ...instances.contract.method import Method, Proposal
from ...instances.contract.option import Option, complete
from ...instances.contract.overlay import Overlay
from ...instances.contract.problem import Problem
from ...instances.contract.result import Status
from ...instances.contract.run import Clock, interruptible
from ...instances.steiner.instance import SteinerInstance


def steiner_heuristic(
    name: str, build: Callable[..., Overlay | None], *, options: tuple[Option, ...] = (), **attributes: Any
) -> Method[SteinerInstance, Overlay]:
    """The method of a polynomial heuristic.

    Parameters
    ----------
    build : callable
        From the instance and, by name, the options and a `clock` to a tree; None if the terminals are not connected.
    **attributes
        Further attributes of :class:`.Method`.
    """

    def solve(
        instance: SteinerInstance,
        problem: Problem[SteinerInstance, Overlay],
        *,
        seed: int,
        time_limit: float | None,
        **chosen: Any,
    ) -> Proposal[Overlay]:
        with interruptible(time_limit) as clock:
            tree = build(instance, clock=clock, **chosen)
        if tree is None:
            return Proposal(status=Status.INFEASIBLE, reason="the terminals lie in different components of the graph")
        return Proposal(tree, status=Status.TIME_LIMIT if clock.passed else None, reason=clock.stopped_by)

    @cache
    def warm_up() -> None:
        edges = [(0, 1, 2), (0, 2, 2), (0, 3, 2), (1, 2, 3), (2, 3, 3), (3, 4, 1)]
        build(SteinerInstance.from_edges(5, edges, [1, 2, 3]), clock=Clock(None), **complete(options, {}, name))

    return Method(name=name, problems=("steiner",), solve=solve, options=options, warm_up=warm_up, **attributes)
