"""The overlays of a trace over time: one page with a slider, on which every node keeps its position."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ...instances.contract.errors import BadInput
from ...instances.contract.numbers import plain
from ...instances.contract.result import Result
from ...instances.contract.time_units import SECOND
from ..figures.draw import ON_PAGE, cells_of, embedded_json, page_panel, swatches, write_page
from ..figures.style import DEFAULT, DrawOptions, styled
from .panels import TraceOverlays

_MOST_LINKS, _MOST_MOMENTS = 5_000, 5_000  # of all answers together
_EVENTS_SHOWN = 4
_BOUNDS = "snapshot_bounds"


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
        shown = "".join(page_panel(cell, f"drawing{number}") for number, cell in enumerate(cells))
        legend = swatches(panels.legend())
    last = len(frames["frames"]) - 1
    script = Path(__file__).with_name("replay.js").read_text(encoding="utf-8")
    body = f"""<section aria-label="Time">
<div class="controls">
<button type="button" id="play" aria-pressed="false">Play</button>
<input type="range" id="time" min="0" max="{last}" value="0" aria-label="Time">
<button type="button" id="back" aria-label="One step back">◀</button>
<button type="button" id="forward" aria-label="One step forward">▶</button>
</div>
<output id="now" class="moment" for="time" aria-live="polite"></output>
</section>
<div class="panels">{shown}</div>
{legend}
<script type="application/json" id="replay">{embedded_json(frames)}</script>
<script>
{script}</script>"""
    write_page(path, title, body)


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
