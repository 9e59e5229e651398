"""The subscriptions of a topic instance as a matrix."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ...instances.topics.instance import TopicInstance
from .style import DEFAULT, DrawOptions, plain_ticks

_ROW, _WIDTH, _LEAST, _MOST = 0.115, 4.4, 0.5, 2.0  # inches a node, and of the width; and heights ÷ width
_BASE_SIZE, _LEAST_TEXT = 7.0, 6.0 / 7  # points, and of the font size
_MOST_TOPICS, _LONGEST = 16, 4


class SubscriptionMatrix:
    """A row a node, a column a topic; subscriptions are black. Labels are left out where rows are too narrow."""

    parts = ((-1, ""),)

    def __init__(self, instance: TopicInstance, answers: Sequence[object] = (), options: DrawOptions = DEFAULT) -> None:
        self.instance = instance
        scale = float(mpl.rcParams["font.size"]) / _BASE_SIZE
        self.shape = min(max((0.5 + _ROW * instance.num_nodes) * scale / _WIDTH, _LEAST), _MOST)

    def paint(self, axes: Axes, number: int = 0, part: int = -1) -> None:
        """Draw the matrix."""
        instance, size = self.instance, float(mpl.rcParams["font.size"])
        interest = np.zeros((instance.num_nodes, instance.num_topics))
        interest[np.repeat(np.arange(instance.num_nodes), np.diff(instance.node_offsets)), instance.node_topics] = 1
        axes.imshow(1 - interest, cmap="gray", aspect="auto", interpolation="nearest", vmin=-0.3, vmax=1)
        axes.set_xlabel(f"{instance.num_topics} topics")
        axes.set_xticks([])
        topics = [instance.topic_label(t) for t in range(instance.num_topics)]
        if len(topics) <= _MOST_TOPICS and max(map(len, topics)) <= _LONGEST:
            plain_ticks(axes.xaxis, range(len(topics)), topics)
            axes.tick_params(axis="x", labelsize=_LEAST_TEXT * size, length=0)
        axes.set_yticks([])
        figure = axes.get_figure(root=True)
        height = 0.0 if figure is None else figure.get_figheight()
        if instance.num_nodes * _ROW * size / _BASE_SIZE <= height:
            nodes = range(instance.num_nodes)
            plain_ticks(axes.yaxis, nodes, [instance.node_label(v) for v in nodes])
            axes.tick_params(axis="y", labelsize=_LEAST_TEXT * size, length=0)
        else:
            axes.set_ylabel(f"{instance.num_nodes} nodes")
        axes.grid(visible=False)

    def legend(self) -> list[Line2D]:
        """No entry."""
        return []
