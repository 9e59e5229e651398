"""Greedy Merge by the data structure of P1, Algorithms 1-3 (LINKCONTRIB), with its work counted line by line."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...heuristics.topics.kernels.interest import TopicComponents, singletons, unite
from ...instances.runtime.compiled import kernel
from ...instances.topics.instance import TopicInstance

_PAIRS, _COMPARISONS, _LISTED, _EDGES, _TOPICS, _UPDATES, _MEMBERS, _LOWERED = range(8)
_NONE = -1


class LineCounts(NamedTuple):
    """How often the lines of Algorithms 2 and 3 are executed."""

    pairs: int  # Algorithm 2, line 4: pairs of nodes
    comparisons: int  # line 5: of two topics, while the sorted lists of two nodes are merged
    listed: int  # line 7: pairs added to a list
    edges: int  # Algorithm 3, line 3: edges taken
    topics: int  # line 6: topics that both ends of an edge taken are interested in
    updates: int  # lines 8 to 11: pairs moved to the next lower list or deleted, O(1) each
    members: int  # line 14: nodes whose component is set anew
    lowered: int  # line 16: decrements of HIGHESTCONTRIB

    @property
    def construction(self) -> int:
        """All lines of Algorithm 3, each execution counted as one."""
        return self.edges + self.topics + self.updates + self.members + self.lowered

    @property
    def initialization(self) -> int:
        """All lines of Algorithm 2 but the first three."""
        return self.pairs + self.comparisons + self.listed


class LinkLists(NamedTuple):
    """LINKCONTRIB: a doubly linked list of pairs for each contribution; pair (u, v), u < v, is v(v − 1)/2 + u."""

    contributions: npt.NDArray[np.int16]
    heads: npt.NDArray[np.int32]
    after: npt.NDArray[np.int32]
    before: npt.NDArray[np.int32]


def merge_by_link_contributions(
    instance: TopicInstance, *, as_printed: bool = False
) -> tuple[npt.NDArray[np.int64], LineCounts]:
    """The edges (u, v), u < v, of Greedy Merge by Algorithms 1-3 in the order of their addition, and its work.

    Of a list the pair added last is taken. With `as_printed` the loop of Algorithm 3, line 6 is over all topics of both
    ends. It then lowers the contributions of pairs within one component too, so that pairs leave the lists early and
    the overlay may not be topic-connected. By default the loop is over the topics of which the edge joins two
    components, as §6.1 says in words. Time O(|V|²|T|) (Lemma 6.4), memory 10 bytes a pair of nodes, fewer than 2³¹.
    """
    n = instance.num_nodes
    lists = int(np.diff(instance.node_offsets).max(initial=0)) + 1
    edges, work = _construct(singletons(instance), lists, as_printed)
    return np.stack(np.divmod(edges, max(n, 1)), axis=1), LineCounts(*work.tolist())


@kernel
def _construct(
    components: TopicComponents, lists: int, as_printed: bool
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The edges u·|V| + v in the order of their addition, and the fields of `LineCounts`."""
    n = len(components.node_offsets) - 1
    work = np.zeros(8, np.int64)
    links = _initialized(components, lists, work)
    edges, highest = np.empty(len(components.label), np.int64), lists - 1
    while True:
        while highest > 0 and links.heads[highest] < 0:
            highest -= 1
            work[_LOWERED] += 1
        if highest == 0:
            return edges[: work[_EDGES]].copy(), work
        pair = int(links.heads[highest])
        v = int((1 + np.sqrt(1 + 8.0 * pair)) / 2)
        v += int(v * (v + 1) // 2 <= pair) - int(v * (v - 1) // 2 > pair)
        u = pair - v * (v - 1) // 2
        edges[work[_EDGES]] = u * n + v
        work[_EDGES] += 1
        _take(pair, links)
        links.contributions[pair] = 0
        _merge(u, v, components, links, as_printed, work)


@kernel
def _initialized(components: TopicComponents, lists: int, work: npt.NDArray[np.int64]) -> LinkLists:
    """Algorithm 2."""
    topics, offsets = components.node_topics, components.node_offsets
    n = len(offsets) - 1
    size = n * (n - 1) // 2
    links = LinkLists(
        np.zeros(size, np.int16),
        np.full(lists, _NONE, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
    )
    for v in range(1, n):
        for u in range(v):
            i, j, count = offsets[u], offsets[v], 0
            while i < offsets[u + 1] and j < offsets[v + 1]:
                topic, other = topics[i], topics[j]
                count += topic == other
                i += topic <= other
                j += other <= topic
                work[_COMPARISONS] += 1
            work[_PAIRS] += 1
            if count > 0:
                _put(v * (v - 1) // 2 + u, count, links)
                work[_LISTED] += 1
    return links


@kernel
def _merge(
    u: int, v: int, components: TopicComponents, links: LinkLists, as_printed: bool, work: npt.NDArray[np.int64]
) -> None:
    """Lines 6 to 14 of Algorithm 3 after the addition of the edge (u, v)."""
    c = components
    theirs = c.node_topics[c.node_offsets[v] : c.node_offsets[v + 1]]
    for i in range(c.node_offsets[u], c.node_offsets[u + 1]):
        at = np.searchsorted(theirs, c.node_topics[i])
        if at == len(theirs) or theirs[at] != c.node_topics[i]:
            continue
        work[_TOPICS] += 1
        first, second = c.positions[i], c.positions[c.node_offsets[v] + at]
        apart = c.label[first] != c.label[second]
        if apart or as_printed:
            _lower(first, second, v * (v - 1) // 2 + u, c, links, work)
        if apart:
            work[_MEMBERS] += c.size[c.label[first]] + c.size[c.label[second]]
            unite(first, second, c)


@kernel
def _lower(
    first: int, second: int, edge: int, components: TopicComponents, links: LinkLists, work: npt.NDArray[np.int64]
) -> None:
    """Lines 7 to 11: lower every listed pair of the components of two subscriptions, but not the pair `edge`."""
    nodes, following = components.topic_nodes, components.following
    one, started = first, False
    while not started or one != first:
        other, begun = second, False
        while not begun or other != second:
            low, high = int(min(nodes[one], nodes[other])), int(max(nodes[one], nodes[other]))
            pair = high * (high - 1) // 2 + low
            if low != high and pair != edge and links.contributions[pair] > 0:
                contribution = links.contributions[pair]
                _take(pair, links)
                links.contributions[pair] = 0
                if contribution > 1:
                    _put(pair, contribution - 1, links)
                work[_UPDATES] += 1
            other, begun = following[other], True
        one, started = following[one], True


@kernel
def _put(pair: int, contribution: int, links: LinkLists) -> None:
    """Add a pair at the head of the list of its contribution."""
    head = links.heads[contribution]
    links.contributions[pair] = contribution
    links.after[pair], links.before[pair] = head, _NONE
    if head >= 0:
        links.before[head] = pair
    links.heads[contribution] = pair


@kernel
def _take(pair: int, links: LinkLists) -> None:
    """Delete a pair from its list."""
    contribution, after, before = links.contributions[pair], links.after[pair], links.before[pair]
    if before < 0:
        links.heads[contribution] = after
    else:
        links.after[before] = after
    if after >= 0:
        links.before[after] = before
