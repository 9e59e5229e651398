"""An overlay under addition and removal of edges, with the bridges of every topic.

An edge has one *link* for each topic that its ends have in common. A link is a *bridge* if G_t is disconnected without
it; an edge without bridges is redundant.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....instances.contract.arrays import Flags, Ids, Offsets
from ....instances.contract.overlay import Overlay
from ....instances.runtime.compiled import kernel
from ....instances.topics.instance import TopicInstance
from ..kernels.interest import contribution, interest_of, positions_of

_AT_ONCE = 10_000


class VertexTable(NamedTuple):
    """The interest relation, and the vertices of the graph of every topic.

    A vertex is one subscription; in a part of an instance it may be several of one topic, which edges outside the part
    connect. The subscribers of vertex p are ``topic_nodes[vertex_offsets[p]:vertex_offsets[p + 1]]``.
    """

    node_offsets: Offsets
    node_topics: Ids
    topic_offsets: Offsets  # of each topic its first vertex
    topic_nodes: Ids
    positions: Ids  # of each subscription of ``node_topics`` its vertex
    vertex_offsets: Ids


class Links(NamedTuple):
    """The overlay. Half-edges 2l and 2l + 1 of link l are in the linked lists of the subscriptions they leave from.

    A queue of slots to check for redundancy has every edge whose number of marked bridges has become 0. An index of -1
    stands for none.
    """

    ends: Ids  # the edge in each slot, shape (slots, 2)
    members: Ids  # the slots in use, then the others
    member_index: Ids  # of each slot the index in `members`
    first: Ids  # of each edge its first link
    bridges: Ids  # of each edge the number of its links that are marked as bridges
    unchecked: Ids  # the queue
    is_unchecked: Flags  # of each slot
    edge: Ids  # of each link its slot
    topic: Ids
    following: Ids  # of each link the next one of the same edge
    bridge: Flags
    target: Ids  # of each half-edge the subscription it leads to
    after: Ids  # of each half-edge its neighbours in the linked list
    before: Ids
    head: Ids  # of each subscription its first half-edge
    degrees: Ids
    free: Ids  # the unused links, in the first ``counts[1]`` entries
    counts: npt.NDArray[np.int64]  # of edges, of unused links, and of slots in the queue


def subscriptions_of(instance: TopicInstance) -> VertexTable:
    """The arrays of an instance, not copies, each subscription a vertex. Cost O(Σ|T_v|)."""
    interest = interest_of(instance)
    return VertexTable(*interest, positions_of(interest), np.arange(instance.num_subscriptions + 1, dtype=np.int32))


def links_of(overlay: Overlay, subscriptions: VertexTable, *, spare_edges: int, spare_links: int) -> Links:
    """The links of an overlay, none marked as bridge, with memory for more edges and links.

    Time and memory O(Σ|T_v| + Σ_edges (|T_u| + |T_v|)); an edge without a common topic has no link.
    """
    slots = overlay.num_edges + spare_edges
    capacity = _count_links(overlay.edges, subscriptions) + spare_links
    links = Links(
        np.zeros((slots, 2), np.int32),
        np.arange(slots, dtype=np.int32),
        np.arange(slots, dtype=np.int32),
        np.full(slots, -1, np.int32),
        np.zeros(slots, np.int32),
        np.zeros(slots, np.int32),
        np.zeros(slots, np.bool_),
        np.zeros(capacity, np.int32),
        np.zeros(capacity, np.int32),
        np.zeros(capacity, np.int32),
        np.zeros(capacity, np.bool_),
        np.zeros(2 * capacity, np.int32),
        np.zeros(2 * capacity, np.int32),
        np.zeros(2 * capacity, np.int32),
        np.full(len(subscriptions.vertex_offsets) - 1, -1, np.int32),
        np.zeros(overlay.num_nodes, np.int32),
        np.arange(capacity, dtype=np.int32),
        np.array([0, capacity, 0], np.int64),
    )
    _link_all(overlay.edges, subscriptions, links)
    return links


def edges_of(links: Links) -> npt.NDArray[np.int64]:
    """The edges as numbers u·|V| + v, in ascending order."""
    ends = links.ends[links.members[: links.counts[0]]].astype(np.int64)
    return np.sort(ends[:, 0] * len(links.degrees) + ends[:, 1])


@kernel
def _count_links(edges: Ids, subscriptions: VertexTable) -> int:
    alone, links = np.arange(len(subscriptions.vertex_offsets) - 1).astype(np.int32), 0
    for e in range(len(edges)):
        links += contribution(edges[e, 0], edges[e, 1], subscriptions, alone)
    return links


@kernel
def _link_all(edges: Ids, subscriptions: VertexTable, links: Links) -> None:
    for e in range(len(edges)):
        add_edge(edges[e, 0], edges[e, 1], subscriptions, links)


@kernel
def add_edge(u: int, v: int, subscriptions: VertexTable, links: Links) -> int:
    """Add the edge u < v, its links not marked as bridges, and return its slot. Cost O(|T_u| + |T_v|)."""
    offsets, topics, positions = subscriptions.node_offsets, subscriptions.node_topics, subscriptions.positions
    slot = links.members[links.counts[0]]
    links.counts[0] += 1
    links.ends[slot, 0], links.ends[slot, 1] = u, v
    links.first[slot], links.bridges[slot] = -1, 0
    _queue_check(slot, links)
    links.degrees[u] += 1
    links.degrees[v] += 1
    i, end_i = offsets[u], offsets[u + 1]
    j, end_j = offsets[v], offsets[v + 1]
    while i < end_i and j < end_j:
        one, other = topics[i], topics[j]
        if one == other and positions[i] != positions[j]:
            links.counts[1] -= 1
            new = links.free[links.counts[1]]
            links.edge[new], links.topic[new], links.bridge[new] = slot, one, False
            links.following[new] = links.first[slot]
            links.first[slot] = new
            _prepend(2 * new, positions[i], positions[j], links)
            _prepend(2 * new + 1, positions[j], positions[i], links)
        i += one <= other
        j += other <= one
    return int(slot)


@kernel
def _prepend(half: int, at: int, to: int, links: Links) -> None:
    links.target[half] = to
    links.before[half], links.after[half] = -1, links.head[at]
    if links.head[at] >= 0:
        links.before[links.head[at]] = half
    links.head[at] = half


@kernel
def remove_edge(slot: int, links: Links) -> None:
    """Remove the edge in a slot. Cost O(its links)."""
    links.counts[0] -= 1
    here, last = links.member_index[slot], links.members[links.counts[0]]
    links.members[here], links.member_index[last] = last, here
    links.members[links.counts[0]], links.member_index[slot] = slot, links.counts[0]
    links.degrees[links.ends[slot, 0]] -= 1
    links.degrees[links.ends[slot, 1]] -= 1
    old = links.first[slot]
    while old >= 0:
        for half in (2 * old, 2 * old + 1):
            before, after = links.before[half], links.after[half]
            if before >= 0:
                links.after[before] = after
            else:
                links.head[links.target[half ^ 1]] = after
            if after >= 0:
                links.before[after] = before
        links.free[links.counts[1]] = old
        links.counts[1] += 1
        old = links.following[old]


@kernel
def set_bridge(one: int, bridge: bool, links: Links) -> None:
    """Mark a link as a bridge or not."""
    if links.bridge[one] != bridge:
        links.bridge[one] = bridge
        links.bridges[links.edge[one]] += 1 if bridge else -1
        if links.bridges[links.edge[one]] == 0:
            _queue_check(links.edge[one], links)


@kernel
def _queue_check(slot: int, links: Links) -> None:
    if not links.is_unchecked[slot]:
        links.is_unchecked[slot] = True
        links.unchecked[links.counts[2]] = slot
        links.counts[2] += 1


@kernel
def next_redundant(chance: float, links: Links) -> int:
    """Remove a slot from the queue, drawn by `chance` in [0, 1), and return it if its edge is redundant; else -1."""
    index = int(chance * links.counts[2])
    slot = links.unchecked[index]
    links.counts[2] -= 1
    links.unchecked[index] = links.unchecked[links.counts[2]]
    links.is_unchecked[slot] = False
    return int(slot) if links.member_index[slot] < links.counts[0] and links.bridges[slot] == 0 else -1


@kernel
def mark_all_bridges(subscriptions: VertexTable, links: Links, work: Ids) -> None:
    """Mark the bridges of every topic; all must be connected."""
    for topic in range(len(subscriptions.topic_offsets) - 1):
        mark_bridges(topic, subscriptions, links, work)


@kernel
def mark_bridges(topic: int, subscriptions: VertexTable, links: Links, work: Ids) -> None:
    """Mark the bridges of a connected topic; see :func:`search_topic`."""
    search_topic(topic, True, subscriptions, links, work)


@kernel
def search_topic(topic: int, mark: bool, subscriptions: VertexTable, links: Links, work: Ids) -> int:
    """Search a topic depth-first from its first vertex, by lowest preorder numbers (Tarjan 1972, 1974).

    `mark`: mark the bridges; the topic must be connected. Otherwise the search ends at the first cut node. `work`,
    shape (5, the most subscribers of a topic): takes of each vertex its preorder number, the lowest number that it
    reaches, and its half-edge to its parent. Returns the number of vertices found, 0 if there is a cut node. Cost
    O(|V_t| + links).
    """
    start = subscriptions.topic_offsets[topic]
    size = subscriptions.topic_offsets[topic + 1] - start
    order, low, via, waiting, stack = work[0], work[1], work[2], work[3], work[4]
    order[:size] = -1
    waiting[:size] = links.head[start : start + size]
    order[0] = low[0] = stack[0] = 0
    via[0] = -1
    depth, found = 1, 1
    while depth:
        a = stack[depth - 1]
        half = waiting[a]
        if half >= 0:
            waiting[a] = links.after[half]
            if half == via[a]:
                continue
            b = links.target[half] - start
            if order[b] < 0:
                if not mark and a == 0 and found > 1:
                    return 0  # a second branch of the root
                order[b] = low[b] = found
                via[b] = half ^ 1
                found += 1
                stack[depth] = b
                depth += 1
            else:
                if mark:
                    set_bridge(half >> 1, False, links)
                low[a] = min(low[a], order[b])
        else:
            depth -= 1
            if depth:
                parent = stack[depth - 1]
                low[parent] = min(low[parent], low[a])
                if mark:
                    set_bridge(via[a] >> 1, low[a] > order[parent], links)
                elif parent != 0 and low[a] >= order[parent]:
                    return 0
    return found


def without_redundant(
    instance: TopicInstance, overlay: Overlay, order: Offsets, passed: Callable[[], bool] = lambda: False
) -> Overlay:
    """A topic-connected overlay without the edges that are redundant when their turn comes, until the time has passed.

    `order` has the indices of its edges. An edge is redundant if its ends are connected without it in each of its
    topics: two searches, from both ends, link by link in turn, meet before one of them ends. Cost of an edge twice the
    links that the shorter one sees, for each of its topics; memory O(Σ|T_v| + Σ_edges |T_u ∩ T_v|).
    """
    links = links_of(overlay, subscriptions_of(instance), spare_edges=0, spare_links=0)
    seen = np.zeros(len(links.head), np.int64)
    queues = np.empty((2, int(np.diff(instance.topic_offsets).max())), np.int32)
    for first in range(0, len(order), _AT_ONCE):
        if passed():
            break
        _drop_in_order(order[first : first + _AT_ONCE], links, seen, queues)
    return Overlay.from_edges(overlay.num_nodes, np.stack(np.divmod(edges_of(links), overlay.num_nodes), axis=1))


@kernel
def _drop_in_order(slots: Offsets, links: Links, seen: Offsets, queues: Ids) -> None:
    for slot in slots:
        one = links.first[slot]
        while one >= 0 and _connects_without(one, links, seen, queues):
            one = links.following[one]
        if one < 0:
            remove_edge(slot, links)


@kernel
def _connects_without(one: int, links: Links, seen: Offsets, queues: Ids) -> bool:
    """Whether the ends of a link are connected without it in its topic; no link may be asked for twice."""
    number, half = np.int64(2 * one + 1), np.full(2, -1, np.int64)
    size, done, side = np.ones(2, np.int64), np.zeros(2, np.int64), 1
    for end in range(2):
        queues[end, 0] = links.target[2 * one + end]
        seen[queues[end, 0]] = number + end
    while True:
        side = 1 - side
        while half[side] < 0:
            if done[side] == size[side]:
                return False
            half[side] = links.head[queues[side, done[side]]]
            done[side] += 1
        at, is_own = links.target[half[side]], half[side] >> 1 == one
        half[side] = links.after[half[side]]
        if is_own or seen[at] == number + side:
            continue
        if seen[at] == number + 1 - side:
            return True
        seen[at], queues[side, size[side]] = number + side, at
        size[side] += 1
