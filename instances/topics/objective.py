"""What methods and studies need to know of a problem on topic instances: what is lowered, and what is valid."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .instance import TopicInstance
from .link_costs import LinkCosts

WEAKER = {
    "connected": (),
    "two-connected": ("connected",),
    "diameter-2": ("connected",),
    "star": ("diameter-2", "connected"),
}
"""What an overlay may have to make of each topic, with what it then also is. ``two-connected``: connected after any one
subscriber has left; ``star``: one subscriber is adjacent to all others."""
_RANKS: dict[str, Callable[[int, int], tuple[int, int]]] = {
    "edges": lambda edges, degree: (edges, degree),
    "cost": lambda cost, degree: (cost, degree),
    "degree": lambda edges, degree: (degree, edges),
    "product": lambda edges, degree: (edges * degree, edges),
}
FIRST = tuple(_RANKS)


def rank(first: str, edges: int, degree: int) -> tuple[int, int]:
    """By what local search compares overlays of so many edges (or of that cost) and that maximum degree."""
    return _RANKS[first](edges, degree)


class EdgeRow(NamedTuple):
    """An inequality Σ coefficient·x(uv) ≥ `least` over pairs u < v of nodes with a topic in common, x(uv) 0 or 1.

    Examples
    --------
    Two of the three links of a triangle:

    >>> import overlaybench as ob
    >>> ob.EdgeRow({(0, 1): 1, (0, 2): 1, (1, 2): 1}, 2).least
    2
    """

    coefficients: Mapping[tuple[int, int], int]
    least: int


Weights = npt.NDArray[np.float64]
SeparateRows = Callable[[TopicInstance, npt.NDArray[np.int64], Weights], Iterable[EdgeRow]]
"""From an instance, pairs u < v of nodes, shape (m, 2), and the weight of each, 0 to 1, to violated rows."""


@dataclass(frozen=True, kw_only=True)
class Objective:
    """What is lowered, over which overlays. Exact methods, bounds, local search and studies read it; no judge does.

    Costs, a cap and rows of its own are for problems of others. Their proofs state costs and cap; rows of its own the
    proof checker judges by a class of theirs, in `checked_by`.

    Attributes
    ----------
    first : str
        What is lowered, of `FIRST`: the edges, their cost, the maximum degree, or edges × maximum degree, which has a
        Pareto front.
    rule : str
        What an overlay makes of each topic, of `WEAKER`.
    costs : callable, optional
        From an instance to the costs of its edges, where `first` is ``cost``; by default the instance's own.
    cap : int, optional
        The largest degree that a node may have; where `first` is ``edges`` or ``cost``.
    separator : callable, optional
        Rows beside those of the rule, which must be ``connected``: see `SeparateRows`. All valid overlays satisfy each
        row; with weights 0 and 1 some row is violated unless the overlay is valid. Where `first` is ``edges`` or
        ``cost``. The instance's pairs with a common topic are listed then.
    checked_by : path, optional
        The file of Python with the class by which the proof checker judges rows of its own and answers, see
        docs/proof_format.md.
    starts : tuple of str
        The problems whose heuristics may give valid answers, by default its own; answers that are not valid are left.
    heuristics : tuple of str
        The heuristics for this problem whose answers are first incumbents of exact methods.
    promising : tuple of str
        Those that ``best`` runs before faster ones: their overlays were the best where all were measured.

    Examples
    --------
    The fewest links in which every topic is connected and no node has more than three:

    >>> import overlaybench as ob
    >>> ob.Objective(first="edges", cap=3, starts=("minmax-tco",)).free
    False
    """

    first: str = "edges"
    rule: str = "connected"
    costs: Callable[[TopicInstance], LinkCosts] | None = None
    cap: int | None = None
    separator: SeparateRows | None = None
    checked_by: Path | None = None
    starts: tuple[str, ...] = ()
    heuristics: tuple[str, ...] = field(default=(), compare=False)
    promising: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        """Raise ValueError for what no method can do."""
        if self.first not in FIRST or self.rule not in WEAKER:
            raise ValueError(f"first is one of {', '.join(FIRST)}, and rule one of {', '.join(WEAKER)}")
        own = self.cap is not None or self.separator is not None
        if own and (self.rule != "connected" or self.first not in ("edges", "cost")):
            raise ValueError("a cap, or rows of its own, are for connected topics, and edges or costs")
        if self.costs is not None and self.first != "cost":
            raise ValueError("costs are for first='cost'")

    @property
    def weighted(self) -> bool:
        """Whether edges have costs."""
        return self.first == "cost"

    @property
    def of_degree(self) -> bool:
        """Whether the maximum degree alone is lowered."""
        return self.first == "degree"

    @property
    def free(self) -> bool:
        """Whether every topic-connected overlay is valid."""
        return self.rule == "connected" and self.cap is None and self.separator is None

    @property
    def own(self) -> bool:
        """Whether it is none of the project's: it has costs, a cap or rows of its own."""
        return not (self.costs is None and self.cap is None and self.separator is None)

    @property
    def implies(self) -> bool:
        """Whether topics that others imply may be left out."""
        return self.rule == "connected" and self.separator is None

    def value(self, edges: int, degree: int) -> int:
        """The value of an overlay of so many edges (or of that cost) and that maximum degree; rises with both."""
        return rank(self.first, edges, degree)[0]

    @property
    def stated(self) -> dict[str, str | int]:
        """What a proof's first line states of a problem of others: whose optima are no larger, and the cap."""
        if not self.own:
            return {}
        cap = {} if self.cap is None else {"cap": self.cap}
        return {"base": "weighted-tco" if self.weighted else "min-tco"} | cap

    def priced(self, instance: TopicInstance) -> TopicInstance:
        """The instance with the costs that this objective gives its edges."""
        return instance if self.costs is None else instance.with_costs(self.costs(instance))

    def answers(self, other: Objective) -> bool:
        """Whether each overlay that is valid for this objective is valid for the other one, whose value is known."""
        rules = self.rule, *WEAKER[self.rule]
        return not other.own and other.rule in rules and not (other.weighted and self.first != "cost")


CONNECTED = Objective()
"""The fewest edges that connect every topic."""
