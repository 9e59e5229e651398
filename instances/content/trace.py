"""Traces of content-based overlays: users come, go and change, brokers fail and come back (content-trace/1)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from ..contract.arrays import Ids, Offsets, frozen
from ..contract.errors import BadInput
from ..contract.files import known_index, known_indices
from ..contract.timed import Timed, check_order, microseconds, steps
from .instance import ContentInstance, Floats

TRACE_FORMAT = "content-trace/1"
CONTENT_EVENTS = ("join", "leave", "rate", "subscribe", "unsubscribe", "broker-down", "broker-up")
JOIN, LEAVE, RATE, SUBSCRIBE, UNSUBSCRIBE, DOWN, UP = range(len(CONTENT_EVENTS))
_TINY = 4000


class ContentEvent(Struct, forbid_unknown_fields=True):
    """An event in labels: its time in seconds, its kind, and the user or broker that it is about.

    A ``rate`` has a channel and the new rate, ``subscribe`` and ``unsubscribe`` a channel.

    Examples
    --------
    >>> import overlaybench as ob
    >>> ob.ContentEvent(1.5, "rate", user="u0", channel="news", rate=4).rate
    4
    """

    time: float
    event: str
    user: str = ""
    broker: str = ""
    channel: str = ""
    rate: float = -1.0

    def check(self, place: str) -> None:
        """Raise BadInput for an unknown kind, and unless the event has what its kind needs and nothing else."""
        if self.event not in CONTENT_EVENTS:
            raise BadInput(f"{place}: '{self.event}' is no event: give one of {', '.join(CONTENT_EVENTS)}")
        kind = CONTENT_EVENTS.index(self.event)
        given = {"user": self.user, "broker": self.broker, "channel": self.channel, "rate": self.rate != -1}
        needed = {"user": kind < DOWN, "broker": kind >= DOWN, "channel": RATE <= kind < DOWN, "rate": kind == RATE}
        for name, value in given.items():
            if bool(value) != needed[name]:
                fix = f"needs its {name}: add it" if needed[name] else f"has no {name}: remove it"
                raise BadInput(f"{place}: a {self.event} {fix}")
        if kind == RATE and not 0 <= self.rate < np.inf:
            raise BadInput(f"{place}: rate {self.rate:g}: give a finite number of 0 or more")


class ContentSnapshot(NamedTuple):
    """The present users and the brokers that are up as an instance, and their numbers in the trace, ascending."""

    instance: ContentInstance
    users: Ids
    brokers: Ids

    def positions(self, home: Ids) -> Ids:
        """From the broker of each user of the trace, -1 for none, to that of each user of the instance, -1 if down."""
        found = np.full(int(self.brokers[-1]) + 2, -1, np.int32)
        found[self.brokers] = np.arange(len(self.brokers))
        return found[np.minimum(home[self.users], len(found) - 1)]


@dataclass(frozen=True, eq=False, repr=False)
class ContentTrace(Timed):
    """An immutable trace: all users that ever occur, brokers and channels; who is present at first, and what changes.

    A user is present from the start, or from its join, until it leaves, and may join again; it joins with the rates and
    subscriptions that the instance gives it. All brokers are up at the start, and one is at any time. Events of one
    time are simultaneous: their order does not matter, and they are kept in that of their kinds, users or brokers, and
    channels. :meth:`from_events` makes a trace of labels. Raises BadInput if times decrease, a user joins that is
    present or acts while it is not, a broker fails that is down or the last, or an event contradicts another one of its
    time; with the event, counted from 0.

    Parameters
    ----------
    instance : ContentInstance
        All users, brokers and channels.
    start : int
        When it starts, in microseconds; all events are later.
    start_users : int32 array, shape (k,)
        The users that are present then, ascending.
    times, kinds, subjects : int64, int32 and int32 arrays, shape (events,)
        Of each event the time in microseconds, not decreasing; the index in `CONTENT_EVENTS`; and the user or broker.
    channels, amounts : int32 and float64 arrays, shape (events,)
        The channel, -1 for events without one; and the new rate, 0 for others than rates.

    Examples
    --------
    >>> import overlaybench as ob
    >>> ob.ContentTrace.from_events(ob.generate("relay-star"), [ob.ContentEvent(1, "broker-down", broker="b0")])
    ContentTrace(3 users, 4 brokers, 1 channels, 1 events, ...)
    """

    instance: ContentInstance
    start: int
    start_users: Ids
    times: Offsets
    kinds: Ids
    subjects: Ids
    channels: Ids
    amounts: Floats
    place: Callable[[int], str] | None = field(default=None, repr=False)
    step_times: Offsets = field(init=False)
    step_of: Ids = field(init=False)

    def __post_init__(self) -> None:
        place = self.place or (lambda event: f"event {event}")
        check_order(self.start, self.times, place)
        order = np.lexsort((self.channels, self.subjects, self.kinds, self.times))
        for name in ("kinds", "subjects", "channels"):
            self._set(**{name: frozen(getattr(self, name)[order], np.int32)})
        amounts = np.array(self.amounts[order], np.float64)
        amounts.flags.writeable = False
        self._set(start_users=frozen(self.start_users, np.int32), times=frozen(self.times[order], np.int64), place=None)
        step_times, step_of = steps(self.start, self.times)
        self._set(amounts=amounts, step_times=step_times, step_of=step_of)
        self._check(lambda event: place(int(order[event])))

    def _check(self, place: Callable[[int], str]) -> None:
        """Raise BadInput for an event that contradicts the state before it or another one of its time."""
        whole, at = self.instance, self.kinds == RATE
        most = whole.rates.copy()
        with np.errstate(over="ignore"):
            np.add.at(most[0], self.channels[at], self.amounts[at])
        # With all users, rates and subscriptions that ever are: its checks hold for every snapshot.
        densest = ContentInstance(
            whole.access, whole.core, whole.capacities, most, np.ones_like(most), whole.user_labels
        )
        if whole.unknown.any():  # no demand of a snapshot that is not 0 is below the least rate
            dearest = densest.demands.sum() * whole.access[~whole.unknown].max() + most.sum() * whole.core.sum()
            rates = np.append(whole.rates, self.amounts)
            price = np.ceil(2 * dearest / rates[rates > 0].min(initial=np.inf)) + 1
            self._set(instance=replace(whole, access=np.where(whole.unknown, price, whole.access)))
        state, acted, last = _State(self), dict[tuple[bool, int], set[object]](), -1
        for event, (step, kind, who, channel) in enumerate(
            zip(self.step_of.tolist(), self.kinds.tolist(), self.subjects.tolist(), self.channels.tolist(), strict=True)
        ):
            if step != last:
                acted, last = {}, step
            name = whole.broker_label(who) if kind >= DOWN else whole.user_label(who)
            own = acted.setdefault((kind >= DOWN, who), set())
            what = (kind == RATE, channel) if RATE <= kind < DOWN else None
            if own and (what is None or None in own or what in own):
                raise BadInput(f"{place(event)}: '{name}' has another event at this time: move one, or remove it")
            own.add(what)
            fault = ""
            if kind >= DOWN:
                fault = f"is {'up' if kind == UP else 'down'} already" if state.up[who] == (kind == UP) else ""
            elif state.present[who] == (kind == JOIN):
                fault = "is present already" if kind == JOIN else "is not present"
            elif kind in (SUBSCRIBE, UNSUBSCRIBE) and state.subscriptions[who, channel] == (kind == SUBSCRIBE):
                fault = "subscribes already" if kind == SUBSCRIBE else "does not subscribe"
                fault += f" to '{whole.channel_label(channel)}'"
            state.apply(event)
            is_last = event + 1 == len(self.times) or self.step_of[event + 1] != step
            fault = fault or ("leaves no broker up" if is_last and not state.up.any() else "")
            if fault:
                raise BadInput(f"{place(event)}: '{name}' {fault}: remove the {CONTENT_EVENTS[kind]}")

    @classmethod
    def from_events(
        cls,
        instance: ContentInstance,
        events: Iterable[ContentEvent],
        *,
        absent: Collection[str] = (),
        begin: float = 0.0,
        place: Callable[[int], str] | None = None,
    ) -> ContentTrace:
        """Build from events in the order of time; `absent` users are not there at the start, `begin` in seconds.

        Times are rounded to microseconds. `place` names where an event stands in its file, by default ``event K``,
        counted from 0.
        """
        users = {instance.user_label(u): u for u in range(instance.num_users)}
        brokers = {instance.broker_label(b): b for b in range(instance.num_brokers)}
        channels = {instance.channel_label(c): c for c in range(instance.num_channels)}
        rows, amounts = list[tuple[int, int, int, int]](), list[float]()
        for number, event in enumerate(events):
            where = f"event {number}" if place is None else place(number)
            event.check(where)
            who = known_index(event.user, users, where, "user") if event.user else -1
            who = known_index(event.broker, brokers, where, "broker") if event.broker else who
            channel = known_index(event.channel, channels, where, "channel") if event.channel else -1
            rows.append((microseconds(event.time, where), CONTENT_EVENTS.index(event.event), who, channel))
            amounts.append(max(0.0, event.rate))
        first = np.setdiff1d(np.arange(len(users)), known_indices(absent, users, "absent", "user"))
        columns = np.array(rows, np.int64).reshape(-1, 4)
        kinds, subjects, named = (columns[:, k].astype(np.int32) for k in (1, 2, 3))
        start, times = microseconds(begin, "the start"), columns[:, 0]
        return cls(instance, start, first.astype(np.int32), times, kinds, subjects, named, np.array(amounts), place)

    @property
    def size(self) -> dict[str, int]:
        """|U|, of all users that ever occur, |B|, |C| and events."""
        return {**self.instance.size, "events": self.num_events}

    @property
    def is_tiny(self) -> bool:
        return self.instance.access.size * self.instance.num_channels * self.num_steps <= _TINY

    def trial(self) -> ContentTrace:
        events = [ContentEvent(1, "broker-down", broker="b0"), ContentEvent(2, "leave", user="u1")]
        return ContentTrace.from_events(self.instance.trial(), [*events, ContentEvent(3, "join", user="u1")])

    def snapshots(self) -> Iterator[ContentSnapshot | None]:
        """What holds after each step; None without a present user. Cost O(|U| (|B| + |C|) + |B|³) each."""
        whole = self.instance
        for state in self._states():
            users, up = np.flatnonzero(state.present).astype(np.int32), np.flatnonzero(state.up).astype(np.int32)
            if not len(users):
                yield None
                continue
            instance = ContentInstance(
                whole.access[np.ix_(users, up)],
                whole.core[np.ix_(up, up)],
                whole.capacities[up],
                state.rates[users],
                state.subscriptions[users],
                list(map(whole.user_label, users.tolist())),
                list(map(whole.broker_label, up.tolist())),
                whole.channel_labels,
            )
            yield ContentSnapshot(instance, users, up)

    def snapshots_at(self, times: Iterable[int]) -> Iterator[ContentSnapshot | None]:
        """The snapshot at each of some increasing times in microseconds; that of the start before it."""
        snapshots, step = self.snapshots(), -1
        snapshot: ContentSnapshot | None = None
        for time in times:
            while step < self.step_at(time):
                snapshot, step = next(snapshots), step + 1
            yield snapshot

    def present(self) -> list[tuple[list[int], list[int]]]:
        """The users that are present after each step, and the brokers that are up."""
        return [(np.flatnonzero(one.present).tolist(), np.flatnonzero(one.up).tolist()) for one in self._states()]

    def _states(self) -> Iterator[_State]:
        """The state after each step, which is changed afterwards."""
        state, done = _State(self), 0
        for end in np.searchsorted(self.step_of, np.arange(self.num_steps), side="right").tolist():
            for event in range(done, end):
                state.apply(event)
            done = end
            yield state

    def described(self, event: int) -> str:
        """An event in words: ``u3 subscribes to news``."""
        whole, kind, who = self.instance, int(self.kinds[event]), int(self.subjects[event])
        channel = whole.channel_label(int(self.channels[event])) if RATE <= kind < DOWN else ""
        said = ("joins", "leaves", f"publishes {self.amounts[event]:.6g} on ", "subscribes to ", "gives up ")
        verb = (*said, "fails", "is up again")[kind]
        return f"{whole.broker_label(who) if kind >= DOWN else whole.user_label(who)} {verb}{channel}"

    def _content(self) -> tuple[str, Iterable[npt.NDArray[Any]]]:
        events = self.times, self.kinds, self.subjects, self.channels, self.amounts
        return TRACE_FORMAT, (*self.instance._content()[1], np.array([self.start]), self.start_users, *events)


class _State:
    def __init__(self, trace: ContentTrace) -> None:
        self._trace, instance = trace, trace.instance
        self.rates, self.subscriptions = instance.rates.copy(), instance.subscriptions.copy()
        self.present, self.up = np.zeros(instance.num_users, np.bool_), np.ones(instance.num_brokers, np.bool_)
        self.present[trace.start_users] = True

    def apply(self, event: int) -> None:
        trace = self._trace
        kind, who, channel = int(trace.kinds[event]), int(trace.subjects[event]), int(trace.channels[event])
        if kind == JOIN:
            self.rates[who], self.subscriptions[who] = trace.instance.rates[who], trace.instance.subscriptions[who]
        if kind <= LEAVE:
            self.present[who] = kind == JOIN
        elif kind == RATE:
            self.rates[who, channel] = trace.amounts[event]
        elif kind < DOWN:
            self.subscriptions[who, channel] = kind == SUBSCRIBE
        else:
            self.up[who] = kind == UP
