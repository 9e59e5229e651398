"""Row weighting: local search that exchanges edges at a fixed number while topics are disconnected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ....heuristics.topics.local_search.ruin_and_recreate import random_number
from ....instances.contract.arrays import Ids, Offsets
from ....instances.contract.compiled import kernel
from ....instances.contract.overlay import Overlay
from ....instances.contract.run import Clock
from ..relaxation.candidate_edges import CandidateEdges, indices_of, keys_of

Integers = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Random = npt.NDArray[np.uint64]
ENTRIES_A_STEP = 4_000  # of arrays, that this search may read for each step of ruin and recreate
_PREFERENCE = 0.1
_STEPS = 100_000  # without success
_WORK_A_CALL = 10_000_000
SIZE, SPLIT, STEPS, WORK, LAST = range(5)
# Lists of edges, links and split topics are in no order; a removed item is replaced by the last. −1 stands for none.
_TOPIC = np.dtype(
    [
        ("subscriber", np.int64),  # the first one
        ("link", np.int64),  # the first one
        ("weight", np.int64),
        ("used", np.int64),  # the number of links that are in the overlay
        ("components", np.int64),
        ("split", np.int64),  # an item in the list of topics of several components
        ("index", np.int64),  # of the topic in that list
    ]
)
_EDGE = np.dtype(
    [
        ("link", np.int64),  # the first one in the list by edge
        ("preference", np.float64),
        ("gain", np.int64),  # the weight of the topics in which it connects two components
        ("loss", np.int64),  # the weight of the topics in which it is a bridge
        ("changed", np.int64),  # the step in which it was added or removed
        ("member", np.int64),  # an item in the list of the overlay's edges
        ("index", np.int64),  # of the edge in that list
    ]
)
_LINK = np.dtype(
    [
        ("edge", np.int32),
        ("topic", np.int32),
        ("a", np.int32),  # its ends in V_t
        ("b", np.int32),
        ("used", np.int32),  # an item in the list of the topic's links that are in the overlay
        ("index", np.int32),  # of the link in that list
        ("bridge", np.int32),  # 0 or 1
        ("by_edge", np.int32),  # an item in the list of links by edge
    ]
)


class _Scratch(NamedTuple):
    head: Ids
    entered: Ids
    low: Ids
    arc: Ids
    parent_arc: Ids
    label: Ids
    target: Ids  # two arcs for each link of a topic
    next: Ids


class _Space(NamedTuple):
    """The overlay, a set of candidate edges, with the components and bridges of every topic."""

    topics: Any  # one more than there are
    edges: Any  # one more than there are
    links: Any  # by topic
    component: Ids  # of each subscriber, by topic
    scratch: _Scratch
    counts: Integers  # by SIZE, SPLIT, STEPS, WORK, LAST: the edge changed last
    random: Random


class RowWeighting:
    """A local search for overlays of fewer edges, whatever their degrees.

    An edge is removed that is a bridge in topics of least weight, and one added that connects components of a
    disconnected topic and of most weight in all; of equals the one changed longest ago. Then the weight of each topic
    that is still disconnected grows by 1. This is row weighting for set covers (Gao, Weise and Li 2015), with the
    number of components beyond one in place of rows that are not covered. After 100,000 steps without success,
    then 200,000 and so on, all weights are 1 again, and the search begins at its best overlay.

    Parameters
    ----------
    edges : CandidateEdges
    values : float64 array, one a candidate edge
        Of an LP solution: gains and losses count :func:`preferred` times.
    start : Overlay
        Its edges with a common topic are candidates.
    seed : int

    Notes
    -----
    A step takes O(links of the overlay in the topics of both edges, and all links in those that are disconnected).
    Memory O(links of the candidates).
    """

    def __init__(self, edges: CandidateEdges, values: Reals, start: Overlay, seed: int) -> None:
        self._edges, self._best, self._random = edges, start, np.array([2 * seed + 1], np.uint64)
        self._preference = preferred(values)
        self._order = np.argsort(edges.keys)
        self._begin()

    def _begin(self) -> None:
        self._space = _space(self._edges, self._preference, self._random)
        keys = self._edges.keys[self._order]
        _begin(self._order[indices_of(keys_of(self._best), keys)], self._space)

    def overlays(self, below: int, clock: Clock, work: int) -> Iterator[Overlay]:
        """Overlays of fewer and fewer edges than `below`, until the time or the work is over.

        The unit of work is an entry of an array read, some 4 ns.
        """
        patience, last = _STEPS, int(self._space.counts[STEPS]) + _STEPS
        while below > 1 and work > 0 and not clock.passed:
            done = _exchange(below - 1, min(work, _WORK_A_CALL), last, self._space)
            counts = self._space.counts
            work -= max(1, counts[WORK])
            counts[WORK] = 0
            if done:
                members = self._space.edges["member"][: counts[SIZE]]
                ends = np.stack([self._edges.u[members], self._edges.v[members]], axis=1)
                self._best = Overlay.from_edges(self._best.num_nodes, ends)
                below, patience, last = int(counts[SIZE]), _STEPS, int(counts[STEPS]) + _STEPS
                yield self._best
            elif counts[STEPS] >= last:
                patience = last = 2 * patience
                self._begin()


def preferred(values: Reals) -> Reals:
    """The weights of edges with these LP values in local search: 0.9 + 0.1 × min(value, 1)."""
    return 1 - _PREFERENCE + _PREFERENCE * np.minimum(values, 1)


def _space(candidates: CandidateEdges, preference: Reals, random: Random) -> _Space:
    offsets, of_topic = candidates.instance.topic_offsets, candidates.links
    by_edge, links_by_edge = candidates.links_by_edge
    topics, edges = np.zeros(len(offsets), _TOPIC), np.zeros(len(by_edge), _EDGE)
    links = np.zeros(len(of_topic.edge), _LINK)
    topics["subscriber"], topics["link"] = offsets, of_topic.offsets
    topics["weight"], topics["components"], topics["index"] = 1, 1, -1
    edges["link"], edges["preference"][:-1], edges["index"] = by_edge, preference, -1
    sizes = np.diff(of_topic.offsets)
    links["edge"], links["a"], links["b"], links["by_edge"] = of_topic.edge, of_topic.a, of_topic.b, links_by_edge
    links["topic"], links["index"] = np.repeat(np.arange(len(sizes)), sizes), -1
    return _Space(
        topics,
        edges,
        links,
        np.zeros(offsets[-1], np.int32),
        _Scratch(
            *(np.zeros(int(np.diff(offsets).max(initial=0)), np.int32) for _ in range(6)),
            *(np.zeros(2 * int(sizes.max(initial=0)), np.int32) for _ in range(2)),
        ),
        np.array([0, 0, 0, 0, -1], np.int64),
        random,
    )


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
    counts = space.counts
    while counts[SPLIT] or counts[SIZE] > size:
        if counts[WORK] >= work or counts[STEPS] >= last:
            return False
        if counts[SIZE] >= size:
            e = _least_loss(space)
        else:
            counts[STEPS] += 1
            e = _most_gain(space.topics[int(random_number(space.random) * counts[SPLIT])].split, space)
        counts[LAST] = e
        if e < 0:
            continue
        space.edges[e].changed = counts[STEPS]
        _change(e, space)
        if space.edges[e].index >= 0:
            for i in range(counts[SPLIT]):
                _raise_weight(space.topics[i].split, space)
    return True


@kernel
def _least_loss(space: _Space) -> int:
    """The edge of the overlay to remove."""
    counts, edges = space.counts, space.edges
    counts[WORK] += counts[SIZE]
    best, least, oldest = -1, np.inf, 0
    for i in range(counts[SIZE]):
        e = edges[i].member
        loss = edges[e].loss * edges[e].preference
        if e != counts[LAST] and (loss < least or (loss == least and edges[e].changed < oldest)):
            best, least, oldest = e, loss, edges[e].changed
    return best


@kernel
def _most_gain(t: int, space: _Space) -> int:
    """The edge between two components of topic t to add."""
    counts, edges, links, component = space.counts, space.edges, space.links, space.component
    base, begin, end = space.topics[t].subscriber, space.topics[t].link, space.topics[t + 1].link
    counts[WORK] += end - begin
    best, most, oldest = -1, 0.0, 0
    for k in range(begin, end):
        if component[base + links[k].a] != component[base + links[k].b]:
            e = links[k].edge
            gain = edges[e].gain * edges[e].preference
            if e != counts[LAST] and (gain > most or (gain == most and edges[e].changed < oldest)):
                best, most, oldest = e, gain, edges[e].changed
    return best


@kernel
def _raise_weight(t: int, space: _Space) -> None:
    edges, links, component = space.edges, space.links, space.component
    base, begin, end = space.topics[t].subscriber, space.topics[t].link, space.topics[t + 1].link
    space.topics[t].weight += 1
    space.counts[WORK] += end - begin
    for k in range(begin, end):
        if component[base + links[k].a] != component[base + links[k].b]:
            edges[links[k].edge].gain += 1
    for i in range(begin, begin + space.topics[t].used):
        edges[links[links[i].used].edge].loss += links[links[i].used].bridge


@kernel
def _change(e: int, space: _Space) -> None:
    """Add an edge that is not in the overlay, or remove one that is."""
    _list(e, space)
    for i in range(space.edges[e].link, space.edges[e + 1].link):
        _refresh(space.links[space.links[i].by_edge].topic, space)


@kernel
def _list(e: int, space: _Space) -> None:
    """Put an edge and its links into the lists of the overlay, or take them out."""
    counts, edges, links, topics = space.counts, space.edges, space.links, space.topics
    adds = edges[e].index < 0
    if adds:
        edges[e].index = counts[SIZE]
        edges[counts[SIZE]].member = e
        counts[SIZE] += 1
    else:
        counts[SIZE] -= 1
        last = edges[counts[SIZE]].member
        edges[edges[e].index].member = last
        edges[last].index = edges[e].index
        edges[e].index = -1
    for i in range(edges[e].link, edges[e + 1].link):
        k = links[i].by_edge
        t = links[k].topic
        first = topics[t].link
        if adds:
            links[k].index = first + topics[t].used
            links[links[k].index].used = k
            topics[t].used += 1
        else:
            edges[e].loss -= links[k].bridge * topics[t].weight
            links[k].bridge = 0
            topics[t].used -= 1
            final = links[first + topics[t].used].used
            links[links[k].index].used = final
            links[final].index = links[k].index
            links[k].index = -1


@kernel
def _refresh(t: int, space: _Space) -> None:
    """The components and bridges of a topic after a change, with the gains and losses that follow."""
    counts, edges, links, topics, component = space.counts, space.edges, space.links, space.topics, space.component
    label, target = space.scratch.label, space.scratch.target
    base, begin, end, weight = topics[t].subscriber, topics[t].link, topics[t + 1].link, topics[t].weight
    used, size = topics[t].used, topics[t + 1].subscriber - base
    components, before = _search_depth_first(size, begin, used, links, space.scratch), topics[t].components
    counts[WORK] += size + 2 * used
    if components > 1 or before > 1:
        counts[WORK] += end - begin
        for k in range(begin, end):
            a, b = links[k].a, links[k].b
            apart = label[a] != label[b]
            if apart != (component[base + a] != component[base + b]):
                edges[links[k].edge].gain += weight if apart else -weight
        for v in range(size):
            component[base + v] = label[v]
    for i in range(used):
        k = links[begin + i].used
        bridge = np.int32(target[2 * i] < 0)
        edges[links[k].edge].loss += weight * (bridge - links[k].bridge)
        links[k].bridge = bridge
    topics[t].components = components
    if components > 1 and before <= 1:
        topics[t].index = counts[SPLIT]
        topics[counts[SPLIT]].split = t
        counts[SPLIT] += 1
    elif components <= 1 and before > 1:
        counts[SPLIT] -= 1
        last = topics[counts[SPLIT]].split
        topics[topics[t].index].split = last
        topics[last].index = topics[t].index
        topics[t].index = -1


@kernel
def _search_depth_first(size: int, begin: int, used: int, links: Any, scratch: _Scratch) -> int:
    """Label the components of a topic; the bridges get negative targets (Tarjan 1974). Returns their number."""
    head, entered, low, current, parent_arc, label, target, following = scratch
    for v in range(size):
        head[v] = entered[v] = -1
    for i in range(used):
        k = links[begin + i].used
        a, b = links[k].a, links[k].b
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
