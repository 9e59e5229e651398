"""Drawings of instances and of answers side by side, for every kind."""

from __future__ import annotations

from textwrap import wrap
from typing import Any

from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from .notebook import NotebookFigure
from .prepared import PanelGrid, prepare
from .style import DEFAULT, DrawOptions, styled

_PANEL, _COLUMNS, _LINE = 3.4, 3, 0.0185  # inches, panels side by side, and inches a line of text for each point


def draw(instance: Any, *answers: Any, options: DrawOptions = DEFAULT) -> Figure:
    """Draw an instance, or answers to it side by side.

    A topic instance alone is drawn as the matrix of its subscriptions. Labels are left out above 40 nodes.

    Parameters
    ----------
    instance : TopicInstance, ContentInstance, BrokerNetwork or SteinerInstance
    *answers
        Answers to it (overlays, assignments, soft links, trees), or results that have one; at most 6.
    options : DrawOptions

    Returns
    -------
    matplotlib.figure.Figure
        It shows itself in a notebook; :func:`.save` writes it.

    Raises
    ------
    BadInput
        If there are more than 1,000 nodes or 6 answers, an answer is of another instance, or a topic is unknown.

    Notes
    -----
    Nodes are placed after Kamada and Kawai (1989) up to 100 nodes, O(|V|³), after Fruchterman and Reingold (1991)
    beyond, and brokers of a tree around its centre.

    Examples
    --------
    >>> import overlaybench as ob
    >>> instance = ob.TopicInstance.from_subscriptions({"n0": ["a", "b"], "n1": ["a", "b"], "n2": ["b"]})
    >>> figure = ob.draw(instance, ob.Overlay.from_edges(3, [(0, 1), (1, 2)]))
    >>> figure.axes[0].get_title(loc="left").strip()
    'answer 1'
    """
    with styled(options.figure):
        return _figure(prepare(instance, answers, options), options)


def _figure(prepared: PanelGrid, options: DrawOptions) -> Figure:
    columns = min(prepared.columns, _COLUMNS)
    lines, legend = -(-len(prepared.cells) // columns), prepared.panels.legend()
    width = options.figure.width or _PANEL * max(columns, 1.3)
    size = options.figure.font_size
    letters = int(width / columns * 72 / (0.58 * size))
    texts = [
        [row for fact in cell.facts.split("\n") for row in wrap(fact, letters, break_on_hyphens=False)]
        for cell in prepared.cells
    ]
    rows = max(map(len, texts))
    entries = max(2, int(width / (0.22 * size)))
    below = 0.02 * size * -(-len(legend) // entries) + 0.12 if legend else 0
    height = lines * (width / max(columns, 1.3) * prepared.panels.shape + _LINE * size * (rows + 1)) + below
    figure = NotebookFigure(figsize=(width, height), layout=ConstrainedLayoutEngine(h_pad=0.09))
    for index, (cell, text) in enumerate(zip(prepared.cells, texts, strict=True), 1):
        axes = figure.add_subplot(lines, columns, index)
        prepared.panels.paint(axes, cell.number, cell.part)
        axes.set_title(cell.title + "\n" * rows, linespacing=1.25)
        if rows:
            below_title = "\n".join(text + [""] * (rows - len(text)))
            axes.annotate(
                below_title,
                (0, 1),
                (0, 4),
                xycoords="axes fraction",
                textcoords="offset points",
                va="bottom",
                linespacing=1.25,
            ).set_in_layout(False)
    if legend:
        figure.legend(handles=legend, loc="outside lower center", ncols=entries)
    return figure
