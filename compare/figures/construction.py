"""A picture of a construction: who wants what, and an overlay that is proven best."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...instances.errors import BadInput
from ...instances.overlay import Overlay
from ...instances.topics.instance import TopicInstance
from ..catalogue import method_named, problem_named, workload_named
from .style import INK, QUIET, TOPIC_COLOURS, Drawing, drawing, styled

PICTURED: Mapping[str, tuple[dict[str, Any], str]] = {
    "greedy-merge-cuboid": ({"k": 3, "m": 4}, "min-tco"),
    "minmax-oda-matchings": ({"n": 6}, "min-tco"),
    "nested-subscriptions": ({"n": 8}, "2d-true"),
    "weighted-nested-subscriptions": ({"n": 2}, "2d-true"),
    "case-seven": ({"n": 8}, "2d-true"),
    "binary-tree-of-topics": ({"h": 3}, "minmax-tco"),
    "set-cover-single-node": ({"elements": 6, "sets": 4}, "min-tco"),
    "set-cover-duplicated": ({"elements": 6, "sets": 3}, "minmax-tco"),
    "set-cover-repeated": ({"elements": 4, "sets": 3}, "min-tco"),
}


def construction_drawing(name: str) -> Drawing:
    """The construction of that name at a small size, with an overlay proven best for the problem it speaks of.

    Raises
    ------
    BadInput
        If there is no picture of that name.
    """
    if name not in PICTURED:
        raise BadInput(f"no picture of '{name}': there are {', '.join(PICTURED)}")
    parameters, problem = PICTURED[name]
    workload = workload_named(name)
    instance = workload.generate(seed=1, **parameters)
    exact = method_named("cp-sat" if problem.startswith("2d-") else "branch-and-cut")
    best = exact.run(instance, problem_named(problem), time_limit=60.0)
    with styled():
        page = Figure(figsize=(6.2, 2.6), layout="constrained")
        matrix, circle = page.subplots(1, 2, width_ratios=(1.5, 1))
        _subscriptions(matrix, instance)
        _overlay(circle, instance, best.answer)
        shown = ", ".join(f"{key} = {value}" for key, value in parameters.items())
        caption = (
            f"{workload.source}, `{name}` with {shown}: {instance.num_nodes} nodes, {instance.num_topics} topics, "
            f"and an overlay of value {best.value:g} for {problem} ({best.status})."
        )
        return drawing(page, name, caption)


def _subscriptions(axes: Axes, instance: TopicInstance) -> None:
    wants = np.zeros((instance.num_nodes, instance.num_topics))
    for node in range(instance.num_nodes):
        wants[node, instance.topics_of(node)] = 1
    axes.imshow(1 - wants, cmap="gray", aspect="auto", interpolation="nearest", vmin=-0.3, vmax=1)
    axes.set_yticks(range(instance.num_nodes), [instance.node_label(v) for v in range(instance.num_nodes)])
    axes.tick_params(axis="y", labelsize=min(6.5, 90 / instance.num_nodes))
    axes.set_xlabel(f"{instance.num_topics} topics")
    axes.set_xticks([])
    axes.grid(visible=False)


def _overlay(axes: Axes, instance: TopicInstance, overlay: Overlay | None) -> None:
    angles = np.pi / 2 - 2 * np.pi * np.arange(instance.num_nodes) / instance.num_nodes
    x, y = np.cos(angles), np.sin(angles)
    for u, v in [] if overlay is None else overlay.edges.tolist():
        axes.plot([x[u], x[v]], [y[u], y[v]], color=QUIET, linewidth=0.8, zorder=1)
    axes.scatter(x, y, s=14, color=TOPIC_COLOURS[1], zorder=2)
    for node in range(instance.num_nodes):
        place = (1.15 * x[node], 1.15 * y[node])
        axes.annotate(instance.node_label(node), place, ha="center", va="center", fontsize=5.5, color=INK)
    axes.set_aspect("equal")
    axes.set_xlim(-1.35, 1.35)
    axes.set_ylim(-1.35, 1.35)
    axes.set_axis_off()
