"""Broker networks in figures: the primary tree, and the soft links of answers."""

from __future__ import annotations

from collections.abc import Sequence

import networkx as nx
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch

from ...instances.brokers.network import BrokerNetwork
from ...instances.brokers.problems import Dissemination
from .graph import GraphAxes, NodeLook, Positions, circle, dot, line
from .style import DrawOptions
from .topic_overlay import CENTRE, COMMON, HERE, PLAIN, here

_SOFT = "#0072B2"
_FEW = 60


class BrokerTrees:
    """The soft links of the answers over one tree; without answers, the tree alone."""

    parts, shape = ((-1, ""),), 1.0

    def __init__(self, instance: BrokerNetwork, answers: Sequence[Dissemination], options: DrawOptions) -> None:
        self.instance, self.answers, self.options = instance, answers, options
        self.positions = circle(instance.num_brokers) if options.circle else tree_layout(instance)
        self.links = [{(u, v) for u, v in answer.soft_links.tolist()} for answer in answers]
        self.common = set.intersection(*self.links) if answers else set()

    def paint(self, axes: Axes, number: int, part: int = -1) -> None:
        """Draw the tree, and the soft links of the answer of this number if there is one, as arrows to the receiver."""
        graph, tree = GraphAxes(axes, self.positions), self.instance.tree
        graph.edges([(u, v) for u, v in tree.links.tolist()], PLAIN, 1.0)
        links = sorted(self.links[number]) if self.answers else []
        few = len(links) <= _FEW
        for u, v in links:
            shade = _SOFT if not self.options.differences else COMMON if (u, v) in self.common else HERE
            arrow = FancyArrowPatch(
                tuple(self.positions[u]),
                tuple(self.positions[v]),
                connectionstyle="arc3,rad=0.2",
                arrowstyle="-|>",
                mutation_scale=5 if few else 3,
                linestyle=(0, (3, 2)),
                linewidth=0.9 if few else 0.4,
                color=shade,
                shrinkA=5 if graph.labelled else 2,
                shrinkB=5 if graph.labelled else 2,
                zorder=1.5,
            )
            axes.add_patch(arrow)
        labels = [tree.label(v) for v in range(tree.num_brokers)]
        subscribed = np.unique(self.instance.subscriptions.brokers).tolist()
        graph.nodes(
            labels,
            NodeLook(
                dict.fromkeys(subscribed, CENTRE),
                degrees=tree.degrees.tolist() if self.options.degrees or not graph.labelled else None,
            ),
        )

    def legend(self) -> list[Line2D]:
        """The entries that explain the marks."""
        entries = [dot(CENTRE, "broker with subscriptions"), dot("white", "other broker"), line(PLAIN, "primary link")]
        if self.options.differences:
            return [
                *entries,
                line(HERE, f"soft link {here(self.answers)}", style="--"),
                line(COMMON, "in all", style="--"),
            ]
        return [*entries, *([line(_SOFT, "soft link", style="--")] if self.answers else [])]


def tree_layout(network: BrokerNetwork) -> Positions:
    """The tree around its centre, on a circle for each distance from it, without crossings. Shape (n, 2)."""
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(network.num_brokers))
    graph.add_edges_from(network.tree.links.tolist())
    root = min(nx.center(graph))
    parents, order = {root: root}, [root]
    for u in order:
        following = [v for v in sorted(graph[u]) if v not in parents]
        parents |= dict.fromkeys(following, u)
        order += following
    leaves = dict.fromkeys(order, 0)
    for v in reversed(order):
        leaves[v] = max(leaves[v], 1)
        if v != root:
            leaves[parents[v]] += leaves[v]
    start, level, positions = {root: 0.0}, {root: 0}, np.zeros((network.num_brokers, 2))
    for u in order:
        first = start[u]
        for v in [v for v in sorted(graph[u]) if v != parents[u]]:
            start[v], level[v] = first, level[u] + 1
            first += leaves[v] / leaves[root] * 2 * np.pi
            angle = np.pi / 2 - (start[v] + first) / 2
            positions[v] = level[v] * np.array([np.cos(angle), np.sin(angle)])
    return positions.round(3)
