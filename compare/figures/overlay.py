"""One small overlay drawn twice, optimal and greedy side by side, each edge in the colours of its topics."""

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
_STRAND, _RIBBON = 1.7, 8.0
_GROUND = "#FFE7A3"


class Couple(NamedTuple):
    """Two runs of one instance and problem: proven optimal, and a heuristic's (or another's) to set beside it."""

    optimal: Any
    other: Any
    worse: bool


def overlay_drawing(runs: pd.DataFrame, load_instance: Callable[[str], TopicInstance]) -> Drawing | None:
    """An optimal overlay beside a heuristic's, nodes in the same places; None where no run proved one optimal.

    Parameters
    ----------
    runs : DataFrame
        From `overlaybench.compare.report.tables.judged_runs`, with the column answer (u0, v0, u1, v1, … or None).
    load_instance : callable
        From a digest to its instance.
    """
    couple = most_telling(runs)
    if couple is None:
        return None
    instance = load_instance(couple.optimal.instance)
    optimal, other = (TOPICS.unpack(run.answer, instance) for run in (couple.optimal, couple.other))
    colours = _topic_colours(instance)
    with styled():
        figure = Figure(figsize=(7.2, 3.9), layout="constrained")
        places = _places(instance, optimal, other)
        for column, (run, overlay) in enumerate(((couple.optimal, optimal), (couple.other, other)), 1):
            axes = figure.add_subplot(1, 2, column)
            shared = set(map(tuple, optimal.edges.tolist())) & set(map(tuple, other.edges.tolist()))
            _draw(axes, instance, overlay, places, colours, shared)
            axes.set_title(_title(run, overlay, couple.optimal))
        handles = [Line2D([], [], color=c, linewidth=2.2, label=instance.topic_label(t)) for t, c in colours.items()]
        if len(colours) < instance.num_topics:
            others = f"{instance.num_topics - len(colours)} other topics"
            handles.append(Line2D([], [], color=OTHER_TOPICS, linewidth=2.2, label=others))
        figure.legend(handles=handles, loc="outside lower center", ncols=9, title="topics", title_fontsize=7)
        caption = _caption(couple, instance, optimal, other, len(colours))
        shown = dict.fromkeys([couple.optimal.anchor, couple.other.anchor])
        return drawing(figure, "overlay", caption, anchors=tuple(shown))


def most_telling(runs: pd.DataFrame) -> Couple | None:
    """The couple to draw: Min-TCO solved to optimality and Greedy Merge worse, on the smallest instance of that kind.

    Where there is none: another problem or heuristic that is worse, one that is not worse, a proven run alone.
    """
    small = runs[(runs["nodes"] <= _LARGEST) & runs["answer"].notna()]
    rank = {name: place for place, name in enumerate(problem_order(runs))}
    found: list[tuple[tuple[Any, ...], Couple]] = []
    proofs = small[(small["status"] == Status.OPTIMAL)].sort_values(["exact", "key"], ascending=[False, True])
    proofs = proofs.drop_duplicates(["problem", "instance"])
    others = dict(list(small[~small["exact"].astype(bool)].groupby(["problem", "instance"])))
    for proof in proofs.itertuples():
        beside = others.get((proof.problem, proof.instance))
        for other in [proof] if beside is None else beside.itertuples():
            worse = other.value > proof.value + TOLERANCE
            usual = other.method == "gm" and proof.problem == "min-tco"
            # A node with an edge makes a picture; one without does not.
            preferred = (not proof.edges > 0, not worse, not usual, other is proof, other.method != "gm")
            size = (proof.nodes, proof.subscriptions, rank[proof.problem], proof.instance, -other.value, other.key)
            found.append(((*preferred, *size), Couple(proof, other, bool(worse))))
    return min(found, key=lambda entry: entry[0])[1] if found else None


def _topic_colours(instance: TopicInstance) -> dict[int, str]:
    """A colour for the topics with most subscribers, if they have two: a topic with one has no edge to colour."""
    sizes = np.diff(instance.topic_offsets)
    ranked = [int(t) for t in np.argsort(-sizes, kind="stable") if sizes[t] > 1]
    return dict(zip(sorted(ranked[: len(TOPIC_COLOURS)]), TOPIC_COLOURS, strict=False))


def _places(instance: TopicInstance, *overlays: Overlay) -> npt.NDArray[np.float64]:
    """Where the nodes stand in both pictures, shape (|V|, 2): Kamada and Kawai's layout of the edges of both."""
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
    places: npt.NDArray[np.float64],
    colours: Mapping[int, str],
    in_both: Set[tuple[int, int]],
) -> None:
    axes.set_aspect("equal")
    axes.set_axis_off()
    margin = 0.14 * max(np.ptp(places, axis=0).max(), 0.5)
    axes.set_xlim(places[:, 0].min() - margin, places[:, 0].max() + margin)
    axes.set_ylim(places[:, 1].min() - margin, places[:, 1].max() + margin)
    point = max(np.ptp(places, axis=0).max() + 2 * margin, 0.1) / 235  # an axes is about 235 points wide
    segments, shades, widths, alone = [], [], [], []
    for u, v in overlay.edges.tolist():
        shared = np.intersect1d(instance.topics_of(u), instance.topics_of(v)).tolist()
        strands = [colours[t] for t in shared if t in colours]
        strands += [OTHER_TOPICS] if len(strands) < len(shared) else []
        width = min(_STRAND, _RIBBON / max(len(strands), 1))
        if (u, v) not in in_both:
            alone.append(([places[u], places[v]], width * max(len(strands), 1) + 6))
        along = places[v] - places[u]
        across = np.array([-along[1], along[0]]) / max(float(np.hypot(*along)), 1e-9) * point * width
        for number, shade in enumerate(strands or [INK]):
            shift = across * (number - (len(strands) - 1) / 2) if strands else 0 * across
            segments.append([places[u] + shift, places[v] + shift])
            shades.append(shade)
            widths.append(width)
    lines, grounds = [line for line, _ in alone], [wide for _, wide in alone]
    axes.add_collection(LineCollection(lines, colors=_GROUND, linewidths=grounds, zorder=0))
    axes.add_collection(LineCollection(segments, colors=shades, linewidths=widths, capstyle="butt", zorder=1))
    labelled = instance.num_nodes <= _LABELLED
    x, y = places.T
    axes.scatter(
        x, y, s=150 if labelled else 14, facecolors="white", edgecolors=INK, linewidths=0.7, zorder=2, clip_on=False
    )
    for node in range(instance.num_nodes if labelled else 0):
        text = axes.annotate(
            _short(instance.node_label(node)), places[node], ha="center", va="center", fontsize=6.5, zorder=3
        )
        if len(text.get_text()) > 3:  # it leaves its circle
            text.set_path_effects([withStroke(linewidth=1.2, foreground="white")])


def _short(label: str, most: int = 7) -> str:
    return label if len(label) <= most else label[: most - 1] + "…"


def _title(run: Any, overlay: Overlay, optimal: Any) -> str:
    edges = f"{overlay.num_edges} {'edge' if overlay.num_edges == 1 else 'edges'}"
    worth = "" if run.problem in ("min-tco", "2d-star", "2d-true") else f", value {run.value:g}"
    if run.key == optimal.key:
        return f"{run.label}: {edges}{worth} (proven optimal)"
    above = run.value - optimal.value
    return f"{run.label}: {edges}{worth} ({f'+{above:g}' if above > TOLERANCE else 'as good'})"


def _caption(couple: Couple, instance: TopicInstance, optimal: Overlay, other: Overlay, coloured: int) -> str:
    run = couple.optimal
    same = len({*map(tuple, optimal.edges.tolist())} & {*map(tuple, other.edges.tolist())})
    chosen = (
        f"the smallest instance on which {couple.other.method} is worse than the proven optimum"
        if couple.worse
        else "the smallest instance with a proven optimum; no heuristic that can be drawn was worse than an optimum"
    )
    colouring = (
        "Each edge shows the topics both its ends subscribe to"
        if coloured == instance.num_topics
        else f"Each edge shows the topics both its ends subscribe to, the {coloured} largest in colours of their own"
    )
    return (
        f"Two overlays of one instance ({run.family}, {instance.num_nodes} nodes, {instance.num_topics} topics, "
        f"{instance.num_subscriptions} subscriptions, {run.instance[:8]}) for {run.problem}: {chosen}. "
        f"{colouring}. Nodes stand in the same places; {same} edges are in both overlays, the others lie on yellow."
    )
