"""Drawings of instances and of answers side by side, for every kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any, NamedTuple, Protocol

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D

from ...instances.catalogue import PROBLEMS
from ...instances.errors import BadInput
from ...instances.kind import Kind
from ...instances.kinds import kind_of
from ...instances.result import Result
from .broker_tree import BrokerTrees
from .content_overlay import ContentOverlays
from .draw_options import DEFAULT, DrawOptions
from .notebook import NotebookFigure
from .steiner_tree import SteinerTrees
from .style import styled
from .topic_overlay import TopicOverlays, instance_figure

MOST_NODES, MOST_ANSWERS = 1000, 6
_PANEL, _COLUMNS, _LINE = 3.4, 3, 0.0185  # inches, panels side by side, and inches a line of text for each point
_MEASURES = 2


class Panels(Protocol):
    """The drawings of several answers to one instance, with the same positions of the nodes."""

    @property
    def parts(self) -> Sequence[tuple[int, str]]:
        """What each panel of an answer shows: a number and a label, or -1 and "" for all of it."""

    def paint(self, axes: Axes, number: int, part: int) -> None:
        """Draw a part of the answer of this number; without answers, the instance."""

    def legend(self) -> list[Line2D]:
        """The entries that explain colours and marks."""


_PANELS: Mapping[str, Any] = {
    "topics": TopicOverlays,
    "content": ContentOverlays,
    "brokers": BrokerTrees,
    "steiner": SteinerTrees,
}


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
    >>> figure.axes[0].get_title(loc="left")
    'answer 1'
    """
    kind = kind_of(instance)
    if (count := kind.size(instance)[kind.sizes[0]]) > MOST_NODES:
        raise BadInput(f"a drawing of {count} {kind.sizes[0]}: at most {MOST_NODES}: draw a sample")
    if len(answers) > MOST_ANSWERS:
        raise BadInput(f"{len(answers)} answers in one drawing: at most {MOST_ANSWERS}: leave some out")
    named = [_named(answer, number, options) for number, answer in enumerate(answers)]
    with styled(options.figure):
        if not named and kind.name == "topics":
            return instance_figure(instance, options)
        titles = [(each.name, _facts(kind, instance, each)) for each in named] or [
            (options.title or _size(kind, instance), "")
        ]
        panels: Panels = _PANELS[kind.name](instance, [each.answer for each in named], options)
        return _figure(panels, titles, options)


class _Named(NamedTuple):
    """An answer with its name, and the problem that it is said to answer, or ""."""

    name: str
    answer: Any
    problem: str


def _named(answer: Any, number: int, options: DrawOptions) -> _Named:
    name = options.names[number] if number < len(options.names) else ""
    if not isinstance(answer, Result):
        return _Named(name or f"answer {number + 1}", answer, options.problem)
    if answer.answer is None:
        raise BadInput(f"the result of {answer.method} has no answer ({answer.status}): leave it out")
    return _Named(name or f"{answer.method} ({answer.status})", answer.answer, options.problem or answer.problem)


def _facts(kind: Kind[Any, Any], instance: Any, named: _Named) -> str:
    """Value, measures and validity: two lines or more."""
    problems = [problem for problem in PROBLEMS.values() if problem.kind == kind.name]
    violations = {problem.name: problem.violations(instance, named.answer) for problem in problems}
    valid = [name for name, found in violations.items() if not found]
    preferred = kind.default_problem in valid or not valid
    problem = PROBLEMS.named(named.problem or (kind.default_problem if preferred else valid[0]))
    if problem.name not in violations:
        raise BadInput(f"{named.name}: problem '{problem.name}' is not about {kind.name}: take {', '.join(violations)}")
    value = problem.value(instance, named.answer)
    measures = problem.measures(instance, named.answer).items()
    others = [f"{key.replace('_', ' ')} {each:,.6g}" for key, each in measures if each != value]
    verdict = f"valid for {', '.join(valid)}" if valid else "valid for no problem"
    if found := violations[problem.name]:
        verdict = f"invalid for {problem.name}: {found[0]}"
    return ", ".join([f"{problem.name} {value:,.6g}", *others[:_MEASURES]]) + "\n" + verdict


def _size(kind: Kind[Any, Any], instance: Any) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in kind.size(instance).items())


def _figure(panels: Panels, titles: Sequence[tuple[str, str]], options: DrawOptions) -> Figure:
    cells = [(number, part, label) for number in range(len(titles)) for part, label in panels.parts]
    columns = min(len(cells), len(panels.parts) if len(panels.parts) > 1 else _COLUMNS, _COLUMNS)
    lines, legend = -(-len(cells) // columns), panels.legend()
    width = options.figure.width or _PANEL * max(columns, 1.3)
    size = options.figure.font_size
    letters = int(width / columns * 72 / (0.58 * size))
    texts = [[row for fact in facts.split("\n") for row in wrap(fact, letters)] for _, facts in titles]
    rows = max(map(len, texts)) if len(panels.parts) == 1 else 0
    below = 0.02 * size * -(-len(legend) // _entries(width, size)) + 0.12 if legend else 0
    height = lines * (width / max(columns, 1.3) + _LINE * size * (rows + 1)) + below
    figure = NotebookFigure(figsize=(width, height), layout=ConstrainedLayoutEngine(h_pad=0.09))
    for cell, (number, part, label) in enumerate(cells, 1):
        axes = figure.add_subplot(lines, columns, cell)
        panels.paint(axes, number, part)
        name = titles[number][0]
        axes.set_title((f"{name}, topic {label}" if label else name) + "\n" * rows, linespacing=1.25)
        if rows:
            text = "\n".join(texts[number] + [""] * (rows - len(texts[number])))
            look = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "bottom", "linespacing": 1.25}
            axes.annotate(text, (0, 1), (0, 4), **look).set_in_layout(False)
    if legend:
        figure.legend(handles=legend, loc="outside lower center", ncols=_entries(width, size))
    return figure


def _entries(width: float, size: float) -> int:
    return max(2, int(width / (0.22 * size)))
