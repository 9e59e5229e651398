"""Row weighting: local search that exchanges edges at fixed limits while topics are disconnected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ....heuristics.topics.local_search.ruin_and_recreate import random_number
from ....instances.contract.arrays import Ids, Offsets, Reals, offsets_of
from ....instances.contract.overlay import Overlay
from ....instances.runtime.compiled import kernel
from ....instances.runtime.run import Clock
from ..relaxation.topic_rows import CandidateEdges, indices_of, keys_of

Table = npt.NDArray[Any]  # of int32 or int64
ENTRIES_A_STEP = 4_000  # of arrays, that this search may read for each step of ruin and recreate
_PREFERENCE = 0.1
_STEPS = 100_000  # without success
_FIRST_CALL, _WORK_A_CALL = 5_000, 10_000_000
SIZE, SPLIT, STEPS, WORK, LAST, CAP, OVER = range(7)
# The columns of the tables. The first two hold a list in no order: its items, and the index of each of them in it, −1
# if it is no item; a removed item is replaced by the last. Of topics, those of several components; of edges, those of
# the overlay; of links, those of the overlay's edges, topic by topic from its first link on.
ITEM, INDEX = 0, 1
SUBSCRIBER, FIRST, WEIGHT, USED, COMPONENTS = range(2, 7)  # of topics: the first two as offsets, then links in use
LINKS, GAIN, LOSS, CHANGED = range(2, 6)  # of edges: an offset by edge; weights of the topics; the step
EDGE, TOPIC, A, B, BRIDGE, BY_EDGE = range(2, 8)  # of links: A and B are its ends in V_t, the last lists links by edge
AROUND, DEGREE, LEAST, AT = range(4)  # of nodes: an offset in `around`; the least loss of an edge, computed at a step


class _Space(NamedTuple):
    """The overlay, a set of candidate edges, with the components and bridges of every topic.

    The gain of an edge is the weight of the topics in which it connects two components, its loss that of those in
    which it is a bridge.
    """

    topics: Table  # one row more than there are
    edges: Table  # one row more than there are
    ends: Ids  # of each edge
    preference: Reals  # of each edge
    links: Ids  # a table, by topic
    nodes: Table  # one row more than there are
    around: Ids  # the edges at each node
    over: Ids  # nodes that may be above the cap, as often as they are
    component: Ids  # of each subscriber, by topic
    scratch: Ids  # shape (6, the most subscribers of a topic)
    arcs: Ids  # shape (2, twice the most links of a topic): targets, and the next arc of the same tail
    counts: Table  # by SIZE, SPLIT, STEPS, WORK, LAST: the edge changed last, CAP, OVER
    random: npt.NDArray[np.uint64]


class RowWeighting:
    """A local search for overlays of fewer edges, whatever their degrees, or of smaller maximum degree.

    An edge is removed that is a bridge in topics of least weight, and one added that connects components of a
    disconnected topic and of most weight in all; of equals the one changed longest ago. Then the weight of each topic
    that is still disconnected grows by 1. This is row weighting for set covers (Gao, Weise and Li 2015), with the
    number of components beyond one in place of rows that are not covered. After 100,000 steps without success, then
    200,000 and so on, all weights are 1 again, and the search begins at its best overlay. Gains and losses of edges
    count :func:`preferred` times, by LP `values`, one a candidate.

    Under a cap on degrees, an edge is removed at each node that another one has raised above the cap, and what that
    would lose counts against the gain of the other one.

    A step takes O(links of the overlay in the topics of both edges, and all links in those that are disconnected).
    Memory O(links of the candidates).
    """

    def __init__(
        self, edges: CandidateEdges, values: Reals, start: Overlay, seed: int, *, cap: int | None = None
    ) -> None:
        self._edges, self._best, self._random = edges, start, np.array([2 * seed + 1], np.uint64)
        self._preference = preferred(values)
        self._order, self._cap = np.argsort(edges.keys), start.num_nodes if cap is None else cap
        self._begin()

    def _begin(self) -> None:
        self._space = _space(self._edges, self._preference, self._random)
        keys = self._edges.keys[self._order]
        _begin(self._order[indices_of(keys_of(self._best), keys)], self._space)
        self._limit(self._cap)

    def _limit(self, cap: int) -> None:
        self._cap, space = cap, self._space
        excess = np.maximum(space.nodes[:-1, DEGREE] - cap, 0)
        space.counts[CAP], space.counts[OVER] = cap, excess.sum()
        space.over[: space.counts[OVER]] = np.repeat(np.arange(len(excess)), excess)

    def overlays(
        self, below: int, clock: Clock, work: int, least: float = 1, *, of_degree: bool = False
    ) -> Iterator[Overlay]:
        """Overlays of fewer and fewer edges than `below`, until the time or the work is over or one has `least`.

        `of_degree`: of smaller and smaller maximum degree, with redundant edges. The unit of work is an entry of an
        array read, some 4 ns.
        """
        patience, last, at_once = _STEPS, int(self._space.counts[STEPS]) + _STEPS, _FIRST_CALL
        if of_degree:
            self._limit(below - 1)
        while below > max(1, least) and work > 0 and not clock.passed:
            done = _exchange(len(self._edges) if of_degree else below - 1, min(work, at_once), last, self._space)
            counts, at_once = self._space.counts, min(2 * at_once, _WORK_A_CALL)
            work -= max(1, counts[WORK])
            counts[WORK] = 0
            if done:
                self._best = self._edges.overlay(self._space.edges[: counts[SIZE], ITEM])
                below, patience, last = int(counts[SIZE]), _STEPS, int(counts[STEPS]) + _STEPS
                if of_degree:
                    below = self._best.max_degree
                    self._limit(below - 1)
                yield self._best
            elif counts[STEPS] >= last:
                patience = last = 2 * patience
                self._begin()


def preferred(values: Reals) -> Reals:
    """The weights of edges with these LP values in local search: 0.9 + 0.1 × min(value, 1)."""
    return 1 - _PREFERENCE + _PREFERENCE * np.minimum(values, 1)


def _space(candidates: CandidateEdges, preference: Reals, random: npt.NDArray[np.uint64]) -> _Space:
    offsets, of_topic = candidates.instance.topic_offsets, candidates.links
    by_edge, links_by_edge = candidates.links_by_edge
    sizes = np.diff(of_topic.offsets)
    topics, edges = np.zeros((len(offsets), 7), np.int64), np.zeros((len(by_edge), 6), np.int64)
    links = np.zeros((len(of_topic.edge), 8), np.int32)
    topics[:, INDEX] = edges[:, INDEX] = links[:, INDEX] = edges[:, CHANGED] = -1
    topics[:, SUBSCRIBER], topics[:, FIRST], topics[:, WEIGHT], topics[:, COMPONENTS] = offsets, of_topic.offsets, 1, 1
    edges[:, LINKS], links[:, TOPIC] = by_edge, np.repeat(np.arange(len(sizes)), sizes)
    for column, values in ((EDGE, of_topic.edge), (A, of_topic.a), (B, of_topic.b), (BY_EDGE, links_by_edge)):
        links[:, column] = values
    n, ends = candidates.instance.num_nodes, np.stack([candidates.u, candidates.v], axis=1)
    nodes, around = np.zeros((n + 1, 4), np.int64), np.argsort(ends.ravel(), kind="stable") // 2
    nodes[:, AROUND], nodes[:, AT] = offsets_of(ends.ravel(), n), -1
    over = np.zeros(ends.size + 2, np.int32)
    component, counts = np.zeros(offsets[-1], np.int32), np.array([0, 0, 0, 0, -1, n, 0], np.int64)
    scratch = np.zeros((6, int(np.diff(offsets).max(initial=0))), np.int32)
    arcs = np.zeros((2, 2 * int(sizes.max(initial=0))), np.int32)
    near = around.astype(np.int32)
    return _Space(topics, edges, ends, preference, links, nodes, near, over, component, scratch, arcs, counts, random)


@kernel
def _begin(chosen: Offsets, space: _Space) -> None:
    """Add edges to the empty overlay."""
    for e in chosen:
        _list(e, space)
    for t in range(len(space.topics) - 1):
        _refresh(t, space)


@kernel
def _exchange(size: int, work: int, last: int, space: _Space) -> bool:
    """Exchange edges until at most `size` connect all topics; returns whether they do within the work and steps."""
    counts, topics, nodes = space.counts, space.topics, space.nodes
    while counts[SPLIT] or counts[SIZE] > size or counts[OVER]:
        if counts[WORK] >= work or counts[STEPS] >= last:
            return False
        capping = counts[OVER] > 0
        if capping:
            counts[OVER] -= 1
            v = space.over[counts[OVER]]
            if nodes[v, DEGREE] <= counts[CAP]:
                continue
            e = _least_loss(space.around[nodes[v, AROUND] : nodes[v + 1, AROUND]], space)
        elif counts[SIZE] >= size:
            e = _least_loss(space.edges[: counts[SIZE], ITEM], space)
        else:
            counts[STEPS] += 1
            e = _most_gain(topics[int(random_number(space.random) * counts[SPLIT]), ITEM], space)
        counts[LAST] = e
        if e < 0:
            counts[STEPS] += 1 if _is_capped(space) else 0
            continue
        space.edges[e, CHANGED] = counts[STEPS]
        _list(e, space)
        for i in range(space.edges[e, LINKS], space.edges[e + 1, LINKS]):
            _refresh(space.links[space.links[i, BY_EDGE], TOPIC], space)
        if counts[OVER] == 0 and (capping or space.edges[e, INDEX] >= 0):
            for i in range(counts[SPLIT]):
                _raise_weight(topics[i, ITEM], space)
    return True


@kernel
def _least_loss(among: Table, space: _Space) -> int:
    """The edge of the overlay to remove: not the last one changed nor, under a cap, one that was added at this step."""
    counts, edges, tabu = space.counts, space.edges, space.counts[STEPS] if _is_capped(space) else -2
    counts[WORK] += len(among)
    best, least, oldest = -1, np.inf, 0
    for item in among:
        e = int(item)
        if edges[e, INDEX] < 0 or e == counts[LAST] or edges[e, CHANGED] == tabu:
            continue
        loss, changed = edges[e, LOSS] * space.preference[e], max(edges[e, CHANGED], 0)
        if loss < least or (loss == least and changed < oldest):
            best, least, oldest = e, loss, changed
    return best


@kernel
def _most_gain(t: int, space: _Space) -> int:
    """The edge between two components of topic t to add: not the last one changed nor, under a cap, a step before."""
    counts, edges, links, component = space.counts, space.edges, space.links, space.component
    base, begin, end = space.topics[t, SUBSCRIBER], space.topics[t, FIRST], space.topics[t + 1, FIRST]
    counts[WORK] += end - begin
    capped = _is_capped(space)
    tabu = counts[STEPS] - 1 if capped else -2
    best, most, oldest = -1, -np.inf, 0
    for k in range(begin, end):
        if component[base + links[k, A]] != component[base + links[k, B]]:
            e = int(links[k, EDGE])
            gain = edges[e, GAIN] * space.preference[e]
            if capped:
                gain -= _loss_at(space.ends[e, 0], space) + _loss_at(space.ends[e, 1], space)
            changed = max(edges[e, CHANGED], 0)
            allowed = e != counts[LAST] and edges[e, CHANGED] != tabu
            if allowed and (gain > most or (gain == most and changed < oldest)):
                best, most, oldest = e, gain, changed
    return best


@kernel
def _is_capped(space: _Space) -> bool:
    return bool(space.counts[CAP] < len(space.nodes) - 1)


@kernel
def _loss_at(v: int, space: _Space) -> int:
    """What the removal of an edge at a node loses at least, 0 below the cap. Computed once a step."""
    counts, nodes, edges = space.counts, space.nodes, space.edges
    if nodes[v, DEGREE] < counts[CAP]:
        return 0
    if nodes[v, AT] != counts[STEPS]:
        nodes[v, AT] = counts[STEPS]
        e = _least_loss(space.around[nodes[v, AROUND] : nodes[v + 1, AROUND]], space)
        nodes[v, LEAST] = edges[e, LOSS] if e >= 0 else 0
    return int(nodes[v, LEAST])


@kernel
def _raise_weight(t: int, space: _Space) -> None:
    edges, links, component = space.edges, space.links, space.component
    base, begin, end = space.topics[t, SUBSCRIBER], space.topics[t, FIRST], space.topics[t + 1, FIRST]
    space.topics[t, WEIGHT] += 1
    space.counts[WORK] += end - begin
    for k in range(begin, end):
        if component[base + links[k, A]] != component[base + links[k, B]]:
            edges[links[k, EDGE], GAIN] += 1
    for i in range(begin, begin + space.topics[t, USED]):
        edges[links[links[i, ITEM], EDGE], LOSS] += links[links[i, ITEM], BRIDGE]


@kernel
def _append(x: int, end: int, table: Table) -> None:
    """Append an item to a list that ends before row `end`."""
    table[end, ITEM], table[x, INDEX] = x, end


@kernel
def _take_out(x: int, last: int, table: Table) -> None:
    """Take an item out of a list whose last row is `last`."""
    index, moved = table[x, INDEX], table[last, ITEM]
    table[index, ITEM], table[moved, INDEX] = moved, index
    table[x, INDEX] = -1


@kernel
def _list(e: int, space: _Space) -> None:
    """Put an edge and its links into the lists of the overlay, or take them out."""
    counts, edges, links, topics = space.counts, space.edges, space.links, space.topics
    adds = edges[e, INDEX] < 0
    if adds:
        _append(e, counts[SIZE], edges)
        counts[SIZE] += 1
    else:
        counts[SIZE] -= 1
        _take_out(e, counts[SIZE], edges)
    for v in space.ends[e]:
        space.nodes[v, DEGREE] += 1 if adds else -1
        if adds and space.nodes[v, DEGREE] > counts[CAP]:
            space.over[counts[OVER]] = v
            counts[OVER] += 1
    for i in range(edges[e, LINKS], edges[e + 1, LINKS]):
        k = links[i, BY_EDGE]
        t = links[k, TOPIC]
        if adds:
            _append(k, topics[t, FIRST] + topics[t, USED], links)
            topics[t, USED] += 1
        else:
            edges[e, LOSS] -= links[k, BRIDGE] * topics[t, WEIGHT]
            links[k, BRIDGE] = 0
            topics[t, USED] -= 1
            _take_out(k, topics[t, FIRST] + topics[t, USED], links)


@kernel
def _refresh(t: int, space: _Space) -> None:
    """The components and bridges of a topic after a change, with the gains and losses that follow."""
    counts, edges, links, topics, component = space.counts, space.edges, space.links, space.topics, space.component
    label, target = space.scratch[5], space.arcs[0]
    base, begin, end, weight = topics[t, SUBSCRIBER], topics[t, FIRST], topics[t + 1, FIRST], topics[t, WEIGHT]
    used, size, before = topics[t, USED], topics[t + 1, SUBSCRIBER] - base, topics[t, COMPONENTS]
    components = _search_depth_first(size, begin, used, space)
    counts[WORK] += size + 2 * used
    if components > 1 or before > 1:
        counts[WORK] += end - begin
        for k in range(begin, end):
            a, b = links[k, A], links[k, B]
            apart = label[a] != label[b]
            if apart != (component[base + a] != component[base + b]):
                edges[links[k, EDGE], GAIN] += weight if apart else -weight
        for v in range(size):
            component[base + v] = label[v]
    for i in range(used):
        k = links[begin + i, ITEM]
        bridge = np.int32(target[2 * i] < 0)
        edges[links[k, EDGE], LOSS] += weight * (bridge - links[k, BRIDGE])
        links[k, BRIDGE] = bridge
    topics[t, COMPONENTS] = components
    if components > 1 and before <= 1:
        _append(t, counts[SPLIT], topics)
        counts[SPLIT] += 1
    elif components <= 1 and before > 1:
        counts[SPLIT] -= 1
        _take_out(t, counts[SPLIT], topics)


@kernel
def _search_depth_first(size: int, begin: int, used: int, space: _Space) -> int:
    """Label the components of a topic; the bridges get negative targets (Tarjan 1974). Returns their number."""
    links, scratch, target, following = space.links, space.scratch, space.arcs[0], space.arcs[1]
    head, entered, low, current, parent_arc, label = (
        scratch[0], scratch[1], scratch[2], scratch[3], scratch[4], scratch[5],
    )  # fmt: skip
    for v in range(size):
        head[v] = entered[v] = -1
    for i in range(used):
        k = links[begin + i, ITEM]
        a, b = links[k, A], links[k, B]
        target[2 * i], following[2 * i], head[a] = b, head[a], 2 * i
        target[2 * i + 1], following[2 * i + 1], head[b] = a, head[b], 2 * i + 1
    components = time = 0
    for root in range(size):
        if entered[root] >= 0:
            continue
        entered[root] = low[root] = time
        time += 1
        current[root], parent_arc[root], label[root] = head[root], -1, components
        v = root
        while True:
            arc = current[v]
            if arc >= 0:
                current[v] = following[arc]
                w = target[arc]
                if entered[w] < 0:
                    entered[w] = low[w] = time
                    time += 1
                    current[w], parent_arc[w], label[w] = head[w], arc, components
                    v = w
                elif arc != parent_arc[v] ^ 1:
                    low[v] = min(low[v], entered[w])
            elif v == root:
                break
            else:
                back = parent_arc[v] ^ 1
                parent = target[back]
                low[parent] = min(low[parent], low[v])
                if low[v] > entered[parent]:
                    target[back & ~1] = -1 - target[back & ~1]
                v = parent
        components += 1
    return components
