"""Greedy overlays among candidate edges that have weights, such as the values of an LP solution."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....heuristics.compiled import kernel
from ....heuristics.topics.local_search.linked_overlay import (
    Links,
    Subscriptions,
    edges_of,
    links_of,
    mark_all_bridges,
    mark_bridges,
    remove_edge,
    subscriptions_of,
)
from ....heuristics.topics.local_search.search_workspace import random_number
from ....instances.arrays import Ids, Offsets
from ....instances.overlay import Overlay
from ..rows.candidate_edges import CandidateEdges

Weights = npt.NDArray[np.float64]
_NOISE = 5e-4
_PACE = 1e-8


def weighted_greedy(edges: CandidateEdges, weights: Weights, *, cap: int, overload: float, seed: int) -> Overlay:
    """Choose edges greedily by contribution × weight, then drop the redundant ones, lightest first.

    Parameters
    ----------
    edges : CandidateEdges
        Together they connect every topic.
    weights : float64 array, one an edge
        Positive, for instance LP values plus a small constant.
    cap : int
        At a node of this degree, another edge costs 1 + `overload` instead of 1.
    seed : int
        Breaks ties.

    Returns
    -------
    Overlay
        Topic-connected, without redundant edges.

    Notes
    -----
    Cost O(edges chosen × candidates).
    """
    instance, n = edges.instance, edges.instance.num_nodes
    state = np.array([np.uint64(seed) * np.uint64(2) + np.uint64(1)], np.uint64)
    chosen = _connect(_indexed(edges), weights, cap, overload, n, state)
    overlay = Overlay.from_edges(n, np.stack([edges.u[chosen], edges.v[chosen]], axis=1))
    by_key = chosen[np.argsort(edges.keys[chosen])]
    subscriptions = subscriptions_of(instance)
    links = links_of(overlay, subscriptions, spare_edges=0, spare_links=0)
    work = np.zeros((5, int(np.diff(instance.topic_offsets).max())), np.int32)
    mark_all_bridges(subscriptions, links, work)
    _drop_redundant(np.argsort(weights[by_key], kind="stable"), subscriptions, links, work)
    return Overlay.from_edges(n, np.stack(np.divmod(edges_of(links), n), axis=1))


def seconds_of_greedy(edges: CandidateEdges, like: Overlay) -> float:
    """About as long as :func:`weighted_greedy` takes, on a slow machine, if it chooses as many edges as an overlay."""
    return _PACE * len(edges) * like.num_edges


class _Index(NamedTuple):
    """Links by topic, as in :class:`.candidate_edges.Links`, and by edge."""

    topic_offsets: Offsets
    offsets: Offsets
    edge: Ids
    a: Ids
    b: Ids
    link_topic: Ids
    edge_offsets: Offsets
    edge_links: Offsets
    u: Ids
    v: Ids


def _indexed(edges: CandidateEdges) -> _Index:
    links = edges.links
    topic = np.repeat(np.arange(len(links.offsets) - 1, dtype=np.int32), np.diff(links.offsets))
    return _Index(edges.instance.topic_offsets, *links, topic, *edges.links_by_edge, edges.u, edges.v)


@kernel
def _connect(
    space: _Index, weights: Weights, cap: int, overload: float, num_nodes: int, state: npt.NDArray[np.uint64]
) -> Ids:
    """Choose edges of best contribution × weight ÷ cost until the topics are connected."""
    degree, label = np.zeros(num_nodes, np.int32), np.empty(space.topic_offsets[-1], np.int32)
    for t in range(len(space.topic_offsets) - 1):
        for p in range(space.topic_offsets[t], space.topic_offsets[t + 1]):
            label[p] = p
    gain = np.zeros(len(space.u), np.int32)
    for e in space.edge:
        gain[e] += 1
    open_edges = np.arange(len(space.u)).astype(np.int32)
    count, added = len(space.u), 0
    while count > added:
        best, best_score, i = -1, 0.0, added
        while i < count:
            e = open_edges[i]
            if gain[e] == 0:
                count -= 1
                open_edges[i] = open_edges[count]
                continue
            price = 1.0 + overload * ((degree[space.u[e]] >= cap) + (degree[space.v[e]] >= cap))
            score = gain[e] * weights[e] / price * (1.0 + _NOISE * random_number(state))
            if score > best_score:
                best, best_score = i, score
            i += 1
        if best < 0:
            break
        e = open_edges[best]
        open_edges[best], open_edges[added] = open_edges[added], e
        added += 1
        degree[space.u[e]] += 1
        degree[space.v[e]] += 1
        for i in range(space.edge_offsets[e], space.edge_offsets[e + 1]):
            link = space.edge_links[i]
            t = space.link_topic[link]
            first = space.topic_offsets[t]
            one, other = label[first + space.a[link]], label[first + space.b[link]]
            if one == other:
                continue
            for k in range(space.offsets[t], space.offsets[t + 1]):
                x, y = label[first + space.a[k]], label[first + space.b[k]]
                if (x == one and y == other) or (x == other and y == one):
                    gain[space.edge[k]] -= 1
            for p in range(first, space.topic_offsets[t + 1]):
                if label[p] == other:
                    label[p] = one
    return open_edges[:added].copy()


@kernel
def _drop_redundant(slots: npt.NDArray[np.int64], subscriptions: Subscriptions, links: Links, work: Ids) -> None:
    """Drop the edges that are a bridge of no topic, in the given order; all marks of bridges must be up to date."""
    for slot in slots:
        if links.bridges[slot] == 0:
            one = links.first[slot]
            remove_edge(slot, links)
            while one >= 0:
                mark_bridges(links.topic[one], subscriptions, links, work)
                one = links.following[one]
