"""What all optimal overlays share: the edges of every one solid, those of some the thinner the fewer have them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ...instances.contract.errors import BadInput
from ...instances.topics.instance import TopicInstance
from ...models.topics.optima import EVERY, OPEN, SOME, SharedEdges
from .draw import MOST_NODES, Cell, grid
from .panels import HERE, PLAIN, Edge, GraphAxes, Panels, line, pairs
from .style import DEFAULT, INK, DrawOptions, styled

_SOLID, _WIDEST, _FINEST = 2.6, 1.3, 0.25  # points


class SharedPanel(Panels):
    """One panel; nodes are placed by the first overlay listed."""

    answers: Sequence[SharedEdges]

    def links_of(self, answer: SharedEdges) -> list[Edge]:
        """The edges of the first overlay."""
        return pairs(answer.overlays[0].edges) if answer.overlays else []

    def _of(self, name: str) -> tuple[list[Edge], Any]:
        found = self.answers[0]
        at = np.flatnonzero(found.classes == name)
        return pairs(found.edges[at]), found.shares[at]

    def paint(self, axes: Axes, number: int, part: int = -1) -> None:
        """Draw the edges by class, those of some overlays by the share that has them."""
        graph = GraphAxes(axes, self.positions)
        scale = 1.0 if self.size <= 80 else 0.5
        edges, shares = self._of(SOME)
        order = np.argsort(shares, kind="stable")
        widths = scale * (_FINEST + (_WIDEST - _FINEST) * shares[order])
        graph.edges([edges[k] for k in order], PLAIN, widths.tolist(), alpha=0.55)
        graph.edges(self._of(OPEN)[0], HERE, _FINEST * scale, linestyles="dashed")
        graph.edges(self._of(EVERY)[0], INK, _SOLID * scale)
        graph.nodes([self.instance.node_label(v) for v in range(self.size)])

    def legend(self) -> list[Line2D]:
        entries = {
            EVERY: line(INK, "in every optimum", _SOLID),
            SOME: line(PLAIN, "in some, by the share that has it", 0.8),
            OPEN: line(HERE, "open", 0.8, "--"),
        }
        return [entry for name, entry in entries.items() if (self.answers[0].classes == name).any()]


def shared_figure(
    instance: TopicInstance, found: SharedEdges, title: str, facts: str, options: DrawOptions = DEFAULT
) -> Figure:
    """Draw what optimal overlays share; more than 1,000 nodes are bad input."""
    if instance.num_nodes > MOST_NODES:
        raise BadInput(f"a drawing of {instance.num_nodes} nodes: at most {MOST_NODES}: write the .json instead")
    with styled(options.figure):
        return grid([Cell(SharedPanel(instance, [found], options), 0, -1, title, facts)], options.figure)
