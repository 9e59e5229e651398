"""Local search for topic-connected overlays: take a few edges out, reconnect greedily, drop what became redundant.

The state is a set of candidate edges. A link, an edge within one topic, is a *bridge* if its topic falls apart
without it; an edge none of whose links is a bridge is redundant.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from heuristics.compiled import kernel
from instances.topic_instance import Ids
from models.search_space import SearchSpace

Flags = npt.NDArray[np.bool_]
Weights = npt.NDArray[np.float64]


def build(space: SearchSpace, weights: Weights, *, cap: int, overload: float, seed: int) -> Flags:
    """Choose edges greedily by contribution × weight, then drop the redundant ones, lightest first.

    Parameters
    ----------
    space : SearchSpace
        Its edges together must connect every topic.
    weights : float64 array, one an edge
        Positive, for instance LP values plus a little.
    cap : int
        The degree from which on a further edge at a node costs `overload` more than its own 1.
    seed : int
        Breaks ties.

    Returns
    -------
    bool array, one an edge
        A topic-connected overlay without redundant edges.

    Notes
    -----
    Cost O(edges chosen × candidates).
    """
    return _build(space, weights, cap, overload, seed)


def improve(
    space: SearchSpace,
    chosen: Flags,
    weights: Weights,
    *,
    cap: int,
    overload: float,
    steps: int,
    temperature: float,
    seed: int,
    goal: float,
) -> tuple[Flags, float]:
    """Ruin and recreate, `steps` times, with the acceptance rule of simulated annealing.

    Parameters
    ----------
    chosen : bool array, one an edge
        A topic-connected overlay.
    weights : float64 array, one an edge
        Positive: of several edges that contribute alike, heavier ones are preferred at random.
    cap, overload
        The cost of an overlay is its number of edges plus `overload` for each degree above `cap` by one.
    temperature : float
        A step that costs d more is accepted with probability exp(−d ÷ temperature), which falls to a tenth.
    goal : float
        Stop at this cost.

    Returns
    -------
    chosen : bool array
        The cheapest topic-connected overlay met.
    cost : float

    Notes
    -----
    A step takes time proportional to the links of the topics that the removed edges have, |T_u ∩ T_v| · links
    ÷ |T| each. The same seed gives the same answer on any machine.
    """
    best, cost = _improve(space, chosen, weights, cap, overload, steps, temperature, seed, goal)
    return best, float(cost)


@kernel
def _build(space: SearchSpace, weights: Weights, cap: int, overload: float, seed: int) -> Flags:
    chosen = np.zeros(len(space.u), np.bool_)
    degree = np.zeros(max(space.u.max(), space.v.max()) + 1, np.int32)
    label = np.empty(space.topic_offsets[-1], np.int32)
    topics = np.arange(len(space.topic_offsets) - 1, dtype=np.int32)
    gain = np.zeros(len(space.u), np.int32)
    open_edges = np.empty(len(space.u), np.int32)
    state = np.array([np.uint64(seed) * np.uint64(2) + np.uint64(1)], np.uint64)
    for t in range(len(topics)):
        _label_components(space, chosen, t, label)
    _reconnect(space, chosen, degree, label, topics, weights, cap, overload, gain, open_edges, state, 1e-3)
    bridge = np.zeros(len(space.edge), np.bool_)
    bridges = np.zeros(len(space.u), np.int32)
    for t in range(len(topics)):
        _find_bridges(space, chosen, t, bridge, bridges)
    for e in np.argsort(weights, kind="mergesort"):
        if chosen[e] and bridges[e] == 0:
            chosen[e] = False
            for i in range(space.edge_offsets[e], space.edge_offsets[e + 1]):
                _find_bridges(space, chosen, space.link_topic[space.edge_links[i]], bridge, bridges)
    return chosen


@kernel
def _improve(
    space: SearchSpace,
    start: Flags,
    weights: Weights,
    cap: int,
    overload: float,
    steps: int,
    temperature: float,
    seed: int,
    goal: float,
) -> tuple[Flags, float]:
    num_edges, num_topics = len(space.u), len(space.topic_offsets) - 1
    state = np.array([np.uint64(seed) * np.uint64(2) + np.uint64(1)], np.uint64)
    chosen = start.copy()
    degree = np.zeros(max(space.u.max(), space.v.max()) + 1, np.int32)
    for e in range(num_edges):
        degree[space.u[e]] += chosen[e]
        degree[space.v[e]] += chosen[e]
    bridge, bridges = np.zeros(len(space.edge), np.bool_), np.zeros(num_edges, np.int32)
    for t in range(num_topics):
        _find_bridges(space, chosen, t, bridge, bridges)
    members, place = np.flatnonzero(chosen).astype(np.int32), np.full(num_edges, -1, np.int32)
    members = np.concatenate((members, np.empty(num_edges - len(members), np.int32)))
    size = int(chosen.sum())
    for i in range(size):
        place[members[i]] = i
    label = np.zeros(space.topic_offsets[-1], np.int32)  # a connected topic has one label, always
    gain, open_edges = np.zeros(num_edges, np.int32), np.empty(num_edges, np.int32)
    touched, is_touched = np.empty(num_topics, np.int32), np.zeros(num_topics, np.bool_)
    before = chosen.copy()
    changed = np.empty(8 * num_edges + 64, np.int32)
    cost = size + overload * np.maximum(degree - cap, 0).sum()
    best, best_cost = chosen.copy(), cost
    for step in range(steps):
        if best_cost <= goal:
            break
        heat = temperature * 0.1 ** (step / steps)
        # Ruin: some edges that touch, in a walk over shared nodes and topics.
        num_changed = num_touched = 0
        aim = 2 + int(_random(state) * 7)
        e = members[int(_random(state) * size)]
        for _ in range(4 * aim):
            if chosen[e]:
                chosen[e] = False
                degree[space.u[e]] -= 1
                degree[space.v[e]] -= 1
                changed[num_changed] = e
                num_changed += 1
                num_touched = _touch(space, e, touched, is_touched, num_touched)
            if num_changed == aim:
                break
            link = space.edge_links[
                space.edge_offsets[e] + int(_random(state) * (space.edge_offsets[e + 1] - space.edge_offsets[e]))
            ]
            t = space.link_topic[link]
            e = space.edge[space.offsets[t] + int(_random(state) * (space.offsets[t + 1] - space.offsets[t]))]
            if not chosen[e] and _random(state) < 0.3:
                e = members[int(_random(state) * size)]
        removed = num_changed
        for i in range(num_touched):
            _label_components(space, chosen, touched[i], label)
        added = _reconnect(
            space, chosen, degree, label, touched[:num_touched], weights, cap, overload, gain, open_edges, state, 0.5
        )
        for i in range(added):
            changed[num_changed] = open_edges[i]
            num_changed += 1
            num_touched = _touch(space, open_edges[i], touched, is_touched, num_touched)
        for i in range(num_touched):
            _find_bridges(space, chosen, touched[i], bridge, bridges)
        # Every edge of a touched topic may have become redundant.
        shift = int(_random(state) * num_touched)
        i = 0
        while i < num_touched:
            t = touched[(i + shift) % num_touched]
            for k in range(space.offsets[t], space.offsets[t + 1]):
                e = space.edge[k]
                if chosen[e] and bridges[e] == 0:
                    chosen[e] = False
                    degree[space.u[e]] -= 1
                    degree[space.v[e]] -= 1
                    changed[num_changed] = e
                    num_changed += 1
                    removed += 1
                    num_touched = _touch(space, e, touched, is_touched, num_touched)
                    for j in range(space.edge_offsets[e], space.edge_offsets[e + 1]):
                        _find_bridges(space, chosen, space.link_topic[space.edge_links[j]], bridge, bridges)
            i += 1
        new_cost = float(size - removed + added)
        if overload > 0:
            new_cost += overload * np.maximum(degree - cap, 0).sum()
        if new_cost <= cost or _random(state) < np.exp((cost - new_cost) / heat):
            cost = new_cost
            for i in range(num_changed):
                e = changed[i]
                if chosen[e] == before[e]:
                    continue
                before[e] = chosen[e]
                if chosen[e]:
                    members[size], place[e] = e, size
                    size += 1
                else:
                    size -= 1
                    members[place[e]] = members[size]
                    place[members[size]] = place[e]
            if cost < best_cost:
                best[:], best_cost = chosen, cost
        else:
            for i in range(num_changed):
                e = changed[i]
                if chosen[e] != before[e]:
                    chosen[e] = before[e]
                    degree[space.u[e]] += 1 if chosen[e] else -1
                    degree[space.v[e]] += 1 if chosen[e] else -1
            for i in range(num_touched):
                _find_bridges(space, chosen, touched[i], bridge, bridges)
        for i in range(num_touched):
            is_touched[touched[i]] = False
    return best, best_cost


@kernel
def _random(state: npt.NDArray[np.uint64]) -> float:
    """Uniform on [0, 1): xorshift64* (Marsaglia 2003, Vigna 2016)."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return float((x * np.uint64(0x2545F4914F6CDD1D)) >> np.uint64(11)) / 9007199254740992.0


@kernel
def _touch(space: SearchSpace, e: int, touched: Ids, is_touched: Flags, count: int) -> int:
    for i in range(space.edge_offsets[e], space.edge_offsets[e + 1]):
        t = space.link_topic[space.edge_links[i]]
        if not is_touched[t]:
            is_touched[t] = True
            touched[count] = t
            count += 1
    return count


@kernel
def _label_components(space: SearchSpace, chosen: Flags, t: int, label: Ids) -> None:
    """Label the components of G_t, each by one of its members."""
    first, n = space.topic_offsets[t], space.topic_offsets[t + 1] - space.topic_offsets[t]
    for a in range(n):
        label[first + a] = a
    for k in range(space.offsets[t], space.offsets[t + 1]):
        if chosen[space.edge[k]]:
            a, b = space.a[k], space.b[k]
            while label[first + a] != a:
                a = label[first + a]
            while label[first + b] != b:
                b = label[first + b]
            label[first + max(a, b)] = min(a, b)
    for a in range(n):
        label[first + a] = label[first + label[first + a]]


@kernel
def _reconnect(
    space: SearchSpace,
    chosen: Flags,
    degree: Ids,
    label: Ids,
    topics: Ids,
    weights: Weights,
    cap: int,
    overload: float,
    gain: Ids,
    open_edges: Ids,
    state: npt.NDArray[np.uint64],
    noise: float,
) -> int:
    """Add edges of best contribution × weight ÷ cost until the topics are connected; they go to `open_edges`."""
    count = added = 0
    for t in topics:
        first = space.topic_offsets[t]
        for k in range(space.offsets[t], space.offsets[t + 1]):
            if label[first + space.a[k]] != label[first + space.b[k]]:
                e = space.edge[k]
                if gain[e] == 0:
                    open_edges[count] = e
                    count += 1
                gain[e] += 1
    while count > added:
        best, best_score, i = -1, 0.0, added
        while i < count:
            e = open_edges[i]
            if gain[e] == 0:
                count -= 1
                open_edges[i] = open_edges[count]
                continue
            price = 1.0 + overload * ((degree[space.u[e]] >= cap) + (degree[space.v[e]] >= cap))
            score = gain[e] * weights[e] / price * (1.0 + noise * 0.5 * _random(state))
            if score > best_score:
                best, best_score = i, score
            i += 1
        if best < 0:
            break
        e = open_edges[best]
        open_edges[best], open_edges[added] = open_edges[added], e
        added += 1
        chosen[e] = True
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
    return added


@kernel
def _find_bridges(space: SearchSpace, chosen: Flags, t: int, bridge: Flags, bridges: Ids) -> None:
    """Mark the bridges of G_t, a connected graph, and correct how many bridges each edge is.

    Lowest preorder numbers (Tarjan 1974), without recursion.
    """
    first, last = space.offsets[t], space.offsets[t + 1]
    n = space.topic_offsets[t + 1] - space.topic_offsets[t]
    heads = np.zeros(n + 2, np.int32)
    count = 0
    for k in range(first, last):
        if bridge[k]:
            bridge[k] = False
            bridges[space.edge[k]] -= 1
        if chosen[space.edge[k]]:
            heads[space.a[k] + 2] += 1
            heads[space.b[k] + 2] += 1
            count += 1
    for a in range(n):
        heads[a + 2] += heads[a + 1]
    links = np.empty(2 * count, np.int32)
    for k in range(first, last):
        if chosen[space.edge[k]]:
            for end in (space.a[k], space.b[k]):
                links[heads[end + 1]] = k - first
                heads[end + 1] += 1
    order, low = np.full(n, -1, np.int32), np.empty(n, np.int32)
    via, next_link = np.full(n, -1, np.int32), heads[:n].copy()
    stack = np.empty(n, np.int32)
    depth, time = 1, 1
    stack[0], order[0], low[0] = 0, 0, 0
    while depth:
        a = stack[depth - 1]
        if next_link[a] < heads[a + 1]:
            link = links[next_link[a]]
            next_link[a] += 1
            if link == via[a]:
                continue
            b = space.a[first + link] + space.b[first + link] - a
            if order[b] < 0:
                order[b], low[b], via[b] = time, time, link
                time += 1
                stack[depth] = b
                depth += 1
            elif order[b] < low[a]:
                low[a] = order[b]
        else:
            depth -= 1
            if depth:
                parent = stack[depth - 1]
                low[parent] = min(low[parent], low[a])
                if low[a] > order[parent]:
                    bridge[first + via[a]] = True
                    bridges[space.edge[first + via[a]]] += 1
