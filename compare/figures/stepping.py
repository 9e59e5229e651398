"""The steps of a greedy method in pictures: a frame for each, and a page with a slider."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from html import escape
from pathlib import Path
from textwrap import wrap

from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure

from ...instances.contract.errors import BadInput
from ...instances.contract.files import atomic_write
from ...instances.contract.overlay import Overlay
from ...instances.contract.result import Step, Trace
from ...instances.topics.instance import TopicInstance
from .draw import ON_PAGE, embedded_json, write_page
from .files import set_by_tex
from .graph import GraphAxes, NodeLook
from .panels import CENTRE, HERE, PLAIN, TopicOverlays
from .style import DEFAULT, DrawOptions, check_ending, drawing, styled

MOST_FRAMES = 300
_WIDTH, _PAGE_WIDTH = 4.2, 4.0  # inches
_TOPICS_SHOWN = 12
_NUMBER = ' class="number"'


class SteppedOverlay:
    """The overlay of a trace, step by step.

    Parameters
    ----------
    instance : TopicInstance
    trace : Trace
    options : DrawOptions
    """

    def __init__(self, instance: TopicInstance, trace: Trace, options: DrawOptions = DEFAULT) -> None:
        self.instance, self.trace, self.options = instance, trace, options
        edges = [edge for step in trace for edge in step.edges]
        self.labels = [instance.node_label(v) for v in range(instance.num_nodes)]
        self.positions = TopicOverlays(instance, [Overlay.from_edges(instance.num_nodes, edges)], options).positions

    def text(self, number: int) -> str:
        """A step in words; it counts from 1."""
        step = self.trace[number - 1]
        topics = [self.trace.topic_labels[t] for t in step.topics]
        listed = " ".join(topics[:_TOPICS_SHOWN]) + (f" … ({len(topics)})" if len(topics) > _TOPICS_SHOWN else "")
        degrees = ", ".join(map(str, step.degrees))
        ties = "no other choice is as good" if step.ties == 1 else f"{step.ties} equally good choices"
        added = f"{len(step.edges)} edge{'' if len(step.edges) == 1 else 's'} added"
        done = "unites" if len(step.nodes) == 2 else "completes the stars of"
        return (
            f"{self.trace.measure} {step.gain:.6g}, {ties}; {added}, degree{'s' if len(step.degrees) > 1 else ''} "
            f"{degrees} afterwards; " + (f"{done} {listed}" if topics else "unites no topic")
        )

    def frames(self) -> Iterator[Figure]:
        """A figure for each step: its edges in orange, those of earlier steps in grey."""
        if len(self.trace) > MOST_FRAMES:
            raise BadInput(f"{len(self.trace)} steps in frames: at most {MOST_FRAMES}: write a page (.html)")
        earlier: list[tuple[int, int]] = []
        for number, step in enumerate(self.trace, 1):
            width = self.options.figure.width or _WIDTH
            figure = Figure(figsize=(width, 1.12 * width), layout="constrained")
            graph = GraphAxes(figure.add_subplot(), self.positions)
            graph.edges(earlier, PLAIN, 1.0)
            self._paint_step(graph, step, "")
            graph.nodes(self.labels, NodeLook(dict.fromkeys(step.nodes, CENTRE)))
            figure.suptitle(self.title(number), fontweight="bold", x=0.02, ha="left")
            letters = int(0.96 * width * 72 / (0.58 * self.options.figure.font_size))
            figure.text(0.02, 0.01, "\n".join(wrap(self.text(number), letters)), va="bottom")
            earlier += step.edges
            yield figure

    def title(self, number: int) -> str:
        """The number and the choice of a step."""
        return f"Step {number} of {len(self.trace)}: {self.trace.choice(self.trace[number - 1])}"

    def _paint_step(self, graph: GraphAxes, step: Step, gid: str) -> None:
        graph.edges(list(step.edges), HERE if not gid else PLAIN, 2.2 if not gid else 1.2, gid=gid or None)

    def figure(self) -> Figure:
        """All steps in one figure, the edges of step k in the group ``step-k``, its nodes ringed in ``ring-k``."""
        figure = Figure(figsize=(_PAGE_WIDTH, _PAGE_WIDTH), layout="constrained")
        graph = GraphAxes(figure.add_subplot(), self.positions)
        for number, step in enumerate(self.trace, 1):
            self._paint_step(graph, step, f"step-{number}")
            x, y = self.positions[list(step.nodes)].T
            size = 300 * graph.scale**2 if graph.labelled else 60
            graph.axes.scatter(x, y, s=size, facecolors="none", edgecolors=HERE, gid=f"ring-{number}", zorder=4)
        graph.nodes(self.labels)
        return figure


def save_steps(stepped: SteppedOverlay, path: Path, title: str) -> None:
    """Write the steps as a page with a slider (.html), a page each (.pdf), or a folder of SVG files (no ending).

    Raises
    ------
    BadInput
        If the ending is another one, there are more than 300 frames, or the file cannot be written.
    """
    check_steps_path(path)
    if path.suffix == ".html":
        with styled(ON_PAGE):
            drawn = drawing(stepped.figure(), "drawing", "")
        write_page(path, title, _page(stepped, drawn.svg))
        return
    with styled(replace(stepped.options.figure, formats=("svg",))):
        if path.suffix == ".pdf":
            atomic_write(path, partial(_write_pages, stepped))
            return
        frames = list(stepped.frames())
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"{path}: cannot be written ({error.strerror}): choose another path") from None
        for number, frame in enumerate(frames, 1):
            data = drawing(frame, "step", "").svg_file
            atomic_write(path / f"{number:03}.svg", data)


def check_steps_path(path: Path) -> None:
    """Raise BadInput if steps cannot be written to a file of this ending."""
    if path.suffix:
        check_ending(path, (".html", ".pdf"))


def _write_pages(stepped: SteppedOverlay, file: Path) -> None:
    with PdfPages(file, metadata={"CreationDate": None, "ModDate": None, "Producer": None}) as pages:
        for number, frame in enumerate(stepped.frames(), 1):
            with set_by_tex(frame, f"step {number}", escape=stepped.options.figure.usetex):
                pages.savefig(frame)


def _page(stepped: SteppedOverlay, svg: str) -> str:
    """The figure, the slider, the text of each step, and the table of all."""
    trace, count = stepped.trace, len(stepped.trace)
    names = ("step", "choice", trace.measure, "ties")
    head = "".join(f'<th scope="col"{"" if name == "choice" else _NUMBER}>{escape(name)}</th>' for name in names)
    rows = "".join(
        f'<tr id="row-{number}"><td class="number"><button type="button" value="{number}">{number}</button></td>'
        f'<td>{escape(trace.choice(step))}</td><td class="number">{step.gain:.6g}</td>'
        f'<td class="number">{step.ties}</td></tr>'
        for number, step in enumerate(trace, 1)
    )
    steps = [{"title": stepped.title(number), "text": stepped.text(number)} for number in range(1, count + 1)]
    script = Path(__file__).with_name("stepping.js").read_text(encoding="utf-8")
    return f"""<div class="steps">
<figure class="paper" role="img" aria-label="The overlay after the step shown; its edges are marked">{svg}</figure>
<section aria-label="Steps">
<div class="controls">
<button type="button" id="back" aria-label="Step back">◀</button>
<input type="range" id="step" min="0" max="{count}" value="{count}" aria-label="Step">
<button type="button" id="forward" aria-label="Step forward">▶</button>
</div>
<output id="now" for="step" aria-live="polite">{count} steps.</output>
<div class="scroll" tabindex="0" role="region" aria-label="All steps"><table><thead><tr>{head}</tr></thead>
<tbody>{rows}</tbody></table></div>
</section></div>
<script type="application/json" id="steps">{embedded_json(steps)}</script>
<script>
{script}</script>"""
