"""A proven optimal overlay beside a heuristic's for one small instance, each edge in the colours of its topics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from ...instances.overlay import Overlay
from ...instances.result import Status
from ...instances.topics.instance import TopicInstance
from ...instances.topics.kind import TOPICS
from ..studies.bounds import TOLERANCE, problem_order
from .style import INK, OTHER_TOPICS, TOPIC_COLOURS, Drawing, drawing, styled

_LARGEST = 80
_LABELLED = 40
_LINE_WIDTH, _EDGE_WIDTH = 1.7, 8.0  # of one topic, and at most of an edge, in points
_HIGHLIGHT = "#FFE7A3"


class RunPair(NamedTuple):
    """Two runs on one instance and problem: a proven optimal one, and another, a heuristic's where there is one."""

    optimal: Any
    other: Any
    worse: bool


def overlay_drawing(runs: pd.DataFrame, load_instance: Callable[[str], TopicInstance]) -> Drawing | None:
    """Draw an optimal overlay beside a heuristic's, with equal node positions; None if no run proved an optimum.

    Parameters
    ----------
    runs : DataFrame
        The runs with their bounds (`judged_runs`) and the column answer (u0, v0, u1, v1, … or None).
    load_instance : callable
        Maps a digest to its instance.
    """
    pair = most_informative_pair(runs)
    if pair is None:
        return None
    instance = load_instance(pair.optimal.instance)
    optimal, other = (TOPICS.unpack(run.answer, instance) for run in (pair.optimal, pair.other))
    colours = _topic_colours(instance)
    with styled():
        figure = Figure(figsize=(7.2, 3.9), layout="constrained")
        positions = _positions(instance, optimal, other)
        for column, (run, overlay) in enumerate(((pair.optimal, optimal), (pair.other, other)), 1):
            axes = figure.add_subplot(1, 2, column)
            shared = set(map(tuple, optimal.edges.tolist())) & set(map(tuple, other.edges.tolist()))
            _draw(axes, instance, overlay, positions, colours, shared)
            axes.set_title(_title(run, overlay, pair.optimal))
        handles = [Line2D([], [], color=c, linewidth=2.2, label=instance.topic_label(t)) for t, c in colours.items()]
        if len(colours) < instance.num_topics:
            others = f"{instance.num_topics - len(colours)} other topics"
            handles.append(Line2D([], [], color=OTHER_TOPICS, linewidth=2.2, label=others))
        figure.legend(handles=handles, loc="outside lower center", ncols=9, title="topics", title_fontsize=7)
        caption = _caption(pair, instance, optimal, other, len(colours))
        shown = dict.fromkeys([pair.optimal.anchor, pair.other.anchor])
        return drawing(figure, "overlay", caption, anchors=tuple(shown))


def most_informative_pair(runs: pd.DataFrame) -> RunPair | None:
    """The runs to draw: an optimum of Min-TCO and a worse answer of Greedy Merge, on the smallest such instance.

    Otherwise, in this order: a worse answer for another problem or by another heuristic, an equally good answer, the
    proven run alone.
    """
    small = runs[(runs["nodes"] <= _LARGEST) & runs["answer"].notna()]
    rank = {name: index for index, name in enumerate(problem_order(runs))}
    found: list[tuple[tuple[Any, ...], RunPair]] = []
    proofs = small[(small["status"] == Status.OPTIMAL)].sort_values(["exact", "key"], ascending=[False, True])
    proofs = proofs.drop_duplicates(["problem", "instance"])
    others = dict(list(small[~small["exact"].astype(bool)].groupby(["problem", "instance"])))
    for proof in proofs.itertuples():
        beside = others.get((proof.problem, proof.instance))
        for other in [proof] if beside is None else beside.itertuples():
            worse = other.value > proof.value + TOLERANCE
            usual = other.method == "gm" and proof.problem == "min-tco"
            # An overlay without edges shows nothing.
            preferred = (not proof.edges > 0, not worse, not usual, other is proof, other.method != "gm")
            size = (proof.nodes, proof.subscriptions, rank[proof.problem], proof.instance, -other.value, other.key)
            found.append(((*preferred, *size), RunPair(proof, other, bool(worse))))
    return min(found, key=lambda entry: entry[0])[1] if found else None


def _topic_colours(instance: TopicInstance) -> dict[int, str]:
    """A colour for each of the largest topics with at least two subscribers; smaller ones have no edge."""
    sizes = np.diff(instance.topic_offsets)
    ranked = [int(t) for t in np.argsort(-sizes, kind="stable") if sizes[t] > 1]
    return dict(zip(sorted(ranked[: len(TOPIC_COLOURS)]), TOPIC_COLOURS, strict=False))


def _positions(instance: TopicInstance, *overlays: Overlay) -> npt.NDArray[np.float64]:
    """Node positions, shape (|V|, 2): the layout by Kamada and Kawai (1989) of the union of the overlays."""
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(instance.num_nodes))
    for overlay in overlays:
        graph.add_edges_from(overlay.edges.tolist())
    lengths = dict(nx.all_pairs_shortest_path_length(graph))
    apart = max(max(row.values()) for row in lengths.values()) + 1
    distances = {u: {v: lengths[u].get(v, apart) for v in graph} for u in graph}
    layout = nx.kamada_kawai_layout(graph, dist=distances)
    return np.array([layout[v] for v in range(instance.num_nodes)]).round(3)


def _draw(
    axes: Axes,
    instance: TopicInstance,
    overlay: Overlay,
    positions: npt.NDArray[np.float64],
    colours: Mapping[int, str],
    in_both: Set[tuple[int, int]],
) -> None:
    axes.set_aspect("equal")
    axes.set_axis_off()
    margin = 0.14 * max(np.ptp(positions, axis=0).max(), 0.5)
    axes.set_xlim(positions[:, 0].min() - margin, positions[:, 0].max() + margin)
    axes.set_ylim(positions[:, 1].min() - margin, positions[:, 1].max() + margin)
    point = max(np.ptp(positions, axis=0).max() + 2 * margin, 0.1) / 235  # an axes is about 235 points wide
    segments, shades, widths, alone = [], [], [], []
    for u, v in overlay.edges.tolist():
        shared = np.intersect1d(instance.topics_of(u), instance.topics_of(v)).tolist()
        bands = [colours[t] for t in shared if t in colours]
        bands += [OTHER_TOPICS] if len(bands) < len(shared) else []
        width = min(_LINE_WIDTH, _EDGE_WIDTH / max(len(bands), 1))
        if (u, v) not in in_both:
            alone.append(([positions[u], positions[v]], width * max(len(bands), 1) + 6))
        along = positions[v] - positions[u]
        across = np.array([-along[1], along[0]]) / max(float(np.hypot(*along)), 1e-9) * point * width
        for number, shade in enumerate(bands or [INK]):
            shift = across * (number - (len(bands) - 1) / 2) if bands else 0 * across
            segments.append([positions[u] + shift, positions[v] + shift])
            shades.append(shade)
            widths.append(width)
    lines, highlights = [line for line, _ in alone], [wide for _, wide in alone]
    axes.add_collection(LineCollection(lines, colors=_HIGHLIGHT, linewidths=highlights, zorder=0))
    axes.add_collection(LineCollection(segments, colors=shades, linewidths=widths, capstyle="butt", zorder=1))
    labelled = instance.num_nodes <= _LABELLED
    x, y = positions.T
    axes.scatter(
        x, y, s=150 if labelled else 14, facecolors="white", edgecolors=INK, linewidths=0.7, zorder=2, clip_on=False
    )
    for node in range(instance.num_nodes if labelled else 0):
        text = axes.annotate(
            _short(instance.node_label(node)), positions[node], ha="center", va="center", fontsize=6.5, zorder=3
        )
        if len(text.get_text()) > 3:  # wider than its circle
            text.set_path_effects([withStroke(linewidth=1.2, foreground="white")])


def _short(label: str, most: int = 7) -> str:
    return label if len(label) <= most else label[: most - 1] + "…"


def _title(run: Any, overlay: Overlay, optimal: Any) -> str:
    edges = f"{overlay.num_edges} {'edge' if overlay.num_edges == 1 else 'edges'}"
    value = "" if run.problem in ("min-tco", "2d-star", "2d-true") else f", value {run.value:g}"
    if run.key == optimal.key:
        return f"{run.label}: {edges}{value} (proven optimal)"
    above = run.value - optimal.value
    return f"{run.label}: {edges}{value} ({f'+{above:g}' if above > TOLERANCE else 'as good'})"


def _caption(pair: RunPair, instance: TopicInstance, optimal: Overlay, other: Overlay, coloured: int) -> str:
    run = pair.optimal
    same = len({*map(tuple, optimal.edges.tolist())} & {*map(tuple, other.edges.tolist())})
    chosen = (
        f"the smallest instance on which {pair.other.method} is worse than the proven optimum"
        if pair.worse
        else "the smallest instance with a proven optimum; no heuristic that can be drawn was worse"
    )
    colouring = (
        "Each edge shows the topics both its ends subscribe to"
        if coloured == instance.num_topics
        else f"Each edge shows the topics both its ends subscribe to, the {coloured} largest in a colour each"
    )
    return (
        f"Two overlays of one instance ({run.family}, {instance.num_nodes} nodes, {instance.num_topics} topics, "
        f"{instance.num_subscriptions} subscriptions, {run.instance[:8]}) for {run.problem}: {chosen}. "
        f"{colouring}. Nodes have the same positions in both; {same} edges are in both overlays, the others are "
        "highlighted in yellow."
    )
