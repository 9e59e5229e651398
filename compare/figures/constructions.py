"""Figures of the papers' constructions: the instance at a small size with overlays proven optimal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...instances.content.instance import ContentInstance
from ...instances.content.overlay import ContentOverlay
from ...instances.errors import BadInput
from ...instances.overlay import Overlay
from ...instances.result import Result
from ...instances.topics.instance import TopicInstance
from ..catalogue import method_named, problem_named, workload_named
from .style import INK, QUIET, TOPIC_COLOURS, Drawing, drawing, styled

# The parameters of each drawn construction, and the problem that its overlay solves ("" for content).
DRAWN: Mapping[str, tuple[dict[str, Any], str]] = {
    "greedy-merge-cuboid": ({"k": 3, "m": 4}, "min-tco"),
    "minmax-oda-matchings": ({"n": 6}, "min-tco"),
    "nested-subscriptions": ({"n": 8}, "2d-true"),
    "weighted-nested-subscriptions": ({"n": 2}, "2d-true"),
    "case-seven": ({"n": 8}, "2d-true"),
    "binary-tree-of-topics": ({"h": 3}, "minmax-tco"),
    "set-cover-single-node": ({"elements": 6, "sets": 4}, "min-tco"),
    "set-cover-duplicated": ({"elements": 6, "sets": 3}, "minmax-tco"),
    "set-cover-repeated": ({"elements": 4, "sets": 3}, "min-tco"),
    "steiner-overlay": ({"nodes": 9, "edges": 12, "terminals": 4, "seed": 12}, ""),
    "relay-star": ({"rim": 5}, ""),
}
_ROUTINGS = {"content-mst": "without relays", "content-steiner": "with relays"}

Coordinates = npt.NDArray[np.float64]


def construction_drawing(name: str) -> Drawing:
    """A construction at a small size with an overlay proven optimal; for content, one for each of two routings.

    Raises
    ------
    BadInput
        If `name` is not in `DRAWN`.
    """
    if name not in DRAWN:
        raise BadInput(f"no figure of '{name}': choose one of {', '.join(DRAWN)}")
    parameters, problem = DRAWN[name]
    workload = workload_named(name)
    instance = workload.generate(**{"seed": 1, **parameters})
    with styled():
        if problem:
            page, shown = _topics(instance, problem)
        else:
            page, shown = _content(instance)
        values = ", ".join(f"{key} = {value}" for key, value in parameters.items())
        return drawing(page, name, f"{workload.source}, `{name}` with {values}: {shown}.")


def _topics(instance: TopicInstance, problem: str) -> tuple[Figure, str]:
    """The subscriptions as a matrix beside the overlay."""
    best = _solved(instance, problem)
    page = Figure(figsize=(6.2, 2.6), layout="constrained")
    matrix, circle = page.subplots(1, 2, width_ratios=(1.5, 1))
    _subscriptions(matrix, instance)
    _overlay(circle, instance, best.answer)
    shown = f"and an overlay of value {best.value:g} for {problem} ({best.status})"
    return page, f"{instance.num_nodes} nodes, {instance.num_topics} topics, {shown}"


def _solved(instance: Any, problem: str) -> Result[Any]:
    exact = method_named("cp-sat" if problem.startswith("2d-") else "branch-and-cut")
    return exact.run(instance, problem_named(problem), time_limit=60.0)


def _subscriptions(axes: Axes, instance: TopicInstance) -> None:
    interest = np.zeros((instance.num_nodes, instance.num_topics))
    for node in range(instance.num_nodes):
        interest[node, instance.topics_of(node)] = 1
    axes.imshow(1 - interest, cmap="gray", aspect="auto", interpolation="nearest", vmin=-0.3, vmax=1)
    axes.set_yticks(range(instance.num_nodes), [instance.node_label(v) for v in range(instance.num_nodes)])
    axes.tick_params(axis="y", labelsize=min(6.5, 90 / instance.num_nodes))
    axes.set_xlabel(f"{instance.num_topics} topics")
    axes.set_xticks([])
    axes.grid(visible=False)


def _overlay(axes: Axes, instance: TopicInstance, overlay: Overlay | None) -> None:
    x, y = _circle(instance.num_nodes)
    for u, v in [] if overlay is None else overlay.edges.tolist():
        axes.plot([x[u], x[v]], [y[u], y[v]], color=QUIET, linewidth=0.8, zorder=1)
    axes.scatter(x, y, s=14, color=TOPIC_COLOURS[1], zorder=2)
    for node in range(instance.num_nodes):
        _text(axes, instance.node_label(node), 1.15 * x[node], 1.15 * y[node])
    _frame(axes, 1.35)


def _content(instance: ContentInstance) -> tuple[Figure, str]:
    """The overlays without and with relays, side by side."""
    page = Figure(figsize=(6.2, 2.8), layout="constrained")
    for axes, (problem, title) in zip(page.subplots(1, 2), _ROUTINGS.items(), strict=True):
        best = _solved(instance, problem)
        axes.set_title(f"{title}: {best.value:g} ({best.status})")
        if best.answer is not None:
            _brokers(axes, instance, best.answer)
    return page, "overlays of proven least cost for content-mst and for content-steiner. Filled are brokers with users"


def _brokers(axes: Axes, instance: ContentInstance, overlay: ContentOverlay) -> None:
    """The brokers on a circle; b0 of a star is its centre."""
    count = instance.num_brokers
    x, y = _circle(count)
    if instance.broker_label(0) == "b0":
        x, y = (np.append(0.0, rim) for rim in _circle(count - 1))
    used = sorted(set(overlay.brokers.tolist()))
    for a, b in _links(instance, overlay, used):
        axes.plot([x[a], x[b]], [y[a], y[b]], color=QUIET, linewidth=1, zorder=1)
        _text(axes, f"{instance.core[a, b]:g}", 0.5 * (x[a] + x[b]), 0.5 * (y[a] + y[b]))
    filled = [TOPIC_COLOURS[1] if b in used else "white" for b in range(count)]
    axes.scatter(x, y, s=20, c=filled, edgecolors=TOPIC_COLOURS[1], zorder=2)
    for b in range(count):
        users = " ".join(instance.user_label(u) for u in np.flatnonzero(overlay.brokers == b).tolist())
        label = f"{instance.broker_label(b)} {users}".strip()
        _text(axes, label, 1.2 * x[b], 1.2 * y[b] + (0.15 if x[b] == y[b] == 0 else 0))
    _frame(axes, 1.5)


def _links(instance: ContentInstance, overlay: ContentOverlay, used: list[int]) -> Iterable[tuple[int, int]]:
    if overlay.trees:
        return [link for tree in overlay.trees for link in tree.links]
    graph: nx.Graph[int] = nx.Graph()
    graph.add_weighted_edges_from((a, b, instance.core[a, b]) for a in used for b in used if a < b)
    return list(nx.minimum_spanning_edges(graph, data=False))


def _circle(count: int) -> tuple[Coordinates, Coordinates]:
    """Points on the unit circle, clockwise from the top."""
    angles = np.pi / 2 - 2 * np.pi * np.arange(count) / count
    return np.cos(angles), np.sin(angles)


def _text(axes: Axes, text: str, x: float, y: float) -> None:
    axes.annotate(text, (x, y), ha="center", va="center", fontsize=5.5, color=INK)


def _frame(axes: Axes, width: float) -> None:
    axes.set_aspect("equal")
    axes.set_xlim(-width, width)
    axes.set_ylim(-1.35, 1.35)
    axes.set_axis_off()
