"""Traces in files (trace/1 JSON lines and Parquet, rows of subscriptions as CSV), and the kind ``trace``."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from ..contract.errors import BadInput, unknown_ending
from ..contract.files import (
    Label,
    atomic_write,
    converted,
    errors_in,
    json_of,
    known_indices,
    read_json,
    read_text,
    unpacked_name,
)
from ..contract.kind import Kind, LoadedInstance
from ..contract.tables import arrow_errors, check_columns, readable, separated
from ..contract.time_units import SECOND
from ..topics.files import subscriptions
from ..topics.instance import TopicInstance
from .link_log import LinkLog
from .timed import microseconds
from .trace import EVENTS, FORMAT, Event, TopicTrace

_LINES, _PARQUET, _ROWS = (".jsonl",), (".trace.parquet",), (".trace.csv", ".trace.tsv")
_COLUMNS = ("time", "node", "topic", "subscribe")
_START = "start"
_YES, _NO = ("1", "true", "yes", "subscribe"), ("0", "false", "no", "unsubscribe")


class _Head(Struct, forbid_unknown_fields=True):
    format: str
    subscriptions: dict[Label, list[Label]]
    start: float = 0.0


class _EventLine(Struct, forbid_unknown_fields=True):
    time: float
    event: str
    node: Label
    topics: list[Label] = []


def read_trace(path: str | Path, columns: Mapping[str, str] | None = None) -> TopicTrace:
    """Read a trace; its ending determines the format.

    ``.jsonl``
        The first line is ``{"format": "trace/1", "subscriptions": {node: [topics]}, "start": seconds}``, the start is 0
        where it is left out; every further line an event, ``{"time": seconds, "event": "join", "node": node, "topics":
        [topics]}``, in the order of time.
    ``.trace.parquet``
        Rows (time, event, node, topics) with the same meaning; those of the start have the event ``start``. Or rows as
        in a CSV file.
    ``.trace.csv``, ``.trace.tsv``
        Rows (time, node, topic, subscribe) in the order of time: a node subscribes (1, true) or gives up (0, false) a
        topic. Times are seconds or ISO 8601. The rows of the first time are the start; a node joins with its first
        subscription and leaves when it has given up the last; a row that changes nothing is left out.

    Raises BadInput if the file cannot be used; the message names the file, the line and the fix.

    Parameters
    ----------
    columns : mapping, optional
        The names of the columns ``node``, ``topic``, ``time`` and ``subscribe`` in a table of rows, where they differ.

    Examples
    --------
    >>> import overlaybench as ob
    >>> from tempfile import TemporaryDirectory
    >>> trace = ob.TopicTrace.from_events({"ann": ["news"]}, [ob.Event(1, "join", "bob", ["news"])])
    >>> with TemporaryDirectory() as folder:
    ...     ob.write_trace(trace, f"{folder}/one.jsonl")
    ...     ob.read_trace(f"{folder}/one.jsonl") == trace
    True
    """
    path = Path(path)
    names = [dict(columns or {}).get(column, column) for column in _COLUMNS]
    with errors_in(path):
        name = unpacked_name(path).name
        if name.endswith(_PARQUET):
            return _from_parquet(path, names)
        if name.endswith(_ROWS):
            rows = separated(path)
            at = check_columns(names, next(rows)[1])
            return _from_rows((f"line {line}", *(row[column] for column in at)) for line, row in rows)
        if name.endswith(_LINES):
            return _from_lines(read_text(path))
        raise unknown_ending(path, (*_LINES, *_PARQUET, *_ROWS))


def write_trace(trace: TopicTrace, path: str | Path) -> None:
    """Write a trace as JSON lines (``.jsonl``) or Parquet (``.trace.parquet``); the inverse of :func:`read_trace`.

    Examples
    --------
    >>> import overlaybench as ob
    >>> from tempfile import TemporaryDirectory
    >>> trace = ob.generate("churn", nodes=5, events=3)
    >>> with TemporaryDirectory() as folder:
    ...     ob.write_trace(trace, f"{folder}/one.trace.parquet")
    ...     ob.read(f"{folder}/one.trace.parquet").digest == trace.digest
    True
    """
    path = Path(path)
    if path.name.endswith(_PARQUET):
        atomic_write(path, partial(_write_parquet, trace))
    elif path.name.endswith(_LINES):
        atomic_write(path, "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in _documents(trace)))
    else:
        raise unknown_ending(path, (*_LINES, *_PARQUET))


def trace_between(old: TopicInstance, new: TopicInstance) -> TopicTrace:
    """The trace that starts with the subscriptions of one instance, and has those of another one a second later.

    Labels say which nodes and topics are the same. Nodes join and leave; others subscribe and unsubscribe. Cost
    O(Σ|T_v| log Σ|T_v|).

    Examples
    --------
    >>> old, new = map(TopicInstance.from_subscriptions, ({"ann": ["a", "b"]}, {"ann": ["b"], "bob": ["a"]}))
    >>> trace = trace_between(old, new)
    >>> trace.described(0), trace.described(1)
    ('ann gives up a', 'bob joins: a')
    """
    before, after = ({node: {*topics} for node, topics in subscriptions(each).items()} for each in (old, new))
    events = [Event(1.0, "leave", node) for node in before if node not in after]
    for node, topics in after.items():
        if (own := before.get(node)) is None:
            events.append(Event(1.0, "join", node, sorted(topics)))
        else:
            both = ("subscribe", topics - own), ("unsubscribe", own - topics)
            events += [Event(1.0, what, node, sorted(changed)) for what, changed in both if changed]
    return TopicTrace.from_events(before, events)


def _from_lines(text: str) -> TopicTrace:
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if not lines:
        raise BadInput(f'is empty: its first line must be an object with "format": "{FORMAT}"')
    head: _Head = _in_line(*lines[0], _Head)
    if head.format != FORMAT:
        raise BadInput(f"line {lines[0][0]}: format '{head.format}' is not {FORMAT}: correct it")
    rows = [_in_line(number, line, _EventLine) for number, line in lines[1:]]
    events = [Event(row.time, row.event, row.node, row.topics) for row in rows]
    return TopicTrace.from_events(
        head.subscriptions, events, begin=head.start, place=lambda event: f"line {lines[event + 1][0]}"
    )


def _in_line(number: int, line: str, kind: type[Any]) -> Any:
    try:
        return converted(json_of(line, number), kind)
    except BadInput as error:
        where = f"line {number}"
        raise error if str(error).startswith(f"{where},") else BadInput(f"{where}: {error}") from None


def _documents(trace: TopicTrace) -> Iterator[dict[str, object]]:
    rows = list(_rows(trace))
    start = [row for row in rows if row[1] == _START]
    yield {
        "format": FORMAT,
        "start": trace.start / SECOND,
        "subscriptions": {node: topics for _, _, node, topics in start},
    }
    for time, what, node, topics in rows[len(start) :]:
        yield {"time": time / SECOND, "event": what, "node": node} | ({"topics": topics} if topics else {})


def _rows(trace: TopicTrace) -> Iterator[tuple[int, str, str, list[str]]]:
    for k, v in enumerate(trace.start_nodes.tolist()):
        topics = trace.start_topics[trace.start_offsets[k] : trace.start_offsets[k + 1]].tolist()
        yield trace.start, _START, trace.node_label(v), list(map(trace.topic_label, topics))
    for event, (time, kind, v) in enumerate(
        zip(trace.times.tolist(), trace.kinds.tolist(), trace.nodes.tolist(), strict=True)
    ):
        topics = trace.topics_of_event(event).tolist()
        yield time, EVENTS[kind], trace.node_label(v), list(map(trace.topic_label, topics))


def _write_parquet(trace: TopicTrace, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [*zip(*_rows(trace), strict=True)] or [(), (), (), ()]
    types = pa.int64(), pa.string(), pa.string(), pa.list_(pa.string())
    columns = [pa.array(list(column), kind) for column, kind in zip(rows, types, strict=True)]
    table = pa.table(columns, names=["time", "event", "node", "topics"])
    pq.write_table(table.replace_schema_metadata({"overlaybench": FORMAT, _START: str(trace.start)}), path)


def _from_parquet(path: Path, names: list[str]) -> TopicTrace:
    import pyarrow.parquet as pq

    with arrow_errors("give a complete file"):
        table = pq.read_table(readable(path), partitioning=None)
        metadata = table.schema.metadata or {}
        is_ours = metadata.get(b"overlaybench", b"").decode() == FORMAT
        wanted = ["time", "event", "node", "topics"] if is_ours else names
        check_columns(wanted, table.column_names)
        columns = [table[name].to_pylist() for name in wanted]
        begin = int(metadata.get(_START.encode(), b"0"))
    if not is_ours:
        return _from_rows((f"row {row}", *cells) for row, cells in enumerate(zip(*columns, strict=True), start=1))
    start, events, places = dict[str, list[str]](), list[Event](), list[int]()
    for row, cells in enumerate(zip(*columns, strict=True), start=1):
        time, what, node, topics = cells
        if not isinstance(time, int) or not all(
            isinstance(each, str) and each for each in [what, node, *(topics or ())]
        ):
            raise BadInput(f"row {row}: {cells!r:.60} is not (time, event, node, topics): correct it")
        if what == _START and (node in start or events):
            raise BadInput(f"row {row}: '{node}' starts twice or late: keep one row of it, before all events")
        if what == _START:
            start[node] = list(topics or ())
        else:
            events.append(Event(time / SECOND, what, node, topics or ()))
            places.append(row)
    return TopicTrace.from_events(start, events, begin=begin / SECOND, place=lambda event: f"row {places[event]}")


def _from_rows(rows: Iterable[tuple[Any, ...]]) -> TopicTrace:
    """The trace of rows (place, time, node, topic, subscribe)."""
    held, start = dict[str, set[str]](), dict[str, list[str]]()
    events, places = list[Event](), list[str]()
    begin: float | None = None
    for time, simultaneous in groupby(_checked(rows), key=itemgetter(1)):
        begin = time if begin is None else begin
        changes: dict[str, dict[str, bool]] = {}
        for _, _, node, topic, is_on in (now := list(simultaneous)):
            changes.setdefault(node, {})[topic] = is_on
        for node, changed in changes.items():
            own = held.get(node, set())
            more = [topic for topic, is_on in changed.items() if is_on and topic not in own]
            less = [topic for topic, is_on in changed.items() if not is_on and topic in own]
            held[node] = own.union(more).difference(less)
            if time == begin:
                start |= {node: sorted(held[node])} if more else {}
            elif more and not own:
                events.append(Event(time, "join", node, more))
            elif own and not held[node]:
                events.append(Event(time, "leave", node))
            else:
                both = (("subscribe", more), ("unsubscribe", less))
                events.extend(Event(time, what, node, topics) for what, topics in both if topics)
            places.extend([now[-1][0]] * (len(events) - len(places)))
    if begin is None:
        raise BadInput("has no rows: give it at least one (time, node, topic, subscribe)")
    if not start and not events:
        raise BadInput("no row subscribes a node to a topic: give one that does")
    return TopicTrace.from_events(start, events, begin=begin, place=places.__getitem__)


def _checked(rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[str, float, str, str, bool]]:
    last = -math.inf
    for where, when, node, topic, subscribe in rows:
        time = _seconds(when, where)
        if time < last:
            raise BadInput(f"{where}: its time is before that of the row before it: sort the rows by time")
        if not (isinstance(node, str | int) and isinstance(topic, str | int) and f"{node}" and f"{topic}"):
            raise BadInput(f"{where}: an empty node or topic: name it or remove the row")
        yield where, time, str(node), str(topic), _is_yes(subscribe, where)
        last = time


def _seconds(time: Any, where: str) -> float:
    """A number of seconds, or a date and time, which is in UTC unless it says otherwise."""
    try:
        if isinstance(time, str):
            with suppress(ValueError):
                time = float(time)
        if isinstance(time, str):
            time = datetime.fromisoformat(time.strip())
        if isinstance(time, datetime):
            time = (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
        return microseconds(float(time), where) / SECOND
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, BadInput):
            raise
        raise BadInput(f"{where}: time {time!r:.40} is neither seconds nor ISO 8601: correct it") from None


def _is_yes(value: Any, where: str) -> bool:
    text = str(value).strip().lower()
    if text not in (*_YES, *_NO):
        raise BadInput(f"{where}: {value!r:.40} is no value of subscribe: give 1 or 0")
    return text in _YES


class _LogInFile(Struct):
    changes: list[tuple[float, str, str, bool]]


class Traces(Kind[TopicTrace, LinkLog]):
    """Traces of changing subscriptions, and the changes of their overlays."""

    name, summary = "trace", "subscriptions that change over time; answered by the changes of an overlay"
    instance_type, answer_type, default_problem = TopicTrace, LinkLog, "dynamic-tco"
    endings, ending = (*_LINES, *_PARQUET, *_ROWS), _LINES[0]
    columns = ("node", "topic", "time", "subscribe")
    answer_format = "link-log/1"
    sizes = ("nodes", "topics", "events", "subscriptions")
    example = ("churn", "--nodes 20 --topics 6 --subscriptions 3 --events 30")
    proof_endings = (".jsonl",)
    panels = "compare.over_time.replay:TraceOverlays"
    section = "compare.over_time.section:SECTION"
    replay = "compare.over_time.replay:save_replay"
    between = "instances.over_time.trace_files:trace_between"
    measures = ("edges", "max_degree", "recourse", "disconnected_seconds", "link_seconds")
    shown = ("changes",)

    def read(self, path: Path, columns: Mapping[str, Any]) -> LoadedInstance[TopicTrace]:
        return LoadedInstance(read_trace(path, columns))

    def write(self, instance: TopicTrace, path: Path) -> None:
        write_trace(instance, path)

    def read_answer(self, path: Path, instance: TopicTrace) -> LinkLog:
        """Read changes [seconds, node, node, whether the link is added]."""
        self.check_ending(unpacked_name(path))
        data = read_json(path, self.answer_format, _LogInFile)
        ids = {instance.node_label(v): v for v in range(instance.num_nodes)}
        with errors_in(path):
            rows = []
            for number, (time, u, v, added) in enumerate(data.changes):
                where = f"change {number}"
                one, other = known_indices((u, v), ids, where, "node")
                rows.append((microseconds(time, where), one, other, added))
            return LinkLog.of(instance.num_nodes, rows)

    def labelled(self, answer: LinkLog, instance: TopicTrace) -> dict[str, object]:
        name = instance.node_label
        rows = zip(answer.times.tolist(), answer.links.tolist(), answer.added.tolist(), strict=True)
        return {"changes": [[time / SECOND, name(u), name(v), bool(added)] for time, (u, v), added in rows]}

    def pack(self, answer: LinkLog) -> npt.NDArray[np.int32]:
        """The halves of all times, then the ends of all links, then the signs."""
        return np.concatenate([answer.times.view(np.int32), answer.links.ravel(), answer.added])

    def unpack(self, packed: npt.NDArray[np.int32], instance: TopicTrace) -> LinkLog:
        times, links, added = np.split(np.ascontiguousarray(packed), [2 * (len(packed) // 5), 4 * (len(packed) // 5)])
        return LinkLog(instance.num_nodes, times.view(np.int64), links.reshape(-1, 2), added)


TRACES = Traces()
