"""What a panel of a drawing shows, for each kind of instances: subscriptions, overlays, trees, users and soft links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import networkx as nx
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch

from ...instances.brokers.network import BrokerNetwork
from ...instances.content.instance import ContentInstance
from ...instances.content.problems import ContentOverlay
from ...instances.contract.errors import unknown
from ...instances.contract.overlay import Overlay
from ...instances.topics.instance import TopicInstance
from .graph import Edge, GraphAxes, NodeLook, Positions, circle, dot, layout, line, shortened
from .style import DEFAULT, INK, OTHER_TOPICS, TOPIC_COLOURS, DrawOptions, plain_ticks

LINE_WIDTH, EDGE_WIDTH = 1.7, 8.0  # of one topic, and at most of an edge, in points
CENTRE, HERE, COMMON, PLAIN, HIGHLIGHT = "#9ECAE9", "#D55E00", "#B0B0B0", "#555555", "#FFE7A3"
_FAINT, _USER, _SOFT = "#D5D5D5", "#E69F00", "#0072B2"
_MOST_PRICES, _MOST_USERS, _MOST_COSTS, _FEW_LINKS = 24, 60, 40, 60
_ROW, _MATRIX_WIDTH, _LEAST, _MOST = 0.115, 4.4, 0.5, 2.0  # inches a node, and of the width; and heights ÷ width
_LEAST_TEXT = 6.0 / 7  # of the font size
_MOST_TOPICS, _LONGEST = 16, 4


class Panels:
    """The drawings of several answers to one instance, with the same positions of the nodes.

    Parameters
    ----------
    instance
        Of the kind that the class is about.
    answers : sequence
        Answers to it; without answers the instance is drawn.
    options : DrawOptions

    Attributes
    ----------
    shape : float
        The height of a panel divided by its width.
    positions : float array, shape (n, 2)
    links : list of set of (int, int)
        The edges of each answer, in the order of the answers.
    """

    shape = 1.0
    plural, thin, strong = "answers", 0.8, 2.2

    def __init__(self, instance: Any, answers: Sequence[Any] = (), options: DrawOptions = DEFAULT) -> None:
        self.instance, self.answers, self.options = instance, answers, options
        self.links = [self.links_of(answer) for answer in answers]
        self.common = set.intersection(*map(set, self.links)) if answers else set()
        self.positions = circle(self.size) if options.circle else self.placed()

    @property
    def parts(self) -> Sequence[tuple[int, str]]:
        """What each panel of an answer shows: a number and a label, or -1 and "" for all of it."""
        return ((-1, ""),)

    @property
    def size(self) -> int:
        """The number of nodes that are placed."""
        return int(self.instance.num_nodes)

    def placed(self) -> Positions:
        """The positions of the nodes."""
        return layout(self.size, sorted({edge for links in self.links for edge in links}))

    def links_of(self, answer: Any) -> list[Edge]:
        """The edges of an answer."""
        return edges_of(answer)

    def paint(self, axes: Axes, number: int, part: int = -1) -> None:
        """Draw a part of the answer of this number; without answers, the instance."""
        raise NotImplementedError

    def legend(self) -> list[Line2D]:
        """The entries that explain the marks."""
        raise NotImplementedError

    def paint_links(self, graph: GraphAxes, number: int, plain: float = 1.0) -> None:
        """The edges of an answer, those that not all answers have strong where differences are asked for."""
        links = self.links[number] if self.answers else []
        if not self.options.differences:
            graph.edges(links, PLAIN, plain)
            return
        graph.edges([link for link in links if link in self.common], COMMON, self.thin)
        graph.edges([link for link in links if link not in self.common], HERE, self.strong)

    def differing(self, noun: str = "", style: Any = "-") -> list[Line2D]:
        """The entries of a legend for edges that all answers have, and for the others."""
        here = "only here" if len(self.answers) == 2 else "not in all"
        return [
            line(HERE, f"{noun} {here}".strip(), self.strong, style),
            line(COMMON, f"{noun} in all".strip(), 1.0, style),
        ]


class TopicOverlays(Panels):
    """Overlays on the nodes of a topic instance: their edges by topic or by what differs, and the centres of stars."""

    def __init__(self, instance: TopicInstance, answers: Sequence[Overlay], options: DrawOptions = DEFAULT) -> None:
        super().__init__(instance, answers, options)
        self.labels = [instance.node_label(v) for v in range(instance.num_nodes)]
        self.topics = [self._topic(label) for label in options.topics]
        self.colours = topic_colours(instance)
        self.centres = [star_centres(instance, answer) if options.centres else [] for answer in answers]
        self.thin = 0.8 * self._scale
        self.strong = 2.2 * self._scale

    @property
    def _scale(self) -> float:
        return 1.0 if self.size <= 80 else 0.4

    def _topic(self, label: str) -> int:
        labels = [self.instance.topic_label(t) for t in range(self.instance.num_topics)]
        if label not in labels:
            raise unknown("topic", label, labels)
        return labels.index(label)

    @property
    def parts(self) -> Sequence[tuple[int, str]]:
        """The topics that have a panel each, or all of the overlay."""
        return [(t, f"topic {self.instance.topic_label(t)}") for t in self.topics] or [(-1, "")]

    def paint(self, axes: Axes, number: int, part: int = -1) -> None:
        """Draw the answer of this number: all of it, or one topic's part."""
        graph, answer, edges = GraphAxes(axes, self.positions), self.answers[number], self.links[number]
        if part >= 0:
            members = set(self.instance.subscribers(part).tolist())
            graph.edges([edge for edge in edges if not members.issuperset(edge)], "#DDDDDD", 0.6 * self._scale)
            graph.edges([edge for edge in edges if members.issuperset(edge)], TOPIC_COLOURS[1], self.strong)
            fill = dict.fromkeys(members, CENTRE)
        else:
            fill = dict.fromkeys(self.centres[number], CENTRE)
            if not self.options.by_topic:
                self.paint_links(graph, number, self._scale)
            else:
                if self.options.differences:
                    others = [edge for edge in edges if edge not in self.common]
                    graph.edges(others, HIGHLIGHT, EDGE_WIDTH + 4, zorder=0)
                shades = [shades_of(self.instance, edge, self.colours) for edge in edges]
                graph.bands(edges, shades, LINE_WIDTH, EDGE_WIDTH)
        degrees = answer.degrees.tolist() if self.options.degrees or not graph.labelled else None
        graph.nodes(self.labels, NodeLook(fill, degrees=degrees))

    def legend(self) -> list[Line2D]:
        """The entries that explain the colours."""
        if self.topics:
            label = "edge between subscribers"
            return [line(TOPIC_COLOURS[1], label, 2.2), line("#DDDDDD", "other edge"), dot(CENTRE, "subscriber")]
        entries = topic_legend(self.instance, self.colours) if self.options.by_topic else []
        if self.options.differences and not self.options.by_topic:
            entries += self.differing()
        elif self.options.differences:
            entries.append(line(HIGHLIGHT, str(self.differing()[0].get_label()), 5))
        if any(self.centres):
            entries.append(dot(CENTRE, "centre of a topic's star"))
        return entries


class SubscriptionMatrix(Panels):
    """A row a node, a column a topic; subscriptions are black. Labels are left out where rows are too narrow."""

    def __init__(self, instance: TopicInstance, answers: Sequence[object] = (), options: DrawOptions = DEFAULT) -> None:
        self.instance = instance
        height = (0.5 + _ROW * instance.num_nodes) * float(mpl.rcParams["font.size"]) / 7
        self.shape = min(max(height / _MATRIX_WIDTH, _LEAST), _MOST)

    def paint(self, axes: Axes, number: int = 0, part: int = -1) -> None:
        """Draw the matrix."""
        instance, size = self.instance, float(mpl.rcParams["font.size"])
        interest = np.zeros((instance.num_nodes, instance.num_topics))
        interest[np.repeat(np.arange(instance.num_nodes), np.diff(instance.node_offsets)), instance.node_topics] = 1
        axes.imshow(1 - interest, cmap="gray", aspect="auto", interpolation="nearest", vmin=-0.3, vmax=1)
        axes.set(xlabel=f"{instance.num_topics} topics", xticks=[], yticks=[])
        topics = [instance.topic_label(t) for t in range(instance.num_topics)]
        if len(topics) <= _MOST_TOPICS and max(map(len, topics)) <= _LONGEST:
            plain_ticks(axes.xaxis, range(len(topics)), topics)
        figure = axes.get_figure(root=True)
        if instance.num_nodes * _ROW * size / 7 <= (0.0 if figure is None else figure.get_figheight()):
            plain_ticks(
                axes.yaxis, range(instance.num_nodes), [instance.node_label(v) for v in range(instance.num_nodes)]
            )
        else:
            axes.set_ylabel(f"{instance.num_nodes} nodes")
        axes.tick_params(labelsize=_LEAST_TEXT * size, length=0)
        axes.grid(visible=False)

    def legend(self) -> list[Line2D]:
        """No entry."""
        return []


class ContentOverlays(Panels):
    """The answers on the same brokers; without answers, the brokers with a minimum spanning tree of their prices."""

    strong, thin = 2.2, 1.2

    @property
    def size(self) -> int:
        """The number of brokers."""
        return int(self.instance.num_brokers)

    def placed(self) -> Positions:
        """By the prices."""
        count, core = self.size, self.instance.core
        lengths = {a: {b: max(float(core[a, b]), 1e-3) for b in range(count)} for a in range(count)}
        return layout(count, spanning_links(self.instance, range(count)), lengths)

    def links_of(self, answer: ContentOverlay) -> list[Edge]:
        """The links of the trees; without trees those of a minimum spanning tree of the brokers with users."""
        if answer.trees:
            return sorted({link for tree in answer.trees for link in tree.links})
        return sorted(spanning_links(self.instance, np.unique(answer.brokers).tolist()))

    def paint(self, axes: Axes, number: int, part: int = -1) -> None:
        """Draw the brokers, and the answer of this number if there is one."""
        graph, instance = GraphAxes(axes, self.positions), self.instance
        links = self.links[number] if self.answers else spanning_links(instance, range(self.size))
        if not self.answers:
            graph.edges(links, _FAINT, 1.2)
        self.paint_links(graph, number, 1.2)
        if len(links) <= _MOST_PRICES:
            graph.label_edges(links, [f"{instance.core[a, b]:.4g}" for a, b in links])
        used = self.answers[number].brokers if self.answers else np.empty(0, dtype=np.int32)
        if len(used):
            self._users(graph, used)
        degrees = np.bincount(used, minlength=instance.num_brokers).tolist()
        fill = dict.fromkeys(np.unique(used).tolist(), CENTRE)
        labels = [instance.broker_label(b) for b in range(instance.num_brokers)]
        graph.nodes(labels, NodeLook(fill, degrees=None if graph.labelled else degrees))

    def _users(self, graph: GraphAxes, brokers: np.ndarray[tuple[int, ...], np.dtype[np.int32]]) -> None:
        """The users of each broker on a circle around it; their number where they are many."""
        radius = 17 * graph.point * graph.scale
        for b in np.unique(brokers).tolist():
            users = np.flatnonzero(brokers == b).tolist()
            if len(brokers) > _MOST_USERS:
                graph.text(f"{len(users)} users", self.positions[b] - np.array([0, radius]))
                continue
            for at, user in zip(circle(len(users)) * radius + self.positions[b], users, strict=True):
                graph.axes.plot(*np.stack([self.positions[b], at]).T, color=_USER, linewidth=0.7, zorder=1.8)
                graph.text(shortened(self.instance.user_label(user)), at + (at - self.positions[b]) * 0.35)

    def legend(self) -> list[Line2D]:
        """The entries that explain the marks."""
        if not self.answers:
            return [dot("white", "broker"), line(_FAINT, "minimum spanning tree of the prices")]
        entries = [dot(CENTRE, "broker with users"), dot("white", "other broker")]
        if len(self.answers[0].brokers) <= _MOST_USERS:
            entries.append(line(_USER, "user"))
        return [
            *entries,
            *(self.differing("link") if self.options.differences else [line(PLAIN, "link with its price")]),
        ]


class BrokerTrees(Panels):
    """The soft links of the answers over one tree; without answers, the tree alone."""

    @property
    def size(self) -> int:
        """The number of brokers."""
        return int(self.instance.num_brokers)

    def placed(self) -> Positions:
        """Around the centre of the tree."""
        return tree_layout(self.instance)

    def links_of(self, answer: Any) -> list[Edge]:
        """The soft links, each to its receiver."""
        return sorted({(u, v) for u, v in answer.soft_links.tolist()})

    def paint(self, axes: Axes, number: int, part: int = -1) -> None:
        """Draw the tree, and the soft links of the answer of this number if there is one, as arrows to the receiver."""
        graph, tree = GraphAxes(axes, self.positions), self.instance.tree
        graph.edges([(u, v) for u, v in tree.links.tolist()], PLAIN, 1.0)
        links = self.links[number] if self.answers else []
        few, apart = len(links) <= _FEW_LINKS, 5 if graph.labelled else 2
        for u, v in links:
            shade = _SOFT if not self.options.differences else COMMON if (u, v) in self.common else HERE
            arrow = FancyArrowPatch(
                *(tuple(self.positions[u]), tuple(self.positions[v])),
                connectionstyle="arc3,rad=0.2",
                arrowstyle="-|>",
                mutation_scale=5 if few else 3,
                linestyle=(0, (3, 2)),
                linewidth=0.9 if few else 0.4,
                color=shade,
                shrinkA=apart,
                shrinkB=apart,
                zorder=1.5,
            )
            axes.add_patch(arrow)
        subscribed = np.unique(self.instance.subscriptions.brokers).tolist()
        degrees = tree.degrees.tolist() if self.options.degrees or not graph.labelled else None
        labels = [tree.label(v) for v in range(tree.num_brokers)]
        graph.nodes(labels, NodeLook(dict.fromkeys(subscribed, CENTRE), degrees=degrees))

    def legend(self) -> list[Line2D]:
        """The entries that explain the marks."""
        entries = [dot(CENTRE, "broker with subscriptions"), dot("white", "other broker"), line(PLAIN, "primary link")]
        if self.options.differences:
            return [*entries, *self.differing("soft link", "--")]
        return [*entries, *([line(_SOFT, "soft link", style="--")] if self.answers else [])]


class SteinerTrees(Panels):
    """The trees on one graph in grey, with its terminals; without answers, the graph alone."""

    strong, thin = 2.4, 2.0

    def placed(self) -> Positions:
        """By the graph."""
        return layout(self.size, self._edges)

    @property
    def _edges(self) -> list[Edge]:
        return [(u, v) for u, v in self.instance.edges.tolist()]

    def paint(self, axes: Axes, number: int, part: int = -1) -> None:
        """Draw the graph, and the answer of this number if there is one."""
        graph, instance, edges = GraphAxes(axes, self.positions), self.instance, self._edges
        graph.edges(edges, _FAINT, 0.7 if graph.labelled else 0.4)
        self.paint_links(graph, number, 2)
        tree = self.links[number] if self.answers else []
        costs = dict(zip(edges, instance.costs.tolist(), strict=True))
        priced = edges if len(edges) <= _MOST_COSTS else tree if len(tree) <= _MOST_COSTS else []
        known = [edge for edge in priced if edge in costs]
        graph.label_edges(known, [f"{costs[edge]:g}" for edge in known])
        labels = [instance.node_label(v) for v in range(instance.num_nodes)]
        terminals = instance.terminals.tolist()
        graph.nodes(labels, NodeLook(shown=[v for v in range(instance.num_nodes) if v not in set(terminals)]))
        graph.nodes(labels, NodeLook(dict.fromkeys(terminals, CENTRE), "s", shown=terminals))

    def legend(self) -> list[Line2D]:
        """The entries that explain the marks."""
        entries = [dot(CENTRE, "terminal", "s"), dot("white", "other node"), line(_FAINT, "edge of the graph")]
        if self.options.differences:
            return [*entries, *self.differing()]
        return [*entries, *([line(PLAIN, "tree", 2)] if self.answers else [])]


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


def spanning_links(instance: ContentInstance, brokers: Sequence[int]) -> list[Edge]:
    """A minimum spanning tree of some brokers by their prices."""
    graph: nx.Graph[int] = nx.Graph()
    graph.add_weighted_edges_from((a, b, instance.core[a, b]) for a in brokers for b in brokers if a < b)
    return [(min(a, b), max(a, b)) for a, b in nx.minimum_spanning_edges(graph, data=False)]


def tree_layout(network: BrokerNetwork) -> Positions:
    """The tree around its centre, on a circle for each distance from it, without crossings. Shape (n, 2)."""
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(network.num_brokers))
    graph.add_edges_from(network.tree.links.tolist())
    root = min(nx.center(graph))
    tree = nx.bfs_tree(graph, root, sort_neighbors=sorted)
    order, leaves = list(tree), dict.fromkeys(tree, 1)
    for v in reversed(order):
        leaves[v] = sum(leaves[w] for w in tree[v]) or 1
    start, level, positions = {root: 0.0}, {root: 0}, np.zeros((network.num_brokers, 2))
    for u in order:
        first = start[u]
        for v in tree[u]:
            start[v], level[v] = first, level[u] + 1
            first += leaves[v] / leaves[root] * 2 * np.pi
            angle = np.pi / 2 - (start[v] + first) / 2
            positions[v] = level[v] * np.array([np.cos(angle), np.sin(angle)])
    return positions.round(3)
