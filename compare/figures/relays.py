"""A picture of a content construction: the cheapest trees between brokers without relays and with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import networkx as nx
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...instances.content.instance import ContentInstance
from ...instances.content.overlay import ContentOverlay
from ..catalogue import method_named, problem_named, workload_named
from .style import INK, QUIET, TOPIC_COLOURS, Drawing, drawing, styled

PICTURED_CONTENT: Mapping[str, dict[str, Any]] = {
    "steiner-overlay": {"nodes": 9, "edges": 12, "terminals": 4, "seed": 12},
    "relay-star": {"rim": 5},
}
_PROBLEMS = {"content-mst": "without relays", "content-steiner": "with relays"}


def relay_drawing(name: str) -> Drawing:
    """The construction of that name at a small size, with overlays proven cheapest under both routings."""
    parameters, workload = PICTURED_CONTENT[name], workload_named(name)
    instance = workload.generate(**parameters)
    exact = method_named("branch-and-cut")
    with styled():
        page = Figure(figsize=(6.2, 2.8), layout="constrained")
        for axes, (problem, title) in zip(page.subplots(1, 2), _PROBLEMS.items(), strict=True):
            best = exact.run(instance, problem_named(problem), time_limit=60.0)
            axes.set_title(f"{title}: {best.value:g} ({best.status})")
            if best.answer is not None:
                _brokers(axes, instance, best.answer)
        shown = ", ".join(f"{key} = {value}" for key, value in parameters.items())
        caption = (
            f"{workload.source}, `{name}` with {shown}: overlays of proven least cost for content-mst and for "
            "content-steiner. Filled are brokers with users."
        )
        return drawing(page, name, caption)


def _brokers(axes: Axes, instance: ContentInstance, overlay: ContentOverlay) -> None:
    """b0 of a star in the middle, all others on a circle."""
    count = instance.num_brokers
    around = np.pi / 2 - 2 * np.pi * np.arange(count) / count
    x, y = np.cos(around), np.sin(around)
    if instance.broker_label(0) == "b0":
        around = np.pi / 2 - 2 * np.pi * np.arange(count - 1) / (count - 1)
        x, y = np.append(0.0, np.cos(around)), np.append(0.0, np.sin(around))
    used = sorted(set(overlay.brokers.tolist()))
    for a, b in _links(instance, overlay, used):
        axes.plot([x[a], x[b]], [y[a], y[b]], color=QUIET, linewidth=1, zorder=1)
        middle = (0.5 * (x[a] + x[b]), 0.5 * (y[a] + y[b]))
        axes.annotate(f"{instance.core[a, b]:g}", middle, ha="center", va="center", fontsize=5.5, color=INK)
    filled = [TOPIC_COLOURS[1] if b in used else "white" for b in range(count)]
    axes.scatter(x, y, s=20, c=filled, edgecolors=TOPIC_COLOURS[1], zorder=2)
    for b in range(count):
        users = " ".join(instance.user_label(u) for u in np.flatnonzero(overlay.brokers == b).tolist())
        place = (1.2 * x[b], 1.2 * y[b] + (0.15 if x[b] == y[b] == 0 else 0))
        label = f"{instance.broker_label(b)} {users}".strip()
        axes.annotate(label, place, ha="center", va="center", fontsize=5.5, color=INK)
    axes.set_aspect("equal")
    axes.set_xlim(-1.5, 1.5)
    axes.set_ylim(-1.35, 1.35)
    axes.set_axis_off()


def _links(instance: ContentInstance, overlay: ContentOverlay, used: list[int]) -> list[tuple[int, int]]:
    if overlay.trees:
        return [link for tree in overlay.trees for link in tree.links]
    graph: nx.Graph[int] = nx.Graph()
    graph.add_weighted_edges_from((a, b, instance.core[a, b]) for a in used for b in used if a < b)
    return list(nx.minimum_spanning_edges(graph, data=False))
