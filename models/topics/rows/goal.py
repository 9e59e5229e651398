"""The objective of a relaxation over overlays, and its limits."""

from __future__ import annotations

from dataclasses import dataclass

from ....heuristics.topics.kernels.interest import EdgeCosts, unit_costs


@dataclass(frozen=True)
class Goal:
    """An objective over the overlays, and limits on them.

    Attributes
    ----------
    edge_cost, degree_cost : int
        The objective edge_cost·Σ costs + degree_cost·D over the edges, where D is at least every degree.
    costs : EdgeCosts, optional
        Of the edges, 1 each by default.
    least_degree, cap : int
        The range of D.
    diameter : bool
        Whether topics must have diameter at most 2.
    fault_tolerant : bool
        Whether topics must stay connected after any one subscriber has left.
    """

    edge_cost: int = 1
    degree_cost: int = 0
    least_degree: int = 0
    cap: int = 2**31
    diameter: bool = False
    costs: EdgeCosts | None = None
    fault_tolerant: bool = False

    @property
    def searchable(self) -> bool:
        """Whether every topic-connected overlay is valid, up to the cap: then local search applies."""
        return not self.diameter and not self.fault_tolerant

    def costs_on(self, num_nodes: int) -> EdgeCosts:
        """The costs of the edges on so many nodes."""
        return unit_costs(num_nodes) if self.costs is None else self.costs

    def degree_range(self, num_nodes: int) -> tuple[int, int]:
        """The range of D on so many nodes."""
        return self.least_degree, min(self.cap, num_nodes)
