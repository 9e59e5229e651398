"""An overlay to which a greedy algorithm adds edges, and the contributions of the pairs of nodes to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ....instances.contract.arrays import Ids, Offsets
from ....instances.contract.overlay import Overlay
from ....instances.runtime.compiled import kernel
from ....instances.topics.instance import TopicInstance
from ..tie_breaking.ties import HIGHEST, RANDOM, TieOrder, candidate_of, rank_of, ranks_of
from .common_topics import BLOCK, MOST_COMMON, pairs_by_common_topics, pairs_sharing
from .interest import TopicComponents, join, singletons, unite

Edges = npt.NDArray[np.int64]
Degrees = npt.NDArray[np.int32]
Bounds = npt.NDArray[np.int32]
Groups = npt.NDArray[np.int32]
Apply = Callable[..., Iterable[Any]]

ANY_DEGREE = 2**31 - 1
_FEWEST_ROWS, _MOST_ROWS = 8, 2048  # counted at a time
_RECOUNT = 64  # subscriptions compared, for each of the instance, until the largest components are looked for again
_SAMPLE, _MOST_COMMON, _LISTED = 256, 16, 4  # nodes for an estimate of the pairs by common topics; pairs a subscription
_NO_EDGES = np.empty(0, np.int64)


class OverlayBuild(NamedTuple):
    """An overlay, and counters of the run that built it."""

    overlay: Overlay
    counters: Mapping[str, float | str] = MappingProxyType({})


class PartialOverlay:
    """An overlay that starts without edges; edges are added and never removed.

    Contributions only fall. For each node an upper bound on the contributions of its pairs with later nodes
    therefore stays valid, and only nodes whose bound reaches the current maximum are counted: no list of pairs is kept.

    `degrees`, shape (|V|,). `contributions`: of all pairs but those `used`. `initial_max_degree`: of the overlay
    that this one extends; 0 without one. `excess_components`: the number of components beyond one a topic; 0 means
    topic-connected. `evaluations`: how often the contribution of a single pair was computed: of listed ones, and
    again before an addition. `work`: further counters of the algorithm that adds edges.
    """

    def __init__(self, instance: TopicInstance, order: TieOrder, *, used: Edges = _NO_EDGES, threads: int = 1) -> None:
        self.instance, self.order = instance, order
        self.components = singletons(instance)
        self.degrees = np.zeros(instance.num_nodes, dtype=np.int32)
        self.initial_max_degree = 0
        self.excess_components = self._initial_excess = instance.num_subscriptions - instance.num_topics
        self.evaluations = 0
        self.work: dict[str, int] = {}
        self._of_threads = [contributions_to(self.components, used) for _ in range(threads)]
        self.contributions = self._of_threads[0]
        self._added: list[Edges] = []

    def start_from(self, group_of: Groups, degrees: Degrees, max_degree: int) -> None:
        """Start from part of a given overlay: the subscriptions of a group are connected, and nodes have degrees.

        `group_of` has a number for each subscription of ``node_topics``; below 0 stands for no group, and a group is
        within one topic. `max_degree` is that of the given overlay, whose edges are not among :attr:`edges`. Cost
        O(Σ|T_v| log |V|).
        """
        self.degrees += degrees
        self.initial_max_degree = max_degree
        self.excess_components -= _unite_groups(group_of, self.components)
        self._initial_excess = self.excess_components

    def bounds(self) -> Bounds:
        """An initial upper bound for each node: its number of topics."""
        return np.diff(self.instance.node_offsets).astype(np.int32)

    def add_frequent(self) -> int:
        """Add, from the highest on, every edge that contributes no less than few pairs of nodes have in common.

        Returns this contribution; afterwards all contribute less. The pairs with so many common topics are listed
        once, at most about 4 Σ|T_v| of them by an estimate from some nodes, which spares counting the rows for each of
        these levels. Where no number of common topics is rare, nothing is added. Cost O(Σ|T_v|) and that of
        :func:`.pairs_sharing`.
        """
        instance, c = self.instance, self.components
        relation = c.node_offsets, c.node_topics
        listed = np.zeros(instance.num_nodes, np.bool_)
        outside = eligible_nodes(self.degrees, ANY_DEGREE, c).outside
        listed[outside.nodes[: outside.offsets[-1]]] = True
        nodes = np.flatnonzero(listed).astype(np.int32)
        sample = np.arange(0, instance.num_nodes, -(-instance.num_nodes // _SAMPLE), dtype=np.int32)
        common = pairs_by_common_topics(sample, listed, _MOST_COMMON, c.topic_offsets, c.topic_nodes, *relation)
        few = np.cumsum(common[::-1])[::-1] * (instance.num_nodes / len(sample)) <= _LISTED * instance.num_subscriptions
        if not few.any():
            return ANY_DEGREE
        least = max(2, int(np.argmax(few)))

        every, of_listed = np.diff(c.topic_offsets), c.node_topics[np.repeat(listed, np.diff(c.node_offsets))]
        ours = np.bincount(of_listed, minlength=len(every))
        self.contributions.counted[0] += int((ours * (every - ours) + ours * (ours - 1) // 2).sum())
        with self._mapping() as apply:
            blocks, rest = np.split(nodes, range(BLOCK, len(nodes), BLOCK)), (listed, *relation, instance.num_topics)
            of_blocks = apply(lambda members: pairs_sharing(least, members, *rest), blocks)
            pairs, left = map(np.concatenate, zip(*of_blocks, strict=True))
        at, left = np.flatnonzero(left == MOST_COMMON), left.astype(np.int32)
        left[at] = self.bounds()[pairs[at] // instance.num_nodes]
        pairs = ranks_of(pairs, self.order)
        while (level := int(left.max(initial=0))) >= least:
            at = np.flatnonzero(left == level)
            ranks = np.sort(pairs[at])
            pairs[at] = ranks
            edges, left[at] = _add_sorted(ranks, level, self.degrees, ANY_DEGREE, c, self.order)
            self.record(edges, merged=level * len(edges))
            self.evaluations += len(at)
        return least

    def add_level(self, bounds: Bounds, level: int, below: int) -> None:
        """Add, in the order of ties, every edge that contributes `level`, while both its ends have degrees `below`.

        No such edge may contribute more; afterwards all contribute less, and `bounds` are lowered. Cost O(Σ|T_v|) and
        a row of contributions for each node whose bound is `level`; for random ties once more for every O(Σ|T_v|)
        edges.
        """
        eligible = eligible_nodes(self.degrees, below, self.components)
        add = self._add_at_random if self.order.rule == RANDOM else self._add_in_order
        add(eligible.nodes[bounds[eligible.nodes] >= level], level, bounds, eligible)
        np.minimum(bounds, level - 1, out=bounds)

    def add_best(self, bounds: Bounds, above: float) -> bool:
        """Add the best of all edges if it contributes more than `above`; returns whether it does.

        Lowers `bounds` that are too high. Cost as for :meth:`add_level`.
        """
        eligible = None
        while (level := int(bounds.max())) > above:
            eligible = eligible or eligible_nodes(self.degrees, ANY_DEGREE, self.components)
            rank = _best(level, bounds, eligible, self.contributions, self.order)
            if rank >= 0:
                self._add_sorted(np.array([rank]), level, ANY_DEGREE)
                self.evaluations += 1
                return True
        return False

    def record(self, edges: Edges, merged: int) -> None:
        """Record edges u·|V| + v that are in :attr:`components` already, and how many components they merged."""
        self._added.append(edges)
        self.excess_components -= merged

    @property
    def edges(self) -> Edges:
        """The edges as numbers u·|V| + v, in the order of their addition."""
        return np.concatenate(self._added) if self._added else _NO_EDGES

    def counters(self) -> dict[str, int]:
        """Edges added, components merged by them, evaluations, and subscriptions compared to count contributions."""
        return {
            "steps": len(self.edges),
            "merges": self._initial_excess - self.excess_components,
            "evaluations": self.evaluations,
            "counted": self._counted,
            **self.work,
        }

    def overlay(self) -> Overlay:
        n, edges = len(self.degrees), np.sort(self.edges)
        return Overlay(n, np.stack([edges // n, edges % n], axis=1).astype(np.int32))

    @property
    def _counted(self) -> int:
        return sum(int(each.counted[0]) for each in self._of_threads)

    def _add_in_order(self, nodes: Ids, level: int, bounds: Bounds, eligible: Eligible) -> None:
        """Count rows, several at a time on all threads, and add their edges in lexicographic order, or its reverse.

        Contributions only fall, so partners listed before an edge was added are candidates after it, and each is
        evaluated again. How many rows are counted at a time depends on the instance alone, not on threads: more while
        most candidates still contribute.
        """
        nodes = nodes[::-1] if self.order.rule == HIGHEST else nodes
        first, size, counted = 0, _FEWEST_ROWS, self._counted
        with self._mapping() as apply:
            while first < len(nodes):
                batch = nodes[first : first + size]
                first += len(batch)
                ranks = np.sort(np.concatenate(self._ranked(batch, level, bounds, eligible, apply)))
                added, evaluated = self._add_sorted(ranks, level, eligible.below)
                self.evaluations += evaluated
                size = min(2 * size, _MOST_ROWS) if evaluated <= 2 * added + size else max(size // 2, _FEWEST_ROWS)
                if self._counted - counted > _RECOUNT * self.instance.num_subscriptions:
                    counted = self._counted
                    eligible = eligible_nodes(self.degrees, eligible.below, self.components)

    def _add_at_random(self, nodes: Ids, level: int, bounds: Bounds, eligible: Eligible) -> None:
        """Count all rows, and add the edges of lowest rank; again, where there are more than fit into memory."""
        after, capacity = -1, 2**20 + 4 * self.instance.num_subscriptions
        with self._mapping() as apply:
            while True:
                lowest = _NO_EDGES
                for batch in np.split(nodes, range(_MOST_ROWS, len(nodes), _MOST_ROWS)):
                    ranks = np.concatenate([lowest, *self._ranked(batch, level, bounds, eligible, apply)])
                    lowest = np.sort(ranks[ranks > after])[:capacity]
                self._add_sorted(lowest, level, eligible.below)
                self.evaluations += len(lowest)
                if len(lowest) < capacity:
                    return
                after = int(lowest[-1])

    def _ranked(self, nodes: Ids, level: int, bounds: Bounds, eligible: Eligible, apply: Apply) -> list[Edges]:
        """The ranks, not sorted, of the edges from these nodes to later ones that contribute `level`."""

        def ranked(share: Ids, contributions: Contributions) -> Edges:
            return _ranks(share, level, bounds, eligible, contributions, self.order)

        return list(apply(ranked, np.array_split(nodes, len(self._of_threads)), self._of_threads))

    @contextmanager
    def _mapping(self) -> Iterator[Apply]:
        """A ``map`` over all threads."""
        if len(self._of_threads) == 1:
            yield map
        else:
            with ThreadPoolExecutor(len(self._of_threads)) as pool:
                yield pool.map

    def _add_sorted(self, ranks: Edges, level: int, below: int) -> tuple[int, int]:
        """Add the edges of sorted ranks that still contribute `level`; returns their number and the evaluations."""
        edges, left = _add_sorted(ranks, level, self.degrees, below, self.components, self.order)
        self.record(edges, merged=level * len(edges))
        return len(edges), int(np.count_nonzero(left >= 0))


@kernel
def _ranks(
    nodes: Ids, level: int, bounds: Bounds, eligible: Eligible, contributions: Contributions, order: TieOrder
) -> Edges:
    """The ranks of the pairs of each node with its partners; `bounds` of these nodes are lowered."""
    n, num, ranks = len(eligible.degrees), 0, np.empty(1024, np.int64)
    for u in nodes:
        if bounds[u] < level or eligible.degrees[u] >= eligible.below:
            continue
        row, bounds[u] = partners(u, level, eligible, contributions)
        if num + len(row) > len(ranks):
            longer = np.empty(2 * (num + len(row)), np.int64)
            longer[:num] = ranks[:num]
            ranks = longer
        for v in row:
            ranks[num] = rank_of(np.int64(u) * n + v, order)
            num += 1
    return ranks[:num]


@kernel
def _add_sorted(
    ranks: Edges, level: int, degrees: Degrees, below: int, components: TopicComponents, order: TieOrder
) -> tuple[Edges, Ids]:
    """Add, in order, every edge that still contributes `level`; returns these, and what each contributed before.

    It is 0 for those that were added, and -1 where the degree of an end is not below the given one.
    """
    n, c = len(degrees), components
    edges, num_edges, left = np.empty_like(ranks), 0, np.full(len(ranks), -1, np.int32)
    place, marked = np.full(len(c.topic_offsets), -1, np.int32), n - 1  # of a node's topics, which is no edge's first
    for k in range(len(ranks)):
        edge = candidate_of(ranks[k], order)
        u = edge // n
        v = edge - u * n
        if degrees[u] >= below or degrees[v] >= below:
            continue
        if u != marked:  # in the order of ties most edges have the first node of the one before
            for i in range(c.node_offsets[marked], c.node_offsets[marked + 1]):
                place[c.node_topics[i]] = -1
            for i in range(c.node_offsets[u], c.node_offsets[u + 1]):
                place[c.node_topics[i]] = c.positions[i]
            marked = u
        count = 0
        for i in range(c.node_offsets[v], c.node_offsets[v + 1]):
            own = place[c.node_topics[i]]
            count += own >= 0 and c.label[own] != c.label[c.positions[i]]
        left[k] = count
        if count == level:
            left[k] = 0
            join(u, v, components)
            degrees[u] += 1
            degrees[v] += 1
            edges[num_edges] = edge
            num_edges += 1
    return edges[:num_edges].copy(), left


@kernel
def _best(level: int, bounds: Bounds, eligible: Eligible, contributions: Contributions, order: TieOrder) -> int:
    """The lowest rank of an edge that contributes `level`, if none contributes more; -1 if there is none."""
    n, nodes, best = len(eligible.degrees), eligible.nodes, -1
    for step in range(len(nodes)):
        u = nodes[len(nodes) - 1 - step if order.rule == HIGHEST else step]
        if bounds[u] < level:
            continue
        row, bounds[u] = partners(u, level, eligible, contributions)
        for v in row:
            rank = rank_of(np.int64(u) * n + v, order)
            if best < 0 or rank < best:
                best = rank
        if best >= 0 and order.rule != RANDOM:
            break
    return best


@kernel
def _unite_groups(group_of: Groups, components: TopicComponents) -> int:
    """Connect the subscriptions of each group; returns the number of components merged."""
    first = np.full(len(group_of), -1, np.int64)
    count = 0
    for i in range(len(group_of)):
        group, position = group_of[i], components.positions[i]
        if group < 0:
            continue
        if first[group] < 0:
            first[group] = position
        elif components.label[position] != components.label[first[group]]:
            unite(first[group], position, components)
            count += 1
    return count


_LAST_EPOCH, _LAST_BYTE = 2**30, 255
_ROW_SHARE = 2**13  # bytes that are cleared in the time which a byte in place of an Id saves for a subscriber


class Contributions(NamedTuple):
    """The contribution of every pair u < v of nodes. The row of u is its pairs with later nodes."""

    components: TopicComponents
    used: Edges  # sorted pairs u·|V| + v that are no candidates
    counts: Ids  # ``counts[v] - epoch[0]``, if positive, is the contribution of v in the row being counted
    byte_counts: npt.NDArray[
        np.uint8
    ]  # the same with `epoch[1]` for long rows: more of them are in a processor's cache
    epoch: npt.NDArray[np.int64]
    row: Ids  # the nodes listed from a row
    counted: npt.NDArray[np.int64]  # shape (1,): the subscriptions compared so far to count rows


class Subscribers(NamedTuple):
    """Some of the subscribers of each topic, in the first ``offsets[-1]`` entries of the other arrays."""

    offsets: Offsets
    positions: Ids  # in ``topic_nodes``, sorted
    nodes: Ids


class Eligible(NamedTuple):
    """The nodes of a degree below a limit, among which edges may be added."""

    nodes: Ids  # sorted
    subscribers: Subscribers  # the eligible ones
    largest: Ids  # of each topic a position in its largest component
    outside: Subscribers  # the eligible ones that are not in that component
    degrees: Degrees  # of all nodes; some may have reached the limit since
    below: int  # the limit


def contributions_to(components: TopicComponents, used: Edges) -> Contributions:
    """The contributions to an overlay with these components. Cost O(|V|)."""
    n = len(components.node_offsets) - 1
    counts, epoch, counted = np.zeros(n, np.int32), np.zeros(2, np.int64), np.zeros(1, np.int64)
    return Contributions(components, used, counts, np.zeros(n, np.uint8), epoch, np.empty(n, np.int32), counted)


@kernel
def eligible_nodes(degrees: Degrees, below: int, components: TopicComponents) -> Eligible:
    """The nodes of a degree below the given one. Cost O(Σ|T_v|)."""
    c, nodes = components, np.flatnonzero(degrees < below).astype(np.int32)
    everyone, outside = _no_subscribers(c), _no_subscribers(c)
    _select(np.ones(len(c.topic_nodes), np.bool_), degrees, below, c, everyone)
    eligible = Eligible(nodes, everyone, np.zeros(len(c.topic_offsets) - 1, np.int32), outside, degrees, below)
    find_outside(eligible, c)
    return eligible


@kernel
def find_outside(eligible: Eligible, components: TopicComponents) -> None:
    """Find the largest component of each topic, and the eligible nodes outside. Cost O(Σ|T_v|)."""
    c, outside = components, np.zeros(len(components.topic_nodes), np.bool_)
    for topic in range(len(eligible.largest)):
        first, last = c.topic_offsets[topic], c.topic_offsets[topic + 1]
        best = first
        for p in range(first, last):
            if c.size[c.label[p]] > c.size[c.label[best]]:
                best = p
        eligible.largest[topic] = best
        for p in range(first, last):
            outside[p] = c.label[p] != c.label[best]
    _select(outside, eligible.degrees, eligible.below, c, eligible.outside)


@kernel
def _no_subscribers(components: TopicComponents) -> Subscribers:
    size = len(components.topic_nodes)
    return Subscribers(
        np.zeros(len(components.topic_offsets), np.int64), np.empty(size, np.int32), np.empty(size, np.int32)
    )


@kernel
def _select(
    wanted: npt.NDArray[np.bool_], degrees: Degrees, below: int, components: TopicComponents, selected: Subscribers
) -> None:
    num = 0
    for topic in range(len(selected.offsets) - 1):
        for p in range(components.topic_offsets[topic], components.topic_offsets[topic + 1]):
            if wanted[p] and degrees[components.topic_nodes[p]] < below:
                selected.positions[num], selected.nodes[num] = p, components.topic_nodes[p]
                num += 1
        selected.offsets[topic + 1] = num


@kernel
def partners(u: int, level: int, eligible: Eligible, contributions: Contributions) -> tuple[Ids, int]:
    """The later eligible nodes, in any order, with which an eligible node contributes `level`.

    No pair of eligible nodes may contribute more. Also returns an upper bound on the contributions of the row: `level`
    if it has a partner, else less. Cost O(Σ_{t∈T_u} |V_t|), or less where u is in the largest component.
    """
    n, num, c = len(contributions.counts), 0, contributions.components
    are_long = eligible.outside.offsets[-1] * _ROW_SHARE > n * len(eligible.largest)
    if are_long and c.node_offsets[u + 1] - c.node_offsets[u] <= _LAST_BYTE:
        row, most = _count(contributions.byte_counts, contributions.epoch[1:], u, level, eligible, contributions)
    else:
        row, most = _count(contributions.counts, contributions.epoch[:1], u, level, eligible, contributions)
    for v in row:
        if eligible.degrees[v] < eligible.below:
            row[num] = v
            num += 1
    row = row[:num]
    if len(contributions.used):
        num = 0
        for v in row:
            pair = np.int64(u) * n + v
            at = np.searchsorted(contributions.used, pair)
            if at == len(contributions.used) or contributions.used[at] != pair:
                row[num] = v
                num += 1
        row = row[:num]
    return row, most if len(row) else min(most, level - 1)


@kernel
def contributing(u: int, eligible: Eligible, contributions: Contributions) -> tuple[Ids, int]:
    """The later nodes with which u contributes at all, in any order, and a number.

    The contribution of such a node v is ``counts[v]`` minus the number, until the next row is counted. Cost as for
    :func:`partners`.
    """
    row, _ = _count(contributions.counts, contributions.epoch[:1], u, 1, eligible, contributions)
    c = contributions.components
    return row, contributions.epoch[0] - (c.node_offsets[u + 1] - c.node_offsets[u])


@kernel
def _count(
    counts: Any, epoch: npt.NDArray[np.int64], u: int, level: int, eligible: Eligible, contributions: Contributions
) -> tuple[Ids, int]:
    """The nodes that contribute `level`, in any order, and the maximum contribution, by counts in Ids or bytes.

    Where u is in the largest component of a topic, only the subscribers outside of it are counted. The inner loop is
    the innermost one of every greedy method: with signed indices or wider numbers it takes up to four times as long.
    """
    c, row, number = contributions.components, contributions.row, counts.dtype.type
    degree = c.node_offsets[u + 1] - c.node_offsets[u]
    if epoch[0] + degree > (_LAST_BYTE if counts.itemsize == 1 else _LAST_EPOCH):
        counts[:] = 0
        epoch[0] = 0
    # Earlier rows have left counts of at most `zero`.
    zero = number(epoch[0])
    target = number(epoch[0] + min(level, degree + 1))
    epoch[0] += degree
    num, most = 0, zero
    for i in range(c.node_offsets[u], c.node_offsets[u + 1]):
        topic, p = c.node_topics[i], c.positions[i]
        own = c.label[p]
        there = eligible.outside if own == c.label[eligible.largest[topic]] else eligible.subscribers
        first, last = there.offsets[topic], there.offsets[topic + 1]
        first += np.searchsorted(there.positions[first:last], p, side="right")
        positions, nodes = there.positions[first:last], there.nodes[first:last]
        contributions.counted[0] += len(positions)
        for k in range(len(positions)):
            v = np.uint32(nodes[k])
            apart = number(c.label[np.uint32(positions[k])] != own)
            count = number(max(counts[v], zero) + apart)
            counts[v] = count
            most = max(most, count)
            if apart & (count == target):
                row[num] = nodes[k]
                num += 1
    return row[:num], int(most) - int(zero)
