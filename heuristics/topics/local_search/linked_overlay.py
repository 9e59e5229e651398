"""An overlay that edges are added to and removed from, and its bridges topic by topic.

A *link* is an edge within one topic that both its ends want; it is a *bridge* if the topic falls apart without it. An
edge none of whose links is a bridge is redundant.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....instances.arrays import Ids, Offsets
from ....instances.overlay import Overlay
from ....instances.topics.instance import TopicInstance
from ...compiled import kernel

Flags = npt.NDArray[np.bool_]


class Subscriptions(NamedTuple):
    """The interest relation; a subscription is named by its place in ``topic_nodes``.

    Attributes
    ----------
    node_offsets, node_topics, topic_offsets, topic_nodes
        As in :class:`TopicInstance`.
    places : int32 array, shape (Σ|T_v|,)
        Of each entry of ``node_topics``, the place of the same subscription in ``topic_nodes``.
    """

    node_offsets: Offsets
    node_topics: Ids
    topic_offsets: Offsets
    topic_nodes: Ids
    places: Ids


class Links(NamedTuple):
    """The overlay. Half-edges 2l and 2l + 1 of link l are chained, with others, at the place each leaves from.

    Attributes
    ----------
    ends : int32 array, shape (slots, 2)
        Of each slot, the edge in it.
    members, where : int32 arrays, shape (slots,)
        The slots in use, then the others; and where each slot stands among them.
    first, bridges : int32 arrays, shape (slots,)
        Of each edge: its first link or -1, and how many of its links are marked as bridges.
    suspects, is_suspect : int32 and bool arrays, shape (slots,)
        The first ``counts[2]`` suspects hold every edge whose number of marked bridges has become 0; and for each
        slot, whether it is among them.
    edge, topic, following : int32 arrays, one a link
        Its slot, its topic, and the next link of the same edge or -1.
    bridge : bool array, one a link
    to, after, before : int32 arrays, one a half-edge
        The place it leads to, and its neighbours in the chain, or -1.
    head : int32 array, one a place
        The first half-edge of its chain, or -1.
    degrees : int32 array, shape (|V|,)
    free : int32 array
        The links not in use, in its first ``counts[1]`` entries.
    counts : int64 array, shape (3,)
        The number of edges, of links not in use, and of suspects.
    """

    ends: Ids
    members: Ids
    where: Ids
    first: Ids
    bridges: Ids
    suspects: Ids
    is_suspect: Flags
    edge: Ids
    topic: Ids
    following: Ids
    bridge: Flags
    to: Ids
    after: Ids
    before: Ids
    head: Ids
    degrees: Ids
    free: Ids
    counts: npt.NDArray[np.int64]


def subscriptions_of(instance: TopicInstance) -> Subscriptions:
    """The arrays of an instance; only ``places`` is a new one. Cost O(Σ|T_v| log Σ|T_v|)."""
    places = np.empty(instance.num_subscriptions, np.int32)
    places[np.argsort(instance.node_topics, kind="stable")] = np.arange(instance.num_subscriptions, dtype=np.int32)
    return Subscriptions(
        instance.node_offsets, instance.node_topics, instance.topic_offsets, instance.topic_nodes, places
    )


def linked(overlay: Overlay, subscriptions: Subscriptions, *, spare_edges: int, spare_links: int) -> Links:
    """The links of an overlay, none marked as bridge, with room for some more.

    Time and memory O(Σ|T_v| + Σ_edges (|T_u| + |T_v|)); an edge without a common topic has no link.
    """
    sizes = _common_topics(overlay.edges, subscriptions)
    slots, room = overlay.num_edges + spare_edges, int(sizes.sum()) + spare_links
    links = Links(
        np.zeros((slots, 2), np.int32),
        np.arange(slots, dtype=np.int32),
        np.arange(slots, dtype=np.int32),
        np.full(slots, -1, np.int32),
        np.zeros(slots, np.int32),
        np.zeros(slots, np.int32),
        np.zeros(slots, np.bool_),
        np.zeros(room, np.int32),
        np.zeros(room, np.int32),
        np.zeros(room, np.int32),
        np.zeros(room, np.bool_),
        np.zeros(2 * room, np.int32),
        np.zeros(2 * room, np.int32),
        np.zeros(2 * room, np.int32),
        np.full(len(subscriptions.topic_nodes), -1, np.int32),
        np.zeros(overlay.num_nodes, np.int32),
        np.arange(room, dtype=np.int32),
        np.array([0, room, 0], np.int64),
    )
    _link_all(overlay.edges, subscriptions, links)
    return links


def edges_of(links: Links) -> npt.NDArray[np.int64]:
    """The edges as numbers u·|V| + v, rising."""
    ends = links.ends[links.members[: links.counts[0]]].astype(np.int64)
    return np.sort(ends[:, 0] * len(links.degrees) + ends[:, 1])


@kernel
def _common_topics(edges: Ids, subscriptions: Subscriptions) -> npt.NDArray[np.int64]:
    """|T_u ∩ T_v| of each edge."""
    offsets, topics = subscriptions.node_offsets, subscriptions.node_topics
    counts = np.zeros(len(edges), np.int64)
    for e in range(len(edges)):
        i, end_i = offsets[edges[e, 0]], offsets[edges[e, 0] + 1]
        j, end_j = offsets[edges[e, 1]], offsets[edges[e, 1] + 1]
        while i < end_i and j < end_j:
            one, other = topics[i], topics[j]
            counts[e] += one == other
            i += one <= other
            j += other <= one
    return counts


@kernel
def _link_all(edges: Ids, subscriptions: Subscriptions, links: Links) -> None:
    for e in range(len(edges)):
        link(edges[e, 0], edges[e, 1], subscriptions, links)


@kernel
def link(u: int, v: int, subscriptions: Subscriptions, links: Links) -> int:
    """Add the edge u < v, its links not marked as bridges, and return its slot. Cost O(|T_u| + |T_v|)."""
    offsets, topics, places = subscriptions.node_offsets, subscriptions.node_topics, subscriptions.places
    slot = links.members[links.counts[0]]
    links.counts[0] += 1
    links.ends[slot, 0], links.ends[slot, 1] = u, v
    links.first[slot], links.bridges[slot] = -1, 0
    _suspect(slot, links)
    links.degrees[u] += 1
    links.degrees[v] += 1
    i, end_i = offsets[u], offsets[u + 1]
    j, end_j = offsets[v], offsets[v + 1]
    while i < end_i and j < end_j:
        one, other = topics[i], topics[j]
        if one == other:
            links.counts[1] -= 1
            new = links.free[links.counts[1]]
            links.edge[new], links.topic[new], links.bridge[new] = slot, one, False
            links.following[new] = links.first[slot]
            links.first[slot] = new
            _chain(2 * new, places[i], places[j], links)
            _chain(2 * new + 1, places[j], places[i], links)
        i += one <= other
        j += other <= one
    return int(slot)


@kernel
def _chain(half: int, at: int, to: int, links: Links) -> None:
    links.to[half] = to
    links.before[half], links.after[half] = -1, links.head[at]
    if links.head[at] >= 0:
        links.before[links.head[at]] = half
    links.head[at] = half


@kernel
def unlink(slot: int, links: Links) -> None:
    """Remove the edge in a slot. Cost O(its links)."""
    links.counts[0] -= 1
    here, last = links.where[slot], links.members[links.counts[0]]
    links.members[here], links.where[last] = last, here
    links.members[links.counts[0]], links.where[slot] = slot, links.counts[0]
    links.degrees[links.ends[slot, 0]] -= 1
    links.degrees[links.ends[slot, 1]] -= 1
    old = links.first[slot]
    while old >= 0:
        for half in (2 * old, 2 * old + 1):
            before, after = links.before[half], links.after[half]
            if before >= 0:
                links.after[before] = after
            else:
                links.head[links.to[half ^ 1]] = after
            if after >= 0:
                links.before[after] = before
        links.free[links.counts[1]] = old
        links.counts[1] += 1
        old = links.following[old]


@kernel
def mark(one: int, bridge: bool, links: Links) -> None:
    """Say of a link whether it is a bridge."""
    if links.bridge[one] != bridge:
        links.bridge[one] = bridge
        links.bridges[links.edge[one]] += 1 if bridge else -1
        if links.bridges[links.edge[one]] == 0:
            _suspect(links.edge[one], links)


@kernel
def _suspect(slot: int, links: Links) -> None:
    if not links.is_suspect[slot]:
        links.is_suspect[slot] = True
        links.suspects[links.counts[2]] = slot
        links.counts[2] += 1


@kernel
def next_suspect(chance: float, links: Links) -> int:
    """Take a suspect, by `chance` in [0, 1), and return its slot if it is an edge without a bridge; else -1."""
    place = int(chance * links.counts[2])
    slot = links.suspects[place]
    links.counts[2] -= 1
    links.suspects[place] = links.suspects[links.counts[2]]
    links.is_suspect[slot] = False
    return int(slot) if links.where[slot] < links.counts[0] and links.bridges[slot] == 0 else -1


@kernel
def mark_all_bridges(subscriptions: Subscriptions, links: Links, work: Ids) -> None:
    """Mark every link for what it is, of topics that are all connected."""
    for topic in range(len(subscriptions.topic_offsets) - 1):
        mark_bridges(topic, subscriptions, links, work)


@kernel
def mark_bridges(topic: int, subscriptions: Subscriptions, links: Links, work: Ids) -> None:
    """Mark each link of a connected topic for what it is, by lowest preorder numbers (Tarjan 1974).

    `work` is of shape (5, the most subscribers of a topic). Cost O(|V_t| + links).
    """
    start = subscriptions.topic_offsets[topic]
    size = subscriptions.topic_offsets[topic + 1] - start
    order, low, via, waiting, stack = work[0], work[1], work[2], work[3], work[4]
    order[:size] = -1
    waiting[:size] = links.head[start : start + size]
    order[0] = low[0] = 0
    via[0] = -1
    stack[0] = 0
    depth, time = 1, 1
    while depth:
        a = stack[depth - 1]
        half = waiting[a]
        if half >= 0:
            waiting[a] = links.after[half]
            if half == via[a]:
                continue
            b = links.to[half] - start
            if order[b] < 0:
                order[b] = low[b] = time
                via[b] = half ^ 1
                time += 1
                stack[depth] = b
                depth += 1
            else:
                mark(half >> 1, False, links)
                low[a] = min(low[a], order[b])
        else:
            depth -= 1
            if depth:
                parent = stack[depth - 1]
                low[parent] = min(low[parent], low[a])
                mark(via[a] >> 1, low[a] > order[parent], links)
