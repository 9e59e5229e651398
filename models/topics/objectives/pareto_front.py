"""The exact Pareto front of edges against maximum degree, by an epsilon-constraint on the degree."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from ....instances.contract.overlay import Overlay
from ....instances.contract.run import Clock, OutOfTime
from ..compact.requirements import Requirements
from ..compact.simple_bounds import SimpleBounds
from ..compact.subproblem import Minimise, Subproblem


@dataclass
class ParetoFront:
    """Bounds on and overlays for E(d), the least number of edges of a topic-connected overlay with no degree above d.

    Attributes
    ----------
    num_nodes : int
    simple : SimpleBounds
    overlays : list of Overlay
        Topic-connected, not necessarily on the front.
    proven : dict
        Lower bounds on E(d) for some d; infinite where no overlay has maximum degree d or less.
    nodes : float
        Of all search trees.
    """

    num_nodes: int
    simple: SimpleBounds
    overlays: list[Overlay]
    proven: dict[int, float] = field(default_factory=dict)
    nodes: float = 0

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
            if degree == self.simple.max_degree or self.bound(degree - 1) > best.num_edges
        ]

    @property
    def complete(self) -> bool:
        """Whether the points are the entire front: E(d) is known for every d up to one where the cap costs no edge."""
        for degree in self._degrees:
            best = self.best(degree)
            if self.bound(degree) < (math.inf if best is None else best.num_edges):
                return False
            if best is not None and best.num_edges <= self.bound(self.num_nodes - 1):
                break
        return True

    def bound(self, degree: int) -> float:
        """A lower bound on E(degree). E does not increase in d, so a bound for a larger d is valid too."""
        return max([self.simple.edges, *(bound for cap, bound in self.proven.items() if cap >= degree)])

    def can_carry(self, degree: int) -> bool:
        """Whether bound(degree) edges can have no degree above this one: the degrees add up to twice the edges."""
        return 2 * self.bound(degree) <= degree * self.num_nodes

    def best(self, degree: int) -> Overlay | None:
        """The overlay with fewest edges among those with no degree above this one."""
        meeting = [overlay for overlay in self.overlays if overlay.max_degree <= degree]
        return min(meeting, key=lambda overlay: overlay.num_edges, default=None)

    @property
    def counters(self) -> dict[str, float | str]:
        """As reported with a result."""
        return {"nodes": self.nodes, "front": str(self), "front_complete": "yes" if self.complete else "no"}

    @property
    def _degrees(self) -> range:
        return range(self.simple.max_degree, self.num_nodes)

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
            subproblem = Subproblem("min-tco", int(fewest), None if cap == most else cap)
            try:
                outcome = minimise(requirements, subproblem, start=best, clock=clock.share(0.5))
            except OutOfTime:
                break
            front.nodes += float(outcome.counters.get("nodes", 0))
            front.proven[cap] = max(fewest, _rounded_up(outcome.lower_bound))
            if outcome.answer is not None:
                front.overlays.append(outcome.answer)
            if outcome.stopped and (math.isinf(clock.left) or clock.interrupted):
                break
        best = front.best(cap)
        if cap < most and best is not None and best.num_edges <= front.bound(most):
            break
    return front


def _rounded_up(bound: float) -> float:
    """A bound on integers rounded up; a millionth above an integer counts as the solver's tolerance."""
    return math.ceil(bound - 1e-6) if math.isfinite(bound) else bound
