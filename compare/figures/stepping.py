"""The steps of a greedy method in pictures: a frame for each, and a page with a slider."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure

from ...instances.contract.errors import BadInput, check_ending
from ...instances.contract.files import atomic_write, make_folder
from ...instances.contract.overlay import Overlay
from ...instances.contract.result import Trace
from ...instances.topics.instance import TopicInstance
from .draw import ON_PAGE, Cell, grid, write_page
from .files import figure_with_printable_texts
from .panels import CENTRE, HERE, PLAIN, GraphAxes, Panels, TopicOverlays
from .style import DEFAULT, DrawOptions, drawing, styled

MOST_FRAMES = 300
_WIDTH = 4.2  # inches
_TOPICS_SHOWN = 12


class SteppedOverlay(Panels):
    """The overlay of a trace, step by step."""

    def __init__(self, instance: TopicInstance, trace: Trace, options: DrawOptions = DEFAULT) -> None:
        self.instance, self.trace, self.options = instance, trace, options
        edges = [edge for step in trace for edge in step.edges]
        self.labels = [instance.node_label(v) for v in range(instance.num_nodes)]
        whole = TopicOverlays(instance, [Overlay.from_edges(instance.num_nodes, edges)], options)
        self.positions, self.shape = whole.positions, whole.shape

    def paint(self, axes: Axes, number: int, part: int = -1) -> None:
        """Draw a step, counted from 1: its edges in orange, those of earlier steps in grey.

        Step 0 is all steps for a page, the edges of step k in the group ``step-k``, its nodes ringed in ``ring-k``.
        """
        graph = GraphAxes(axes, self.positions)
        if number:
            current, before = self.trace[number - 1], range(number - 1)
            graph.edges([edge for at in before for edge in self.trace[at].edges], PLAIN, 1.0)
            graph.edges(list(current.edges), HERE, 2.2)
            graph.nodes(self.labels, dict.fromkeys(current.nodes, CENTRE))
            return
        for at, step in enumerate(self.trace, 1):
            graph.edges(list(step.edges), PLAIN, 1.2, gid=f"step-{at}")
            x, y = self.positions[list(step.nodes)].T
            size = 300 * graph.scale**2 if graph.labelled else 60
            axes.scatter(x, y, s=size, facecolors="none", edgecolors=HERE, gid=f"ring-{at}", zorder=4)
        graph.nodes(self.labels)

    def title(self, number: int) -> str:
        """The number and the choice of a step; it counts from 1."""
        return f"Step {number} of {len(self.trace)}: {self.trace.choice(self.trace[number - 1])}"

    def text(self, number: int) -> str:
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
        if len(self.trace) > MOST_FRAMES:
            raise BadInput(f"{len(self.trace)} steps in frames: at most {MOST_FRAMES}: write a page (.html)")
        options = replace(self.options.figure, width=self.options.figure.width or _WIDTH)
        for number in range(1, len(self.trace) + 1):
            yield grid([Cell(self, number, -1, self.title(number), self.text(number))], options)


def save_steps(stepped: SteppedOverlay, path: Path, title: str) -> None:
    """Write the steps as a page with a slider (.html), a page each (.pdf), or a folder of SVG files (no ending).

    Bad input if the ending is another one, there are more than 300 frames, or the file cannot be written.
    """
    check_steps_path(path)
    if path.suffix == ".html":
        with styled(ON_PAGE):
            shown = Cell(stepped, 0, -1, "The overlay after the step shown; its edges are marked")
            write_page(path, "figures/steps.html", [shown], title=title, **_page_of(stepped))
        return
    with styled(replace(stepped.options.figure, formats=("svg",))):
        if path.suffix == ".pdf":
            atomic_write(path, partial(_write_pages, stepped))
            return
        frames = list(stepped.frames())
        make_folder(path)
        for number, frame in enumerate(frames, 1):
            atomic_write(path / f"{number:03}.svg", drawing(frame, "step", "").files["svg"])


def check_steps_path(path: Path) -> None:
    """Raise BadInput if steps cannot be written to a file of this ending."""
    if path.suffix:
        check_ending(path, (".html", ".pdf"))


def _write_pages(stepped: SteppedOverlay, file: Path) -> None:
    with PdfPages(file, metadata={"CreationDate": None, "ModDate": None, "Producer": None}) as pages:
        for frame in stepped.frames():
            pages.savefig(figure_with_printable_texts(frame, all_letters=True))


def _page_of(stepped: SteppedOverlay) -> dict[str, Any]:
    """What the page shows beside the overlay: the text of each step, and the table of all."""
    trace = stepped.trace
    return {
        "measure": trace.measure,
        "steps": [{"title": stepped.title(k), "text": stepped.text(k)} for k in range(1, len(trace) + 1)],
        "rows": [(trace.choice(step), f"{step.gain:.6g}", step.ties) for step in trace],
    }
