"""Local search for topic-connected overlays: take a few edges out, reconnect greedily, drop what became redundant.

A topic is *open* while a step has left it in several components; its label is 0 at the largest one and everywhere in
topics that are not open. It is *dirty* when its marks of bridges have to be found anew.
"""

from __future__ import annotations

import numpy as np

from ....instances.arrays import Ids
from ...compiled import kernel
from .linked_overlay import Links, Subscriptions, mark, mark_bridges, next_suspect
from .search_workspace import (
    GONE,
    LOG,
    MOST_REMOVED,
    NEW,
    NOISE,
    OVERLOADS,
    SHADES,
    SMALL,
    TO_MERGE,
    TOUCHED,
    Near,
    Rules,
    Workspace,
    key_of,
    put,
    random_number,
    settle,
    take,
    touch,
)


@kernel
def drop_redundant(most: int, cap: int, subscriptions: Subscriptions, links: Links, space: Workspace) -> None:
    """Drop redundant edges, at most `most` and in random order; every mark of a bridge must be right.

    Time O(|V_t| + links) for each topic of each edge dropped.
    """
    dropped = 0
    while links.counts[2] > 0 and dropped < most:
        slot = next_suspect(random_number(space.random), links)
        if slot < 0:
            continue
        dropped += 1
        one = links.first[slot]
        take(slot, cap, links, space)
        while one >= 0:
            t = links.topic[one]
            touch(t, space)
            space.dirty[t] = True
            mark_bridges(t, subscriptions, links, space.work)
            one = links.following[one]


@kernel
def ruin_and_recreate(
    steps: int, rules: Rules, near: Near, subscriptions: Subscriptions, links: Links, space: Workspace
) -> tuple[float, int, int]:
    """Take `steps` steps from an overlay without redundant edges, all marks of bridges being right.

    Returns the least cost met, the number of edges in the log when it was met, and how many steps were taken: less
    than asked for when `links` or the log are nearly full. The log counts from this call.

    A step takes time O(|V_t| + links) for each topic that a removed edge has, and O(Σ|T_v|) over the candidate edges of
    the nodes that it cuts off from the largest component of such a topic.
    """
    counts = space.counts
    counts[LOG] = 0
    width = len(space.top) // SHADES
    cost = links.counts[0] + rules.overload * counts[OVERLOADS]
    best, logged = cost, 0
    for step in range(steps):
        if links.counts[0] == 0 or links.counts[0] + MOST_REMOVED * width > len(links.members):
            return best, logged, step
        if links.counts[1] < MOST_REMOVED * width * width:
            return best, logged, step
        _ruin(rules.cap, subscriptions, links, space)
        _open_topics(subscriptions, links, space)
        _recreate(rules, near, subscriptions, links, space)
        for t in space.touched[: counts[TOUCHED]]:
            if space.dirty[t]:
                mark_bridges(t, subscriptions, links, space.work)
        drop_redundant(len(links.members), rules.cap, subscriptions, links, space)
        new_cost = links.counts[0] + rules.overload * counts[OVERLOADS]
        full = counts[LOG] + counts[GONE] + counts[NEW] > len(space.log)
        if not full and (new_cost <= cost or random_number(space.random) < np.exp((cost - new_cost) / rules.heat)):
            cost = new_cost
            _accept(links, space)
            if cost < best:
                best, logged = cost, counts[LOG]
        else:
            _undo(rules.cap, subscriptions, links, space)
        settle(space)
        if full:
            return best, logged, step
    return best, logged, steps


@kernel
def _ruin(cap: int, subscriptions: Subscriptions, links: Links, space: Workspace) -> None:
    """Remove a random edge and up to three more: of one node, or met in a walk over topics."""
    state = space.random
    left = 2 + int(random_number(state) * (MOST_REMOVED - 1))
    slot = links.members[int(random_number(state) * links.counts[0])]
    centre = links.ends[slot, int(random_number(state) * 2)] if random_number(state) < 0.5 else -1
    for _ in range(4 * left):
        if slot >= 0:
            topic = _remove(slot, cap, links, space)
            left -= 1
        if left == 0 or links.counts[0] == 0:
            return
        if centre >= 0:
            first, last = subscriptions.node_offsets[centre], subscriptions.node_offsets[centre + 1]
            place = subscriptions.places[first + int(random_number(state) * (last - first))]
        else:
            first, last = subscriptions.topic_offsets[topic], subscriptions.topic_offsets[topic + 1]
            place = first + int(random_number(state) * (last - first))
        slot, number, half = -1, 0, links.head[place]
        while half >= 0:
            number += 1
            if random_number(state) * number < 1:
                slot = links.edge[half >> 1]
            half = links.after[half]


@kernel
def _remove(slot: int, cap: int, links: Links, space: Workspace) -> int:
    """Remove an edge, say which topics that opens, and return one of its topics."""
    topic, number, one = -1, 0, links.first[slot]
    while one >= 0:
        t = links.topic[one]
        # Marks are those before the step: two links that were no bridges may be a cut.
        if links.bridge[one] or space.is_touched[t]:
            space.open[t] = True
        if not links.bridge[one]:
            space.dirty[t] = True
        touch(t, space)
        number += 1
        if random_number(space.random) * number < 1:
            topic = t
        one = links.following[one]
    take(slot, cap, links, space)
    return topic


@kernel
def _open_topics(subscriptions: Subscriptions, links: Links, space: Workspace) -> None:
    """Label the components of open topics, 0 the largest, and list the nodes of the others."""
    label, counts = space.label, space.counts
    counts[SMALL] = counts[TO_MERGE] = 0
    for t in space.touched[: counts[TOUCHED]]:
        if not space.open[t]:
            continue
        first, last = subscriptions.topic_offsets[t], subscriptions.topic_offsets[t + 1]
        label[first:last] = -1
        number, largest, most = 0, 0, 0
        for root in range(first, last):
            if label[root] < 0:
                size = _flood(root, number, links, space)
                if size > most:
                    largest, most = number, size
                number += 1
        counts[TO_MERGE] += number - 1
        for p in range(first, last):
            label[p] = 0 if label[p] == largest else label[p] + 1
            v = subscriptions.topic_nodes[p]
            if label[p] > 0 and not space.is_small[v]:
                space.is_small[v] = True
                space.small[counts[SMALL]] = v
                counts[SMALL] += 1


@kernel
def _flood(root: int, number: int, links: Links, space: Workspace) -> int:
    """Label a component, and return its size."""
    label, queue = space.label, space.queue
    label[root], queue[0] = number, root
    head, tail = 0, 1
    while head < tail:
        half = links.head[queue[head]]
        head += 1
        while half >= 0:
            p = links.to[half]
            if label[p] < 0:
                label[p], queue[tail] = number, p
                tail += 1
            half = links.after[half]
    return tail


@kernel
def _recreate(rules: Rules, near: Near, subscriptions: Subscriptions, links: Links, space: Workspace) -> None:
    """Add edges of best contribution × weight ÷ cost until the open topics are connected, then close these."""
    counts, n = space.counts, len(links.degrees)
    top = _list_candidates(rules, near, subscriptions, links, space)
    while top >= 0 and counts[TO_MERGE] > 0:
        size, k = 0, space.top[top]
        space.top[top] = -1
        while k >= 0:
            space.bucket[size] = k
            size += 1
            k = space.chain[k]
        while size > 0 and counts[TO_MERGE] > 0:
            pick = int(random_number(space.random) * size)
            k = space.bucket[pick]
            size -= 1
            space.bucket[pick] = space.bucket[size]
            u, v = space.candidates[k] // n, space.candidates[k] % n
            # Contributions have only fallen since it was listed, and degrees only risen.
            contribution = _contribution(u, v, subscriptions, space.label)
            level = _level(contribution, space.weights[k], u, v, rules, links)
            if contribution > 0 and level == top:
                _join(u, v, rules.cap, subscriptions, links, space)
            elif contribution > 0:
                space.chain[k], space.top[level] = space.top[level], k
        top -= 1
    space.top[: top + 1] = -1
    for t in space.touched[: counts[TOUCHED]]:
        if space.open[t]:
            while counts[TO_MERGE] > 0 and _join_any(t, rules.cap, subscriptions, links, space):
                pass
            space.label[subscriptions.topic_offsets[t] : subscriptions.topic_offsets[t + 1]] = 0
    for v in space.small[: counts[SMALL]]:
        space.is_small[v] = False


@kernel
def _list_candidates(rules: Rules, near: Near, subscriptions: Subscriptions, links: Links, space: Workspace) -> int:
    """Chain the candidate edges that contribute by their level, and return the highest one."""
    n, found, top = len(links.degrees), 0, -1
    for a in space.small[: space.counts[SMALL]]:
        for k in range(near.offsets[a], near.offsets[a + 1]):
            b = near.nodes[k]
            if b < a and space.is_small[b]:
                continue
            contribution = _contribution(a, b, subscriptions, space.label)
            if contribution == 0:
                continue
            space.candidates[found] = np.int64(min(a, b)) * n + max(a, b)
            space.weights[found] = near.weights[k] * (1 + NOISE * random_number(space.random))
            level = _level(contribution, space.weights[found], a, b, rules, links)
            space.chain[found], space.top[level] = space.top[level], found
            top = max(top, level)
            found += 1
    return top


@kernel
def _contribution(u: int, v: int, subscriptions: Subscriptions, label: Ids) -> int:
    offsets, topics, places = subscriptions.node_offsets, subscriptions.node_topics, subscriptions.places
    i, end_i = offsets[u], offsets[u + 1]
    j, end_j = offsets[v], offsets[v + 1]
    count = 0
    while i < end_i and j < end_j:
        one, other = topics[i], topics[j]
        if one == other:
            count += label[places[i]] != label[places[j]]
        i += one <= other
        j += other <= one
    return count


@kernel
def _level(contribution: int, weight: float, u: int, v: int, rules: Rules, links: Links) -> int:
    full = (links.degrees[u] >= rules.cap) + (links.degrees[v] >= rules.cap)
    return int(SHADES * contribution * weight / (1 + rules.overload * full))


@kernel
def _join(u: int, v: int, cap: int, subscriptions: Subscriptions, links: Links, space: Workspace) -> None:
    """Add an edge: a bridge where it unites components of an open topic, else a topic becomes dirty."""
    slot, label = put(u, v, cap, subscriptions, links, space), space.label
    space.fresh[slot] = True
    space.new[space.counts[NEW]] = slot
    space.counts[NEW] += 1
    one = links.first[slot]
    while one >= 0:
        t = links.topic[one]
        touch(t, space)
        kept, other = label[links.to[2 * one]], label[links.to[2 * one + 1]]
        if kept == other:
            space.dirty[t] = True
        else:
            mark(one, True, links)
            space.counts[TO_MERGE] -= 1
            for p in range(subscriptions.topic_offsets[t], subscriptions.topic_offsets[t + 1]):
                if label[p] == other:
                    label[p] = kept
        one = links.following[one]


@kernel
def _join_any(t: int, cap: int, subscriptions: Subscriptions, links: Links, space: Workspace) -> bool:
    """Unite the component of a topic's first subscriber with others by any edge; False if it is connected."""
    first, last = subscriptions.topic_offsets[t], subscriptions.topic_offsets[t + 1]
    inside = outside = -1
    num_inside = num_outside = 0
    for p in range(first, last):
        if space.label[p] == space.label[first]:
            num_inside += 1
            if random_number(space.random) * num_inside < 1:
                inside = p
        else:
            num_outside += 1
            if random_number(space.random) * num_outside < 1:
                outside = p
    if outside < 0:
        return False
    _join(subscriptions.topic_nodes[inside], subscriptions.topic_nodes[outside], cap, subscriptions, links, space)
    return True


@kernel
def _accept(links: Links, space: Workspace) -> None:
    counts = space.counts
    for key in space.gone[: counts[GONE]]:
        space.log[counts[LOG]] = key
        counts[LOG] += 1
    for slot in space.new[: counts[NEW]]:
        if space.fresh[slot]:
            space.fresh[slot] = False
            space.log[counts[LOG]] = key_of(slot, links)
            counts[LOG] += 1


@kernel
def _undo(cap: int, subscriptions: Subscriptions, links: Links, space: Workspace) -> None:
    counts, n = space.counts, len(links.degrees)
    for slot in space.new[: counts[NEW]]:
        if space.fresh[slot]:
            take(slot, cap, links, space)
    for key in space.gone[: counts[GONE]]:
        one = links.first[put(key // n, key % n, cap, subscriptions, links, space)]
        while one >= 0:
            # In a topic that is not dirty the step removed bridges only.
            mark(one, True, links)
            one = links.following[one]
    for t in space.touched[: counts[TOUCHED]]:
        if space.dirty[t]:
            mark_bridges(t, subscriptions, links, space.work)
    while links.counts[2] > 0:
        next_suspect(0.0, links)
