"""The exact Pareto front of edges against maximum degree, by an epsilon-constraint on the degree."""

from __future__ import annotations

import math
from collections.abc import Callable

from ....instances.contract.overlay import Overlay
from ....instances.contract.run import Clock, OutOfTime
from .overlay_model import FORMULATED, Minimise, Requirements, SimpleBounds, Subproblem


class Front:
    """f(ℓ), the least of one function of overlays where the other one is at most ℓ: bounds and overlays.

    Parameters
    ----------
    first, least : int
        The least ℓ that any overlay has, and a lower bound on f.
    size : callable
        ℓ and f of an overlay.
    starts : list of Overlay
        Valid, not necessarily on the front.

    Attributes
    ----------
    overlays : list of Overlay
    proven : dict
        Lower bounds on some f(ℓ); infinite where no overlay is within the limit.
    nodes : float
        Of all search trees.
    """

    def __init__(
        self, first: int, least: int, size: Callable[[Overlay], tuple[int, int]], starts: list[Overlay]
    ) -> None:
        self.first, self.least, self._size = first, least, size
        self.overlays: list[Overlay] = []
        self._sizes: list[tuple[int, int]] = []
        self.proven: dict[int, float] = {}
        self.nodes = 0.0
        for overlay in starts:
            self.add(overlay)

    def add(self, overlay: Overlay) -> None:
        """Take in a valid overlay."""
        self.overlays.append(overlay)
        self._sizes.append(self._size(overlay))

    def bound(self, limit: int) -> float:
        """A lower bound on f(limit). f does not increase, so one for a larger limit is valid too."""
        return max([self.least, *(bound for other, bound in self.proven.items() if other >= limit)])

    def best(self, limit: int) -> Overlay | None:
        """The overlay of least f within the limit."""
        meeting = [index for index, (size, _) in enumerate(self._sizes) if size <= limit]
        chosen = min(meeting, key=lambda index: self._sizes[index][1], default=None)
        return None if chosen is None else self.overlays[chosen]

    def least_known(self, limit: int) -> float:
        """The least f of an overlay within the limit; infinite without one."""
        return min((f for size, f in self._sizes if size <= limit), default=math.inf)


class ParetoFront(Front):
    """E(d), the least number of edges of a topic-connected overlay with no degree above d."""

    def __init__(self, num_nodes: int, simple: SimpleBounds, starts: list[Overlay]) -> None:
        super().__init__(simple.max_degree, simple.edges, lambda each: (each.max_degree, each.num_edges), starts)
        self.num_nodes = num_nodes

    @property
    def lower_bound(self) -> float:
        """A lower bound on edges × maximum degree.

        Proof: an overlay of maximum degree d has at least E(d) edges, so its value is at least d·bound(d); and d is at
        least the simple bound. As its degrees add up to 2|E| ≤ d|V|, no overlay has a maximum degree d with
        2·bound(d) > d|V|.
        """
        candidates = [degree * self.bound(degree) for degree in self._degrees if self.can_carry(degree)]
        return min(candidates, default=0)

    @property
    def points(self) -> list[tuple[int, int]]:
        """The pairs (E(d), d) proven to be on the front, by rising d: E(d) is known, and E(d − 1) proven larger."""
        return [
            (best.num_edges, degree)
            for degree in self._degrees
            if (best := self.best(degree)) is not None and self.bound(degree) >= best.num_edges
            if degree == self.first or self.bound(degree - 1) > best.num_edges
        ]

    @property
    def complete(self) -> bool:
        """Whether the points are the entire front: E(d) is known for every d up to one where the cap costs no edge."""
        for degree in self._degrees:
            if self.bound(degree) < self.least_known(degree):
                return False
            if self.least_known(degree) <= self.bound(self.num_nodes - 1):
                break
        return True

    def can_carry(self, degree: int) -> bool:
        """Whether bound(degree) edges can have no degree above this one: the degrees add up to twice the edges."""
        return 2 * self.bound(degree) <= degree * self.num_nodes

    @property
    def counters(self) -> dict[str, float | str]:
        """As reported with a result."""
        return {"nodes": self.nodes, "front": str(self), "front_complete": "yes" if self.complete else "no"}

    @property
    def _degrees(self) -> range:
        return range(self.first, self.num_nodes)

    def __str__(self) -> str:
        return " ".join(f"{edges}x{degree}" for edges, degree in self.points)


def pareto_front(
    requirements: Requirements, simple: SimpleBounds, minimise: Minimise, starts: list[Overlay], clock: Clock
) -> ParetoFront:
    """Minimise edges without a cap on the degrees, then under rising caps until a cap no longer costs edges.

    A minimisation gets half of the time left, which reserves time for the later caps. Without a time limit, the first
    minimisation that is stopped ends the search.

    Parameters
    ----------
    requirements, simple
        Of the instance.
    minimise
        Solves subproblems ``min-tco``; its start is the best known overlay under the cap.
    starts : list of Overlay
        Topic-connected.

    Raises
    ------
    ModelTooLarge
        If the model of a subproblem is too large.
    """
    front = ParetoFront(requirements.num_nodes, simple, list(starts))
    most = requirements.num_nodes - 1
    for cap in (most, *range(simple.max_degree, most)):
        if not front.can_carry(cap):
            front.proven[cap] = math.inf
            continue
        best, fewest = front.best(cap), front.bound(cap)
        if best is None or best.num_edges > fewest:
            subproblem = Subproblem(FORMULATED["min-tco"], int(fewest), None if cap == most else cap)
            try:
                outcome = minimise(requirements, subproblem, start=best, clock=clock.share(0.5))
            except OutOfTime:
                break
            front.nodes += float(outcome.counters.get("nodes", 0))
            front.proven[cap] = max(fewest, _rounded_up(outcome.lower_bound))
            if outcome.answer is not None:
                front.add(outcome.answer)
            if outcome.stopped and (math.isinf(clock.left) or clock.interrupted):
                break
        best = front.best(cap)
        if cap < most and best is not None and best.num_edges <= front.bound(most):
            break
    return front


def _rounded_up(bound: float) -> float:
    """A bound on integers rounded up; a millionth above an integer counts as the solver's tolerance."""
    return math.ceil(bound - 1e-6) if math.isfinite(bound) else bound
