"""How a heuristic that builds Steiner trees becomes a method."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from instances import Found, Method, Option, Overlay, Problem, Status, SteinerInstance


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
    ) -> Found[Overlay]:
        tree = build(instance, **chosen)
        if tree is None:
            return Found(status=Status.INFEASIBLE, reason="the terminals lie in different components of the graph")
        return Found(tree)

    @cache
    def warm_up() -> None:
        star = [(0, 1, 2), (0, 2, 2), (0, 3, 2), (1, 2, 3), (2, 3, 3), (3, 4, 1)]
        build(SteinerInstance.from_edges(5, star, [1, 2, 3]))

    return Method(name, ("steiner",), summary, source, False, solve, options, warm_up)
