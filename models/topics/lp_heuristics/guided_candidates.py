"""Guided by an approximate LP solution: greedy overlays along it, and the candidates of local search."""

from __future__ import annotations

import heapq
import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

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
from ....heuristics.topics.local_search.overlay_search import candidate_lists, nearest_pairs, priced_weights
from ....heuristics.topics.local_search.ruin_and_recreate import CandidateLists, random_number
from ....heuristics.topics.polish import searches_in_parts
from ....instances.contract.arrays import Ids, Offsets
from ....instances.contract.compiled import kernel
from ....instances.contract.overlay import Overlay
from ....instances.contract.run import Clock, offer
from ....instances.topics.instance import TopicInstance
from ..relaxation.candidate_edges import CandidateEdges, keys_of
from ..relaxation.cost_splitting import Splitting, is_affordable, split_by_pricing
from ..relaxation.presolve import root
from ..relaxation.proven_bound import MOST_PROVEN
from .row_weighting import ENTRIES_A_STEP, RowWeighting, preferred

Weights = npt.NDArray[np.float64]
_NOISE = 5e-4
_PACE = 2e-6


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
    Cost O(links log candidates), and O(|V_t|) for each topic of an edge that is dropped.
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


def seconds_of_greedy(edges: CandidateEdges) -> float:
    """About as long as :func:`weighted_greedy` takes, on a slow machine."""
    return _PACE * len(edges.links.edge)


class _Index(NamedTuple):
    """Links as in :class:`.candidate_edges.Links`, with their topics, and by edge."""

    topic_offsets: Offsets
    topic: Ids
    a: Ids
    b: Ids
    edge_offsets: Offsets
    edge_links: Offsets
    u: Ids
    v: Ids


def _indexed(edges: CandidateEdges) -> _Index:
    links = edges.links
    topic = np.repeat(np.arange(len(links.offsets) - 1, dtype=np.int32), np.diff(links.offsets))
    return _Index(edges.instance.topic_offsets, topic, links.a, links.b, *edges.links_by_edge, edges.u, edges.v)


@kernel
def _connect(
    space: _Index, weights: Weights, cap: int, overload: float, num_nodes: int, state: npt.NDArray[np.uint64]
) -> Ids:
    """Choose edges of best contribution × weight ÷ cost until the topics are connected.

    As neither contributions nor 1 ÷ cost ever rise, an edge is judged again only when it comes first (Minoux 1978).
    """
    degree, parent = np.zeros(num_nodes, np.int32), np.arange(space.topic_offsets[-1])
    noisy = np.empty(len(weights))
    for e in range(len(weights)):
        noisy[e] = weights[e] * (1.0 + _NOISE * random_number(state))
    queue = [(-(space.edge_offsets[e + 1] - space.edge_offsets[e]) * noisy[e], e) for e in range(len(weights))]
    heapq.heapify(queue)
    chosen, count = np.empty(len(weights), np.int32), 0
    while len(queue):
        before, e = queue[0]
        contribution = 0
        for i in range(space.edge_offsets[e], space.edge_offsets[e + 1]):
            link = space.edge_links[i]
            first = space.topic_offsets[space.topic[link]]
            contribution += root(parent, first + space.a[link]) != root(parent, first + space.b[link])
        if contribution == 0:
            heapq.heappop(queue)
            continue
        price = 1.0 + overload * ((degree[space.u[e]] >= cap) + (degree[space.v[e]] >= cap))
        score = -contribution * noisy[e] / price
        if score > before:
            heapq.heapreplace(queue, (score, e))
            continue
        heapq.heappop(queue)
        chosen[count] = e
        count += 1
        degree[space.u[e]] += 1
        degree[space.v[e]] += 1
        for i in range(space.edge_offsets[e], space.edge_offsets[e + 1]):
            link = space.edge_links[i]
            first = space.topic_offsets[space.topic[link]]
            parent[root(parent, first + space.a[link])] = root(parent, first + space.b[link])
    return chosen[:count].copy()


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


_ROUNDS, _FEW_ROUNDS = 2_000, 350  # few of a large instance without a time limit
_LONGEST_GREEDY = 30.0


def guided_candidates(
    instance: TopicInstance,
    start: Overlay,
    clock: Clock,
    *,
    weighted: bool = False,
    splitting: Splitting | None = None,
    steps: int | None = None,
    seed: int = 0,
) -> tuple[CandidateLists | None, list[Overlay]]:
    """The edges that an approximate LP solution uses, as candidates of local search, and overlays built along it.

    Unless there is a split of costs already, a fifth of the time goes into one where :func:`.is_affordable`; else each
    node's nearest are the candidates. The overlay is built if there is time. Where overlays are searched in parts,
    these find their own candidates.

    Parameters
    ----------
    steps : int, optional
        Only the number of edges matters: :class:`.RowWeighting` along the split improves the better overlay in half of
        the time that is left; without a time limit, for as long as so many steps of ruin and recreate take.
    seed : int
        Of this search.
    """
    in_parts = searches_in_parts(instance.num_nodes, "cost" if weighted else "edges")
    target = instance.total_cost(start.edges) if weighted else start.num_edges
    fifth = clock.share(0.2)
    if splitting is None and target < MOST_PROVEN and is_affordable(instance, fifth):
        rounds = _FEW_ROUNDS if in_parts and math.isinf(fifth.left) else _ROUNDS
        splitting = split_by_pricing(instance, start, fifth, rounds=rounds, weighted=weighted)
    if splitting is None:
        if in_parts:
            return None, []
        near = np.union1d(nearest_pairs(instance, by_cost=weighted), keys_of(start))
        return candidate_lists(instance, near, priced_weights(instance, near) if weighted else None), []
    kept, usage = splitting.used_or_in(start)
    overlays = []
    if seconds_of_greedy(kept) < min(_LONGEST_GREEDY, clock.left):
        worth = (usage + 0.01) / (instance.edge_costs(kept.u, kept.v) if weighted else 1)
        overlays.append(weighted_greedy(kept, worth, cap=instance.num_nodes, overload=0.0, seed=0))
    if in_parts:
        return None, overlays
    if steps is not None:
        best = min([start, *overlays], key=lambda overlay: overlay.num_edges)
        search = RowWeighting(kept, usage, best, seed)
        work = steps * ENTRIES_A_STEP if math.isinf(clock.left) else 10**18
        for found in search.overlays(best.num_edges, clock.share(0.5), work):
            offer(found)
            overlays.append(found)
    weights = preferred(usage).astype(np.float32)
    if weighted:
        weights *= priced_weights(instance, kept.keys)
    return candidate_lists(instance, kept.keys, weights), overlays
