"""The objective of a relaxation over overlays, and its limits."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Goal:
    """An objective over the overlays, and limits on them.

    Attributes
    ----------
    edge_cost, degree_cost : int
        The objective edge_cost·|E| + degree_cost·D, where D is at least every degree.
    least_degree, cap : int
        The range of D.
    diameter : bool
        Whether topics must have diameter at most 2.
    """

    edge_cost: int = 1
    degree_cost: int = 0
    least_degree: int = 0
    cap: int = 2**31
    diameter: bool = False

    def degree_range(self, num_nodes: int) -> tuple[int, int]:
        """The range of D on so many nodes."""
        return self.least_degree, min(self.cap, num_nodes)
