"""Overlays over time: the snapshots of a trace, what a log of links costs, and sections of a proof, one a snapshot."""

from __future__ import annotations

import hashlib
import re
import struct
from itertools import accumulate, chain, groupby, pairwise
from operator import itemgetter

from cases import Model, is_count, need, need_labels, neighbours, parsed, reached, reading, text_of
from topics import TopicRules

EVENTS = ("join", "subscribe", "unsubscribe", "leave", "crash")
JOIN, SUBSCRIBE, UNSUBSCRIBE, LEAVE, _ = range(len(EVENTS))
NAME = re.compile(r"dynamic-tco(?:@change-cost=([1-9][0-9]{0,5}|1000000))?")
SECOND = 10**6


class Snapshot(TopicRules):
    """The fewest links of a snapshot, as `min-tco`; topics without a subscriber are left out, nodes are not."""

    def __init__(self, num_nodes, members, facts):
        self.unit = facts["unit"]
        need(is_count(self.unit) and self.unit, "the unit is no number")
        self.pose("min-tco", num_nodes, [list(nodes) for nodes in members], facts["kept"])


class TraceRules(Model):
    """Few links, summed over the snapshots of a trace, and few changes: every topic stays connected.

    A snapshot is the subscriptions after the start, or after the events of one time. Its fewest links bound the links
    of any log there, and their sum the value.
    """

    problems = ("dynamic-tco",)

    @classmethod
    def poses(cls, problem):
        return NAME.fullmatch(problem) is not None

    def __init__(self, path, head):
        self.problem, names, topics = head["problem"], head["nodes"], head["topics"]
        self.change_cost = int(NAME.fullmatch(self.problem)[1] or 0)
        need_labels([*names, *topics])
        given, wanted = labels(data := read(path))
        need(len(names) == len(given) and set(names) == given, "the instance has other nodes")
        need(len(topics) == len(wanted) and set(topics) == wanted, "the instance has other topics")
        node, topic = ({name: number for number, name in enumerate(each)} for each in (names, topics))
        self.n, (self.start, held, events) = len(names), data
        held = {node[v]: {topic[t] for t in own} for v, own in held.items()}
        events = sorted((time, node[v], kind, sorted(topic[t] for t in own)) for time, v, kind, own in events)
        digest = digest_of((self.n, len(topics), self.start), held, events)
        need(digest == head["instance"], "the instance has another digest")
        self.steps = list(replayed(self.start, held, events))
        self.members = [members_of(held) for _, held, _ in self.steps]
        self.current, self.least = None, {}  # the snapshot of the section, its rules; of each snapshot its bound

    def section(self, cases, step, facts):
        """End the section before, whose cases are given, and begin one; the rules of its snapshot."""
        self.settle(cases)
        need(is_count(step) and step < len(self.steps), f"there is no snapshot {step}")
        self.current = self.members[step], Snapshot(self.n, self.members[step], facts)
        return self.current[1]

    def settle(self, cases):
        """Keep what a section proves of its snapshot, also where this one comes again."""
        if self.current is not None:
            members, rules = self.current
            self.least[members] = max(self.least.get(members, 0), rules.conclude(cases))

    def conclude(self, cases):
        self.settle(cases)
        return sum(self.least.get(members, 0) for members in self.members)

    def value(self, answer):
        """What a log costs, which must be valid: changes (microseconds, node, node, 1 for added) in any order."""
        changes = {}
        for time, u, v, added in answer:
            need(type(time) is int and time >= self.start, "a change before the start")
            need(is_count(u) and is_count(v) and u < v < self.n and added in (0, 1), "a change of no two nodes")
            need((u, v) not in changes.setdefault(time, {}), "a link changes twice at one time")
            changes[time][u, v] = added
        steps = {time: (held, gone) for time, held, gone in self.steps}
        links, total, held = set(), 0, {}
        for time in sorted({*changes, *steps}):
            if time in steps:
                total += len(links)  # of the snapshot that ends
                held, gone = steps[time]
                links = {link for link in links if not gone & set(link)}
            for link, added in changes.get(time, {}).items():
                need(added != (link in links), "a link is added that is there, or removed that is not")
                need(set(link) <= held.keys(), "a link of a node that is not present")
                links ^= {link}
                total += self.change_cost * (time > self.start)
            need(all(held[u] & held[v] for u, v in links), "a link of two nodes without a common topic")
            near = neighbours(links, held)
            for nodes in map(set, members_of(held)):
                need(reached(min(nodes), near, nodes) == nodes, "a topic is not connected")
        return total + len(links)


def digest_of(sizes, held, events):
    """SHA-256 of the numbers: sizes and start; nodes and topics of the start; times, kinds, nodes, topics."""
    times, nodes, kinds, given = ([event[at] for event in events] for at in range(4))
    parts = [("q", sizes), ("i", sorted(held)), *listed([sorted(held[v]) for v in sorted(held)])]
    parts += [("q", times), ("i", kinds), ("i", nodes), *listed(given)]
    packed = b"".join(struct.pack(f"<{len(numbers)}{form}", *numbers) for form, numbers in parts)
    return hashlib.sha256(b"overlaybench trace/1\n" + packed).hexdigest()


def listed(lists):
    """Where each list begins, and all their numbers, as parts of a digest."""
    return ("q", list(accumulate(map(len, lists), initial=0))), ("i", list(chain.from_iterable(lists)))


def replayed(start, held, events):
    """Of the start and each time of events: it, the topics of each present node, and the nodes that leave or crash."""
    yield start, held, set()
    need(not events or events[0][0] > start, "an event is not after the start")
    for time, simultaneous in groupby(events, key=itemgetter(0)):
        held, gone, acted, changed = dict(held), set(), set(), set()
        for _, v, kind, topics in simultaneous:
            need((kind == JOIN) == (v not in held), f"{v} is present already, or is not")
            need(v not in gone and (kind < LEAVE or v not in acted), f"{v} leaves, and has another event then")
            acted.add(v)
            if kind >= LEAVE:
                del held[v]
                gone.add(v)
                continue
            before, own = held.get(v, set()), set(topics)
            wrong = own - before if kind == UNSUBSCRIBE else own & before
            need(not wrong and not changed & {(v, t) for t in own}, f"{v} subscribes or gives up in vain")
            changed |= {(v, t) for t in own}
            held[v] = before ^ own
        yield time, held, gone


def members_of(held):
    """The subscribers of each topic that has some, by its number."""
    members = {}
    for v in sorted(held):
        for t in held[v]:
            members.setdefault(t, []).append(v)
    return tuple(tuple(members[t]) for t in sorted(members))


def labels(data):
    """The nodes and the topics of what :func:`read` returns."""
    _, held, events = data
    topics = {t for own in held.values() for t in own}
    return {*held, *(v for _, v, _, _ in events)}, topics.union(*(own for _, _, _, own in events))


@reading
def read(path):
    """The start in microseconds, the topics of each node then, and the events (time, node, kind, topics), as labels."""
    head, *lines = [parsed(line) for line in text_of(path).split("\n") if line.strip()]
    need(head.pop("format") == "trace/1", "the instance is no trace/1")
    held, start, events = head.pop("subscriptions"), microseconds(head.pop("start", 0.0)), []
    need(not head and all(type(own) is list for own in held.values()), "the first line has other keys, or no lists")
    for line in lines:
        event, v, own = line.pop("event"), line.pop("node"), line.pop("topics", [])
        events.append((microseconds(line.pop("time")), v, EVENTS.index(event), own))
        need(not line and type(own) is list and len(set(own)) == len(own), "an event has other keys, or a topic twice")
        need((event in EVENTS[1:3]) <= bool(own) <= (event in EVENTS[:3]), f"too few or many topics of a {event}")
    need(all(one[0] <= other[0] for one, other in pairwise(events)), "the events are not in the order of time")
    nodes, topics = labels((start, held, events))
    need_labels([*nodes, *topics])
    need(topics, "the instance has no subscription")
    for _ in replayed(start, {v: set(own) for v, own in held.items()}, sorted(events, key=itemgetter(0, 1, 2))):
        pass  # every event is possible
    return start, held, events


def microseconds(seconds):
    need(type(seconds) in (int, float) and -9e9 < seconds < 9e9, f"{seconds} is no number of seconds")
    return round(float(seconds) * SECOND)
