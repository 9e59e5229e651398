"""The exact Pareto front of edges against maximum degree, by an epsilon-constraint on the degree."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from instances import Overlay
from models.deadline import Deadline, OutOfTime
from models.proof import Goal, Minimise
from models.requirements import Requirements
from models.simple_bounds import SimpleBounds


@dataclass
class ParetoFront:
    """What is known of the least number of edges E(d) of a topic-connected overlay whose degrees are at most d.

    Attributes
    ----------
    num_nodes : int
    simple : SimpleBounds
        `simple.max_degree` is raised once smaller degrees are refuted.
    proven : dict
        Lower bounds on E(d) for some caps d.
    steps : list of (edges, maximum degree)
        Of overlays with the fewest edges for their degree, by falling degree; each has more edges than the one before.
    complete : bool
        Whether nothing is left to prove.
    overlays : list of Overlay
        Found on the way, whether on the front or not.
    nodes : float
        Nodes of all search trees.
    """

    num_nodes: int
    simple: SimpleBounds
    proven: dict[int, int] = field(default_factory=dict)
    steps: list[tuple[int, int]] = field(default_factory=list)
    complete: bool = False
    overlays: list[Overlay] = field(default_factory=list)
    nodes: float = 0

    @property
    def lower_bound(self) -> int:
        """A lower bound on edges × maximum degree, whatever was proven so far.

        Proof: an overlay of maximum degree d has at least as many edges as E(c) for every cap c ≥ d, so at least the
        largest bound b(d) proven for such a cap; its value is at least d·b(d), and d is at least the least degree not
        refuted. As its degrees add up to 2|E| ≤ d|V|, no overlay has a degree d with 2b(d) > d|V|.
        """
        candidates = []
        for degree in range(self.simple.max_degree, max(self.num_nodes, 1)):
            edges = max([self.simple.edges, *(bound for cap, bound in self.proven.items() if cap >= degree)])
            if 2 * edges <= degree * self.num_nodes:
                candidates.append(degree * edges)
        return min(candidates, default=0)

    @property
    def points(self) -> list[tuple[int, int]]:
        """The (edges, maximum degree) proven to lie on the front, by rising degree.

        A step lies on it once a smaller degree is known to cost more edges, or to be impossible.
        """
        return [
            (edges, degree)
            for edges, degree in reversed(self.steps)
            if degree <= self.simple.max_degree
            or any(cap >= degree - 1 and bound > edges for cap, bound in self.proven.items())
        ]

    def __str__(self) -> str:
        return " ".join(f"{edges}x{degree}" for edges, degree in self.points)


def pareto_front(
    requirements: Requirements, simple: SimpleBounds, minimise: Minimise, starts: list[Overlay], deadline: Deadline
) -> ParetoFront:
    """Minimise edges under an ever smaller cap on the degrees, until no overlay meets it or the time is over.

    With E edges and maximum degree d found under a cap c and proven to be the fewest, E(c) = … = E(d) = E: the next
    cap is d − 1. Two overlays with equally many edges leave the one of smaller degree on the front. At most as many
    minimisations as degrees lie between the first overlay's and the least one.

    Parameters
    ----------
    requirements, simple
        Of the instance.
    minimise
        Answers the goal ``min-tco``.
    starts : list of Overlay
        Topic-connected; under each cap, the one with fewest edges of those that meet it is handed in.

    Raises
    ------
    ModelTooLarge
        If not even the first minimisation could be tried.
    """
    front = ParetoFront(requirements.num_nodes, simple)
    cap = requirements.num_nodes - 1
    fewest = simple.edges
    while cap >= front.simple.max_degree:
        meeting = [overlay for overlay in (*starts, *front.overlays) if overlay.max_degree <= cap]
        start = min(meeting, key=lambda overlay: (overlay.num_edges, overlay.max_degree), default=None)
        uncapped = cap == requirements.num_nodes - 1
        try:
            proof = minimise(
                requirements,
                Goal("min-tco", fewest, None if uncapped else cap),
                start=start,
                deadline=deadline,
            )
        except OutOfTime:
            return front
        front.nodes += float(proof.counters.get("nodes", 0))
        if proof.lower_bound == math.inf:
            front.simple = SimpleBounds(front.simple.edges, cap + 1)
            break
        found = [overlay for overlay in (proof.overlay, start) if overlay is not None]
        if proof.overlay is not None:
            front.overlays.append(proof.overlay)
        fewest = max(fewest, int(proof.rounded_bound)) if math.isfinite(proof.lower_bound) else fewest
        front.proven[cap] = fewest
        best = min(found, key=lambda overlay: (overlay.num_edges, overlay.max_degree), default=None)
        if best is None or best.num_edges > fewest:
            return front
        if front.steps and front.steps[-1][0] == best.num_edges:
            front.steps.pop()
        front.steps.append((best.num_edges, best.max_degree))
        cap = best.max_degree - 1
    front.complete = True
    return front
