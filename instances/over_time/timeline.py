"""The problem on traces: an overlay that stays topic-connected while its subscriptions change; and its judge."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ..contract.arrays import Ids, Offsets, offsets_of
from ..contract.problem import Problem, shortened, stated_limits
from ..contract.time_units import SECOND
from ..runtime.compiled import kernel
from .link_log import LinkLog
from .timed import Series, last_moments
from .trace import JOIN, LEAVE, TopicTrace

_FAMILY, _LISTED = "dynamic-tco", 6
_Figures = tuple[Offsets, Offsets, Offsets, Offsets]


class DynamicTCO(Problem[TopicTrace, LinkLog]):
    """Keep every topic connected while nodes join, leave and change their interests, with few links and changes.

    The value is the number of links, summed over the snapshots of the trace (the start, and each time of events, once
    the overlay is repaired), plus `change_cost` for each link added or removed after the start. Upkeep (heartbeats, the
    state of a link) grows with the first, connection set-up and lost messages with the second. The first overlay is
    free, and so are the links that vanish with a node.

    A topic may be disconnected only in the `delay` seconds after its subscribers have changed; a link may never join
    nodes without a common topic. Both numbers stand in the name: ``dynamic-tco@change-cost=2@delay=0.5``.
    """

    kind, default_method = "trace", "snapshot-optima"
    source = "wished for in P1 §10 and P2 §7; its terms: docs/traces.md"

    def __init__(self, change_cost: int = 0, delay: float = 0.0) -> None:
        self.change_cost, self.delay = change_cost, delay
        limits = f"@change-cost={change_cost}" if change_cost else ""
        self.name = f"{_FAMILY}{limits}" + (f"@delay={delay:g}" if delay else "")
        self.summary = "links over time" + (f" and {change_cost} a change" if change_cost else "")
        self.summary += ", topics always connected" if not delay else f", topics disconnected for at most {delay:g} s"

    def variant(self, name: str) -> DynamicTCO:
        form = "dynamic-tco@change-cost=NUMBER@delay=SECONDS, or one of the two, the first one a whole number"
        given = stated_limits(name, name.split("@")[1:], {"change-cost": 1_000_000, "delay": 1e9}, form)
        return DynamicTCO(int(given.get("change-cost", 0)), given.get("delay", 0.0))

    @property
    def free(self) -> DynamicTCO:
        return DynamicTCO(0, self.delay)

    def timeline(self, instance: TopicTrace, answer: LinkLog) -> Timeline:
        return timeline(instance, answer, round(self.delay * SECOND))

    def value(self, instance: TopicTrace, answer: LinkLog) -> float:
        """Links summed over the snapshots, plus the cost of changes."""
        seen = self.timeline(instance, answer)
        return int(seen.links[seen.steps].sum()) + self.change_cost * seen.changes

    def violations(self, instance: TopicTrace, answer: LinkLog) -> list[str]:
        return list(self.timeline(instance, answer).violations)

    def measures(self, instance: TopicTrace, answer: LinkLog) -> dict[str, float]:
        """Mean links of a snapshot, largest degree, changes an event, subscriber-seconds disconnected, link-seconds."""
        seen = self.timeline(instance, answer)
        return {
            "edges": float(seen.links[seen.steps].mean()),
            "max_degree": int(seen.max_degrees.max()),
            "recourse": seen.changes / max(1, instance.num_events),
            "disconnected_seconds": seen.integral(seen.disconnected),
            "link_seconds": seen.integral(seen.links),
        }

    def __reduce__(self) -> tuple[Any, ...]:
        return DynamicTCO, (self.change_cost, self.delay)


DYNAMIC_PROBLEMS: tuple[DynamicTCO, ...] = (DynamicTCO(),)


@dataclass(frozen=True)
class Timeline(Series):
    """An overlay at every moment at which an event happens or a link changes, once both are done.

    Arrays have an entry a moment, the first of which is the start of the trace, but `steps` (see :class:`.Series`).
    """

    times: Offsets
    steps: Offsets
    links: Offsets  # the number of links
    max_degrees: Offsets
    added: Offsets
    removed: Offsets  # without those that vanish with a node
    disconnected: Offsets  # summed over topics, the subscribers outside of the topic's largest component
    violations: tuple[str, ...]  # why the log is no valid answer, if it is not

    @property
    def levels(self) -> Offsets:
        return self.links

    @property
    def changed(self) -> Offsets:
        changed = self.added + self.removed
        changed[:1] = 0
        return changed

    @property
    def changes(self) -> int:
        return int(self.changed.sum())


@lru_cache(maxsize=4)
def timeline(trace: TopicTrace, log: LinkLog, delay: int = 0) -> Timeline:
    """Replay a log against a trace, and judge every moment.

    A topic may be disconnected only within `delay` microseconds after its subscribers have changed (or the trace has
    started); at the end all are connected. A link joins two present nodes that have a common topic.

    Connectivity over time, off-line: every link is in a topic's graph for some intervals, which a segment tree over the
    moments holds; a walk through the tree unites and separates components again. O(I log M log S) for I such intervals,
    M moments and S subscriptions.
    """
    if log.num_nodes != trace.num_nodes:
        return _invalid(trace, f"the log is for {log.num_nodes} nodes, the trace has {trace.num_nodes}")
    if log.num_changes and log.times[0] < trace.start:
        return _invalid(trace, f"change 0 is at {log.times[0] / SECOND:g}, before the start of the trace")
    times = np.unique(np.concatenate([trace.step_times, log.times]))
    lives, figures, reasons = _lives(trace, log, times)
    toggled = np.repeat(np.searchsorted(times, trace.step_times), np.diff(trace.toggle_offsets))
    spans, uncovered = _spans(trace, lives, toggled, len(times))
    disconnected, faults, counted = _connectivity(trace, times, toggled, spans, delay)
    for life in uncovered[:_LISTED].tolist():
        u, v, begin, _ = lives[life].tolist()
        reasons.append(f"{_link(trace, u, v)} of {_at(times, begin)} joins nodes without a common topic for a time")
    reasons += [""] * max(0, len(uncovered) - _LISTED)
    for moment, topic, components in faults.tolist():
        reasons.append(f"topic '{trace.topic_label(topic)}' has {components} components at {_at(times, moment)}")
    reasons += [""] * (counted - len(faults))
    last = last_moments(times, trace.step_times)
    return Timeline(times, last, *figures, disconnected, tuple(shortened(reasons, "faults")))


def _invalid(trace: TopicTrace, reason: str) -> Timeline:
    none = np.zeros(trace.num_steps, np.int64)
    return Timeline(trace.step_times, np.arange(trace.num_steps), none, none, none, none, none, (reason,))


def _at(times: Offsets, moment: int) -> str:
    return f"time {times[moment] / SECOND:g}"


def _link(trace: TopicTrace, u: int, v: int) -> str:
    return f"link {trace.node_label(u)}–{trace.node_label(v)}"


def _lives(trace: TopicTrace, log: LinkLog, times: Offsets) -> tuple[Offsets, _Figures, list[str]]:
    """Replay joins, departures and changes in the order of time.

    Every link from its addition until it is removed or vanishes: u, v, its first moment and the one after its last; per
    moment `links`, `max_degrees`, `added` and `removed` of :class:`Timeline`; and violations.
    """
    present = set(trace.start_nodes.tolist())
    since: dict[tuple[int, int], int] = {}
    beside: dict[int, set[int]] = {}
    at_degree = np.zeros(trace.num_nodes + 1, np.int64)
    at_degree[0] = trace.num_nodes
    rows, reasons = list[tuple[int, int, int, int]](), list[str]()
    links, degrees, added, removed = (np.zeros(len(times), np.int64) for _ in range(4))
    events = np.searchsorted(trace.times, times, side="right").tolist()
    changes = np.searchsorted(log.times, times, side="right").tolist()
    kinds, nodes = trace.kinds.tolist(), trace.nodes.tolist()
    ends, signs = log.links.tolist(), log.added.tolist()

    def connect(u: int, v: int, by: int) -> None:
        for one, other in ((u, v), (v, u)):
            own = beside.setdefault(one, set())
            at_degree[len(own)] -= 1
            own.add(other) if by > 0 else own.remove(other)
            at_degree[len(own)] += 1

    def end(u: int, v: int, moment: int) -> None:
        if (begin := since.pop((min(u, v), max(u, v)))) < moment:
            rows.append((min(u, v), max(u, v), begin, moment))
        connect(u, v, -1)

    done, changed, largest = 0, 0, 0
    for moment in range(len(times)):
        for event in range(done, events[moment]):
            if kinds[event] == JOIN:
                present.add(nodes[event])
            elif kinds[event] >= LEAVE:
                present.discard(nodes[event])
                for other in sorted(beside.get(nodes[event], ())):
                    end(nodes[event], other, moment)
        done = events[moment]
        for change in range(changed, changes[moment]):
            (u, v), sign = ends[change], signs[change]
            if sign == ((u, v) in since) or (sign and not {u, v} <= present):
                state = "is there already" if (u, v) in since else "is not there"
                state = "has an end that is not present" if sign and (u, v) not in since else state
                reasons.append(f"change {change}: {_link(trace, u, v)} {state} at {_at(times, moment)}")
            elif sign:
                since[u, v] = moment
                connect(u, v, 1)
                added[moment] += 1
            else:
                end(u, v, moment)
                removed[moment] += 1
            largest = max(largest, len(beside.get(u, ())), len(beside.get(v, ())))
        changed = changes[moment]
        while largest and not at_degree[largest]:
            largest -= 1
        links[moment], degrees[moment] = len(since), largest
    rows += [(u, v, begin, len(times)) for (u, v), begin in since.items()]
    lives = np.array(rows, np.int64).reshape(-1, 4)
    return lives, (links, degrees, added, removed), reasons


def _spans(trace: TopicTrace, lives: Offsets, toggled: Offsets, end: int) -> tuple[Offsets, Offsets]:
    """The links of topics, rows (slot, slot, first moment, moment after the last), and lives without common topic."""
    slots = np.abs(trace.toggles).astype(np.int64) - 1
    moments = toggled[np.argsort(slots, kind="stable")].astype(np.int64)
    held = offsets_of(slots, len(trace.node_topics))
    spans, uncovered = _common_spans(lives, trace.node_offsets, trace.node_topics, held, moments, end)
    return spans, np.flatnonzero(uncovered)


@kernel
def _common_spans(
    lives: Offsets, node_offsets: Offsets, node_topics: Ids, held: Offsets, moments: Offsets, end: int
) -> tuple[Offsets, npt.NDArray[np.bool_]]:
    """See :func:`_spans`; a slot's subscription holds from its 1st, 3rd, … to its 2nd, 4th, … moment."""
    spans, num = np.empty((1024, 4), np.int64), 0
    uncovered = np.zeros(len(lives), np.bool_)
    for life in range(len(lives)):
        u, v, first, last = lives[life, 0], lives[life, 1], lives[life, 2], lives[life, 3]
        own = num
        i, j = node_offsets[u], node_offsets[v]
        while i < node_offsets[u + 1] and j < node_offsets[v + 1]:
            topic, other = node_topics[i], node_topics[j]
            if topic == other:
                a, b = held[i], held[j]
                while a < held[i + 1] and b < held[j + 1]:
                    end_a = moments[a + 1] if a + 1 < held[i + 1] else end
                    end_b = moments[b + 1] if b + 1 < held[j + 1] else end
                    begin, until = max(moments[a], moments[b], first), min(end_a, end_b, last)
                    if begin < until:
                        if num == len(spans):
                            longer = np.empty((2 * num, 4), np.int64)
                            longer[:num] = spans
                            spans = longer
                        spans[num, 0], spans[num, 1], spans[num, 2], spans[num, 3] = i, j, begin, until
                        num += 1
                    a += 2 * (end_a <= end_b)
                    b += 2 * (end_b <= end_a)
            i += topic <= other
            j += other <= topic
        reached, grew = first, True
        while grew and reached < last:
            grew = False
            for k in range(own, num):
                if spans[k, 2] <= reached < spans[k, 3]:
                    reached, grew = spans[k, 3], True
        uncovered[life] = reached < last
    return spans[:num].copy(), uncovered


def _connectivity(
    trace: TopicTrace, times: Offsets, toggled: Offsets, spans: Offsets, delay: int
) -> tuple[Offsets, Offsets, int]:
    """Per moment the disconnected subscribers; and of topics disconnected too long some, and their number."""
    size = 1 << (len(times) - 1).bit_length()
    low, high, span = spans[:, 2] + size, spans[:, 3] + size, np.arange(len(spans))
    vertices, held = [np.empty(0, np.int64)], [np.empty(0, np.int64)]  # of the segment tree, and the spans at each
    while len(span):
        for vertex, is_odd in ((low, low & 1), (high - 1, high & 1)):
            chosen = np.flatnonzero(is_odd)
            vertices.append(vertex[chosen])
            held.append(span[chosen])
        low, high = (low + 1) >> 1, high >> 1
        low, high, span = (each[low < high] for each in (low, high, span))
    at = np.concatenate(vertices)
    filled, offsets = np.concatenate(held)[np.argsort(at, kind="stable")], offsets_of(at, 2 * size)
    given = trace.node_topics, trace.num_topics, times, trace.toggles, offsets_of(toggled, len(times))
    disconnected, faults, counted = _walk(*given, spans, offsets, filled, size, delay)
    return disconnected, faults, int(counted)


@kernel
def _walk(
    slot_topics: Ids,
    num_topics: int,
    times: Offsets,
    toggles: Ids,
    first: Offsets,
    spans: Offsets,
    offsets: Offsets,
    filled: Offsets,
    size: int,
    delay: int,
) -> tuple[Offsets, Offsets, int]:
    """Walk through the segment tree; at a leaf the components are those of its moment.

    Components have no shortened paths, so that a union is undone by taking its root off again. `largest` is the size of
    a topic's largest component, at least 1.
    """
    slots = len(slot_topics)
    parent, sizes = np.arange(slots), np.ones(slots, np.int64)
    subscribers, unions = np.zeros(num_topics, np.int64), np.zeros(num_topics, np.int64)
    largest, touched = np.ones(num_topics, np.int64), np.zeros(num_topics, np.int64)
    roots, before = np.empty(slots + 1, np.int64), np.empty(slots + 1, np.int64)  # of the unions that hold
    done = 0
    vertices, marks, depth = np.empty(130, np.int64), np.empty(130, np.int64), 1  # mark: -1 on the way down
    vertices[0], marks[0] = 1, -1
    disconnected = np.zeros(len(times), np.int64)
    faults, counted, wanted = np.empty((6, 3), np.int64), 0, 0
    while depth > 0:
        vertex, mark = vertices[depth - 1], marks[depth - 1]
        if mark >= 0:
            while done > mark:
                done -= 1
                root = roots[done]
                topic = slot_topics[root]
                sizes[parent[root]] -= sizes[root]
                parent[root] = root
                largest[topic] = before[done]
                unions[topic] -= 1
            depth -= 1
            continue
        marks[depth - 1] = done
        for k in filled[offsets[vertex] : offsets[vertex + 1]]:
            a, b = spans[k, 0], spans[k, 1]
            while parent[a] != a:
                a = parent[a]
            while parent[b] != b:
                b = parent[b]
            if a != b:
                if sizes[a] < sizes[b]:
                    a, b = b, a
                topic = slot_topics[a]
                parent[b] = a
                sizes[a] += sizes[b]
                roots[done], before[done] = b, largest[topic]
                done += 1
                largest[topic] = max(largest[topic], sizes[a])
                unions[topic] += 1
        if vertex < size:
            vertices[depth], marks[depth] = 2 * vertex + 1, -1
            vertices[depth + 1], marks[depth + 1] = 2 * vertex, -1
            depth += 2
            continue
        moment = vertex - size
        if moment >= len(times):
            continue
        for toggle in toggles[first[moment] : first[moment + 1]]:
            topic = slot_topics[abs(toggle) - 1]
            wanted -= max(0, subscribers[topic] - 1)
            subscribers[topic] += 1 if toggle > 0 else -1
            wanted += max(0, subscribers[topic] - 1)
            touched[topic] = times[moment]
        if done == wanted:
            continue
        is_last = moment + 1 == len(times)
        for topic in range(num_topics):
            components = subscribers[topic] - unions[topic]
            if components > 1:
                disconnected[moment] += subscribers[topic] - largest[topic]
                if is_last or times[moment + 1] > touched[topic] + delay:
                    if counted < len(faults):
                        faults[counted, 0], faults[counted, 1], faults[counted, 2] = moment, topic, components
                    counted += 1
    return disconnected, faults[: min(counted, len(faults))].copy(), counted
