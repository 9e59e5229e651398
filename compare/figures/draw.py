"""Drawings of instances and of answers side by side, for every kind, as figures and as a page; and a report's one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path
from textwrap import wrap
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.backend_bases import RendererBase
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from ...instances.contract.catalogue import PROBLEMS, kind_of
from ...instances.contract.errors import BadInput
from ...instances.contract.files import atomic_write
from ...instances.contract.kind import Kind
from ...instances.contract.numbers import short
from ...instances.contract.result import Result, Status
from ...instances.contract.terms import said
from ...instances.runtime.compiled import interpreted_first
from ...instances.topics.files import TOPICS
from ...instances.topics.instance import TopicInstance
from ..catalogue import named_part
from ..printable import template
from ..studies.bounds import problem_order
from ..studies.proofs import TOLERANCE
from .files import figure_with_printable_texts
from .panels import Panels, SubscriptionMatrix, TopicOverlays
from .style import DEFAULT, Drawing, DrawOptions, FigureOptions, drawing, styled

MOST_NODES, MOST_ANSWERS = 1000, 6
ON_PAGE = FigureOptions(font_size=10.6, formats=())
"""Texts of a panel are 11 pixels high where the page is 390 wide."""
_MEASURES = 2
_PANEL, _COLUMNS, _LINE = 3.4, 3, 0.0185  # inches, panels side by side, and inches a line of text for each point
_LEAST_PANEL = 2.2  # inches
_HANDLE = 10  # letters before the text of an entry of the legend
_PAGE_PANEL = 4.0  # inches


class Cell(NamedTuple):
    """A panel: what paints it, the answer's number, the part of it, its title, and facts in two lines or none."""

    panels: Panels
    number: int
    part: int
    title: str
    facts: str = ""


class NotebookFigure(Figure):
    """A figure that is displayed where it is the value of a notebook's cell, with or without pyplot.

    Its background is white, so that it is readable in a dark theme too.
    """

    def draw(self, renderer: RendererBase) -> None:
        """Draw it; the limits of axes of equal scales, which matplotlib only ever enlarges, are set anew for it."""
        if engine := self.get_layout_engine():
            engine.execute(self)
            for axes in self.axes:
                axes.autoscale_view()
        super().draw(renderer)

    def _repr_svg_(self) -> str:
        page = StringIO()
        paths = mpl.rc_context({"svg.fonttype": "path"})  # the reader's browser may lack the font
        with styled(), paths:
            figure_with_printable_texts(self).savefig(page, format="svg", metadata={"Date": None}, facecolor="white")
        return page.getvalue()


def draw(instance: Any, *answers: Any, options: DrawOptions = DEFAULT) -> Figure:
    """Draw an instance, or answers to it side by side.

    A topic instance alone is drawn as the matrix of its subscriptions. Labels are left out above 40 nodes.

    Parameters
    ----------
    instance : TopicInstance, TopicTrace, ContentInstance, BrokerNetwork or SteinerInstance
    *answers
        At most 6 answers to it (overlays, logs of links or overlays, assignments, soft links, trees), or results that
        have one.
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
        return grid(cells_of(instance, answers, options), options.figure)


def grid(cells: Sequence[Cell], options: FigureOptions, *, panel: float = _PANEL) -> Figure:
    """The panels with titles and facts, in rows of one answer's parts or of three answers; the last one's legend below.

    A panel is `panel` inches wide; where the options have a width, fewer stand side by side if they would be narrow.
    """
    fitting = max(1, int(options.width / _LEAST_PANEL)) if options.width else _COLUMNS
    parts, legend = len(cells[-1].panels.parts), cells[-1].panels.legend()
    columns = min(parts if parts > 1 else len(cells), _COLUMNS, fitting)
    lines, size, width = -(-len(cells) // columns), options.font_size, options.width or panel * max(columns, 1.3)
    letters, wide = int(width / columns * 72 / (0.58 * size)), int(width * 72 / (0.58 * size)) - _HANDLE
    texts = [
        [row for fact in cell.facts.split("\n") for row in wrap(fact, letters, break_on_hyphens=False)]
        for cell in cells
    ]
    titles = [wrap(cell.title, int(0.8 * letters)) for cell in cells]
    rows, shape = max(map(len, texts)), max(cell.panels.shape for cell in cells)
    names = [str(entry.get_label()) for entry in legend]
    sizes = [_HANDLE + min(wide, len(name)) for name in names]
    several = range(len(names), 1, -1)
    entries = next((n for n in several if sum(map(max, np.array_split(sizes, n))) <= wide + _HANDLE), 1)
    for entry, name in zip(legend, names, strict=True):
        entry.set_label(name if len(name) <= wide else name[: wide - 1] + "…")
    below = 0.02 * size * -(-len(legend) // entries) + 0.12 if legend else 0
    above = _LINE * size * (rows + max(map(len, titles)))
    height = lines * (width / max(columns, 1.3) * shape + above) + below
    figure = NotebookFigure(figsize=(width, height), layout=ConstrainedLayoutEngine(h_pad=0.09))
    for index, (cell, title, text) in enumerate(zip(cells, titles, texts, strict=True), 1):
        axes = figure.add_subplot(lines, columns, index)
        cell.panels.paint(axes, cell.number, cell.part)
        axes.set_title("\n".join(title), pad=4 + 1.5 * size * rows)
        if rows:
            shown = "\n".join(text + [""] * (rows - len(text)))
            look: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "bottom"}
            axes.annotate(shown, (0, 1), (0, 4), linespacing=1.25, **look).set_in_layout(False)
    if legend:
        figure.legend(handles=legend, loc="outside lower center", ncols=entries)
    return figure


def cells_of(
    instance: Any, answers: Sequence[Any], options: DrawOptions, build: Callable[..., Panels] | None = None
) -> list[Cell]:
    """The panels of a drawing with their titles; `build` are by default the panels of the kind."""
    kind = kind_of(instance)
    if not kind.panels:
        raise BadInput(f"instances of the kind '{kind.name}' are not drawn: draw one of their snapshots")
    if (count := kind.size(instance)[kind.sizes[0]]) > MOST_NODES:
        raise BadInput(f"a drawing of {count} {kind.sizes[0]}: at most {MOST_NODES}: draw a sample")
    if len(answers) > MOST_ANSWERS:
        raise BadInput(f"{len(answers)} answers in one drawing: at most {MOST_ANSWERS}: leave some out")
    named = [_named(answer, number, options) for number, answer in enumerate(answers)]
    facts = interpreted_first(("judge", kind.name), lambda: [_facts(kind, instance, each) for each in named])
    if build is None:
        build = named_part(kind.panels) if named or kind.name != "topics" else SubscriptionMatrix
    panels = build(instance, [each.answer for each in named], options)
    if not named:
        size = said(", ".join(f"{count:,} {name}" for name, count in kind.size(instance).items()))
        return [Cell(panels, 0, -1, options.title or size)]
    if len(panels.parts) > 1:
        facts = [""] * len(named)
    return [
        Cell(panels, number, part, f"{each.name}, {label}" if label else each.name, facts[number])
        for number, each in enumerate(named)
        for part, label in panels.parts
    ]


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
    _check_fits(kind, instance, named)
    problems = [problem for problem in PROBLEMS.values() if problem.kind == kind.name and problem.stated]
    violations = {problem.name: problem.violations(instance, named.answer) for problem in problems}
    valid = [name for name, found in violations.items() if not found]
    preferred = kind.default_problem in valid or not valid
    problem = PROBLEMS.named(named.problem or (kind.default_problem if preferred else valid[0]))
    if problem.kind != kind.name:
        raise BadInput(f"{named.name}: problem '{problem.name}' is not about {kind.name}: take {', '.join(violations)}")
    value = problem.value(instance, named.answer)
    measures = problem.measures(instance, named.answer).items()
    others = [f"{key.replace('_', ' ')} {short(float(each))}" for key, each in measures if each != value]
    verdict = f"valid for {', '.join(valid)}" if valid else "valid for no problem"
    if found := violations.get(problem.name) or problem.violations(instance, named.answer):
        verdict = f"invalid for {problem.name}: {found[0]}"
    return ", ".join([f"{problem.name} {short(float(value))}", *map(said, others[:_MEASURES])]) + "\n" + verdict


def _check_fits(kind: Kind[Any, Any], instance: Any, named: _Named) -> None:
    """Raise BadInput if an answer is not of this kind, or of an instance of another size."""
    try:
        kind.labelled(named.answer, instance)
        fits = getattr(named.answer, "num_nodes", None) in (None, getattr(instance, "num_nodes", None))
        fits = fits and (kind.name != "content" or len(named.answer.brokers) == instance.num_users)
    except (AttributeError, IndexError, TypeError):
        fits = False
    if not fits:
        raise BadInput(f"{named.name} is no answer to this instance of {kind.name}: give one that is")


def save_page(path: Path, title: str, instance: Any, *answers: Any, options: DrawOptions = DEFAULT) -> None:
    """Draw as :func:`draw` does and write a page that loads nothing: its panels are below each other on a phone.

    Bad input as for :func:`draw`, and if the file cannot be written.
    """
    with styled(ON_PAGE):
        cells = cells_of(instance, answers, replace(options, figure=ON_PAGE))
        write_page(path, "figures/drawing.html", cells, title=title)


def write_page(path: Path, name: str, cells: Sequence[Cell], **given: Any) -> None:
    """Write a page of panels and their legend by a template; identifiers in panel k start with ``drawing`` and k."""
    panels = [(cell, _page_svg(cell, f"drawing{number}")) for number, cell in enumerate(cells)]
    atomic_write(path, template(name).render(panels=panels, legend=cells[0].panels.legend(), **given))


def _page_svg(cell: Cell, name: str) -> str:
    figure = NotebookFigure(figsize=(_PAGE_PANEL, _PAGE_PANEL * cell.panels.shape), layout="constrained")
    cell.panels.paint(figure.add_subplot(), cell.number, cell.part)
    return drawing(figure, name, "").svg


_LARGEST = 80


class RunPair(NamedTuple):
    """Two runs on one instance and problem: a proven optimal one, and another, a heuristic's where there is one."""

    optimal: Any
    other: Any

    @property
    def worse(self) -> bool:
        return bool(self.other.value > self.optimal.value + TOLERANCE)


def overlay_drawing(runs: pd.DataFrame, load_instance: Callable[[str], TopicInstance | None]) -> Drawing | None:
    """Draw an optimal overlay beside a heuristic's, with equal node positions; None if no run proved an optimum.

    The runs (`judged_runs`) have the column answer (u0, v0, u1, v1, … or None); `load_instance` maps a digest to its
    instance, or to None: then it is not drawn.
    """
    pair = most_informative_pair(runs)
    instance = None if pair is None else load_instance(pair.optimal.instance)
    if pair is None or instance is None:
        return None
    overlays = [TOPICS.unpack(run.answer, instance) for run in (pair.optimal, pair.other)]
    above = f"+{pair.other.value - pair.optimal.value:g}" if pair.worse else "as good"
    titles = []
    for run, overlay in zip((pair.optimal, pair.other), overlays, strict=True):
        edges = f"{overlay.num_edges} {'edge' if overlay.num_edges == 1 else 'edges'}"
        edges += "" if run.value == overlay.num_edges else f", value {run.value:g}"
        what = "proven optimal" if run.key == pair.optimal.key else above
        titles.append(f"{run.label}: {edges} ({what})")
    with styled() as options:
        both = TopicOverlays(instance, overlays, DrawOptions(by_topic=True, differences=True))
        figure = grid([Cell(both, number, -1, title) for number, title in enumerate(titles)], options)
        anchors = tuple(dict.fromkeys([pair.optimal.anchor, pair.other.anchor]))
        return drawing(figure, "overlay", _caption(pair, instance, both), anchors=anchors)


def most_informative_pair(runs: pd.DataFrame) -> RunPair | None:
    """The runs to draw: an optimum of Min-TCO and a worse answer of Greedy Merge, on the smallest such instance.

    Otherwise, in this order: a worse answer for another problem or by another heuristic, an equally good answer, the
    proven run alone.
    """
    small = runs.loc[(runs["nodes"] <= _LARGEST) & runs["answer"].notna(), _SHOWN]
    rank = {name: index for index, name in enumerate(problem_order(runs))}
    proofs = small[small["status"] == Status.OPTIMAL].sort_values(["exact", "key"], ascending=[False, True])
    others = {at: list(own.itertuples()) for at, own in small[~small["exact"].astype(bool)].groupby(_PAIR)}
    pairs = [
        RunPair(proof, other)
        for proof in proofs.drop_duplicates(_PAIR).itertuples()
        for other in others.get((proof.problem, proof.instance), [proof])
    ]

    def preference(pair: RunPair) -> tuple[Any, ...]:
        one, other = pair
        usual = other.method == "gm" and one.problem == "min-tco"
        # An overlay without edges shows nothing.
        wanted = (one.edges > 0, pair.worse, usual, other is not one, other.method == "gm")
        size = (one.nodes, one.subscriptions, rank[one.problem], one.instance, -other.value, other.key)
        return (*(not each for each in wanted), *size)

    return min(pairs, key=preference, default=None)


_PAIR = ["problem", "instance"]
_SHOWN = [
    *(*_PAIR, "family", "nodes", "subscriptions", "key", "anchor", "method", "label", "exact", "status"),
    *("value", "edges", "answer"),
]


def _caption(pair: RunPair, instance: TopicInstance, both: TopicOverlays) -> str:
    run, colours = pair.optimal, len(both.colours)
    chosen = (
        f"the smallest instance on which {pair.other.method} is worse than the proven optimum"
        if pair.worse
        else "the smallest instance with a proven optimum; no heuristic that can be drawn was worse"
    )
    largest = "" if colours == instance.num_topics else f", the {colours} largest in a colour each"
    size = f"{instance.num_nodes} nodes, {instance.num_topics} topics, {instance.num_subscriptions} subscriptions"
    shown = (
        f"Each edge shows the topics both its ends subscribe to{largest}. Nodes have the same positions in both; "
        f"{len(both.common)} edges are in both overlays, the others are highlighted in yellow."
    )
    of = f"{run.family}, {said(size)}, {run.instance[:8]}"
    return f"{said('Two overlays')} of one instance ({of}) for {run.problem}: {chosen}. {said(shown)}"
