"""Workloads of traces: Poisson churn, flash crowd, diurnal, mass departure, and Last.fm's listeners as they arrive.

The topics of a node that joins are drawn as those of the nodes at the start, by the topic workload of that popularity.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..contract.arrays import entries_of, offsets_of
from ..contract.errors import BadInput
from ..contract.option import Option
from ..contract.time_units import SECOND
from ..contract.workload import Workload
from ..topics.instance import TopicInstance
from ..topics.real_data import LASTFM, lastfm_listeners
from ..topics.workloads import RandomTopics
from .timed import rising
from .trace import CRASH, JOIN, LEAVE, SUBSCRIBE, UNSUBSCRIBE, TopicTrace

_DAY = 86_400
_Event = tuple[int, int, int, Sequence[int]]
"""Microseconds, kind, node and topics."""


def poisson_churn(
    *, seed: int, nodes: int, events: int, rate: float, interests: float, crashes: float, **given: Any
) -> TopicTrace:
    """A population that stays about as large: each event is a join, a departure, or a change of interests.

    Events are `rate` a second, independent. A share `interests` of them are changes of interests, half of these
    subscriptions by popularity, half of them given up by a node with at least two topics. Of the others half are joins
    of new nodes and half departures of random ones, of which a share `crashes` crash.
    """
    draw = np.random.default_rng([seed, 3])
    pool = _Topics(nodes + 2 * events, seed, given)
    held = {v: set(pool.of(v)) for v in range(nodes)}
    present, fresh, wished = list(held), nodes, nodes + events
    times = rising(np.cumsum(draw.exponential(1 / rate, events)))
    listed: list[_Event] = []
    for time in times:
        changes_interests, first = draw.random() < interests, draw.random() < 0.5
        at = int(draw.integers(len(present)))
        v = present[at]
        if not changes_interests and (first or len(present) < 2):
            listed.append((time, JOIN, fresh, pool.of(fresh)))
            held[fresh] = set(pool.of(fresh))
            present.append(fresh)
            fresh += 1
        elif not changes_interests:
            present[at] = present[-1]
            present.pop()
            held.pop(v)
            listed.append((time, CRASH if draw.random() < crashes else LEAVE, v, ()))
        else:
            wished += 1
            new = [t for t in pool.of(wished - 1) if t not in held[v]]
            if new and (first or len(held[v]) < 2):
                topic, kind = new[int(draw.integers(len(new)))], SUBSCRIBE
            else:
                topic, kind = sorted(held[v])[int(draw.integers(len(held[v])))], UNSUBSCRIBE
            held[v] ^= {topic}
            listed.append((time, kind, v, (topic,)))
    return pool.trace(fresh, range(nodes), listed)


def flash_crowd(*, seed: int, nodes: int, share: float, seconds: float, **given: Any) -> TopicTrace:
    """A share of the nodes that lack topic 0 subscribe to it within some seconds, and give it up in the next ones.

    Both happen at uniform times; the topic is the most popular one where popularities differ.
    """
    draw = np.random.default_rng([seed, 4])
    pool = _Topics(nodes, seed, given)
    lacking = [v for v in range(nodes) if 0 not in pool.of(v)]
    crowd = [v for v in lacking if draw.random() < share]
    listed: list[_Event] = []
    for kind, after in ((SUBSCRIBE, 0.0), (UNSUBSCRIBE, seconds)):
        times = rising(after + np.sort(draw.random(len(crowd))) * seconds)
        listed += [(time, kind, crowd[at], (0,)) for time, at in zip(times, draw.permutation(len(crowd)), strict=True)]
    return pool.trace(nodes, range(nodes), listed)


def diurnal(*, seed: int, nodes: int, days: int, online: float, spread: float, **given: Any) -> TopicTrace:
    """Every node is present for a part of each day, with the same topics.

    A node comes at an hour of its own: the middle of its day is normal with a deviation of `spread` hours about noon;
    and stays for a share `online` of the day, give or take an hour each day. Those that come before midnight of the
    first day are there at the start.
    """
    draw = np.random.default_rng([seed, 5])
    pool = _Topics(nodes, seed, given)
    noon = _DAY / 2 + draw.normal(0, 3600 * spread, nodes)
    listed, at_start = list[_Event](), list[int]()
    for v in range(nodes):
        gone = 0
        for day in range(days):
            middle, half = noon[v] + day * _DAY, online * _DAY / 2
            begin, end = (round(SECOND * (t + draw.uniform(-3600, 3600))) for t in (middle - half, middle + half))
            if begin <= 0 and not day:
                at_start.append(v)
            elif gone < begin < end:
                listed.append((begin, JOIN, v, pool.of(v)))
            else:
                continue
            gone = max(1, end)
            listed.append((gone, LEAVE, v, ()))
    return pool.trace(nodes, at_start, sorted(listed, key=lambda event: event[:3]))


def mass_departure(*, seed: int, nodes: int, share: float, seconds: float, **given: Any) -> TopicTrace:
    """After a second a share of the nodes crash at one time; they join again at uniform times within some seconds."""
    draw = np.random.default_rng([seed, 6])
    pool = _Topics(nodes, seed, given)
    gone = [v for v in range(nodes) if draw.random() < share][: nodes - 1]
    listed: list[_Event] = [(SECOND, CRASH, v, ()) for v in gone]
    times = rising(1 + np.sort(draw.random(len(gone))) * seconds)
    back = [gone[at] for at in draw.permutation(len(gone))]
    listed += [(time, JOIN, v, pool.of(v)) for time, v in zip(times, back, strict=True)]
    return pool.trace(nodes, range(nodes), listed)


def lastfm_arrivals(*, seed: int, nodes: int, first: int, rate: float) -> TopicTrace:
    """Listeners of Last.fm join in the order of the data set, at Poisson times; the `first` are there at the start."""
    instance = lastfm_listeners(seed=seed, nodes=nodes)
    if not 1 <= first <= instance.num_nodes:
        raise BadInput(f"lastfm-arrivals: {first} listeners at the start of {instance.num_nodes}: choose fewer")
    pool = _Topics(instance.num_nodes, seed, {}, instance)
    gaps = np.random.default_rng([seed, 7]).exponential(1 / rate, instance.num_nodes - first)
    listed: list[_Event] = [(time, JOIN, v, pool.of(v)) for v, time in enumerate(rising(np.cumsum(gaps)), start=first)]
    return pool.trace(instance.num_nodes, range(first), listed)


class _Topics:
    """The topics that nodes join with: drawn by popularity, or those of an instance."""

    def __init__(self, nodes: int, seed: int, given: dict[str, Any], instance: TopicInstance | None = None) -> None:
        self._instance = instance
        if instance is not None:
            self.offsets, self.topics, self._count = instance.node_offsets, instance.node_topics, instance.num_topics
            return
        popularity, self._count = given.pop("popularity"), given["topics"]
        shape: dict[str, Any] = {"zipf": {"alpha": 0.5}, "exponential": {"top_decile": 0.55}}.get(popularity, {})
        self.offsets, self.topics = RandomTopics(popularity).draw(0, nodes, seed=seed, **given, **shape)

    def of(self, node: int) -> list[int]:
        topics: list[int] = self.topics[self.offsets[node] : self.offsets[node + 1]].tolist()
        return topics

    def trace(self, nodes: int, at_start: Sequence[int], events: list[_Event]) -> TopicTrace:
        """The trace of events by number, in the order of time."""
        start_offsets, entries = entries_of(self.offsets, np.array(at_start, np.int64))
        owners = np.repeat(np.arange(len(events)), [len(event[3]) for event in events])
        times = np.array([event[0] for event in events], np.int64)
        kinds, who = (np.array([event[column] for event in events], np.int32) for column in (1, 2))
        named = np.array([t for event in events for t in event[3]], np.int32)
        occur = np.union1d(self.topics[entries], named)
        renumbered = np.searchsorted(occur, np.arange(self._count)).astype(np.int32)
        given = self._instance
        return TopicTrace(
            nodes,
            len(occur),
            0,
            np.array(at_start, np.int32),
            start_offsets,
            renumbered[self.topics[entries]],
            times,
            kinds,
            who,
            offsets_of(owners, len(events)),
            renumbered[named],
            None if given is None else given.node_labels,
            [f"t{t}" if given is None else given.topic_label(t) for t in occur.tolist()],
        )


def _share(name: str, default: float, summary: str) -> Option:
    return Option(name, default, summary, least=0.0, most=1.0)


_MOST = 2**31 - 1
_SUBSCRIBED = (
    Option("nodes", 100, "|V| at the start", least=1, most=_MOST),
    Option("topics", 20, "|T| to draw from", least=1, most=_MOST),
    Option("subscriptions", 4, "distinct topics of a node that joins", least=1, most=_MOST),
    Option("popularity", "uniform", "of the topics", choices=("uniform", "zipf", "exponential")),
)
_SECONDS = Option("seconds", 60.0, "how long it takes", least=0.001, most=1e9)
_RATE = Option("rate", 1.0, "events a second", least=1e-6, most=1e6)
_OWN = "none; docs/traces.md"


def _trace(
    name: str, summary: str, build: Callable[..., TopicTrace], *parameters: Option, source: str = _OWN, needs: str = ""
) -> Workload[TopicTrace]:
    return Workload(name, summary, source, parameters, build, "trace", needs)


TRACE_WORKLOADS: tuple[Workload[TopicTrace], ...] = (
    _trace(
        "churn",
        "Poisson churn: nodes join, leave and crash, subscribe and unsubscribe",
        poisson_churn,
        *_SUBSCRIBED,
        Option("events", 100, "how many", least=0, most=10_000_000),
        _RATE,
        _share("interests", 0.5, "share of events that change the interests of a node"),
        _share("crashes", 0.2, "share of departures without notice"),
    ),
    _trace(
        "flash-crowd",
        "many nodes subscribe to one topic and give it up again",
        flash_crowd,
        *_SUBSCRIBED,
        _share("share", 0.5, "of the nodes that lack the topic"),
        _SECONDS,
    ),
    _trace(
        "diurnal",
        "every node is present for a part of each day",
        diurnal,
        *_SUBSCRIBED,
        Option("days", 2, "how many", least=1, most=10_000),
        _share("online", 0.5, "share of the day that a node is present"),
        Option("spread", 4.0, "deviation of the nodes' hours", least=0.0, most=24.0),
    ),
    _trace(
        "mass-departure",
        "a share of the nodes crash at one time and come back",
        mass_departure,
        *_SUBSCRIBED,
        _share("share", 0.3, "of the nodes"),
        _SECONDS,
    ),
    _trace(
        "lastfm-arrivals",
        "listeners of Last.fm join in the order of the data set",
        lastfm_arrivals,
        *LASTFM.parameters,
        Option("first", 10, "listeners at the start", least=1, most=_MOST),
        _RATE,
        source=LASTFM.source,
        needs=LASTFM.needs,
    ),
)
