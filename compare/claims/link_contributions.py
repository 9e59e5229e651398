"""Greedy Merge by the data structure of P1, Algorithms 1-3 (LINKCONTRIB), with its work counted line by line."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...heuristics.topics.kernels.interest import TopicComponents, singletons
from ...instances.runtime.compiled import kernel
from ...instances.topics.instance import TopicInstance
from .contribution_table import CONTRIBUTION, NONE, PairTable, empty_table, first_of, pair_of, put, take, unite_topics

_PAIRS, _COMPARISONS, _LISTED, _EDGES, _TOPICS, _UPDATES, _MEMBERS, _LOWERED = range(8)
_LISTS = 0  # P1 has one list for each contribution, whatever the degrees


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


def merge_by_link_contributions(
    instance: TopicInstance, *, as_printed: bool = False
) -> tuple[npt.NDArray[np.int64], LineCounts]:
    """The edges (u, v), u < v, of Greedy Merge by Algorithms 1-3 in the order of their addition, and its work.

    Of a list the pair added last is taken. With `as_printed` the loop of Algorithm 3, line 6 is over all topics of both
    ends. It then lowers the contributions of pairs within one component too, so that pairs leave the lists early and
    the overlay may not be topic-connected. By default the loop is over the topics of which the edge joins two
    components, as §6.1 says in words. Time O(|V|²|T|) (Lemma 6.4), memory 12 bytes a pair of nodes, fewer than 2³¹.
    """
    n, work = instance.num_nodes, np.zeros(8, np.int64)
    links = empty_table(n, int(np.diff(instance.node_offsets).max(initial=0)) + 1, 1, work)
    edges = _construct(singletons(instance), links, as_printed)
    return np.stack(np.divmod(edges, max(n, 1)), axis=1), LineCounts(*work.tolist())


@kernel
def _construct(components: TopicComponents, links: PairTable, as_printed: bool) -> npt.NDArray[np.int64]:
    """The edges u·|V| + v in the order of their addition; `links.work` gets the fields of `LineCounts`."""
    n, work = len(components.node_offsets) - 1, links.work
    _initialize(components, links)
    edges, highest, no_degrees = np.empty(len(components.label), np.int64), len(links.heads) - 1, np.zeros(n, np.int32)
    while True:
        while highest > 0 and links.heads[highest, _LISTS] == NONE:
            highest -= 1
            work[_LOWERED] += 1
        if highest == 0:
            return edges[: work[_EDGES]].copy()
        pair = int(links.heads[highest, _LISTS])
        u = first_of(pair, links)
        v = pair - links.first[u] + u + 1
        edges[work[_EDGES]] = u * n + v
        work[_EDGES] += 1
        take(pair, _LISTS, links)
        links.cells[pair, CONTRIBUTION] = 0
        topics, lowered, members = unite_topics(u, v, no_degrees, links, components, as_printed)
        work[_TOPICS] += topics
        work[_UPDATES] += lowered
        work[_MEMBERS] += members


@kernel
def _initialize(components: TopicComponents, links: PairTable) -> None:
    """Algorithm 2."""
    topics, offsets, work = components.node_topics, components.node_offsets, links.work
    for v in range(1, len(offsets) - 1):
        for u in range(v):
            i, j, count = offsets[u], offsets[v], 0
            while i < offsets[u + 1] and j < offsets[v + 1]:
                topic, other = topics[i], topics[j]
                count += topic == other
                i += topic <= other
                j += other <= topic
                work[_COMPARISONS] += 1
            work[_PAIRS] += 1
            pair = pair_of(u, v, links)
            links.cells[pair, CONTRIBUTION] = count
            if count > 0:
                put(pair, _LISTS, links)
                work[_LISTED] += 1
