"""What a panel of a drawing shows, for each kind of instances: subscriptions, overlays, trees, users and soft links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import matplotlib as mpl
import networkx as nx
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch
from matplotlib.ticker import FixedFormatter

from ...instances.brokers.network import BrokerNetwork
from ...instances.content.instance import ContentInstance
from ...instances.content.problems import ContentOverlay
from ...instances.contract.errors import unknown
from ...instances.contract.overlay import Overlay
from ...instances.contract.terms import said
from ...instances.topics.instance import TopicInstance
from .style import DEFAULT, INK, OTHER_TOPICS, TOPIC_COLOURS, DrawOptions

Positions = npt.NDArray[np.float64]
Edge = tuple[int, int]

LABELLED = 40
"""The most nodes that get a label each."""
LINE_WIDTH, EDGE_WIDTH = 1.7, 8.0  # of one topic, and at most of an edge, in points
CENTRE, HERE, COMMON, PLAIN, HIGHLIGHT = "#9ECAE9", "#D55E00", "#B0B0B0", "#555555", "#FFE7A3"
_FAINT, _USER, _SOFT = "#D5D5D5", "#E69F00", "#0072B2"
_MOST_BY_DISTANCE, _MOST_PRICES, _MOST_USERS, _MOST_COSTS, _FEW_LINKS = 100, 24, 60, 40, 60
_MARGIN, _SHAPES = 0.1, (0.6, 1.1)  # of a graph's larger side; and least and most heights ÷ width
_AXES_POINTS, _BASE_SIZE = 235, 7.0  # the width for which sizes are chosen, and the font size there
_WIDEST_LABEL = 7
_ROW, _MATRIX_WIDTH, _LEAST, _MOST = 0.115, 4.4, 0.5, 2.0  # inches a node, and of the width; and heights ÷ width
_LEAST_TEXT = 6.0 / 7  # of the font size
_MOST_TOPICS, _LETTERS = 16, 40


def circle(count: int) -> Positions:
    """Points on the unit circle, clockwise from the top. Shape (count, 2)."""
    angles = np.pi / 2 - 2 * np.pi * np.arange(count) / count
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def layout(
    num_nodes: int, edges: Iterable[Edge], lengths: Mapping[int, Mapping[int, float]] | None = None
) -> Positions:
    """Positions with few crossings, shape (|V|, 2): nodes of high degree come to lie inside.

    `lengths` is the distance wanted between any two nodes, by default their number of hops. After Kamada and Kawai
    (1989) up to 100 nodes, else Fruchterman and Reingold (1991); the same positions each time.
    """
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(num_nodes))
    graph.add_edges_from(edges)
    if num_nodes > _MOST_BY_DISTANCE:
        placed = nx.spring_layout(graph, seed=1)
    else:
        hops = dict(nx.all_pairs_shortest_path_length(graph))
        apart = max(max(row.values()) for row in hops.values()) + 1
        near = lengths or {u: {v: float(hops[u].get(v, apart)) for v in graph} for u in graph}
        placed = nx.kamada_kawai_layout(graph, dist=near)
    return np.array([placed[v] for v in range(num_nodes)]).round(3)


def _side(positions: Positions) -> float:
    return max(float(np.ptp(positions, axis=0).max()), 0.5)


class GraphAxes:
    """Axes on which a graph is drawn, of equal scales and without a frame; positions have shape (|V|, 2)."""

    def __init__(self, axes: Axes, positions: Positions) -> None:
        self.axes, self.positions = axes, positions
        spread = _side(positions)
        margin = _MARGIN * spread
        axes.set_aspect("equal", adjustable="datalim")  # a box that shrinks would cut its title
        axes.set_axis_off()
        axes.margins(0)
        axes.update_datalim([positions.min(axis=0) - margin, positions.max(axis=0) + margin])
        self.scale = float(mpl.rcParams["font.size"]) / _BASE_SIZE
        self.point = (spread + 2 * margin) / _AXES_POINTS
        self.labelled = len(positions) <= LABELLED

    def edges(self, edges: Sequence[Edge], colour: str, width: float, **line: Any) -> None:
        """Straight lines; `width` in points; `line` as for matplotlib's LineCollection."""
        if len(edges):
            segments = [self.positions[list(edge)] for edge in edges]
            look = {"capstyle": "butt", "zorder": 1, **line}
            self.axes.add_collection(LineCollection(segments, colors=colour, linewidths=width, **look))

    def bands(self, edges: Sequence[Edge], colours: Sequence[Sequence[str]]) -> None:
        """Each edge as parallel lines in its colours."""
        segments: list[Positions] = []
        shades: list[str] = []
        widths: list[float] = []
        for edge, own in zip(edges, colours, strict=True):
            one = min(LINE_WIDTH, EDGE_WIDTH / max(len(own), 1))
            ends = self.positions[list(edge)]
            along = ends[1] - ends[0]
            across = np.array([-along[1], along[0]]) / max(float(np.hypot(*along)), 1e-9) * self.point * one
            segments += [ends + across * (number - (len(own) - 1) / 2) for number in range(len(own))]
            shades += own
            widths += [one] * len(own)
        self.axes.add_collection(LineCollection(segments, colors=shades, linewidths=widths, capstyle="butt", zorder=1))

    def nodes(
        self,
        labels: Sequence[str],
        fill: Mapping[int, str] | None = None,
        *,
        marker: str = "o",
        degrees: Sequence[int] | None = None,
        shown: Sequence[int] | None = None,
        gid: str = "",
    ) -> None:
        """Circles with their labels inside up to 40 nodes; beyond that points whose area grows with the degree.

        With a `gid` these are the identifiers of their marks, and of their labels with ``-label``.
        """
        shown = range(len(self.positions)) if shown is None else shown
        sizes: float | list[float] = 150 * self.scale**2
        if not self.labelled:
            known = degrees if degrees is not None else [0] * len(self.positions)
            sizes = [6 + 40 * known[v] / max(1, *known) for v in shown]
        x, y = self.positions[list(shown)].T
        look: dict[str, Any] = {"edgecolors": INK, "linewidths": 0.7, "marker": marker, "zorder": 2, "clip_on": False}
        look |= {"gid": gid} if gid else {}
        self.axes.scatter(x, y, s=sizes, c=[(fill or {}).get(v, "white") for v in shown], **look)
        texts = shortened(labels) if self.labelled else []
        for v in shown if self.labelled else ():
            named = {"gid": f"{gid}-label"} if gid else {}
            self.text(texts[v], self.positions[v], 6.5, boxed=len(labels[v]) > 3, **named)  # beyond its circle
            if degrees is not None:
                beside = (8 * self.scale, 8 * self.scale)
                self.text(str(degrees[v]), self.positions[v], xytext=beside, textcoords="offset points")

    def label_edges(self, edges: Sequence[Edge], texts: Sequence[str]) -> None:
        """A text on each edge, not in its middle, where a node may lie."""
        for (u, v), text in zip(edges, texts, strict=True):
            self.text(text, 0.6 * self.positions[u] + 0.4 * self.positions[v])

    def text(self, text: str, at: Positions, size: float = 6.0, *, boxed: bool = True, **own: Any) -> None:
        """A text around a point, in points; `boxed` is readable across lines."""
        # A box rather than an outline, which would turn the text into paths.
        box = {"boxstyle": "square,pad=0.08", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
        look: dict[str, Any] = {
            "ha": "center",
            "va": "center",
            "zorder": 3,
            "color": INK,
            "fontsize": size * self.scale,
            **own,
        }
        self.axes.annotate(text, (at[0], at[1]), bbox=box if boxed else None, **look)


def shortened(labels: Sequence[str]) -> list[str]:
    """At most as many characters of each label as fit: the first ones, or also the last where these are not unique."""
    cut = [text if len(text) <= _WIDEST_LABEL else text[: _WIDEST_LABEL - 1] + "…" for text in labels]
    if len(set(cut)) == len(set(labels)):
        return cut
    end = _WIDEST_LABEL // 2
    return [text if len(text) <= _WIDEST_LABEL else f"{text[:end]}…{text[-end:]}" for text in labels]


def line(colour: str, label: str, width: float = 1.0, style: Literal["-", "--"] = "-") -> Line2D:
    """An entry of a legend for edges."""
    return Line2D([], [], color=colour, linewidth=width, linestyle=style, label=label)


def dot(colour: str, label: str, marker: str = "o") -> Line2D:
    """An entry of a legend for nodes."""
    look: dict[str, Any] = {"marker": marker, "markersize": 6, "markeredgecolor": INK, "markeredgewidth": 0.7}
    return Line2D([], [], linestyle="none", markerfacecolor=colour, label=label, **look)


class Panels:
    """The drawings of several answers to one instance, or of the instance, with the same positions of the nodes.

    `shape` is the height of a panel divided by its width, `positions` has shape (n, 2), and `links` are the edges of
    each answer.
    """

    shape = 1.0
    thin, strong = 0.8, 2.2
    counted = "num_nodes"

    def __init__(self, instance: Any, answers: Sequence[Any] = (), options: DrawOptions = DEFAULT) -> None:
        self.instance, self.answers, self.options = instance, answers, options
        self.links = [self.links_of(answer) for answer in answers]
        self.common = set.intersection(*map(set, self.links)) if answers else set()
        self.positions = circle(self.size) if options.circle else self.placed()
        wide, high = np.ptp(self.positions, axis=0) + 2 * _MARGIN * _side(self.positions)
        self.shape = float(np.clip(high / wide, *_SHAPES))

    @property
    def parts(self) -> Sequence[tuple[int, str]]:
        """What each panel of an answer shows: a number and a label, or -1 and "" for all of it."""
        return ((-1, ""),)

    @property
    def size(self) -> int:
        return int(getattr(self.instance, self.counted))

    def placed(self) -> Positions:
        return layout(self.size, sorted({edge for links in self.links for edge in links}))

    def links_of(self, answer: Any) -> list[Edge]:
        return pairs(answer.edges)

    def paint(self, axes: Axes, number: int, part: int = -1) -> None:
        """Draw a part of the answer of this number; without answers, the instance."""
        raise NotImplementedError

    def legend(self) -> list[Line2D]:
        return []

    def paint_links(self, graph: GraphAxes, number: int, plain: float = 1.0) -> None:
        """The edges of an answer, those that not all answers have strong where differences are asked for."""
        links = self.links[number] if self.answers else []
        if not self.options.differences:
            graph.edges(links, PLAIN, plain)
            return
        graph.edges([link for link in links if link in self.common], COMMON, self.thin)
        graph.edges([link for link in links if link not in self.common], HERE, self.strong)

    def explained(self, noun: str, plain: Line2D, style: Any = "-") -> list[Line2D]:
        """The entries for edges: those that all answers have and the others, or `plain`; none without answers."""
        if not self.options.differences:
            return [plain] if self.answers else []
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
        known = [instance.topic_label(t) for t in range(instance.num_topics)]
        if foreign := [label for label in options.topics if label not in known]:
            raise unknown("topic", foreign[0], known)
        self.topics = [known.index(label) for label in options.topics]
        self.colours = topic_colours(instance)
        self.centres = [star_centres(instance, answer) if options.centres else [] for answer in answers]
        self.scale = 1.0 if self.size <= 80 else 0.4
        self.thin, self.strong = 0.8 * self.scale, 2.2 * self.scale

    @property
    def parts(self) -> Sequence[tuple[int, str]]:
        """The topics that have a panel each, or all of the overlay."""
        return [(t, f"{said('topic')} {self.instance.topic_label(t)}") for t in self.topics] or [(-1, "")]

    def paint(self, axes: Axes, number: int, part: int = -1) -> None:
        graph, answer, edges = GraphAxes(axes, self.positions), self.answers[number], self.links[number]
        if part >= 0:
            members = set(self.instance.subscribers(part).tolist())
            graph.edges([edge for edge in edges if not members.issuperset(edge)], "#DDDDDD", 0.6 * self.scale)
            graph.edges([edge for edge in edges if members.issuperset(edge)], TOPIC_COLOURS[1], self.strong)
            fill = dict.fromkeys(members, CENTRE)
        else:
            fill = dict.fromkeys(self.centres[number], CENTRE)
            if not self.options.by_topic:
                self.paint_links(graph, number, self.scale)
            else:
                if self.options.differences:
                    others = [edge for edge in edges if edge not in self.common]
                    graph.edges(others, HIGHLIGHT, EDGE_WIDTH + 4, zorder=0)
                graph.bands(edges, [shades_of(self.instance, edge, self.colours) for edge in edges])
        degrees = answer.degrees.tolist() if self.options.degrees or not graph.labelled else None
        graph.nodes(self.labels, fill, degrees=degrees)

    def legend(self) -> list[Line2D]:
        if self.topics:
            label = "edge between subscribers"
            return [line(TOPIC_COLOURS[1], label, 2.2), line("#DDDDDD", "other edge"), dot(CENTRE, "subscriber")]
        differing = self.explained("", line(PLAIN, "edge")) if self.options.differences else []
        if self.options.by_topic:
            entries = [line(shade, self.instance.topic_label(t), 2.2) for t, shade in self.colours.items()]
            if more := self.instance.num_topics - len(self.colours):
                entries.append(line(OTHER_TOPICS, said(f"{more} other topic{'s' if more > 1 else ''}"), 2.2))
            differing = [*entries, *(line(HIGHLIGHT, str(one.get_label()), 5) for one in differing[:1])]
        return [*differing, *([dot(CENTRE, said("centre of a topic's star"))] if any(self.centres) else [])]


class SubscriptionMatrix(Panels):
    """A row a node, a column a topic; subscriptions are black. Labels are left out where rows are too narrow."""

    def __init__(self, instance: TopicInstance, answers: Sequence[object] = (), options: DrawOptions = DEFAULT) -> None:
        self.instance = instance
        height = (0.5 + _ROW * instance.num_nodes) * float(mpl.rcParams["font.size"]) / 7
        self.shape = min(max(height / _MATRIX_WIDTH, _LEAST), _MOST)

    def paint(self, axes: Axes, number: int = 0, part: int = -1) -> None:
        instance, size = self.instance, float(mpl.rcParams["font.size"])
        interest = instance.to_scipy().toarray().astype(float)
        axes.imshow(1 - interest, cmap="gray", aspect="auto", interpolation="nearest", vmin=-0.3, vmax=1)
        axes.set(xlabel=said(f"{instance.num_topics} topics"), xticks=[], yticks=[])
        topics = [instance.topic_label(t) for t in range(instance.num_topics)]
        if len(topics) <= _MOST_TOPICS and sum(map(len, topics)) <= _LETTERS:
            axes.set_xticks(range(len(topics)))
            axes.xaxis.set_major_formatter(FixedFormatter(topics))
        figure = axes.get_figure(root=True)
        if instance.num_nodes * _ROW * size / 7 <= (0.0 if figure is None else figure.get_figheight()):
            axes.set_yticks(range(instance.num_nodes))
            axes.yaxis.set_major_formatter(FixedFormatter([instance.node_label(v) for v in range(instance.num_nodes)]))
        else:
            axes.set_ylabel(said(f"{instance.num_nodes} nodes"))
        axes.tick_params(labelsize=_LEAST_TEXT * size, length=0)
        axes.grid(visible=False)


class ContentOverlays(Panels):
    """The answers on the same brokers; without answers, the brokers with a minimum spanning tree of their prices."""

    thin, counted = 1.2, "num_brokers"

    def placed(self) -> Positions:
        return by_prices(self.instance)

    def links_of(self, answer: ContentOverlay) -> list[Edge]:
        """The links of the trees; without trees those of a minimum spanning tree of the brokers with users."""
        if answer.trees:
            return sorted({link for tree in answer.trees for link in tree.links})
        return sorted(spanning_links(self.instance, np.unique(answer.brokers).tolist()))

    def paint(self, axes: Axes, number: int, part: int = -1) -> None:
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
        labels = [instance.broker_label(b) for b in range(instance.num_brokers)]
        fill = dict.fromkeys(np.unique(used).tolist(), CENTRE)
        graph.nodes(labels, fill, degrees=None if graph.labelled else degrees)

    def _users(self, graph: GraphAxes, brokers: npt.NDArray[np.int32]) -> None:
        """The users of each broker on a circle around it; their number where they are many."""
        radius = 17 * graph.point * graph.scale
        labels = shortened([self.instance.user_label(user) for user in range(len(brokers))])
        for b in np.unique(brokers).tolist():
            users = np.flatnonzero(brokers == b).tolist()
            if len(brokers) > _MOST_USERS:
                graph.text(f"{len(users)} users", self.positions[b] - np.array([0, radius]))
                continue
            for at, user in zip(circle(len(users)) * radius + self.positions[b], users, strict=True):
                graph.axes.plot(*np.stack([self.positions[b], at]).T, color=_USER, linewidth=0.7, zorder=1.8)
                graph.text(labels[user], at + (at - self.positions[b]) * 0.35)
                graph.axes.update_datalim([at + (at - self.positions[b]) * 0.8])

    def legend(self) -> list[Line2D]:
        if not self.answers:
            return [dot("white", "broker"), line(_FAINT, "minimum spanning tree of the prices")]
        users = [line(_USER, "user")] if len(self.answers[0].brokers) <= _MOST_USERS else []
        entries = [dot(CENTRE, "broker with users"), dot("white", "other broker"), *users]
        return [*entries, *self.explained("link", line(PLAIN, "link with its price"))]


class BrokerTrees(Panels):
    """The soft links of the answers over one tree; without answers, the tree alone."""

    counted = "num_brokers"

    def placed(self) -> Positions:
        return tree_layout(self.instance)

    def links_of(self, answer: Any) -> list[Edge]:
        return sorted(set(pairs(answer.soft_links)))

    def paint(self, axes: Axes, number: int, part: int = -1) -> None:
        """Draw the tree, and the soft links of the answer of this number if there is one, as arrows to the receiver."""
        graph, tree = GraphAxes(axes, self.positions), self.instance.tree
        graph.edges(pairs(tree.links), PLAIN, 1.0)
        links = self.links[number] if self.answers else []
        few, apart = len(links) <= _FEW_LINKS, 5 if graph.labelled else 2
        look: dict[str, Any] = (
            {"mutation_scale": 5, "linewidth": 0.9} if few else {"mutation_scale": 3, "linewidth": 0.4}
        )
        look |= {"connectionstyle": "arc3,rad=0.2", "arrowstyle": "-|>", "linestyle": (0, (3, 2)), "zorder": 1.5}
        for u, v in links:
            shade = _SOFT if not self.options.differences else COMMON if (u, v) in self.common else HERE
            ends = tuple(self.positions[u]), tuple(self.positions[v])
            axes.add_patch(FancyArrowPatch(*ends, color=shade, shrinkA=apart, shrinkB=apart, **look))
        subscribed = np.unique(self.instance.subscriptions.brokers).tolist()
        degrees = tree.degrees.tolist() if self.options.degrees or not graph.labelled else None
        labels = [tree.label(v) for v in range(tree.num_brokers)]
        graph.nodes(labels, dict.fromkeys(subscribed, CENTRE), degrees=degrees)

    def legend(self) -> list[Line2D]:
        entries = [dot(CENTRE, "broker with subscriptions"), dot("white", "other broker"), line(PLAIN, "primary link")]
        return [*entries, *self.explained("soft link", line(_SOFT, "soft link", style="--"), "--")]


class SteinerTrees(Panels):
    """The trees on one graph in grey, with its terminals; without answers, the graph alone."""

    strong, thin = 2.4, 2.0

    def placed(self) -> Positions:
        return layout(self.size, pairs(self.instance.edges))

    def paint(self, axes: Axes, number: int, part: int = -1) -> None:
        graph, instance, edges = GraphAxes(axes, self.positions), self.instance, pairs(self.instance.edges)
        graph.edges(edges, _FAINT, 0.7 if graph.labelled else 0.4)
        self.paint_links(graph, number, 2)
        tree = self.links[number] if self.answers else []
        costs = dict(zip(edges, instance.costs.tolist(), strict=True))
        priced = edges if len(edges) <= _MOST_COSTS else tree if len(tree) <= _MOST_COSTS else []
        known = [edge for edge in priced if edge in costs]
        graph.label_edges(known, [f"{costs[edge]:g}" for edge in known])
        labels = [instance.node_label(v) for v in range(instance.num_nodes)]
        terminals = instance.terminals.tolist()
        graph.nodes(labels, shown=sorted(set(range(instance.num_nodes)) - set(terminals)))
        graph.nodes(labels, dict.fromkeys(terminals, CENTRE), marker="s", shown=terminals)

    def legend(self) -> list[Line2D]:
        entries = [dot(CENTRE, "terminal", "s"), dot("white", "other node"), line(_FAINT, "edge of the graph")]
        return [*entries, *self.explained("", line(PLAIN, "tree", 2))]


def pairs(edges: npt.NDArray[np.int32]) -> list[Edge]:
    """The rows of an array of shape (m, 2) as pairs."""
    return [(u, v) for u, v in edges.tolist()]


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


def star_centres(instance: TopicInstance, overlay: Overlay) -> list[int]:
    """One centre for each topic of three or more subscribers; none if some topic has no centre.

    A centre is adjacent to all other subscribers of its topic; of several the one of largest degree is taken.
    """
    graph: nx.Graph[int] = nx.Graph(pairs(overlay.edges))
    graph.add_nodes_from(range(instance.num_nodes))
    centres = set()
    for topic in range(instance.num_topics):
        members = instance.subscribers(topic).tolist()
        able = [v for v in members if {v, *graph[v]}.issuperset(members)]
        if not able:
            return []
        if len(members) > 2:
            centres.add(max(able, key=graph.degree))
    return sorted(centres)


def by_prices(instance: ContentInstance) -> Positions:
    """Positions of the brokers, at distances like the prices between them."""
    count, core = instance.num_brokers, instance.core
    lengths = {a: {b: max(float(core[a, b]), 1e-3) for b in range(count)} for a in range(count)}
    return layout(count, spanning_links(instance, range(count)), lengths)


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
