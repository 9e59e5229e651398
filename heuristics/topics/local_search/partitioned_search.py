"""Local search of a large overlay in parts: the edges of a few nodes are replaced while all others are fixed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ....instances.contract.arrays import Ids, entries_of, offsets_of
from ....instances.contract.overlay import Overlay
from ....instances.topics.instance import TopicInstance
from ...compiled import kernel
from ..kernels.interest import interest_of
from ..kernels.topic_components import TopicComponents, join, singletons, unconnected
from .linked_overlay import Subscriptions
from .overlay_search import OverlaySearch, lists_of, nearest_to
from .ruin_and_recreate import SearchParameters

PARTS_AT_ONCE = 4
_GROUP, _PART, _NEAREST = 5000, 100, 20
_STEPS_A_NODE = 5
_HOT, _COLD = 0.1, 0.05

Done = Callable[[int], bool]
"""Whether the search is to end, by the number of its steps."""
Apply = Callable[..., Iterable[Any]]
"""The built-in ``map``, or that of a pool of threads."""


class PartitionedSearch:
    """A search for fewer edges by ruin and recreate, from a topic-connected overlay of many nodes.

    Nodes of similar interests form a group, and those of a group parts of 100. All edges of a part's nodes may be
    replaced by edges to their nearest nodes. Four parts are searched independently of each other, while the edges
    between them and all edges of other nodes are fixed: what these connect is contracted, so that a step takes time in
    proportion to the part, not to the subscribers of the topics.

    Parameters
    ----------
    threads : int
        That search parts, at most `PARTS_AT_ONCE` at a time. The overlays do not depend on it.
    group, part : int
        About how many nodes a group and a part have.

    Attributes
    ----------
    overlay : Overlay
        Topic-connected, without more edges than the one given.
    steps : int
        The number of steps so far.

    Notes
    -----
    A group takes O(Σ|T_v| + Σ_edges (|T_u| + |T_v|)) beside its steps, and the nearest nodes of its nodes, which are
    kept: 160 bytes a node.
    """

    def __init__(
        self,
        instance: TopicInstance,
        overlay: Overlay,
        seed: int,
        threads: int = 1,
        *,
        group: int = _GROUP,
        part: int = _PART,
    ) -> None:
        self.overlay, self.steps = overlay, 0
        self._instance, self._threads, self._part = instance, threads, part
        self._random = np.random.default_rng(seed)
        order = similar_order(instance, self._random)
        self._groups = np.array_split(order, -(-len(order) // group))
        self._near: dict[int, Ids] = {}
        self._next = 0

    def run(self, done: Done) -> None:
        """Search the next group of nodes, part by part, until the search is done."""
        group = self._groups[self._next]
        inside = np.zeros(self._instance.num_nodes, np.bool_)
        inside[group] = True
        edges = self.overlay.edges
        free = inside[edges].any(axis=1)
        fixed = singletons(self._instance)
        connect(edges[~free], fixed)
        with ThreadPoolExecutor(self._threads) as pool:
            apply: Apply = pool.map if self._threads > 1 else map
            near = self._nearest(group, apply)
            nodes = np.unique(np.concatenate([edges[free].ravel(), near.ravel(), group]))
            own, near = _indices(nodes, edges[free]), _indices(nodes, near)
            united = copied(fixed)
            connect(edges[free], united)
            subscriptions = contracted(nodes, fixed, united)
            parts = self._parts(_indices(nodes, group))
            try:
                while parts and not done(self.steps):
                    chosen = [parts.pop() for _ in range(min(len(parts), PARTS_AT_ONCE))]
                    own = self._searched(own, chosen, near, subscriptions, apply, done)
            finally:
                replaced = np.concatenate([edges[~free], nodes[own]])
                self.overlay = Overlay.from_edges(self._instance.num_nodes, replaced)
        self._next = (self._next + 1) % len(self._groups)

    def _nearest(self, group: Ids, apply: Apply) -> Ids:
        """The pairs of each node of the group with its nearest ones."""
        if self._next not in self._near:
            interest = interest_of(self._instance)
            shares = np.array_split(group, self._threads)
            keys = np.unique(np.concatenate(list(apply(lambda share: nearest_to(share, interest, _NEAREST), shares))))
            self._near[self._next] = np.stack(np.divmod(keys, self._instance.num_nodes), axis=1).astype(np.int32)
        return self._near[self._next]

    def _parts(self, group: Ids) -> list[Ids]:
        """Parts of a group in random order, each time others."""
        shifted = np.roll(group, self._random.integers(self._part))
        parts = np.array_split(shifted, -(-len(group) // self._part))
        self._random.shuffle(parts)
        return parts

    def _searched(
        self,
        edges: Ids,
        parts: list[Ids],
        near: Ids,
        subscriptions: Subscriptions,
        apply: Apply,
        done: Done,
    ) -> Ids:
        """The edges of a group after a search of some of its parts."""
        part = np.full(len(subscriptions.node_offsets) - 1, -1, np.int32)
        for number, nodes in enumerate(parts):
            part[nodes] = number
        first, second = part[edges].T
        free = np.where((first == second) | (np.minimum(first, second) < 0), np.maximum(first, second), -1)
        fixed = unconnected(subscriptions[:5], len(subscriptions.vertex_offsets) - 1)
        connect(edges[free < 0], fixed)
        seeds, ends = self._random.integers(2**62, size=len(parts)).tolist(), part[near]

        def searched(number: int) -> tuple[Ids, int]:
            own, choice = edges[free == number], near[(ends == number).any(axis=1)]
            steps = _STEPS_A_NODE * len(parts[number])
            return _search(own, choice, fixed, seeds[number], steps, lambda: done(self.steps))

        results = list(apply(searched, range(len(parts))))
        self.steps += sum(steps for _, steps in results)
        return np.concatenate([edges[free < 0], *(found for found, _ in results)])


def _search(
    edges: Ids, near: Ids, fixed: TopicComponents, seed: int, steps: int, done: Callable[[], bool]
) -> tuple[Ids, int]:
    """Edges that replace those of a part, which may be replaced by the pairs `near`; and the number of steps."""
    nodes = np.unique(np.concatenate([edges, near]))
    united = copied(fixed)
    connect(edges, united)
    subscriptions = contracted(nodes, fixed, united)
    if not len(subscriptions.positions):  # the fixed edges are enough
        return edges[:0], 1
    n = len(nodes)
    overlay = Overlay.from_edges(n, _indices(nodes, edges))
    u, v = _indices(nodes, near).astype(np.int64).T
    search = OverlaySearch(subscriptions, overlay, lists_of(n, u * n + v), seed)
    search.drop_redundant()
    below = np.inf
    while search.steps < steps and not done():
        temperature = _HOT * (_COLD / _HOT) ** (search.steps / steps)
        below = min(below, search.run(SearchParameters(n, 0.0, temperature), steps - search.steps, below))
    return nodes[search.overlay.edges], search.steps


def _indices(nodes: Ids, chosen: Ids) -> Ids:
    """The indices of nodes in an ascending array."""
    return np.searchsorted(nodes, chosen).astype(np.int32)


def similar_order(instance: TopicInstance, random: np.random.Generator) -> Ids:
    """The nodes in an order in which similar ones are close: by their first three topics in a random order of topics.

    Two nodes have the same first topic with a probability equal to the Jaccard index of their interests (Broder 1997).
    Cost O(Σ|T_v| log Σ|T_v|).

    References
    ----------
    .. [1] A. Z. Broder, "On the resemblance and containment of documents", Compression and Complexity of Sequences,
       1997. https://doi.org/10.1109/SEQUEN.1997.666900
    """
    rank = random.permutation(instance.num_topics)[instance.node_topics]
    owners = np.repeat(np.arange(instance.num_nodes), np.diff(instance.node_offsets))
    rank = rank[np.lexsort((rank, owners))]
    first, last = instance.node_offsets[:-1], instance.node_offsets[1:] - 1
    hashes = [rank[np.minimum(first + k, last)] for k in range(3)]
    return np.lexsort((random.random(instance.num_nodes), *reversed(hashes))).astype(np.int32)


@kernel
def connect(edges: Ids, components: TopicComponents) -> None:
    """Unite the components that edges connect. Cost O(Σ_edges (|T_u| + |T_v|))."""
    for e in range(len(edges)):
        join(edges[e, 0], edges[e, 1], components)


def copied(components: TopicComponents) -> TopicComponents:
    """Components to which edges can be added."""
    label, following, size = components.label.copy(), components.following.copy(), components.size.copy()
    return components._replace(label=label, following=following, size=size)


def contracted(nodes: Ids, fixed: TopicComponents, united: TopicComponents) -> Subscriptions:
    """What edges between some ascending nodes have to connect, given the edges that are fixed.

    The nodes are numbered from 0. A vertex is a component of the `fixed` edges, and a topic is one of the components of
    those and the present edges, `united`, if it has several vertices here. Edges that connect these topics keep all
    topics of the instance connected, even if the edges between other nodes are replaced at the same time in this way.

    Cost O(S log S) for S subscriptions of these nodes.
    """
    offsets, index = entries_of(fixed.node_offsets, nodes)
    owners = np.repeat(np.arange(len(nodes), dtype=np.int32), np.diff(offsets))
    # A label is the position of a member among the subscribers of its topic, so labels are in the order of topics.
    used = np.zeros(len(fixed.label), np.bool_)
    used[fixed.label[fixed.position[index]]] = True
    labels, vertices = np.flatnonzero(used), (np.cumsum(used) - 1)[fixed.label[fixed.position[index]]]
    _, topics, sizes = np.unique(united.label[labels], return_inverse=True, return_counts=True)
    order = np.argsort(topics, kind="stable")
    order = order[sizes[topics[order]] > 1]
    number = np.full(len(labels), -1, np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    kept = number[vertices] >= 0
    owners, positions = owners[kept], number[vertices[kept]]
    _, topics = np.unique(topics[order], return_inverse=True)
    return Subscriptions(
        node_offsets=offsets_of(owners, len(nodes)),
        node_topics=topics[positions].astype(np.int32),
        topic_offsets=offsets_of(topics, int(topics.max(initial=-1)) + 1),
        topic_nodes=owners[np.argsort(positions, kind="stable")],
        positions=positions,
        vertex_offsets=offsets_of(positions, len(order)).astype(np.int32),
    )
