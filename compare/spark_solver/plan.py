"""The levels of an instance: which nodes are conquered together, and which earlier nodes they see."""

from __future__ import annotations

from dataclasses import dataclass

X_BITS = 62
X_END = 1 << X_BITS
_GROWTH = 2


@dataclass(frozen=True)
class Level:
    """The nodes with ``first`` ≤ x < ``last``, in ``parts`` parts; the core are the nodes with x < ``core``."""

    first: int
    last: int
    core: int
    parts: int


def levels(nodes: int, rows: int, part_rows: int, core_rows: int) -> list[Level]:
    """The levels of `nodes` nodes with `rows` subscriptions; x is uniform on 0 … 2^62 − 1.

    Parts have about `part_rows` subscriptions, the core at most about `core_rows`. Up to the size of the core, a level
    doubles the connected nodes; the last level has all others.

    Examples
    --------
    >>> [(level.parts, level.core > 0) for level in levels(1000, 10_000, 500, 2000)]
    [(1, False), (1, True), (2, True), (16, True)]
    """
    part, core = max(1, part_rows * nodes // rows), max(1, core_rows * nodes // rows)
    found: list[Level] = []
    reached = 0
    while reached < nodes:
        if not reached:
            end = part
        elif reached >= core:
            end = nodes
        else:
            end = min(reached * _GROWTH, max(core, reached + part))
        end = min(end, nodes)
        last = X_END if end == nodes else _x_at(end, nodes)
        found.append(Level(_x_at(reached, nodes), last, _x_at(min(reached, core), nodes), -(-(end - reached) // part)))
        reached = end
    return found


def _x_at(nodes: int, of: int) -> int:
    return X_END * nodes // of
