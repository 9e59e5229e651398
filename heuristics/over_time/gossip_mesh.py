"""A gossip mesh on a trace, as libp2p's GossipSub keeps one for each topic: what other methods are compared with.

Examples
--------
>>> import overlaybench as ob
>>> trace = ob.generate("churn", nodes=6, topics=3, subscriptions=2, events=5, seed=1)
>>> ob.solve(trace, "dynamic-tco", "gossip-mesh").value
128
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from random import Random
from typing import NamedTuple

import numpy as np

from ...instances.contract.arrays import offsets_of
from ...instances.contract.errors import BadInput
from ...instances.contract.method import Proposal
from ...instances.contract.option import Option
from ...instances.contract.time_units import SECOND
from ...instances.over_time.link_log import Change, LinkLog
from ...instances.over_time.trace import LEAVE, TopicTrace
from ...instances.runtime.run import Clock
from .trace_method import trace_method

_BACKOFF = 60 * SECOND
_LISTED = 4  # candidates for each peer that is wanted, up to which they are listed


class MeshDegrees(NamedTuple):
    """GossipSub's D, D_low and D_high: how many neighbours a node has in the mesh of a topic."""

    target: int = 6
    low: int = 4
    high: int = 12


def gossip_mesh(
    trace: TopicTrace, degrees: MeshDegrees, *, seed: int = 0, clock: Clock | None = None
) -> tuple[LinkLog, dict[str, int]]:
    """The log of the links that are in the mesh of some topic, and the counters of the protocol's messages.

    After each step of the trace there are heartbeats, until none changes a mesh. At a heartbeat a node with fewer than
    D_low neighbours in a topic's mesh grafts random subscribers of the topic until it has D; one with more than D_high
    keeps D random ones and prunes the others. For a minute after a prune neither end grafts the other in this topic.

    GossipSub alone may leave a topic disconnected, which the problem forbids. Where the links of all meshes together do
    not connect a topic, a random subscriber of each component is grafted to a random one of the largest: the counter
    ``joining_grafts``. These links are as those of the mesh from then on, and may be pruned.

    Parameters
    ----------
    degrees : MeshDegrees
        Low ≤ target ≤ high, or BadInput.
    clock : Clock, optional
        :class:`.OutOfTime` is raised at the first step after it has passed.

    Notes
    -----
    Left out: scores of peers, outbound quotas, the gossip about messages, fan-out of publishers, and the discovery of
    peers (a node can reach every subscriber of its topics). Heartbeats take no time. A step costs O(D) for each graft
    and prune, and O(D |V_t|) for each topic that lost a link or gained a subscriber.

    References
    ----------
    Vyzovitis, Napora, McCormick, Dias, Psaras 2020, https://arxiv.org/abs/2007.02754; libp2p/specs,
    pubsub/gossipsub/gossipsub-v1.0.md and gossipsub-v1.1.md (backoff after a prune).
    """
    if not 1 <= degrees.low <= degrees.target <= degrees.high:
        raise BadInput("gossip-mesh: the degrees must be low ≤ degree ≤ high: correct one")
    meshes, changes = _Meshes(trace, degrees, seed), list[Change]()
    owners = np.repeat(np.arange(trace.num_nodes), np.diff(trace.node_offsets))
    departing = trace.nodes[trace.kinds >= LEAVE]
    ends = offsets_of(trace.step_of[trace.kinds >= LEAVE], trace.num_steps)
    for step, time in enumerate(trace.step_times.tolist()):
        if clock is not None:
            clock.check()
        toggles = trace.toggles[trace.toggle_offsets[step] : trace.toggle_offsets[step + 1]]
        slots = np.abs(toggles) - 1
        subscriptions = zip(owners[slots].tolist(), trace.node_topics[slots].tolist(), strict=True)
        meshes.update(time, zip(subscriptions, (toggles > 0).tolist(), strict=True))
        gone = set(departing[ends[step] : ends[step + 1]].tolist())
        changes += [(time, *link, added) for link, added in meshes.changes() if not gone.intersection(link)]
    return LinkLog.of(trace.num_nodes, changes), meshes.counters


class _Meshes:
    """The mesh of each topic, and the links of all of them."""

    def __init__(self, trace: TopicTrace, degrees: MeshDegrees, seed: int) -> None:
        self._degrees, self._random = degrees, Random(f"gossip-mesh {seed}")
        self._mesh: list[dict[int, set[int]]] = [{} for _ in range(trace.num_topics)]  # neighbours of each subscriber
        self._members: list[list[int]] = [[] for _ in self._mesh]
        self._index: list[dict[int, int]] = [{} for _ in self._mesh]  # of each subscriber among the members
        self._topics: list[set[int]] = [set() for _ in range(trace.num_nodes)]
        self._beside: list[dict[int, int]] = [{} for _ in self._topics]  # each neighbour, and in how many meshes it is
        self._backoff: dict[tuple[int, int, int], int] = {}
        self._ends: deque[tuple[int, tuple[int, int, int]]] = deque()
        self._due: set[tuple[int, int]] = set()  # the (node, topic) whose next heartbeat may change the mesh
        self._before: dict[tuple[int, int], bool] = {}  # the links touched in this step, and whether they were there
        self._unsure: set[int] = set()  # the topics that may be disconnected
        self._time = 0
        self.counters = dict.fromkeys(("heartbeats", "grafts", "prunes", "joining_grafts"), 0)

    def update(self, time: int, subscriptions: Iterable[tuple[tuple[int, int], bool]]) -> None:
        """Subscriptions begin and end; then the protocol runs, and what it leaves apart is joined."""
        self._time, self._before = time, {}
        while self._ends and self._ends[0][0] <= time:
            until, pair = self._ends.popleft()
            if self._backoff.get(pair) == until:
                del self._backoff[pair]
        for (node, topic), begins in subscriptions:
            (self._subscribe if begins else self._unsubscribe)(node, topic)
        self._run_heartbeats()
        for topic in sorted(self._unsure):
            self._join_components(topic)
        self._unsure = set()

    def changes(self) -> list[tuple[tuple[int, int], bool]]:
        """The links that the last step added (True) and removed, in order."""
        now = {(u, v): v in self._beside[u] for u, v in self._before}
        return sorted((link, there) for link, there in now.items() if there != self._before[link])

    def _subscribe(self, node: int, topic: int) -> None:
        self._topics[node].add(topic)
        self._mesh[topic][node] = set()
        self._index[topic][node] = len(self._members[topic])
        if len(self._members[topic]) <= self._degrees.low:  # they had nobody else to graft
            self._due |= {(other, topic) for other in self._members[topic]}
        self._members[topic].append(node)
        self._due.add((node, topic))
        self._unsure.add(topic)

    def _unsubscribe(self, node: int, topic: int) -> None:
        self._topics[node].discard(topic)
        for other in sorted(self._mesh[topic][node]):
            self._disconnect(node, other, topic)
        del self._mesh[topic][node]
        members, at = self._members[topic], self._index[topic].pop(node)
        last = members.pop()
        if last != node:
            members[at], self._index[topic][last] = last, at
        self._due.discard((node, topic))

    def _connect(self, u: int, v: int, topic: int) -> None:
        self._touch(u, v)
        for one, other in ((u, v), (v, u)):
            self._mesh[topic][one].add(other)
            self._beside[one][other] = self._beside[one].get(other, 0) + 1
            self._due.add((one, topic))

    def _disconnect(self, u: int, v: int, topic: int) -> None:
        self._touch(u, v)
        for one, other in ((u, v), (v, u)):
            self._mesh[topic][one].discard(other)
            self._beside[one][other] -= 1
            if not self._beside[one][other]:
                del self._beside[one][other]
            self._due.add((one, topic))
        self._unsure.add(topic)
        if v not in self._beside[u]:
            self._unsure |= self._topics[u] & self._topics[v]

    def _touch(self, u: int, v: int) -> None:
        self._before.setdefault((min(u, v), max(u, v)), v in self._beside[u])

    def _run_heartbeats(self) -> None:
        """Until no mesh changes: a pair that was pruned is not grafted again in this step, so there is an end."""
        blocked: set[tuple[int, int]] = set()
        while self._due:
            batch, self._due = sorted(self._due), set()
            self._random.shuffle(batch)
            changed = False
            for node, topic in batch:
                mesh = self._mesh[topic][node]
                if len(mesh) > self._degrees.high:
                    changed = True
                    self._prune(node, topic)
                elif len(mesh) < self._degrees.low:
                    peers = self._peers(node, topic, self._degrees.target - len(mesh))
                    changed |= bool(peers)
                    for peer in peers:
                        self.counters["grafts"] += 1
                        self._connect(node, peer, topic)
                    if len(mesh) < min(self._degrees.low, len(self._members[topic]) - 1):
                        blocked.add((node, topic))
            self.counters["heartbeats"] += changed
        self._due = {(node, topic) for node, topic in blocked if len(self._mesh[topic][node]) < self._degrees.low}

    def _prune(self, node: int, topic: int) -> None:
        mesh = sorted(self._mesh[topic][node])
        for other in self._random.sample(mesh, len(mesh) - self._degrees.target):
            self.counters["prunes"] += 1
            self._disconnect(node, other, topic)
            pair = topic, min(node, other), max(node, other)
            self._backoff[pair] = self._time + _BACKOFF
            self._ends.append((self._time + _BACKOFF, pair))

    def _peers(self, node: int, topic: int, wanted: int) -> list[int]:
        """Random subscribers that may be grafted, as many as are wanted or as there are."""
        members, mesh = self._members[topic], self._mesh[topic][node]

        def may_be_grafted(other: int) -> bool:
            free = (topic, min(node, other), max(node, other)) not in self._backoff
            return free and other != node and other not in mesh

        if len(members) > _LISTED * (wanted + len(mesh) + 1):
            drawn = dict[int, None]()
            for _ in range(_LISTED * _LISTED * wanted):
                other = members[self._random.randrange(len(members))]
                if may_be_grafted(other):
                    drawn[other] = None
                if len(drawn) == wanted:
                    return list(drawn)
        able = sorted(filter(may_be_grafted, members))
        return self._random.sample(able, min(wanted, len(able)))

    def _join_components(self, topic: int) -> None:
        mesh, members = self._mesh[topic], self._members[topic]
        if not members or len(_reached(members[0], lambda v: mesh[v])) == len(members):
            return
        left, parts = set(members), list[list[int]]()
        for node in sorted(members):
            if node in left:
                parts.append(sorted(_reached(node, lambda v: mesh.keys() & self._beside[v].keys())))
                left -= set(parts[-1])
        largest = max(parts, key=len)
        for part in parts:
            if part is not largest:
                self.counters["joining_grafts"] += 1
                self._connect(self._random.choice(part), self._random.choice(largest), topic)


def _reached(start: int, neighbours: Callable[[int], Iterable[int]]) -> set[int]:
    seen, waiting = {start}, [start]
    while waiting:
        for other in neighbours(waiting.pop()):
            if other not in seen:
                seen.add(other)
                waiting.append(other)
    return seen


def _solve(trace: TopicTrace, *, seed: int, clock: Clock, degree: int, low: int, high: int) -> Proposal[LinkLog]:
    log, counters = gossip_mesh(trace, MeshDegrees(degree, low, high), seed=seed, clock=clock)
    return Proposal(log, counters=counters)


_MOST = 2**31 - 1
GOSSIP_MESH = trace_method(
    "gossip-mesh",
    _solve,
    Option("degree", MeshDegrees().target, "D, the neighbours that a node grafts or keeps", least=1, most=_MOST),
    Option("low", MeshDegrees().low, "D_low, the neighbours in a mesh below which a node grafts", least=1, most=_MOST),
    Option("high", MeshDegrees().high, "D_high, those above which it prunes", least=1, most=_MOST),
    summary="random meshes of a target degree for each topic, as GossipSub's; what they leave apart is joined",
    source="Vyzovitis et al. 2020; libp2p/specs gossipsub-v1.0",
    guarantee="none on the links: about D/2 for each subscription",
    cost="O(D) a graft, O(D |V_t|) for each topic that loses a link or gains a subscriber",
    compiled=False,
    random=True,
)
