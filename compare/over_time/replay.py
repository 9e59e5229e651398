"""Overlays of a trace: at one time as a panel of a drawing, and over time as a page of nodes that stay in place."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ...instances.contract.errors import BadInput
from ...instances.contract.numbers import plain
from ...instances.contract.result import Result
from ...instances.contract.time_units import SECOND
from ...instances.over_time.link_log import LinkLog, Moment
from ...instances.over_time.timed import microseconds
from ...instances.over_time.trace import TopicTrace
from ..figures.draw import ON_PAGE, cells_of, write_page
from ..figures.panels import CENTRE, HERE, PLAIN, Edge, GraphAxes, Panels, dot, line
from ..figures.style import DEFAULT, DrawOptions, styled

_MOST_LINKS, _MOST_MOMENTS = 5_000, 5_000  # of all answers together
_EVENTS_SHOWN = 4
_BOUNDS = "snapshot_bounds"


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


def save_replay(path: Path, title: str, trace: Any, *answers: Any, options: DrawOptions = DEFAULT) -> None:
    """Write a page that shows answers to a trace over time, side by side; it loads nothing.

    `answers` are logs of links or of overlays, or results that have one; the bounds of snapshots are shown where a
    result has them (of ``snapshot-optima``). Bad input as for :func:`.draw`, if there are more than 5,000 links or
    moments, or the file cannot be written.
    """
    with styled(ON_PAGE):
        build = partial(TraceOverlays, replayed=True)
        cells = cells_of(trace, answers, replace(options, figure=ON_PAGE, at=None), build)
        panels = cells[0].panels
        assert isinstance(panels, TraceOverlays)
        for count, most, noun in (
            (sum(map(len, panels.links)), _MOST_LINKS, "links"),
            (sum(map(len, panels.moments)), _MOST_MOMENTS, "moments"),
        ):
            if count > most:
                raise BadInput(f"a page of {count:,} {noun}: at most {most:,}: draw fewer answers, or one time by --at")
        frames = _frames(panels, [each for each in answers if isinstance(each, Result)])
        write_page(path, "over_time/replay.html", cells, title=title, replay=frames)


def _frames(panels: TraceOverlays, results: list[Result[Any]]) -> dict[str, Any]:
    """What the page's script shows.

    frames (of every moment: its title, the nodes that come and go, and those of its events), nodes (those at the start)
    and answers (of each its frames: the text, the links added and removed, by their index in the answer).
    """
    bounds = _bounds(results)
    times = sorted({moment.time for own in panels.moments for moment in own})
    steps = [panels.instance.step_at(time) for time in times]
    before, frames = panels.present[0], []
    for time, step in zip(times, steps, strict=True):
        now, events = panels.present[step], panels.acting(time)
        acting = sorted(set(panels.instance.nodes[events].tolist()))
        frames.append([_title(panels.instance, time, events), sorted(now - before), sorted(before - now), acting])
        before = now
    answers = []
    for links, moments in zip(panels.links, panels.moments, strict=True):
        index = {link: at for at, link in enumerate(links)}
        found, own = [], {moment.time: moment for moment in moments}
        text = ""
        for time, step in zip(times, steps, strict=True):
            moment = own.get(time)
            if moment is not None:
                bound = f", at least {plain(bounds[step], ',')} are needed" if step < len(bounds) else ""
                text = f"{len(moment.links)} links{bound}: {len(moment.added)} added, {len(moment.gone)} removed"
            changed = (moment.added, moment.gone) if moment else ((), ())
            found.append([text, *(sorted(index[link] for link in each) for each in changed)])
        answers.append(found)
    return {"nodes": panels.size, "present": sorted(panels.present[0]), "frames": frames, "answers": answers}


def _bounds(results: list[Result[Any]]) -> list[float]:
    """The best bound of each snapshot; empty if no result has them."""
    known = [[float(each) for each in str(text).split()] for own in results if (text := own.counters.get(_BOUNDS))]
    return [max(each) for each in zip(*known, strict=True)] if known else []


def _title(trace: Any, time: int, events: list[int]) -> str:
    said = [trace.described(event) for event in events[:_EVENTS_SHOWN]]
    said += [f"{len(events) - _EVENTS_SHOWN} more events"] * (len(events) > _EVENTS_SHOWN)
    what = "; ".join(said) or ("start" if time == trace.start else "links change")
    return f"{time / SECOND:,.6g} s: {what}"
