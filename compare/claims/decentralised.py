"""DCBR-M by nodes that know only what messages bring them: a simulation of the scheme of P3 §IV.D."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...heuristics.topics.merge.divide_and_conquer import BULK, Extend, PartEdges, Partition, build_part, combine_core
from ...heuristics.topics.tie_breaking.ties import TieOrder, ranks_of, tie_order
from ...instances.contract.arrays import Ids
from ...instances.contract.overlay import Overlay
from ...instances.topics.instance import TopicInstance

_COMBINE = -1  # the name under which bulk nodes and representatives find each other


@dataclass(frozen=True)
class Decentralised:
    """The outcome of the scheme: the links that both their ends have computed, and what was known for them."""

    overlay: Overlay
    knows: Sequence[frozenset[int]]  # of each node the nodes of which it has learned, itself included
    hosts: Mapping[int, frozenset[int]]  # of each node that the directory's keys fall on, who registered there
    representatives: Ids

    @property
    def pn_ratio(self) -> float:
        """The largest share of the nodes that one node has learned of, the directory's hosts not counted."""
        return max(map(len, self.knows)) / len(self.knows)

    @property
    def pn_ratio_with_directory(self) -> float:
        """The same if nodes themselves are the directory and know who registered with them."""
        known = (known | self.hosts.get(v, frozenset()) for v, known in enumerate(self.knows))
        return max(map(len, known)) / len(self.knows)


def drawn_partition(instance: TopicInstance, eta: int, num_parts: int, seed: int) -> Partition:
    """Every node with at most η topics draws its part itself; parts that nobody draws are left out. Cost O(|V|)."""
    ranks = ranks_of(np.arange(instance.num_nodes, dtype=np.int64), tie_order("random", ~seed))
    draws = (ranks % num_parts).astype(np.int32)
    light, part_of = np.diff(instance.node_offsets) <= eta, np.full(instance.num_nodes, BULK, np.int32)
    present, part_of[light] = np.unique(draws[light], return_inverse=True)
    return Partition(part_of, len(present))


def decentralised(
    instance: TopicInstance,
    partition: Partition,
    coverage: int,
    extend: Extend,
    order: TieOrder,
    *,
    topics_exchanged: bool = True,
) -> Decentralised:
    """Run DCBR-M on nodes that exchange messages (P3 §IV.D).

    Every node knows its topics and its part, and all know η, p, λ, the rule for ties with its seed, and how to reach a
    directory, which maps names to what is registered under them. A node computes only from what it was sent.

    The overlay is that of :func:`.conquer_and_combine`. With `topics_exchanged` parts and bulk nodes post their topics,
    so that representatives cover only outward topics, as Algorithm 12 has it. The paper's five steps lack the exchange;
    without it they cover all topics of the part.

    Equal computations from equal knowledge are made once. Messages: Σ_d |L_d|² + (|B| + |R|)² and a few a node.
    """
    nodes = [_Node(v, part, instance.topics_of(v)) for v, part in enumerate(partition.part_of.tolist())]
    registered: dict[int, list[_Node]] = {}  # under each name of the directory
    light = [node for node in nodes if node.part != BULK]
    _meet(light, lambda node: node.part, registered)
    _exchange(light, nodes)
    conquered: dict[tuple[int, ...], PartEdges] = {}
    for node in light:
        node.conquer(extend, order, conquered)
    if topics_exchanged:
        _exchange_topics(nodes)
    chosen: dict[tuple[int, ...], set[int]] = {}
    for node in light:
        node.choose(coverage, order, chosen)
    core = [node for node in nodes if node.combines]
    _meet(core, lambda node: _COMBINE, registered)
    _exchange(core, nodes)
    combined: dict[tuple[int, ...], PartEdges] = {}
    for node in core:
        node.combine(extend, order, combined)
    edges = [(v.number, w) for v in nodes for w in v.neighbours if v.number < w and v.number in nodes[w].neighbours]
    return Decentralised(
        Overlay.from_edges(len(nodes), edges),
        [frozenset(node.parts) for node in nodes],
        _hosts(registered, len(nodes)),
        np.array([node.number for node in core if node.part != BULK], np.int32),
    )


def _hosts(registered: Mapping[int, Sequence[_Node]], num_nodes: int) -> dict[int, frozenset[int]]:
    """Who registered at each node if the directory's names are spread over the nodes as by a hash function."""
    names = np.array(list(registered), np.int64) + 1
    keys = ranks_of(names, tie_order("random", 0)) % num_nodes
    hosts: dict[int, frozenset[int]] = {}
    for key, members in zip(keys.tolist(), registered.values(), strict=True):
        hosts[key] = hosts.get(key, frozenset()) | {node.number for node in members}
    return hosts


class _Node:
    """A node, its topics and part, and what messages brought it.

    `group` are the nodes with which it computes: first its part, then all bulk nodes and representatives. `parts`,
    `interests` and `degrees` are those of the nodes that it has learned of.
    """

    def __init__(self, number: int, part: int, topics: Ids) -> None:
        self.number, self.part, self.topics = number, part, topics
        self.group: tuple[int, ...] = ()
        self.parts = {number: part}
        self.interests = {number: topics}
        self.degrees = {number: 0}
        self.max_degree = 0
        self.outward: set[int] | None = None
        self.combines = part == BULK
        self.neighbours: set[int] = set()

    def hear(self, sender: _Node) -> None:
        self.interests[sender.number] = sender.topics
        self.degrees[sender.number] = sender.degrees[sender.number]
        self.max_degree = max(self.max_degree, sender.max_degree)

    def conquer(self, extend: Extend, order: TieOrder, known: dict[tuple[int, ...], PartEdges]) -> None:
        """Step 3: GM-M within the part."""
        if self.group not in known:
            known[self.group] = build_part(_instance_of(self.group, self.interests), extend=extend, order=order)
        ends = known[self.group][0]
        degrees = np.bincount(ends.ravel(), minlength=len(self.group)).tolist()
        self.degrees.update(zip(self.group, degrees, strict=True))
        self.max_degree = max(degrees)
        self._link(ends)

    def choose(self, coverage: int, order: TieOrder, known: dict[tuple[int, ...], set[int]]) -> None:
        """Step 4: whether it is a representative of its part."""
        if self.group not in known:
            wants = {v: set(self.interests[v].tolist()) for v in self.group}
            if self.outward is not None:
                wants = {v: topics & self.outward for v, topics in wants.items()}
            ranks = dict(zip(self.group, ranks_of(np.array(self.group, np.int64), order).tolist(), strict=True))
            known[self.group] = set(representative_set(wants, coverage, ranks) or ())
        self.combines = self.number in known[self.group]

    def combine(self, extend: Extend, order: TieOrder, known: dict[tuple[int, ...], PartEdges]) -> None:
        """Step 5: the outer edges."""
        if self.group not in known:
            parts = np.array([self.parts[v] for v in self.group], np.int32)
            degrees = np.array([self.degrees[v] for v in self.group], np.int32)
            core, partition = _instance_of(self.group, self.interests), Partition(parts, int(parts.max()) + 1)
            known[self.group] = combine_core(core, partition, degrees, self.max_degree, extend, order)
        self._link(known[self.group][0])

    def _link(self, ends: Ids) -> None:
        own = self.group.index(self.number)
        others = np.concatenate([ends[ends[:, 0] == own, 1], ends[ends[:, 1] == own, 0]])
        self.neighbours |= {self.group[v] for v in others.tolist()}


def _meet(nodes: Sequence[_Node], name: Callable[[_Node], int], registered: dict[int, list[_Node]]) -> None:
    """Nodes register under a name of the directory, which answers with all that did, and their parts."""
    for key in dict.fromkeys(map(name, nodes)):
        registered[key] = group = [node for node in nodes if name(node) == key]
        parts = {node.number: node.part for node in group}
        for node in group:
            node.group = tuple(sorted(parts))
            node.parts |= parts


def _exchange(senders: Sequence[_Node], nodes: Sequence[_Node]) -> None:
    """Every node sends its topics and degree to the nodes of its group that it has not heard of."""
    pairs = [(node, nodes[v]) for node in senders for v in node.group if v not in node.interests]
    for sender, receiver in pairs:
        receiver.hear(sender)


def _exchange_topics(nodes: Sequence[_Node]) -> None:
    """One node a part, and every bulk node, posts its topics and learns which of them others posted too."""
    speakers = [node for node in nodes if node.part == BULK or node.group[:1] == (node.number,)]
    posts = {node.number: set().union(*(topics.tolist() for topics in node.interests.values())) for node in speakers}
    often = Counter(topic for topics in posts.values() for topic in topics)
    largest = max(node.max_degree for node in speakers)
    for node in speakers:
        outward = {topic for topic in posts[node.number] if often[topic] > 1}
        for member in (node, *(nodes[v] for v in node.group)):  # which the speaker of a part tells
            member.max_degree, member.outward = largest, outward


def representative_set(
    wants: Mapping[int, set[int]], coverage: int, ranks: Mapping[int, int], *, as_printed: bool = False
) -> list[int] | None:
    """Algorithm 13 on the outward topics of each node, with eq. 8's min{λ, |subs(t)|}; of equal nodes that of low rank.

    As printed every topic is to be covered λ times; None where that does not end.
    """
    wanted = Counter(topic for own in wants.values() for topic in own)
    missing = {topic: coverage if as_printed else min(coverage, count) for topic, count in wanted.items()}
    left, chosen = dict(wants), list[int]()
    while missing:
        best = max(left, key=lambda v: (len(left[v] & missing.keys()), -ranks[v]), default=None)
        if best is None or not left[best] & missing.keys():
            return None
        chosen.append(best)
        for topic in left.pop(best) & missing.keys():
            missing[topic] -= 1
            if not missing[topic]:
                del missing[topic]
    return chosen


def _instance_of(nodes: Sequence[int], interests: Mapping[int, Ids]) -> TopicInstance:
    """The instance on sorted nodes, from what is known of their interests."""
    offsets = np.concatenate([[0], np.cumsum([len(interests[v]) for v in nodes])])
    _, topics = np.unique(np.concatenate([interests[v] for v in nodes]), return_inverse=True)
    return TopicInstance(offsets, topics.astype(np.int32))
