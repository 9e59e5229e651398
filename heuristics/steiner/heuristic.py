"""How a heuristic that builds Steiner trees becomes a method."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from ...instances.method import Method, Proposal
from ...instances.option import Option
from ...instances.overlay import Overlay
from ...instances.problem import Problem
from ...instances.result import Status
from ...instances.steiner.instance import SteinerInstance


def steiner_heuristic(
    name: str,
    build: Callable[..., Overlay | None],
    *,
    summary: str,
    source: str,
    options: tuple[Option, ...] = (),
) -> Method[SteinerInstance, Overlay]:
    """The method that builds a tree in polynomial time and proves nothing but that the terminals cannot be joined.

    `build` takes the instance and, by name, the options; None means that no tree joins the terminals.
    """

    def solve(
        instance: SteinerInstance,
        problem: Problem[SteinerInstance, Overlay],
        *,
        seed: int,
        time_limit: float | None,
        **chosen: Any,
    ) -> Proposal[Overlay]:
        tree = build(instance, **chosen)
        if tree is None:
            return Proposal(status=Status.INFEASIBLE, reason="the terminals lie in different components of the graph")
        return Proposal(tree)

    @cache
    def warm_up() -> None:
        star = [(0, 1, 2), (0, 2, 2), (0, 3, 2), (1, 2, 3), (2, 3, 3), (3, 4, 1)]
        build(SteinerInstance.from_edges(5, star, [1, 2, 3]))

    return Method(
        name=name,
        problems=("steiner",),
        summary=summary,
        source=source,
        exact=False,
        solve=solve,
        options=options,
        warm_up=warm_up,
    )
