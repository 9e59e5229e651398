"""The constraints of a compact model: the distinct topics, the useful edges and the forced ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from ....instances.contract.run import Clock
from ....instances.topics.instance import TopicInstance
from ...engine.exact_method import check_size

Edge = tuple[int, int]
Subscribers = tuple[int, ...]
_MOST_SUBSCRIBERS = 5_000_000


@dataclass(frozen=True)
class Requirements:
    """An instance without redundant topics and useless edges.

    Attributes
    ----------
    num_nodes : int
    topics : list of tuples of int
        The distinct V_t of at least two subscribers. The constraints of a topic depend on V_t alone, so a second
        topic with the same subscribers adds none, nor does one with a single subscriber.
    edges : list of (u, v), u < v
        The pairs with a topic in common, in order. Any other edge is in no G_t: without it an overlay stays valid
        and does not become worse.
    forced : set of edges
        The topics of two subscribers: only their one edge connects such a topic.
    cost : dict
        Of each edge; empty if each costs 1.
    """

    num_nodes: int
    topics: list[Subscribers]
    edges: list[Edge]
    forced: frozenset[Edge]
    cost: Mapping[Edge, int] = field(default_factory=dict)

    @property
    def incident(self) -> dict[int, list[Edge]]:
        """The edges at each node that has any."""
        edges_at: dict[int, list[Edge]] = defaultdict(list)
        for edge in self.edges:
            for node in edge:
                edges_at[node].append(edge)
        return dict(edges_at)

    def check_size(self, power: int, most: int) -> None:
        """Raise :class:`.ModelTooLarge` if a model of |V_t|^power variables a topic has more than `most`."""
        check_size(len(self.edges) + sum(len(subscribers) ** power for subscribers in self.topics), most)


def requirements_of(
    instance: TopicInstance, clock: Clock, *, weighted: bool = False, fault_tolerant: bool = False
) -> Requirements:
    """Read an instance. Time and memory O(Σ_t |V_t|²), O(Σ_t |V_t|³) if fault-tolerant.

    Parameters
    ----------
    weighted : bool
        Whether edges have the costs of the instance.
    fault_tolerant : bool
        Whether to read, in place of a topic of three or more subscribers, its sets of all subscribers but one: an
        overlay connects all of these exactly if it is fault-tolerant.

    Raises
    ------
    OutOfTime
    """
    topics = sorted({tuple(instance.subscribers(t).tolist()) for t in range(instance.num_topics)})
    if fault_tolerant:
        check_size(sum(len(subscribers) ** 2 for subscribers in topics), _MOST_SUBSCRIBERS)
        left = (
            part for topic in topics for part in (combinations(topic, len(topic) - 1) if len(topic) > 2 else [topic])
        )
        topics = sorted(set(left))
    topics = [subscribers for subscribers in topics if len(subscribers) > 1]
    edges: set[Edge] = set()
    for subscribers in topics:
        clock.check()
        edges.update(combinations(subscribers, 2))
    forced = frozenset((topic[0], topic[1]) for topic in topics if len(topic) == 2)
    pairs = sorted(edges)
    ends = np.array(pairs, np.int64).reshape(-1, 2)
    costs = instance.edge_costs(ends[:, 0], ends[:, 1]).tolist() if weighted else []
    return Requirements(instance.num_nodes, topics, pairs, forced, dict(zip(pairs, costs, strict=False)))


@dataclass(frozen=True)
class Blocks:
    """A topic whose subscribers are grouped into the blocks that forced edges already connect.

    Attributes
    ----------
    count : int
        The number of blocks, at least 2; block 0 is a largest one.
    between : dict
        The edges between blocks i < j.
    """

    count: int
    between: dict[tuple[int, int], list[Edge]]


def unconnected_topics(requirements: Requirements, clock: Clock) -> Iterator[Blocks]:
    """The topics that the forced edges leave unconnected, each distinct partition into blocks once.

    An overlay with the forced edges connects a topic if and only if it connects its blocks, as each block is connected
    already. Time O(Σ_t (|V_t|² + |forced|)).

    Raises
    ------
    OutOfTime
    """
    seen = set()
    for subscribers in requirements.topics:
        clock.check()
        blocks = tuple(_connected_by(requirements.forced, subscribers))
        if len(blocks) > 1 and blocks not in seen:
            seen.add(blocks)
            between: dict[tuple[int, int], list[Edge]] = {}
            for i, j in combinations(range(len(blocks)), 2):
                between[i, j] = [pair(u, v) for u in blocks[i] for v in blocks[j]]
            yield Blocks(len(blocks), between)


def _connected_by(forced: frozenset[Edge], subscribers: Subscribers) -> list[Subscribers]:
    """The components of the forced edges within V_t, the largest first, then in the order of their nodes."""
    neighbours: dict[int, list[int]] = {v: [] for v in subscribers}
    for u, v in forced:
        if u in neighbours and v in neighbours:
            neighbours[u].append(v)
            neighbours[v].append(u)
    components = []
    waiting = dict.fromkeys(subscribers)
    while waiting:
        reached = [waiting.popitem()[0]]
        for node in reached:
            for other in neighbours[node]:
                if other in waiting:
                    del waiting[other]
                    reached.append(other)
        components.append(tuple(sorted(reached)))
    return sorted(components, key=lambda block: (-len(block), block))


def pair(u: int, v: int) -> Edge:
    """The edge between two nodes, smaller node first."""
    return (u, v) if u < v else (v, u)
