"""Overlays on the nodes of a topic instance: their edges by topic or by what differs, and the centres of stars."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ...instances.contract.errors import unknown
from ...instances.contract.overlay import Overlay
from ...instances.topics.instance import TopicInstance
from .graph import Edge, GraphAxes, NodeLook, circle, dot, layout, line
from .style import INK, OTHER_TOPICS, TOPIC_COLOURS, DrawOptions

LINE_WIDTH, EDGE_WIDTH = 1.7, 8.0  # of one topic, and at most of an edge, in points
CENTRE, HERE, COMMON, PLAIN, HIGHLIGHT = "#9ECAE9", "#D55E00", "#B0B0B0", "#555555", "#FFE7A3"


class TopicOverlays:
    """The overlays of one instance, all with the same positions of the nodes.

    Parameters
    ----------
    instance : TopicInstance
    answers : sequence of Overlay
    options : DrawOptions
    """

    shape = 1.0

    def __init__(self, instance: TopicInstance, answers: Sequence[Overlay], options: DrawOptions) -> None:
        self.instance, self.answers, self.options = instance, answers, options
        edges = {edge for answer in answers for edge in edges_of(answer)}
        self.positions = circle(instance.num_nodes) if options.circle else layout(instance.num_nodes, sorted(edges))
        self.labels = [instance.node_label(v) for v in range(instance.num_nodes)]
        self.topics = [self._topic(label) for label in options.topics]
        self.colours = topic_colours(instance)
        self.common = set.intersection(*(set(edges_of(answer)) for answer in answers))
        self.centres = [star_centres(instance, answer) if options.centres else [] for answer in answers]

    def _topic(self, label: str) -> int:
        labels = [self.instance.topic_label(t) for t in range(self.instance.num_topics)]
        if label not in labels:
            raise unknown("topic", label, labels)
        return labels.index(label)

    @property
    def parts(self) -> list[tuple[int, str]]:
        """What each panel of an answer shows: the number of a topic and its label, or -1 and "" for the overlay."""
        return [(t, f"topic {self.instance.topic_label(t)}") for t in self.topics] or [(-1, "")]

    def paint(self, axes: Axes, number: int, topic: int = -1) -> None:
        """Draw the answer of this number: all of it, or one topic's part."""
        graph, answer = GraphAxes(axes, self.positions), self.answers[number]
        thin = 1.0 if self.instance.num_nodes <= 80 else 0.4
        edges = edges_of(answer)
        if topic >= 0:
            members = set(self.instance.subscribers(topic).tolist())
            inside = [edge for edge in edges if members.issuperset(edge)]
            graph.edges([edge for edge in edges if not members.issuperset(edge)], "#DDDDDD", 0.6 * thin)
            graph.edges(inside, TOPIC_COLOURS[1], 2.2 * thin)
            fill = dict.fromkeys(members, CENTRE)
        else:
            self._all_edges(graph, edges, thin)
            fill = dict.fromkeys(self.centres[number], CENTRE)
        degrees = answer.degrees.tolist() if self.options.degrees or not graph.labelled else None
        graph.nodes(self.labels, NodeLook(fill, degrees=degrees))

    def _all_edges(self, graph: GraphAxes, edges: list[Edge], thin: float) -> None:
        if self.options.differences:
            others = [edge for edge in edges if edge not in self.common]
            if self.options.by_topic:
                graph.edges(others, HIGHLIGHT, EDGE_WIDTH + 4, zorder=0)
            else:
                graph.edges([edge for edge in edges if edge in self.common], COMMON, 0.8 * thin)
                graph.edges(others, HERE, 2.2 * thin)
                return
        if self.options.by_topic:
            graph.bands(edges, [shades_of(self.instance, edge, self.colours) for edge in edges], LINE_WIDTH, EDGE_WIDTH)
        else:
            graph.edges(edges, PLAIN, thin)

    def legend(self) -> list[Line2D]:
        """The entries that explain the colours."""
        if self.topics:
            label = "edge between subscribers"
            return [line(TOPIC_COLOURS[1], label, 2.2), line("#DDDDDD", "other edge"), dot(CENTRE, "subscriber")]
        entries = topic_legend(self.instance, self.colours) if self.options.by_topic else []
        if self.options.differences and not self.options.by_topic:
            entries += [line(HERE, here(self.answers), 2.2), line(COMMON, "in all overlays")]
        elif self.options.differences:
            entries.append(line(HIGHLIGHT, here(self.answers), 5))
        if any(self.centres):
            entries.append(dot(CENTRE, "centre of a topic's star"))
        return entries


def here(answers: Sequence[object]) -> str:
    """How a legend calls edges that not all answers have."""
    return "only here" if len(answers) == 2 else "not in all"


def edges_of(overlay: Overlay) -> list[Edge]:
    """The edges as pairs."""
    return [(u, v) for u, v in overlay.edges.tolist()]


def topic_colours(instance: TopicInstance) -> dict[int, str]:
    """A colour for each of the largest topics with at least two subscribers; smaller ones have no edge."""
    sizes = np.diff(instance.topic_offsets)
    ranked = [int(t) for t in np.argsort(-sizes, kind="stable") if sizes[t] > 1]
    return dict(zip(sorted(ranked[: len(TOPIC_COLOURS)]), TOPIC_COLOURS, strict=False))


def shades_of(instance: TopicInstance, edge: Edge, colours: dict[int, str]) -> list[str]:
    """The colours of the topics that both ends subscribe to, one for all without a colour of their own."""
    shared = np.intersect1d(instance.topics_of(edge[0]), instance.topics_of(edge[1])).tolist()
    own = [colours[t] for t in shared if t in colours]
    return (own + ([OTHER_TOPICS] if len(own) < len(shared) else [])) or [INK]


def topic_legend(instance: TopicInstance, colours: dict[int, str]) -> list[Line2D]:
    """An entry for each topic with a colour, and one for all others."""
    entries = [line(colour, instance.topic_label(t), 2.2) for t, colour in colours.items()]
    if more := instance.num_topics - len(colours):
        entries.append(line(OTHER_TOPICS, f"{more} other topic{'s' if more > 1 else ''}", 2.2))
    return entries


def star_centres(instance: TopicInstance, overlay: Overlay) -> list[int]:
    """One centre for each topic of three or more subscribers; none if some topic has no centre.

    A centre is adjacent to all other subscribers of its topic; of several the one of largest degree is taken.
    """
    adjacent: dict[int, set[int]] = {v: {v} for v in range(instance.num_nodes)}
    for u, v in edges_of(overlay):
        adjacent[u].add(v)
        adjacent[v].add(u)
    centres = set()
    for topic in range(instance.num_topics):
        members = instance.subscribers(topic).tolist()
        able = [v for v in members if adjacent[v].issuperset(members)]
        if not able:
            return []
        if len(members) > 2:
            centres.add(max(able, key=lambda v: len(adjacent[v])))
    return sorted(centres)
