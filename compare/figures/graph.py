"""Graphs in figures: positions of nodes, and their edges, circles and labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import matplotlib as mpl
import networkx as nx
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D

from .style import INK

Positions = npt.NDArray[np.float64]
Edge = tuple[int, int]
Lengths = Mapping[int, Mapping[int, float]]

LABELLED = 40
"""The most nodes that get a label each."""
_MOST_BY_DISTANCE = 100
_AXES_POINTS, _BASE_SIZE = 235, 7.0  # the width for which sizes are chosen, and the font size there
_WIDEST_LABEL = 7


def circle(count: int) -> Positions:
    """Points on the unit circle, clockwise from the top. Shape (count, 2)."""
    angles = np.pi / 2 - 2 * np.pi * np.arange(count) / count
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def layout(num_nodes: int, edges: Iterable[Edge], lengths: Lengths | None = None) -> Positions:
    """Positions with few crossings, shape (|V|, 2): nodes of high degree come to lie inside.

    Parameters
    ----------
    num_nodes : int
    edges : iterable of (int, int)
    lengths : mapping, optional
        The distance wanted between any two nodes; by default their number of hops.

    Notes
    -----
    Kamada and Kawai (1989) up to 100 nodes, else Fruchterman and Reingold (1991); the same positions each time.
    """
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(num_nodes))
    graph.add_edges_from(edges)
    if num_nodes > _MOST_BY_DISTANCE:
        placed = nx.spring_layout(graph, seed=1)
    else:
        placed = nx.kamada_kawai_layout(graph, dist=lengths or _hops(graph))
    return np.array([placed[v] for v in range(num_nodes)]).round(3)


def _hops(graph: nx.Graph[int]) -> dict[int, dict[int, float]]:
    hops = dict(nx.all_pairs_shortest_path_length(graph))
    apart = max(max(row.values()) for row in hops.values()) + 1
    return {u: {v: float(hops[u].get(v, apart)) for v in graph} for u in graph}


@dataclass(frozen=True)
class NodeLook:
    """How nodes are drawn: by default white circles with an ink rim."""

    fill: Mapping[int, str] | None = None
    marker: str = "o"
    degrees: Sequence[int] | None = None
    shown: Sequence[int] | None = None


class GraphAxes:
    """Axes on which a graph is drawn, of equal scales and without a frame.

    Parameters
    ----------
    axes : Axes
    positions : float array, shape (|V|, 2)
    """

    def __init__(self, axes: Axes, positions: Positions) -> None:
        self.axes, self.positions = axes, positions
        spread = max(float(np.ptp(positions, axis=0).max()), 0.5)
        margin = 0.14 * spread
        axes.set_aspect("equal")
        axes.set_axis_off()
        axes.set_xlim(positions[:, 0].min() - margin, positions[:, 0].max() + margin)
        axes.set_ylim(positions[:, 1].min() - margin, positions[:, 1].max() + margin)
        self.scale = float(mpl.rcParams["font.size"]) / _BASE_SIZE
        self.point = (spread + 2 * margin) / _AXES_POINTS
        self.labelled = len(positions) <= LABELLED

    def edges(self, edges: Sequence[Edge], colour: str, width: float, **line: Any) -> None:
        """Straight lines; `width` in points; `line` as for matplotlib's LineCollection."""
        if len(edges):
            segments = [self.positions[list(edge)] for edge in edges]
            look = {"capstyle": "butt", "zorder": 1, **line}
            self.axes.add_collection(LineCollection(segments, colors=colour, linewidths=width, **look))

    def bands(self, edges: Sequence[Edge], colours: Sequence[Sequence[str]], width: float, widest: float) -> None:
        """Each edge as parallel lines in its colours, of `width` points each and `widest` together."""
        segments, shades, widths = [], [], []
        for edge, own in zip(edges, colours, strict=True):
            one = min(width, widest / max(len(own), 1))
            ends = self.positions[list(edge)]
            along = ends[1] - ends[0]
            across = np.array([-along[1], along[0]]) / max(float(np.hypot(*along)), 1e-9) * self.point * one
            for number, shade in enumerate(own):
                segments.append(ends + across * (number - (len(own) - 1) / 2))
                shades.append(shade)
                widths.append(one)
        self.axes.add_collection(LineCollection(segments, colors=shades, linewidths=widths, capstyle="butt", zorder=1))

    def nodes(self, labels: Sequence[str], look: NodeLook = NodeLook()) -> None:
        """Circles with their labels inside up to 40 nodes; beyond that points whose area grows with the degree."""
        count = len(self.positions)
        shown = range(count) if look.shown is None else look.shown
        fill = [(look.fill or {}).get(v, "white") for v in shown]
        sizes: float | list[float] = 150 * self.scale**2
        if not self.labelled:
            most = max(look.degrees, default=1) if look.degrees is not None else 1
            degrees = look.degrees if look.degrees is not None else [0] * count
            sizes = [6 + 40 * degrees[v] / max(most, 1) for v in shown]
        x, y = self.positions[list(shown)].T
        self.axes.scatter(
            x, y, s=sizes, c=fill, edgecolors=INK, linewidths=0.7, marker=look.marker, zorder=2, clip_on=False
        )
        for v in shown if self.labelled else ():
            self.text(shortened(labels[v]), self.positions[v], 6.5, boxed=len(labels[v]) > 3)  # wider than its circle
            if look.degrees is not None:
                self.text(str(look.degrees[v]), self.positions[v] + 9 * self.scale * self.point)

    def label_edges(self, edges: Sequence[Edge], texts: Sequence[str]) -> None:
        """A text on each edge, not in its middle, where a node may lie."""
        for (u, v), text in zip(edges, texts, strict=True):
            self.text(text, 0.6 * self.positions[u] + 0.4 * self.positions[v])

    def text(self, text: str, at: Positions, size: float = 6.0, *, boxed: bool = True) -> None:
        """A text around a point, in points; `boxed` is readable across lines."""
        # A box rather than an outline, which would turn the text into paths.
        box = {"boxstyle": "square,pad=0.08", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
        self.axes.annotate(
            text,
            (at[0], at[1]),
            ha="center",
            va="center",
            fontsize=size * self.scale,
            zorder=3,
            color=INK,
            bbox=box if boxed else None,
        )


def shortened(label: str) -> str:
    """At most the first characters of a label that fit beside others."""
    return label if len(label) <= _WIDEST_LABEL else label[: _WIDEST_LABEL - 1] + "…"


def line(colour: str, label: str, width: float = 1.0, style: Literal["-", "--"] = "-") -> Line2D:
    """An entry of a legend for edges."""
    return Line2D([], [], color=colour, linewidth=width, linestyle=style, label=label)


def dot(colour: str, label: str, marker: str = "o") -> Line2D:
    """An entry of a legend for nodes."""
    look: dict[str, Any] = {"marker": marker, "markersize": 6, "markeredgecolor": INK, "markeredgewidth": 0.7}
    return Line2D([], [], linestyle="none", markerfacecolor=colour, label=label, **look)
