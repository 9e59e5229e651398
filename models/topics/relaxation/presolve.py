"""Presolve: topics that other topics imply. Nodes and edges keep their numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ....heuristics.graph import root_of
from ....heuristics.topics.kernels.interest import Interest, interest_of
from ....instances.contract.arrays import Ids, Offsets, offsets_of
from ....instances.contract.option import Option
from ....instances.contract.overlay import Overlay
from ....instances.runtime.compiled import kernel
from ....instances.topics.instance import TopicInstance

PRESOLVE = Option(
    "presolve",
    True,
    "drop topics that others imply (only where topics need no diameter), and for min-tco "
    "attach nodes that need one neighbour",
)


@dataclass(frozen=True)
class Presolved:
    """A smaller instance on the same nodes, whose overlays are overlays of the original one."""

    instance: TopicInstance
    topics: Ids  # the original number of each of its topics, without those of leaves
    whole: TopicInstance  # before leaves were attached
    leaves: Ids  # see :func:`attach_leaves`, shape (leaves, 3)
    counters: dict[str, float | str]

    def moved(self, overlay: Overlay) -> Overlay:
        """A valid overlay of the original instance as one of this instance, see :func:`moved_to_neighbours`."""
        return moved_to_neighbours(overlay, self.whole, self.leaves)


def presolved(instance: TopicInstance, *, implied: bool = True, leaves: bool = False) -> Presolved:
    """Drop the topics that others imply, and attach leaves."""
    topics, counters = np.arange(instance.num_topics, dtype=np.int32), dict[str, float | str]()
    whole = reduced = instance
    steps = np.empty((0, 3), np.int32)
    if implied:
        whole, topics, kept = drop_implied_topics(instance)
        reduced = whole
        counters["topics_implied"] = instance.num_topics - len(kept)
    if leaves:
        reduced, steps = attach_leaves(whole)
        counters["leaves"] = len(steps)
    return Presolved(reduced, topics, whole, steps, counters)


def drop_implied_topics(instance: TopicInstance) -> tuple[TopicInstance, Ids, Ids]:
    """Drop the topics that the others imply: the same overlays are topic-connected.

    Returned are the instance on the same nodes, in which a node whose topics are all implied keeps one of them; the
    original number of each of its topics; and the numbers of those that are not implied by the others, rising.

    A topic t is implied by topics s with V_s ⊆ V_t if the sets V_s, as the edges of a hypergraph, connect V_t. Proof:
    each G_s is connected and a subgraph of G_t, so all of V_t is. One subscriber (no s is needed), a duplicate (V_s =
    V_t) and a topic connected by forced edges (|V_s| = 2) are special cases. Topics are dropped one at a time and only
    those still there imply others, so by backward induction the kept topics imply all the others.

    Invalid for diameter 2 and for fault tolerance: a union of graphs of diameter 2 need not have diameter 2, nor must
    one of 2-connected graphs be 2-connected. Time O(Σ_t Σ_{v∈V_t} |T_v|), memory O(Σ|T_v|). Chen, Komusiewicz et al.
    (SIAM J. Discrete Math. 2015) show that several published reductions of subset interconnection design are wrong;
    this one uses no exchange argument.
    """
    interest, sizes = interest_of(instance), np.diff(instance.topic_offsets)
    kept = np.flatnonzero(_not_implied(interest, np.argsort(-sizes, kind="stable"))).astype(np.int32)
    stays = np.zeros(instance.num_topics, dtype=np.bool_)
    stays[kept] = True
    node_of = np.repeat(np.arange(instance.num_nodes), np.diff(instance.node_offsets))
    of_node = np.bincount(node_of[stays[instance.node_topics]], minlength=instance.num_nodes)
    lost = (of_node == 0) & (np.diff(instance.node_offsets) > 0)
    stays[instance.node_topics[instance.node_offsets[:-1][lost]]] = True
    here = stays[instance.node_topics]
    offsets = offsets_of(node_of[here], instance.num_nodes)
    reduced = TopicInstance.from_sorted(offsets, instance.node_topics[here], instance.num_topics)
    return reduced.with_costs(instance.costs), np.flatnonzero(stays).astype(np.int32), kept


@kernel
def _not_implied(interest: Interest, order: Offsets) -> Ids:
    """1 for each topic that stays; the largest are judged first, as small ones imply more."""
    num_topics = len(interest.topic_offsets) - 1
    stays = np.ones(num_topics, np.int32)
    inside = np.zeros(num_topics, np.int64)
    parent = np.empty(len(interest.node_offsets) - 1, np.int32)
    for t in order:
        first, last = interest.topic_offsets[t], interest.topic_offsets[t + 1]
        parts = last - first
        for i in range(first, last):
            v = interest.topic_nodes[i]
            parent[v] = v
            for j in range(interest.node_offsets[v], interest.node_offsets[v + 1]):
                inside[interest.node_topics[j]] += 1
        for i in range(first, last):
            v = interest.topic_nodes[i]
            for j in range(interest.node_offsets[v], interest.node_offsets[v + 1]):
                s = interest.node_topics[j]
                start = interest.topic_offsets[s]
                if s == t or not stays[s] or inside[s] != interest.topic_offsets[s + 1] - start:
                    continue
                a, b = root_of(parent, v), root_of(parent, interest.topic_nodes[start])
                if a != b:
                    parent[a] = b
                    parts -= 1
        for i in range(first, last):
            v = interest.topic_nodes[i]
            for j in range(interest.node_offsets[v], interest.node_offsets[v + 1]):
                inside[interest.node_topics[j]] = 0
        if parts == 1:
            stays[t] = 0
    return stays


_MOST_STEPS = 500_000_000


def attach_leaves(instance: TopicInstance) -> tuple[TopicInstance, Ids]:
    """Replace the topics of each leaf node by one that it shares with a single neighbour.

    A node v is a leaf by topic t if all subscribers of t, two or more, subscribe to every topic that v shares with
    anyone; or, if v shares two topics or fewer, if one other node subscribes to these. Let a be another subscriber of t
    with these topics. The fewest edges are one more than without v, and the edge va makes an overlay for the others one
    for all (proof: docs/proof_format.md). Leaves are taken one after the other, each judged without those before.

    The instance returned has the same nodes and the same topics, which leaves leave, followed by a topic {v, a} for
    each leaf. Every overlay valid for it is valid for the given instance, and the fewest edges are the same. The steps,
    shape (leaves, 3), are the leaf v, the topic t and the neighbour a, in order.

    Not valid for degrees, as that of a grows, nor for costs. A pass takes O(Σ_v |V_t| |T_v|) where t is v's smallest
    topic; there are passes until one finds no leaf. After 500,000,000 steps no more leaves are looked for.
    """
    kept, steps = _leaves(interest_of(instance))
    new = instance.num_topics + np.arange(len(steps), dtype=np.int32)
    nodes = np.repeat(np.arange(instance.num_nodes), np.diff(instance.node_offsets))[kept]
    nodes = np.concatenate([nodes, steps[:, 0], steps[:, 2]])
    topics = np.concatenate([instance.node_topics[kept], new, new])
    num_topics = instance.num_topics + len(steps)
    return TopicInstance.from_keys(np.sort(nodes * num_topics + topics), instance.num_nodes, num_topics), steps


def moved_to_neighbours(overlay: Overlay, instance: TopicInstance, steps: Ids) -> Overlay:
    """A valid overlay of `instance` as one, of no more edges, of the instance that :func:`attach_leaves` makes of it.

    Each leaf's other edges go to a neighbour b with its topics, and its edge to b to a, as in the proof there; without
    one to a, and an edge goes that is not needed then. Cost O(edges + Σ degrees of leaves), and O(edges) for each of
    those.
    """
    if not len(steps):
        return overlay
    neighbours: list[set[int]] = [set() for _ in range(overlay.num_nodes)]
    for u, v in overlay.edges.tolist():
        neighbours[u].add(v)
        neighbours[v].add(u)
    topics = [set(instance.topics_of(v).tolist()) for v in range(overlay.num_nodes)]
    left = np.diff(instance.topic_offsets)
    for v, _, a in steps.tolist():
        shared = {t for t in topics[v] if left[t] > 1}
        b = a if a in neighbours[v] else next((c for c in sorted(neighbours[v]) if shared <= topics[c]), a)
        new = neighbours[v] - neighbours[b] - {b}
        for c in neighbours[v]:
            neighbours[c].discard(v)
        for c in new:
            neighbours[b].add(c)
            neighbours[c].add(b)
        if b not in neighbours[v] and new == neighbours[v]:
            _remove_unneeded(neighbours, topics, new, b, shared)
        neighbours[v], topics[v] = set(), set()
        left[list(shared)] -= 1
    edges = [(u, v) for u in range(overlay.num_nodes) for v in neighbours[u] if u < v]
    return Overlay.from_edges(overlay.num_nodes, np.array(edges + steps[:, [0, 2]].tolist()).reshape(-1, 2))


def _remove_unneeded(
    neighbours: list[set[int]], topics: list[set[int]], ends: set[int], b: int, shared: set[int]
) -> None:
    """Remove an edge between `ends` and b that closes a cycle in the one topic for which it is needed."""
    for c in sorted(ends):
        (topic,) = (shared & topics[c]) or {-1}
        reached, waiting = {c}, [c]
        while waiting and b not in reached:
            w = waiting.pop()
            new = {u for u in neighbours[w] - reached if topic in topics[u] and (w != c or u != b)}
            reached |= new
            waiting += new
        if b in reached or topic < 0:
            neighbours[b].discard(c)
            neighbours[c].discard(b)
            return


@kernel
def _leaves(interest: Interest) -> tuple[npt.NDArray[np.bool_], Ids]:
    """The subscriptions that stay, and the steps."""
    n = len(interest.node_offsets) - 1
    kept = np.ones(len(interest.node_topics), np.bool_)
    steps = np.empty((n, 3), np.int32)
    count = work = 0
    there = np.ones(n, np.bool_)
    size = interest.topic_offsets[1:] - interest.topic_offsets[:-1]
    first = interest.topic_offsets[:-1].copy()  # no subscriber before it is left
    mine = np.full(len(size), -1, np.int64)
    before = -1
    while count > before:
        before = count
        for v in range(n):
            if not there[v] or work > _MOST_STEPS:
                continue
            smallest, shared = -1, 0
            for i in range(interest.node_offsets[v], interest.node_offsets[v + 1]):
                t = interest.node_topics[i]
                if size[t] >= 2:
                    shared += 1
                    mine[t] = v
                    if smallest < 0 or size[t] < size[smallest]:
                        smallest = t
            if smallest < 0:
                continue
            while not there[interest.topic_nodes[first[smallest]]]:
                first[smallest] += 1
            neighbour = -1
            for j in range(first[smallest], interest.topic_offsets[smallest + 1]):
                w = interest.topic_nodes[j]
                if w == v or not there[w]:
                    continue
                common = 0
                work += interest.node_offsets[w + 1] - interest.node_offsets[w]
                for i in range(interest.node_offsets[w], interest.node_offsets[w + 1]):
                    s = interest.node_topics[i]
                    common += mine[s] == v and size[s] >= 2
                if common == shared:
                    neighbour = w
                    if shared <= 2:
                        break
                elif shared > 2:
                    neighbour = -1
                    break
            if neighbour >= 0:
                there[v] = False
                steps[count, 0], steps[count, 1], steps[count, 2] = v, smallest, neighbour
                count += 1
                for i in range(interest.node_offsets[v], interest.node_offsets[v + 1]):
                    t = interest.node_topics[i]
                    if size[t] >= 2:
                        kept[i] = False
                        size[t] -= 1
            for i in range(interest.node_offsets[v], interest.node_offsets[v + 1]):
                mine[interest.node_topics[i]] = -1
    return kept, steps[:count].copy()
