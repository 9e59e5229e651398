"""What a panel of a drawing shows of a trace: an overlay at one time, or all of them for a page with a slider."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ...instances.contract.errors import BadInput
from ...instances.contract.time_units import SECOND
from ...instances.over_time.link_log import LinkLog, Moment
from ...instances.over_time.timed import microseconds
from ...instances.over_time.trace import TopicTrace
from ..figures.panels import CENTRE, HERE, PLAIN, Edge, GraphAxes, Panels, dot, line
from ..figures.style import DEFAULT, DrawOptions


class TraceOverlays(Panels):
    """Overlays at one time of a trace, on the nodes that are present then; each node has one position at all times.

    Links that are new since the moment before are strong, those that are gone since are dashed. With `replayed` all
    links and nodes that ever are have a group each, which a page shows and hides.
    """

    def __init__(
        self, trace: TopicTrace, logs: Sequence[LinkLog], options: DrawOptions = DEFAULT, *, replayed: bool = False
    ) -> None:
        if not logs:
            raise BadInput("a trace is drawn by the overlays of its answers: name an ANSWER or a --method")
        self.labels = [trace.node_label(v) for v in range(trace.num_nodes)]
        self.present, self.moments, self.replayed = trace.present(), list[list[Moment]](), replayed
        super().__init__(trace, logs, options)
        times = [[moment.time for moment in own] for own in self.moments]
        last = max(own[-1] for own in times)
        self.time = last if options.at is None else microseconds(options.at, "--at")
        if not trace.start <= self.time <= last:
            start, end = trace.start / SECOND, last / SECOND
            raise BadInput(
                f"--at {self.time / SECOND:g}: the trace is from {start:g} to {end:g} seconds: choose within"
            )
        self.shown = [own[bisect(at, self.time) - 1] for own, at in zip(self.moments, times, strict=True)]

    @property
    def parts(self) -> Sequence[tuple[int, str]]:
        """The time shown; all times are in one panel."""
        return ((-1, "" if self.replayed else f"at {self.time / SECOND:g} s"),)

    def links_of(self, answer: LinkLog) -> list[Edge]:
        """The links that ever are; lists the moments of this answer."""
        self.moments.append(list(answer.moments(self.instance.departures(), self.instance.step_times.tolist())))
        return sorted({link for moment in self.moments[-1] for link in moment.links})

    def acting(self, time: int) -> list[int]:
        """The events at a time in microseconds."""
        times = self.instance.times
        return list(range(np.searchsorted(times, time), np.searchsorted(times, time, side="right")))

    def paint(self, axes: Axes, number: int, part: int = -1) -> None:
        """Draw one time; replayed, link k in the group ``link-k``, node v in ``node-v`` and ``node-v-label``."""
        graph, moment = GraphAxes(axes, self.positions), self.shown[number]
        if self.replayed:
            for at, link in enumerate(self.links[number]):
                graph.edges([link], PLAIN, 1.0, gid=f"link-{at}")
            for v in range(self.size):
                graph.nodes(self.labels, shown=[v], gid=f"node-{v}")
            return
        graph.edges(sorted(moment.links - moment.added), PLAIN, 1.0)
        graph.edges(sorted(moment.added), HERE, self.strong)
        graph.edges(sorted(moment.gone), PLAIN, 1.0, linestyle="--")
        shown = sorted(self.present[self.instance.step_at(moment.time)] | {v for link in moment.gone for v in link})
        acting = self.instance.nodes[self.acting(moment.time)].tolist()
        graph.nodes(self.labels, dict.fromkeys(acting, CENTRE), shown=shown)

    def legend(self) -> list[Line2D]:
        return [
            line(PLAIN, "link"),
            line(HERE, "added last", self.strong),
            line(PLAIN, "removed last", 1.0, "--"),
            dot(CENTRE, "node of the last event"),
        ]
