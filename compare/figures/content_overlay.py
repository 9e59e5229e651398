"""Content-based overlays in figures: brokers with their users, and the links that carry messages between them."""

from __future__ import annotations

from collections.abc import Sequence

import networkx as nx
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ...instances.content.instance import ContentInstance
from ...instances.content.problems import ContentOverlay
from .graph import Edge, GraphAxes, NodeLook, circle, dot, layout, line, shortened
from .style import DrawOptions
from .topic_overlay import CENTRE, COMMON, HERE, PLAIN, here

_MOST_PRICES, _MOST_USERS = 24, 60
_USER = "#E69F00"


class ContentOverlays:
    """The answers on the same brokers; without answers, the brokers with a minimum spanning tree of their prices."""

    parts, shape = ((-1, ""),), 1.0

    def __init__(self, instance: ContentInstance, answers: Sequence[ContentOverlay], options: DrawOptions) -> None:
        self.instance, self.answers, self.options = instance, answers, options
        count = instance.num_brokers
        lengths = {a: {b: max(float(instance.core[a, b]), 1e-3) for b in range(count)} for a in range(count)}
        near = spanning_links(instance, range(count))
        self.positions = circle(count) if options.circle else layout(count, near, lengths)
        self.links = [set(links_of(instance, answer)) for answer in answers] or [set(near)]
        self.common = set.intersection(*self.links)

    def paint(self, axes: Axes, number: int, part: int = -1) -> None:
        """Draw the brokers, and the answer of this number if there is one."""
        graph, instance = GraphAxes(axes, self.positions), self.instance
        links = sorted(self.links[number])
        if self.options.differences:
            graph.edges([link for link in links if link in self.common], COMMON, 1.2)
            graph.edges([link for link in links if link not in self.common], HERE, 2.2)
        else:
            graph.edges(links, PLAIN if self.answers else "#D5D5D5", 1.2)
        if len(links) <= _MOST_PRICES:
            graph.label_edges(links, [f"{instance.core[a, b]:.4g}" for a, b in links])
        used = self.answers[number].brokers if self.answers else np.empty(0, dtype=np.int32)
        if len(used):
            self._users(graph, used)
        labels = [instance.broker_label(b) for b in range(instance.num_brokers)]
        degrees = np.bincount(used, minlength=instance.num_brokers).tolist()
        fill = dict.fromkeys(np.unique(used).tolist(), CENTRE)
        graph.nodes(labels, NodeLook(fill, degrees=None if graph.labelled else degrees))

    def _users(self, graph: GraphAxes, brokers: np.ndarray[tuple[int, ...], np.dtype[np.int32]]) -> None:
        """The users of each broker on a circle around it; their number where they are many."""
        instance, radius = self.instance, 17 * graph.point * graph.scale
        for b in np.unique(brokers).tolist():
            users = np.flatnonzero(brokers == b).tolist()
            if len(brokers) > _MOST_USERS:
                graph.text(f"{len(users)} users", self.positions[b] - np.array([0, radius]))
                continue
            for at, user in zip(circle(len(users)) * radius + self.positions[b], users, strict=True):
                graph.axes.plot(*np.stack([self.positions[b], at]).T, color=_USER, linewidth=0.7, zorder=1.8)
                graph.text(shortened(instance.user_label(user)), at + (at - self.positions[b]) * 0.35)

    def legend(self) -> list[Line2D]:
        """The entries that explain the marks."""
        if not self.answers:
            return [dot("white", "broker"), line("#D5D5D5", "minimum spanning tree of the prices")]
        entries = [dot(CENTRE, "broker with users"), dot("white", "other broker")]
        if len(self.answers[0].brokers) <= _MOST_USERS:
            entries.append(line(_USER, "user"))
        if self.options.differences:
            return [*entries, line(HERE, f"link {here(self.answers)}", 2.2), line(COMMON, "link in all")]
        return [*entries, line(PLAIN, "link with its price")]


def links_of(instance: ContentInstance, answer: ContentOverlay) -> list[Edge]:
    """The links of the trees; without trees those of a minimum spanning tree of the brokers with users."""
    if answer.trees:
        return [link for tree in answer.trees for link in tree.links]
    return spanning_links(instance, np.unique(answer.brokers).tolist())


def spanning_links(instance: ContentInstance, brokers: Sequence[int]) -> list[Edge]:
    """A minimum spanning tree of some brokers by their prices."""
    graph: nx.Graph[int] = nx.Graph()
    graph.add_weighted_edges_from((a, b, instance.core[a, b]) for a in brokers for b in brokers if a < b)
    return [(min(a, b), max(a, b)) for a, b in nx.minimum_spanning_edges(graph, data=False)]
