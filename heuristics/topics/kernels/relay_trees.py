"""For each topic a tree over an overlay that connects its subscribers with few relays, and what its edges are worth.

A tree is a minimum spanning tree of the shortest paths between neighbouring subscribers (Mehlhorn 1988), where the
length of a path is its number of relays. An edge's price is an estimate of the relays that its removal adds: for each
topic whose tree uses it, the cheapest other link between the two parts of the tree.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....instances.contract.arrays import Ids, Offsets, offsets_of
from ....instances.contract.compiled import kernel

Counts = npt.NDArray[np.int64]


class Adjacency(NamedTuple):
    """An overlay as a CSR structure, with the index of each half-edge's edge."""

    offsets: Offsets
    ends: Ids
    edge_of: Ids
    u: Ids
    v: Ids


class RelayTrees(NamedTuple):
    """What the trees of all topics cost and use.

    `relays` has one number a topic, -1 where the overlay does not connect it; `uses` and `prices` one an edge: the
    trees that use it, and the relays that its removal adds, |V| for each topic that then has no other link.
    """

    relays: Counts
    uses: Counts
    prices: Counts


def adjacency(num_nodes: int, edges: npt.NDArray[np.integer]) -> Adjacency:
    """The structure of edges u < v, shape (m, 2). Cost O(m log m)."""
    u, v = edges.T.astype(np.int32)
    at = np.concatenate([u, v])
    order = np.argsort(at, kind="stable")
    offsets = offsets_of(at, num_nodes)
    index = np.arange(len(u), dtype=np.int32)
    return Adjacency(offsets, np.concatenate([v, u])[order], np.concatenate([index, index])[order], u.copy(), v.copy())


@kernel
def relay_trees(graph: Adjacency, topic_offsets: Offsets, topic_nodes: Ids) -> RelayTrees:
    """The trees of all topics. Cost O(|T| (|V| + |E| log |E|)), memory O(|V| + |E|)."""
    num_topics = len(topic_offsets) - 1
    trees = RelayTrees(
        np.zeros(num_topics, np.int64), np.zeros(len(graph.u), np.int64), np.zeros(len(graph.u), np.int64)
    )
    for topic in range(num_topics):
        subscribers = topic_nodes[topic_offsets[topic] : topic_offsets[topic + 1]]
        if len(subscribers) > 1:
            _add_topic(topic, subscribers, graph, trees)
    return trees


@kernel
def _add_topic(topic: int, subscribers: Ids, graph: Adjacency, trees: RelayTrees) -> None:
    n = len(graph.offsets) - 1
    distance, base, via = _regions(subscribers, graph)
    links, lengths = _links(distance, base, graph)
    root = np.arange(n).astype(np.int32)
    chosen, others = np.empty(len(subscribers) - 1, np.int32), np.empty(len(links), np.int32)
    num_chosen, num_others = 0, 0
    for i in np.argsort(lengths, kind="mergesort"):
        a, b = _root(root, base[graph.u[links[i]]]), _root(root, base[graph.v[links[i]]])
        if a != b:
            root[a] = b
            chosen[num_chosen] = links[i]
            num_chosen += 1
        else:
            others[num_others] = links[i]
            num_others += 1
    if num_chosen < len(subscribers) - 1:
        trees.relays[topic] = -1
        return
    price = _replacements(subscribers, chosen, others[:num_others], distance, base, graph)
    counted = np.zeros(n, np.bool_)
    for i in range(num_chosen):
        trees.uses[chosen[i]] += 1
        trees.prices[chosen[i]] += price[i]
        for end in (graph.u[chosen[i]], graph.v[chosen[i]]):
            node = end
            while distance[node] > 0:
                edge = via[node]
                trees.relays[topic] += not counted[node]
                trees.uses[edge] += not counted[node]
                trees.prices[edge] += price[i]
                counted[node] = True
                node = graph.u[edge] + graph.v[edge] - node


@kernel
def _regions(subscribers: Ids, graph: Adjacency) -> tuple[Ids, Ids, Ids]:
    """For each node its hops to the nearest subscriber (-1 if unreached), which that is, and the edge towards it."""
    n = len(graph.offsets) - 1
    distance, base, via = np.full(n, -1, np.int32), np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    queue = np.empty(n, np.int32)
    queue[: len(subscribers)] = subscribers
    for node in subscribers:
        distance[node] = 0
        base[node] = node
    first, last = 0, len(subscribers)
    while first < last:
        node = queue[first]
        first += 1
        for i in range(graph.offsets[node], graph.offsets[node + 1]):
            other = graph.ends[i]
            if distance[other] < 0:
                distance[other], base[other], via[other] = distance[node] + 1, base[node], graph.edge_of[i]
                queue[last] = other
                last += 1
    return distance, base, via


@kernel
def _links(distance: Ids, base: Ids, graph: Adjacency) -> tuple[Ids, Ids]:
    """The edges between two regions, and the relays of the path through each."""
    links, lengths = np.empty(len(graph.u), np.int32), np.empty(len(graph.u), np.int32)
    count = 0
    for edge in range(len(graph.u)):
        a, b = base[graph.u[edge]], base[graph.v[edge]]
        if a >= 0 and a != b:
            links[count] = edge
            lengths[count] = distance[graph.u[edge]] + distance[graph.v[edge]]
            count += 1
    return links[:count], lengths[:count]


@kernel
def _replacements(
    subscribers: Ids, chosen: Ids, others: Ids, distance: Ids, base: Ids, graph: Adjacency
) -> npt.NDArray[np.int64]:
    """For each link of the tree the relays that the next best link adds; `others` come by rising length."""
    n = len(distance)
    price = np.full(len(chosen), n, np.int64)
    parent_link, depth = _rooted(subscribers[0], chosen, base, graph)
    top = np.arange(n).astype(np.int32)  # of each subscriber: its nearest ancestor below an uncovered link
    for link in others:
        a, b = _root(top, base[graph.u[link]]), _root(top, base[graph.v[link]])
        length = distance[graph.u[link]] + distance[graph.v[link]]
        while a != b:
            if depth[a] < depth[b]:
                a, b = b, a
            i = parent_link[a]
            covered = chosen[i]
            price[i] = length - distance[graph.u[covered]] - distance[graph.v[covered]]
            above = base[graph.u[covered]] if base[graph.v[covered]] == a else base[graph.v[covered]]
            top[a] = above
            a = _root(top, above)
    return price


@kernel
def _rooted(start: int, chosen: Ids, base: Ids, graph: Adjacency) -> tuple[Ids, Ids]:
    """The tree of links from a subscriber: for each other one the index of the link above it, and its depth."""
    n = len(base)
    first, following = np.full(n, -1, np.int32), np.full(2 * len(chosen), -1, np.int32)
    for i in range(len(chosen)):
        for half, end in ((2 * i, base[graph.u[chosen[i]]]), (2 * i + 1, base[graph.v[chosen[i]]])):
            following[half] = first[end]
            first[end] = half
    parent_link, depth = np.full(n, -1, np.int32), np.zeros(n, np.int32)
    waiting = np.empty(len(chosen) + 1, np.int32)
    waiting[0] = start
    count = 1
    while count > 0:
        count -= 1
        node = waiting[count]
        half = first[node]
        while half >= 0:
            if half // 2 != parent_link[node]:
                link = chosen[half // 2]
                other = base[graph.v[link]] if half % 2 == 0 else base[graph.u[link]]
                parent_link[other], depth[other] = half // 2, depth[node] + 1
                waiting[count] = other
                count += 1
            half = following[half]
    return parent_link, depth


@kernel
def _root(root: Ids, v: int) -> int:
    while root[v] != v:
        root[v] = root[root[v]]
        v = root[v]
    return v
