"""The part that the CP-SAT models of the SOC problems share: an overlay on all pairs of nodes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

from ortools.sat.python import cp_model

from ....instances.contract.overlay import Overlay
from ...engine.cp_sat_solver import Solution
from .requirements import Edge


@dataclass
class OverlayVariables:
    """A CP-SAT model with a Boolean for each pair of nodes; unlike in a G_t, any pair may help a topic.

    Attributes
    ----------
    num_nodes : int
    model : cp_model.CpModel
    edge : dict
        x_e for every pair (u, v), u < v.
    cost : linear expression
        The routing cost.
    """

    num_nodes: int
    model: cp_model.CpModel = field(default_factory=cp_model.CpModel)
    edge: dict[Edge, cp_model.IntVar] = field(init=False)
    cost: cp_model.LinearExpr | int = 0

    def __post_init__(self) -> None:
        self.edge = {e: self.model.new_bool_var("") for e in combinations(range(self.num_nodes), 2)}

    @property
    def num_edges(self) -> cp_model.LinearExprT:
        """|E|."""
        return sum(self.edge.values())

    @cached_property
    def max_degree(self) -> cp_model.IntVar:
        """At least the degree of every node; made at its first use."""
        degree = self.model.new_int_var(0, max(0, self.num_nodes - 1), "")
        for v in range(self.num_nodes):
            self.model.add(sum(x for e, x in self.edge.items() if v in e) <= degree)
        return degree

    def hint(self, overlay: Overlay) -> None:
        """Hint the edges of an overlay; CP-SAT completes the other variables."""
        chosen = set(map(tuple, overlay.edges.tolist()))
        for edge, x in self.edge.items():
            self.model.add_hint(x, int(edge in chosen))

    def overlay(self, solution: Solution) -> Overlay:
        """The overlay of a solution."""
        return Overlay.from_edges(self.num_nodes, [edge for edge, x in self.edge.items() if solution.value(x)])
