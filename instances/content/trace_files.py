"""Content traces and their answers in files (content-trace/1 JSON lines, content-log/1 JSON), and their kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from ..contract.errors import BadInput, unknown_ending
from ..contract.files import errors_in, json_lines, read_json, read_text, unpacked_name, write_json_lines
from ..contract.kind import Kind, LoadedInstance
from ..contract.timed import SECOND, microseconds
from .dynamic import ContentLog
from .files import CONTENT, ContentInFile, OverlayInFile, content_as_json, content_in_file, overlay_in_file
from .problems import ContentOverlay
from .trace import CONTENT_EVENTS, DOWN, RATE, TRACE_FORMAT, ContentEvent, ContentTrace

_LINES = ".jsonl"
_NOBODY = ContentOverlay(np.empty(0, np.int32))


class _Head(ContentInFile, kw_only=True):
    format: str
    start: float = 0.0
    absent: tuple[str, ...] = ()


class _ContentLogInFile(Struct):
    overlays: list[tuple[float, OverlayInFile]]


class ContentTraces(Kind[ContentTrace, ContentLog]):
    """Users and brokers that come, go and change, with prices and capacities, and their overlays over time."""

    name, summary = "content-trace", "users and brokers that change over time; answered by overlays over time"
    instance_type, answer_type, default_problem = ContentTrace, ContentLog, "dynamic-content"
    endings, ending, answer_format = (_LINES,), _LINES, "content-log/1"
    sizes = ("users", "brokers", "channels", "events")
    measures = ("cost", "access", "core", "largest_load", "recourse", "cost_seconds")
    shown = ("overlays",)

    def read(self, path: Path, columns: Mapping[str, str]) -> LoadedInstance[ContentTrace]:
        """Read JSON lines.

        The first line has the keys of a ``content/1`` file, with the format ``content-trace/1``, and perhaps ``start``,
        in seconds, and ``absent``, the users who are not there at the start; every further line is a
        :class:`.ContentEvent`, in the order of time.
        """
        with errors_in(path):
            if unpacked_name(path).suffix != _LINES:
                raise unknown_ending(path, (_LINES,))
            head, rows = json_lines(read_text(path), TRACE_FORMAT, _Head, ContentEvent)
            events, numbers = [event for _, event in rows], [number for number, _ in rows]
            trace = ContentTrace.from_events(
                content_in_file(head),
                events,
                absent=head.absent,
                begin=head.start,
                place=lambda event: f"line {numbers[event]}",
            )
            return LoadedInstance(trace)

    def write(self, instance: ContentTrace, path: Path) -> None:
        if path.suffix != _LINES:
            raise unknown_ending(path, (_LINES,))
        write_json_lines(path, _documents(instance))

    def read_answer(self, path: Path, instance: ContentTrace) -> ContentLog:
        """Read overlays [seconds, {assignment, trees}]."""
        self.check_ending(path)
        data = read_json(path, self.answer_format, _ContentLogInFile)
        with errors_in(path):
            times = [microseconds(time, f"overlay {number}") for number, (time, _) in enumerate(data.overlays)]
            overlays = []
            for number, snapshot in enumerate(instance.snapshots_at(times)):
                given = data.overlays[number][1]
                if snapshot is None and given.assignment:
                    raise BadInput(f"overlay {number}: nobody is present then: leave its users out")
                try:
                    overlays.append(_NOBODY if snapshot is None else overlay_in_file(given, snapshot.instance))
                except BadInput as error:
                    raise BadInput(f"overlay {number}: {error}") from None
            return ContentLog(np.array(times, np.int64), overlays)

    def labelled(self, answer: ContentLog, instance: ContentTrace) -> dict[str, object]:
        times, none = answer.times.tolist(), dict[str, object](assignment={}, trees=[])
        rows = zip(times, answer.overlays, instance.snapshots_at(times), strict=True)
        shown = ((time, none if one is None else CONTENT.labelled(own, one.instance)) for time, own, one in rows)
        return {"overlays": [[time / SECOND, own] for time, own in shown]}

    def pack(self, answer: ContentLog) -> npt.NDArray[np.int32]:
        """The number of overlays and the halves of their times; then each with its length before it."""
        parts = [np.array([len(answer.overlays)], np.int32), answer.times.view(np.int32)]
        for overlay in answer.overlays:
            packed = CONTENT.pack(overlay)
            parts += [np.array([len(packed)], np.int32), packed]
        return np.concatenate(parts)

    def unpack(self, packed: npt.NDArray[np.int32], instance: ContentTrace) -> ContentLog:
        count, given = int(packed[0]), np.ascontiguousarray(packed)
        at, overlays = 1 + 2 * count, list[ContentOverlay]()
        for _ in range(count):
            end = at + 1 + int(given[at])
            overlays.append(CONTENT.unpack(given[at + 1 : end], instance.instance))
            at = end
        return ContentLog(given[1 : 1 + 2 * count].copy().view(np.int64), overlays)


def _documents(trace: ContentTrace) -> Iterator[dict[str, object]]:
    whole = trace.instance
    absent = np.setdiff1d(np.arange(whole.num_users), trace.start_users).tolist()
    head = {"format": TRACE_FORMAT, "start": trace.start / SECOND, "absent": list(map(whole.user_label, absent))}
    yield {**content_as_json(whole), **head}
    columns = trace.times, trace.kinds, trace.subjects, trace.channels, trace.amounts
    for time, kind, who, channel, amount in zip(*(column.tolist() for column in columns), strict=True):
        about = {"broker": whole.broker_label(who)} if kind >= DOWN else {"user": whole.user_label(who)}
        about |= {"channel": whole.channel_label(channel)} if channel >= 0 else {}
        yield {"time": time / SECOND, "event": CONTENT_EVENTS[kind], **about} | (
            {"rate": amount} if kind == RATE else {}
        )


CONTENT_TRACES = ContentTraces()
