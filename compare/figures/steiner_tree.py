"""Steiner instances in figures: the graph in grey, its terminals, and trees on it."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ...instances.contract.overlay import Overlay
from ...instances.steiner.instance import SteinerInstance
from .graph import GraphAxes, NodeLook, circle, dot, layout, line
from .style import DrawOptions
from .topic_overlay import CENTRE, COMMON, HERE, PLAIN, edges_of, here

_MOST_COSTS = 40


class SteinerTrees:
    """The trees on one graph; without answers, the graph alone."""

    parts, shape = ((-1, ""),), 1.0

    def __init__(self, instance: SteinerInstance, answers: Sequence[Overlay], options: DrawOptions) -> None:
        self.instance, self.answers, self.options = instance, answers, options
        self.edges = [(u, v) for u, v in instance.edges.tolist()]
        self.costs = dict(zip(self.edges, instance.costs.tolist(), strict=True))
        self.positions = circle(instance.num_nodes) if options.circle else layout(instance.num_nodes, self.edges)
        self.common = set.intersection(*(set(edges_of(answer)) for answer in answers)) if answers else set()

    def paint(self, axes: Axes, number: int, part: int = -1) -> None:
        """Draw the graph, and the answer of this number if there is one."""
        graph, instance = GraphAxes(axes, self.positions), self.instance
        graph.edges(self.edges, "#D5D5D5", 0.7 if graph.labelled else 0.4)
        tree = edges_of(self.answers[number]) if self.answers else []
        if self.options.differences:
            graph.edges([edge for edge in tree if edge in self.common], COMMON, 2)
            graph.edges([edge for edge in tree if edge not in self.common], HERE, 2.4)
        else:
            graph.edges(tree, PLAIN, 2)
        priced = self.edges if len(self.edges) <= _MOST_COSTS else tree if len(tree) <= _MOST_COSTS else []
        graph.label_edges(priced, [f"{self.costs[edge]:g}" for edge in priced if edge in self.costs])
        labels = [instance.node_label(v) for v in range(instance.num_nodes)]
        terminals = instance.terminals.tolist()
        others = [v for v in range(instance.num_nodes) if v not in set(terminals)]
        graph.nodes(labels, NodeLook(shown=others))
        graph.nodes(labels, NodeLook(dict.fromkeys(terminals, CENTRE), "s", shown=terminals))

    def legend(self) -> list[Line2D]:
        """The entries that explain the marks."""
        entries = [dot(CENTRE, "terminal", "s"), dot("white", "other node"), line("#D5D5D5", "edge of the graph")]
        if self.options.differences:
            return [*entries, line(HERE, here(self.answers), 2.4), line(COMMON, "in all trees", 2)]
        return [*entries, *([line(PLAIN, "tree", 2)] if self.answers else [])]
