"""Ruin and recreate for topic-connected overlays: remove a few edges, reconnect greedily, drop redundant edges.

A topic is *split* while a step has left it in several components; labels are 0 in the largest one and everywhere in
topics that are not split. It is *dirty* while its marks of bridges are outdated.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ....instances.contract.arrays import Flags, Ids, Offsets
from ....instances.runtime.compiled import kernel, wrapping_kernel
from ....instances.runtime.run import Clock
from ..kernels.interest import EdgeCosts, contribution, cost_of
from .linked_overlay import Links, VertexTable, add_edge, mark_bridges, next_redundant, remove_edge, set_bridge

Keys = npt.NDArray[np.int64]
Weights = npt.NDArray[np.float32]
MOST_REMOVED = 4
LEVELS_PER_UNIT = 8  # levels for each unit of contribution × weight, where all edges cost 1
PRICED_LEVELS_PER_UNIT = 64
NOISE = 0.25
# Of `counts`: entries in lists, components beyond one a split topic, the sum of all excesses over the cap, and the
# total cost of the edges.
TOUCHED, REMOVED, ADDED, EXCESS_COMPONENTS, LOG, DEGREE_EXCESS, CUT_OFF, COST = range(8)


class SearchParameters(NamedTuple):
    """The objective of a local search, and its acceptance of worse overlays.

    The cost of an overlay is the total cost of its edges × `scale`, plus `penalty` for each unit by which a degree
    exceeds `cap`. A step that raises the cost by d is accepted with probability exp(−d ÷ `temperature`).
    """

    cap: int
    penalty: float
    temperature: float
    scale: float = 1.0


class Cooling:
    """A temperature that falls geometrically with the work done, sooner if the time of the clock is shorter."""

    def __init__(self, hot: float, cold: float, clock: Clock) -> None:
        self._hot, self._cold, self._clock, self._seconds = hot, cold, clock, clock.left

    def at(self, share: float) -> float:
        """The temperature when this share of the work is done."""
        passed = 1 - self._clock.left / self._seconds if np.isfinite(self._seconds) else 0
        return self._hot * (self._cold / self._hot) ** max(share, passed)


class CandidateLists(NamedTuple):
    """The candidate edges of node v: to ``nodes[offsets[v]:offsets[v + 1]]``, with weights in (0, 1]."""

    offsets: Offsets
    nodes: Ids
    weights: Weights


class Workspace(NamedTuple):
    """The work arrays of a step; after each step `label`, the flags and `top` are reset."""

    label: Ids  # of each vertex: its component, 0 for the largest
    touched: Ids  # the topics that the step has changed
    is_touched: Flags
    dirty: Flags  # of each topic
    split: Flags  # of each topic
    queue: Ids  # shape (m,) for m the most subscribers of a topic
    work: Ids  # shape (5, m)
    cut_off: Ids  # the nodes outside a largest component
    is_cut_off: Flags
    candidates: Keys  # candidate edges u·|V| + v
    weights: Weights
    chain: Ids  # linked lists of the candidates of one level, from `top`
    bucket: Ids
    top: Ids
    removed: Keys  # the edges that the step removed and had not added
    added: Ids  # the slots of the edges that it added
    is_added: Flags  # of each slot: it still holds one of these
    log: Keys  # every edge removed or added by an accepted step, in order
    counts: npt.NDArray[np.int64]  # by TOUCHED, REMOVED, …, COST
    random: npt.NDArray[np.uint64]
    costs: EdgeCosts
    width: int  # at least the most topics of a node
    levels: int  # for each unit of contribution × weight


def workspace(
    subscriptions: VertexTable,
    candidates: CandidateLists,
    slots: int,
    steps: int,
    seed: int,
    costs: EdgeCosts,
    levels: int = LEVELS_PER_UNIT,
) -> Workspace:
    """The work arrays of `steps` steps on an overlay of at most `slots` edges."""
    vertices, nodes = len(subscriptions.vertex_offsets) - 1, len(subscriptions.node_offsets) - 1
    topics = len(subscriptions.topic_offsets) - 1
    most = int(np.diff(subscriptions.topic_offsets).max())
    width = int(np.diff(subscriptions.node_offsets).max())
    return Workspace(
        label=np.zeros(vertices, np.int32),
        touched=np.zeros(topics, np.int32),
        is_touched=np.zeros(topics, np.bool_),
        dirty=np.zeros(topics, np.bool_),
        split=np.zeros(topics, np.bool_),
        queue=np.zeros(most, np.int32),
        work=np.zeros((5, most), np.int32),
        cut_off=np.zeros(nodes, np.int32),
        is_cut_off=np.zeros(nodes, np.bool_),
        candidates=np.zeros(len(candidates.nodes), np.int64),
        weights=np.zeros(len(candidates.nodes), np.float32),
        chain=np.zeros(len(candidates.nodes), np.int32),
        bucket=np.zeros(len(candidates.nodes), np.int32),
        top=np.full(int(levels * (1 + NOISE) * width) + 2, -1, np.int32),
        removed=np.zeros(slots, np.int64),
        added=np.zeros(slots, np.int32),
        is_added=np.zeros(slots, np.bool_),
        log=np.zeros(slots + 32 * steps, np.int64),
        counts=np.zeros(8, np.int64),
        random=np.array([2 * seed + 1], np.uint64),
        costs=costs,
        width=(int(LEVELS_PER_UNIT * (1 + NOISE) * width) + 2) // LEVELS_PER_UNIT,
        levels=levels,
    )


@kernel
def reset(space: Workspace) -> None:
    """Reset the flags of the topics touched and the lists of edges removed and added."""
    for t in space.touched[: space.counts[TOUCHED]]:
        space.is_touched[t] = space.dirty[t] = space.split[t] = False
    space.counts[TOUCHED] = space.counts[REMOVED] = space.counts[ADDED] = 0


@kernel
def touch(t: int, space: Workspace) -> None:
    """Note that a step changes a topic."""
    if not space.is_touched[t]:
        space.is_touched[t] = True
        space.touched[space.counts[TOUCHED]] = t
        space.counts[TOUCHED] += 1


@kernel
def step_remove(slot: int, cap: int, links: Links, space: Workspace) -> None:
    """Remove an edge, and note it unless this step added it."""
    for end in links.ends[slot]:
        space.counts[DEGREE_EXCESS] -= links.degrees[end] > cap
    space.counts[COST] -= cost_of(links.ends[slot, 0], links.ends[slot, 1], space.costs)
    if space.is_added[slot]:
        space.is_added[slot] = False
    else:
        space.removed[space.counts[REMOVED]] = key_of(slot, links)
        space.counts[REMOVED] += 1
    remove_edge(slot, links)


@kernel
def step_add(u: int, v: int, cap: int, subscriptions: VertexTable, links: Links, space: Workspace) -> int:
    """Add an edge, and return its slot."""
    space.counts[DEGREE_EXCESS] += int(links.degrees[u] >= cap) + int(links.degrees[v] >= cap)
    space.counts[COST] += cost_of(u, v, space.costs)
    return add_edge(min(u, v), max(u, v), subscriptions, links)


@kernel
def key_of(slot: int, links: Links) -> int:
    """The edge in a slot as u·|V| + v."""
    return int(np.int64(links.ends[slot, 0]) * len(links.degrees) + links.ends[slot, 1])


@wrapping_kernel
def random_number(state: npt.NDArray[np.uint64]) -> float:
    """Uniform on [0, 1): xorshift64* (Marsaglia 2003, Vigna 2016)."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return float((x * np.uint64(0x2545F4914F6CDD1D)) >> np.uint64(11)) / 9007199254740992.0


@kernel
def drop_redundant(most: int, cap: int, subscriptions: VertexTable, links: Links, space: Workspace) -> None:
    """Drop redundant edges, at most `most` and in random order; all marks of bridges must be current.

    Time O(|V_t| + links) for each topic of each edge dropped.
    """
    dropped = 0
    while links.counts[2] > 0 and dropped < most:
        slot = next_redundant(random_number(space.random), links)
        if slot < 0:
            continue
        dropped += 1
        one = links.first[slot]
        step_remove(slot, cap, links, space)
        while one >= 0:
            t = links.topic[one]
            touch(t, space)
            space.dirty[t] = True
            mark_bridges(t, subscriptions, links, space.work)
            one = links.following[one]


@kernel
def ruin_and_recreate(
    steps: int,
    parameters: SearchParameters,
    candidates: CandidateLists,
    subscriptions: VertexTable,
    links: Links,
    space: Workspace,
) -> tuple[float, int, int]:
    """Take `steps` steps from an overlay without redundant edges; all marks of bridges must be current.

    Returns the least cost, the length of the log at that step, and the number of steps taken, which is less than
    `steps` when `links` or the log are nearly full. The log starts empty.

    A step takes time O(|V_t| + links) for each topic of a removed edge, and O(Σ|T_v|) over the candidate edges of
    the nodes that it cuts off from the largest component of such a topic.
    """
    counts = space.counts
    counts[LOG] = 0
    width = space.width
    cost = counts[COST] * parameters.scale + parameters.penalty * counts[DEGREE_EXCESS]
    best, logged = cost, 0
    for step in range(steps):
        # A step must find room for all that it may add, as it cannot end half-way.
        if links.counts[0] == 0 or links.counts[0] + MOST_REMOVED * width > len(links.members):
            return best, logged, step
        if links.counts[1] < MOST_REMOVED * width * width:
            return best, logged, step
        _ruin(parameters.cap, subscriptions, links, space)
        _label_split_topics(subscriptions, links, space)
        _recreate(parameters, candidates, subscriptions, links, space)
        for t in space.touched[: counts[TOUCHED]]:
            if space.dirty[t]:
                mark_bridges(t, subscriptions, links, space.work)
        drop_redundant(len(links.members), parameters.cap, subscriptions, links, space)
        new_cost = counts[COST] * parameters.scale + parameters.penalty * counts[DEGREE_EXCESS]
        full = counts[LOG] + counts[REMOVED] + counts[ADDED] > len(space.log)
        chance = np.exp(min(0.0, cost - new_cost) / parameters.temperature)
        # The log leads from the start to the best overlay, so a step that does not fit into it is undone.
        if not full and (new_cost <= cost or random_number(space.random) < chance):
            cost = new_cost
            _accept(links, space)
            if cost < best:
                best, logged = cost, counts[LOG]
        else:
            _undo(parameters.cap, subscriptions, links, space)
        reset(space)
        if full:
            return best, logged, step
    return best, logged, steps


@kernel
def _ruin(cap: int, subscriptions: VertexTable, links: Links, space: Workspace) -> None:
    """Remove a random edge and up to three more: of the same node, or on a random walk over topics."""
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
            position = subscriptions.positions[first + int(random_number(state) * (last - first))]
        else:
            first, last = subscriptions.topic_offsets[topic], subscriptions.topic_offsets[topic + 1]
            position = first + int(random_number(state) * (last - first))
        slot, number, half = -1, 0, links.head[position]
        while half >= 0:
            number += 1
            if random_number(state) * number < 1:
                slot = links.edge[half >> 1]
            half = links.after[half]


@kernel
def _remove(slot: int, cap: int, links: Links, space: Workspace) -> int:
    """Remove an edge, mark the topics that it splits, and return one of its topics."""
    topic, number, one = -1, 0, links.first[slot]
    while one >= 0:
        t = links.topic[one]
        # The marks precede the step: two links that were no bridges may be a cut.
        if links.bridge[one] or space.is_touched[t]:
            space.split[t] = True
        if not links.bridge[one]:
            space.dirty[t] = True
        touch(t, space)
        number += 1
        if random_number(space.random) * number < 1:
            topic = t
        one = links.following[one]
    step_remove(slot, cap, links, space)
    return topic


@kernel
def _label_split_topics(subscriptions: VertexTable, links: Links, space: Workspace) -> None:
    """Label the components of split topics, 0 the largest, and list the nodes of the others."""
    label, counts = space.label, space.counts
    counts[CUT_OFF] = counts[EXCESS_COMPONENTS] = 0
    for t in space.touched[: counts[TOUCHED]]:
        if not space.split[t]:
            continue
        first, last = subscriptions.topic_offsets[t], subscriptions.topic_offsets[t + 1]
        label[first:last] = -1
        number, largest, most = 0, 0, 0
        for root in range(first, last):
            if label[root] < 0:
                size = _label_component(root, number, subscriptions, links, space)
                if size > most:
                    largest, most = number, size
                number += 1
        counts[EXCESS_COMPONENTS] += number - 1
        for p in range(first, last):
            label[p] = 0 if label[p] == largest else label[p] + 1
            if label[p] == 0:
                continue
            for v in subscriptions.topic_nodes[subscriptions.vertex_offsets[p] : subscriptions.vertex_offsets[p + 1]]:
                if not space.is_cut_off[v]:
                    space.is_cut_off[v] = True
                    space.cut_off[counts[CUT_OFF]] = v
                    counts[CUT_OFF] += 1


@kernel
def _label_component(root: int, number: int, subscriptions: VertexTable, links: Links, space: Workspace) -> int:
    """Label a component, and return the number of its subscribers."""
    label, queue, offsets = space.label, space.queue, subscriptions.vertex_offsets
    label[root], queue[0] = number, root
    head, tail, size = 0, 1, 0
    while head < tail:
        size += offsets[queue[head] + 1] - offsets[queue[head]]
        half = links.head[queue[head]]
        head += 1
        while half >= 0:
            p = links.target[half]
            if label[p] < 0:
                label[p], queue[tail] = number, p
                tail += 1
            half = links.after[half]
    return size


@kernel
def _recreate(
    parameters: SearchParameters, candidates: CandidateLists, subscriptions: VertexTable, links: Links, space: Workspace
) -> None:
    """Add edges of best contribution × weight ÷ cost until no topic is split, then reset the labels."""
    counts, n = space.counts, len(links.degrees)
    top = _list_candidates(parameters, candidates, subscriptions, links, space)
    while top >= 0 and counts[EXCESS_COMPONENTS] > 0:
        size, k = 0, space.top[top]
        space.top[top] = -1
        while k >= 0:
            space.bucket[size] = k
            size += 1
            k = space.chain[k]
        while size > 0 and counts[EXCESS_COMPONENTS] > 0:
            pick = int(random_number(space.random) * size)
            k = space.bucket[pick]
            size -= 1
            space.bucket[pick] = space.bucket[size]
            u, v = space.candidates[k] // n, space.candidates[k] % n
            # Since the edge was listed, its contribution can only have fallen and degrees only risen.
            gain = contribution(u, v, subscriptions, space.label)
            level = _level(gain, space.weights[k], u, v, parameters, links, space.levels)
            if gain > 0 and level == top:
                _join(u, v, parameters.cap, subscriptions, links, space)
            elif gain > 0:
                space.chain[k], space.top[level] = space.top[level], k
        top -= 1
    space.top[: top + 1] = -1
    for t in space.touched[: counts[TOUCHED]]:
        if space.split[t]:
            while counts[EXCESS_COMPONENTS] > 0 and _join_any(t, parameters.cap, subscriptions, links, space):
                pass
            space.label[subscriptions.topic_offsets[t] : subscriptions.topic_offsets[t + 1]] = 0
    for v in space.cut_off[: counts[CUT_OFF]]:
        space.is_cut_off[v] = False


@kernel
def _list_candidates(
    parameters: SearchParameters, candidates: CandidateLists, subscriptions: VertexTable, links: Links, space: Workspace
) -> int:
    """List the candidate edges that contribute by level, and return the highest level."""
    n, count, top = len(links.degrees), 0, -1
    for a in space.cut_off[: space.counts[CUT_OFF]]:
        for k in range(candidates.offsets[a], candidates.offsets[a + 1]):
            b = candidates.nodes[k]
            if b < a and space.is_cut_off[b]:
                continue
            gain = contribution(a, b, subscriptions, space.label)
            if gain == 0:
                continue
            space.candidates[count] = np.int64(min(a, b)) * n + max(a, b)
            space.weights[count] = candidates.weights[k] * (1 + NOISE * random_number(space.random))
            level = _level(gain, space.weights[count], a, b, parameters, links, space.levels)
            space.chain[count], space.top[level] = space.top[level], count
            top = max(top, level)
            count += 1
    return top


@kernel
def _level(gain: int, weight: float, u: int, v: int, parameters: SearchParameters, links: Links, levels: int) -> int:
    full = int(links.degrees[u] >= parameters.cap) + int(links.degrees[v] >= parameters.cap)
    return int(levels * gain * weight / (1 + parameters.penalty * full))


@kernel
def _join(u: int, v: int, cap: int, subscriptions: VertexTable, links: Links, space: Workspace) -> None:
    """Add an edge: its link is a bridge in a topic where it unites components; other topics become dirty."""
    slot, label = step_add(u, v, cap, subscriptions, links, space), space.label
    space.is_added[slot] = True
    space.added[space.counts[ADDED]] = slot
    space.counts[ADDED] += 1
    one = links.first[slot]
    while one >= 0:
        t = links.topic[one]
        touch(t, space)
        kept, other = label[links.target[2 * one]], label[links.target[2 * one + 1]]
        if kept == other:
            space.dirty[t] = True
        else:
            set_bridge(one, True, links)
            space.counts[EXCESS_COMPONENTS] -= 1
            for p in range(subscriptions.topic_offsets[t], subscriptions.topic_offsets[t + 1]):
                if label[p] == other:
                    label[p] = kept
        one = links.following[one]


@kernel
def _join_any(t: int, cap: int, subscriptions: VertexTable, links: Links, space: Workspace) -> bool:
    """Connect the component of a topic's first subscriber to another by a random edge; False if there is no other."""
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
    nodes, offsets = subscriptions.topic_nodes, subscriptions.vertex_offsets
    _join(nodes[offsets[inside]], nodes[offsets[outside]], cap, subscriptions, links, space)
    return True


@kernel
def _accept(links: Links, space: Workspace) -> None:
    counts = space.counts
    for key in space.removed[: counts[REMOVED]]:
        space.log[counts[LOG]] = key
        counts[LOG] += 1
    for slot in space.added[: counts[ADDED]]:
        if space.is_added[slot]:
            space.is_added[slot] = False
            space.log[counts[LOG]] = key_of(slot, links)
            counts[LOG] += 1


@kernel
def _undo(cap: int, subscriptions: VertexTable, links: Links, space: Workspace) -> None:
    counts, n = space.counts, len(links.degrees)
    for slot in space.added[: counts[ADDED]]:
        if space.is_added[slot]:
            step_remove(slot, cap, links, space)
    for key in space.removed[: counts[REMOVED]]:
        one = links.first[step_add(key // n, key % n, cap, subscriptions, links, space)]
        while one >= 0:
            # In a topic that is not dirty the step has removed bridges only.
            set_bridge(one, True, links)
            one = links.following[one]
    for t in space.touched[: counts[TOUCHED]]:
        if space.dirty[t]:
            mark_bridges(t, subscriptions, links, space.work)
    while links.counts[2] > 0:
        next_redundant(0.0, links)
