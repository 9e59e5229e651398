"""Traces: subscriptions that change as nodes join, leave and crash, subscribe and unsubscribe (trace/1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..contract.arrays import Ids, Offsets, entries_of, frozen, offsets_of, rises, sorted_distinct
from ..contract.errors import BadInput
from ..contract.files import distinct_labels, natural_order
from ..contract.time_units import SECOND
from ..topics.instance import TopicInstance
from .timed import Timed, check_order, microseconds, steps

FORMAT = "trace/1"
EVENTS = ("join", "subscribe", "unsubscribe", "leave", "crash")
JOIN, SUBSCRIBE, UNSUBSCRIBE, LEAVE, CRASH = range(len(EVENTS))
_TINY = 64


class Event(NamedTuple):
    """An event in labels: its time in seconds, what happens, the node, and the topics of a join or subscription.

    Examples
    --------
    >>> import overlaybench as ob
    >>> ob.Event(1.5, "join", "bob", ["news"]).what
    'join'
    """

    time: float
    what: str
    node: str
    topics: Sequence[str] = ()


@dataclass(frozen=True, eq=False, repr=False)
class TopicTrace(Timed):
    """An immutable trace: the subscriptions at its start, and what changes them later.

    Nodes and topics are numbered over the whole trace, 0…|V|-1 and 0…|T|-1. A node is present from the start, or from
    its join, until it leaves or crashes; it may join again later. Events of one time are simultaneous: their order does
    not matter, and they are kept in that of their nodes, kinds and topics. The arrays given are copied. Memory: 16
    bytes for each subscription of the start and of an event, 32 for each event. Raises BadInput if times decrease, a
    node joins that is present or acts while it is not, subscribes to what it has or gives up what it has not, or has
    another event at the time of its leave or crash; with the event, counted from 0.

    Parameters
    ----------
    num_nodes, num_topics : int
        |V| and |T|, of all nodes and topics that ever occur.
    start : int
        When it starts, in microseconds; all events are later.
    start_nodes : int32 array, shape (k,)
        The nodes that are present at the start, ascending.
    start_offsets, start_topics : int64 array, shape (k + 1,), and int32 array
        Their topics, strictly increasing within each node.
    times, kinds, nodes : int64, int32 and int32 arrays, shape (events,)
        Of each event the time in microseconds, not decreasing; the index in `EVENTS`; and the node.
    event_offsets, event_topics : int64 array, shape (events + 1,), and int32 array
        The topics of each event, strictly increasing: those that a node joins with (perhaps none), subscribes to or
        gives up; none of a leave or crash.
    node_labels, topic_labels : sequences of str, optional
        Names; by default ``n0, n1, …`` and ``t0, t1, …``.

    Examples
    --------
    >>> import overlaybench as ob
    >>> ob.TopicTrace.from_events({"ann": ["news"]}, [ob.Event(1.5, "join", "bob", ["news"])])
    TopicTrace(2 nodes, 1 topics, 1 events, 2 subscriptions, ...)
    """

    num_nodes: int
    num_topics: int
    start: int
    start_nodes: Ids
    start_offsets: Offsets
    start_topics: Ids
    times: Offsets
    kinds: Ids
    nodes: Ids
    event_offsets: Offsets
    event_topics: Ids
    node_labels: Sequence[str] | None = None
    topic_labels: Sequence[str] | None = None
    place: Callable[[int], str] | None = field(default=None, repr=False)
    step_times: Offsets = field(init=False)
    step_of: Ids = field(init=False)
    node_offsets: Offsets = field(init=False)
    node_topics: Ids = field(init=False)
    toggle_offsets: Offsets = field(init=False)
    toggles: Ids = field(init=False)

    def __post_init__(self) -> None:
        for name in ("start_nodes", "start_topics", "kinds", "nodes", "event_topics"):
            self._set(**{name: frozen(getattr(self, name), np.int32)})
        for name in ("start_offsets", "times", "event_offsets"):
            self._set(**{name: frozen(getattr(self, name), np.int64)})
        place = self.place or (lambda event: f"event {event}")
        self._set(place=None)
        self._check(place)
        self._set(
            node_labels=distinct_labels(self.node_labels, self.num_nodes, "node"),
            topic_labels=distinct_labels(self.topic_labels, self.num_topics, "topic"),
        )
        places = self._sort()
        step_times, step_of = steps(self.start, self.times)
        self._set(step_times=step_times, step_of=step_of)
        self._set(**self._replay(lambda event: place(int(places[event]))))

    def _check(self, place: Callable[[int], str]) -> None:
        """What can be seen without replaying the events."""
        if self.num_nodes < 1 or self.num_topics < 1:
            raise BadInput("a trace needs at least one node and one topic")
        starts, events = len(self.start_nodes), len(self.times)
        sizes = len(self.start_offsets) - 1, len(self.kinds), len(self.nodes), len(self.event_offsets) - 1
        ends = (*self.start_offsets[-1:].tolist(), *self.event_offsets[-1:].tolist())
        fit = sizes == (starts, events, events, events) and ends == (len(self.start_topics), len(self.event_topics))
        if not fit or self.event_offsets[0] != 0 or (np.diff(self.event_offsets) < 0).any():
            raise BadInput("the arrays of a trace do not fit each other: give one entry a node and an event")
        for ids, most, noun in (
            (self.start_nodes, self.num_nodes, "node"),
            (self.nodes, self.num_nodes, "node"),
            (self.start_topics, self.num_topics, "topic"),
            (self.event_topics, self.num_topics, "topic"),
            (self.kinds, len(EVENTS), "kind of event"),
        ):
            if len(ids) and not 0 <= ids.min() <= ids.max() < most:
                raise BadInput(f"a {noun} of the trace is outside 0…{most - 1}")
        if (np.diff(self.start_nodes) <= 0).any() or not rises(self.start_offsets, self.start_topics):
            raise BadInput("the nodes of the start and the topics of each must be distinct and sorted")
        check_order(self.start, self.times, place)
        for at in np.setdiff1d(np.flatnonzero(np.diff(self.event_topics) <= 0) + 1, self.event_offsets):
            event = int(np.searchsorted(self.event_offsets, at, side="right")) - 1
            raise BadInput(f"{place(event)}: it names a topic twice: remove one")
        acting, wanted = (
            np.union1d(*each) for each in ((self.start_nodes, self.nodes), (self.start_topics, self.event_topics))
        )
        if len(acting) < self.num_nodes or len(wanted) < self.num_topics:
            raise BadInput("every node and topic of a trace must occur in it: leave the others out")
        counts = np.diff(self.event_offsets)
        for event in np.flatnonzero((counts > 0) & (self.kinds >= LEAVE)).tolist():
            raise BadInput(f"{place(event)}: a {EVENTS[self.kinds[event]]} has no topics: remove them")
        for event in np.flatnonzero((counts == 0) & ((self.kinds == SUBSCRIBE) | (self.kinds == UNSUBSCRIBE))).tolist():
            raise BadInput(f"{place(event)}: it needs at least one topic: name one or remove the event")

    def _sort(self) -> npt.NDArray[np.int64]:
        """Put simultaneous events in their order; returns the index that each event was given with."""
        first = np.full(len(self.times), -1, np.int64)
        some = np.diff(self.event_offsets) > 0
        first[some] = self.event_topics[self.event_offsets[:-1][some]]
        order = np.lexsort((first, self.kinds, self.nodes, self.times))
        if (order != np.arange(len(order))).any():
            offsets, entries = entries_of(self.event_offsets, order)
            self._set(
                times=frozen(self.times[order], np.int64),
                kinds=frozen(self.kinds[order], np.int32),
                nodes=frozen(self.nodes[order], np.int32),
                event_offsets=frozen(offsets, np.int64),
                event_topics=frozen(self.event_topics[entries], np.int32),
            )
        return order

    def _replay(self, place: Callable[[int], str]) -> dict[str, npt.NDArray[Any]]:
        """All subscriptions that ever hold, and those that begin and end with each step. Cost O(subscriptions)."""
        held: dict[int, set[int]] = {}
        for k, v in enumerate(self.start_nodes.tolist()):
            held[v] = set(self.start_topics[self.start_offsets[k] : self.start_offsets[k + 1]].tolist())
        begun = [v * self.num_topics + t for v, topics in held.items() for t in topics]
        signed, counts = [key + 1 for key in begun], [len(begun)]
        topics_of = np.split(self.event_topics, self.event_offsets[1:-1])
        steps, last = self.step_of.tolist(), dict[int, tuple[int, int]]()
        for event, (kind, v, given) in enumerate(
            zip(self.kinds.tolist(), self.nodes.tolist(), topics_of, strict=False)
        ):
            step, topics = steps[event], given.tolist()
            if step >= len(counts):
                counts.append(0)
            own = held.get(v)
            if v in last and last[v][0] == step and (kind >= LEAVE or last[v][1] >= LEAVE):
                raise BadInput(f"{place(event)}: '{self.node_label(v)}' has two events at this time: move one")
            last[v] = step, kind
            if (kind == JOIN) != (own is None):
                state = "is not present" if own is None else "is present already"
                raise BadInput(f"{place(event)}: '{self.node_label(v)}' {state}: remove the {EVENTS[kind]}")
            if kind >= LEAVE:
                topics = sorted(held.pop(v))
            elif own is None:
                held[v] = set(topics)
            else:
                for t in topics:
                    if (t in own) != (kind == UNSUBSCRIBE):
                        state = "does not subscribe" if kind == UNSUBSCRIBE else "subscribes already"
                        raise BadInput(
                            f"{place(event)}: '{self.node_label(v)}' {state} to '{self.topic_label(t)}': remove it"
                        )
                own.symmetric_difference_update(topics)
            sign = 1 if kind < UNSUBSCRIBE else -1
            signed += [sign * (v * self.num_topics + t + 1) for t in topics]
            counts[step] += len(topics)
        changes = np.array(signed, np.int64)
        keys = np.abs(changes) - 1
        slots = sorted_distinct(keys)
        at = np.searchsorted(slots, keys) + 1
        toggles, offsets = np.sign(changes) * at, np.concatenate([[0], np.cumsum(counts)])
        step = np.repeat(np.arange(len(counts)), counts)
        order = np.lexsort((np.abs(toggles), step))
        twice = np.flatnonzero((np.diff(np.abs(toggles[order])) == 0) & (np.diff(step[order]) == 0))
        if len(twice):
            slot = int(abs(toggles[order][twice[0]])) - 1
            v, t = divmod(int(slots[slot]), self.num_topics)
            when = int(self.step_times[step[order][twice[0]]]) / SECOND
            raise BadInput(
                f"time {when:g}: '{self.node_label(v)}' both subscribes to '{self.topic_label(t)}' and gives it up: "
                "move one"
            )
        return {
            "node_offsets": frozen(offsets_of(slots // self.num_topics, self.num_nodes), np.int64),
            "node_topics": frozen(slots % self.num_topics, np.int32),
            "toggle_offsets": frozen(offsets, np.int64),
            "toggles": frozen(toggles[order], np.int32),
        }

    @classmethod
    def from_events(
        cls,
        start: Mapping[str, Iterable[str]],
        events: Iterable[Event],
        *,
        begin: float = 0.0,
        place: Callable[[int], str] | None = None,
    ) -> TopicTrace:
        """Build from labels; nodes and topics are numbered in natural order (n2 before n10).

        Parameters
        ----------
        start : mapping
            The topics of each node that is present at the start.
        events : iterable of Event
            In the order of time.
        begin : float
            When the trace starts, in seconds; times are rounded to microseconds.
        place : callable, optional
            Where an event stands in its file, for messages; by default ``event K``, counted from 0.
        """
        events = list(events)
        place = place or (lambda event: f"event {event}")
        node_labels, node_ids = natural_order([*start, *(event.node for event in events)])
        listed = [(node, topic) for node, topics in start.items() for topic in topics]
        of_events = [(at, topic) for at, event in enumerate(events) for topic in event.topics]
        topic_labels, topic_ids = natural_order([topic for _, topic in (*listed, *of_events)])
        if not topic_labels:
            raise BadInput("a trace needs at least one subscription, at the start or later")
        number = dict(zip(node_labels, range(len(node_labels)), strict=True))
        present = np.array(sorted(number[node] for node in start), np.int32)
        rows = np.array([number[node] for node, _ in listed], np.int64)
        keys = np.unique(np.searchsorted(present, rows) * len(topic_labels) + topic_ids[: len(listed)])
        unknown = [at for at, event in enumerate(events) if event.what not in EVENTS]
        for at in unknown:
            raise BadInput(f"{place(at)}: '{events[at].what}' is no event: give one of {', '.join(EVENTS)}")
        owner = np.array([at for at, _ in of_events], np.int64)
        order = np.lexsort((topic_ids[len(listed) :], owner))
        return cls(
            len(node_labels),
            len(topic_labels),
            microseconds(begin, "the start"),
            present,
            offsets_of(keys // len(topic_labels), len(present)),
            (keys % len(topic_labels)).astype(np.int32),
            np.array([microseconds(event.time, place(at)) for at, event in enumerate(events)], np.int64),
            np.array([EVENTS.index(event.what) for event in events], np.int32),
            node_ids[len(start) :].astype(np.int32),
            offsets_of(owner, len(events)),
            topic_ids[len(listed) :][order].astype(np.int32),
            node_labels,
            topic_labels,
            place,
        )

    @property
    def size(self) -> dict[str, int]:
        """|V|, |T|, events, and the subscriptions that ever hold."""
        counts = self.num_nodes, self.num_topics, self.num_events, len(self.node_topics)
        return dict(zip(("nodes", "topics", "events", "subscriptions"), counts, strict=True))

    @property
    def is_tiny(self) -> bool:
        return len(self.toggles) + self.num_nodes <= _TINY

    def trial(self) -> TopicTrace:
        start = {f"n{v}": [f"t{v * k % 7}" for k in range(1, 4)] for v in range(1, 14)}
        events = [Event(1, "leave", "n3"), Event(2, "join", "n20", ["t1", "t2", "t3"]), Event(3, "crash", "n5")]
        events += [Event(4, "subscribe", "n20", ["t4"]), Event(5, "unsubscribe", "n20", ["t1", "t2"])]
        return TopicTrace.from_events(start, events)

    def node_label(self, node: int) -> str:
        """The label of a node."""
        return self.node_labels[node] if self.node_labels is not None else f"n{node}"

    def topic_label(self, topic: int) -> str:
        """The label of a topic."""
        return self.topic_labels[topic] if self.topic_labels is not None else f"t{topic}"

    def topics_of_event(self, event: int) -> Ids:
        """The topics named by an event, sorted."""
        return self.event_topics[self.event_offsets[event] : self.event_offsets[event + 1]]

    def snapshots(self, first: int = 0) -> Iterator[TopicInstance | None]:
        """The subscriptions after each step from the `first` on, on all |V| nodes; absent nodes have none.

        Topics without a subscriber are left out, as in every instance; without any subscription it is None. Cost
        O(subscriptions) each.
        """
        active = np.zeros(len(self.node_topics), np.bool_)
        nodes = np.repeat(np.arange(self.num_nodes), np.diff(self.node_offsets))
        labels = (
            [self.node_label(v) for v in range(self.num_nodes)],
            list(map(self.topic_label, range(self.num_topics))),
        )
        begin = 0
        for end in self.toggle_offsets[first + 1 :].tolist():
            toggles, begin = self.toggles[begin:end], end
            active[np.abs(toggles) - 1] = toggles > 0  # the last one of a subscription counts
            offsets = offsets_of(nodes[active], self.num_nodes)
            topics = self.node_topics[active]
            yield TopicInstance.from_sorted(offsets, topics, self.num_topics, *labels) if len(topics) else None

    def snapshot(self, time: float) -> TopicInstance | None:
        """The subscriptions at a time in seconds, as in :meth:`snapshots`; before the start those of the start."""
        return next(self.snapshots(self.step_at(microseconds(time, "the time"))))

    def present(self) -> list[frozenset[int]]:
        """The nodes that are present after each step. Cost O(|V|) each."""
        found, now = list[frozenset[int]](), set(self.start_nodes.tolist())
        for step, kind, v in zip(self.step_of.tolist(), self.kinds.tolist(), self.nodes.tolist(), strict=True):
            if len(found) < step:
                found.append(frozenset(now))
            if kind == JOIN:
                now.add(v)
            elif kind >= LEAVE:
                now.discard(v)
        return [*found, frozenset(now)]

    def described(self, event: int) -> str:
        """An event in words: ``n3 subscribes to t1, t2``."""
        verb = ("joins", "subscribes to", "gives up", "leaves", "crashes")[self.kinds[event]]
        topics = ", ".join(self.topic_label(t) for t in self.topics_of_event(event).tolist())
        with_topics = ": " if topics and self.kinds[event] == JOIN else " "
        return f"{self.node_label(int(self.nodes[event]))} {verb}{with_topics}{topics}".rstrip()

    def departures(self) -> list[tuple[int, int]]:
        """The time in microseconds of every leave and crash, and its node."""
        gone = self.kinds >= LEAVE
        return list(zip(self.times[gone].tolist(), self.nodes[gone].tolist(), strict=True))

    def _content(self) -> tuple[str, Iterable[npt.NDArray[Any]]]:
        sizes = np.array([self.num_nodes, self.num_topics, self.start], dtype=np.int64)
        start = self.start_nodes, self.start_offsets, self.start_topics
        return FORMAT, (sizes, *start, self.times, self.kinds, self.nodes, self.event_offsets, self.event_topics)

    def _shown(self) -> tuple[Mapping[str, object], str]:
        counts = np.bincount(self.kinds, minlength=len(EVENTS)).tolist()
        rows = {what: count for what, count in zip(EVENTS, counts, strict=True) if count}
        return {"seconds": float(self.step_times[-1] - self.start) / SECOND, **rows}, ""
